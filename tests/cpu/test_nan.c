/* test_nan.c - NaN in, NaN out: ops hand on what is no number, wherever it is
 * in a row, and give it to no other row */
#include <stdio.h>

#include "cpu_test.h"

enum {
    ROWS = 3,
    BAD = 1, /* the row that has the NaN */
};

static const int lengths[] = { 1, 2, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65, 130 };

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

/* Places in a row of n: the first, the last, one of the tail after whole
 * vectors, one in the middle. */
static int
place(int i, int n)
{
    const int at[] = { 0, n - 1, n / 8 * 8, n / 2 };

    return at[i] < n ? at[i] : 0;
}

static bool
all_nan(const float *row, int64_t n)
{
    bool all = true;

    for (int64_t i = 0; i < n; i++)
        all = all && isnan(row[i]);
    return all;
}

static bool
none_nan(const float *row, int64_t n)
{
    bool none = true;

    for (int64_t i = 0; i < n; i++)
        none = none && isfinite(row[i]);
    return none;
}

/* Row BAD of the result is NaN, at `only` or, if that is -1, throughout; the
 * others are numbers. */
static bool
row_is_bad(const struct ggml_tensor *y, int only)
{
    const float *v = y->data;
    int64_t n = y->ne[0];
    bool good = true;

    for (int64_t r = 0; r < ggml_nrows(y); r++, v += n)
        if (r != BAD)
            good = good && none_nan(v, n);
        else if (only < 0)
            good = good && all_nan(v, n);
        else
            good = good && none_nan(v, only) && isnan(v[only]) &&
                   none_nan(v + only + 1, n - only - 1);
    return good;
}

typedef struct ggml_tensor *(*build_fn)(struct ggml_context *ctx,
                                        struct ggml_tensor *x);

/* Rows of n, with NaN at place `at` of row BAD. */
static struct ggml_tensor *
poisoned(struct ggml_context *ctx, int n, int at)
{
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, n, ROWS, 1, 1);

    ggml_set_f32_1d(x, BAD * n + at, NAN);
    return x;
}

static void
test_rows(build_fn build, bool whole, const char *name)
{
    bool good = true;

    for (int i = 0; i < 4 * COUNT(lengths); i++) {
        int n = lengths[i / 4], at = place(i % 4, n);
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *y = build(ctx, poisoned(ctx, n, at));

        test_run(ctx, y, 1 + i % 2);
        good = good && row_is_bad(y, whole ? -1 : at);
        ggml_free(ctx);
    }
    ok(good, name);
}

#define BUILD(name, expression)                                                \
    static struct ggml_tensor *name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *x)                     \
    {                                                                          \
        return expression;                                                     \
    }

static struct ggml_tensor *
other(struct ggml_context *ctx, const struct ggml_tensor *x)
{
    return test_tensor(ctx, GGML_TYPE_F32, x->ne[0], ROWS, 1, 1);
}

/* All keys are visible. */
static struct ggml_tensor *
row_mask(struct ggml_context *ctx, const struct ggml_tensor *x)
{
    struct ggml_tensor *m =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, x->ne[0], ROWS);

    ggml_set_f32(m, -0.5f);
    return m;
}

BUILD(of_soft_max, ggml_soft_max(ctx, x))
BUILD(of_masked, ggml_soft_max_ext(ctx, x, row_mask(ctx, x), 0.5f, 0))
BUILD(of_soft_max_back, ggml_soft_max_ext_back(ctx, x, other(ctx, x), 1, 0))
BUILD(of_soft_max_back_y, ggml_soft_max_ext_back(ctx, other(ctx, x), x, 1, 0))
BUILD(of_norm, ggml_norm(ctx, x, 1e-5f))
BUILD(of_rms_norm, ggml_rms_norm(ctx, x, 1e-5f))
BUILD(of_l2_norm, ggml_l2_norm(ctx, x, 1e-5f))
BUILD(of_group_norm,
      ggml_reshape_2d(
          ctx,
          ggml_group_norm(ctx, ggml_reshape_4d(ctx, x, x->ne[0], 1, ROWS, 1),
                          ROWS, 1e-5f),
          x->ne[0], ROWS))
BUILD(of_sum, ggml_sum_rows(ctx, x))
BUILD(of_silu, ggml_silu(ctx, x))
BUILD(of_gelu, ggml_gelu(ctx, x))
BUILD(of_gelu_erf, ggml_gelu_erf(ctx, x))
BUILD(of_gelu_quick, ggml_gelu_quick(ctx, x))
BUILD(of_sigmoid, ggml_sigmoid(ctx, x))
BUILD(of_tanh, ggml_tanh(ctx, x))
BUILD(of_exp, ggml_exp(ctx, x))
BUILD(of_softplus, ggml_softplus(ctx, x))
BUILD(of_swiglu, ggml_swiglu_split(ctx, x, other(ctx, x)))
BUILD(of_swiglu_up, ggml_swiglu_split(ctx, other(ctx, x), x))
BUILD(of_geglu, ggml_geglu_split(ctx, x, other(ctx, x)))
BUILD(of_geglu_erf, ggml_geglu_erf_split(ctx, x, other(ctx, x)))
BUILD(of_oai, ggml_swiglu_oai(ctx, x, other(ctx, x), 1.7f, 7))
BUILD(of_oai_up, ggml_swiglu_oai(ctx, other(ctx, x), x, 1.7f, 7))
BUILD(of_clamped, ggml_swiglu_clamp(ctx, x, other(ctx, x), 0.5f))
BUILD(of_clamped_up, ggml_swiglu_clamp(ctx, other(ctx, x), x, 0.5f))

static void
test_row_ops(void)
{
    test_rows(of_soft_max, true, "SOFT_MAX");
    test_rows(of_masked, true, "SOFT_MAX with a mask");
    test_rows(of_soft_max_back, true, "SOFT_MAX_BACK, of the gradient");
    test_rows(of_soft_max_back_y, true, "SOFT_MAX_BACK, of the result");
    test_rows(of_norm, true, "NORM");
    test_rows(of_rms_norm, true, "RMS_NORM");
    test_rows(of_l2_norm, true, "L2_NORM");
    test_rows(of_group_norm, true, "GROUP_NORM");
    test_rows(of_sum, true, "SUM_ROWS");
    test_rows(of_silu, false, "SILU");
    test_rows(of_gelu, false, "GELU");
    test_rows(of_gelu_erf, false, "GELU_ERF");
    test_rows(of_gelu_quick, false, "GELU_QUICK");
    test_rows(of_sigmoid, false, "SIGMOID");
    test_rows(of_tanh, false, "TANH");
    test_rows(of_exp, false, "EXP");
    test_rows(of_softplus, false, "SOFTPLUS");
    test_rows(of_swiglu, false, "SWIGLU");
    test_rows(of_swiglu_up, false, "SWIGLU, of what is multiplied");
    test_rows(of_geglu, false, "GEGLU");
    test_rows(of_geglu_erf, false, "GEGLU_ERF");
    test_rows(of_oai, false, "SWIGLU_OAI");
    test_rows(of_oai_up, false, "SWIGLU_OAI, of what is multiplied");
    test_rows(of_clamped, false, "SWIGLU_CLAMP");
    test_rows(of_clamped_up, false, "SWIGLU_CLAMP, of what is multiplied");
}

/* A row of NaN alone, and one whose visible scores are -infinity: they are not
 * as if all were masked. */
static void
test_soft_max_rows(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 37, ROWS, 1, 1);
    struct ggml_tensor *m = row_mask(ctx, x), *y, *z;

    for (int i = 0; i < 37; i++) {
        ggml_set_f32_nd(x, i, 0, 0, 0, NAN);
        ggml_set_f32_nd(x, i, 1, 0, 0, -INFINITY);
        ggml_set_f32_nd(m, i, 2, 0, 0, -INFINITY);
    }
    y = ggml_soft_max_ext(ctx, x, m, 1, 0);
    test_run(ctx, y, 2);
    ok(all_nan(y->data, 74), "SOFT_MAX of NaN, and of -infinity");
    for (int i = 74; i < 111; i++)
        if (ggml_get_f32_1d(y, i) != 0)
            ok(false, "a masked row is not zero");
    z = ggml_soft_max(ctx, x);
    test_run(ctx, z, 2);
    ok(all_nan(z->data, 37), "SOFT_MAX of NaN, without a mask");
    ggml_free(ctx);
}

static void
test_loss(void)
{
    bool good = true, back = true;

    for (int i = 0; i < 4 * COUNT(lengths); i++) {
        int n = lengths[i / 4];
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *x = poisoned(ctx, n, place(i % 4, n));
        struct ggml_tensor *labels = other(ctx, x), *y;

        ggml_set_f32(labels, 1 / (float)n);
        y = ggml_cross_entropy_loss(ctx, x, labels);
        test_run(ctx, y, 2);
        good = good && isnan(ggml_get_f32_1d(y, 0));
        y = ggml_cross_entropy_loss_back(ctx, ggml_new_f32(ctx, 1), x, labels);
        test_run(ctx, y, 2);
        back = back && row_is_bad(y, -1);
        ggml_free(ctx);
    }
    ok(good, "CROSS_ENTROPY_LOSS");
    ok(back, "CROSS_ENTROPY_LOSS_BACK");
}

/* The choice of the greatest values has the NaN. */
static void
test_order(void)
{
    bool top = true, sorted = true;

    for (int i = 0; i < 4 * COUNT(lengths); i++) {
        int n = lengths[i / 4], at = place(i % 4, n);
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *x = poisoned(ctx, n, at);
        struct ggml_tensor *k = ggml_top_k(ctx, x, n < 2 ? 1 : 2);
        struct ggml_tensor *s = ggml_argsort(ctx, x, GGML_SORT_ORDER_ASC);

        test_run(ctx, k, 2);
        test_run(ctx, s, 2);
        top = top && ggml_get_i32_nd(k, 0, BAD, 0, 0) == at;
        sorted = sorted && ggml_get_i32_nd(s, n - 1, BAD, 0, 0) == at;
        ggml_free(ctx);
    }
    ok(top, "TOP_K begins with NaN");
    ok(sorted, "ARGSORT, ascending, ends with NaN");
}

/* ---- products ------------------------------------------------------------ */

/* One column of several is bad: by a NaN, or an infinite value, which eight
 * bits do not have. */
static bool
product_is_bad(enum ggml_type type, int k, int at, int columns, float bad)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, type, k, 51, 1, 1);
    struct ggml_tensor *x = test_activations(ctx, type, k, columns, 1, 1);
    int column = columns > 1 ? BAD : 0;
    struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
    const float *v;
    bool good = true;

    ggml_set_f32_nd(x, at, column, 0, 0, bad);
    test_run(ctx, y, 2);
    v = y->data;
    for (int c = 0; c < columns; c++, v += 51)
        for (int i = 0; i < 51; i++)
            good = good && (c == column) == !isfinite(v[i]) &&
                   (c != column || !isnan(bad) || isnan(v[i]));
    ggml_free(ctx);
    return good;
}

static void
test_products(void)
{
    static const int columns[] = { 1, 2, 3, 8, 33 };
    char name[80];

    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const struct ggml_type_traits *traits =
            ggml_get_type_traits((enum ggml_type)t);
        bool good = true;

        if (!traits->from_float_ref || t == GGML_TYPE_Q8_1 ||
            t == GGML_TYPE_Q8_K ||
            ggml_quantize_requires_imatrix((enum ggml_type)t))
            continue;
        for (int i = 0; i < 4 * COUNT(columns); i++) {
            int k = i % 2 ? 512 : 768;

            for (int j = 0; j < 2; j++)
                good = good &&
                       product_is_bad((enum ggml_type)t, k, place(i % 4, k),
                                      columns[i / 4], j ? INFINITY : NAN);
        }
        snprintf(name, sizeof(name), "MUL_MAT, %s", traits->type_name);
        ok(good, name);
    }
}

/* ---- attention ----------------------------------------------------------- */

/* A case of attention: which values of queries, keys or values are bad. */
struct flash {
    int tokens, keys;
    enum ggml_type type;
    float bias, cap;
    bool sinks, mask;
    char what; /* q, k, v, or K: all keys; -: scores are all -infinity */
    int at;
};

enum {
    D = 64,
    HEADS = 4,
    BAD_KEY = 5,
};

static struct ggml_tensor *
flash_mask(struct ggml_context *ctx, const struct flash *f)
{
    struct ggml_tensor *m =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, f->keys, f->tokens);

    EACH_INDEX(m)
    ggml_set_f32_nd(m, (int)i0, (int)i1, 0, 0,
                    i0 > f->keys - f->tokens + i1 ? -INFINITY : 0);
    return m;
}

/* Rows of D random values; those of `keys` from `first` on have `bad` at one
 * place. */
static struct ggml_tensor *
flash_rows(struct ggml_context *ctx, const struct flash *f, int first, int end,
           float bad)
{
    struct ggml_tensor *t = ggml_new_tensor_3d(ctx, f->type, D, f->keys, 2);
    float *x = malloc(sizeof(*x) * (size_t)ggml_nelements(t));

    for (int64_t i = 0; i < ggml_nelements(t); i++) {
        int key = (int)(i / D) % f->keys;

        x[i] = test_draw();
        if (i % D == f->at && key >= first && key < end)
            x[i] = bad;
    }
    ggml_quantize_chunk(f->type, x, t->data, 0, ggml_nrows(t), D, NULL);
    free(x);
    return t;
}

/* Whether token i hears of what is bad, all elements or that at the place. */
static bool
hears(const struct flash *f, int token)
{
    if (f->what == 'q')
        return token == f->tokens - 1;
    return f->keys - f->tokens + token >= BAD_KEY || f->what == 'K' ||
           f->what == '-';
}

static bool
check_flash(const struct flash *f, const struct ggml_tensor *y)
{
    const float *v = y->data;
    bool good = true;

    for (int i = 0; i < f->tokens * HEADS; i++, v += D)
        if (!hears(f, i / HEADS))
            good = good && none_nan(v, D);
        else if (f->what == 'v' && !ggml_is_quantized(f->type))
            good = good && isnan(v[f->at]) && none_nan(v, f->at);
        else if (f->what == 'v')
            good = good && isnan(v[f->at]);
        else
            good = good && all_nan(v, D);
    return good;
}

static bool
flash_is_bad(const struct flash *f)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, D, f->tokens, HEADS, 1);
    bool all = f->what == 'K' || f->what == '-';
    int first = all ? 0 : BAD_KEY, end = all ? f->keys : BAD_KEY + 1;
    bool of_keys = f->what == 'k' || all;
    struct ggml_tensor *k, *v, *y;
    bool good;

    k = flash_rows(ctx, f, of_keys ? first : 0, of_keys ? end : 0,
                   f->what == '-' ? INFINITY : NAN);
    v = flash_rows(ctx, f, f->what == 'v' ? first : 0, f->what == 'v' ? end : 0,
                   NAN);
    for (int h = 0; h < HEADS; h++) {
        if (f->what == 'q')
            ggml_set_f32_nd(q, f->at, f->tokens - 1, h, 0, NAN);
        for (int i = 0; i < f->tokens && f->what == '-'; i++)
            ggml_set_f32_nd(q, f->at, i, h, 0, -1);
    }
    y = ggml_flash_attn_ext(ctx, q, k, v, f->mask ? flash_mask(ctx, f) : NULL,
                            0.125f, f->bias, f->cap);
    if (f->sinks)
        ggml_flash_attn_ext_add_sinks(
            y, test_tensor(ctx, GGML_TYPE_F32, HEADS, 1, 1, 1));
    test_run(ctx, y, 1 + f->at % 3);
    good = check_flash(f, y);
    ggml_free(ctx);
    return good;
}

/* Heads and tokens that share keys, blocks of keys, few queries and many. */
static void
test_flash(enum ggml_type type, char what, const char *name)
{
    static const int tokens[] = { 1, 2, 3, 5, 17, 40 };
    bool good = true;

    for (int i = 0; i < 32 * COUNT(tokens); i++) {
        struct flash f = { .tokens = tokens[i / 32],
                           .keys = i % 2 ? 70 : 200,
                           .type = type,
                           .bias = i / 2 % 2 ? 8 : 0,
                           .cap = i / 4 % 2 && what != '-' ? 30 : 0,
                           .sinks = i / 8 % 2 && what != '-',
                           .mask = i / 2 % 2 || tokens[i / 32] > 1,
                           .what = what,
                           .at = place(i / 8 % 4, D) };

        if (i / 16 % 2)
            f.keys = f.tokens + 1 > BAD_KEY ? f.tokens + 1 : BAD_KEY + 1;
        good = good && flash_is_bad(&f);
    }
    ok(good, name);
}

static void
test_attention(void)
{
    static const struct {
        char what;
        const char *name;
    } all[] = { { 'q', "a query" },
                { 'k', "a key" },
                { 'K', "all keys" },
                { 'v', "a value" },
                { '-', "keys that overflowed: scores of -infinity" } };
    static const enum ggml_type types[] = { GGML_TYPE_F32,  GGML_TYPE_F16,
                                            GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                            GGML_TYPE_Q5_0, GGML_TYPE_Q4_0 };
    char name[120];

    for (int t = 0; t < COUNT(types); t++)
        for (int i = 0; i < COUNT(all); i++) {
            snprintf(name, sizeof(name), "attention with %s, %s",
                     ggml_type_name(types[t]), all[i].name);
            if (!ggml_is_quantized(types[t]) || all[i].what != '-')
                test_flash(types[t], all[i].what, name);
        }
}

int
main(void)
{
    for (int i = 0; i < 2; i++) {
        test_use_ref = i;
        test_row_ops();
        test_soft_max_rows();
        test_loss();
        test_order();
        test_products();
        test_attention();
    }
    return tap_done();
}
