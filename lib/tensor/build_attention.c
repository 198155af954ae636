/* build_attention.c - op builders: masks, softmax, rotary positions */
#include <math.h>

#include "tensor/tensor.h"

/* op_params: how many columns before the diagonal's start stay. */
static struct ggml_tensor *
diag_mask(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_op op,
          int n_past, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    tensor_set_i32(t, 0, n_past);
    return tensor_record(t, op, a, NULL);
}

struct ggml_tensor *
ggml_diag_mask_inf(struct ggml_context *ctx, struct ggml_tensor *a, int n_past)
{
    return diag_mask(ctx, a, GGML_OP_DIAG_MASK_INF, n_past, false);
}

struct ggml_tensor *
ggml_diag_mask_inf_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                           int n_past)
{
    return diag_mask(ctx, a, GGML_OP_DIAG_MASK_INF, n_past, true);
}

struct ggml_tensor *
ggml_diag_mask_zero(struct ggml_context *ctx, struct ggml_tensor *a, int n_past)
{
    return diag_mask(ctx, a, GGML_OP_DIAG_MASK_ZERO, n_past, false);
}

struct ggml_tensor *
ggml_diag_mask_zero_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                            int n_past)
{
    return diag_mask(ctx, a, GGML_OP_DIAG_MASK_ZERO, n_past, true);
}

/* op_params: factor of a, ALiBi's greatest bias. */
static struct ggml_tensor *
soft_max(struct ggml_context *ctx, struct ggml_tensor *a,
         struct ggml_tensor *mask, float scale, float max_bias, bool inplace)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_contiguous(a));
    if (mask) {
        GGML_ASSERT(mask->type == GGML_TYPE_F16 || mask->type == GGML_TYPE_F32);
        GGML_ASSERT(ggml_is_contiguous(mask));
        GGML_ASSERT(mask->ne[0] == a->ne[0] && mask->ne[1] >= a->ne[1]);
        GGML_ASSERT(a->ne[2] % mask->ne[2] == 0);
        GGML_ASSERT(a->ne[3] % mask->ne[3] == 0);
    }
    GGML_ASSERT(max_bias <= 0 || mask);
    t = tensor_like(ctx, a, inplace);
    tensor_set_f32(t, 0, scale);
    tensor_set_f32(t, 1, max_bias);
    return tensor_record(t, GGML_OP_SOFT_MAX, a, mask);
}

struct ggml_tensor *
ggml_soft_max(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return soft_max(ctx, a, NULL, 1, 0, false);
}

struct ggml_tensor *
ggml_soft_max_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return soft_max(ctx, a, NULL, 1, 0, true);
}

struct ggml_tensor *
ggml_soft_max_ext(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *mask, float scale, float max_bias)
{
    return soft_max(ctx, a, mask, scale, max_bias, false);
}

struct ggml_tensor *
ggml_soft_max_ext_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                          struct ggml_tensor *mask, float scale, float max_bias)
{
    return soft_max(ctx, a, mask, scale, max_bias, true);
}

void
ggml_soft_max_add_sinks(struct ggml_tensor *a, struct ggml_tensor *sinks)
{
    if (sinks) {
        GGML_ASSERT(a->op == GGML_OP_SOFT_MAX && !a->src[2]);
        GGML_ASSERT(sinks->type == GGML_TYPE_F32);
        GGML_ASSERT(sinks->ne[0] == a->src[0]->ne[2]);
    }
    a->src[2] = sinks;
}

struct rope {
    int n_dims, mode, n_ctx_orig;
    float freq_base, freq_scale;
    float ext_factor, attn_factor, beta_fast, beta_slow;
    const int *sections; /* or NULL */
};

/* op_params: 0, n_dims, mode, 0, n_ctx_orig, the six floats in their order,
 * then the sections of several positions a token and an offset. */
static struct ggml_tensor *
rope(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *pos,
     struct ggml_tensor *factors, const struct rope *r, bool inplace)
{
    const float floats[] = { r->freq_base,   r->freq_scale, r->ext_factor,
                             r->attn_factor, r->beta_fast,  r->beta_slow };
    int64_t per_token = r->mode & GGML_ROPE_TYPE_MROPE ? 4 : 1;
    int n_pairs = r->mode == GGML_ROPE_TYPE_VISION ? r->n_dims : r->n_dims / 2;
    struct ggml_tensor *t;

    GGML_ASSERT((r->mode & 1) == 0);
    GGML_ASSERT(ggml_is_vector(pos) && pos->type == GGML_TYPE_I32);
    GGML_ASSERT(pos->ne[0] == a->ne[2] * per_token);
    GGML_ASSERT(!factors || factors->type == GGML_TYPE_F32);
    GGML_ASSERT(!factors || factors->ne[0] >= n_pairs);
    t = tensor_like(ctx, a, inplace);
    tensor_set_i32(t, 1, r->n_dims);
    tensor_set_i32(t, 2, r->mode);
    tensor_set_i32(t, 4, r->n_ctx_orig);
    for (int i = 0; i < 6; i++)
        tensor_set_f32(t, 5 + i, floats[i]);
    for (int i = 0; i < GGML_MROPE_SECTIONS && r->sections; i++)
        tensor_set_i32(t, 11 + i, r->sections[i]);
    t->src[2] = factors;
    return tensor_record(t, GGML_OP_ROPE, a, pos);
}

static const struct rope plain_rope = { .freq_base = 10000,
                                        .freq_scale = 1,
                                        .attn_factor = 1 };

struct ggml_tensor *
ggml_rope(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b, int n_dims, int mode)
{
    struct rope r = plain_rope;

    r.n_dims = n_dims;
    r.mode = mode;
    return rope(ctx, a, b, NULL, &r, false);
}

struct ggml_tensor *
ggml_rope_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b, int n_dims, int mode)
{
    struct rope r = plain_rope;

    r.n_dims = n_dims;
    r.mode = mode;
    return rope(ctx, a, b, NULL, &r, true);
}

struct ggml_tensor *
ggml_rope_ext(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
              int mode, int n_ctx_orig, float freq_base, float freq_scale,
              float ext_factor, float attn_factor, float beta_fast,
              float beta_slow)
{
    struct rope r = { n_dims,     mode,       n_ctx_orig,  freq_base,
                      freq_scale, ext_factor, attn_factor, beta_fast,
                      beta_slow,  NULL };

    return rope(ctx, a, b, c, &r, false);
}

struct ggml_tensor *
ggml_rope_ext_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                      int mode, int n_ctx_orig, float freq_base,
                      float freq_scale, float ext_factor, float attn_factor,
                      float beta_fast, float beta_slow)
{
    struct rope r = { n_dims,     mode,       n_ctx_orig,  freq_base,
                      freq_scale, ext_factor, attn_factor, beta_fast,
                      beta_slow,  NULL };

    return rope(ctx, a, b, c, &r, true);
}

struct ggml_tensor *
ggml_rope_custom(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b, int n_dims, int mode, int n_ctx_orig,
                 float freq_base, float freq_scale, float ext_factor,
                 float attn_factor, float beta_fast, float beta_slow)
{
    return ggml_rope_ext(ctx, a, b, NULL, n_dims, mode, n_ctx_orig, freq_base,
                         freq_scale, ext_factor, attn_factor, beta_fast,
                         beta_slow);
}

struct ggml_tensor *
ggml_rope_custom_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *b, int n_dims, int mode,
                         int n_ctx_orig, float freq_base, float freq_scale,
                         float ext_factor, float attn_factor, float beta_fast,
                         float beta_slow)
{
    return ggml_rope_ext_inplace(ctx, a, b, NULL, n_dims, mode, n_ctx_orig,
                                 freq_base, freq_scale, ext_factor, attn_factor,
                                 beta_fast, beta_slow);
}

static struct ggml_tensor *
rope_multi(struct ggml_context *ctx, struct ggml_tensor *a,
           struct ggml_tensor *pos, struct ggml_tensor *factors,
           const struct rope *r, bool inplace)
{
    GGML_ASSERT(r->mode == GGML_ROPE_TYPE_MROPE ||
                r->mode == GGML_ROPE_TYPE_VISION ||
                r->mode == GGML_ROPE_TYPE_IMROPE);
    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        GGML_ASSERT(r->sections[i] >= 0);
    GGML_ASSERT(r->sections[0] + r->sections[1] + r->sections[2] > 0);
    GGML_ASSERT(r->mode != GGML_ROPE_TYPE_VISION || 2 * r->n_dims == a->ne[0]);
    return rope(ctx, a, pos, factors, r, inplace);
}

struct ggml_tensor *
ggml_rope_multi(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
                int sections[GGML_MROPE_SECTIONS], int mode, int n_ctx_orig,
                float freq_base, float freq_scale, float ext_factor,
                float attn_factor, float beta_fast, float beta_slow)
{
    struct rope r = { n_dims,     mode,       n_ctx_orig,  freq_base,
                      freq_scale, ext_factor, attn_factor, beta_fast,
                      beta_slow,  sections };

    return rope_multi(ctx, a, b, c, &r, false);
}

struct ggml_tensor *
ggml_rope_multi_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        struct ggml_tensor *b, struct ggml_tensor *c,
                        int n_dims, int sections[GGML_MROPE_SECTIONS], int mode,
                        int n_ctx_orig, float freq_base, float freq_scale,
                        float ext_factor, float attn_factor, float beta_fast,
                        float beta_slow)
{
    struct rope r = { n_dims,     mode,       n_ctx_orig,  freq_base,
                      freq_scale, ext_factor, attn_factor, beta_fast,
                      beta_slow,  sections };

    return rope_multi(ctx, a, b, c, &r, true);
}

struct ggml_tensor *
ggml_rope_set_offset(struct ggml_tensor *a, int n_offs)
{
    GGML_ASSERT(a->op == GGML_OP_ROPE || a->op == GGML_OP_ROPE_BACK);
    GGML_ASSERT(n_offs >= 0 && tensor_get_i32(a, 2) != GGML_ROPE_TYPE_VISION);
    tensor_set_i32(a, 15, n_offs);
    return a;
}

/* The pair that makes `turns` turns within the context trained on. */
static float
pair_of_turns(int n_dims, int n_ctx, float base, float turns)
{
    const float two_pi = 6.2831853f;

    return (float)n_dims * logf((float)n_ctx / (turns * two_pi)) /
           (2 * logf(base));
}

void
ggml_rope_yarn_corr_dims(int n_dims, int n_ctx_orig, float freq_base,
                         float beta_fast, float beta_slow, float dims[2])
{
    float first =
        floorf(pair_of_turns(n_dims, n_ctx_orig, freq_base, beta_fast));
    float last = ceilf(pair_of_turns(n_dims, n_ctx_orig, freq_base, beta_slow));

    dims[0] = fmaxf(0, first);
    dims[1] = fminf((float)(n_dims - 1), last);
}
