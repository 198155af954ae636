/* test_mixture.c - what mixtures of experts compute: products by id, biases by
 * id, the order of scores; against plain computations in double precision */
#include "cpu_test.h"

/* -- MUL_MAT_ID -- */

/* An activation as products with block weights see it: test_mul_mat.c. */
static double
activation(const struct ggml_tensor *x, bool blocks, int64_t i0, int64_t i1,
           int64_t i2)
{
    float v = (float)test_at(x, i0, i1, i2, 0), most = 0;

    if (!blocks)
        return (double)v;
    for (int64_t j = i0 / 32 * 32; j < i0 / 32 * 32 + 32; j++)
        most = fmaxf(most, fabsf((float)test_at(x, j, i1, i2, 0)));
    if (most == 0)
        return 0;
    return (double)rintf(v * (127 / most)) * (double)most / 127;
}

static bool in_blocks; /* activations are, for the type at hand */

static double
truth_product(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
              int64_t i3)
{
    static double column[1024];
    double row[1024];
    const struct ggml_tensor *w = t->src[0], *x = t->src[1];
    int id = ggml_get_i32_nd(t->src[2], (int)i1, (int)i2, 0, 0);
    double sum = 0;

    (void)i3;
    if (i0 == 0) /* elements are requested in order */
        for (int64_t j = 0; j < w->ne[0]; j++)
            column[j] = activation(x, in_blocks, j, i1 % x->ne[1], i2);
    test_row(w, i0, id, 0, row);
    for (int64_t j = 0; j < w->ne[0]; j++)
        sum += row[j] * column[j];
    return sum;
}

/* Ids as argsort_top_k() leaves them: a view, its rows far apart. */
static struct ggml_tensor *
random_ids(struct ggml_context *ctx, int used, int tokens, int n)
{
    struct ggml_tensor *all = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, n, tokens);

    for (int t = 0; t < tokens; t++) {
        int first = (int)(fabsf(test_draw()) * 0.999f * (float)n);

        for (int j = 0; j < n; j++) /* 7 is no divisor of any n below */
            ggml_set_i32_nd(all, j, t, 0, 0, (first + 7 * j) % n);
    }
    return ggml_view_2d(ctx, all, used, tokens, all->nb[1], 0);
}

static void
test_product(enum ggml_type type, bool blocks, const int *s)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, type, s[0], s[1], s[2], 1);
    struct ggml_tensor *x = test_activations(ctx, type, s[0], s[4], s[5], 1);
    struct ggml_tensor *ids = random_ids(ctx, s[3], s[5], s[2]);
    char name[120];

    snprintf(name, sizeof(name), "%s %d x %d, %d of %d, b has %d, %d tokens",
             ggml_type_name(type), s[0], s[1], s[3], s[2], s[4], s[5]);
    in_blocks = blocks;
    test_op(ctx, ggml_mul_mat_id(ctx, w, x, ids), truth_product, 6e-6, name);
    ggml_free(ctx);
}

static const struct {
    enum ggml_type type;
    bool blocks;
} types[] = {
    { GGML_TYPE_F32, false },  { GGML_TYPE_F16, false },
    { GGML_TYPE_BF16, false }, { GGML_TYPE_Q8_0, true },
    { GGML_TYPE_Q4_0, true },  { GGML_TYPE_Q4_K, true },
    { GGML_TYPE_Q6_K, true },  { GGML_TYPE_MXFP4, true },
    { GGML_TYPE_Q5_1, true },  { GGML_TYPE_IQ4_XS, true },
};

/* k, rows, matrices, used, rows of b, tokens */
static const int shapes[][6] = { { 256, 5, 4, 1, 1, 1 },
                                 { 256, 33, 8, 4, 1, 1 },
                                 { 256, 150, 5, 3, 3, 9 },
                                 { 512, 17, 16, 4, 2, 23 },
                                 { 256, 20, 2, 2, 1, 150 } };

static void
test_products(void)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (size_t j = 0; j < sizeof(shapes) / sizeof(shapes[0]); j++)
            test_product(types[i].type, types[i].blocks, shapes[j]);
}

/* A token alone, with one thread, has the bits that it has among others; and
 * a pair has the bits of a plain product with its matrix. */
static void
test_alone(enum ggml_type type)
{
    enum {
        K = 256,
        ROWS = 70,
        N = 6,
        USED = 3,
        TOKENS = 40
    };
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, type, K, ROWS, N, 1);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, TOKENS, 1);
    struct ggml_tensor *ids = random_ids(ctx, USED, TOKENS, N);
    struct ggml_tensor *all = ggml_mul_mat_id(ctx, w, x, ids);
    bool same = true, plain = true;
    char name[80];

    test_run(ctx, all, 3);
    for (int i = 0; i < TOKENS; i++) {
        const char *want = (const char *)all->data + (size_t)i * all->nb[2];
        struct ggml_tensor *one =
            ggml_mul_mat_id(ctx, w,
                            ggml_view_3d(ctx, x, K, 1, 1, x->nb[1], x->nb[2],
                                         (size_t)i * x->nb[2]),
                            ggml_view_2d(ctx, ids, USED, 1, ids->nb[1],
                                         (size_t)i * ids->nb[1]));

        test_run(ctx, one, 1 + i % 2);
        same = same && memcmp(one->data, want, all->nb[2]) == 0;
        for (int j = 0; j < USED; j++) {
            size_t at = (size_t)ggml_get_i32_nd(ids, j, i, 0, 0) * w->nb[2];
            struct ggml_tensor *product = ggml_mul_mat(
                ctx, ggml_view_2d(ctx, w, K, ROWS, w->nb[1], at),
                ggml_view_2d(ctx, x, K, 1, x->nb[1], (size_t)i * x->nb[2]));

            test_run(ctx, product, 1);
            plain =
                plain && memcmp(product->data, want + (size_t)j * all->nb[1],
                                all->nb[1]) == 0;
        }
    }
    snprintf(name, sizeof(name), "%s: a token's products are its own",
             ggml_type_name(type));
    ok(same, name);
    snprintf(name, sizeof(name), "%s: and those of MUL_MAT",
             ggml_type_name(type));
    ok(plain, name);
    ggml_free(ctx);
}

/* -- ADD_ID -- */

static double
truth_add(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    int id = ggml_get_i32_nd(t->src[2], (int)i1, (int)i2, 0, 0);

    return test_at(t->src[0], i0, i1, i2, i3) +
           test_at(t->src[1], i0, id, 0, 0);
}

static void
test_add(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 37, 4, 9, 1);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 37, 11, 1, 1);

    test_op(ctx, ggml_add_id(ctx, a, b, random_ids(ctx, 4, 9, 11)), truth_add,
            1e-7, "biases by id");
    ggml_free(ctx);
}

/* -- ARGSORT, TOP_K -- */

/* True if a comes before b in a row: NaN is the greatest, ties by index. */
static bool
precedes(const float *x, int a, int b, bool descending)
{
    if (isnan(x[a]) != isnan(x[b]))
        return descending ? isnan(x[a]) : isnan(x[b]);
    if (isnan(x[a]) || x[a] == x[b])
        return a < b;
    return descending ? x[a] > x[b] : x[a] < x[b];
}

/* The place of each index is how many precede it. */
static bool
in_order(const struct ggml_tensor *t, const struct ggml_tensor *x, bool down)
{
    bool right = true;

    for (int64_t r = 0; r < ggml_nrows(t); r++) {
        const float *row = (const float *)x->data + r * x->ne[0];
        const int32_t *got =
            (const int32_t *)(const void *)((const char *)t->data +
                                            (size_t)r * t->nb[1]);

        for (int i = 0; i < x->ne[0]; i++) {
            int place = 0;

            for (int j = 0; j < x->ne[0]; j++)
                place += precedes(row, j, i, down);
            right = right && (place >= t->ne[0] || got[place] == i);
        }
    }
    return right;
}

static struct ggml_tensor *
few_values(struct ggml_context *ctx, int n, int rows)
{
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, n, rows, 1, 1);
    float *v = x->data;

    for (int i = 0; i < n * rows; i++) {
        if (i % 2)
            v[i] = floorf(v[i] * 4); /* ties */
        if (i % 29 == 3)
            v[i] = NAN;
        if (i % 31 == 5)
            v[i] = i % 2 ? INFINITY : -INFINITY;
    }
    return x;
}

static void
test_sort(int n, int k)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = few_values(ctx, n, 7), *t;
    char name[80];

    for (int order = 0; order < 2; order++) {
        t = ggml_argsort(ctx, x, (enum ggml_sort_order)order);
        test_run(ctx, t, 2);
        snprintf(name, sizeof(name), "argsort of %d, order %d", n, order);
        ok(in_order(t, x, order == GGML_SORT_ORDER_DESC), name);
    }
    t = ggml_top_k(ctx, x, k);
    test_run(ctx, t, 2);
    snprintf(name, sizeof(name), "top %d of %d", k, n);
    ok(in_order(t, x, true), name);
    t = ggml_argsort_top_k(ctx, x, k);
    test_run(ctx, t, 2);
    snprintf(name, sizeof(name), "the first %d of %d sorted", k, n);
    ok(in_order(t, x, true), name);
    ggml_free(ctx);
}

int
main(void)
{
    test_products();
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        test_alone(types[i].type);
    test_add();
    test_sort(1, 1);
    test_sort(8, 2);
    test_sort(33, 33);
    test_sort(128, 8);
    test_sort(300, 70);
    test_sort(1000, 1);
    return tap_done();
}
