/* probe.c - can a device compute with a weight of this type? */
#include "graph/probe.h"

struct ggml_context *
graph_probe_scratch(void)
{
    struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead(), /* operand, op, their views */
        .no_alloc = true,
    };

    return ggml_init(params);
}

bool
graph_probe_mul_mat(struct ggml_context *scratch, ggml_backend_dev_t dev,
                    struct ggml_tensor *weight)
{
    struct ggml_tensor *x;

    ggml_reset(scratch);
    x = ggml_new_tensor_3d(scratch, GGML_TYPE_F32, weight->ne[0], 1,
                           weight->ne[2]);
    return ggml_backend_dev_supports_op(dev, ggml_mul_mat(scratch, weight, x));
}

bool
graph_probe_mul_mat_id(struct ggml_context *scratch, ggml_backend_dev_t dev,
                       struct ggml_tensor *weights)
{
    struct ggml_tensor *x, *ids;

    ggml_reset(scratch);
    x = ggml_new_tensor_3d(scratch, GGML_TYPE_F32, weights->ne[0], 1, 1);
    ids = ggml_new_tensor_2d(scratch, GGML_TYPE_I32, 1, 1);
    return ggml_backend_dev_supports_op(
        dev, ggml_mul_mat_id(scratch, weights, x, ids));
}

bool
graph_probe_get_rows(struct ggml_context *scratch, ggml_backend_dev_t dev,
                     struct ggml_tensor *weight)
{
    struct ggml_tensor *ids;

    ggml_reset(scratch);
    ids = ggml_new_tensor_1d(scratch, GGML_TYPE_I32, 1);
    return ggml_backend_dev_supports_op(dev,
                                        ggml_get_rows(scratch, weight, ids));
}
