/* prefix.c - the tokens of a vocabulary, by their beginnings */
#include <config.h>

#include "sample/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_LENGTH = (1 << 24) - 1,
};

struct entry {
    uint64_t key; /* its first bytes, the first one the highest */
    const uint8_t *p;
    uint32_t len;
    int32_t id;
};

static int
by_bytes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = memcmp(x->p, y->p, x->len < y->len ? x->len : y->len);

    if (order)
        return order;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

bool
sample_prefix_is_eog(const struct prefixes *t, int32_t id)
{
    for (size_t i = 0; i < t->n_eog; i++)
        if (t->eog[i] == id)
            return true;
    return false;
}

/* ---- the order of the tokens ---- */

static uint64_t
prefix_key(const uint8_t *p, size_t len)
{
    uint64_t key = 0;

    for (size_t i = 0; i < sizeof(key); i++)
        key = key << 8 | (i < len ? p[i] : 0);
    return key;
}

/* From a to b, by one byte of the key; equal ones stay as they are. */
static void
sort_by_byte(const struct entry *a, struct entry *b, size_t n, int shift)
{
    size_t starts[256] = { 0 }, sum = 0;

    for (size_t i = 0; i < n; i++)
        starts[a[i].key >> shift & 0xff]++;
    for (int c = 0; c < 256; c++) {
        size_t count = starts[c];

        starts[c] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        b[starts[a[i].key >> shift & 0xff]++] = a[i];
}

/* By the keys; then those with the same key by all of their bytes. `other` has
 * room for as many. */
static void
sort(struct entry *e, struct entry *other, size_t n)
{
    for (int shift = 0; shift < 64; shift += 16) {
        sort_by_byte(e, other, n, shift);
        sort_by_byte(other, e, n, shift + 8);
    }
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && e[next].key == e[i].key;)
            next++;
        if (next - i > 1)
            qsort(e + i, next - i, sizeof(*e), by_bytes);
    }
}

/* Tokens that have bytes and do not end a generation. */
static size_t
list_tokens(const struct prefixes *t, struct entry *out)
{
    size_t n = 0;

    for (int32_t id = 0; id < t->n_tokens; id++) {
        size_t len;
        const uint8_t *p = sample_prefix_bytes(t, id, &len);

        if (len && !sample_prefix_is_eog(t, id))
            out[n++] =
                (struct entry){ prefix_key(p, len), p, (uint32_t)len, id };
    }
    return n;
}

/* ---- nodes ---- */

static size_t
common(const struct entry *a, const struct entry *b)
{
    size_t n = 0;

    while (n < a->len && n < b->len && a->p[n] == b->p[n])
        n++;
    return n;
}

/* `open` has the nodes along the last token: those that do not go on with the
 * next one are complete. */
static void
add_tokens(struct prefixes *t, const struct entry *e, size_t n, uint32_t *open)
{
    size_t depth = 0;

    for (size_t i = 0; i < n; i++) {
        size_t shared = i ? common(&e[i - 1], &e[i]) : 0;

        while (depth > shared)
            t->nodes[open[--depth]].skip = t->n_nodes;
        for (; depth < e[i].len; depth++) {
            open[depth] = t->n_nodes;
            t->nodes[t->n_nodes++] = (struct prefix_node){
                .rank = (uint32_t)i,
                .large = (uint32_t)PREFIX_NONE,
                .byte = e[i].p[depth],
                .depth = (uint32_t)(depth + 1) & MAX_LENGTH,
            };
        }
        t->order[i] = e[i].id;
    }
    while (depth > 0)
        t->nodes[open[--depth]].skip = t->n_nodes;
    t->nodes[t->n_nodes].rank = (uint32_t)n;
}

static void
count_large(struct prefixes *t)
{
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].skip - i > PREFIX_LARGE)
            t->nodes[i].large = t->n_large++;
}

static size_t
longest(const struct prefixes *t)
{
    size_t most = 0, len;

    for (int32_t id = 0; id < t->n_tokens; id++) {
        (void)sample_prefix_bytes(t, id, &len);
        most = len > most ? len : most;
    }
    return most;
}

static enum gg_status
copy_tokens(const struct grammar_tokens *tokens, struct prefixes *t,
            struct gg_error *err)
{
    size_t n = (size_t)tokens->n;

    t->n_tokens = tokens->n;
    t->n_eog = tokens->n_eog;
    t->at = mem_dup(tokens->at, (n + 1) * sizeof(*t->at));
    t->bytes = mem_alloc((size_t)tokens->at[n] + 1);
    t->eog = mem_array(t->n_eog + 1, sizeof(*t->eog));
    t->order = mem_array(n + 1, sizeof(*t->order));
    t->nodes = mem_array((size_t)tokens->at[n] + 1, sizeof(*t->nodes));
    if (!t->at || !t->bytes || !t->eog || !t->order || !t->nodes)
        return error_nomem(err);
    if (tokens->at[n])
        memcpy(t->bytes, tokens->bytes, tokens->at[n]);
    if (t->n_eog)
        memcpy(t->eog, tokens->eog, t->n_eog * sizeof(*t->eog));
    t->max_depth = longest(t);
    return t->max_depth <= MAX_LENGTH
               ? GG_OK
               : error_set(err, GG_ERR_UNSUPPORTED,
                           "a token is longer than %d bytes", (int)MAX_LENGTH);
}

enum gg_status
sample_prefix_build(const struct grammar_tokens *tokens, struct prefixes *out,
                    struct gg_error *err)
{
    size_t n = (size_t)tokens->n + 1;
    struct entry *entries = NULL, *other = NULL;
    uint32_t *open = NULL;
    enum gg_status st = copy_tokens(tokens, out, err);

    if (st == GG_OK) {
        entries = mem_array(n, sizeof(*entries));
        other = mem_array(n, sizeof(*other));
        open = mem_array(out->max_depth + 1, sizeof(*open));
        st = entries && other && open ? GG_OK : error_nomem(err);
    }
    if (st == GG_OK) {
        n = list_tokens(out, entries);
        sort(entries, other, n);
        add_tokens(out, entries, n, open);
        count_large(out);
    }
    mem_free(entries);
    mem_free(other);
    mem_free(open);
    return st;
}

void
sample_prefix_clear(struct prefixes *t)
{
    mem_free(t->nodes);
    mem_free(t->order);
    mem_free(t->bytes);
    mem_free(t->at);
    mem_free(t->eog);
    *t = (struct prefixes){ 0 };
}
