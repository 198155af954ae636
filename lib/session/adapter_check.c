/* adapter_check.c - does a model look at all that an adapter changes? */
#include "core/mem.h"
#include "graph/arch.h"
#include "session/adapters.h"
#include "session/cache.h"

/* Parts of each adapter that a graph has met. */
struct meeting {
    const struct model *model;
    bool **met; /* of each: its changes, the embedding's, its directions */
    float *scales;
};

static void
meet(void *data, size_t adapter, size_t i)
{
    struct meeting *m = data;

    m->met[adapter][i] = true;
}

/* The smallest one that there is, of all adapters. */
static bool
build_graph(struct meeting *m, const struct cache *cache, bool encodes)
{
    size_t max_nodes = graph_max_nodes(m->model, 1);
    struct graph_segment segment = { .n = 1 };
    struct ggml_init_params params = {
        .mem_size = max_nodes * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(max_nodes, false),
        .no_alloc = true,
    };
    struct graph g = { .ctx = ggml_init(params),
                       .model = m->model,
                       .cache = cache,
                       .segments = &segment,
                       .n_segments = 1,
                       .n_tokens = 1,
                       .n_outputs = 1,
                       .encodes = encodes,
                       .hidden = m->model->hp.encoder || encodes,
                       .end = m->model->hp.n_layer,
                       .scales = m->scales,
                       .met = meet,
                       .met_data = m };

    if (!g.ctx)
        return false;
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        segment.keys[kind].n = cache->parts[kind].n_rows;
    for (int i = 0; i < m->model->hp.n_compression; i++)
        segment.blocks[i].n_rows =
            cache->parts[graph_compressed_part(i)].n_rows;
    segment.crossed.n = segment.keys[CACHE_ALL].n;
    graph_build(&g, max_nodes);
    ggml_free(g.ctx);
    return true;
}

/* An encoder before its decoder has one more. */
static bool
build_graphs(struct meeting *m, const struct cache *cache)
{
    return build_graph(m, cache, false) &&
           (m->model->hp.n_encoder == 0 || build_graph(m, cache, true));
}

static size_t
n_parts(const struct model *m, const struct model_adapter *a)
{
    return a->directions ? (size_t)m->hp.n_layer : a->n_changes + 1;
}

static const struct ggml_tensor *
part_at(const struct model_adapter *a, size_t i)
{
    if (a->directions)
        return a->directions[i];
    return i < a->n_changes ? a->changes[i].a : a->embedding.a;
}

static enum gg_status
check_met(const struct meeting *m, struct gg_error *err)
{
    for (size_t i = 0; i < m->model->files.n_adapters; i++) {
        const struct model_adapter *a = &m->model->adapters[i];

        for (size_t k = 0; k < n_parts(m->model, a); k++) {
            const struct ggml_tensor *t = part_at(a, k);

            if (!t || m->met[i][k])
                continue;
            gguf_bad_value(a->file->file->gguf, t->name, err,
                           "%s has no place for it here", m->model->arch->name);
            return GG_ERR_UNSUPPORTED;
        }
    }
    return GG_OK;
}

static bool
start_meeting(struct meeting *m)
{
    size_t n = m->model->files.n_adapters;
    bool done;

    m->met = mem_array(n, sizeof(*m->met));
    m->scales = mem_array(n, sizeof(*m->scales));
    done = m->met && m->scales;
    for (size_t i = 0; i < n && done; i++) {
        m->scales[i] = 1;
        m->met[i] = mem_array(n_parts(m->model, &m->model->adapters[i]),
                              sizeof(**m->met));
        done = m->met[i] != NULL;
    }
    return done;
}

static void
end_meeting(struct meeting *m)
{
    for (size_t i = 0; m->met && i < m->model->files.n_adapters; i++)
        mem_free(m->met[i]);
    mem_free(m->met);
    mem_free(m->scales);
}

enum gg_status
session_adapters_check(const struct model *m, struct gg_error *err)
{
    static const struct cache_form exact = {
        .types = { GGML_TYPE_F32, GGML_TYPE_F32 },
    };
    struct meeting meeting = { .model = m };
    struct cache cache = { 0 };
    enum gg_status st;

    if (m->files.n_adapters == 0)
        return GG_OK;
    st = session_cache_init_dry(&cache, m, &exact, 1, 1, 1, err);
    if (st == GG_OK &&
        !(start_meeting(&meeting) && build_graphs(&meeting, &cache)))
        st = error_nomem(err);
    if (st == GG_OK)
        st = check_met(&meeting, err);
    end_meeting(&meeting);
    session_cache_clear(&cache);
    return st;
}
