/* place.c - weights go where the device wants them */
#include "model/place.h"

#include "core/mem.h"

enum {
    /* What kernels may load at once; mapped weights must begin so. */
    WEIGHT_ALIGNMENT = 32,
};

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

/* A buffer for each mapping that holds any weight. */
static bool
wrap_map(const struct file_map *map, struct model *m,
         ggml_backend_buffer_t *buffer)
{
    if (!*buffer)
        *buffer = ggml_backend_dev_buffer_from_host_ptr(
            m->device, map->data, map->size, ggml_get_max_tensor_size(m->ctx));
    return *buffer != NULL;
}

static bool
use_mapped(const struct gguf_file *file, struct model *m)
{
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);

    for (; t; t = ggml_get_next_tensor(m->ctx, t)) {
        const struct gguf_tensor *from = gguf_tensor_named(file->gguf, t->name);
        ggml_backend_buffer_t *buffer = &m->buffers[from->shard];

        if (!wrap_map(&file->maps[from->shard], m, buffer) ||
            ggml_backend_tensor_alloc(*buffer, t, (void *)from->data) !=
                GGML_STATUS_SUCCESS)
            return false;
    }
    return true;
}

static bool
copy_to_device(const struct gguf_file *file, struct model *m)
{
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);

    m->buffers[0] = ggml_backend_alloc_ctx_tensors_from_buft(
        m->ctx, ggml_backend_dev_buffer_type(m->device));
    if (!m->buffers[0])
        return false;
    for (; t; t = ggml_get_next_tensor(m->ctx, t)) {
        const struct gguf_tensor *from = gguf_tensor_named(file->gguf, t->name);

        ggml_backend_tensor_set(t, from->data, 0, from->size);
    }
    return true;
}

enum gg_status
model_place_weights(const struct gguf_file *file, struct model *m,
                    struct gg_error *err)
{
    bool placed;

    m->buffers = mem_array(file->n_maps, sizeof(*m->buffers));
    if (!m->buffers)
        return error_nomem(err);
    m->n_buffers = file->n_maps;
    placed = can_stay_mapped(file->gguf, m) ? use_mapped(file, m)
                                            : copy_to_device(file, m);
    if (!placed)
        return error_set(err, GG_ERR_NOMEM, "no memory for the weights on %s",
                         ggml_backend_dev_name(m->device));
    for (size_t i = 0; i < m->n_buffers; i++)
        if (m->buffers[i])
            ggml_backend_buffer_set_usage(m->buffers[i],
                                          GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return GG_OK;
}

void
model_free_weights(struct model *m)
{
    for (size_t i = 0; i < m->n_buffers; i++)
        ggml_backend_buffer_free(m->buffers[i]);
    mem_free(m->buffers);
}
