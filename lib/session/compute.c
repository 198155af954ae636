/* compute.c - running a model's graphs on its device */
#include "session/compute.h"

#include <string.h>

#include "core/mem.h"
#include "graph/adapter.h"
#include "graph/arch.h"
#include "sched/sched.h"
#include "session/pipeline.h"
#include "session/shared_rows.h"

void
session_compute_round(struct compute *c, bool bf16)
{
    c->graph.bf16 = bf16;
}

void
session_compute_watch(struct compute *c, gg_watch_callback watch, void *data)
{
    c->watch = watch;
    c->watch_data = data;
    ggml_backend_sched_set_eval_callback(c->sched, watch, data);
}

/* ---- graphs ------------------------------------------------------------- */

static void
drop_graph(struct compute *c)
{
    ggml_free(c->graph.ctx);
    c->graph.ctx = NULL;
}

/* The caller has filled in c->graph.segments. */
static bool
build(struct compute *c, const struct cache *cache, int32_t n_segments,
      int32_t n_tokens, int32_t n_outputs, bool hidden)
{
    struct ggml_init_params params = {
        .mem_size = c->pool_size,
        .mem_buffer = c->pool,
        .no_alloc = true,
    };
    struct graph *g = &c->graph;

    drop_graph(c);
    g->ctx = ggml_init(params);
    if (!g->ctx)
        return false;
    g->model = c->model;
    g->cache = cache;
    g->n_segments = n_segments;
    g->n_tokens = n_tokens;
    g->n_outputs = n_outputs;
    g->first = c->first;
    g->end = c->end;
    g->leaves = c->leaves;
    g->hidden = hidden;
    g->mtp = c->mtp;
    g->feeds = c->mtp == 0 && c->model->hp.n_mtp > 0 && !c->leaves &&
               c->feed != GRAPH_FEED_NONE;
    g->feeds_keys = c->feed == GRAPH_FEED_ALL;
    g->informs = g->feeds && c->model->drafter;
    g->feeds = g->feeds && !g->informs;
    g->named = c->watch != NULL;
    g->scales = c->scales;
    graph_build(g, c->max_nodes);
    return true;
}

/* Logits of most ids are wanted. */
static bool
drafts_blocks(const struct compute *c)
{
    const struct model *d = c->model->drafter;

    return c->mtp > 0 && d && d->arch->drafter->block;
}

/* All but the last block are the first slot's, where rows are shared. */
static struct cache_runs
longest_runs(const struct cache *cache, int32_t slot)
{
    const struct cache_part *p = &cache->parts[CACHE_ALL];
    struct cache_runs own = { 1, { { slot, p->n_rows } } };

    if (!p->owners || slot == 0)
        return own;
    return (struct cache_runs){
        2, { { 0, p->n_rows - CACHE_BLOCK }, { slot, p->n_rows } }
    };
}

/* As many segments as there may be, and as many ids, before a full cache, and
 * all adapters. */
static bool
build_largest(struct compute *c, const struct cache *cache, int32_t max_tokens,
              bool encodes)
{
    bool encoder = c->model->hp.encoder;
    int32_t first = 0;

    c->graph.encodes = encodes;
    for (size_t i = 0; i < c->model->files.n_adapters; i++)
        c->scales[i] = 1;
    for (int32_t i = 0; i < c->max_segments; i++) {
        bool last = i == c->max_segments - 1;

        c->graph.segments[i] = (struct graph_segment){
            .slot = i,
            .first = first,
            .n = last ? max_tokens - first : 1,
        };
        for (int kind = 0; kind < CACHE_KINDS; kind++)
            c->graph.segments[i].keys[kind].n = cache->parts[kind].n_rows;
        c->graph.segments[i].runs = longest_runs(cache, i);
        for (int k = 0; k < c->model->hp.n_compression; k++)
            c->graph.segments[i].blocks[k].n_rows =
                cache->parts[graph_compressed_part(k)].n_rows;
        c->graph.segments[i].crossed.n = cache->parts[CACHE_ALL].n_rows;
        first++;
    }
    return build(c, cache, c->max_segments, max_tokens,
                 encoder || drafts_blocks(c) ? max_tokens : c->max_segments,
                 encoder || encodes);
}

/* The graphs that there are: of an encoder before its decoder, too. */
static int
n_graphs(const struct compute *c)
{
    return c->model->hp.n_encoder > 0 ? 2 : 1;
}

static bool
reserve_graph(struct compute *c, const struct cache *cache, int32_t max_tokens)
{
    bool done = true;

    for (int i = n_graphs(c); i-- > 0 && done;) {
        done = build_largest(c, cache, max_tokens, i > 0) &&
               ggml_backend_sched_reserve(c->sched, c->graph.cgraph);
        drop_graph(c);
    }
    return done;
}

bool
session_compute_take_rows(struct compute *c, const struct cache *cache,
                          int32_t max_tokens, size_t n_deeper)
{
    bool done;

    c->graph.n_given = max_tokens;
    c->graph.n_deeper = (int32_t)n_deeper;
    c->graph.turned = graph_rope_has_sections(&c->model->hp);
    ggml_backend_sched_reset(c->sched);
    done = reserve_graph(c, cache, max_tokens);
    c->graph.n_given = c->graph.n_deeper = 0;
    c->graph.turned = false;
    return done;
}

static bool
measure_graph(struct compute *c, const struct cache *cache, int32_t max_tokens,
              uint64_t *sizes)
{
    size_t own[MODEL_MAX_HOMES], most[MODEL_MAX_HOMES] = { 0 };
    bool done = true;

    for (int k = n_graphs(c); k-- > 0 && done;) {
        done = build_largest(c, cache, max_tokens, k > 0) &&
               sched_measure(c->sched, c->graph.cgraph, own);
        for (int i = 0; i < c->n_backends && done; i++)
            most[i] = own[i] > most[i] ? own[i] : most[i];
    }
    for (int i = 0; i < c->n_backends && done; i++)
        sizes[session_compute_home(c, i)] += most[i];
    return done;
}

static bool
same_runs(const struct cache_runs *a, const struct cache_runs *b)
{
    for (int i = 0; i < a->n && i < b->n; i++)
        if (a->list[i].slot != b->list[i].slot ||
            a->list[i].end != b->list[i].end)
            return false;
    return a->n == b->n;
}

static bool
same_keys(const struct graph_segment *a, const struct graph_segment *b)
{
    for (int i = 0; i < CACHE_KINDS; i++)
        if (a->keys[i].row != b->keys[i].row || a->keys[i].n != b->keys[i].n)
            return false;
    for (int i = 0; i < MODEL_MAX_COMPRESSIONS; i++)
        if (a->blocks[i].n_rows != b->blocks[i].n_rows)
            return false;
    return same_runs(&a->runs, &b->runs) && a->crossed.n == b->crossed.n;
}

/* Whether the batch's graph ends in front of the output. */
static bool
is_hidden(const struct compute *c, const struct batch *b)
{
    return b->scored || b->pooled || b->encodes || c->model->hp.encoder;
}

/* Layers that get rows of media after them. */
static int32_t
n_deeper(const struct batch *b)
{
    return b->n_given ? (int32_t)b->slots->media->n_deeper : 0;
}

static bool
same_shape(const struct compute *c, const struct batch *b)
{
    const struct graph *g = &c->graph;

    if (!g->ctx || g->n_tokens != b->n_tokens ||
        g->n_segments != b->n_segments || g->n_outputs != b->n_outputs ||
        g->mtp != b->mtp || g->encodes != b->encodes ||
        g->hidden != is_hidden(c, b) || g->n_given != b->n_given ||
        c->feed != b->feed || g->turned != b->turned ||
        g->n_deeper != n_deeper(b) ||
        !graph_adapters_same(c->model, c->scales, b->scales))
        return false;
    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *x = &g->segments[i], *y = &b->segments[i];

        if (x->slot != y->slot || x->n != y->n || !same_keys(x, y))
            return false;
    }
    return true;
}

static bool
prepare_batch(struct compute *c, const struct cache *cache,
              const struct batch *b)
{
    if (same_shape(c, b))
        return true;
    if (c->scales)
        memcpy(c->scales, b->scales,
               c->model->files.n_adapters * sizeof(*c->scales));
    memcpy(c->graph.segments, b->segments,
           (size_t)b->n_segments * sizeof(*b->segments));
    ggml_backend_sched_reset(c->sched);
    c->mtp = b->mtp;
    c->feed = b->feed;
    c->graph.n_given = b->n_given;
    c->graph.n_deeper = n_deeper(b);
    c->graph.turned = b->turned;
    c->graph.encodes = b->encodes;
    if (build(c, cache, b->n_segments, b->n_tokens, b->n_outputs,
              is_hidden(c, b)) &&
        ggml_backend_sched_alloc_graph(c->sched, c->graph.cgraph))
        return true;
    drop_graph(c);
    return false;
}

/* ---- one batch ---------------------------------------------------------- */

static enum gg_status
get_scores(struct compute *c, const struct batch *b, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!c->logprobs.sched) {
        st = session_logprobs_start(&c->logprobs, c->model, c->backends,
                                    c->n_backends, c->graph.bf16, err);
        if (st == GG_OK)
            ggml_backend_sched_set_eval_callback(c->logprobs.sched, c->watch,
                                                 c->watch_data);
    }
    return st == GG_OK
               ? session_logprobs_run(&c->logprobs, c->graph.result, b, err)
               : st;
}

bool
session_compute_sizes(struct compute *c, const struct cache *cache,
                      const struct batch *b, size_t *entered, size_t *left)
{
    if (!prepare_batch(c, cache, b))
        return false;
    *entered = c->graph.entered ? ggml_nbytes(c->graph.entered) : 0;
    *left = c->leaves ? ggml_nbytes(c->graph.result) : 0;
    return true;
}

static enum gg_status
compute_graph(struct compute *c, struct gg_error *err)
{
    return session_compute_status(
        c->sched, ggml_backend_sched_graph_compute(c->sched, c->graph.cgraph),
        err);
}

enum gg_status
session_compute_layers(struct compute *c, const struct cache *cache,
                       struct batch *b, const void *entered, void *left,
                       struct gg_error *err)
{
    enum gg_status st;

    if (!prepare_batch(c, cache, b) ||
        !session_compute_set_inputs(c, b, entered))
        return error_nomem(err);
    st = compute_graph(c, err);
    if (st != GG_OK)
        return st;
    ggml_backend_tensor_get(c->graph.result, left, 0,
                            ggml_nbytes(c->graph.result));
    return session_compute_status(c->sched, GGML_STATUS_SUCCESS, err);
}

enum gg_status
session_compute_run(struct compute *c, const struct cache *cache,
                    struct batch *b, const void *entered, struct gg_error *err)
{
    enum gg_status st;
    void *own;

    session_shared_find(cache, b->segments, b->n_segments);
    if (!prepare_batch(c, cache, b) ||
        !session_compute_set_inputs(c, b, entered))
        return error_nomem(err);
    own = session_compute_place_logits(c, b);
    st = compute_graph(c, err);
    if (own)
        c->graph.result->data = own;
    if (st == GG_OK && b->pooled) {
        if (!session_pooling_add(&c->pool_of_rows, c->graph.result, b))
            return error_nomem(err);
        st = session_compute_status(c->sched, GGML_STATUS_SUCCESS, err);
    }
    if (st == GG_OK && b->scored)
        return get_scores(c, b, err);
    if (st == GG_OK && !b->pooled && !own) {
        if (!session_compute_get_logits(c, b))
            return error_nomem(err);
        st = session_compute_status(c->sched, GGML_STATUS_SUCCESS, err);
    }
    return st;
}

/* ---- birth and death ---------------------------------------------------- */

static bool
allocate(struct compute *c, const struct cache *cache)
{
    size_t n_adapters = c->model->files.n_adapters;

    c->max_nodes = graph_max_nodes(c->model, c->max_segments);
    if (cache->parts[CACHE_ALL].owners)
        c->max_nodes += graph_shared_nodes(c->model, c->max_segments);
    c->pool_size = c->max_nodes * ggml_tensor_overhead() +
                   ggml_graph_overhead_custom(c->max_nodes, false);
    c->pool = mem_alloc(c->pool_size);
    c->graph.segments =
        mem_array((size_t)c->max_segments, sizeof(*c->graph.segments));
    if (n_adapters)
        c->scales = mem_array(n_adapters, sizeof(*c->scales));
    if (!c->pool || !c->graph.segments || (n_adapters && !c->scales))
        return false;
    c->sched = ggml_backend_sched_new(c->backends, NULL, c->n_backends,
                                      c->max_nodes, false, false);
    return c->sched != NULL;
}

static enum gg_status
start_compute(struct compute *c, const struct model *model,
              const struct cache *cache, int32_t max_segments,
              struct gg_error *err)
{
    *c = (struct compute){ .model = model,
                           .first = model->first,
                           .end = model->end,
                           .leaves = model->pipeline->divided,
                           .max_segments = max_segments };
    if (!session_compute_start(c))
        return error_set(err, GG_ERR_NOMEM, "%s cannot be started",
                         ggml_backend_dev_name(graph_device(model)));
    return allocate(c, cache) ? GG_OK : error_nomem(err);
}

enum gg_status
session_compute_init(struct compute *c, const struct model *model,
                     const struct cache *cache, int32_t max_tokens,
                     int32_t max_segments, int n_threads,
                     ggml_abort_callback abort, void *abort_data,
                     struct gg_error *err)
{
    enum gg_status st = start_compute(c, model, cache, max_segments, err);

    for (int i = 0; i < c->n_backends; i++)
        session_compute_set_up(c->backends[i], n_threads, abort, abort_data);
    if (st == GG_OK && !reserve_graph(c, cache, max_tokens))
        st = error_set(err, GG_ERR_NOMEM,
                       "no memory for the compute buffers of %d ids",
                       (int)max_tokens);
    if (st != GG_OK)
        session_compute_clear(c);
    return st;
}

enum gg_status
session_compute_init_mtp(struct compute *c, const struct compute *lender,
                         const struct cache *cache, int32_t max_tokens,
                         int32_t max_segments, struct gg_error *err)
{
    *c = (struct compute){ .model = lender->model,
                           .n_backends = lender->n_backends,
                           .borrowed = true,
                           .mtp = 1,
                           .max_segments = max_segments };
    memcpy(c->backends, lender->backends, sizeof(c->backends));
    if (allocate(c, cache) && reserve_graph(c, cache, max_tokens))
        return GG_OK;
    session_compute_clear(c);
    return error_set(err, GG_ERR_NOMEM,
                     "no memory for the compute buffers of MTP layers");
}

static enum gg_status
measure(struct compute *c, const struct cache *cache, int32_t max_tokens,
        uint64_t *sizes, enum gg_status st, struct gg_error *err)
{
    if (st == GG_OK && !measure_graph(c, cache, max_tokens, sizes))
        st = error_nomem(err);
    session_compute_clear(c);
    return st;
}

enum gg_status
session_compute_init_output(struct compute *c, const struct compute *main,
                            const struct cache *cache, int32_t max_tokens,
                            struct gg_error *err)
{
    int32_t n_layer = main->model->hp.n_layer;

    *c = (struct compute){ .model = main->model,
                           .first = n_layer,
                           .end = n_layer,
                           .n_backends = main->n_backends,
                           .borrowed = true,
                           .max_segments = main->max_segments };
    memcpy(c->backends, main->backends, sizeof(c->backends));
    c->graph.bf16 = main->graph.bf16;
    if (allocate(c, cache) && reserve_graph(c, cache, max_tokens))
        return GG_OK;
    session_compute_clear(c);
    return error_nomem(err);
}

enum gg_status
session_compute_measure(const struct model *model, const struct cache *cache,
                        int32_t max_tokens, int32_t max_segments,
                        uint64_t sizes[MODEL_MAX_HOMES], struct gg_error *err)
{
    struct compute c;
    enum gg_status st = start_compute(&c, model, cache, max_segments, err);

    return measure(&c, cache, max_tokens, sizes, st, err);
}

enum gg_status
session_compute_measure_mtp(const struct model *model,
                            const struct cache *cache, int32_t max_tokens,
                            int32_t max_segments,
                            uint64_t sizes[MODEL_MAX_HOMES],
                            struct gg_error *err)
{
    struct compute c;
    enum gg_status st = start_compute(&c, model, cache, max_segments, err);

    c.mtp = 1;
    return measure(&c, cache, max_tokens, sizes, st, err);
}

void
session_compute_clear(struct compute *c)
{
    drop_graph(c);
    session_logprobs_clear(&c->logprobs);
    session_readback_clear(&c->readback);
    session_topk_clear(&c->topk);
    mem_free(c->row);
    session_pooling_clear(&c->pool_of_rows);
    session_stage_clear(&c->stage);
    ggml_backend_sched_free(c->sched);
    for (int i = 0; i < c->n_backends && !c->borrowed; i++)
        ggml_backend_free(c->backends[i]);
    mem_free(c->graph.segments);
    mem_free(c->scales);
    mem_free(c->pool);
    *c = (struct compute){ 0 };
}

size_t
session_compute_size(const struct compute *c)
{
    size_t n = session_logprobs_size(&c->logprobs);

    for (int i = 0; i < c->n_backends; i++)
        n += ggml_backend_sched_get_buffer_size(c->sched, c->backends[i]);
    return n;
}
