/* place.c - weights go where their devices want them */
#include "session/place.h"

#include "core/mem.h"
#include "session/upload.h"
#include "session/pipeline.h"

enum {
    /* Bytes that kernels may load at once; mapped weights must begin so. */
    WEIGHT_ALIGNMENT = 32,
};

/* The weights of a home. */
struct placement {
    const struct gguf_file *file;
    struct model_buffers *buffers;
    struct ggml_context *ctx;
    ggml_backend_dev_t device;
    bool never_mapped;           /* whatever the device can do */
    bool locked;                 /* in memory */
    struct ggml_tensor **copied; /* those that its memory is to get */
    size_t n_copied;
    struct upload_progress *progress;
};

static bool
can_stay_mapped(const struct placement *s)
{
    struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(s->device, &props);
    if (!props.caps.buffer_from_host_ptr || s->never_mapped)
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

/* They have their memory. */
static enum gg_status
copy_to_device(const struct placement *s, ggml_backend_buffer_t *buffer,
               struct gg_error *err)
{
    enum gg_status st;

    *buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        s->ctx, ggml_backend_dev_buffer_type(s->device));
    if (!*buffer)
        return no_memory(s, err);
    st = session_upload_tensors(s->file, s->copied, s->n_copied, s->device,
                                s->progress, err);
    if (st != GG_OK) {
        ggml_backend_buffer_free(*buffer);
        *buffer = NULL;
    }
    return st;
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
    st = can_stay_mapped(s) ? use_mapped(s, err)
         : s->n_copied      ? copy_to_device(s, buffer, err)
                            : GG_OK;
    return st == GG_OK && s->locked ? lock_weights(s, err) : st;
}

/* Tensors that have no memory yet; mapped ones stay where they are. */
static bool
list_copied(struct placement *s)
{
    struct ggml_tensor *t = ggml_get_first_tensor(s->ctx);
    size_t n = 0;

    for (; t; t = ggml_get_next_tensor(s->ctx, t))
        n++;
    s->copied = mem_array(n + 1, sizeof(*s->copied));
    if (!s->copied)
        return false;
    if (can_stay_mapped(s))
        return true;
    for (t = ggml_get_first_tensor(s->ctx); t;
         t = ggml_get_next_tensor(s->ctx, t))
        if (!t->data) {
            s->copied[s->n_copied++] = t;
            s->progress->all += gguf_tensor_named(s->file->gguf, t->name)->size;
        }
    return true;
}

static enum gg_status
place_homes(struct placement *list, int n, struct model_buffers *out,
            model_home_set *failed, struct gg_error *err)
{
    size_t n_maps = out->n - (size_t)n;
    enum gg_status st = GG_OK;

    for (int i = 0; i < n && st == GG_OK; i++)
        if (!list_copied(&list[i]))
            st = error_nomem(err);
    for (int i = 0; i < n && st == GG_OK; i++) {
        st = place_weights(&list[i], &out->list[n_maps + (size_t)i], err);
        if (st != GG_OK && i > 0)
            *failed |= (model_home_set)1 << i;
    }
    for (int i = 0; i < n; i++)
        mem_free(list[i].copied);
    for (size_t i = 0; i < out->n; i++)
        if (out->list[i])
            ggml_backend_buffer_set_usage(out->list[i],
                                          GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    return st;
}

enum gg_status
session_place_tensors(const struct gguf_file *file,
                      const struct gg_model_params *params,
                      const struct model *m, struct ggml_context *const *ctx,
                      struct model_buffers *out, model_home_set *failed,
                      struct gg_error *err)
{
    struct upload_progress progress = { .params = params };
    struct placement homes[MODEL_MAX_HOMES];
    size_t n = file->n_maps + (size_t)m->n_homes;

    out->list = mem_array(n, sizeof(*out->list));
    if (!out->list)
        return error_nomem(err);
    out->n = n;
    /* of one process the file was read or locked, all of it */
    for (int i = 0; i < m->n_homes; i++)
        homes[i] =
            (struct placement){ .file = file,
                                .buffers = out,
                                .ctx = ctx[i],
                                .device = m->homes[i].device,
                                .never_mapped =
                                    m->pipeline->divided && params->no_mmap,
                                .locked = m->pipeline->divided && params->lock,
                                .progress = &progress };
    return place_homes(homes, m->n_homes, out, failed, err);
}

/* ---- what is there ------------------------------------------------------- */

/* Tensors that the lender has, of a home that it has whole. */
static void
borrow_weights(const struct model_home *from, const struct model_home *to)
{
    struct ggml_tensor *t = ggml_get_first_tensor(to->ctx);

    for (; t && from->whole; t = ggml_get_next_tensor(to->ctx, t)) {
        const struct ggml_tensor *there = ggml_get_tensor(from->ctx, t->name);

        if (there) {
            t->data = there->data;
            t->buffer = there->buffer;
        }
    }
}

enum gg_status
session_place_weights(const struct gg_model_params *params,
                      const struct model *lender, struct model *m,
                      model_home_set *failed, struct gg_error *err)
{
    struct ggml_context *ctx[MODEL_MAX_HOMES];
    enum gg_status st;

    for (int i = 1; i < m->n_homes; i++)
        for (int k = 1; lender && k < lender->n_homes; k++)
            if (lender->homes[k].device == m->homes[i].device)
                borrow_weights(&lender->homes[k], &m->homes[i]);
    for (int i = 0; i < m->n_homes; i++)
        ctx[i] = m->homes[i].ctx;
    st = session_place_tensors(m->file, params, m, ctx, &m->buffers, failed,
                               err);
    for (int i = 1; i < m->n_homes; i++) /* one after the other */
        m->homes[i].whole = st == GG_OK || (model_home_set)1 << i < *failed;
    return st;
}

void
session_free_buffers(struct model_buffers *b)
{
    for (size_t i = 0; i < b->n; i++)
        ggml_backend_buffer_free(b->list[i]);
    mem_free(b->list);
    *b = (struct model_buffers){ 0 };
}
