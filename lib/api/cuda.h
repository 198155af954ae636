/* cuda.h - the module that computes on NVIDIA's GPUs */
#ifndef API_CUDA_H
#define API_CUDA_H

#include <ggml-backend.h>

#include "core/error.h"

/* Loads the module, the first time, and registers what it found. NULL: there
 * is no device; *why, if it is not NULL, gets the reason in words, without an
 * end; static. */
ggml_backend_reg_t
api_cuda_module(const char **why);

/* Registers what the module finds that lies in that folder, if one does. */
void
api_cuda_load_from(const char *folder);

/* GG_ERR_ARG: the environment says of it what cannot be meant. */
enum gg_status
api_cuda_check_environment(struct gg_error *err);

/* A sentence that says why the CPU computes; static; after api_cuda_module().
 */
const char *
api_cuda_note(void);

#endif
