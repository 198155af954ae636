/* probe.c - can a device compute with a weight of this type? */
#include "model/probe.h"

/* Room for the operand, the op and what an op builder may add. */
static struct ggml_context *
scratch(void)
{
    struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    return ggml_init(params);
}

bool
probe_mul_mat(ggml_backend_dev_t dev, struct ggml_tensor *weight)
{
    struct ggml_context *ctx = scratch();
    struct ggml_tensor *x;
    bool can = false;

    if (ctx) {
        x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, weight->ne[0], 1);
        can = ggml_backend_dev_supports_op(dev, ggml_mul_mat(ctx, weight, x));
    }
    ggml_free(ctx);
    return can;
}

bool
probe_get_rows(ggml_backend_dev_t dev, struct ggml_tensor *weight)
{
    struct ggml_context *ctx = scratch();
    struct ggml_tensor *ids;
    bool can = false;

    if (ctx) {
        ids = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
        can =
            ggml_backend_dev_supports_op(dev, ggml_get_rows(ctx, weight, ids));
    }
    ggml_free(ctx);
    return can;
}
