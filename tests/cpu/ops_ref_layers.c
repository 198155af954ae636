/* ops_ref_layers.c - cases of ops of layers of models: products, positions,
 * attention, recurrence */
#include "cpu/ops_ref.h"

BUILD(mul_mat, ggml_mul_mat(g, a, in(c->other, n[0], c->arg, 2 * n[2], n[3])))

/* Four of the matrices for each of seven tokens. */
static struct ggml_tensor *
by_id(const struct op_case *c)
{
    made.limit = (int)c->ne[2];
    return ggml_mul_mat_id(made.nodes, first(c),
                           in(GGML_TYPE_F32, c->ne[0], c->arg, 7, 1),
                           in(GGML_TYPE_I32, 4, 7, 1, 1));
}

BUILD(out_prod, ggml_out_prod(g, a, in(c->other, c->arg, n[1], 2 * n[2], n[3])))
BUILD(out_prod_transposed,
      ggml_out_prod(g, a,
                    ggml_transpose(g, in(c->other, n[1], c->arg, n[2], n[3]))))

static struct ggml_tensor *
rope(const struct op_case *c)
{
    made.limit = 4000;
    return ggml_rope_ext(
        made.nodes, first(c), in(GGML_TYPE_I32, c->ne[2], 1, 1, 1), NULL,
        (int)c->ne[0] - 6, c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

/* Twice as many pairs as VISION's sections have. */
static struct ggml_tensor *
rope_multi(const struct op_case *c)
{
    static int sections[] = { 9, 7, 8, 8 };
    bool vision = c->arg == GGML_ROPE_TYPE_VISION;
    int n_dims = (int)(vision ? c->ne[0] / 2 : c->ne[0] - 6);

    made.limit = 4000;
    return ggml_rope_multi(
        made.nodes, first(c), in(GGML_TYPE_I32, 4 * c->ne[2], 1, 1, 1), NULL,
        n_dims, sections, c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

/* q as the case says; half as many heads of k and v. */
static struct ggml_tensor *
flash(const struct op_case *c)
{
    const int64_t *n = c->ne;
    struct ggml_tensor *mask = in(GGML_TYPE_F16, 71, n[1], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_flash_attn_ext(
        made.nodes, first(c), in(c->other, n[0], 71, n[2] / 2, n[3]),
        in(c->other, n[0], 71, n[2] / 2, n[3]), mask, 0.2f, (float)c->arg, 0);
}

/* q [d, heads, tokens, sequences], keys of `other`. */
static struct ggml_tensor *
indexer(const struct op_case *c)
{
    const int64_t *n = c->ne;
    struct ggml_tensor *mask = in(F16, 53, n[2], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_lightning_indexer(made.nodes, first(c),
                                  in(c->other, n[0], 1, 53, n[3]),
                                  in(F32, n[1], n[2], 1, n[3]), mask);
}

/* q or v [n, heads, tokens, sequences], keys for half the heads, gates for an
 * element or a head, arg states. */
static struct ggml_tensor *
delta_net(const struct op_case *c)
{
    const int64_t *n = c->ne;

    return ggml_gated_delta_net(
        made.nodes, in(F32, n[0], n[1] / 2, n[2], n[3]),
        in(F32, n[0], n[1] / 2, n[2], n[3]), first(c),
        in(F32, c->arg == 1 ? 1 : n[0], n[1], n[2], n[3]),
        in(F32, 1, n[1], n[2], n[3]), in(F32, n[0], n[0], n[1], n[3]), c->arg);
}

/* x [dim, heads, tokens, sequences], decays for arg elements of a state. */
static struct ggml_tensor *
ssm_scan(const struct op_case *c)
{
    const int64_t *n = c->ne;

    made.limit = (int)n[3];
    return ggml_ssm_scan(
        made.nodes, in(F32, 24, n[0], n[1], n[3]), first(c),
        in(F32, n[1], n[2], n[3], 1), in(F32, c->arg, n[1], 1, 1),
        in(F32, 24, n[1] / 2, n[2], n[3]), in(F32, 24, n[1] / 2, n[2], n[3]),
        in(GGML_TYPE_I32, n[3], 1, 1, 1), 1);
}

BUILD(ssm_conv, ggml_ssm_conv(g, a, in(F32, 4, n[1], 1, 1)))

#define SAME  in(F32, n[0], n[1], n[2], 1)
#define STATE in(F32, n[0] * n[0] * n[1], 2, 1, 1)
BUILD(wkv6,
      ggml_rwkv_wkv6(g, a, SAME, SAME, in(F32, n[0], n[1], 1, 1), SAME, STATE))
BUILD(wkv7, ggml_rwkv_wkv7(g, a, SAME, SAME, SAME, SAME, SAME, STATE))
BUILD(gated_linear, ggml_gated_linear_attn(g, a, SAME, SAME, SAME, STATE, 0.5f))
BUILD(solve_tri,
      ggml_solve_tri(g, a, in(F32, 70, n[0], n[2], n[3]), true, true, false))

/* Four streams: a residual [n, 4, tokens]. */
BUILD(hyper_comb, ggml_dsv4_hc_comb(g, a, in(F32, 3, 1, 1, 1),
                                    in(F32, n[0], 1, 1, 1), 1e-6f, c->arg))
BUILD(hyper_pre, ggml_dsv4_hc_pre(g, a, in(F32, n[1], n[2], 1, 1)))
BUILD(hyper_gated,
      ggml_dsv4_hc_pre_gated(g, a, in(F32, n[0], n[1], n[2], 1), 0.7f))
BUILD(hyper_post,
      ggml_dsv4_hc_post(g, in(F32, n[0], n[2], 1, 1), a,
                        in(F32, n[1], n[2], 1, 1),
                        c->arg ? in(F32, n[1], n[1], n[2], 1) : NULL))

const struct op_case ref_layers[] = {
    CASE("mul_mat", mul_mat, 1e-12, EACH, F32, 0, 19, 2, 1, 1),
    CASE("mul_mat of many", mul_mat, 1e-12, EACH, F32, 0, 37, 1, 2, 23),
    CASE("mul_mat_id", by_id, 1e-12, EACH, F32, 0, 21, 5, 1, 2),
    CASE("mul_mat with F16 of f16", mul_mat, 1e-12, F16, F16, 301, 19, 2, 1, 5),
    CASE("out_prod", out_prod, 1e-12, F32, F32, 201, 131, 2, 1, 197),
    CASE("out_prod of F16", out_prod, 1e-12, F16, F32, 48, 5, 2, 1, 13),
    CASE("out_prod of Q4_K", out_prod, 1e-12, Q4_K, F32, 512, 33, 1, 1, 9),
    CASE("out_prod by transposed", out_prod_transposed, 1e-12, F32, F32, 144,
         70, 2, 1, 7),
    CASE("out_prod of Q8_0 by transposed", out_prod_transposed, 1e-12, Q8_0,
         F32, 160, 70, 2, 1, 7),
    CASE("rope", rope, 1e-12, F32, F32, 70, 3, 5, 2, 0),
    CASE("rope, neox", rope, 1e-12, F32, F32, 70, 3, 5, 2, 2),
    CASE("rope of F16", rope, 1e-7, F16, F32, 70, 3, 5, 2, 0),
    CASE("rope, M-RoPE", rope_multi, 1e-12, F32, F32, 70, 3, 5, 2, 8),
    CASE("rope, interleaved", rope_multi, 1e-12, F32, F32, 70, 3, 5, 2, 40),
    CASE("rope, vision", rope_multi, 1e-12, F32, F32, 72, 3, 5, 2, 24),
    CASE("flash_attn", flash, 1e-12, F32, F16, 80, 19, 4, 2, 0),
    CASE("flash_attn, F32", flash, 1e-12, F32, F32, 72, 1, 4, 1, 0),
    CASE("flash_attn, ALiBi", flash, 1e-12, F32, BF16, 64, 5, 4, 1, 8),
    CASE("flash_attn, Q8_0", flash, 1e-12, F32, Q8_0, 96, 5, 4, 1, 0),
    CASE("flash_attn, Q5_0", flash, 1e-12, F32, Q5_0, 96, 5, 4, 1, 0),
    CASE("flash_attn, Q4_0", flash, 1e-12, F32, Q4_0, 96, 5, 4, 1, 0),
    CASE("lightning_indexer", indexer, 1e-12, F32, F16, 72, 9, 7, 2, 0),
    CASE("lightning_indexer of Q8_0", indexer, 1e-12, F32, Q8_0, 64, 4, 3, 1,
         0),
    CASE("gated_delta_net", delta_net, 1e-11, F32, F32, 37, 4, 7, 2, 1),
    CASE("gated_delta_net, gates an element", delta_net, 1e-11, F32, F32, 64, 2,
         5, 1, 3),
    CASE("ssm_scan", ssm_scan, 1e-11, F32, F32, 37, 4, 7, 2, 1),
    CASE("ssm_scan, decays an element", ssm_scan, 1e-11, F32, F32, 1, 20, 7, 2,
         24),
    CASE("ssm_conv", ssm_conv, 0, F32, F32, 12, 37, 2, 1, 0),
    CASE("rwkv_wkv6", wkv6, 1e-11, F32, F32, 37, 3, 10, 1, 0),
    CASE("rwkv_wkv7", wkv7, 1e-10, F32, F32, 37, 3, 10, 1, 0),
    CASE("gated_linear_attn", gated_linear, 1e-11, F32, F32, 37, 3, 10, 1, 0),
    CASE("solve_tri", solve_tri, 0, F32, F32, 9, 9, 3, 2, 0),
    CASE("hyper-connections, comb", hyper_comb, 1e-12, F32, F32, 24, 17, 1, 1,
         4),
    CASE("hyper-connections, pre", hyper_pre, 1e-12, F32, F32, 291, 4, 7, 1, 0),
    CASE("hyper-connections, gated", hyper_gated, 1e-12, F32, F32, 291, 4, 7, 1,
         0),
    CASE("hyper-connections, post", hyper_post, 1e-12, F32, F32, 291, 4, 7, 1,
         1),
    CASE("hyper-connections, post without mixing", hyper_post, 1e-12, F32, F32,
         291, 4, 7, 1, 0),
    { .name = NULL },
};
