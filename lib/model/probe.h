/* probe.h - can a device compute with a weight of this type? */
#ifndef MODEL_PROBE_H
#define MODEL_PROBE_H

#include <ggml-backend.h>

/* True if `dev` multiplies f32 vectors by the matrix `weight`. */
bool
probe_mul_mat(ggml_backend_dev_t dev, struct ggml_tensor *weight);

/* True if it looks up rows of it. */
bool
probe_get_rows(ggml_backend_dev_t dev, struct ggml_tensor *weight);

#endif
