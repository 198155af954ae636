/* glu.cu - GLU: one half of a row, activated, times the other */
#include "cuda/also.h"
#include "cuda/functions.h"
#include "cuda/view.h"

struct gate {
    int op; /* enum ggml_glu_op */
    float alpha, limit;
    int64_t at_a, at_b; /* where the halves begin in rows of a and of b */
};

KERNEL
glu(struct gate g, struct view y, struct view a, struct view b,
    struct cuda_also also, int64_t n)
{
    take_turn();
    EACH_ELEMENT(y, c, i, n)
    {
        float v =
            apply_glu(g.op, load_element(&a, row_data(&a, c.row), g.at_a + i),
                      load_element(&b, row_data(&b, c.row), g.at_b + i),
                      g.alpha, g.limit);

        store_element(&y, row_data(&y, c.row), i, v);
        store_also(&also, row_number(&y, c.row) * y.ne[0] + i, v);
    }
}

/* n floats each, in one piece; four by four. y may be NULL. */
KERNEL
glu_flat(struct gate g, float *y, const float *a, const float *b,
         uint16_t *also, int64_t n)
{
    int64_t step = (int64_t)grid_size() * block_size() * 4;

    take_turn();
    for (int64_t i = ((int64_t)block_id() * block_size() + thread_id()) * 4;
         i < n; i += step) {
        float4 u = load_vector<float4>(a + i), v = load_vector<float4>(b + i);

        u.x = apply_glu(g.op, u.x, v.x, g.alpha, g.limit);
        u.y = apply_glu(g.op, u.y, v.y, g.alpha, g.limit);
        u.z = apply_glu(g.op, u.z, v.z, g.alpha, g.limit);
        u.w = apply_glu(g.op, u.w, v.w, g.alpha, g.limit);
        if (y)
            store_vector(y + i, u);
        if (also) {
            uint2 w = { to_bf16_pair(u.x, u.y), to_bf16_pair(u.z, u.w) };

            store_vector(also + i, w);
        }
    }
}

static bool
is_flat(const struct view *v)
{
    return v->type == GGML_TYPE_F32 && is_dense(v, 4) &&
           ((uintptr_t)v->data & 15) == 0;
}

bool
cuda_supports_glu(const struct ggml_tensor *dst)
{
    return (unsigned)tensor_get_i32(dst, 0) < GGML_GLU_OP_COUNT &&
           is_float_type(dst->type) && is_float_type(dst->src[0]->type) &&
           (!dst->src[1] || is_float_type(dst->src[1]->type));
}

void
cuda_run_gate(struct cuda_ctx *c, struct ggml_tensor *dst,
              const struct ggml_tensor *next, bool only)
{
    struct view y = view_of(dst), a = view_of(dst->src[0]);
    struct view b = dst->src[1] ? view_of(dst->src[1]) : a;
    bool swapped = tensor_get_i32(dst, 1) != 0;
    struct gate g = { tensor_get_i32(dst, 0), tensor_get_f32(dst, 2),
                      tensor_get_f32(dst, 3), 0, 0 };
    int64_t n = ggml_nelements(dst);
    struct cuda_also also;
    bool flat;

    if (n == 0)
        return;
    if (!dst->src[1] && swapped)
        g.at_a = dst->ne[0];
    else if (!dst->src[1])
        g.at_b = dst->ne[0];
    flat =
        dst->src[1] && n % 4 == 0 && is_flat(&y) && is_flat(&a) && is_flat(&b);
    also = cuda_also_for(c, dst, next, !flat);
    if (flat)
        LAUNCH(glu_flat,
               shape_of(cuda_pieces(n, CUDA_THREADS * 4), CUDA_THREADS), c, g,
               only && also.data ? (float *)NULL : (float *)(void *)y.data,
               (const float *)(const void *)a.data,
               (const float *)(const void *)b.data, (uint16_t *)also.data, n);
    else
        LAUNCH(glu, shape_of(chunks_of(dst), CUDA_THREADS), c, g, y, a, b, also,
               chunks_of(dst));
}

void
cuda_run_glu(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_gate(c, dst, NULL, false);
}
