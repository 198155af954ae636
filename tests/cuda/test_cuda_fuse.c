/* test_cuda_fuse.c - nodes that CUDA computes in one launch: norms, products,
 * stores to a cache */
#include <math.h>

#include "cuda/fuse_test.h"

#define Q4_K GGML_TYPE_Q4_K

static void
test_norms(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 96, 3, 1, 1);
    struct ggml_tensor *r = kt_tensor(ctx, F32, 96, 3, 1, 1);
    struct ggml_tensor *w = kt_tensor(ctx, F32, 96, 1, 1, 1);
    struct ggml_tensor *b = kt_tensor(ctx, F32, 96, 1, 1, 1);
    struct nodes g = { .n = 4, .uses = { 2 } };

    g.node[0] = ggml_add(ctx, x, r);
    g.node[1] = ggml_rms_norm(ctx, g.node[0], 1e-6f);
    g.node[2] = ggml_mul(ctx, g.node[1], w);
    g.node[3] = ggml_scale(ctx, g.node[2], 2);
    fuse(ctx, &g, 3, 1e-12, g.node[0], "a sum, its norm, a scale");
    g = (struct nodes){ .n = 3 };
    g.node[0] = ggml_norm(ctx, x, 1e-6f);
    g.node[1] = ggml_mul(ctx, g.node[0], w);
    g.node[2] = ggml_add(ctx, g.node[1], b);
    fuse(ctx, &g, 3, 1e-12, NULL, "a norm, a scale, a bias");
    g.uses[1] = 2;
    fuse(ctx, &g, 2, 1e-12, NULL, "a scale that others read");
    g.uses[0] = 2;
    refuse(&g, "a norm that others read is computed alone");
    kt_end(ctx);
}

/* The result of a norm put over rows that other blocks still read. */
static void
test_overlap(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *room = kt_tensor(ctx, F32, 32, 5, 1, 1);
    struct ggml_tensor *x = ggml_view_2d(ctx, room, 32, 3, room->nb[1], 0);
    struct ggml_tensor *w = kt_tensor(ctx, F32, 32, 1, 1, 1);
    struct nodes g = { .n = 2 };

    if (kt_on_device()) { /* who allocates decides there */
        kt_end(ctx);
        return;
    }
    x->data = room->data;
    g.node[0] = ggml_rms_norm(ctx, x, 1e-6f);
    g.node[0]->data = room->data;
    g.node[1] = ggml_mul(ctx, g.node[0], w);
    g.node[1]->data = (char *)room->data + room->nb[1];
    refuse(&g, "a result over other rows of the source is not fused");
    g.node[1]->data = x->data;
    run(&g);
    kt_ok(g.taken == 2, "one in the source's place is");
    kt_end(ctx);
}

static void
test_sums(enum ggml_type type, int columns, int width)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, type, 256, 21, 1, 1);
    struct ggml_tensor *x = kt_tensor(ctx, F32, 256, columns, 1, 1);
    struct ggml_tensor *b = kt_tensor(ctx, F32, 21, width, 1, 1);
    struct nodes g = { .n = 2 };

    g.node[0] = ggml_mul_mat(ctx, w, x);
    g.node[1] = width == columns ? ggml_add(ctx, b, g.node[0])
                                 : ggml_add(ctx, g.node[0], b);
    fuse(ctx, &g, 2, 1e-11, NULL,
         width == columns ? "a product and a sum" : "a product and a bias");
    kt_end(ctx);
}

static void
test_gates(enum ggml_type type, int columns, bool swapped)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, type, 256, 21, 1, 1);
    struct ggml_tensor *v = kt_tensor(ctx, type, 256, 21, 1, 1);
    struct ggml_tensor *x = kt_tensor(ctx, F32, 256, columns, 1, 1);
    struct nodes g = { .n = 3 };

    g.node[0] = ggml_mul_mat(ctx, w, x);
    g.node[1] = ggml_mul_mat(ctx, v, x);
    g.node[2] = swapped ? ggml_geglu_split(ctx, g.node[1], g.node[0])
                        : ggml_swiglu_split(ctx, g.node[0], g.node[1]);
    fuse(ctx, &g, 3, 1e-10, NULL,
         swapped ? "two products and a gate, swapped"
                 : "two products and a gate");
    kt_end(ctx);
}

/* q, k and v of some heads. */
static void
test_siblings(enum ggml_type type, int columns, bool biased)
{
    static const int rows[] = { 37, 9, 6 };
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 256, columns, 1, 1), *out[3];
    struct nodes g = { .n = 0 };
    int want;

    for (int i = 0; i < 3; i++) {
        struct ggml_tensor *w = kt_tensor(ctx, type, 256, rows[i], 1, 1);
        struct ggml_tensor *b = kt_tensor(ctx, F32, rows[i], 1, 1, 1);

        out[i] = g.node[g.n++] = ggml_mul_mat(ctx, w, x);
        if (biased && i != 1)
            out[i] = g.node[g.n++] = ggml_add(ctx, out[i], b);
    }
    want = g.n;
    g.node[g.n++] = ggml_concat(ctx, out[0], out[1], 0);
    g.node[g.n] = ggml_concat(ctx, g.node[g.n - 1], out[2], 0);
    g.n++;
    compute_all(ctx, &g, want, 1e-11,
                biased ? "products with biases" : "products side by side");
    kt_end(ctx);
}

/* By one position, or by sections of three. */
static struct ggml_tensor *
rotated(struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor *at,
        int mode)
{
    int d = (int)x->ne[0], sections[GGML_MROPE_SECTIONS] = { 6, 5, 5, 0 };

    return mode & GGML_ROPE_TYPE_MROPE
               ? ggml_rope_multi(ctx, x, at, NULL, d, sections, mode, 0, 10000,
                                 1, 0, 1, 32, 1)
               : ggml_rope(ctx, x, at, d, mode);
}

/* ROPE of queries and keys, and stores of keys and values to a cache. */
static void
test_rope_cache(enum ggml_type type, int mode)
{
    struct ggml_context *ctx = kt_begin();
    int tokens = 3, heads = 4, kv_heads = 2, d = 32;
    struct ggml_tensor *q = kt_tensor(ctx, F32, d, heads, tokens, 1);
    struct ggml_tensor *k = kt_tensor(ctx, F32, d, kv_heads, tokens, 1);
    struct ggml_tensor *v = kt_tensor(ctx, F32, d, kv_heads, tokens, 1);
    struct ggml_tensor *keys = kt_tensor(ctx, type, d, 12, kv_heads, 1);
    struct ggml_tensor *values = kt_tensor(ctx, type, d, 12, kv_heads, 1);
    int n_at = mode & GGML_ROPE_TYPE_MROPE ? 4 * tokens : tokens;
    struct ggml_tensor *at = kt_numbers(ctx, GGML_TYPE_I32, 9, n_at, 1, 1);
    struct ggml_tensor *ids = kt_numbers(ctx, GGML_TYPE_I64, 9, tokens, 1, 1);
    struct nodes g = { .n = 5 };

    for (int i = 0; i < n_at; i++)
        ((int32_t *)at->data)[i] = 7 * i + 3;
    for (int i = 0; i < tokens; i++) {
        ((int64_t *)ids->data)[i] = (5 * i + 2) % 12;
    }
    g.node[0] = rotated(ctx, k, at, mode);
    g.node[1] =
        ggml_set_rows(ctx, keys, ggml_permute(ctx, g.node[0], 0, 2, 1, 3), ids);
    g.node[2] =
        ggml_set_rows(ctx, values, ggml_permute(ctx, v, 0, 2, 1, 3), ids);
    g.node[3] = rotated(ctx, q, at, mode);
    g.node[4] =
        ggml_flash_attn_ext(ctx, ggml_permute(ctx, g.node[3], 0, 2, 1, 3),
                            g.node[1], g.node[2], NULL, 0.3f, 0, 0);
    compute_all(ctx, &g, 4, type == F32 ? 1e-11 : 1e-7,
                "ROPE and stores to a KV cache");
    if (!kt_on_device()) { /* who allocates decides there */
        g.node[3]->data = ids->data;
        run(&g);
        kt_ok(g.taken == 0, "queries over what says where keys go wait");
    }
    kt_end(ctx);
}

/* Fused output: a product gives the same as if it had converted its input. */
static void
test_fused_output(enum ggml_type type, int columns, double bound)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = kt_tensor(ctx, type, 256, 21, 1, 1);
    struct ggml_tensor *x = kt_tensor(ctx, F32, 256, columns, 1, 1);
    struct ggml_tensor *y = kt_tensor(ctx, F32, 256, columns, 1, 1);
    struct ggml_tensor *s = kt_tensor(ctx, F32, 256, 1, 1, 1);
    struct ggml_tensor *q = kt_tensor(ctx, F32, 64, columns, 4, 1);
    struct ggml_tensor *k = kt_tensor(ctx, GGML_TYPE_F16, 64, 70, 2, 1);
    struct ggml_tensor *v = kt_tensor(ctx, GGML_TYPE_F16, 64, 70, 2, 1);
    struct nodes g = { .n = 3, .uses = { 1, 1, 1 } };

    g.node[0] = ggml_rms_norm(ctx, x, 1e-6f);
    g.node[1] = ggml_mul(ctx, g.node[0], s);
    g.node[2] = ggml_mul_mat(ctx, w, g.node[1]);
    kt_check_run(ctx, g.node[2], NULL, run_all, &g, bound,
                 "a norm, ready for a product");
    g.n = 2;
    g.node[0] = ggml_swiglu_split(ctx, x, y);
    g.node[1] = ggml_mul_mat(ctx, w, g.node[0]);
    kt_check_run(ctx, g.node[1], NULL, run_all, &g, bound,
                 "a gate, ready for a product");
    g.node[0] = ggml_flash_attn_ext(ctx, q, k, v, NULL, 0.125f, 0, 0);
    g.node[1] =
        ggml_mul_mat(ctx, w, ggml_reshape_2d(ctx, g.node[0], 256, columns));
    /* a byte may be another where a sum ends in other bits */
    kt_check_run(ctx, g.node[1], NULL, run_all, &g, fmax(bound, 1e-6),
                 "attention, ready for a product");
    kt_end(ctx);
}

int
main(void)
{
    kt_start();
    test_norms();
    test_overlap();
    test_sums(Q4_K, 1, 1);
    test_sums(GGML_TYPE_Q8_0, 3, 3);
    test_sums(GGML_TYPE_BF16, 4, 1);
    test_sums(GGML_TYPE_Q5_1, 32, 1);
    test_gates(Q4_K, 1, false);
    test_gates(GGML_TYPE_Q4_0, 5, true);
    test_gates(GGML_TYPE_F16, 1, true);
    test_gates(GGML_TYPE_Q6_K, 17, false);
    test_siblings(Q4_K, 1, false);
    test_siblings(GGML_TYPE_Q8_0, 3, true);
    test_siblings(GGML_TYPE_BF16, 1, true);
    test_siblings(GGML_TYPE_Q8_0, 31, true);
    test_rope_cache(GGML_TYPE_F16, GGML_ROPE_TYPE_NORMAL);
    test_rope_cache(F32, GGML_ROPE_TYPE_NEOX);
    test_rope_cache(F32, GGML_ROPE_TYPE_MROPE);
    test_rope_cache(GGML_TYPE_F16, GGML_ROPE_TYPE_IMROPE);
    test_fused_output(Q4_K, 1, 1e-10);
    test_fused_output(Q4_K, 20, 1e-10);
    test_fused_output(Q4_K, 70, 1e-4);
    test_fused_output(GGML_TYPE_BF16, 9, 1e-4);
    return kt_done();
}
