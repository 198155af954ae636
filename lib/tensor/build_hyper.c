/* build_hyper.c - op builders: DeepSeek's indexer and hyper-connections */
#include "tensor/tensor.h"

struct ggml_tensor *
ggml_lightning_indexer(struct ggml_context *ctx, struct ggml_tensor *q,
                       struct ggml_tensor *k, struct ggml_tensor *weights,
                       struct ggml_tensor *mask)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, k->ne[2], q->ne[2], 1, q->ne[3]);

    GGML_ASSERT(q->type == GGML_TYPE_F32 && weights->type == GGML_TYPE_F32);
    GGML_ASSERT(!mask || mask->type == GGML_TYPE_F16);
    GGML_ASSERT(k->ne[0] == q->ne[0] && k->ne[1] == 1 && k->ne[3] == q->ne[3]);
    GGML_ASSERT(weights->ne[0] == q->ne[1] && weights->ne[1] == q->ne[2] &&
                weights->ne[2] == 1 && weights->ne[3] == q->ne[3]);
    GGML_ASSERT(!mask || (mask->ne[0] == k->ne[2] && mask->ne[1] == q->ne[2] &&
                          mask->ne[2] == 1 && q->ne[3] % mask->ne[3] == 0));
    t->src[2] = weights;
    t->src[3] = mask;
    return tensor_record(t, GGML_OP_LIGHTNING_INDEXER, q, k);
}

static bool
is_f32(const struct ggml_tensor *t, int64_t ne0, int64_t ne1, int64_t ne2)
{
    return t->type == GGML_TYPE_F32 && t->ne[0] == ne0 && t->ne[1] == ne1 &&
           t->ne[2] == ne2 && t->ne[3] == 1;
}

/* op_params: eps, iterations. */
struct ggml_tensor *
ggml_dsv4_hc_comb(struct ggml_context *ctx, struct ggml_tensor *mixes,
                  struct ggml_tensor *scale, struct ggml_tensor *base,
                  float eps, int32_t n_iter)
{
    int64_t n = mixes->ne[0], tokens = mixes->ne[1], h = 1;
    struct ggml_tensor *t;

    while (h * (h + 2) < n)
        h++;
    GGML_ASSERT(h * (h + 2) == n && n_iter > 0 && scale->ne[0] >= 3);
    GGML_ASSERT(is_f32(mixes, n, tokens, 1) && is_f32(base, n, 1, 1) &&
                is_f32(scale, scale->ne[0], 1, 1));
    t = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, h, h, tokens);
    tensor_set_f32(t, 0, eps);
    tensor_set_i32(t, 1, n_iter);
    t->src[2] = base;
    return tensor_record(t, GGML_OP_DSV4_HC_COMB, mixes, scale);
}

/* op_params: factor, whether weights are gates. */
static struct ggml_tensor *
hyper_pre(struct ggml_context *ctx, struct ggml_tensor *x,
          struct ggml_tensor *weights, float scale, bool gated)
{
    struct ggml_tensor *t =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, x->ne[0], x->ne[2]);

    GGML_ASSERT(is_f32(x, x->ne[0], x->ne[1], x->ne[2]));
    tensor_set_f32(t, 0, scale);
    tensor_set_i32(t, 1, gated);
    return tensor_record(t, GGML_OP_DSV4_HC_PRE, x, weights);
}

struct ggml_tensor *
ggml_dsv4_hc_pre(struct ggml_context *ctx, struct ggml_tensor *x,
                 struct ggml_tensor *weights)
{
    GGML_ASSERT(is_f32(weights, x->ne[1], x->ne[2], 1));
    return hyper_pre(ctx, x, weights, 1, false);
}

struct ggml_tensor *
ggml_dsv4_hc_pre_gated(struct ggml_context *ctx, struct ggml_tensor *x,
                       struct ggml_tensor *gate, float scale)
{
    GGML_ASSERT(is_f32(gate, x->ne[0], x->ne[1], x->ne[2]));
    return hyper_pre(ctx, x, gate, scale, true);
}

struct ggml_tensor *
ggml_dsv4_hc_post(struct ggml_context *ctx, struct ggml_tensor *x,
                  struct ggml_tensor *residual, struct ggml_tensor *post,
                  struct ggml_tensor *comb)
{
    int64_t n = x->ne[0], h = residual->ne[1], tokens = x->ne[1];
    struct ggml_tensor *t =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, n, h, tokens);

    GGML_ASSERT(is_f32(x, n, tokens, 1) && is_f32(residual, n, h, tokens));
    GGML_ASSERT(is_f32(post, h, tokens, 1));
    GGML_ASSERT(!comb || is_f32(comb, h, h, tokens));
    t->src[2] = post;
    t->src[3] = comb;
    return tensor_record(t, GGML_OP_DSV4_HC_POST, x, residual);
}
