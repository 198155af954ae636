/* compute_inputs.c - what a batch's graph reads */
#include "session/compressed.h"

void
session_compute_set_part(struct compute *c, struct ggml_tensor *t,
                         const void *data, size_t offset, size_t size)
{
    session_stage_set(&c->stage,
                      ggml_backend_sched_get_tensor_backend(c->sched, t), t,
                      data, offset, size);
}

static void
set(struct compute *c, struct ggml_tensor *t, const void *data)
{
    session_compute_set_part(c, t, data, 0, ggml_nbytes(t));
}

/* A family that does not look at an input leaves it without memory. */
static void
set_if_used(struct compute *c, struct ggml_tensor *t, const void *data)
{
    if (t && t->buffer)
        set(c, t, data);
}

enum {
    ACROSS = CACHE_KINDS, /* masks of what a decoder sees of its encoder, */
    NARROW,               /* and of a drafter's narrow layers */
};

/* Rows of the mask of segment i: of the kind, or of those above. */
static const uint16_t *
mask_rows(struct compute *c, struct batch *b, int kind, int32_t i,
          int32_t first, int32_t n)
{
    if (kind == ACROSS)
        return session_batch_cross_mask(b, i, first, n);
    if (kind == NARROW)
        return session_batch_narrow_mask(b, c->graph.cache, i, first, n);
    return session_batch_mask(b, c->graph.cache, kind, i, first, n);
}

/* A long context's mask is large; it goes to the device by and by. */
static bool
set_mask(struct compute *c, struct batch *b, int kind, int32_t i,
         struct ggml_tensor *mask)
{
    enum {
        AT_ONCE = 1 << 19 /* keys */
    };
    int32_t rows = (int32_t)mask->ne[1], n = AT_ONCE / (int32_t)mask->ne[0];
    size_t row = mask->nb[1];

    n = n ? n : 1;
    for (int32_t first = 0; first < rows; first += n) {
        int32_t take = rows - first < n ? rows - first : n;
        const uint16_t *p = mask_rows(c, b, kind, i, first, take);

        if (!p)
            return false;
        session_compute_set_part(c, mask, p, (size_t)first * row,
                                 (size_t)take * row);
    }
    return true;
}

/* And what a decoder sees of its encoder. */
static bool
set_buckets(struct compute *c, struct batch *b, int32_t i)
{
    struct ggml_tensor *t = c->graph.segments[i].buckets;
    struct ggml_tensor *across = c->graph.segments[i].cross_mask;
    const int32_t *p = t ? session_batch_buckets(b, i) : NULL;

    if (p)
        set_if_used(c, t, p);
    if (across && across->buffer && !set_mask(c, b, ACROSS, i, across))
        return false;
    return p || !t;
}

static void
set_slots(struct compute *c)
{
    struct graph *g = &c->graph;
    size_t size = sizeof(g->segments[0].slot);

    for (int32_t i = 0; i < g->n_segments; i++)
        session_compute_set_part(c, g->slots, &g->segments[i].slot,
                                 (size_t)i * size, size);
}

/* Four parts, where they differ: the last is the first once more. */
static void
set_positions(struct compute *c, const struct batch *b)
{
    struct ggml_tensor *t = c->graph.positions;
    size_t size = (size_t)b->n_tokens * sizeof(int32_t);

    if (!t || !t->buffer)
        return;
    session_compute_set_part(c, t, b->turns[0], 0, size);
    for (size_t i = 1; c->graph.turned && i < GGML_MROPE_SECTIONS; i++)
        session_compute_set_part(c, t, b->turns[i % 3], i * size, size);
}

/* A row that is not there is zero. */
static void
set_rows(struct compute *c, const struct batch *b, struct ggml_tensor *t,
         size_t at, size_t deeper)
{
    const struct media *media = b->slots->media;
    size_t size = media->width * sizeof(float);

    for (int32_t i = 0; i < b->n_given; i++) {
        const float *row = session_media_row(media, b->given[i], deeper);

        session_compute_set_part(c, t, row ? row : media->zeros,
                                 at + (size_t)i * size, size);
    }
}

static void
set_given(struct compute *c, const struct batch *b)
{
    struct graph *g = &c->graph;

    set_if_used(c, g->picks, b->picks);
    set_if_used(c, g->given_at, b->given_at);
    if (g->given->buffer)
        set_rows(c, b, g->given, 0, 0);
    for (int32_t i = 0; i < g->n_deeper && g->deeper->buffer; i++)
        set_rows(c, b, g->deeper, (size_t)i * g->deeper->nb[2], (size_t)i + 1);
}

static bool
set_masks(struct compute *c, struct batch *b)
{
    const struct graph *g = &c->graph;
    bool done = true;

    for (int32_t i = 0; i < g->n_segments && done; i++) {
        const struct graph_segment *s = &g->segments[i];

        for (int kind = 0; kind < CACHE_KINDS && done; kind++)
            if (s->masks[kind] && s->masks[kind]->buffer)
                done = set_mask(c, b, kind, i, s->masks[kind]);
        if (done && s->narrow && s->narrow->buffer)
            done = set_mask(c, b, NARROW, i, s->narrow);
    }
    return done;
}

bool
session_compute_set_inputs(struct compute *c, struct batch *b,
                           const void *entered)
{
    struct graph *g = &c->graph;
    bool done = true;

    session_stage_begin(&c->stage);
    set_if_used(c, g->ids, b->ids);
    set_if_used(c, g->entered, entered);
    set_positions(c, b);
    if (g->n_given > 0)
        set_given(c, b);
    set_if_used(c, g->switches, b->switches);
    set_if_used(c, g->ngrams, b->ngrams);
    set_if_used(c, g->types, b->types);
    set_if_used(c, g->temperature, b->temperature);
    set_if_used(c, g->rows, b->rows);
    set_if_used(c, g->mtp_from, b->mtp_from);
    set_if_used(c, g->mtp_shift, b->mtp_shift);
    set_if_used(c, g->mtp_of, b->mtp_of);
    set_if_used(c, g->mtp_to, b->mtp_to);
    if (g->slots && g->slots->buffer)
        set_slots(c);
    for (int32_t i = 0; i < g->n_segments && done; i++)
        done = set_buckets(c, b, i);
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        set_if_used(c, g->cells[kind], b->cells[kind]);
    done = done && set_masks(c, b);
    for (int i = 0; i < b->hp->n_compression && done; i++)
        done = session_compressed_set(c, b, i);
    if (!done) /* what was set is being copied */
        ggml_backend_sched_synchronize(c->sched);
    return done;
}
