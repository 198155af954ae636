/* attention_f16.cu - KV caches converted to the F16 that tensor cores read */
#include "cuda/attention.h"
#include "cuda/dequantize.h"

#define MAX_CONVERTED ((int64_t)128 << 20) /* bytes of keys, of values */

/* Saturates at the largest finite F16; infinity stays. */
KERNEL
clamp_to_f16(struct view y, struct view x, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        float v = cuda_load_element(&x, cuda_row_data(&x, c.row), i);

        if (v - v == 0)
            v = fminf(fmaxf(v, -65504), 65504);
        cuda_store_element(&y, cuda_row_data(&y, c.row), i, v);
    }
}

bool
cuda_kv_is_f16(const struct view *x)
{
    return x->type == GGML_TYPE_F16 && cuda_is_aligned_16(x);
}

bool
cuda_kv_can_be_f16(const struct view *x)
{
    int64_t size = x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3] * 2;

    return cuda_kv_is_f16(x) ||
           (size <= MAX_CONVERTED &&
            (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16 ||
             cuda_can_quantize(x->type)));
}

bool
cuda_kv_to_f16(struct cuda_ctx *c, struct view *x)
{
    struct view y = *x;
    int64_t rows = x->ne[1] * x->ne[2] * x->ne[3], size = sizeof(uint16_t);
    int64_t n = rows * cuda_ceil_div(x->ne[0], CHUNK);

    if (cuda_kv_is_f16(x))
        return true;
    y.type = GGML_TYPE_F16;
    y.data = (char *)cuda_scratch(c, (size_t)(rows * x->ne[0] * size));
    if (!y.data)
        return false;
    for (int i = 0; i < 4; i++) {
        y.nb[i] = size;
        size *= y.ne[i];
    }
    if (cuda_can_quantize(x->type))
        cuda_dequantize_rows(c, &y, x, NULL);
    else
        LAUNCH(clamp_to_f16, cuda_default_launch(n, CUDA_THREADS), c, y, *x, n);
    *x = y;
    return true;
}
