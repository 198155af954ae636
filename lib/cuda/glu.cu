/* glu.cu - GLU: half of a row, activated, gates the other half */
#include "cuda/fused_output.h"
#include "cuda/functions.h"
#include "cuda/tensor_view.h"

struct glu_args {
    int op; /* enum ggml_glu_op */
    float alpha, limit;
    int64_t at_a, at_b; /* where the halves begin in rows of a and of b */
};

KERNEL
glu(struct glu_args args, struct view y, struct view a, struct view b,
    struct cuda_fused_output fused, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        float v = cuda_apply_glu(
            args.op,
            cuda_load_element(&a, cuda_row_data(&a, c.row), args.at_a + i),
            cuda_load_element(&b, cuda_row_data(&b, c.row), args.at_b + i),
            args.alpha, args.limit);

        cuda_store_element(&y, cuda_row_data(&y, c.row), i, v);
        cuda_store_fused_output(&fused,
                                cuda_row_number(&y, c.row) * y.ne[0] + i, v);
    }
}

/* n contiguous floats each, in vectors of four. y may be NULL. */
KERNEL
glu_contiguous(struct glu_args args, float *y, const float *a, const float *b,
               uint16_t *fused, int64_t n)
{
    int64_t step = (int64_t)cuda_grid_size() * cuda_block_size() * 4;

    cuda_grid_dependency_sync();
    for (int64_t i =
             ((int64_t)cuda_block_id() * cuda_block_size() + cuda_thread_id()) *
             4;
         i < n; i += step) {
        float4 u = cuda_load_vector<float4>(a + i),
               v = cuda_load_vector<float4>(b + i);

        u.x = cuda_apply_glu(args.op, u.x, v.x, args.alpha, args.limit);
        u.y = cuda_apply_glu(args.op, u.y, v.y, args.alpha, args.limit);
        u.z = cuda_apply_glu(args.op, u.z, v.z, args.alpha, args.limit);
        u.w = cuda_apply_glu(args.op, u.w, v.w, args.alpha, args.limit);
        if (y)
            cuda_store_vector(y + i, u);
        if (fused) {
            uint2 w = { cuda_to_bf16_pair(u.x, u.y),
                        cuda_to_bf16_pair(u.z, u.w) };

            cuda_store_vector(fused + i, w);
        }
    }
}

static bool
is_vectorizable(const struct view *v)
{
    return v->type == GGML_TYPE_F32 && cuda_is_contiguous(v, 4) &&
           ((uintptr_t)v->data & 15) == 0;
}

bool
cuda_supports_glu(const struct ggml_tensor *dst)
{
    return (unsigned)tensor_get_i32(dst, 0) < GGML_GLU_OP_COUNT &&
           cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           (!dst->src[1] || cuda_is_float_type(dst->src[1]->type));
}

void
cuda_run_fused_glu(struct cuda_ctx *c, struct ggml_tensor *dst,
                   const struct ggml_tensor *next, bool only)
{
    struct view y = cuda_view_of(dst), a = cuda_view_of(dst->src[0]);
    struct view b = dst->src[1] ? cuda_view_of(dst->src[1]) : a;
    bool swapped = tensor_get_i32(dst, 1) != 0;
    struct glu_args args = { tensor_get_i32(dst, 0), tensor_get_f32(dst, 2),
                             tensor_get_f32(dst, 3), 0, 0 };
    int64_t n = ggml_nelements(dst);
    struct cuda_fused_output fused;
    bool contiguous;

    if (n == 0)
        return;
    if (!dst->src[1] && swapped)
        args.at_a = dst->ne[0];
    else if (!dst->src[1])
        args.at_b = dst->ne[0];
    contiguous = dst->src[1] && n % 4 == 0 && is_vectorizable(&y) &&
                 is_vectorizable(&a) && is_vectorizable(&b);
    fused = cuda_plan_fused_output(c, dst, next, !contiguous);
    if (contiguous)
        LAUNCH(glu_contiguous,
               cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS * 4),
                                   CUDA_THREADS),
               c, args,
               only && fused.data ? (float *)NULL : (float *)(void *)y.data,
               (const float *)(const void *)a.data,
               (const float *)(const void *)b.data, (uint16_t *)fused.data, n);
    else
        LAUNCH(glu, cuda_default_launch(cuda_chunks_of(dst), CUDA_THREADS), c,
               args, y, a, b, fused, cuda_chunks_of(dst));
}

void
cuda_run_glu(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_fused_glu(c, dst, NULL, false);
}
