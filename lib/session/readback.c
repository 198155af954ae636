/* readback.c - readback: rows of a tensor from a device's memory */
#include "session/readback.h"

#include <string.h>

bool
session_readback_is_async(ggml_backend_dev_t device)
{
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device, &props);
    return props.caps.async && props.caps.host_buffer && props.caps.events;
}

void
session_readback_clear(struct model_readback *f)
{
    for (int i = 0; i < MODEL_READBACK_LANES; i++)
        ggml_backend_event_free(f->events[i]);
    ggml_backend_buffer_free(f->buffer);
    *f = (struct model_readback){ 0 };
}

static bool
start_readback(struct model_readback *f, ggml_backend_t backend, size_t row)
{
    ggml_backend_dev_t device = ggml_backend_get_device(backend);
    bool good;

    if (f->buffer && f->row == row)
        return true;
    session_readback_clear(f);
    if (!device || !session_readback_is_async(device))
        return false;
    f->row = row;
    f->buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_host_buffer_type(device), MODEL_READBACK_LANES * row);
    good = f->buffer != NULL;
    for (int i = 0; i < MODEL_READBACK_LANES && good; i++) {
        f->events[i] = ggml_backend_event_new(device);
        good = f->events[i] != NULL;
    }
    if (!good)
        session_readback_clear(f);
    return good;
}

static char *
lane(const struct model_readback *f, int i)
{
    return (char *)ggml_backend_buffer_get_base(f->buffer) + (size_t)i * f->row;
}

/* Copies a lane's row to where it belongs. */
static void
empty(const struct model_readback *f, int i, float **to)
{
    if (!*to)
        return;
    ggml_backend_event_synchronize(f->events[i]);
    memcpy(*to, lane(f, i), f->row);
    *to = NULL;
}

void
session_readback_rows(struct model_readback *f, ggml_backend_t backend,
                      const struct ggml_tensor *t, int32_t first, int32_t n,
                      float *const *to)
{
    float *waiting[MODEL_READBACK_LANES] = { 0 };
    size_t row = t->nb[1];
    bool lanes = backend && start_readback(f, backend, row);
    int i = 0;

    for (int32_t j = first; j < first + n; j++) {
        if (!to[j])
            continue;
        if (!lanes) {
            ggml_backend_tensor_get(t, to[j], (size_t)j * row, row);
            continue;
        }
        empty(f, i, &waiting[i]);
        ggml_backend_tensor_get_async(backend, t, lane(f, i), (size_t)j * row,
                                      row);
        ggml_backend_event_record(f->events[i], backend);
        waiting[i] = to[j];
        i = (i + 1) % MODEL_READBACK_LANES;
    }
    for (int k = 0; k < MODEL_READBACK_LANES && lanes; k++)
        empty(f, (i + k) % MODEL_READBACK_LANES,
              &waiting[(i + k) % MODEL_READBACK_LANES]);
}
