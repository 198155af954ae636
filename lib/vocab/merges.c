/* merges.c - reads the merges of byte-level BPE */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "vocab/bpe.h"
#include "vocab/bytes.h"
#include "vocab/vocab.h"

#define MERGES "tokenizer.ggml.merges"

/* What a merge makes, and where that is cut. */
struct made {
    int32_t id;
    uint32_t left;
};

struct reader {
    struct gg_vocab *v;
    struct made *made; /* by rank */
    int32_t last;      /* what the merge before has made */
    uint8_t *room;     /* for the bytes of two tokens */
};

/* Where `s` has a blank that is all that it has more than `t`; or 0. `t` has
 * none. */
static inline size_t
find_blank(const struct gguf_str *s, const struct gguf_str *t)
{
    uint64_t a, b;
    size_t i = 0;

    if (s->n != t->n + 1)
        return 0;
    if (s->n <= 8) {
        a = bytes_load(s->s, s->n);
        b = bytes_load(t->s, t->n);
        i = a == b ? t->n : (size_t)__builtin_ctzll(a ^ b) / 8;
        return i < t->n && (uint8_t)(a >> 8 * i) == ' ' &&
                       a >> 8 * i >> 8 == b >> 8 * i
                   ? i
                   : 0;
    }
    while (i + 8 <= t->n && bytes_load8(s->s + i) == bytes_load8(t->s + i))
        i += 8;
    while (i < t->n && s->s[i] == t->s[i])
        i++;
    return i < t->n && s->s[i] == ' ' &&
                   bytes_equal(s->s + i + 1, t->s + i, t->n - i)
               ? i
               : 0;
}

static inline bool
inside(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* Characters of the UTF-8 text p[0..n). */
static inline size_t
characters(const char *p, size_t n)
{
    size_t count = n;

    for (; n > 0; p += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
        uint64_t w = bytes_load(p, n < 8 ? n : 8);

        count -= ((w & ~(w << 1) & BYTES_HIGHS) >> 7) * BYTES_ONES >> 56;
    }
    return count;
}

/* Mostly a merge makes the same token as the one before, or the next. */
static inline bool
guess(struct reader *r, const struct gguf_str *s, struct made *out)
{
    const struct gg_vocab *v = r->v;

    if (v->twins)
        return false;
    for (int32_t id = r->last; id < v->n && id <= r->last + 1; id++) {
        size_t blank = find_blank(s, &v->tokens[id]), n = 0;

        if (!blank || !(v->types[id] & VOCAB_PIECE) || inside(s->s[blank + 1]))
            continue;
        if (v->at[id + 1] - v->at[id] == v->tokens[id].n)
            n = blank;
        else /* each character is a byte */
            n = characters(s->s, blank);
        *out = (struct made){ id, (uint32_t)n };
        return true;
    }
    return false;
}

static bool
look_up(struct reader *r, const struct gguf_str *s, struct made *out)
{
    const char *blank = s->n > 2 ? memchr(s->s + 1, ' ', s->n - 1) : NULL;
    size_t first = blank ? (size_t)(blank - s->s) : 0, n, m;

    if (!blank || s->n > 2 * VOCAB_MAX_TOKEN_BYTES ||
        !vocab_piece_bytes(VOCAB_BPE, s->s, first, r->room, &n) ||
        !vocab_piece_bytes(VOCAB_BPE, blank + 1, s->n - first - 1, r->room + n,
                           &m))
        return false;
    *out = (struct made){ vocab_find_piece(r->v, r->room, n + m), (uint32_t)n };
    return out->id >= 0;
}

/* A merge as the file writes it: two tokens and a blank between them. */
static inline bool
read_merge(struct reader *r, const struct gguf_str *s, struct made *out)
{
    const uint8_t *p;
    size_t n;

    if (!guess(r, s, out) && !look_up(r, s, out))
        return false;
    r->last = out->id;
    p = vocab_bytes(r->v, out->id, &n);
    return vocab_find_part(r->v, p, out->left) >= 0 &&
           vocab_find_part(r->v, p + out->left, n - out->left) >= 0;
}

static int
by_left(const void *a, const void *b)
{
    const struct vocab_merge *x = a, *y = b;
    int order = (x->left > y->left) - (x->left < y->left);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sorts them by what they make. Of those with the same parts the first one
 * counts; where there are many, a search must find it fast. */
static void
sort_merges(struct gg_vocab *v, const struct made *made, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++)
        v->made[made[i].id]++;
    for (int32_t id = 0; id < v->n; id++) {
        uint32_t count = v->made[id];

        v->made[id] = sum;
        sum += count;
    }
    /* made[id] goes from the first of its merges to the end of the last. */
    for (size_t i = 0; i < n; i++)
        v->merges[v->made[made[i].id]++] =
            (struct vocab_merge){ made[i].left, (uint32_t)i };
    memmove(v->made + 1, v->made, (size_t)v->n * sizeof(*v->made));
    v->made[0] = 0;
    for (int32_t id = 0; id < v->n; id++)
        if (v->made[id + 1] - v->made[id] > BPE_FEW)
            qsort(v->merges + v->made[id], v->made[id + 1] - v->made[id],
                  sizeof(*v->merges), by_left);
}

static enum gg_status
read_all(struct reader *r, const struct gguf_context *gguf,
         const struct gguf_array *merges, struct gg_error *err)
{
    for (size_t i = 0; i < merges->n; i++)
        if (!read_merge(r, &merges->strings[i], &r->made[i]))
            return gguf_bad_value(gguf, MERGES, err,
                                  "merge %zu does not name two tokens that "
                                  "make a third",
                                  i);
    sort_merges(r->v, r->made, merges->n);
    return GG_OK;
}

enum gg_status
vocab_load_merges(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    uint8_t room[2 * VOCAB_MAX_TOKEN_BYTES];
    struct reader r = { .v = v, .room = room };
    struct gguf_array merges;
    enum gg_status st =
        gguf_get_array(gguf, MERGES, GGUF_TYPE_STRING, &merges, err);

    if (st != GG_OK)
        return st;
    if (merges.n >= VOCAB_MAX_TOKENS)
        return gguf_bad_value(gguf, MERGES, err, "%zu merges", merges.n);
    r.made = mem_array(merges.n + 1, sizeof(*r.made));
    v->merges = mem_array(merges.n + 1, sizeof(*v->merges));
    v->made = mem_array((size_t)v->n + 1, sizeof(*v->made));
    st = r.made && v->merges && v->made ? read_all(&r, gguf, &merges, err)
                                        : error_nomem(err);
    mem_free(r.made);
    return st;
}
