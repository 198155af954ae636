/* readback.h - readback: rows of a tensor from a device's memory
 *
 * By way of pinned memory, where the device has that: a row is copied to where
 * it belongs while the next one crosses the bus. */
#ifndef SESSION_READBACK_H
#define SESSION_READBACK_H

#include <ggml-backend.h>

enum {
    MODEL_READBACK_LANES = 2
};

struct model_readback {
    ggml_backend_buffer_t
        buffer; /* pinned, MODEL_READBACK_LANES rows; or NULL */
    ggml_backend_event_t events[MODEL_READBACK_LANES];
    size_t row; /* bytes */
};

/* True if copies between the device and pinned memory overlap the host's
 * work. */
bool
session_readback_is_async(ggml_backend_dev_t device);

/* Rows [first, first + n) of t, as wide as it, which `backend` has computed, to
 * to[first] and on, those that are not NULL. What goes wrong on the device is
 * told by it later. *f begins as zeros; what it needs it gets with the first
 * call, and does without if there is none. */
void
session_readback_rows(struct model_readback *f, ggml_backend_t backend,
                      const struct ggml_tensor *t, int32_t first, int32_t n,
                      float *const *to);

void
session_readback_clear(struct model_readback *f);

#endif
