/* build_sort.c - op builders: the order of a row's values */
#include "tensor/tensor.h"

/* op_params: the order. */
struct ggml_tensor *
ggml_argsort(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_sort_order order)
{
    struct ggml_tensor *t =
        ggml_new_tensor(ctx, GGML_TYPE_I32, GGML_MAX_DIMS, a->ne);

    GGML_ASSERT(a->ne[0] <= INT32_MAX);
    tensor_set_i32(t, 0, (int32_t)order);
    return tensor_record(t, GGML_OP_ARGSORT, a, NULL);
}

struct ggml_tensor *
ggml_argsort_top_k(struct ggml_context *ctx, struct ggml_tensor *a, int k)
{
    struct ggml_tensor *t = ggml_argsort(ctx, a, GGML_SORT_ORDER_DESC);

    GGML_ASSERT(k <= a->ne[0]);
    return ggml_view_4d(ctx, t, k, t->ne[1], t->ne[2], t->ne[3], t->nb[1],
                        t->nb[2], t->nb[3], 0);
}

struct ggml_tensor *
ggml_top_k(struct ggml_context *ctx, struct ggml_tensor *a, int k)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, GGML_TYPE_I32, k, a->ne[1], a->ne[2], a->ne[3]);

    GGML_ASSERT(k <= a->ne[0]);
    return tensor_record(t, GGML_OP_TOP_K, a, NULL);
}

struct ggml_tensor *
ggml_argmax(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GGML_ASSERT(ggml_is_matrix(a) && a->ne[0] <= INT32_MAX);
    return tensor_record(ggml_new_tensor_1d(ctx, GGML_TYPE_I32, a->ne[1]),
                         GGML_OP_ARGMAX, a, NULL);
}
