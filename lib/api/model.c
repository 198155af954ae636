/* model.c - a model file becomes weights and a vocabulary */
#include "api/model.h"

#include <string.h>

#include "api/device.h"
#include "core/mem.h"
#include "model/arch.h"
#include "model/session.h"
#include "vocab/vocab.h"

/* ---- files that are told apart by their first bytes --------------------- */

static const struct {
    const char *magic;
    const char *what;
} strangers[] = {
    { "lmgg", "a ggml file" },
    { "fmgg", "a ggmf file" },
    { "tjgg", "a ggjt file" },
    { "PK\3\4", "a zip archive (PyTorch?)" },
};

/* What is not GGUF is refused with a word about what it is. */
static enum gg_status
check_magic(const struct file_map *map, struct gg_error *err)
{
    const char *p = map->data;

    if (map->size < 4)
        return error_set(err, GG_ERR_FORMAT, "not a model: %zu bytes",
                         map->size);
    if (!memcmp(p, GGUF_MAGIC, 4))
        return GG_OK;
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
        if (!memcmp(p, strangers[i].magic, 4))
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "is %s; only GGUF files can be run",
                             strangers[i].what);
    return error_set(err, GG_ERR_FORMAT, "not a GGUF file");
}

static enum gg_status
open_file(const char *path, const struct gg_model_params *params,
          struct gguf_file *file, struct gg_error *err)
{
    unsigned flags = GGUF_OPEN_ALL;
    struct file_map map;
    enum gg_status st = file_map(path, &map, err);

    if (st != GG_OK)
        return st;
    st = check_magic(&map, err);
    file_unmap(&map);
    if (st != GG_OK)
        return error_prefix(err, st, "%s", path);
    flags |= params->no_mmap ? GGUF_OPEN_READ : 0;
    flags |= params->lock ? GGUF_OPEN_LOCK : 0;
    return gguf_file_open(path, flags, file, err);
}

/* ---- model -------------------------------------------------------------- */

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
load(struct gg_model *m, const char *path, const struct gg_model_params *params,
     struct gg_error *err)
{
    ggml_backend_dev_t dev;
    enum gg_status st = device_find(params->device, &dev, err);

    if (st == GG_OK)
        st = open_file(path, params, &m->file, err);
    if (st == GG_OK)
        st = model_load(&m->file, dev, params, &m->model, err);
    if (st == GG_OK)
        st = vocab_load(m->file.gguf, &m->vocab, err);
    if (st == GG_OK)
        st = check_vocab(m, err);
    return st;
}

enum gg_status
gg_model_open(const char *path, const struct gg_model_params *params,
              struct gg_model **out, struct gg_error *err)
{
    static const struct gg_model_params defaults;
    struct gg_model *m = mem_zalloc(sizeof(*m));
    enum gg_status st = m ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = load(m, path, params ? params : &defaults, err);
    if (st == GG_OK)
        *out = m;
    else
        gg_model_free(m);
    return st;
}

void
gg_model_free(struct gg_model *model)
{
    if (!model)
        return;
    gg_vocab_free(model->vocab);
    model_free(model->model);
    gguf_file_close(&model->file);
    mem_free(model);
}

bool
gg_model_known(const char *architecture)
{
    return model_arch_find(architecture) != NULL;
}

const struct gg_vocab *
gg_model_vocab(const struct gg_model *model)
{
    return model->vocab;
}

const char *
gg_model_architecture(const struct gg_model *model)
{
    return model->model->arch->name;
}

int32_t
gg_model_n_vocab(const struct gg_model *model)
{
    return model->model->hp.n_vocab;
}

int32_t
gg_model_n_ctx_train(const struct gg_model *model)
{
    return model->model->hp.n_ctx_train;
}

enum gg_status
gg_session_new(const struct gg_model *model,
               const struct gg_session_params *params, struct gg_session **out,
               struct gg_error *err)
{
    struct gg_session_params defaults = gg_session_params_default();

    return session_new(model->model, params ? params : &defaults, out, err);
}

enum gg_status
gg_model_memory(const struct gg_model *model,
                const struct gg_session_params *params, struct gg_memory *out,
                struct gg_error *err)
{
    struct gg_session_params defaults = gg_session_params_default();

    return session_memory(model->model, params ? params : &defaults, out, err);
}
