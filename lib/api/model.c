/* model.c - a model file becomes weights and a vocabulary */
#include "api/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/device.h"
#include "api/file.h"
#include "core/mem.h"
#include "graph/adapter.h"
#include "graph/arch.h"
#include "graph/head.h"
#include "session/model.h"
#include "session/session.h"
#include "vocab/vocab.h"

/* A rank of a pipeline reads or locks its part of it, when that is known. */
static enum gg_status
open_file(const char *path, const struct gg_model_params *params,
          struct gguf_file *file, struct gg_error *err)
{
    unsigned flags = GGUF_OPEN_ALL;

    if (params->pipeline)
        return api_open(path, flags, file, NULL, err);
    flags |= params->no_mmap ? GGUF_OPEN_READ : 0;
    flags |= params->lock ? GGUF_OPEN_LOCK : 0;
    return api_open(path, flags, file, NULL, err);
}

static enum gg_status
open_adapter(const struct gg_adapter *a, const struct gg_model_params *params,
             struct gguf_file *file, struct model_adapter_file *out,
             struct gg_error *err)
{
    bool all = a->first == 0 && a->last == 0;

    if (!a->path)
        return error_null(err);
    if (!isfinite(a->scale) || a->first < 0 || a->last < a->first)
        return error_set(err, GG_ERR_ARG,
                         "%s: a scale that is not finite, or no layers",
                         a->path);
    *out = (struct model_adapter_file){ a->path, file, a->scale,
                                        all ? 1 : a->first,
                                        all ? INT32_MAX : a->last };
    return open_file(a->path, params, file, err);
}

static enum gg_status
open_adapters(struct gg_model *m, const struct gg_model_params *params,
              struct gg_error *err)
{
    size_t n = params->n_adapters;
    enum gg_status st = GG_OK;

    if (n == 0)
        return GG_OK;
    if (!params->adapters)
        return error_null(err);
    m->adapter_files = mem_array(n, sizeof(*m->adapter_files));
    m->adapters = mem_array(n, sizeof(*m->adapters));
    if (!m->adapter_files || !m->adapters)
        return error_nomem(err);
    m->n_adapters = n;
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = open_adapter(&params->adapters[i], params, &m->adapter_files[i],
                          &m->adapters[i], err);
    return st;
}

static enum gg_status
check_vocab(const struct gg_model *m, struct gg_error *err)
{
    int32_t tokens = gg_vocab_size(m->vocab), rows = m->model->hp.n_vocab;

    if (tokens == rows)
        return GG_OK;
    return gguf_bad_value(m->file.gguf, "tokenizer.ggml.tokens", err,
                          "%d tokens, but the embedding has %d rows",
                          (int)tokens, (int)rows);
}

static enum gg_status
check_layer_counts(const struct gg_model_params *p, struct gg_error *err)
{
    if (p->gpu_layers < 0)
        return error_set(err, GG_ERR_ARG, "%d layers on a GPU",
                         (int)p->gpu_layers);
    if (p->n_device_layers && !p->device_layers)
        return error_null(err);
    for (size_t i = 0; i < p->n_device_layers; i++)
        if (p->device_layers[i] < 0)
            return error_set(err, GG_ERR_ARG, "%d layers on a device",
                             (int)p->device_layers[i]);
    if (p->cpu_experts < GG_EXPERTS_NO_LAYERS)
        return error_set(err, GG_ERR_ARG, "experts of %d layers on the CPU",
                         (int)p->cpu_experts);
    if (p->n_ctx < 0)
        return error_set(err, GG_ERR_ARG, "a context of %d", (int)p->n_ctx);
    return ERROR_RESERVED(p, err);
}

/* MTP layers of a file of their own; a model is none. */
static enum gg_status
open_mtp(struct gg_model *m, const struct gg_model_params *params,
         struct gg_error *err)
{
    enum gg_status st;

    if (!params->mtp || !params->mtp_path)
        return GG_OK;
    st = open_file(params->mtp_path, params, &m->mtp, err);
    if (st == GG_OK)
        st = api_check_model(m->mtp.gguf, err);
    return st == GG_OK ? session_adopt_mtp(&m->file, &m->mtp, err) : st;
}

static enum gg_status
load_model(struct gg_model *m, const char *path,
           const struct gg_model_params *params, struct gg_error *err)
{
    struct model_devices devices;
    enum gg_status st = check_layer_counts(params, err);

    if (st == GG_OK)
        st = api_devices_find(params->device, &devices, &m->note, err);
    if (st == GG_OK)
        st = open_file(path, params, &m->file, err);
    if (st == GG_OK)
        st = api_check_model(m->file.gguf, err);
    if (st == GG_OK)
        st = open_mtp(m, params, err);
    if (st == GG_OK)
        st = open_adapters(m, params, err);
    if (st == GG_OK) {
        struct model_files files = { &m->file, m->adapters, m->n_adapters,
                                     m->mtp.gguf };

        st = session_load_model(&files, &devices, params, &m->model, err);
    }
    if (st == GG_OK)
        st = vocab_load_or_textless(m->file.gguf, m->model->hp.n_vocab,
                                    &m->vocab, err);
    if (st == GG_OK)
        st = check_vocab(m, err);
    return st;
}

/* About layers and devices. */
static const char *
device_note(const struct gg_model *m)
{
    return m->model->note[0] ? m->model->note : m->note;
}

/* Where there are two notes, they become one. */
static enum gg_status
join_notes(struct gg_model *m, struct gg_error *err)
{
    const char *device = device_note(m), *file = m->file.note;
    size_t n = device && file ? strlen(device) + strlen(file) + 3 : 0;

    if (!n)
        return GG_OK;
    m->notes = mem_alloc(n);
    if (!m->notes)
        return error_nomem(err);
    snprintf(m->notes, n, "%s; %s", file, device);
    return GG_OK;
}

static enum gg_status
open_as_asked(const char *path, const struct gg_model_params *params,
              struct gg_model **out, struct gg_error *err)
{
    struct gg_model *m = mem_zalloc(sizeof(*m));
    enum gg_status st = m ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = load_model(m, path, params, err);
    if (st == GG_OK)
        st = join_notes(m, err);
    if (st == GG_OK)
        *out = m;
    else
        gg_model_free(m);
    return st;
}

/* MTP layers that merely may be used fail no model. */
enum gg_status
gg_model_open(const char *path, const struct gg_model_params *params,
              struct gg_model **out, struct gg_error *err)
{
    struct gg_model_params p = params ? *params : (struct gg_model_params){ 0 };
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    p.mtp_if_able = p.mtp_if_able && !p.mtp;
    st = open_as_asked(path, &p, out, err);
    if (st == GG_OK || !p.mtp_if_able)
        return st;
    p.mtp_if_able = false;
    return open_as_asked(path, &p, out, err);
}

void
gg_model_free(struct gg_model *model)
{
    if (!model)
        return;
    gg_vocab_free(model->vocab);
    session_free_model(model->model);
    gguf_file_close(&model->mtp);
    gguf_file_close(&model->file);
    for (size_t i = 0; i < model->n_adapters; i++)
        gguf_file_close(&model->adapter_files[i]);
    mem_free(model->adapter_files);
    mem_free(model->adapters);
    mem_free(model->notes);
    mem_free(model);
}

const char *
gg_model_note(const struct gg_model *model)
{
    if (!model)
        return NULL;
    if (model->notes)
        return model->notes;
    return device_note(model) ? device_note(model) : model->file.note;
}

const char *
gg_model_device(const struct gg_model *model)
{
    return model ? ggml_backend_dev_name(graph_device(model->model)) : NULL;
}

const char *
gg_model_device_description(const struct gg_model *model)
{
    return model ? ggml_backend_dev_description(graph_device(model->model))
                 : NULL;
}

size_t
gg_model_n_adapters(const struct gg_model *model, uint64_t *bytes)
{
    if (bytes)
        *bytes = model ? graph_adapters_size(model->model) : 0;
    return model ? model->n_adapters : 0;
}

int32_t
gg_model_gpu_layers(const struct gg_model *model)
{
    return model ? graph_device_layers(model->model) : 0;
}

bool
gg_model_known(const char *architecture)
{
    const struct model_arch *arch =
        architecture ? graph_arch_find(architecture) : NULL;

    return arch && !arch->drafter;
}

bool
gg_model_drafts(const char *architecture)
{
    const struct model_arch *arch =
        architecture ? graph_arch_find(architecture) : NULL;

    return arch && arch->drafter;
}

const char *
gg_model_drafter(const struct gg_model *model)
{
    const struct model *m = model ? model->model : NULL;

    if (!m || m->hp.n_mtp == 0)
        return NULL;
    return m->drafter ? m->drafter->arch->name : "mtp";
}

const char *
gg_model_family(size_t i)
{
    return graph_arch_name(i);
}

int32_t
gg_model_window(const struct gguf_context *gguf)
{
    return gguf ? graph_window(gguf) : 0;
}

const struct gg_vocab *
gg_model_vocab(const struct gg_model *model)
{
    return model ? model->vocab : NULL;
}

const char *
gg_model_architecture(const struct gg_model *model)
{
    return model ? model->model->arch->name : NULL;
}

int32_t
gg_model_n_vocab(const struct gg_model *model)
{
    return model ? model->model->hp.n_vocab : 0;
}

int32_t
gg_model_n_ctx_train(const struct gg_model *model)
{
    return model ? model->model->hp.n_ctx_train : 0;
}

int32_t
gg_model_n_embd(const struct gg_model *model)
{
    return model ? model->model->hp.n_embd : 0;
}

bool
gg_model_is_encoder(const struct gg_model *model)
{
    return model && model->model->hp.encoder;
}

int32_t
gg_model_n_scores(const struct gg_model *model)
{
    const struct model *m = model ? model->model : NULL;

    return m && m->rank.n ? graph_head_length(&m->rank, m->hp.n_embd) : 0;
}

int32_t
gg_model_vector_length(const struct gg_model *model, enum gg_pooling pooling)
{
    const struct model *m = model ? model->model : NULL;

    if (pooling == GG_POOL_RANK || pooling == GG_POOL_TOKENS)
        return gg_model_n_scores(model);
    if (!m || pooling == GG_POOL_NONE)
        return gg_model_n_embd(model);
    return graph_head_length(&m->dense, m->hp.n_embd);
}

/* The numbers are llama.cpp's enum llama_pooling_type. */
enum gg_status
gg_model_pooling(const struct gg_model *model, enum gg_pooling *pooling,
                 struct gg_error *err)
{
    static const enum gg_pooling known[] = { [0] = GG_POOL_NONE,
                                             [1] = GG_POOL_MEAN,
                                             [2] = GG_POOL_CLS,
                                             [3] = GG_POOL_LAST };
    const struct gguf_context *gguf;
    uint64_t type = 0;
    char key[96];
    enum gg_status st;

    if (!model || !pooling)
        return error_null(err);
    gguf = model->file.gguf;
    snprintf(key, sizeof(key), "%s.pooling_type", model->model->arch->name);
    if (gguf_find_key(gguf, key) < 0)
        return gguf_bad_value(gguf, key, err,
                              "the file has no such key: say mean, last or "
                              "cls");
    st = gguf_get_u64(gguf, key, &type, err);
    if (st != GG_OK)
        return st;
    if (type == 4)
        return gguf_bad_value(gguf, key, err,
                              "4 (rank): a reranker, which gives scores of "
                              "pairs and no embeddings");
    if (type >= sizeof(known) / sizeof(known[0]))
        return gguf_bad_value(
            gguf, key, err,
            "%llu is not 0 (none), 1 (mean), 2 (cls) or 3 (last)",
            (unsigned long long)type);
    *pooling = known[type];
    return GG_OK;
}

enum gg_status
gg_session_new(const struct gg_model *model,
               const struct gg_session_params *params, struct gg_session **out,
               struct gg_error *err)
{
    struct gg_session_params defaults = gg_session_params_default();

    if (!model || !out)
        return error_null(err);
    return session_new(model->model, params ? params : &defaults, out, err);
}

int32_t
gg_model_layers(const struct gg_model *model, int32_t *first, int32_t *end)
{
    const struct model *m = model ? model->model : NULL;

    if (first)
        *first = m ? m->first : 0;
    if (end)
        *end = m ? m->end : 0;
    return m ? m->hp.n_layer : 0;
}

/* Snapshots of all homes are the same ones. */
static void
add_memory(struct gg_memory *to, const struct gg_memory *m)
{
    to->weights += m->weights;
    to->cache += m->cache;
    to->compute += m->compute;
    to->snapshots += m->snapshots;
    to->n_snapshots = m->n_snapshots;
    to->mtp_weights += m->mtp_weights;
    to->mtp_cache += m->mtp_cache;
}

static enum gg_status
measure_homes(const struct gg_model *model,
              const struct gg_session_params *params,
              struct gg_memory homes[MODEL_MAX_HOMES], struct gg_error *err)
{
    struct gg_session_params defaults = gg_session_params_default();

    return session_memory_at(model->model, params ? params : &defaults, homes,
                             err);
}

enum gg_status
gg_model_memory(const struct gg_model *model,
                const struct gg_session_params *params, struct gg_memory *out,
                struct gg_error *err)
{
    struct gg_memory homes[MODEL_MAX_HOMES], all = { 0 };
    enum gg_status st;

    if (!model || !out)
        return error_null(err);
    st = measure_homes(model, params, homes, err);
    if (st != GG_OK)
        return st;
    for (int i = 0; i < model->model->n_homes; i++)
        add_memory(&all, &homes[i]);
    *out = all;
    return GG_OK;
}

enum gg_status
gg_model_home_memory(const struct gg_model *model, size_t i,
                     const struct gg_session_params *params,
                     struct gg_memory *out, struct gg_error *err)
{
    struct gg_memory homes[MODEL_MAX_HOMES];
    enum gg_status st;

    if (!model || !out)
        return error_null(err);
    if (i >= gg_model_n_homes(model))
        return error_set(err, GG_ERR_ARG, "home %zu of %zu", i,
                         gg_model_n_homes(model));
    st = measure_homes(model, params, homes, err);
    if (st == GG_OK)
        *out = homes[i];
    return st;
}

size_t
gg_model_n_homes(const struct gg_model *model)
{
    return model ? (size_t)model->model->n_homes : 0;
}

bool
gg_model_home(const struct gg_model *model, size_t i, struct gg_home *out)
{
    ggml_backend_dev_t dev;

    if (!out || i >= gg_model_n_homes(model))
        return false;
    dev = model->model->homes[i].device;
    *out = (struct gg_home){
        .device = ggml_backend_dev_name(dev),
        .description = ggml_backend_dev_description(dev),
        .weights = session_home_weights(model->model, (int)i),
    };
    return true;
}

int32_t
gg_model_n_layers(const struct gg_model *model)
{
    return model ? model->model->hp.n_layer : 0;
}

size_t
gg_model_home_of(const struct gg_model *model, int32_t layer, bool experts)
{
    enum model_part part = experts ? MODEL_EXPERTS : MODEL_REST;

    return model && layer >= 0
               ? (size_t)graph_home_of(model->model, layer, part)
               : 0;
}
