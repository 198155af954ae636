/* prefix.c - the tokens of a vocabulary, by their beginnings */
#include <config.h>

#include "sample/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct entry {
    const uint8_t *p;
    size_t len;
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
prefix_is_eog(const struct prefixes *t, int32_t id)
{
    for (size_t i = 0; i < t->n_eog; i++)
        if (t->eog[i] == id)
            return true;
    return false;
}

/* Tokens that have bytes and do not end a generation, in order. */
static size_t
sort_tokens(const struct prefixes *t, struct entry *out)
{
    size_t n = 0;

    for (int32_t id = 0; id < t->n_tokens; id++) {
        struct entry e = { .id = id };

        e.p = prefix_bytes(t, id, &e.len);
        if (e.len && !prefix_is_eog(t, id))
            out[n++] = e;
    }
    qsort(out, n, sizeof(*out), by_bytes);
    return n;
}

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
            t->nodes[t->n_nodes++] =
                (struct prefix_node){ 0, -1, (uint32_t)depth + 1,
                                      e[i].p[depth] };
        }
        t->same[e[i].id] = t->nodes[open[depth - 1]].token;
        t->nodes[open[depth - 1]].token = e[i].id;
    }
    while (depth > 0)
        t->nodes[open[--depth]].skip = t->n_nodes;
}

static size_t
longest(const struct prefixes *t)
{
    size_t most = 0, len;

    for (int32_t id = 0; id < t->n_tokens; id++) {
        (void)prefix_bytes(t, id, &len);
        most = len > most ? len : most;
    }
    return most;
}

static enum gg_status
copy(const struct grammar_tokens *tokens, struct prefixes *t,
     struct gg_error *err)
{
    size_t n = (size_t)tokens->n;

    t->n_tokens = tokens->n;
    t->n_eog = tokens->n_eog;
    t->at = mem_dup(tokens->at, (n + 1) * sizeof(*t->at));
    t->bytes = mem_array(tokens->at[n] + 1, 1);
    t->eog = mem_array(t->n_eog + 1, sizeof(*t->eog));
    t->same = mem_array(n + 1, sizeof(*t->same));
    t->nodes = mem_array(tokens->at[n] + 1, sizeof(*t->nodes));
    if (!t->at || !t->bytes || !t->eog || !t->same || !t->nodes)
        return error_nomem(err);
    if (tokens->at[n])
        memcpy(t->bytes, tokens->bytes, tokens->at[n]);
    if (t->n_eog)
        memcpy(t->eog, tokens->eog, t->n_eog * sizeof(*t->eog));
    t->max_depth = longest(t);
    return GG_OK;
}

enum gg_status
prefix_build(const struct grammar_tokens *tokens, struct prefixes *out,
             struct gg_error *err)
{
    enum gg_status st = copy(tokens, out, err);
    struct entry *entries = NULL;
    uint32_t *open = NULL;

    if (st == GG_OK) {
        entries = mem_array((size_t)out->n_tokens + 1, sizeof(*entries));
        open = mem_array(out->max_depth + 1, sizeof(*open));
        st = entries && open ? GG_OK : error_nomem(err);
    }
    if (st == GG_OK)
        add_tokens(out, entries, sort_tokens(out, entries), open);
    mem_free(entries);
    mem_free(open);
    return st;
}

void
prefix_clear(struct prefixes *t)
{
    mem_free(t->nodes);
    mem_free(t->same);
    mem_free(t->bytes);
    mem_free(t->at);
    mem_free(t->eog);
    *t = (struct prefixes){ 0 };
}
