/* ggml-cuda.h - the CUDA back end
 *
 * It is a module of its own, libggml-cuda, which is looked for next to the
 * library when it is needed first. Where it is missing, or finds no driver or
 * no device, there are none: counts are 0, and what would be made is NULL. */
#ifndef GGML_CUDA_H
#define GGML_CUDA_H

#include "ggml.h"
#include "ggml-backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GGML_CUDA_NAME        "CUDA"
#define GGML_CUBLAS_NAME      "cuBLAS"
#define GGML_CUDA_MAX_DEVICES 16

/* A stream of work on a device, counted from 0 as CUDA does. The caller's to
 * free; NULL: there is no such device, or it cannot be started. */
GGML_API ggml_backend_t
ggml_backend_cuda_init(int device);
GGML_API bool
ggml_backend_is_cuda(ggml_backend_t backend);

/* Memory of a device; NULL: there is no such device. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_cuda_buffer_type(int device);

/* Memory of the host from and to which copies are fast: pinned. NULL: there is
 * no device. */
GGML_API ggml_backend_buffer_type_t
ggml_backend_cuda_host_buffer_type(void);

GGML_API int
ggml_backend_cuda_get_device_count(void);

/* Empty, and 0, where there is no such device. */
GGML_API void
ggml_backend_cuda_get_device_description(int device, char *description,
                                         size_t description_size);
GGML_API void
ggml_backend_cuda_get_device_memory(int device, size_t *free, size_t *total);

/* Pins memory of the program's, so that copies from it are fast; false: it
 * cannot be. */
GGML_API bool
ggml_backend_cuda_register_host_buffer(void *buffer, size_t size);
GGML_API void
ggml_backend_cuda_unregister_host_buffer(void *buffer);

/* NULL: there is no device. */
GGML_API ggml_backend_reg_t
ggml_backend_cuda_reg(void);

#ifdef __cplusplus
}
#endif

#endif
