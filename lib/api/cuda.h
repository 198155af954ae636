/* cuda.h - the module that computes on NVIDIA's GPUs */
#ifndef API_CUDA_H
#define API_CUDA_H

#include <ggml-backend.h>

/* Loads the module, the first time, and registers what it found. NULL: there
 * is no device; *why, if it is not NULL, gets the reason in words, without an
 * end; static. */
ggml_backend_reg_t
cuda_module(const char **why);

/* A sentence that says why the CPU computes; static; after cuda_module(). */
const char *
cuda_note(void);

#endif
