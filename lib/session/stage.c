/* stage.c - upload of the small inputs of a graph */
#include "session/stage.h"

#include <string.h>

#include "session/readback.h"

enum {
    SIZE = 1 << 18,
    ALIGNMENT = 16,
};

void
session_stage_begin(struct stage *s)
{
    s->used = 0;
}

void
session_stage_clear(struct stage *s)
{
    ggml_backend_buffer_free(s->buffer);
    *s = (struct stage){ 0 };
}

/* Pinned memory of the back end's device. */
static bool
start_stage(struct stage *s, ggml_backend_t backend)
{
    ggml_backend_dev_t device = ggml_backend_get_device(backend);

    if (s->buffer || s->none)
        return s->buffer != NULL;
    if (device && session_readback_is_async(device))
        s->buffer = ggml_backend_buft_alloc_buffer(
            ggml_backend_dev_host_buffer_type(device), SIZE);
    s->none = !s->buffer;
    return s->buffer != NULL;
}

static bool
is_host(const struct ggml_tensor *t)
{
    return ggml_backend_buffer_is_host(t->view_src ? t->view_src->buffer
                                                   : t->buffer);
}

void
session_stage_set(struct stage *s, ggml_backend_t backend,
                  struct ggml_tensor *t, const void *data, size_t offset,
                  size_t size)
{
    char *room;

    if (!backend || is_host(t) || !start_stage(s, backend) ||
        size > SIZE - s->used) {
        ggml_backend_tensor_set(t, data, offset, size);
        return;
    }
    room = (char *)ggml_backend_buffer_get_base(s->buffer) + s->used;
    memcpy(room, data, size);
    ggml_backend_tensor_set_async(backend, t, room, offset, size);
    s->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (s->used > SIZE)
        s->used = SIZE;
}
