/* encoder.c - an encoder of a projector file: its numbers, its weights, its
 * memory */
#include "core/mem.h"
#include "graph/probe.h"
#include "media/projector.h"
#include "session/model.h"
#include "session/pipeline.h"
#include "session/place.h"

enum {
    NODES_PER_LAYER = 128,
    NODES_OTHERS = 512,
};

static const struct model_arch archs[MEDIA_KINDS] = {
    { .name = "clip", .stack = "v." },
    { .name = "clip", .stack = "a." },
};

/* The CPU, and the device if it is another. */
static void
set_homes(struct model *m, ggml_backend_dev_t device)
{
    struct model_span all = { 0, m->hp.n_layer + 1 };

    m->homes[0].device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    m->n_homes = 1;
    if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU)
        return;
    m->homes[1].device = device;
    for (int i = 0; i < MODEL_PARTS; i++)
        m->homes[1].spans[i] = all;
    m->n_homes = 2;
}

/* ---- weights ------------------------------------------------------------- */

static bool
new_contexts(struct model *m, size_t n_tensors)
{
    struct ggml_init_params params = {
        .mem_size = (n_tensors + 1) * ggml_tensor_overhead(), .no_alloc = true
    };
    bool done = true;

    for (int i = 0; i < m->n_homes; i++) {
        m->homes[i].ctx = ggml_init(params);
        done = done && m->homes[i].ctx;
    }
    return done;
}

static bool
start_loader(struct media_loader *l, const struct gguf_context *gguf)
{
    struct model *m = l->e->model;
    size_t n = (size_t)m->hp.n_layer;

    l->l.weight = ggml_init((struct ggml_init_params){
        .mem_size = ggml_tensor_overhead(), .no_alloc = true });
    l->l.scratch = graph_probe_scratch();
    m->layers = mem_array(n + 1, sizeof(*m->layers));
    l->e->layers = mem_array(n + 1, sizeof(*l->e->layers));
    if (!l->l.weight || !l->l.scratch || !m->layers || !l->e->layers)
        return false;
    for (size_t i = 0; i < n; i++)
        m->layers[i].hp = &m->hp.layers[i];
    return new_contexts(m, (size_t)gguf_get_n_tensors(gguf));
}

static enum gg_status
find_weights(struct media_loader *l, const struct gguf_context *gguf)
{
    if (!start_loader(l, gguf))
        l->l.status = error_nomem(l->l.err);
    else
        l->e->type->weights(l);
    ggml_free(l->l.weight);
    ggml_free(l->l.scratch);
    return l->l.status;
}

static enum gg_status
load_weights(struct media_loader *l)
{
    struct gg_model_params params = { 0 };
    struct model *m = l->e->model;
    model_home_set failed = 0;
    enum gg_status st = find_weights(l, m->file->gguf);

    return st == GG_OK
               ? session_place_weights(&params, NULL, m, &failed, l->l.err)
               : st;
}

/* ---- memory of graphs ---------------------------------------------------- */

static enum gg_status
start_compute(struct media_encoder *e, int32_t n_threads, struct gg_error *err)
{
    struct compute *c = &e->compute;

    c->model = e->model;
    if (!session_compute_start(c))
        return error_set(err, GG_ERR_NOMEM, "%s cannot be started",
                         ggml_backend_dev_name(
                             e->model->homes[e->model->n_homes - 1].device));
    for (int i = 0; i < c->n_backends; i++)
        session_compute_set_up(c->backends[i], n_threads, NULL, NULL);
    c->max_nodes =
        NODES_PER_LAYER * (size_t)e->model->hp.n_layer + NODES_OTHERS;
    c->pool_size = c->max_nodes * ggml_tensor_overhead() +
                   ggml_graph_overhead_custom(c->max_nodes, false);
    c->pool = mem_alloc(c->pool_size);
    if (c->pool)
        c->sched = ggml_backend_sched_new(c->backends, NULL, c->n_backends,
                                          c->max_nodes, false, false);
    return c->sched ? GG_OK : error_nomem(err);
}

/* ---- birth and death ----------------------------------------------------- */

static struct media_encoder *
new_encoder(const struct media_type *type)
{
    struct media_encoder *e = mem_zalloc(sizeof(*e));

    if (!e)
        return NULL;
    e->type = type;
    e->model = mem_zalloc(sizeof(*e->model));
    if (e->model)
        return e;
    mem_free(e);
    return NULL;
}

static enum gg_status
load(struct media_encoder *e, const struct gguf_file *file,
     ggml_backend_dev_t device, bool *taken, struct gg_error *err)
{
    enum gg_media_kind kind = e->type->kind;
    struct model *m = e->model;
    struct media_loader l = {
        .e = e,
        .l = { .gguf = file->gguf, .model = m, .taken = taken, .err = err },
        .keys = { file->gguf,
                  kind == GG_MEDIA_IMAGE ? "clip.vision" : "clip.audio", GG_OK,
                  err, 0 },
    };

    m->file = m->files.file = file;
    m->pipeline = &session_alone;
    m->arch = &archs[kind];
    media_read_hparams(&l);
    if (l.keys.status != GG_OK)
        return l.keys.status;
    m->end = m->hp.n_layer;
    set_homes(m, device);
    return load_weights(&l);
}

enum gg_status
media_encoder_open(const struct gguf_file *file, const struct media_type *type,
                   ggml_backend_dev_t device, int32_t n_threads, bool *taken,
                   struct media_encoder **out, struct gg_error *err)
{
    struct media_encoder *e = new_encoder(type);
    enum gg_status st =
        e ? load(e, file, device, taken, err) : error_nomem(err);

    if (st == GG_OK)
        st = start_compute(e, n_threads, err);
    if (st == GG_OK)
        *out = e;
    else
        media_encoder_free(e);
    return st;
}

void
media_encoder_free(struct media_encoder *e)
{
    if (!e)
        return;
    session_compute_clear(&e->compute);
    if (e->model->pipeline)
        session_free_model(e->model);
    else
        mem_free(e->model);
    mem_free(e->positions.x);
    mem_free(e->layers);
    mem_free(e->bounds);
    mem_free(e->own);
    mem_free(e);
}
