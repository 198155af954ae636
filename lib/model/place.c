/* place.c - weights go where their devices want them */
#include "model/place.h"

#include "core/mem.h"
#include "model/upload.h"

enum {
    /* What kernels may load at once; mapped weights must begin so. */
    WEIGHT_ALIGNMENT = 32,
};

/* The weights of a home. */
struct placement {
    const struct gguf_file *file;
    const struct gg_model_params *params;
    struct model_buffers *buffers;
    struct ggml_context *ctx;
    ggml_backend_dev_t device;
    bool copied; /* whatever the device can do */
    bool locked; /* in memory */
};

static bool
can_stay_mapped(const struct placement *s)
{
    struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(s->device, &props);
    if (!props.caps.buffer_from_host_ptr || s->copied)
        return false;
    for (; t; t = ggml_get_next_tensor(s->ctx, t)) {
        const struct gguf_tensor *from =
            gguf_tensor_named(s->file->gguf, t->name);

        if ((uintptr_t)from->data % WEIGHT_ALIGNMENT)
            return false;
    }
    return true;
}

static enum gg_status
no_memory(const struct placement *s, struct gg_error *err)
{
    return error_set(err, GG_ERR_NOMEM, "no memory for the weights on %s",
                     ggml_backend_dev_name(s->device));
}

/* A buffer for each mapping that holds any weight. */
static bool
wrap_map(const struct placement *s, const struct file_map *map,
         ggml_backend_buffer_t *buffer)
{
    if (!*buffer)
        *buffer = ggml_backend_dev_buffer_from_host_ptr(
            s->device, map->data, map->size, ggml_get_max_tensor_size(s->ctx));
    return *buffer != NULL;
}

static enum gg_status
use_mapped(const struct placement *s, struct gg_error *err)
{
    struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);

    for (; t; t = ggml_get_next_tensor(s->ctx, t)) {
        const struct gguf_tensor *from =
            gguf_tensor_named(s->file->gguf, t->name);
        ggml_backend_buffer_t *buffer = &s->buffers->list[from->shard];

        if (!wrap_map(s, &s->file->maps[from->shard], buffer) ||
            ggml_backend_tensor_alloc(*buffer, t, (void *)from->data) !=
                GGML_STATUS_SUCCESS)
            return no_memory(s, err);
    }
    return GG_OK;
}

static enum gg_status
copy_to_device(const struct placement *s, ggml_backend_buffer_t *buffer,
               struct gg_error *err)
{
    *buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        s->ctx, ggml_backend_dev_buffer_type(s->device));
    if (!*buffer)
        return no_memory(s, err);
    return model_upload_tensors(s->file, s->ctx, s->device, s->params, err);
}

static enum gg_status
lock_weights(const struct placement *s, struct gg_error *err)
{
    struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);
    enum gg_status st = GG_OK;

    for (; t && st == GG_OK; t = ggml_get_next_tensor(s->ctx, t))
        if (ggml_backend_buffer_is_host(t->buffer))
            st = file_lock_part(t->data, ggml_nbytes(t), err);
    return st == GG_OK ? st : error_prefix(err, st, "weights");
}

/* `buffer` is for weights that are copied. */
static enum gg_status
place_weights(const struct placement *s, ggml_backend_buffer_t *buffer,
              struct gg_error *err)
{
    enum gg_status st;

    if (!ggml_get_first_tensor(s->ctx))
        return GG_OK;
    st =
        can_stay_mapped(s) ? use_mapped(s, err) : copy_to_device(s, buffer, err);
    return st == GG_OK && s->locked ? lock_weights(s, err) : st;
}

enum gg_status
model_place_tensors(const struct gguf_file *file,
                    const struct gg_model_params *params, const struct model *m,
                    struct ggml_context *const *ctx, struct model_buffers *out,
                    struct gg_error *err)
{
    size_t n = file->n_maps + (size_t)m->n_homes;
    enum gg_status st = GG_OK;

    out->list = mem_array(n, sizeof(*out->list));
    if (!out->list)
        return error_nomem(err);
    out->n = n;
    for (int i = 0; i < m->n_homes && st == GG_OK; i++) {
        /* of one process the file was read or locked, all of it */
        struct placement one = {
            .file = file,
            .params = params,
            .buffers = out,
            .ctx = ctx[i],
            .device = m->homes[i].device,
            .copied = m->pipeline && params->no_mmap,
            .locked = m->pipeline && params->lock,
        };

        st = place_weights(&one, &out->list[file->n_maps + (size_t)i], err);
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->list[i])
            ggml_backend_buffer_set_usage(out->list[i],
                                          GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return st;
}

void
model_free_buffers(struct model_buffers *b)
{
    for (size_t i = 0; i < b->n; i++)
        ggml_backend_buffer_free(b->list[i]);
    mem_free(b->list);
    *b = (struct model_buffers){ 0 };
}
