/* special.c - tokens that are looked for in a text before all else */
#include "vocab/special.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "vocab/bytes.h"
#include "vocab/chat.h"
#include "vocab/split_scan.h"
#include "vocab/unicode.h"
#include "vocab/unigram.h"

/* qsort() passes nothing but the elements. */
struct entry {
    const uint8_t *p;
    size_t len;
    int32_t id;
};

static int
by_bytes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->p, y->p, n);

    if (order == 0)
        order = (x->len > y->len) - (x->len < y->len);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* The first token from `id` on that is no piece; or one that is. */
static int32_t
skip_pieces(const struct gg_vocab *v, int32_t id)
{
    const uint64_t pieces = VOCAB_PIECE * BYTES_ONES;

    while (v->n - id > 8 &&
           (vocab_bytes_load8(v->types + id) & pieces) == pieces)
        id += 8;
    return id;
}

static bool
belongs(const struct gg_vocab *v, int32_t id, bool control)
{
    enum gg_token_type type = vocab_type(v, id);

    if (v->at[id] == v->at[id + 1] || vocab_unigram_has_blank(v, id))
        return false;
    return type == GG_TOKEN_USER_DEFINED ||
           (control && (type == GG_TOKEN_CONTROL || type == GG_TOKEN_UNKNOWN));
}

static void
add_first_byte(struct special_set *set, int32_t id, uint8_t first)
{
    set->ids[set->n++] = id;
    if (!set->first[first] && set->n_first++ < SPECIAL_FEW)
        set->few[set->n_first - 1] = first;
    set->first[first] = true;
}

/* The ids of the sorted entries, each text once. */
static void
fill_set(struct special_set *set, const struct entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &entries[i];

        if (i > 0 && e->len == e[-1].len && memcmp(e->p, e[-1].p, e->len) == 0)
            continue;
        add_first_byte(set, e->id, e->p[0]);
    }
}

bool
vocab_special_init(struct special_set *set, const struct gg_vocab *v,
                   bool control)
{
    struct entry *entries;
    size_t n = 0, k = 0;

    for (int32_t id = 0; (id = skip_pieces(v, id)) < v->n; id++)
        n += belongs(v, id, control);
    if (n == 0)
        return true;
    entries = mem_array(n, sizeof(*entries));
    set->ids = mem_array(n, sizeof(*set->ids));
    if (entries && set->ids) {
        for (int32_t id = 0; (id = skip_pieces(v, id)) < v->n; id++)
            if (belongs(v, id, control)) {
                entries[k].p = vocab_bytes(v, id, &entries[k].len);
                entries[k++].id = id;
            }
        qsort(entries, n, sizeof(*entries), by_bytes);
        fill_set(set, entries, n);
    }
    mem_free(entries);
    return set->n > 0;
}

/* Files differ in which tokens they call control tokens; "<|" begins nothing
 * else. */
static bool
is_markup(const struct gg_vocab *v, int32_t id)
{
    size_t n;
    const char *p = (const char *)vocab_bytes(v, id, &n);

    return id == v->bos || id == v->eos || gg_vocab_is_eog(v, id) ||
           (n >= 2 && memcmp(p, "<|", 2) == 0) ||
           (n >= 4 && memcmp(p, "<\xef\xbd\x9c", 4) == 0) ||
           (n && strchr("<[]", p[0]) && vocab_chat_is_token(p, n));
}

bool
vocab_special_contents(struct special_set *set, const struct gg_vocab *v)
{
    if (v->user.n == 0)
        return true;
    set->ids = mem_array(v->user.n, sizeof(*set->ids));
    for (size_t i = 0; set->ids && i < v->user.n; i++) {
        int32_t id = v->user.ids[i];

        if (is_markup(v, id))
            continue;
        add_first_byte(set, id, v->bytes[v->at[id]]);
    }
    return set->ids != NULL;
}

void
vocab_special_clear(struct special_set *set)
{
    mem_free(set->ids);
    *set = (struct special_set){ 0 };
}

/* The first of ids[lo..hi) whose byte at `depth` is at least `c`; they share
 * what comes before it, and all are longer than that. */
static size_t
lower_bound(const struct special_set *set, const struct gg_vocab *v, size_t lo,
            size_t hi, size_t depth, unsigned c)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (v->bytes[v->at[set->ids[mid]] + depth] < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The longest token that p[0..len) begins with, or -1. */
static int32_t
match(const struct special_set *set, const struct gg_vocab *v, const uint8_t *p,
      size_t len)
{
    size_t lo = 0, hi = set->n, n;
    int32_t found = -1;

    for (size_t depth = 0; depth < len && lo < hi; depth++) {
        lo = lower_bound(set, v, lo, hi, depth, p[depth]);
        hi = lower_bound(set, v, lo, hi, depth, p[depth] + 1u);
        if (lo == hi)
            break;
        vocab_bytes(v, set->ids[lo], &n);
        if (n == depth + 1) /* the shortest one comes first */
            found = set->ids[lo++];
    }
    return found;
}

/* The first byte of p[0..len) that a token may begin with, or `len`. */
static size_t
next_first(const struct special_set *set, const uint8_t *p, size_t len)
{
    size_t i = 0;

    for (; set->n_first <= SPECIAL_FEW && len - i >= 8; i += 8) {
        uint64_t w = vocab_bytes_load8(p + i), found = 0;

        for (size_t k = 0; k < set->n_first; k++)
            found |= vocab_bytes_have(w, set->few[k]);
        if (found)
            break;
    }
    while (i < len && !set->first[p[i]])
        i++;
    return i;
}

int32_t
vocab_special_find(const struct special_set *set, const struct gg_vocab *v,
                   const uint8_t *p, size_t len, size_t *at)
{
    for (size_t i = 0; set->n; i++) {
        int32_t id;

        i += next_first(set, p + i, len - i);
        if (i >= len)
            break;
        id = match(set, v, p + i, len - i);
        if (id >= 0) {
            *at = i;
            return id;
        }
    }
    *at = len;
    return -1;
}

/* Where the last character of p[0..len) begins. */
static size_t
last_character(const uint8_t *p, size_t len)
{
    size_t at = len - 1;

    while (at > 0 && len - at < 4 && (p[at] & 0xc0) == 0x80)
        at--;
    return at;
}

size_t
vocab_special_left(const struct gg_vocab *v, int32_t id, const uint8_t *p,
                   size_t len)
{
    size_t n;

    if (id < 0 || !(v->types[id] & VOCAB_LEADS))
        return len;
    while (len) {
        size_t at = last_character(p, len);

        if (vocab_unicode_class(vocab_unicode_at(p + at, len - at, &n)) !=
                UNICODE_SPACE ||
            at + n != len)
            break;
        len = at;
    }
    return len;
}

size_t
vocab_special_after(const struct gg_vocab *v, int32_t id, const uint8_t *p,
                    size_t len, size_t at)
{
    size_t n;

    vocab_bytes(v, id, &n);
    if (v->types[id] & VOCAB_STRIPS)
        return (size_t)(vocab_split_run(p + at + n, p + len, UNICODE_SPACE) -
                        p);
    return at + n;
}

bool
vocab_special_reaches(const struct special_set *set, const struct gg_vocab *v,
                      const uint8_t *p, size_t len, size_t far)
{
    size_t lo = 0, hi = set->n, n;

    for (size_t depth = 0; depth < len && lo < hi; depth++) {
        lo = lower_bound(set, v, lo, hi, depth, p[depth]);
        hi = lower_bound(set, v, lo, hi, depth, p[depth] + 1u);
        if (lo == hi)
            return false;
        vocab_bytes(v, set->ids[lo], &n);
        if (n == depth + 1 && n >= far)
            return true;
        lo += n == depth + 1;
    }
    return lo < hi; /* they are longer than what is there */
}

size_t
vocab_special_longest(const struct special_set *set, const struct gg_vocab *v)
{
    size_t longest = 0, n;

    for (size_t i = 0; i < set->n; i++) {
        vocab_bytes(v, set->ids[i], &n);
        longest = n > longest ? n : longest;
    }
    return longest;
}
