/* ops_ref_elements.c - cases of ops of element by element, and rows */
#include "cpu/ops_ref.h"

#include <ggml-cpu.h>

BUILD(add, ggml_add(g, a, OTHER))
BUILD(add_row, ggml_add(g, a, ROW))
BUILD(add_cast, ggml_add_cast(g, a, in(F32, n[0], n[1], n[2], n[3]), c->other))
BUILD(sub, ggml_sub(g, a, OTHER))
BUILD(mul, ggml_mul(g, a, OTHER))
BUILD(mul_row, ggml_mul(g, a, ROW))
BUILD(divide, ggml_div(g, a, OTHER))
BUILD(add1, ggml_add1(g, a, in(c->other, 1, 1, 1, 1)))
BUILD(acc, ggml_acc(g, a, in(c->other, 5, 2, 2, 1), a->nb[1], a->nb[2],
                    a->nb[3], a->nb[1] + 3 * a->nb[0]))
BUILD(set, ggml_set(g, a, in(c->other, 5, 2, 2, 1), a->nb[1], a->nb[2],
                    a->nb[3], a->nb[1] + 3 * a->nb[0]))
BUILD(sqr, ggml_sqr(g, a))
BUILD(root, ggml_sqrt(g, ggml_sqr(g, a)))
BUILD(scale, ggml_scale_bias(g, a, 0.7f, -0.3f))
BUILD(clamp, ggml_clamp(g, a, -0.25f, 0.5f))
BUILD(logarithm, ggml_log(g, ggml_sqr(g, a)))
BUILD(sine, ggml_sin(g, a))
BUILD(cosine, ggml_cos(g, a))
BUILD(leaky, ggml_leaky_relu(g, a, 0.1f, false))
BUILD(xielu, ggml_xielu(g, a, 0.3f, 0.7f, 0.5f, -1e-6f))
BUILD(constant, ggml_fill(g, a, 0.3f))
BUILD(unary, ggml_unary(g, a, (enum ggml_unary_op)c->arg))
BUILD(glu, ggml_glu(g, a, (enum ggml_glu_op)c->arg, true))
BUILD(glu_split, ggml_glu_split(g, a, OTHER, (enum ggml_glu_op)c->arg))
BUILD(sum_rows, ggml_sum_rows(g, a))
BUILD(sum, ggml_sum(g, a))
BUILD(mean, ggml_mean(g, a))
BUILD(cumsum, ggml_cumsum(g, a))
BUILD(argmax, ggml_argmax(g, a))
BUILD(l2_norm, ggml_l2_norm(g, a, 1e-5f))
BUILD(group_norm, ggml_group_norm(g, a, 2, 1e-5f))
BUILD(norm, ggml_norm(g, a, 1e-5f))
BUILD(rms_norm, ggml_rms_norm(g, a, 1e-5f))
BUILD(soft_max, ggml_soft_max(g, a))

static struct ggml_tensor *
masked(const struct op_case *c)
{
    struct ggml_tensor *mask = in(GGML_TYPE_F16, c->ne[0], c->ne[1], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_soft_max_ext(made.nodes, first(c), mask, 0.5f, (float)c->arg);
}

BUILD(mask_zero, ggml_diag_mask_zero(g, a, 2))
BUILD(mask_inf, ggml_diag_mask_inf(g, a, 2))
BUILD(argsort, ggml_argsort(g, a, (enum ggml_sort_order)c->arg))
BUILD(top_k, ggml_top_k(g, a, c->arg))

static struct ggml_tensor *
add_id(const struct op_case *c)
{
    made.limit = 9;
    return ggml_add_id(made.nodes, first(c),
                       in(GGML_TYPE_F32, c->ne[0], 9, 1, 1),
                       in(GGML_TYPE_I32, c->ne[1], c->ne[2], 1, 1));
}

BUILD(arange, ggml_arange(g, -3, 900, 1.5f))
BUILD(timestep, ggml_timestep_embedding(g, a, c->arg, 10000))

/* dst = the sum of what is there and 1. */
static void
sum_up(struct ggml_tensor *dst, int ith, int nth, void *userdata)
{
    (void)userdata;
    for (int i = ith; i < (int)ggml_nelements(dst); i += nth) {
        float sum = 1;

        for (int j = 0; dst->src[j]; j++)
            sum += ggml_get_f32_1d(dst->src[j], i);
        ggml_set_f32_1d(dst, i, sum);
    }
}

static void
sum_1(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
      void *userdata)
{
    (void)a;
    sum_up(dst, ith, nth, userdata);
}

static void
sum_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
      const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    (void)b;
    sum_1(dst, a, ith, nth, userdata);
}

static void
sum_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
      const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
      int nth, void *userdata)
{
    (void)c;
    sum_2(dst, a, b, ith, nth, userdata);
}

BUILD(map_1, ggml_map_custom1(g, a, sum_1, 2, NULL))
BUILD(map_2, ggml_map_custom2(g, a, OTHER, sum_2, 2, NULL))
BUILD(map_3, ggml_map_custom3(g, a, OTHER, OTHER, sum_3, 2, NULL))
BUILD(custom, ggml_custom_4d(g, GGML_TYPE_F32, n[0], n[1], n[2], n[3], &a, 1,
                             sum_up, 2, NULL))

static struct ggml_tensor *
count_equal(const struct op_case *c)
{
    made.limit = 5;
    return ggml_count_equal(
        made.nodes, first(c),
        ggml_argmax(made.nodes, in(F32, 5, c->ne[0], 1, 1)));
}

const struct op_case ref_elements[] = {
    CASE("unary", unary, 1e-12, F32, F32, 131, 3, 2, 1, EACH_UNARY),
    CASE("glu", glu, 1e-12, F32, F32, 134, 3, 2, 1, EACH_GLU),
    CASE("split glu", glu_split, 1e-12, F32, F32, 67, 3, 2, 1, EACH_GLU),
    CASE("add", add, 0, F32, F32, 37, 5, 4, 2, 0),
    CASE("add to F16", add, 0, F16, F32, 37, 5, 4, 2, 0),
    CASE("add to Q8_0", add, 0, Q8_0, F32, 96, 5, 4, 2, 0),
    CASE("add a row", add_row, 0, F32, BF16, 131, 3, 2, 2, 0),
    CASE("add_cast", add_cast, 0, Q4_K, BF16, 512, 3, 2, 1, 0),
    CASE("sub", sub, 0, F32, F16, 37, 5, 4, 2, 0),
    CASE("mul", mul, 0, F32, F32, 259, 3, 1, 1, 0),
    CASE("mul a row", mul_row, 0, F32, F32, 37, 5, 4, 2, 0),
    CASE("div", divide, 1e-13, F32, F32, 37, 5, 4, 2, 0),
    CASE("add1", add1, 0, F32, F32, 37, 5, 4, 2, 0),
    CASE("acc", acc, 0, F32, F32, 37, 5, 4, 2, 0),
    CASE("acc of F16", acc, 0, F32, F16, 37, 5, 4, 2, 0),
    CASE("set", set, 0, F32, F32, 37, 5, 4, 2, 0),
    CASE("set F16", set, 0, F16, F16, 37, 5, 4, 2, 0),
    CASE("sqr", sqr, 0, F32, F32, 67, 3, 1, 1, 0),
    CASE("sqrt", root, 1e-13, F32, F32, 67, 3, 1, 1, 0),
    CASE("scale", scale, 1e-13, F32, F32, 67, 3, 2, 1, 0),
    CASE("clamp", clamp, 0, F32, F32, 67, 3, 2, 1, 0),
    CASE("log", logarithm, 1e-13, F32, F32, 67, 3, 1, 1, 0),
    CASE("sin", sine, 1e-13, F32, F32, 67, 3, 1, 1, 0),
    CASE("cos", cosine, 1e-13, F32, F32, 67, 3, 1, 1, 0),
    CASE("leaky_relu", leaky, 0, F32, F32, 67, 3, 1, 1, 0),
    CASE("xielu", xielu, 1e-13, F32, F32, 67, 3, 1, 1, 0),
    CASE("fill", constant, 0, F32, F32, 67, 3, 1, 1, 0),
    CASE("fill F16", constant, 0, F16, F32, 67, 3, 1, 1, 0),
    CASE("sum_rows", sum_rows, 1e-12, F32, F32, 301, 3, 2, 1, 0),
    CASE("sum", sum, 1e-12, F32, F32, 301, 3, 2, 1, 0),
    CASE("mean", mean, 1e-12, F32, F32, 301, 3, 2, 1, 0),
    CASE("cumsum", cumsum, 1e-12, F32, F32, 301, 3, 2, 1, 0),
    CASE("argmax", argmax, 0, F32, F32, 301, 7, 1, 1, 0),
    CASE("l2_norm", l2_norm, 1e-12, F32, F32, 301, 3, 2, 2, 0),
    CASE("group_norm", group_norm, 1e-12, F32, F32, 31, 3, 5, 2, 0),
    CASE("norm", norm, 1e-12, F32, F32, 301, 3, 2, 2, 0),
    CASE("rms_norm", rms_norm, 1e-12, F32, F32, 301, 3, 2, 2, 0),
    CASE("soft_max", soft_max, 1e-12, F32, F32, 303, 5, 2, 2, 0),
    CASE("soft_max with a mask", masked, 1e-12, F32, F32, 77, 5, 3, 1, 0),
    CASE("soft_max with ALiBi", masked, 1e-12, F32, F32, 77, 5, 3, 1, 8),
    CASE("diag_mask_zero", mask_zero, 0, F32, F32, 19, 11, 3, 1, 0),
    CASE("diag_mask_inf", mask_inf, 0, F32, F32, 19, 11, 3, 1, 0),
    CASE("argsort", argsort, 0, F32, F32, 133, 4, 3, 1, 1),
    CASE("argsort of F16", argsort, 0, F16, F32, 33, 4, 3, 1, 0),
    CASE("top_k", top_k, 0, F32, F32, 133, 4, 3, 1, 9),
    CASE("add_id", add_id, 1e-12, F32, F32, 133, 4, 6, 1, 0),
    CASE("arange", arange, 0, F32, F32, 1, 1, 1, 1, 0),
    CASE("timestep_embedding", timestep, 0, F32, F32, 13, 1, 1, 1, 35),
    CASE("map_custom1", map_1, 0, F32, F32, 17, 3, 1, 1, 0),
    CASE("map_custom2", map_2, 0, F32, F32, 17, 3, 1, 1, 0),
    CASE("map_custom3", map_3, 0, F32, F32, 17, 3, 1, 1, 0),
    CASE("custom", custom, 0, F32, F32, 17, 3, 1, 1, 0),
    CASE("count_equal", count_equal, 0, I32, F32, 33, 1, 1, 1, 0),
    { .name = NULL },
};
