/* test_backward.c - the backward pass: each op's gradient against central
 * differences in double precision */
#include "cpu_test.h"

#include "fixtures/double_graph.h"
#include "tensor/backward.h"

/* A case makes y of parameters that it draws; the loss is the sum of y times
 * something random, so that each element of y has another gradient. */
struct backward_case {
    const char *name;
    struct ggml_tensor *(*build)(struct ggml_context *ctx, int arg);
    int arg;
    double bound; /* on the normalised mean square error; 0: 1e-11 */
};

static struct ggml_tensor *
fixed(struct ggml_context *ctx, int64_t ne0, int64_t ne1, int64_t ne2,
      int64_t ne3)
{
    return test_tensor(ctx, GGML_TYPE_F32, ne0, ne1, ne2, ne3);
}

static struct ggml_tensor *
param(struct ggml_context *ctx, int64_t ne0, int64_t ne1, int64_t ne2,
      int64_t ne3)
{
    struct ggml_tensor *t = fixed(ctx, ne0, ne1, ne2, ne3);

    ggml_set_param(t);
    return t;
}

/* From 0.5 to 1.5. */
static struct ggml_tensor *
positive(struct ggml_context *ctx, int64_t ne0, int64_t ne1, int64_t ne2,
         int64_t ne3)
{
    struct ggml_tensor *t = param(ctx, ne0, ne1, ne2, ne3);

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        ggml_get_data_f32(t)[i] = 1 + ggml_get_data_f32(t)[i] / 2;
    return t;
}

static struct ggml_tensor *
integers(struct ggml_context *ctx, int64_t n, int limit)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);

    for (int64_t i = 0; i < n; i++)
        ((int32_t *)t->data)[i] = (int32_t)(i * 7 % limit);
    return t;
}

#define CASE(name)                                                             \
    static struct ggml_tensor *name(struct ggml_context *ctx, int arg)
#define IGNORE (void)arg

/* ---- the cases ------------------------------------------------------------
 */

CASE(binary)
{
    struct ggml_tensor *a = param(ctx, 5, 3, 2, 2);
    struct ggml_tensor *b =
        arg % 2 ? positive(ctx, 5, 3, 2, 2) : positive(ctx, 5, 1, 2, 1);

    switch (arg / 2) {
    case 0:
        return ggml_add(ctx, a, b);
    case 1:
        return ggml_sub(ctx, a, b);
    case 2:
        return ggml_mul(ctx, a, b);
    default:
        return ggml_div(ctx, a, b);
    }
}

CASE(column)
{
    IGNORE;
    return ggml_mul(ctx, param(ctx, 5, 3, 1, 1), param(ctx, 1, 3, 1, 1));
}

CASE(one)
{
    IGNORE;
    return ggml_add1(ctx, param(ctx, 5, 3, 1, 1), param(ctx, 1, 1, 1, 1));
}

CASE(function)
{
    struct ggml_tensor *x = positive(ctx, 5, 3, 2, 1);

    switch (arg) {
    case 0:
        return ggml_sqr(ctx, x);
    case 1:
        return ggml_sqrt(ctx, x);
    case 2:
        return ggml_log(ctx, x);
    case 3:
        return ggml_sin(ctx, x);
    case 4:
        return ggml_cos(ctx, x);
    case 5:
        return ggml_scale_bias(ctx, x, 0.3f, 2);
    case 6:
        return ggml_clamp(ctx, x, 0.8f, 1.1f);
    case 7:
        return ggml_sum(ctx, ggml_sqr(ctx, x));
    case 8:
        return ggml_sum_rows(ctx, x);
    case 9:
        return ggml_mean(ctx, x);
    case 10:
        return ggml_cumsum(ctx, x);
    case 11:
        return ggml_repeat_4d(ctx, x, 10, 3, 4, 3);
    default:
        return ggml_leaky_relu(ctx, ggml_scale_bias(ctx, x, 1, -1), 0.1f,
                               false);
    }
}

/* From -5 to 5, but not where a function has a kink: at 0, at 3. */
CASE(unary)
{
    struct ggml_tensor *x = param(ctx, 33, 3, 1, 1);

    for (int i = 0; i < 99; i++)
        ggml_get_data_f32(x)[i] = (float)(i - 49) / 10 - 0.02f;
    return ggml_unary(ctx, x, (enum ggml_unary_op)arg);
}

CASE(gated)
{
    struct ggml_tensor *x = param(ctx, 34, 3, 2, 1);
    enum ggml_glu_op op = (enum ggml_glu_op)(arg / 3);

    if (arg % 3 < 2)
        return ggml_glu(ctx, x, op, arg % 3 == 1);
    return ggml_glu_split(ctx, x, param(ctx, 34, 3, 2, 1), op);
}

CASE(norm)
{
    struct ggml_tensor *x = param(ctx, 37, 3, 2, 1);
    float eps = arg < 3 ? 1e-5f : 100;

    switch (arg % 3) {
    case 0:
        return ggml_norm(ctx, x, eps);
    case 1:
        return ggml_rms_norm(ctx, x, eps);
    default:
        return ggml_l2_norm(ctx, x, eps);
    }
}

/* By planes: one of weights for all, each its own, one for two. */
CASE(product)
{
    static const int64_t planes[][4] = {
        { 1, 1, 2, 3 }, { 2, 3, 2, 3 }, { 2, 1, 4, 3 }, { 1, 3, 2, 6 }
    };
    const int64_t *n = planes[arg];

    return ggml_mul_mat(ctx, param(ctx, 7, 5, n[0], n[1]),
                        param(ctx, 7, 3, n[2], n[3]));
}

/* So large that it has several tiles and blocks. */
CASE(large_product)
{
    IGNORE;
    return ggml_mul_mat(ctx, param(ctx, 3, 67, 1, 1), param(ctx, 3, 201, 1, 1));
}

CASE(wide_product)
{
    IGNORE;
    return ggml_mul_mat(ctx, param(ctx, 150, 2, 1, 1),
                        fixed(ctx, 150, 3, 1, 1));
}

/* Gradients of activations pass through blocks. */
CASE(quantised_product)
{
    return ggml_mul_mat(ctx,
                        test_tensor(ctx, (enum ggml_type)arg, 256, 3, 1, 1),
                        param(ctx, 256, 2, 2, 1));
}

CASE(outer)
{
    IGNORE;
    return ggml_out_prod(ctx, param(ctx, 7, 5, 2, 1), param(ctx, 3, 5, 2, 1));
}

CASE(permuted)
{
    struct ggml_tensor *x =
        ggml_permute(ctx, param(ctx, 5, 3, 2, 2), 2, 0, 3, 1);

    return arg ? ggml_cont(ctx, x) : ggml_scale(ctx, ggml_cont(ctx, x), 2);
}

CASE(transposed)
{
    struct ggml_tensor *x = param(ctx, 5, 3, 2, 1);

    IGNORE;
    x = ggml_cont(ctx, ggml_transpose(ctx, ggml_sqr(ctx, x)));
    return ggml_reshape_2d(ctx, x, 15, 2);
}

CASE(viewed)
{
    struct ggml_tensor *x = ggml_sqr(ctx, param(ctx, 12, 3, 4, 1));
    struct ggml_tensor *y = ggml_view_3d(ctx, x, 4, 3, 2, x->nb[1],
                                         2 * x->nb[2], 4 * sizeof(float));
    struct ggml_tensor *z = ggml_view_3d(ctx, y, 2, 2, 2, y->nb[1], y->nb[2],
                                         y->nb[1] + sizeof(float));

    return arg ? ggml_add(ctx, ggml_cont(ctx, z),
                          ggml_view_3d(ctx, x, 2, 2, 2, x->nb[1], x->nb[2], 0))
               : ggml_cont(ctx, y);
}

CASE(part)
{
    struct ggml_tensor *a = param(ctx, 6, 5, 4, 1), *b = param(ctx, 3, 2, 2, 1);
    size_t offset = a->nb[1] + 2 * a->nb[0];

    a = ggml_sqr(ctx, a);
    return arg ? ggml_set(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], offset)
               : ggml_acc(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], offset);
}

CASE(concatenated)
{
    int64_t a[] = { 5, 3, 2, 2 }, b[] = { 5, 3, 2, 2 };

    a[arg] = 4;
    return ggml_concat(ctx, param(ctx, a[0], a[1], a[2], a[3]),
                       param(ctx, b[0], b[1], b[2], b[3]), arg);
}

CASE(copied)
{
    struct ggml_tensor *x = param(ctx, 5, 3, 2, 1);

    return arg ? ggml_cpy(ctx, x, fixed(ctx, 15, 2, 1, 1)) : ggml_dup(ctx, x);
}

CASE(rows)
{
    IGNORE;
    return ggml_get_rows(ctx, param(ctx, 130, 5, 1, 1), integers(ctx, 9, 5));
}

CASE(masked)
{
    struct ggml_tensor *x = param(ctx, 5, 4, 2, 1);

    return arg ? ggml_diag_mask_zero(ctx, x, 1)
               : ggml_soft_max(ctx, ggml_diag_mask_inf(ctx, x, 1));
}

CASE(soft_max)
{
    struct ggml_tensor *x = param(ctx, 19, 4, 2, 1);

    return ggml_soft_max_ext(ctx, x, arg ? fixed(ctx, 19, 4, 1, 1) : NULL, 0.7f,
                             0);
}

CASE(rotated)
{
    struct ggml_tensor *x = param(ctx, 10, 3, 4, 1);

    return ggml_rope_ext(ctx, x, integers(ctx, 4, 100), NULL, 8, arg, 0, 1e4f,
                         0.5f, 0, 1.3f, 0, 0);
}

CASE(convolved)
{
    struct ggml_tensor *image = param(ctx, 7, 6, 2, 2);
    struct ggml_tensor *kernel = fixed(ctx, 3, 2, 2, 4);

    if (arg)
        return ggml_im2col(ctx, kernel, image, 2, 1, 1, 0, 1, 2, true,
                           GGML_TYPE_F32);
    return ggml_im2col(ctx, fixed(ctx, 3, 6, 4, 1), param(ctx, 7, 6, 2, 1), 2,
                       0, 1, 0, 2, 0, false, GGML_TYPE_F32);
}

CASE(pooled)
{
    return ggml_pool_2d(ctx, param(ctx, 7, 6, 2, 2), (enum ggml_op_pool)arg, 3,
                        2, 2, 1, 1, 0);
}

/* Rows of labels that add up to 1, to something else, and to 0. */
CASE(cross_entropy)
{
    struct ggml_tensor *x = param(ctx, 41, 3, 2, 1);
    struct ggml_tensor *labels = fixed(ctx, 41, 3, 2, 1);
    float *v = ggml_get_data_f32(labels);

    IGNORE;
    for (int64_t i = 0; i < ggml_nelements(labels); i++)
        v[i] = i / 41 % 3 == 0   ? (float)(i % 41 == 5)
               : i / 41 % 3 == 1 ? fabsf(v[i])
                                 : 0;
    return ggml_cross_entropy_loss(ctx, x, labels);
}

/* A tensor that several nodes read, by several ways. */
CASE(shared)
{
    struct ggml_tensor *x = param(ctx, 6, 4, 1, 1), *y;

    IGNORE;
    y = ggml_add(ctx, ggml_mul(ctx, x, x), ggml_silu(ctx, x));
    y = ggml_add(ctx, y, ggml_repeat(ctx, ggml_sum_rows(ctx, y), x));
    return ggml_mul_mat(ctx, y, ggml_add(ctx, x, y));
}

static const struct backward_case cases[] = {
    { "add a row", binary, 0, 0 },
    { "add", binary, 1, 0 },
    { "sub a row", binary, 2, 0 },
    { "sub", binary, 3, 0 },
    { "mul a row", binary, 4, 0 },
    { "mul", binary, 5, 0 },
    { "div a row", binary, 6, 0 },
    { "div", binary, 7, 0 },
    { "mul a column", column, 0, 0 },
    { "add1", one, 0, 0 },
    { "sqr", function, 0, 0 },
    { "sqrt", function, 1, 0 },
    { "log", function, 2, 0 },
    { "sin", function, 3, 0 },
    { "cos", function, 4, 0 },
    { "scale_bias", function, 5, 0 },
    { "clamp", function, 6, 0 },
    { "sum", function, 7, 0 },
    { "sum_rows", function, 8, 0 },
    { "mean", function, 9, 0 },
    { "cumsum", function, 10, 0 },
    { "repeat", function, 11, 0 },
    { "leaky_relu", function, 12, 0 },
    { "norm", norm, 0, 0 },
    { "rms_norm", norm, 1, 0 },
    { "l2_norm", norm, 2, 0 },
    { "l2_norm shorter than eps", norm, 5, 0 },
    { "mul_mat", product, 0, 0 },
    { "mul_mat by planes", product, 1, 0 },
    { "mul_mat of shared planes", product, 2, 0 },
    { "mul_mat of shared cubes", product, 3, 0 },
    { "mul_mat of several blocks", large_product, 0, 0 },
    { "mul_mat of wide rows", wide_product, 0, 0 },
    { "mul_mat with Q8_0", quantised_product, GGML_TYPE_Q8_0, 0 },
    { "mul_mat with Q4_K", quantised_product, GGML_TYPE_Q4_K, 0 },
    { "mul_mat with BF16", quantised_product, GGML_TYPE_BF16, 0 },
    { "out_prod", outer, 0, 0 },
    { "permute", permuted, 0, 0 },
    { "permute and cont", permuted, 1, 0 },
    { "transpose, reshape", transposed, 0, 0 },
    { "view", viewed, 0, 0 },
    { "views of views", viewed, 1, 0 },
    { "acc", part, 0, 0 },
    { "set", part, 1, 0 },
    { "concat 0", concatenated, 0, 0 },
    { "concat 1", concatenated, 1, 0 },
    { "concat 3", concatenated, 3, 0 },
    { "dup", copied, 0, 0 },
    { "cpy", copied, 1, 0 },
    { "get_rows", rows, 0, 0 },
    { "diag_mask_inf", masked, 0, 0 },
    { "diag_mask_zero", masked, 1, 0 },
    { "soft_max", soft_max, 0, 0 },
    { "soft_max with mask", soft_max, 1, 0 },
    { "rope", rotated, GGML_ROPE_TYPE_NORMAL, 0 },
    { "rope NEOX", rotated, GGML_ROPE_TYPE_NEOX, 0 },
    { "im2col of lines", convolved, 0, 0 },
    { "im2col", convolved, 1, 0 },
    { "pool_2d max", pooled, GGML_OP_POOL_MAX, 0 },
    { "pool_2d avg", pooled, GGML_OP_POOL_AVG, 0 },
    { "cross_entropy_loss", cross_entropy, 0, 0 },
    { "a shared tensor", shared, 0, 0 },
};

/* ---- a case ---------------------------------------------------------------
 */

static void
compute(struct ggml_context *ctx, struct ggml_cgraph *g, int n_threads)
{
    struct ggml_cplan plan = ggml_graph_plan(g, n_threads, NULL);

    plan.n_threads = n_threads;
    plan.use_ref = test_use_ref;
    if (plan.work_size)
        plan.work_data = ggml_new_buffer(ctx, plan.work_size);
    if (ggml_graph_compute(g, &plan) != GGML_STATUS_SUCCESS)
        abort();
}

/* Sum of squared differences, and of squares; of a large tensor some elements
 * tell of all. */
static void
compare(const struct ggml_cgraph *g, struct double_graph *in_double,
        struct ggml_tensor *x, double *error, double *power)
{
    const struct ggml_tensor *grad = ggml_graph_get_grad(g, x);
    int64_t step = ggml_nelements(x) > 150 ? 13 : 1;

    for (int64_t i = 0; i < ggml_nelements(x); i += step) {
        double want = double_graph_derivative(in_double, x, i);
        int64_t at[4], n = i;

        for (int d = 0; d < 4; d++) {
            at[d] = n % x->ne[d];
            n /= x->ne[d];
        }
        want -= test_at(grad, at[0], at[1], at[2], at[3]);
        *error += want * want;
        want += test_at(grad, at[0], at[1], at[2], at[3]);
        *power += want * want;
    }
}

static double
nmse(struct ggml_cgraph *g, struct ggml_tensor *loss)
{
    struct double_graph *in_double = double_graph_new(loss);
    double error = 0, power = 0;

    for (int i = 0; i < ggml_graph_n_nodes(g); i++)
        if (ggml_graph_node(g, i)->flags & GGML_TENSOR_FLAG_PARAM)
            compare(g, in_double, ggml_graph_node(g, i), &error, &power);
    double_graph_free(in_double);
    return error == 0 ? 0 : error / power;
}

/* All gradients, one after the other; the caller frees them. */
static char *
bits_of(struct ggml_cgraph *g, size_t *n)
{
    char *bits = malloc(1 << 20);

    *n = 0;
    for (int i = 0; i < ggml_graph_n_nodes(g); i++) {
        struct ggml_tensor *x = ggml_graph_node(g, i);
        struct ggml_tensor *grad = ggml_graph_get_grad(g, x);

        if (!(x->flags & GGML_TENSOR_FLAG_PARAM) || !grad)
            continue;
        memcpy(bits + *n, grad->data, ggml_nbytes(grad));
        *n += ggml_nbytes(grad);
    }
    return bits;
}

static struct ggml_tensor *
loss_of(struct ggml_context *ctx, struct ggml_tensor *y)
{
    struct ggml_tensor *loss;

    loss = ggml_mul(ctx, y, fixed(ctx, y->ne[0], y->ne[1], y->ne[2], y->ne[3]));
    loss = ggml_sum(ctx, loss);
    ggml_set_loss(loss);
    return loss;
}

static void
test_case(const struct backward_case *c)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *loss = loss_of(ctx, c->build(ctx, c->arg));
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 1024, true);
    double bound = c->bound > 0 ? c->bound : 1e-11, error, error_ref;
    size_t n, n_again;
    char *bits, *again, text[160];

    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(ctx, g, NULL);
    ggml_graph_reset(g);
    compute(ctx, g, 1);
    bits = bits_of(g, &n);
    error = nmse(g, loss);
    compute(ctx, g, 3);
    again = bits_of(g, &n_again);
    test_use_ref = true;
    compute(ctx, g, 1);
    test_use_ref = false;
    error_ref = nmse(g, loss);
    snprintf(text, sizeof(text), "%s: NMSE %.2g, reference %.2g", c->name,
             error, error_ref);
    ok(n > 0 && error <= bound && error_ref <= bound, text);
    if (n != n_again || memcmp(bits, again, n) != 0)
        ok(false, "threads change nothing");
    free(bits);
    free(again);
    ggml_free(ctx);
}

static void
test_functions(void)
{
    char name[80];

    for (int i = 0; i < GGML_UNARY_OP_COUNT; i++) {
        struct backward_case c = { name, unary, i, 0 };

        snprintf(name, sizeof(name), "%s",
                 ggml_unary_op_name((enum ggml_unary_op)i));
        if (tensor_backward_has_unary((enum ggml_unary_op)i))
            test_case(&c);
    }
    for (int i = 0; i < 3 * GGML_GLU_OP_COUNT; i++) {
        struct backward_case c = { name, gated, i, 0 };
        enum ggml_glu_op op = (enum ggml_glu_op)(i / 3);

        snprintf(name, sizeof(name), "%s%s", ggml_glu_op_name(op),
                 i % 3 == 0   ? ""
                 : i % 3 == 1 ? ", swapped"
                              : ", split");
        if (tensor_backward_has_unary(tensor_backward_glu_function(op)))
            test_case(&c);
    }
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        test_case(&cases[i]);
    test_functions();
    return tap_done();
}
