/* ops_ref_training.c - cases of ops of training */
#include "cpu/ops_ref.h"

BUILD(repeat_back, ggml_repeat_back(g, a, in(F32, c->arg, n[1], 1, n[3])))
BUILD(silu_back, ggml_silu_back(g, a, OTHER))
BUILD(rms_norm_back, ggml_rms_norm_back(g, a, OTHER, 1e-5f))
BUILD(soft_max_back,
      ggml_soft_max_ext_back(g, a, ggml_soft_max(g, OTHER), 0.7f, 0))

static struct ggml_tensor *
rope_back(const struct op_case *c)
{
    made.limit = 100;
    return ggml_rope_ext_back(made.nodes, first(c),
                              in(GGML_TYPE_I32, c->ne[2], 1, 1, 1), NULL, 64,
                              c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

static struct ggml_tensor *
get_rows_back(const struct op_case *c)
{
    made.limit = (int)c->arg;
    return ggml_get_rows_back(made.nodes, first(c),
                              in(GGML_TYPE_I32, c->ne[1], 1, 1, 1),
                              in(F32, c->ne[0], c->arg, 1, 1));
}

BUILD(im2col_back,
      ggml_im2col_back(g,
                       ggml_im2col(g, in(GGML_TYPE_F16, 3, 2, n[2], 1), a, 2, 1,
                                   1, 2, 1, 2, true, F32),
                       in(GGML_TYPE_F16, 3, 2, n[2], 1), a->ne, 2, 1, 1, 2, 1,
                       2, true))
BUILD(pool_2d_back,
      ggml_pool_2d_back(g,
                        ggml_pool_2d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 2,
                                     1, 1, 1),
                        a, (enum ggml_op_pool)c->arg, 3, 2, 2, 1, 1, 1))
BUILD(cross_entropy, ggml_cross_entropy_loss(g, a, OTHER))
BUILD(cross_entropy_back,
      ggml_cross_entropy_loss_back(g, in(F32, 1, 1, 1, 1), a, OTHER))

/* The second moment is made of squares. */
static struct ggml_tensor *
opt_step(const struct op_case *c)
{
    struct ggml_tensor *w = own(first(c)), *v, *p;

    w->flags |= GGML_TENSOR_FLAG_PARAM;
    p = in(F32, c->arg, 1, 1, 1);
    if (c->arg == 2)
        return ggml_opt_step_sgd(made.nodes, w, first(c), p);
    v = ggml_sqr(made.nodes, first(c));
    p = ggml_scale_bias(made.nodes, p, 0.1f, 0.5f);
    return ggml_opt_step_adamw(made.nodes, w, first(c), own(first(c)), v, p);
}

const struct op_case ref_training[] = {
    CASE("repeat_back", repeat_back, 1e-12, F32, F32, 402, 5, 4, 2, 201),
    CASE("repeat_back to one", repeat_back, 1e-12, F32, F32, 37, 5, 4, 2, 1),
    CASE("silu_back", silu_back, 1e-12, F32, F32, 131, 3, 2, 1, 0),
    CASE("rms_norm_back", rms_norm_back, 1e-12, F32, F32, 301, 3, 2, 2, 0),
    CASE("soft_max_back", soft_max_back, 1e-12, F32, F32, 303, 5, 2, 2, 0),
    CASE("rope_back", rope_back, 1e-12, F32, F32, 70, 3, 5, 2, 0),
    CASE("rope_back, neox", rope_back, 1e-12, F32, F32, 70, 3, 5, 2, 2),
    CASE("get_rows_back", get_rows_back, 1e-12, F32, F32, 301, 19, 1, 1, 7),
    CASE("im2col_back", im2col_back, 1e-12, F32, F32, 33, 9, 5, 2, 0),
    CASE("pool_2d_back, max", pool_2d_back, 0, F32, F32, 33, 5, 3, 2, 0),
    CASE("pool_2d_back, mean", pool_2d_back, 0, F32, F32, 33, 5, 3, 2, 1),
    CASE("cross_entropy", cross_entropy, 1e-12, F32, F32, 303, 5, 2, 2, 0),
    CASE("cross_entropy_back", cross_entropy_back, 1e-12, F32, F32, 303, 5, 2,
         2, 0),
    CASE("opt_step_adamw", opt_step, 1e-12, F32, F32, 37, 5, 2, 1, 7),
    CASE("opt_step_sgd", opt_step, 0, F32, F32, 37, 5, 2, 1, 2),
    { .name = NULL },
};
