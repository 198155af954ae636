/* probe.h - can a device compute with a weight of this type? */
#ifndef GRAPH_PROBE_H
#define GRAPH_PROBE_H

#include <ggml-backend.h>

/* Room for one question after the other; NULL: no memory. ggml_free() it. */
struct ggml_context *
graph_probe_scratch(void);

/* True if `dev` multiplies f32 vectors by the matrix `weight`. */
bool
graph_probe_mul_mat(struct ggml_context *scratch, ggml_backend_dev_t dev,
                    struct ggml_tensor *weight);

/* True if it multiplies them by matrices that ids choose of `weights`. */
bool
graph_probe_mul_mat_id(struct ggml_context *scratch, ggml_backend_dev_t dev,
                       struct ggml_tensor *weights);

/* True if it looks up rows of it. */
bool
graph_probe_get_rows(struct ggml_context *scratch, ggml_backend_dev_t dev,
                     struct ggml_tensor *weight);

#endif
