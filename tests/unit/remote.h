/* remote.h - a back end whose memory the program cannot read
 *
 * Addresses of its tensors lie in a range that nobody may touch; the bytes
 * are elsewhere. It computes by having the CPU do it. */
#ifndef TEST_REMOTE_H
#define TEST_REMOTE_H

#include <ggml-backend.h>

struct remote {
    /* What it can compute; NULL: all that the CPU can. */
    bool (*supports)(const struct ggml_tensor *op);
    bool wants_offload;
    /* What it was asked for so far. */
    int n_set, n_get, n_copy, n_clear, n_init, n_computed, n_sync;
    int n_buffers; /* that live */
};

extern struct remote remote;

/* Its one device is registered with the first call. */
ggml_backend_reg_t
remote_reg(void);
ggml_backend_t
remote_init(void);
ggml_backend_buffer_type_t
remote_buffer_type(void);

#endif
