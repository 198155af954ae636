/* stage.h - upload of the small inputs of a graph
 *
 * They are put side by side in one block of pinned memory and copied from
 * there in the order of the device's stream: nobody waits for them. */
#ifndef SESSION_STAGE_H
#define SESSION_STAGE_H

#include <ggml-backend.h>

struct stage {
    ggml_backend_buffer_t buffer; /* pinned; or NULL */
    size_t used;
    bool none; /* there is no such memory */
};

/* Begins anew; what was put there before has been copied. *s begins as
 * zeros. */
void
session_stage_begin(struct stage *s);

/* Sets a part of t, which `backend` (or NULL) computes with; what does not fit
 * goes there at once. The data may change after the call. */
void
session_stage_set(struct stage *s, ggml_backend_t backend,
                  struct ggml_tensor *t, const void *data, size_t offset,
                  size_t size);

void
session_stage_clear(struct stage *s);

#endif
