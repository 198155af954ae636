/* glu.cu - GLU: one half of a row, activated, times the other */
#include "cuda/functions.h"
#include "cuda/view.h"

struct gate {
    int op; /* enum ggml_glu_op */
    float alpha, limit;
    int64_t at_a, at_b; /* where the halves begin in rows of a and of b */
};

KERNEL
glu(struct gate g, struct view y, struct view a, struct view b, int64_t n)
{
    EACH_ELEMENT(y, c, i, n)
    store_element(&y, row_data(&y, c.row), i,
                  apply_glu(g.op,
                            load_element(&a, row_data(&a, c.row), g.at_a + i),
                            load_element(&b, row_data(&b, c.row), g.at_b + i),
                            g.alpha, g.limit));
}

bool
cuda_supports_glu(const struct ggml_tensor *dst)
{
    return (unsigned)tensor_get_i32(dst, 0) < GGML_GLU_OP_COUNT &&
           is_float_type(dst->type) && is_float_type(dst->src[0]->type) &&
           (!dst->src[1] || is_float_type(dst->src[1]->type));
}

void
cuda_run_glu(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *b = dst->src[1] ? dst->src[1] : dst->src[0];
    bool swapped = tensor_get_i32(dst, 1) != 0;
    struct gate g = { tensor_get_i32(dst, 0), tensor_get_f32(dst, 2),
                      tensor_get_f32(dst, 3), 0, 0 };
    int64_t n = chunks_of(dst);

    if (!dst->src[1] && swapped)
        g.at_a = dst->ne[0];
    else if (!dst->src[1])
        g.at_b = dst->ne[0];
    if (n > 0)
        LAUNCH(glu, shape_of(n, CUDA_THREADS), stream_of(c), g, view_of(dst),
               view_of(dst->src[0]), view_of(b), n);
}
