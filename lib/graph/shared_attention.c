/* shared_attention.c - attention to rows that slots have in common
 *
 * A segment's keys lie in runs, of its own slot or of others that it refers to.
 * Runs are parts of one sum: tensor_attend_part(). Where segments side by side
 * refer to the same rows, and all of their queries see these, one part is
 * attended to by all: so keys and values are read once for all sequences. The
 * others follow, from what the part has left for each query. Keys meet in the
 * order and in the blocks in which they would meet in one piece, so sums have
 * the same bits. */
#include "graph/arch.h"
#include "tensor/sparse.h"

struct shared {
    struct graph *g;
    int32_t layer;
    struct ggml_tensor *q; /* of all ids */
};

static const struct cache_layer *
cache_of(const struct shared *x)
{
    const struct graph *g = x->g;

    return &g->cache->layers[g->model->hp.layers[x->layer].kv_layer];
}

/* ---- runs ---------------------------------------------------------------- */

/* The run of the segment that has the row. */
static const struct cache_run *
run_at(const struct graph_segment *s, int32_t row)
{
    const struct cache_run *r = s->runs.list;

    while (r->end <= row)
        r++;
    return r;
}

/* Rows, from the first, that all queries of the segment see, wherever it begins
 * with this many keys. MTP layers do not see all, and ALiBi counts from the
 * query. */
static int32_t
rows_of_all(const struct graph *g, const struct graph_segment *s)
{
    int32_t n = s->keys[CACHE_ALL].n - (CACHE_BLOCK - 1) - s->n;

    if (g->mtp > 0 || g->model->hp.attn_max_bias > 0 || n < 0)
        return 0;
    return n / CACHE_BLOCK * CACHE_BLOCK;
}

/* Where the rows end which all of the segments refer to, `row` at least. */
static int32_t
end_of_common(const struct graph *g, int32_t first, int32_t end, int32_t row)
{
    int32_t most = INT32_MAX, next;

    for (int32_t i = first; i < end; i++) {
        int32_t n = rows_of_all(g, &g->segments[i]);

        most = n < most ? n : most;
    }
    for (; row < most; row = next) {
        const struct cache_run *r = run_at(&g->segments[first], row);

        next = r->end < most ? r->end : most;
        for (int32_t i = first + 1; i < end; i++) {
            const struct cache_run *other = run_at(&g->segments[i], row);

            if (other->slot != r->slot)
                return row;
            next = other->end < next ? other->end : next;
        }
    }
    return row;
}

/* The slot that a segment's row is of; -1: some query does not see it. */
static int32_t
slot_at(const struct graph *g, int32_t i, int32_t row)
{
    const struct graph_segment *s = &g->segments[i];

    return row < rows_of_all(g, s) ? run_at(s, row)->slot : -1;
}

/* The segment, nearest to the middle, that has other rows than the one before;
 * the middle, if none has. */
static int32_t
find_split(const struct graph *g, int32_t first, int32_t end, int32_t row)
{
    int32_t middle = first + (end - first) / 2;

    for (int32_t by = 0; by < end - first; by++)
        for (int32_t sign = -1; sign < 2; sign += 2) {
            int32_t i = middle + sign * by;

            if (i > first && i < end &&
                slot_at(g, i, row) != slot_at(g, i - 1, row))
                return i;
        }
    return middle;
}

bool
graph_shares_rows(const struct graph *g, enum cache_kind kind)
{
    for (int32_t i = 0; i < g->n_segments && kind == CACHE_ALL; i++) {
        const struct graph_segment *s = &g->segments[i];

        if (s->runs.n > 1 ||
            (s->runs.n == 1 && s->runs.list[0].slot != s->slot))
            return true;
    }
    return false;
}

/* ---- parts --------------------------------------------------------------- */

static int32_t
ids_of_segments(const struct graph *g, int32_t first, int32_t end)
{
    const struct graph_segment *last = &g->segments[end - 1];

    return last->first + last->n - g->segments[first].first;
}

/* d x n x n_head_kv rows of a slot, from `row` on. */
static struct ggml_tensor *
rows_of_slot(const struct shared *x, enum cache_tensor of, int32_t slot,
             int32_t row, int32_t n)
{
    const struct cache_layer *l = cache_of(x);
    struct ggml_tensor *t = l->t[of];
    size_t first =
        (size_t)slot * (size_t)x->g->cache->parts[l->kind].n_rows + (size_t)row;

    return ggml_view_3d(x->g->ctx, t, t->ne[0], n, t->ne[2], t->nb[1], t->nb[2],
                        first * t->nb[1]);
}

/* Queries of the segments from `first` to before `end`, d x ids x n_head. */
static struct ggml_tensor *
queries_of(const struct shared *x, int32_t first, int32_t end)
{
    struct ggml_tensor *q = x->q;

    q = ggml_view_3d(x->g->ctx, q, q->ne[0], q->ne[1],
                     ids_of_segments(x->g, first, end), q->nb[1], q->nb[2],
                     (size_t)x->g->segments[first].first * q->nb[2]);
    return ggml_permute(x->g->ctx, q, 0, 2, 1, 3);
}

/* Attention of these segments' queries to n rows, of one slot. */
static struct tensor_part
part_of_run(const struct shared *x, int32_t first, int32_t end, int32_t row,
            int32_t n, struct ggml_tensor *before)
{
    const struct model_hparams *hp = &x->g->model->hp;
    int32_t slot = run_at(&x->g->segments[first], row)->slot;
    struct tensor_part p = {
        .q = queries_of(x, first, end),
        .k = rows_of_slot(x, CACHE_K, slot, row, n),
        .before = before,
        .scale = graph_attention_scale(x->g->model, x->layer),
        .max_bias = hp->attn_max_bias,
        .softcap = hp->attn_softcap,
        .more = true,
    };

    p.v = cache_of(x)->t[CACHE_V]
              ? rows_of_slot(x, CACHE_V, slot, row, n)
              : graph_values_in(x->g, p.k, hp->layers[x->layer].d_value);
    return p;
}

/* All rows of a segment from `row` on. */
static struct ggml_tensor *
attend_runs(const struct shared *x, int32_t i, int32_t row,
            struct ggml_tensor *before)
{
    struct graph *g = x->g;
    const struct graph_segment *s = &g->segments[i];
    struct ggml_tensor *mask = graph_mask_of(g, s, x->layer);
    int32_t all = s->keys[CACHE_ALL].n, end;

    for (; row < all; row = end) {
        struct tensor_part p;

        end = run_at(s, row)->end;
        end = end < all ? end : all;
        p = part_of_run(x, i, i + 1, row, end - row, before);
        p.mask = ggml_view_2d(g->ctx, mask, end - row, s->n, mask->nb[1],
                              (size_t)row * mask->nb[0]);
        p.more = end < all;
        if (!p.more)
            p.sinks = g->model->layers[x->layer].attn_sinks;
        before = tensor_attend_part(g->ctx, &p);
    }
    return before;
}

/* Sums of the segments from `from` to before `end`, among those from `first`
 * on. */
static struct ggml_tensor *
sums_of(const struct shared *x, struct ggml_tensor *sums, int32_t first,
        int32_t from, int32_t end)
{
    const struct graph *g = x->g;
    size_t skipped =
        (size_t)(g->segments[from].first - g->segments[first].first);

    if (!sums)
        return NULL;
    return ggml_view_3d(g->ctx, sums, sums->ne[0], sums->ne[1],
                        ids_of_segments(g, from, end), sums->nb[1], sums->nb[2],
                        skipped * sums->nb[2]);
}

/* Results of the segments from `first` to before `end`; `before`: of their rows
 * before `row`. */
static struct ggml_tensor *
attend_some(const struct shared *x, int32_t first, int32_t end, int32_t row,
            struct ggml_tensor *before)
{
    struct graph *g = x->g;
    struct ggml_tensor *a, *b;
    int32_t common, next, split;

    if (end - first == 1)
        return attend_runs(x, first, row, before);
    common = end_of_common(g, first, end, row);
    for (; row < common; row = next) {
        struct tensor_part p;

        next = run_at(&g->segments[first], row)->end;
        next = next < common ? next : common;
        p = part_of_run(x, first, end, row, next - row, before);
        before = tensor_attend_part(g->ctx, &p);
    }
    split = find_split(g, first, end, row);
    a = attend_some(x, first, split, row,
                    sums_of(x, before, first, first, split));
    b = attend_some(x, split, end, row, sums_of(x, before, first, split, end));
    return ggml_concat(g->ctx, a, b, 2);
}

struct ggml_tensor *
graph_attend_shared(struct graph *g, int32_t layer, struct ggml_tensor *q)
{
    struct shared x = { g, layer, q };

    return attend_some(&x, 0, g->n_segments, 0, NULL);
}
