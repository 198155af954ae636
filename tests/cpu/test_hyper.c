/* test_hyper.c - DeepSeek's indexer and hyper-connections, in double
 * precision */
#include "cpu_test.h"

/* ---- the indexer -------------------------------------------------------- */

/* Key i0, token i1, sequence i3. */
static double
t_indexer(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    const struct ggml_tensor *q = t->src[0], *k = t->src[1], *w = t->src[2];
    const struct ggml_tensor *m = t->src[3];
    double sum = m ? test_at(m, i0, i1, 0, i3 % m->ne[3]) : 0;

    (void)i2;
    for (int64_t head = 0; head < q->ne[1]; head++) {
        double product = 0;

        for (int64_t i = 0; i < q->ne[0]; i++)
            product += test_at(q, i, head, i1, i3) * test_at(k, i, 0, i0, i3);
        sum += test_at(w, head, i1, 0, i3) * fmax(product, 0);
    }
    return sum;
}

static void
test_indexer(enum ggml_type type, int64_t d, int64_t heads, int64_t n_keys,
             int64_t tokens, const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q =
        test_tensor(ctx, GGML_TYPE_F32, d, heads, tokens, 4);
    struct ggml_tensor *k = test_tensor(ctx, type, d, 1, n_keys, 4);
    struct ggml_tensor *w =
        test_tensor(ctx, GGML_TYPE_F32, heads, tokens, 1, 4);
    struct ggml_tensor *m =
        test_tensor(ctx, GGML_TYPE_F16, n_keys, tokens, 1, 2);

    for (int64_t i = 0; i < ggml_nelements(m); i += 3)
        ggml_set_f32_1d(m, (int)i, -INFINITY);
    test_op(ctx, ggml_lightning_indexer(ctx, q, k, w, m), t_indexer, 2e-5,
            name);
    test_op(ctx, ggml_lightning_indexer(ctx, q, k, w, NULL), t_indexer, 2e-5,
            "without a mask");
    ggml_free(ctx);
}

/* Heads, keys and tokens in memory of other orders. */
static void
test_permuted(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *q = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, 40, 6, 5, 2), 0, 2, 1, 3);
    struct ggml_tensor *k = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F16, 40, 19, 1, 2), 0, 2, 1, 3);
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_F32, 5, 6, 1, 2);
    struct ggml_tensor *m = test_tensor(ctx, GGML_TYPE_F16, 19, 6, 1, 1);

    test_op(ctx, ggml_lightning_indexer(ctx, q, k, w, m), t_indexer, 2e-5,
            "indexer, permuted");
    ggml_free(ctx);
}

/* ---- hyper-connections -------------------------------------------------- */

enum {
    MOST = 5
};

/* The matrix that the op should have for a token, by definition. */
static void
make_comb(const struct ggml_tensor *t, int64_t token, double m[MOST][MOST])
{
    const struct ggml_tensor *x = t->src[0], *base = t->src[2];
    double scale = test_at(t->src[1], 2, 0, 0, 0), eps = 1e-3;
    int64_t n = t->ne[0];

    for (int64_t from = 0; from < n; from++) {
        double sum = 0;

        for (int64_t to = 0; to < n; to++) {
            int64_t at = 2 * n + from * n + to;

            m[from][to] = exp(test_at(x, at, token, 0, 0) * scale +
                              test_at(base, at, 0, 0, 0));
            sum += m[from][to];
        }
        for (int64_t to = 0; to < n; to++)
            m[from][to] = m[from][to] / sum + eps;
    }
    for (int pass = 0; pass < 2 * t->op_params[1] - 1; pass++)
        for (int64_t i = 0; i < n; i++) {
            double sum = eps;

            for (int64_t j = 0; j < n; j++)
                sum += pass % 2 ? m[i][j] : m[j][i];
            for (int64_t j = 0; j < n; j++)
                *(pass % 2 ? &m[i][j] : &m[j][i]) /= sum;
        }
}

static double
t_comb(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    double m[MOST][MOST];

    (void)i3;
    make_comb(t, i2, m);
    return m[i1][i0];
}

static void
test_comb(int64_t n, int n_iter, const char *name)
{
    struct ggml_context *ctx = test_context();
    int64_t all = n * (n + 2);
    struct ggml_tensor *mixes = test_tensor(ctx, GGML_TYPE_F32, all, 9, 1, 1);
    struct ggml_tensor *scale = test_tensor(ctx, GGML_TYPE_F32, 3, 1, 1, 1);
    struct ggml_tensor *base = test_tensor(ctx, GGML_TYPE_F32, all, 1, 1, 1);
    struct ggml_tensor *t;

    ggml_set_f32_1d(scale, 2, 3);
    t = ggml_dsv4_hc_comb(ctx, mixes, scale, base, 1e-3f, n_iter);
    test_op(ctx, t, t_comb, 2e-6, name);
    ggml_free(ctx);
}

static double
t_pre(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    const struct ggml_tensor *x = t->src[0], *w = t->src[1];
    double sum = 0;

    (void)i2, (void)i3;
    for (int64_t i = 0; i < x->ne[1]; i++)
        sum += test_at(x, i0, i, i1, 0) * test_at(w, i, i1, 0, 0);
    return sum;
}

static double
t_gated(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
        int64_t i3)
{
    const struct ggml_tensor *x = t->src[0], *gate = t->src[1];
    double sum = 0;

    (void)i2, (void)i3;
    for (int64_t i = 0; i < x->ne[1]; i++)
        sum +=
            test_at(x, i0, i, i1, 0) / (1 + exp(-test_at(gate, i0, i, i1, 0)));
    return 0.75 * sum;
}

static double
t_post(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *residual = t->src[1], *comb = t->src[3];
    double sum =
        test_at(t->src[0], i0, i2, 0, 0) * test_at(t->src[2], i1, i2, 0, 0);

    (void)i3;
    if (!comb)
        return sum + test_at(residual, i0, i1, i2, 0);
    for (int64_t i = 0; i < residual->ne[1]; i++)
        sum += test_at(residual, i0, i, i2, 0) * test_at(comb, i1, i, i2, 0);
    return sum;
}

static void
test_streams(int64_t n, int64_t h, int64_t tokens)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, n, tokens, 1, 1);
    struct ggml_tensor *r = test_tensor(ctx, GGML_TYPE_F32, n, h, tokens, 1);
    struct ggml_tensor *g = test_tensor(ctx, GGML_TYPE_F32, n, h, tokens, 1);
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_F32, h, tokens, 1, 1);
    struct ggml_tensor *comb = test_tensor(ctx, GGML_TYPE_F32, h, h, tokens, 1);
    struct ggml_tensor *tr = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, tokens, h, n, 1), 2, 1, 0, 3);

    test_op(ctx, ggml_dsv4_hc_pre(ctx, r, w), t_pre, 1e-6, "pre");
    test_op(ctx, ggml_dsv4_hc_pre(ctx, tr, w), t_pre, 1e-6, "pre, permuted");
    test_op(ctx, ggml_dsv4_hc_pre_gated(ctx, r, g, 0.75f), t_gated, 1e-6,
            "pre, gated");
    test_op(ctx, ggml_dsv4_hc_pre_gated(ctx, g, tr, 0.75f), t_gated, 1e-6,
            "pre, gates permuted");
    test_op(ctx, ggml_dsv4_hc_post(ctx, x, r, w, comb), t_post, 1e-6, "post");
    test_op(ctx, ggml_dsv4_hc_post(ctx, x, tr, w, ggml_transpose(ctx, comb)),
            t_post, 1e-6, "post, permuted");
    test_op(ctx, ggml_dsv4_hc_post(ctx, x, r, w, NULL), t_post, 1e-6,
            "post, each stream its own");
    ggml_free(ctx);
}

int
main(void)
{
    test_indexer(GGML_TYPE_F32, 128, 8, 33, 5, "indexer");
    test_indexer(GGML_TYPE_F16, 64, 3, 70, 7, "indexer, keys of F16");
    test_indexer(GGML_TYPE_BF16, 33, 1, 5, 1, "indexer, odd sizes");
    test_indexer(GGML_TYPE_Q8_0, 96, 5, 40, 3, "indexer, keys of Q8_0");
    test_indexer(GGML_TYPE_Q4_0, 32, 2, 17, 2, "indexer, keys of Q4_0");
    test_permuted();
    test_comb(4, 1, "comb, once");
    test_comb(4, 20, "comb, many times");
    test_comb(5, 3, "comb of five");
    test_comb(1, 2, "comb of one");
    test_streams(600, 4, 5);
    test_streams(31, 3, 2);
    return tap_done();
}
