/* build_product.c - op builders: norms and matrix products */
#include "tensor/tensor.h"

/* op_params: epsilon. */
static struct ggml_tensor *
norm(struct ggml_context *ctx, enum ggml_op op, struct ggml_tensor *a,
     float eps, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    tensor_set_f32(t, 0, eps);
    return tensor_record(t, op, a, NULL);
}

struct ggml_tensor *
ggml_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_NORM, a, eps, false);
}

struct ggml_tensor *
ggml_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_NORM, a, eps, true);
}

struct ggml_tensor *
ggml_rms_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_RMS_NORM, a, eps, false);
}

struct ggml_tensor *
ggml_rms_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      float eps)
{
    return norm(ctx, GGML_OP_RMS_NORM, a, eps, true);
}

struct ggml_tensor *
ggml_l2_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_L2_NORM, a, eps, false);
}

struct ggml_tensor *
ggml_l2_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_L2_NORM, a, eps, true);
}

/* op_params: groups, epsilon. */
static struct ggml_tensor *
group_norm(struct ggml_context *ctx, struct ggml_tensor *a, int n_groups,
           float eps, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    GGML_ASSERT(n_groups > 0);
    tensor_set_i32(t, 0, n_groups);
    tensor_set_f32(t, 1, eps);
    return tensor_record(t, GGML_OP_GROUP_NORM, a, NULL);
}

struct ggml_tensor *
ggml_group_norm(struct ggml_context *ctx, struct ggml_tensor *a, int n_groups,
                float eps)
{
    return group_norm(ctx, a, n_groups, eps, false);
}

struct ggml_tensor *
ggml_group_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        int n_groups, float eps)
{
    return group_norm(ctx, a, n_groups, eps, true);
}

/* True if each row of b can be multiplied with the rows of a, whose planes
 * serve several of b's. */
static bool
can_multiply(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->ne[0] == b->ne[0] && b->ne[2] % a->ne[2] == 0 &&
           b->ne[3] % a->ne[3] == 0;
}

struct ggml_tensor *
ggml_mul_mat(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b)
{
    struct ggml_tensor *t;

    GGML_ASSERT(can_multiply(a, b));
    GGML_ASSERT(!ggml_is_transposed(a));
    t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, a->ne[1], b->ne[1], b->ne[2],
                           b->ne[3]);
    return tensor_record(t, GGML_OP_MUL_MAT, a, b);
}

/* The sources' order is matrices, rows, which. */
struct ggml_tensor *
ggml_mul_mat_id(struct ggml_context *ctx, struct ggml_tensor *as,
                struct ggml_tensor *b, struct ggml_tensor *ids)
{
    struct ggml_tensor *t;

    GGML_ASSERT(!ggml_is_transposed(as));
    GGML_ASSERT(ids->type == GGML_TYPE_I32 && ggml_is_matrix(ids));
    GGML_ASSERT(ggml_is_3d(as) && ggml_is_3d(b));
    GGML_ASSERT(as->ne[0] == b->ne[0] && ids->ne[1] == b->ne[2]);
    GGML_ASSERT(ids->ne[0] % b->ne[1] == 0);
    t = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, as->ne[1], ids->ne[0], b->ne[2]);
    t->src[2] = ids;
    return tensor_record(t, GGML_OP_MUL_MAT_ID, as, b);
}

struct ggml_tensor *
ggml_out_prod(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b)
{
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[1] == b->ne[1] && b->ne[2] % a->ne[2] == 0 &&
                b->ne[3] % a->ne[3] == 0);
    GGML_ASSERT(!ggml_is_transposed(a));
    t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, a->ne[0], b->ne[0], b->ne[2],
                           b->ne[3]);
    return tensor_record(t, GGML_OP_OUT_PROD, a, b);
}

bool
ggml_prec_set_acc(struct ggml_tensor *a, enum ggml_prec prec)
{
    bool product = a->op == GGML_OP_MUL_MAT || a->op == GGML_OP_MUL_MAT_ID;

    if (!product && a->op != GGML_OP_FLASH_ATTN_EXT)
        return false;
    tensor_set_i32(a, product ? 0 : 3, (int32_t)prec);
    return true;
}

/* op_params of products: further a hint, nothing, the second source's. */
bool
ggml_prec_set_src(struct ggml_tensor *a, enum ggml_prec prec, int idx)
{
    GGML_ASSERT(idx >= 0 && idx < GGML_MAX_SRC);
    if (idx != 1 || (a->op != GGML_OP_MUL_MAT && a->op != GGML_OP_MUL_MAT_ID))
        return false;
    tensor_set_i32(a, 3, (int32_t)prec);
    return true;
}

void
ggml_mul_mat_set_hint(struct ggml_tensor *a, enum ggml_op_hint hint)
{
    GGML_ASSERT(a->op == GGML_OP_MUL_MAT);
    tensor_set_i32(a, 1, (int32_t)hint);
}

/* op_params: the precision. */
void
ggml_mul_mat_set_prec(struct ggml_tensor *a, enum ggml_prec prec)
{
    GGML_ASSERT(a->op == GGML_OP_MUL_MAT || a->op == GGML_OP_MUL_MAT_ID);
    tensor_set_i32(a, 0, (int32_t)prec);
}

/* op_params: factor of q.k, ALiBi's greatest bias, soft cap, precision,
 * the most keys that a row of the mask leaves. */
struct ggml_tensor *
ggml_flash_attn_ext(struct ggml_context *ctx, struct ggml_tensor *q,
                    struct ggml_tensor *k, struct ggml_tensor *v,
                    struct ggml_tensor *mask, float scale, float max_bias,
                    float logit_softcap)
{
    struct ggml_tensor *t;

    GGML_ASSERT(can_multiply(k, q));
    GGML_ASSERT(q->ne[3] == k->ne[3] && q->ne[3] == v->ne[3]);
    if (mask) {
        GGML_ASSERT(mask->type == GGML_TYPE_F16 && ggml_is_contiguous(mask));
        GGML_ASSERT(q->ne[2] % mask->ne[2] == 0);
        GGML_ASSERT(q->ne[3] % mask->ne[3] == 0);
    }
    GGML_ASSERT(max_bias <= 0 || mask);
    t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, v->ne[0], q->ne[2], q->ne[1],
                           q->ne[3]);
    tensor_set_f32(t, 0, scale);
    tensor_set_f32(t, 1, max_bias);
    tensor_set_f32(t, 2, logit_softcap);
    t->src[2] = v;
    t->src[3] = mask;
    return tensor_record(t, GGML_OP_FLASH_ATTN_EXT, q, k);
}

void
ggml_flash_attn_ext_set_prec(struct ggml_tensor *a, enum ggml_prec prec)
{
    GGML_ASSERT(a->op == GGML_OP_FLASH_ATTN_EXT);
    tensor_set_i32(a, 3, (int32_t)prec);
}

enum ggml_prec
ggml_flash_attn_ext_get_prec(const struct ggml_tensor *a)
{
    GGML_ASSERT(a->op == GGML_OP_FLASH_ATTN_EXT);
    return (enum ggml_prec)tensor_get_i32(a, 3);
}

void
ggml_flash_attn_ext_set_n_kv_max(struct ggml_tensor *a, int32_t n_kv_max)
{
    GGML_ASSERT(a->op == GGML_OP_FLASH_ATTN_EXT && n_kv_max >= 0);
    tensor_set_i32(a, 4, n_kv_max);
}

void
ggml_flash_attn_ext_add_sinks(struct ggml_tensor *a, struct ggml_tensor *sinks)
{
    if (sinks) {
        GGML_ASSERT(a->op == GGML_OP_FLASH_ATTN_EXT && !a->src[4]);
        GGML_ASSERT(sinks->type == GGML_TYPE_F32);
        GGML_ASSERT(sinks->ne[0] == a->src[0]->ne[2]);
    }
    a->src[4] = sinks;
}
