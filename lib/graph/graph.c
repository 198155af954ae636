/* graph.c - builds the graph of a batch: its inputs, and the family's layers */
#include "graph/graph.h"

#include <string.h>

#include "graph/adapter.h"
#include "graph/arch.h"

enum {
    NODES_PER_LAYER = 96,
    NODES_ALTUP = 64,   /* of each layer, where vectors are parallel, */
    NODES_BANK = 80,    /* or kept for later layers, */
    NODES_STREAMS = 64, /* or side by side */
    NODES_NGRAMS = 64,
    NODES_PER_NGRAMS = 256, /* of each segment */
    NODES_PER_SEGMENT = 8,  /* of each layer, */
    NODES_PER_RUN = 9,      /* for each run of its rows, and for one besides */
    NODES_PER_RELATIVE = 24,
    NODES_SWITCHES = 64,  /* of each layer with adapters */
    NODES_PER_INDEX = 12, /* of each layer, for each segment and besides */
    NODES_PER_RECURRENCE = 48,
    NODES_COMPRESSED = 160, /* of each layer, where blocks have rows */
    NODES_PER_COMPRESSION = 24,
    NODES_PER_MEDIA = 6, /* of each layer, and before the first */
    NODES_DRAFTER = 32 + MODEL_MAX_FEATURES,
    NODES_OTHERS = 40 + NODES_PER_MEDIA,
};

size_t
graph_max_nodes(const struct model *model, int32_t n_segments)
{
    size_t a_layer = NODES_PER_LAYER + NODES_PER_MEDIA +
                     NODES_PER_SEGMENT * (size_t)n_segments +
                     2 * (size_t)model->hp.n_expert_used;
    size_t others = NODES_OTHERS;

    if (model->drafter)
        others += NODES_DRAFTER;
    if (model->hp.ngrams.n > 0)
        others += NODES_NGRAMS + NODES_PER_NGRAMS * (size_t)n_segments;
    if (model->hp.switches.n > 0)
        a_layer += NODES_SWITCHES;
    if (model->hp.n_altup > 0)
        a_layer += NODES_ALTUP;
    if (model->hp.bank_every > 0)
        a_layer += NODES_BANK;
    if (model->hp.n_stream > 0)
        a_layer += NODES_STREAMS;
    if (model->hp.n_bucket > 0)
        a_layer += NODES_PER_RELATIVE * (size_t)n_segments;
    if (model->hp.n_compression > 0)
        a_layer +=
            NODES_COMPRESSED + NODES_PER_COMPRESSION * (size_t)n_segments;
    if (model->hp.indexer.n_head > 0)
        a_layer += NODES_PER_INDEX * ((size_t)n_segments + 2);
    if (model->arch->recur || model->arch->time_mix)
        a_layer += NODES_PER_RECURRENCE * (size_t)n_segments;
    return a_layer * (size_t)graph_used_layers(&model->hp) +
           (CACHE_KINDS + 3 + 2 * MODEL_MAX_COMPRESSIONS) * (size_t)n_segments +
           others + graph_adapters_max_nodes(model);
}

size_t
graph_shared_nodes(const struct model *model, int32_t n_segments)
{
    return (size_t)NODES_PER_RUN * (CACHE_RUNS + 1) * (size_t)n_segments *
           (size_t)graph_used_layers(&model->hp);
}

static struct ggml_tensor *
input(struct graph *g, enum ggml_type type, int64_t n, const char *name)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(g->ctx, type, n);

    ggml_set_name(t, name);
    ggml_set_input(t);
    return t;
}

static struct ggml_tensor *
new_mask(struct graph *g, const char *name, int32_t segment, int64_t n_keys)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(g->ctx, GGML_TYPE_F16, n_keys,
                                               g->segments[segment].n);

    ggml_format_name(t, "%s.%d", name, (int)segment);
    ggml_set_input(t);
    return t;
}

static void
new_cache_inputs(struct graph *g, enum cache_kind kind)
{
    static const char *const names[CACHE_KINDS][2] = {
        { "cells", "mask" },
        { "cells_window", "mask_window" },
    };
    bool needed = g->cache->parts[kind].n_layer > 0;

    g->cells[kind] = NULL;
    if (needed)
        g->cells[kind] = input(g, GGML_TYPE_I64, g->n_tokens, names[kind][0]);
    for (int32_t i = 0; i < g->n_segments; i++) {
        struct graph_segment *s = &g->segments[i];

        s->masks[kind] = NULL;
        if (needed)
            s->masks[kind] = new_mask(g, names[kind][1], i, s->keys[kind].n);
    }
}

/* Masks of a drafter's layers that see a window. */
static void
new_narrow_masks(struct graph *g)
{
    const struct model *d = g->model->drafter;
    bool needed = g->mtp > 0 && d && d->hp.drafting.window > 0;

    for (int32_t i = 0; i < g->n_segments; i++) {
        struct graph_segment *s = &g->segments[i];

        s->narrow =
            needed ? new_mask(g, "mask_narrow", i, s->keys[CACHE_ALL].n) : NULL;
    }
}

static void
new_blocks_of_segment(struct graph *g, int32_t i, int c, int64_t n_columns)
{
    struct graph_segment_blocks *s = &g->segments[i].blocks[c];

    s->columns = input(g, GGML_TYPE_I32, n_columns, "");
    ggml_format_name(s->columns, "block_columns_%d.%d", c, (int)i);
}

static void
new_blocks(struct graph *g, int c)
{
    const struct model_compression *p = &g->model->hp.compressions[c];
    int64_t wide = graph_compressed_columns(p);
    struct graph_blocks *b = &g->blocks[c];

    *b = (struct graph_blocks){ .n = 0 };
    for (int32_t i = 0; i < g->n_segments; i++) {
        int32_t n = graph_blocks_written(p, g->segments[i].n);

        new_blocks_of_segment(g, i, c, wide * n);
        b->n += n;
    }
    b->cells = input(g, GGML_TYPE_I64, b->n, "");
    ggml_format_name(b->cells, "block_cells_%d", c);
    b->positions =
        input(g, GGML_TYPE_I32,
              g->turned ? (int64_t)GGML_MROPE_SECTIONS * b->n : b->n, "");
    ggml_format_name(b->positions, "block_positions_%d", c);
    if (!p->overlaps)
        return;
    b->absent = ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, wide, b->n);
    ggml_format_name(b->absent, "block_absent_%d", c);
    ggml_set_input(b->absent);
}

static void
new_packing_mask(struct graph *g, enum cache_kind kind)
{
    struct graph_packing *p = &g->packing;
    bool needed = false;

    for (int32_t i = 0; i < g->model->hp.n_layer; i++)
        needed =
            needed || g->model->layers[i].windowed == (kind == CACHE_WINDOW);
    p->masks[kind] = NULL;
    if (!needed)
        return;
    p->masks[kind] = ggml_new_tensor_4d(g->ctx, GGML_TYPE_F32, p->length,
                                        p->length, 1, p->n_rows);
    ggml_set_name(p->masks[kind],
                  kind == CACHE_WINDOW ? "mask_window" : "mask");
    ggml_set_input(p->masks[kind]);
}

static void
new_buckets(struct graph *g)
{
    bool decodes = g->model->hp.n_encoder > 0 && !g->encodes;

    for (int32_t i = 0; i < g->n_segments; i++) {
        struct graph_segment *s = &g->segments[i];
        int32_t n = decodes ? s->keys[CACHE_ALL].n : s->n;

        s->buckets = NULL;
        if (g->model->hp.n_bucket > 0) {
            s->buckets = input(g, GGML_TYPE_I32, (int64_t)s->n * n, "");
            ggml_format_name(s->buckets, "buckets.%d", (int)i);
        }
        s->cross_mask = NULL;
        if (decodes)
            s->cross_mask = new_mask(g, "mask_cross", i, s->crossed.n);
    }
}

static void
new_inputs(struct graph *g)
{
    g->ids = input(g, GGML_TYPE_I32, g->n_tokens, "ids");
    g->positions = input(g, GGML_TYPE_I32,
                         g->turned ? (int64_t)GGML_MROPE_SECTIONS * g->n_tokens
                                   : g->n_tokens,
                         "positions");
    g->rows = NULL;
    if (g->n_outputs < g->n_tokens)
        g->rows = input(g, GGML_TYPE_I32, g->n_outputs, "rows");
    g->types = NULL;
    if (g->model->hp.typed_pairs)
        g->types = input(g, GGML_TYPE_I32, g->n_tokens, "types");
    g->switches = NULL;
    if (g->model->hp.switches.n > 0)
        g->switches = input(g, GGML_TYPE_I32, g->n_tokens, "switches");
    g->ngrams = NULL;
    if (g->model->hp.ngrams.n > 0)
        g->ngrams =
            input(g, GGML_TYPE_I32,
                  (int64_t)g->model->hp.ngrams.n_heads * g->n_tokens, "ngrams");
    g->temperature = NULL;
    if (g->model->hp.temperature_scale != 0)
        g->temperature = input(g, GGML_TYPE_F32, g->n_tokens, "temperature");
    g->slots = NULL;
    if (g->model->arch->recur)
        g->slots = input(g, GGML_TYPE_I32, g->n_segments, "slots");
    new_buckets(g);
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        if (g->packing.n_rows > 0)
            new_packing_mask(g, kind);
        else
            new_cache_inputs(g, kind);
    if (g->cache)
        new_narrow_masks(g);
    for (int c = 0; c < g->model->hp.n_compression && g->cache; c++)
        new_blocks(g, c);
}

/* Rows of media, and their places. */
static void
new_given(struct graph *g)
{
    int64_t n_embd = g->model->hp.n_embd, n = g->n_given;

    g->given = g->deeper = g->given_at = g->picks = NULL;
    if (n == 0)
        return;
    g->picks = input(g, GGML_TYPE_I32, g->n_tokens, "picks");
    g->given = ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, n_embd, n);
    ggml_set_name(g->given, "given");
    ggml_set_input(g->given);
    if (g->n_deeper == 0)
        return;
    g->given_at = input(g, GGML_TYPE_I32, n, "given_at");
    g->deeper =
        ggml_new_tensor_3d(g->ctx, GGML_TYPE_F32, n_embd, n, g->n_deeper);
    ggml_set_name(g->deeper, "deeper");
    ggml_set_input(g->deeper);
}

/* Inputs for the hidden vectors that MTP layers read, and leave. */
static void
new_mtp_inputs(struct graph *g)
{
    int32_t n = 0;

    g->mtp_from = g->mtp_shift = g->mtp_of = g->mtp_to = NULL;
    if (g->mtp > 0) {
        g->mtp_from = input(g, GGML_TYPE_I32, g->n_tokens, "mtp_from");
        g->mtp_to = input(g, GGML_TYPE_I64, g->n_outputs, "mtp_to");
    }
    if (!g->feeds && !g->informs)
        return;
    for (int32_t i = 0; i < g->n_segments; i++)
        n += graph_mtp_kept(g->segments[i].n);
    g->mtp_from = input(g, GGML_TYPE_I32, g->n_segments, "mtp_from");
    g->mtp_shift = input(g, GGML_TYPE_I32, g->n_tokens, "mtp_shift");
    g->mtp_to = input(g, GGML_TYPE_I64, n, "mtp_to");
    if (n < g->n_tokens)
        g->mtp_of = input(g, GGML_TYPE_I32, n, "mtp_of");
}

static struct ggml_tensor *
build_layers(struct graph *g)
{
    const struct model *m = g->model;

    return m->arch->graph ? m->arch->graph(g, m) : graph_decoder(g, m);
}

/* The layer that gives wanted rows only; -1: none does. */
static int32_t
last_layer(const struct graph *g)
{
    const struct model_hparams *hp = &g->model->hp;

    if (graph_gives_all_rows(g))
        return -1;
    if (g->mtp > 0 && hp->n_drafter > 0)
        return hp->n_layer - 1 + hp->n_drafter;
    return hp->n_layer - 1 + g->mtp;
}

void
graph_build(struct graph *g, size_t max_nodes)
{
    g->cgraph = ggml_new_graph_custom(g->ctx, max_nodes, false);
    g->last = last_layer(g);
    new_inputs(g);
    new_given(g);
    new_mtp_inputs(g);
    g->entered = g->left = NULL;
    g->result = g->mtp ? graph_mtp(g) : build_layers(g);
    if (g->leaves)
        g->result = g->left;
    ggml_set_name(g->result, g->leaves   ? "activations"
                             : g->hidden ? "hidden"
                                         : "logits");
    ggml_set_output(g->result);
    ggml_build_forward_expand(g->cgraph, g->result);
    if (g->named)
        graph_name(g);
}
