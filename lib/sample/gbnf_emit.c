/* gbnf_emit.c - instructions of a grammar, as its parser writes them */
#include <config.h>

#include "sample/gbnf.h"

#include <string.h>

#include "core/mem.h"

enum gg_status
sample_gbnf_emit(struct gbnf *g, enum gbnf_op op, int32_t a, int32_t b,
                 struct gg_error *err)
{
    if (g->n >= GBNF_MAX_CODE)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the grammar is too large: more than %d steps",
                         (int)GBNF_MAX_CODE);
    if (!mem_grow(&g->code, &g->cap, g->n + 1, sizeof(*g->code)))
        return error_nomem(err);
    g->code[g->n++] = (struct gbnf_code){ (uint8_t)op, a, b };
    return GG_OK;
}

/* In front of the code from `at` on. */
static enum gg_status
insert(struct gbnf *g, size_t at, enum gbnf_op op, int32_t a, int32_t b,
       struct gg_error *err)
{
    enum gg_status st = sample_gbnf_emit(g, op, a, b, err);
    struct gbnf_code last;

    if (st != GG_OK)
        return st;
    last = g->code[g->n - 1];
    memmove(g->code + at + 1, g->code + at, (g->n - 1 - at) * sizeof(*g->code));
    g->code[at] = last;
    return GG_OK;
}

enum gg_status
sample_gbnf_alternative(struct gbnf *g, size_t start, int32_t *jumps,
                        struct gg_error *err)
{
    int32_t len = (int32_t)(g->n - start);
    enum gg_status st = insert(g, start, GBNF_SPLIT, 1, len + 2, err);

    if (st == GG_OK)
        st = sample_gbnf_emit(g, GBNF_JUMP, *jumps, 0, err);
    if (st == GG_OK)
        *jumps = (int32_t)g->n - 1;
    return st;
}

void
sample_gbnf_end(struct gbnf *g, int32_t jumps)
{
    while (jumps >= 0) {
        int32_t at = jumps;

        jumps = g->code[at].a;
        g->code[at].a = (int32_t)g->n - at;
    }
}
