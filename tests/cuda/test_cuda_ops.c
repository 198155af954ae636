/* test_cuda_ops.c - CUDA's kernels for all but products and attention, and the
 * best of long rows, by emulation or a device: see cuda/kernel_test.h */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/kernel_test.h"
#include "cuda/norm.h"

#define F32  GGML_TYPE_F32
#define F16  GGML_TYPE_F16
#define BF16 GGML_TYPE_BF16
#define I32  GGML_TYPE_I32

/* NMSE: of what is computed in floats, as an F16, as a BF16 */
#define IN_F32     1e-12
#define RECURRENCE 1e-10 /* errors of a token go on to the next */
#define IN_F16     1e-6
#define IN_BF16    1e-5

typedef struct ggml_tensor *(*binary_fn)(struct ggml_context *ctx,
                                         struct ggml_tensor *a,
                                         struct ggml_tensor *b);

static void
test_binary(binary_fn f, const char *name)
{
    static const int shapes[][4] = { { 33, 5, 2, 3 },
                                     { 33, 1, 2, 1 },
                                     { 11, 5, 1, 1 },
                                     { 1, 5, 2, 3 },
                                     { 1, 1, 1, 1 } };
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = kt_tensor(ctx, F32, 33, 5, 2, 3), *b;

    for (int i = 0; i < 5; i++) {
        const int *s = shapes[i];

        b = kt_tensor(ctx, F32, s[0], s[1], s[2], s[3]);
        kt_check(ctx, f(ctx, a, b), 0, "%s of %d x %d x %d x %d", name, s[0],
                 s[1], s[2], s[3]);
    }
    a = kt_tensor(ctx, F16, 2500, 3, 1, 1);
    b = kt_tensor(ctx, F32, 2500, 1, 1, 1);
    kt_check(ctx, f(ctx, a, b), IN_F16, "%s of F16 and F32, long rows", name);
    a = ggml_permute(ctx, kt_tensor(ctx, F32, 4, 7, 5, 1), 0, 2, 1, 3);
    b = kt_tensor(ctx, F32, 4, 5, 7, 1);
    kt_check(ctx, f(ctx, a, b), 0, "%s, permuted", name);
    kt_end(ctx);
}

static void
test_add_id(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = kt_tensor(ctx, F32, 40, 3, 4, 1);
    struct ggml_tensor *b = kt_tensor(ctx, F32, 40, 6, 1, 1);
    struct ggml_tensor *ids = kt_numbers(ctx, I32, 6, 3, 4, 1);

    kt_check(ctx, ggml_add_id(ctx, a, b, ids), 0, "rows added by number");
    kt_end(ctx);
}

static void
test_unary(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = kt_tensor(ctx, F32, 37, 3, 2, 1);
    struct ggml_tensor *h = kt_tensor(ctx, F16, 37, 3, 1, 1);

    for (int op = 0; op < GGML_UNARY_OP_COUNT; op++)
        if (op != GGML_UNARY_OP_XIELU)
            kt_check(ctx, ggml_unary(ctx, a, (enum ggml_unary_op)op), IN_F32,
                     "%s", ggml_unary_op_name((enum ggml_unary_op)op));
    kt_check(ctx, ggml_silu(ctx, h), IN_F16, "SILU of F16");
    kt_check(ctx, ggml_scale(ctx, a, 0.37f), 0, "scale");
    kt_check(ctx, ggml_scale(ctx, ggml_view_2d(ctx, a, 20, 5, a->nb[1], 12), 3),
             0, "scale of a view");
    kt_check(ctx, ggml_scale_inplace(ctx, a, -2), 0, "scale in place");
    kt_check(ctx, ggml_sqr(ctx, a), 0, "squares");
    kt_check(ctx, ggml_sqrt(ctx, kt_tensor(ctx, F32, 1, 1, 1, 1)), IN_F32,
             "a root");
    kt_check(ctx, ggml_clamp(ctx, a, -0.5f, 0.25f), 0, "clamp");
    kt_check(ctx, ggml_log(ctx, kt_tensor(ctx, F32, 1, 1, 1, 1)), IN_F32,
             "a logarithm");
    kt_check(ctx, ggml_sin(ctx, a), IN_F32, "sines");
    kt_check(ctx, ggml_cos(ctx, a), IN_F32, "cosines");
    kt_check(ctx, ggml_leaky_relu(ctx, a, 0.1f, false), IN_F32, "leaky_relu");
    kt_check(ctx, ggml_xielu(ctx, a, 0.3f, 0.7f, 0.5f, -1e-6f), IN_F32,
             "XIELU");
    kt_check(ctx, ggml_fill(ctx, h, 0.3f), 0, "fill");
    kt_end(ctx);
}

static void
test_glu(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = kt_tensor(ctx, F32, 70, 3, 2, 1);
    struct ggml_tensor *b = kt_tensor(ctx, F32, 70, 3, 2, 1);

    for (int op = 0; op < GGML_GLU_OP_COUNT; op++) {
        if (op == GGML_GLU_OP_SWIGLU_OAI || op == GGML_GLU_OP_SWIGLU_CLAMP)
            continue;
        for (int swapped = 0; swapped < 2; swapped++)
            kt_check(ctx, ggml_glu(ctx, a, (enum ggml_glu_op)op, swapped),
                     IN_F32, "%s of halves%s",
                     ggml_glu_op_name((enum ggml_glu_op)op),
                     swapped ? ", swapped" : "");
        kt_check(ctx, ggml_glu_split(ctx, a, b, (enum ggml_glu_op)op), IN_F32,
                 "%s of two", ggml_glu_op_name((enum ggml_glu_op)op));
    }
    kt_check(ctx, ggml_swiglu_oai(ctx, a, b, 1.702f, 0.3f), IN_F32,
             "SWIGLU_OAI");
    kt_check(ctx, ggml_swiglu_clamp(ctx, a, b, 0.3f), IN_F32, "SWIGLU_CLAMP");
    kt_end(ctx);
}

static void
test_norm(void)
{
    static const int widths[] = { 1, 33, 64, 200, 1000, 3000 };

    for (int i = 0; i < 6; i++) {
        struct ggml_context *ctx = kt_begin();
        struct ggml_tensor *x = kt_tensor(ctx, F32, widths[i], 3, 2, 1);

        kt_check(ctx, ggml_rms_norm(ctx, x, 1e-5f), IN_F32, "RMS_NORM of %d",
                 widths[i]);
        if (widths[i] > 1)
            kt_check(ctx, ggml_norm(ctx, x, 1e-5f), IN_F32, "NORM of %d",
                     widths[i]);
        kt_check(ctx, ggml_rms_norm_inplace(ctx, x, 1e-5f), IN_F32,
                 "RMS_NORM of %d in place", widths[i]);
        kt_check(ctx, ggml_sum_rows(ctx, x), IN_F32, "SUM_ROWS of %d",
                 widths[i]);
        kt_end(ctx);
    }
}

static void
run_norms(void *arg)
{
    kt_norms(arg);
}

static void
test_norms(bool rms, int width)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, width, 3, 1, 1);
    struct ggml_tensor *r = kt_tensor(ctx, F32, width, 3, 1, 1);
    struct ggml_tensor *w = kt_tensor(ctx, F32, width, 1, 1, 1);
    struct ggml_tensor *b = kt_tensor(ctx, F32, width, 1, 1, 1);
    struct cuda_norm n = { .add = ggml_add(ctx, x, r) };
    struct cuda_norm plain = { .norm = ggml_rms_norm(ctx, x, 1e-6f) };

    n.norm =
        rms ? ggml_rms_norm(ctx, n.add, 1e-6f) : ggml_norm(ctx, n.add, 1e-6f);
    n.mul = ggml_mul(ctx, n.norm, w);
    n.bias = ggml_add(ctx, n.mul, b);
    kt_check_run(ctx, n.bias, n.add, run_norms, &n, IN_F32,
                 rms ? "sum, RMS_NORM, scale, bias" : "sum, NORM, scale, bias");
    plain.mul = ggml_mul(ctx, plain.norm, w);
    kt_check_run(ctx, plain.mul, NULL, run_norms, &plain, IN_F32,
                 "RMS_NORM and scale");
    kt_end(ctx);
}

static void
test_rope(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 40, 3, 5, 2);
    struct ggml_tensor *h = kt_tensor(ctx, F16, 32, 9, 5, 1);
    struct ggml_tensor *pos = kt_numbers(ctx, I32, 100000, 5, 1, 1);
    struct ggml_tensor *factors = kt_tensor(ctx, F32, 16, 1, 1, 1);

    kt_check(ctx, ggml_rope(ctx, x, pos, 40, 0), IN_F32, "ROPE");
    kt_check(ctx, ggml_rope(ctx, x, pos, 32, GGML_ROPE_TYPE_NEOX), IN_F32,
             "ROPE, NEOX, of a part");
    kt_check(ctx,
             ggml_rope_ext(ctx, x, pos, NULL, 32, GGML_ROPE_TYPE_NEOX, 4096,
                           50000, 0.25f, 1, 1.1f, 32, 1),
             IN_F32, "ROPE with YaRN");
    kt_check(
        ctx,
        ggml_rope_ext(ctx, x, pos, factors, 32, 0, 4096, 50000, 1, 0, 1, 32, 1),
        IN_F32, "ROPE with divisors");
    kt_check(ctx, ggml_rope(ctx, h, pos, 32, 0), IN_F16, "ROPE of F16");
    kt_check(ctx, ggml_rope_inplace(ctx, x, pos, 16, GGML_ROPE_TYPE_NEOX),
             IN_F32, "ROPE in place");
    x = kt_tensor(ctx, F32, 8, 19, 700, 1);
    pos = kt_numbers(ctx, I32, 1000, 700, 1, 1);
    kt_check(ctx, ggml_rope(ctx, x, pos, 8, 0), IN_F32, "ROPE of many tokens");
    kt_end(ctx);
}

static struct ggml_tensor *
rope_in_sections(struct ggml_context *ctx, int n_dims, int mode,
                 const int sections[GGML_MROPE_SECTIONS])
{
    struct ggml_tensor *x = kt_tensor(ctx, F32, 40, 3, 5, 2);
    struct ggml_tensor *pos = kt_numbers(ctx, I32, 3000, 20, 1, 1);
    struct ggml_tensor *factors = kt_tensor(ctx, F32, 20, 1, 1, 1);
    int s[GGML_MROPE_SECTIONS];

    memcpy(s, sections, sizeof(s));
    return ggml_rope_multi(ctx, x, pos, factors, n_dims, s, mode, 4096, 10000,
                           0.5f, 0, 1.25f, 32, 1);
}

/* Pairs that have positions of their own, and those of a row's middle. */
static void
test_rope_sections(void)
{
    static const int some[] = { 3, 2, 1, 0 }, four[] = { 2, 1, 1, 2 };
    static const int halves[] = { 10, 10, 0, 0 };
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 40, 3, 5, 2);
    struct ggml_tensor *pos = kt_numbers(ctx, I32, 3000, 5, 1, 1);

    kt_check(ctx, rope_in_sections(ctx, 40, GGML_ROPE_TYPE_MROPE, some), IN_F32,
             "ROPE, sections");
    kt_check(ctx, rope_in_sections(ctx, 28, GGML_ROPE_TYPE_MROPE, four), IN_F32,
             "ROPE, four sections");
    kt_check(ctx, rope_in_sections(ctx, 36, GGML_ROPE_TYPE_IMROPE, some),
             IN_F32, "ROPE, positions that take turns");
    kt_check(ctx, rope_in_sections(ctx, 20, GGML_ROPE_TYPE_VISION, halves),
             IN_F32, "ROPE, vision");
    kt_check(ctx, ggml_rope_set_offset(ggml_rope(ctx, x, pos, 20, 0), 12),
             IN_F32, "ROPE from an offset on");
    kt_check(ctx,
             ggml_rope_set_offset(
                 ggml_rope(ctx, x, pos, 20, GGML_ROPE_TYPE_NEOX), 20),
             IN_F32, "ROPE of the other half");
    kt_end(ctx);
}

static struct ggml_tensor *
with_hidden(struct ggml_tensor *mask)
{
    for (int64_t i = 0; i < ggml_nelements(mask); i++)
        if (i % 3 == 0 || i / mask->ne[0] == 2) {
            if (mask->type == F16)
                ((ggml_fp16_t *)mask->data)[i] = ggml_fp32_to_fp16(-INFINITY);
            else
                ((float *)mask->data)[i] = -INFINITY;
        }
    return mask;
}

static void
test_soft_max(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 77, 4, 6, 2), *y;
    struct ggml_tensor *m = with_hidden(kt_tensor(ctx, F16, 77, 4, 1, 1));
    struct ggml_tensor *m32 = with_hidden(kt_tensor(ctx, F32, 77, 5, 3, 2));

    kt_check(ctx, ggml_soft_max(ctx, x), IN_F32, "SOFT_MAX");
    kt_check(ctx, ggml_soft_max_ext(ctx, x, m, 3, 0), IN_F32,
             "SOFT_MAX with a mask, a row of it hidden");
    y = ggml_soft_max_ext(ctx, x, m32, 0.7f, 8);
    ggml_soft_max_add_sinks(y, kt_tensor(ctx, F32, 6, 1, 1, 1));
    kt_check(ctx, y, IN_F32, "SOFT_MAX with ALiBi and sinks");
    kt_check(ctx, ggml_soft_max(ctx, kt_tensor(ctx, F32, 5000, 1, 1, 1)),
             IN_F32, "SOFT_MAX of a long row");
    kt_check(ctx, ggml_diag_mask_inf(ctx, x, 70), 0, "DIAG_MASK_INF");
    kt_end(ctx);
}

static void
test_copy(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 12, 5, 3, 2);
    struct ggml_tensor *h = kt_tensor(ctx, F16, 12, 5, 3, 2);
    struct ggml_tensor *q = kt_tensor(ctx, GGML_TYPE_Q4_K, 256, 3, 1, 1);
    struct ggml_tensor *t = ggml_transpose(ctx, x);

    kt_check(ctx, ggml_cont(ctx, t), 0, "CONT of a transposed");
    kt_check(ctx, ggml_cont_2d(ctx, ggml_permute(ctx, h, 2, 0, 1, 3), 36, 10),
             0, "CONT to another shape");
    kt_check(ctx, ggml_dup(ctx, x), 0, "DUP");
    kt_check(ctx, ggml_dup(ctx, kt_tensor(ctx, F32, 4099, 3, 1, 1)), 0,
             "DUP of many");
    kt_check(ctx, ggml_dup(ctx, q), 0, "DUP of blocks");
    kt_check(ctx, ggml_cpy(ctx, t, kt_tensor(ctx, F16, 360, 1, 1, 1)), 0,
             "CPY to another shape and type");
    kt_check(ctx,
             ggml_cpy(ctx, h,
                      ggml_permute(ctx, kt_tensor(ctx, BF16, 3, 12, 5, 2), 2, 0,
                                   1, 3)),
             IN_BF16, "CPY to a permuted place");
    kt_check(ctx,
             ggml_cpy(ctx, kt_tensor(ctx, F32, 96, 3, 1, 1),
                      kt_tensor(ctx, GGML_TYPE_Q8_0, 96, 3, 1, 1)),
             0, "CPY to Q8_0");
    kt_check(ctx,
             ggml_cpy(ctx, kt_tensor(ctx, F32, 96, 3, 1, 1),
                      kt_tensor(ctx, GGML_TYPE_Q5_0, 96, 3, 1, 1)),
             0, "CPY to Q5_0");
    kt_check(ctx,
             ggml_cpy(ctx, kt_tensor(ctx, F32, 96, 3, 1, 1),
                      kt_tensor(ctx, GGML_TYPE_Q4_0, 96, 3, 1, 1)),
             0, "CPY to Q4_0");
    kt_check(ctx, ggml_repeat(ctx, x, kt_tensor(ctx, F32, 24, 5, 9, 2)), 0,
             "REPEAT");
    for (int dim = 0; dim < 4; dim++)
        kt_check(ctx,
                 ggml_concat(ctx, x, kt_tensor(ctx, F32, 12, 5, 3, 2), dim), 0,
                 "CONCAT %d", dim);
    kt_end(ctx);
}

/* Contiguous tensors, and those of a size that is no multiple of 16. */
static void
test_contiguous(void)
{
    static const int rows[][2] = { { 2, 3 }, { 4, 1 }, { 7, 5 } };

    for (int i = 0; i < 3; i++) {
        struct ggml_context *ctx = kt_begin();
        struct ggml_tensor *a = kt_tensor(ctx, F32, 6, 2, rows[i][0], 1);
        struct ggml_tensor *b = kt_tensor(ctx, F32, 6, 2, rows[i][1], 1);
        struct ggml_tensor *unaligned =
            kt_tensor(ctx, F32, 3, rows[i][0], 1, 1);

        kt_check(ctx, ggml_concat(ctx, a, b, 2), 0,
                 "CONCAT of %d and %d matrices", rows[i][0], rows[i][1]);
        kt_check(ctx, ggml_concat(ctx, unaligned, unaligned, 1), 0,
                 "CONCAT of %d unaligned rows", rows[i][0]);
        kt_end(ctx);
    }
}

static void
test_set_rows(enum ggml_type type, enum ggml_type index)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *to = kt_tensor(ctx, type, 64, 9, 2, 1);
    struct ggml_tensor *x = kt_tensor(ctx, F32, 64, 3, 2, 1);
    struct ggml_tensor *ids = kt_numbers(ctx, index, 9, 3, 1, 1);

    for (int i = 0; i < 3; i++) /* all different */
        if (index == GGML_TYPE_I64)
            ((int64_t *)ids->data)[i] = 7 - 3 * i;
        else
            ((int32_t *)ids->data)[i] = 2 + 3 * i;
    kt_check(ctx, ggml_set_rows(ctx, to, x, ids), 0, "rows set in %s",
             ggml_type_name(type));
    kt_end(ctx);
}

static void
test_get_integers(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_numbers(ctx, I32, 1 << 24, 3, 9, 1);

    kt_check(ctx, ggml_get_rows(ctx, x, kt_numbers(ctx, I32, 9, 20, 1, 1)), 0,
             "rows of integers");
    kt_end(ctx);
}

static void
test_sort(void)
{
    static const int widths[] = { 1, 2, 60, 64, 130, 3000 };

    for (int i = 0; i < 6; i++) {
        struct ggml_context *ctx = kt_begin();
        struct ggml_tensor *x = kt_tensor(ctx, F32, widths[i], 3, 1, 1);
        float *v = x->data;

        for (int j = 0; j < widths[i]; j += 7) /* equals, zeros, NaN */
            v[j] = j % 2 ? 0.25f : j % 3 ? -0.0f : 0;
        if (widths[i] > 100)
            v[93] = NAN, v[17] = NAN, v[50] = INFINITY, v[51] = -INFINITY;
        kt_check(ctx, ggml_argsort(ctx, x, GGML_SORT_ORDER_DESC), 0,
                 "ARGSORT of %d, falling", widths[i]);
        kt_check(ctx, ggml_argsort(ctx, x, GGML_SORT_ORDER_ASC), 0,
                 "ARGSORT of %d, rising", widths[i]);
        kt_check(ctx, ggml_top_k(ctx, x, (widths[i] + 1) / 2), 0, "TOP_K of %d",
                 widths[i]);
        kt_end(ctx);
    }
}

/* -- cuda_best() -- */
static const float *row;

static int
by_value(const void *a, const void *b)
{
    int i = *(const int *)a, j = *(const int *)b;

    if (isnan(row[i]) || isnan(row[j]))
        return isnan(row[i]) == isnan(row[j]) ? (i > j) - (i < j)
               : isnan(row[i])                ? -1
                                              : 1;
    if (row[i] != row[j])
        return row[i] < row[j] ? 1 : -1;
    return (i > j) - (i < j);
}

static double
log_sum_exp(const float *x, int n)
{
    double most = -INFINITY, sum = 0;

    for (int i = 0; i < n; i++)
        most = fmax(most, (double)x[i]);
    for (int i = 0; i < n; i++)
        sum += exp((double)x[i] - most);
    return most + log(sum);
}

static bool
is_best(const float *x, int n, int k, const int *order, const int32_t *ids,
        const float *values, double lse)
{
    for (int i = 0; i < k; i++)
        if (ids[i] != order[i] ||
            memcmp(&values[i], &x[order[i]], sizeof(float)) != 0)
            return false;
    return fabs(lse - log_sum_exp(x, n)) < 1e-12;
}

static void
test_best(int n, int k, int n_rows)
{
    int stride = n + 3;
    float *x = malloc((size_t)(n_rows * stride) * sizeof(*x));
    int *order = malloc((size_t)n * sizeof(*order));
    int32_t *ids = malloc((size_t)(n_rows * k) * sizeof(*ids));
    float *values = malloc((size_t)(n_rows * k) * sizeof(*values));
    double *lse = malloc((size_t)n_rows * sizeof(*lse));
    bool good = true;
    char text[100];

    for (int i = 0; i < n_rows * stride; i++)
        x[i] = rintf(300 * kt_draw()) / 16; /* with equals */
    x[n / 2] = -INFINITY;
    kt_best(x, n, stride, n_rows, k, ids, values, lse);
    for (int r = 0; r < n_rows; r++) {
        row = x + r * stride;
        for (int i = 0; i < n; i++)
            order[i] = i;
        qsort(order, (size_t)n, sizeof(*order), by_value);
        good = good &&
               is_best(row, n, k, order, ids + r * k, values + r * k, lse[r]);
    }
    snprintf(text, sizeof(text), "the best %d of %d, %d rows", k, n, n_rows);
    kt_ok(good, text);
    free(x);
    free(order);
    free(ids);
    free(values);
    free(lse);
}

/* Rows of a head's state of one, two, four and eight floats a lane. */
static void
test_delta_net(void)
{
    static const int64_t lengths[] = { 16, 37, 128, 200 };

    for (int i = 0; i < 4; i++) {
        struct ggml_context *ctx = kt_begin();
        int64_t n = lengths[i], heads = 4, tokens = 5, seqs = 2;
        struct ggml_tensor *q = kt_tensor(ctx, F32, n, 2, tokens, seqs);
        struct ggml_tensor *k = kt_tensor(ctx, F32, n, 2, tokens, seqs);
        struct ggml_tensor *v = kt_tensor(ctx, F32, n, heads, tokens, seqs);
        struct ggml_tensor *g =
            kt_tensor(ctx, F32, i % 2 ? n : 1, heads, tokens, seqs);
        struct ggml_tensor *beta = kt_tensor(ctx, F32, 1, heads, tokens, seqs);
        struct ggml_tensor *state = kt_tensor(ctx, F32, n, n, heads, seqs);

        kt_check(ctx, ggml_gated_delta_net(ctx, q, k, v, g, beta, state, 1 + i),
                 RECURRENCE, "GATED_DELTA_NET of %d", (int)n);
        kt_end(ctx);
    }
}

static void
test_scan(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *ids = kt_numbers(ctx, GGML_TYPE_I32, 3, 2, 1, 1);

    kt_check(ctx,
             ggml_ssm_scan(ctx, kt_tensor(ctx, F32, 128, 19, 4, 3),
                           kt_tensor(ctx, F32, 19, 4, 5, 2),
                           kt_tensor(ctx, F32, 4, 5, 2, 1),
                           kt_tensor(ctx, F32, 1, 4, 1, 1),
                           kt_tensor(ctx, F32, 128, 2, 5, 2),
                           kt_tensor(ctx, F32, 128, 2, 5, 2), ids, 3),
             RECURRENCE, "SSM_SCAN");
    kt_check(ctx,
             ggml_ssm_scan(ctx, kt_tensor(ctx, F32, 16, 1, 21, 3),
                           kt_tensor(ctx, F32, 1, 21, 5, 2),
                           kt_tensor(ctx, F32, 21, 5, 2, 1),
                           kt_tensor(ctx, F32, 16, 21, 1, 1),
                           kt_tensor(ctx, F32, 16, 1, 5, 2),
                           kt_tensor(ctx, F32, 16, 1, 5, 2), ids, 1),
             RECURRENCE, "SSM_SCAN, a decay an element");
    kt_end(ctx);
}

static void
test_matrix_states(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x[6], *tf = kt_tensor(ctx, F32, 64, 3, 1, 1);
    struct ggml_tensor *state = kt_tensor(ctx, F32, 64 * 64 * 3, 2, 1, 1);

    for (int i = 0; i < 6; i++)
        x[i] = kt_tensor(ctx, F32, 64, 3, 10, 1);
    kt_check(ctx, ggml_rwkv_wkv6(ctx, x[0], x[1], x[2], tf, x[3], state),
             RECURRENCE, "RWKV_WKV6");
    kt_check(ctx,
             ggml_rwkv_wkv7(ctx, x[0], x[1], x[2], x[3], x[4], x[5], state),
             RECURRENCE, "RWKV_WKV7");
    kt_check(ctx,
             ggml_gated_linear_attn(ctx, x[0], x[1], x[2], x[3], state, 0.5f),
             RECURRENCE, "GATED_LINEAR_ATTN");
    kt_end(ctx);
}

static void
test_conv_and_equations(void)
{
    struct ggml_context *ctx = kt_begin();

    kt_check(ctx,
             ggml_ssm_conv(ctx, kt_tensor(ctx, F32, 3 + 9, 300, 2, 1),
                           kt_tensor(ctx, F32, 4, 300, 1, 1)),
             IN_F32, "SSM_CONV");
    kt_check(ctx,
             ggml_solve_tri(ctx, kt_tensor(ctx, F32, 5, 5, 3, 2),
                            kt_tensor(ctx, F32, 70, 5, 3, 2), true, true,
                            false),
             IN_F32, "SOLVE_TRI");
    kt_end(ctx);
}

int
main(void)
{
    kt_start();
    test_binary(ggml_add, "ADD");
    test_binary(ggml_sub, "SUB");
    test_binary(ggml_mul, "MUL");
    test_binary(ggml_div, "DIV");
    test_add_id();
    test_unary();
    test_glu();
    test_norm();
    test_norms(true, 100);
    test_norms(false, 2500);
    test_rope();
    test_rope_sections();
    test_soft_max();
    test_delta_net();
    test_scan();
    test_matrix_states();
    test_conv_and_equations();
    test_copy();
    test_contiguous();
    test_set_rows(F32, I32);
    test_set_rows(F16, GGML_TYPE_I64);
    test_set_rows(BF16, I32);
    test_set_rows(GGML_TYPE_Q8_0, GGML_TYPE_I64);
    test_set_rows(GGML_TYPE_Q5_0, I32);
    test_set_rows(GGML_TYPE_Q4_0, GGML_TYPE_I64);
    test_get_integers();
    test_sort();
    test_best(2, 1, 1);
    test_best(100, 100, 2);
    test_best(5000, 1, 3);
    test_best(20000, 40, 1);
    test_best(40000, 1024, 1);
    return kt_done();
}
