/* compressed.c - inputs of a graph that writes and reads rows for blocks */
#include "session/compressed.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "session/cache.h"

/* Blocks that a segment of a batch writes: n of them, from block `first` of its
 * sequence on. */
struct written {
    const struct model_compression *how;
    const struct graph_segment *s;
    int32_t past; /* the segment's first position */
    int32_t first, n;
};

static struct written
written_by(const struct batch *b, int i, int32_t segment)
{
    struct written w = { .how = &b->hp->compressions[i],
                         .s = &b->segments[segment] };

    w.past = b->positions[w.s->first];
    w.first = w.past / w.how->ratio;
    w.n = graph_blocks_written(w.how, w.s->n);
    return w;
}

/* The position of the block's k-th column; below 0: there is none. */
static int32_t
position_of(const struct written *w, int32_t block, int32_t k)
{
    int32_t before = w->how->overlaps ? w->how->ratio : 0;

    return (w->first + block) * w->how->ratio - before + k;
}

/* Columns are those that the slot keeps, of the positions before the segment,
 * and the segment's. Those that are still to come are the last one. */
static void
put_columns(const struct written *w, int32_t *to)
{
    int32_t wide = graph_compressed_columns(w->how);
    int32_t kept = wide - 1, last = kept + w->s->n - 1;

    for (int32_t block = 0; block < w->n; block++)
        for (int32_t k = 0; k < wide; k++) {
            int32_t at = position_of(w, block, k) - w->past + kept;

            at = at < 0 ? 0 : at;
            *to++ = at < last ? at : last;
        }
}

static void
put_absent(const struct written *w, float *to)
{
    int32_t wide = graph_compressed_columns(w->how);

    for (int32_t block = 0; block < w->n; block++)
        for (int32_t k = 0; k < wide; k++)
            *to++ = position_of(w, block, k) < 0 ? -INFINITY : 0;
}

static void
put_cells(const struct cache *cache, int i, const struct written *w,
          int64_t *to)
{
    int64_t first = session_cache_row(cache, graph_compressed_part(i),
                                      w->s->slot, w->first * w->how->ratio);

    for (int32_t block = 0; block < w->n; block++)
        to[block] = first + block;
}

/* Coordinate `which` of the first positions. */
static void
put_positions(const struct batch *b, const struct written *w, int which,
              int32_t *to)
{
    for (int32_t block = 0; block < w->n; block++) {
        int32_t at = (w->first + block) * w->how->ratio;

        to[block] =
            b->turned
                ? session_slots_position(b->slots, w->s->slot, at).x[which]
                : at;
    }
}

/* Scratch for n numbers of four bytes. */
static void *
scratch(struct batch *b, size_t n)
{
    return mem_grow(&b->buckets, &b->buckets_cap, n, sizeof(*b->buckets))
               ? b->buckets
               : NULL;
}

static bool
set_columns(struct compute *c, struct batch *b, int i, int32_t segment)
{
    struct ggml_tensor *t = c->graph.segments[segment].blocks[i].columns;
    struct written w = written_by(b, i, segment);
    int32_t *to = t->buffer ? scratch(b, (size_t)t->ne[0]) : NULL;

    if (!t->buffer || !to)
        return !t->buffer;
    put_columns(&w, to);
    session_compute_set_part(c, t, to, 0, ggml_nbytes(t));
    return true;
}

/* Inputs of the whole batch, of which n rows before are other segments'. */
static bool
set_shared(struct compute *c, struct batch *b, int i, const struct written *w,
           size_t before)
{
    const struct graph_blocks *g = &c->graph.blocks[i];
    size_t wide = (size_t)graph_compressed_columns(w->how), n = (size_t)w->n;
    size_t all = (size_t)g->n;
    void *to = scratch(b, n * (wide > 2 ? wide : 2));

    if (!to)
        return false;
    if (g->cells->buffer) {
        put_cells(c->graph.cache, i, w, to);
        session_compute_set_part(c, g->cells, to, before * sizeof(int64_t),
                                 n * sizeof(int64_t));
    }
    for (int k = 0; k < (b->turned ? 4 : 1) && g->positions->buffer; k++) {
        put_positions(b, w, k % 3, to);
        session_compute_set_part(c, g->positions, to,
                                 ((size_t)k * all + before) * sizeof(int32_t),
                                 n * sizeof(int32_t));
    }
    if (g->absent && g->absent->buffer) {
        put_absent(w, to);
        session_compute_set_part(c, g->absent, to,
                                 before * wide * sizeof(float),
                                 n * wide * sizeof(float));
    }
    return true;
}

bool
session_compressed_set(struct compute *c, struct batch *b, int i)
{
    size_t before = 0;
    bool done = true;

    for (int32_t k = 0; k < b->n_segments && done; k++) {
        struct written w = written_by(b, i, k);

        done = set_shared(c, b, i, &w, before) && set_columns(c, b, i, k);
        before += (size_t)w.n;
    }
    return done;
}
