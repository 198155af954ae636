/* buffer.h - buffers that the library itself makes */
#ifndef BACKEND_BUFFER_H
#define BACKEND_BUFFER_H

#include <ggml-backend.h>

/* The buffer that a tensor lies in: its own, or that of what it views. */
static inline ggml_backend_buffer_t
backend_buffer_of(const struct ggml_tensor *t)
{
    return t->view_src ? t->view_src->buffer : t->buffer;
}

/* Several buffers of one type as one, to be freed, cleared and marked
 * together, which makes it their owner. NULL: no memory. */
ggml_backend_buffer_t
backend_multi_buffer(ggml_backend_buffer_t *buffers, size_t n);

#endif
