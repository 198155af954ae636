/* binary.cu - ADD, ADD1, SUB, MUL, DIV, ADD_ID: src1 is broadcast to src0 */
#include "cuda/tensor_view.h"

DEVICE float
apply_binary(int op, float a, float b)
{
    switch (op) {
    case GGML_OP_SUB:
        return a - b;
    case GGML_OP_MUL:
        return a * b;
    case GGML_OP_DIV:
        return a / b;
    default:
        return a + b;
    }
}

KERNEL
binary(int op, struct view y, struct view a, struct view b, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        const char *pa = cuda_row_data(&a, c.row);
        const char *pb = cuda_row_data(&b, cuda_row_wrap(&b, c.row));
        int64_t j = cuda_modulo(i, b.ne[0]);

        cuda_store_element(&y, cuda_row_data(&y, c.row), i,
                           apply_binary(op, cuda_load_element(&a, pa, i),
                                        cuda_load_element(&b, pb, j)));
    }
}

bool
cuda_supports_binary(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           cuda_is_float_type(dst->src[1]->type);
}

void
cuda_run_binary(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(binary, cuda_default_launch(n, CUDA_THREADS), c, (int)dst->op,
               cuda_view_of(dst), cuda_view_of(dst->src[0]),
               cuda_view_of(dst->src[1]), n);
}

/* dst [n, used, tokens] = src0 + row ids[used, tokens] of src1. An id that is
 * out of range adds nothing. */
KERNEL
add_id(struct view y, struct view a, struct view b, struct view ids, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        int64_t id =
            *(const int32_t *)(const void *)(ids.data + c.row.i1 * ids.nb[0] +
                                             c.row.i2 * ids.nb[1]);
        float v = cuda_load_element(&a, cuda_row_data(&a, c.row), i);

        if (id >= 0 && id < b.ne[1])
            v += cuda_load_element(&b, b.data + id * b.nb[1], i);
        cuda_store_element(&y, cuda_row_data(&y, c.row), i, v);
    }
}

bool
cuda_supports_add_id(const struct ggml_tensor *dst)
{
    return cuda_supports_binary(dst) && dst->ne[3] == 1 &&
           dst->src[2]->type == GGML_TYPE_I32;
}

void
cuda_run_add_id(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(add_id, cuda_default_launch(n, CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(dst->src[0]),
               cuda_view_of(dst->src[1]), cuda_view_of(dst->src[2]), n);
}
