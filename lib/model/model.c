/* model.c - from a parsed file to weights where the device wants them */
#include "model/arch.h"

#include "core/mem.h"
#include "model/probe.h"

enum {
    MAX_VOCAB = 1 << 24,
    /* What kernels may load at once; mapped weights must begin so. */
    WEIGHT_ALIGNMENT = 32,
};

static enum gg_status
choose_arch(const struct gguf_context *gguf, struct model *m,
            struct gg_error *err)
{
    char name[64], known[128];
    enum gg_status st = model_key_architecture(gguf, name, sizeof(name), err);

    if (st != GG_OK)
        return st;
    m->arch = model_arch_find(name);
    if (m->arch)
        return GG_OK;
    model_arch_list(known, sizeof(known));
    gguf_bad_value(gguf, "general.architecture", err,
                   "%s is not a family that is known here (%s)", name, known);
    return GG_ERR_UNSUPPORTED;
}

static enum gg_status
read_hparams(const struct gguf_context *gguf, struct model *m,
             struct gg_error *err)
{
    static const char embd[] = "token_embd.weight";
    const struct gguf_tensor *t = gguf_tensor_named(gguf, embd);
    struct model_keys keys = { gguf, m->arch->name, GG_OK, err };

    if (!t)
        return gguf_bad_value(gguf, embd, err, "the file has no such tensor");
    if (t->ne[1] > MAX_VOCAB)
        return gguf_bad_value(gguf, embd, err, "more than %d rows", MAX_VOCAB);
    m->hp.n_vocab = (int32_t)t->ne[1];
    m->arch->hparams(&keys, &m->hp);
    return keys.status;
}

static enum gg_status
find_weights(const struct gguf_context *gguf, struct model *m,
             struct gg_error *err)
{
    struct ggml_init_params params = {
        .mem_size = (size_t)gguf_get_n_tensors(gguf) * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct model_loader l = { .gguf = gguf, .model = m, .err = err };

    m->layers = mem_array((size_t)m->hp.n_layer, sizeof(*m->layers));
    m->ctx = ggml_init(params);
    l.scratch = probe_scratch();
    if (m->layers && m->ctx && l.scratch)
        m->arch->weights(&l, m);
    else
        l.status = error_nomem(err);
    ggml_free(l.scratch);
    return l.status;
}

/* ---- where they lie ----------------------------------------------------- */

static bool
can_stay_mapped(const struct gguf_context *gguf, const struct model *m)
{
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(m->device, &props);
    if (!props.caps.buffer_from_host_ptr)
        return false;
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        if ((uintptr_t)gguf_tensor(gguf, i)->data % WEIGHT_ALIGNMENT)
            return false;
    return true;
}

static bool
use_mapped(const struct gguf_context *gguf, const struct file_map *map,
           struct model *m)
{
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);
    const struct gguf_tensor *from;

    m->buffer = ggml_backend_dev_buffer_from_host_ptr(
        m->device, map->data, map->size, ggml_get_max_tensor_size(m->ctx));
    if (!m->buffer)
        return false;
    for (; t; t = ggml_get_next_tensor(m->ctx, t)) {
        from = gguf_tensor_named(gguf, t->name);
        if (ggml_backend_tensor_alloc(m->buffer, t, (void *)from->data) !=
            GGML_STATUS_SUCCESS)
            return false;
    }
    return true;
}

static bool
copy_to_device(const struct gguf_context *gguf, struct model *m)
{
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);
    const struct gguf_tensor *from;

    m->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        m->ctx, ggml_backend_dev_buffer_type(m->device));
    if (!m->buffer)
        return false;
    for (; t; t = ggml_get_next_tensor(m->ctx, t)) {
        from = gguf_tensor_named(gguf, t->name);
        ggml_backend_tensor_set(t, from->data, 0, from->size);
    }
    return true;
}

static enum gg_status
place_weights(const struct gguf_context *gguf, const struct file_map *map,
              struct model *m, struct gg_error *err)
{
    bool placed = can_stay_mapped(gguf, m) ? use_mapped(gguf, map, m)
                                           : copy_to_device(gguf, m);

    if (!placed)
        return error_set(err, GG_ERR_NOMEM, "no memory for the weights on %s",
                         ggml_backend_dev_name(m->device));
    ggml_backend_buffer_set_usage(m->buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return GG_OK;
}

enum gg_status
model_load(const struct gguf_context *gguf, const struct file_map *map,
           ggml_backend_dev_t device, struct model **out, struct gg_error *err)
{
    struct model *m = mem_zalloc(sizeof(*m));
    enum gg_status st = m ? GG_OK : error_nomem(err);

    if (m)
        m->device = device;
    if (st == GG_OK)
        st = choose_arch(gguf, m, err);
    if (st == GG_OK)
        st = read_hparams(gguf, m, err);
    if (st == GG_OK)
        st = find_weights(gguf, m, err);
    if (st == GG_OK)
        st = place_weights(gguf, map, m, err);
    if (st == GG_OK)
        *out = m;
    else
        model_free(m);
    return st;
}

void
model_free(struct model *model)
{
    if (!model)
        return;
    ggml_backend_buffer_free(model->buffer);
    ggml_free(model->ctx);
    mem_free(model->layers);
    mem_free(model);
}
