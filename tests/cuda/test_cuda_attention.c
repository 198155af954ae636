/* test_cuda_attention.c - CUDA's attention by emulation or a device: see
 * cuda/kernel_test.h */
#include <math.h>
#include <string.h>

#include "cuda/kernel_test.h"
#include "cuda/launch_config.h"

#define F32 GGML_TYPE_F32
#define F16 GGML_TYPE_F16

#define IN_F32 1e-11
#define IN_F16 3e-6 /* products of F16s, on tensor cores */

enum mask_kind {
    UNMASKED,
    CAUSAL,
    WINDOW
};

struct shape {
    int d, e, heads, kv_heads, tokens, keys, batch;
    enum ggml_type type;
    enum mask_kind mask_kind;
    bool sinks;
    float max_bias, softcap;
    double bound;
};

/* The last keys are the tokens' own; some at the end are hidden from all and
 * hold no numbers. */
static void
hide(const struct shape *s, struct ggml_tensor *mask)
{
    ggml_fp16_t *m = mask->data;
    int unused = s->keys > 40 ? 35 : 0, past = s->keys - unused - s->tokens;

    for (int t = 0; t < s->tokens; t++)
        for (int k = 0; k < s->keys; k++) {
            bool seen = k <= past + t && k < s->keys - unused;

            if (s->mask_kind == WINDOW)
                seen = seen && k > past + t - 20;
            if (!seen)
                m[t * s->keys + k] = ggml_fp32_to_fp16(-INFINITY);
            else if (s->max_bias == 0)
                m[t * s->keys + k] = ggml_fp32_to_fp16(0);
        }
}

/* Values that nobody sees may be anything: they were never written. */
static void
spoil(const struct shape *s, struct ggml_tensor *x)
{
    int from = s->keys - 35;

    if (s->keys <= 40 || ggml_is_quantized(s->type))
        return;
    for (int h = 0; h < s->kv_heads * s->batch; h++)
        for (int k = from; k < s->keys; k++)
            memset((char *)x->data + (size_t)h * x->nb[2] +
                       (size_t)k * x->nb[1],
                   0xff, x->nb[1]); /* NaN */
}

static void
attend(const struct shape *s, const char *name)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *q = ggml_permute(
        ctx, kt_tensor(ctx, F32, s->d, s->heads, s->tokens, s->batch), 0, 2, 1,
        3);
    struct ggml_tensor *k =
        kt_tensor(ctx, s->type, s->d, s->keys, s->kv_heads, s->batch);
    struct ggml_tensor *v =
        kt_tensor(ctx, s->type, s->e, s->keys, s->kv_heads, s->batch);
    struct ggml_tensor *mask =
        s->mask_kind == UNMASKED
            ? NULL
            : kt_tensor(ctx, F16, s->keys, s->tokens, 1, 1);
    struct ggml_tensor *t;

    if (mask) {
        hide(s, mask);
        spoil(s, k);
        spoil(s, v);
    }
    t = ggml_flash_attn_ext(ctx, q, k, v, mask, 3 / sqrtf((float)s->d),
                            s->max_bias, s->softcap);
    if (s->sinks)
        ggml_flash_attn_ext_add_sinks(t,
                                      kt_tensor(ctx, F32, s->heads, 1, 1, 1));
    kt_check(ctx, t, s->bound, "%s: %s, %d of %d, %d tokens, %d keys", name,
             ggml_type_name(s->type), s->d, s->e, s->tokens, s->keys);
    kt_end(ctx);
}

static const struct {
    struct shape shape;
    const char *name;
} few[] = {
    { { 64, 64, 4, 1, 1, 150, 1, F16, CAUSAL, false, 0, 0, IN_F32 },
      "one token" },
    { { 64, 64, 4, 2, 1, 64, 1, F16, UNMASKED, false, 0, 0, IN_F32 }, "no mask" },
    { { 40, 40, 9, 1, 1, 70, 1, GGML_TYPE_BF16, CAUSAL, false, 0, 0, IN_F32 },
      "more heads than a block has rows" },
    { { 64, 64, 4, 4, 1, 300, 2, F32, CAUSAL, true, 8, 0, IN_F32 },
      "ALiBi, sinks, no numbers behind, batch" },
    { { 64, 64, 6, 2, 3, 130, 1, GGML_TYPE_Q8_0, WINDOW, false, 0, 20,
        IN_F32 },
      "window, soft cap" },
    { { 64, 64, 6, 2, 3, 130, 1, GGML_TYPE_Q5_0, CAUSAL, false, 0, 0,
        IN_F32 },
      "five bits" },
    { { 64, 64, 6, 2, 3, 130, 1, GGML_TYPE_Q4_0, CAUSAL, false, 0, 0,
        IN_F32 },
      "four bits" },
    { { 8, 8, 2, 1, 2, 5, 1, F32, CAUSAL, false, 0, 0, IN_F32 }, "tiny" },
    { { 192, 128, 4, 2, 3, 80, 1, F16, CAUSAL, false, 0, 0, IN_F32 },
      "values narrower than keys" },
    { { 256, 256, 2, 1, 1, 90, 1, F16, CAUSAL, false, 0, 0, IN_F32 }, "wide" },
    { { 576, 512, 4, 1, 1, 70, 1, F16, CAUSAL, false, 0, 0, IN_F32 },
      "very wide" },
    { { 80, 80, 2, 2, 40, 75, 1, F16, CAUSAL, false, 0, 0, IN_F32 },
      "many tokens, a width without tiles" },
    { { 128, 64, 8, 2, 20, 140, 2, F16, WINDOW, true, 8, 5, IN_F32 },
      "some tokens, with all there is" },
    { { 64, 64, 2, 1, 18, 60, 1, F16, CAUSAL, false, 0, 0, IN_F16 },
      "tiles of few tokens" },
    { { 80, 80, 2, 2, 70, 140, 1, GGML_TYPE_BF16, WINDOW, false, 0, 0, IN_F32 },
      "many tokens, BF16, a width without tiles" },
}, many[] = {
    { { 64, 64, 2, 1, 70, 150, 1, F16, CAUSAL, false, 0, 0, IN_F16 },
      "tiles" },
    { { 128, 128, 2, 2, 64, 200, 1, F16, WINDOW, true, 0, 0, IN_F16 },
      "tiles, window, sinks" },
    { { 96, 96, 2, 1, 65, 80, 2, F16, UNMASKED, false, 0, 0, IN_F16 },
      "tiles, no mask, batch" },
    { { 64, 64, 3, 3, 66, 140, 1, F16, CAUSAL, false, 8, 10, IN_F16 },
      "tiles, ALiBi, soft cap" },
    { { 256, 256, 2, 1, 70, 110, 1, F16, CAUSAL, false, 0, 0, IN_F16 },
      "wide tiles" },
    { { 256, 256, 2, 2, 65, 120, 2, F16, WINDOW, true, 0, 10, IN_F16 },
      "wide tiles, window, sinks, soft cap, batch" },
    { { 64, 64, 4, 2, 64, 130, 1, GGML_TYPE_Q8_0, WINDOW, false, 0, 0,
        IN_F16 },
      "tiles of Q8_0" },
    { { 128, 128, 2, 1, 67, 110, 1, GGML_TYPE_BF16, CAUSAL, false, 0, 0,
        IN_F16 },
      "tiles of BF16" },
};

/* Hidden keys after the visible ones change nothing, to the bit. */
static void
test_length(void)
{
    float out[2][64 * 2];

    for (int longer = 0; longer < 2; longer++) {
        struct ggml_context *ctx = kt_begin();
        int keys = longer ? 256 : 128;
        struct ggml_tensor *q = kt_tensor(ctx, F32, 64, 1, 2, 1);
        struct ggml_tensor *k = kt_tensor(ctx, F16, 64, 256, 1, 1);
        struct ggml_tensor *m = kt_tensor(ctx, F16, keys, 1, 1, 1), *t;

        for (int i = 0; i < 64 * 2; i++)
            ((float *)q->data)[i] = (float)(i % 7) - 3;
        for (int i = 0; i < 64 * 256; i++)
            ((ggml_fp16_t *)k->data)[i] =
                ggml_fp32_to_fp16((float)(i % 23) / 8 - 1);
        for (int i = 0; i < keys; i++)
            ((ggml_fp16_t *)m->data)[i] =
                ggml_fp32_to_fp16(i < 100 ? 0 : -INFINITY);
        k = ggml_view_2d(ctx, k, 64, keys, k->nb[1], 0);
        t = ggml_flash_attn_ext(ctx, q, k, k, m, 0.1f, 0, 0);
        kt_check(ctx, t, IN_F32, "a cache of %d keys", keys);
        memcpy(out[longer], t->data, sizeof(out[longer]));
        kt_end(ctx);
    }
    kt_ok(memcmp(out[0], out[1], sizeof(out[0])) == 0,
          "hidden keys behind change nothing");
}

/* Rows that are no multiple of 16 bytes, and are not aligned. */
static void
test_places(int tokens)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *q = kt_tensor(ctx, F32, 64, tokens, 2, 1);
    struct ggml_tensor *all = kt_tensor(ctx, F16, 69, 50, 2, 1);
    struct ggml_tensor *k =
        ggml_view_3d(ctx, all, 64, 50, 2, all->nb[1], all->nb[2], 2);
    struct ggml_tensor *v =
        ggml_view_3d(ctx, all, 64, 50, 2, all->nb[1], all->nb[2], 10);

    kt_check(ctx, ggml_flash_attn_ext(ctx, q, k, v, NULL, 0.2f, 0, 0),
             tokens < 16 ? IN_F32 : IN_F16, "%d tokens, unaligned keys",
             tokens);
    kt_end(ctx);
}

/* One row of a mask for all tokens. */
static void
test_row(int tokens)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *q = kt_tensor(ctx, F32, 64, tokens, 2, 1);
    struct ggml_tensor *k = kt_tensor(ctx, F16, 64, 50, 2, 1);
    struct ggml_tensor *mask = kt_tensor(ctx, F16, 50, 1, 1, 1);

    kt_check(ctx, ggml_flash_attn_ext(ctx, q, k, k, mask, 0.2f, 0, 0), IN_F32,
             "%d tokens, one row of a mask", tokens);
    kt_end(ctx);
}

/* A BF16 beyond all F16s is seen as the largest of these. */
static void
test_large(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *q = kt_tensor(ctx, F32, 64, 64, 1, 1);
    struct ggml_tensor *k = kt_tensor(ctx, GGML_TYPE_BF16, 64, 20, 1, 1);
    struct ggml_tensor *t;

    ((ggml_bf16_t *)k->data)[64 * 7 + 3] = ggml_fp32_to_bf16(-1e6f);
    for (int i = 0; i < 64; i++)
        ((float *)q->data)[i * 64 + 3] = 0.5f; /* hides that key */
    t = ggml_flash_attn_ext(ctx, q, k,
                            kt_tensor(ctx, GGML_TYPE_BF16, 64, 20, 1, 1), NULL,
                            0.1f, 0, 0);
    kt_check(ctx, t, IN_F16, "a key beyond all F16s");
    kt_end(ctx);
}

/* NaN in a query makes its row NaN, and no other; keys that overflowed make all
 * NaN where all scores are -infinity. */
static void
test_nan(enum ggml_type type, int tokens, bool infinite)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *q = kt_tensor(ctx, F32, 64, tokens, 1, 1);
    struct ggml_tensor *k = kt_tensor(ctx, type, 64, 70, 1, 1);
    struct ggml_tensor *v = kt_tensor(ctx, type, 64, 70, 1, 1), *t;
    bool good = true;

    ((float *)q->data)[64 + 5] = NAN;
    for (int i = 0; i < tokens && infinite; i++)
        ((float *)q->data)[i * 64 + 5] = -1;
    for (int i = 0; i < 70 && infinite; i++)
        ((ggml_fp16_t *)k->data)[i * 64 + 5] =
            type == F16 ? ggml_fp32_to_fp16(INFINITY)
                        : ggml_fp32_to_bf16(INFINITY).bits;
    t = ggml_flash_attn_ext(ctx, q, k, v, NULL, 0.1f, 0, 0);
    kt_check(ctx, t, IN_F16, "NaN: %s, %d tokens", ggml_type_name(type),
             tokens);
    for (int i = 0; i < 64 * tokens; i++)
        good =
            good && isnan(((float *)t->data)[i]) == (infinite || i / 64 == 1);
    kt_ok(good, "NaN in, NaN out");
    kt_end(ctx);
}

int
main(void)
{
    kt_start();
    for (int i = 0; i < 6; i++) {
        test_nan(i % 2 ? F16 : GGML_TYPE_BF16, i / 2 ? i / 4 ? 70 : 20 : 2,
                 false);
        test_nan(i % 2 ? F16 : GGML_TYPE_BF16, i / 2 ? i / 4 ? 70 : 20 : 2,
                 true);
    }
    test_nan(GGML_TYPE_Q8_0, 3, false);
    for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
        attend(&few[i].shape, few[i].name);
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
        attend(&many[i].shape, many[i].name);
    test_length();
    test_places(1);
    test_places(20);
    test_row(3);
    test_row(70);
    test_large();
    kt_ok(cuda_kv_splits(4096, 1) == 64 && cuda_kv_splits(4097, 8) == 65 &&
              cuda_kv_splits(0, 1) == 1 && cuda_kv_splits(1 << 20, 64) == 1,
          "parts of the keys");
    kt_ok(cuda_tile_keys(128, 40 << 10) == 32 &&
              cuda_tile_keys(576, 40 << 10) == 16 &&
              cuda_tile_keys(1 << 20, 40 << 10) == 1,
          "keys of a tile");
    return kt_done();
}
