/* build_backward.c - op builders: gradients of ops, losses, optimiser steps */
#include "tensor/tensor.h"

struct ggml_tensor *
ggml_repeat_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_can_repeat(b, a));
    t = ggml_new_tensor(ctx, a->type, GGML_MAX_DIMS, b->ne);
    return tensor_record(t, GGML_OP_REPEAT_BACK, a, NULL);
}

struct ggml_tensor *
ggml_silu_back(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b)
{
    GGML_ASSERT(ggml_are_same_shape(a, b));
    return tensor_record(ggml_dup_tensor(ctx, a), GGML_OP_SILU_BACK, a, b);
}

/* op_params: epsilon. */
struct ggml_tensor *
ggml_rms_norm_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, float eps)
{
    struct ggml_tensor *t = ggml_dup_tensor(ctx, a);

    GGML_ASSERT(ggml_are_same_shape(a, b));
    tensor_set_f32(t, 0, eps);
    return tensor_record(t, GGML_OP_RMS_NORM_BACK, a, b);
}

struct ggml_tensor *
ggml_get_rows_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_matrix(a) && ggml_is_matrix(c));
    GGML_ASSERT(ggml_is_vector(b) && b->type == GGML_TYPE_I32);
    GGML_ASSERT(a->ne[0] == c->ne[0] && a->ne[1] >= b->ne[0]);
    t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, c->ne[0], c->ne[1]);
    return tensor_record(t, GGML_OP_GET_ROWS_BACK, a, b);
}

/* op_params: those of SOFT_MAX. */
static struct ggml_tensor *
soft_max_back(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, float scale, float max_bias, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    GGML_ASSERT(ggml_are_same_shape(a, b));
    tensor_set_f32(t, 0, scale);
    tensor_set_f32(t, 1, max_bias);
    return tensor_record(t, GGML_OP_SOFT_MAX_BACK, a, b);
}

struct ggml_tensor *
ggml_soft_max_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, float scale, float max_bias)
{
    return soft_max_back(ctx, a, b, scale, max_bias, false);
}

struct ggml_tensor *
ggml_soft_max_ext_back_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                               struct ggml_tensor *b, float scale,
                               float max_bias)
{
    return soft_max_back(ctx, a, b, scale, max_bias, true);
}

/* A rotation as ROPE records it, the other way. */
struct ggml_tensor *
ggml_rope_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                   int mode, int n_ctx_orig, float freq_base, float freq_scale,
                   float ext_factor, float attn_factor, float beta_fast,
                   float beta_slow)
{
    struct ggml_tensor *t = ggml_rope_ext(
        ctx, a, b, c, n_dims, mode, n_ctx_orig, freq_base, freq_scale,
        ext_factor, attn_factor, beta_fast, beta_slow);

    t->op = GGML_OP_ROPE_BACK;
    return t;
}

struct ggml_tensor *
ggml_rope_multi_back(struct ggml_context *ctx, struct ggml_tensor *a,
                     struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                     int sections[GGML_MROPE_SECTIONS], int mode,
                     int n_ctx_orig, float freq_base, float freq_scale,
                     float ext_factor, float attn_factor, float beta_fast,
                     float beta_slow)
{
    struct ggml_tensor *t = ggml_rope_multi(
        ctx, a, b, c, n_dims, sections, mode, n_ctx_orig, freq_base, freq_scale,
        ext_factor, attn_factor, beta_fast, beta_slow);

    t->op = GGML_OP_ROPE_BACK;
    return t;
}

/* op_params: those of IM2COL. */
struct ggml_tensor *
ggml_im2col_back(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, int64_t *ne, int s0, int s1, int p0,
                 int p1, int d0, int d1, bool is_2D)
{
    const int32_t params[] = { s0, s1, p0, p1, d0, d1, is_2D };
    struct ggml_tensor *t = ggml_new_tensor(ctx, GGML_TYPE_F32, 4, ne);

    memcpy(t->op_params, params, sizeof(params));
    return tensor_record(t, GGML_OP_IM2COL_BACK, a, b);
}

/* op_params: those of POOL_2D. */
struct ggml_tensor *
ggml_pool_2d_back(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *af, enum ggml_op_pool op, int k0, int k1,
                  int s0, int s1, float p0, float p1)
{
    const int32_t params[] = { (int32_t)op, k0,          k1,         s0,
                               s1,          (int32_t)p0, (int32_t)p1 };
    struct ggml_tensor *t = ggml_new_tensor(ctx, GGML_TYPE_F32, 4, af->ne);

    memcpy(t->op_params, params, sizeof(params));
    return tensor_record(t, GGML_OP_POOL_2D_BACK, a, af);
}

struct ggml_tensor *
ggml_cross_entropy_loss(struct ggml_context *ctx, struct ggml_tensor *a,
                        struct ggml_tensor *b)
{
    GGML_ASSERT(ggml_are_same_shape(a, b));
    return tensor_record(ggml_new_tensor_1d(ctx, a->type, 1),
                         GGML_OP_CROSS_ENTROPY_LOSS, a, b);
}

struct ggml_tensor *
ggml_cross_entropy_loss_back(struct ggml_context *ctx, struct ggml_tensor *a,
                             struct ggml_tensor *b, struct ggml_tensor *c)
{
    struct ggml_tensor *t = ggml_dup_tensor(ctx, b);

    GGML_ASSERT(ggml_is_scalar(a) && ggml_are_same_shape(b, c));
    t->src[2] = c;
    return tensor_record(t, GGML_OP_CROSS_ENTROPY_LOSS_BACK, a, b);
}

struct ggml_tensor *
ggml_count_equal(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    GGML_ASSERT(ggml_are_same_shape(a, b));
    return tensor_record(ggml_new_tensor_1d(ctx, GGML_TYPE_I64, 1),
                         GGML_OP_COUNT_EQUAL, a, b);
}

/* The result is a view of the weights, so that who uses it waits. */
static struct ggml_tensor *
opt_step(struct ggml_context *ctx, enum ggml_op op, struct ggml_tensor *a,
         struct ggml_tensor *grad)
{
    GGML_ASSERT(a->flags & GGML_TENSOR_FLAG_PARAM);
    GGML_ASSERT(ggml_are_same_shape(a, grad));
    return tensor_record(ggml_view_tensor(ctx, a), op, a, grad);
}

struct ggml_tensor *
ggml_opt_step_adamw(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *grad, struct ggml_tensor *m,
                    struct ggml_tensor *v, struct ggml_tensor *adamw_params)
{
    struct ggml_tensor *t = opt_step(ctx, GGML_OP_OPT_STEP_ADAMW, a, grad);

    GGML_ASSERT(ggml_are_same_shape(a, m) && ggml_are_same_shape(a, v));
    GGML_ASSERT(adamw_params->type == GGML_TYPE_F32);
    GGML_ASSERT(ggml_nelements(adamw_params) == 7);
    t->src[2] = m;
    t->src[3] = v;
    t->src[4] = adamw_params;
    return t;
}

struct ggml_tensor *
ggml_opt_step_sgd(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *grad, struct ggml_tensor *sgd_params)
{
    struct ggml_tensor *t = opt_step(ctx, GGML_OP_OPT_STEP_SGD, a, grad);

    GGML_ASSERT(sgd_params->type == GGML_TYPE_F32);
    GGML_ASSERT(ggml_nelements(sgd_params) == 2);
    t->src[2] = sgd_params;
    return t;
}

/* As upstream, which has not followed ggml_flash_attn_ext() with it. */
struct ggml_tensor *
ggml_flash_attn_back(struct ggml_context *ctx, struct ggml_tensor *q,
                     struct ggml_tensor *k, struct ggml_tensor *v,
                     struct ggml_tensor *d, bool masked)
{
    GGML_UNUSED(ctx);
    GGML_UNUSED(q);
    GGML_UNUSED(k);
    GGML_UNUSED(v);
    GGML_UNUSED(d);
    GGML_UNUSED(masked);
    GGML_ABORT("FLASH_ATTN_BACK is not supported");
}
