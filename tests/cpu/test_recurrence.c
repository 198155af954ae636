/* test_recurrence.c - recurrences over tokens, against the papers' formulas in
 * double precision; one call and several give the same bytes */
#include <stdarg.h>

#include "cpu_test.h"

enum {
    SEQS = 2,
    TOKENS = 5,
    MAX_STATES = 3,
};

static void
okf(bool good, const char *format, ...)
{
    char name[200];
    va_list ap;

    va_start(ap, format);
    vsnprintf(name, sizeof(name), format, ap);
    va_end(ap);
    ok(good, name);
}

/* Expected results: outputs, then states, the last token's first. */
struct expected {
    double *out, *states;
    size_t n_out, n_state; /* of all sequences */
};

static struct expected
new_expected(size_t n_out, size_t n_state)
{
    return (struct expected){ calloc(n_out, sizeof(double)),
                              calloc(n_state * MAX_STATES, sizeof(double)),
                              n_out, n_state };
}

static double
error_of(const float *x, const double *y, size_t n)
{
    double sum = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        sum += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
        all += y[i] * y[i];
    }
    return all > 0 ? sum / all : sum;
}

static void
compare(struct ggml_context *ctx, struct ggml_tensor *t, struct expected *e,
        int n_states, const char *name)
{
    const float *x;

    test_run(ctx, t, 2);
    x = ggml_get_data_f32(t);
    okf(error_of(x, e->out, e->n_out) < 1e-11, "%s: what tokens give", name);
    for (int i = 0; i < n_states; i++)
        okf(error_of(x + e->n_out + (size_t)i * e->n_state,
                     e->states + (size_t)i * e->n_state, e->n_state) < 1e-11,
            "%s: state %d tokens before the end", name, i);
    free(e->out);
    free(e->states);
}

/* The state after a token, where it is wanted. */
static void
keep(struct expected *e, int64_t token, size_t at, const double *state,
     size_t n)
{
    int64_t back = TOKENS - 1 - token;

    if (back < MAX_STATES)
        memcpy(e->states + (size_t)back * e->n_state + at, state,
               n * sizeof(*state));
}

static void
load_state(const struct ggml_tensor *t, size_t at, double *state, size_t n)
{
    for (size_t i = 0; i < n; i++)
        state[i] = (double)((const float *)t->data)[at + i];
}

/* ---- the gated delta rule ------------------------------------------------ */

static void
delta_head(struct ggml_tensor *const *src, int64_t h, int64_t seq,
           struct expected *e)
{
    const struct ggml_tensor *q = src[0], *k = src[1], *v = src[2];
    int64_t n = v->ne[0], heads = v->ne[1], hk = h % k->ne[1];
    size_t size = (size_t)(n * n), at = (size_t)(seq * heads + h) * size;
    double *s = malloc(size * sizeof(*s));

    load_state(src[5], at, s, size);
    for (int64_t t = 0; t < TOKENS; t++) {
        double beta = test_at(src[4], 0, h, t, seq);

        for (int64_t i = 0; i < n; i++) {
            double *row = s + i * n, d = test_at(v, i, h, t, seq), y = 0;

            for (int64_t j = 0; j < n; j++) {
                int64_t g = src[3]->ne[0] == 1 ? 0 : j;

                row[j] *= exp(test_at(src[3], g, h, t, seq));
                d -= row[j] * test_at(k, j, hk, t, seq);
            }
            for (int64_t j = 0; j < n; j++) {
                row[j] += beta * d * test_at(k, j, hk, t, seq);
                y += row[j] * test_at(q, j, hk, t, seq);
            }
            e->out[((seq * TOKENS + t) * heads + h) * n + i] =
                y / sqrt((double)n);
        }
        keep(e, t, at, s, size);
    }
    free(s);
}

static void
test_delta(int64_t n, int64_t heads, int64_t key_heads, bool vector, int K,
           const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *src[] = {
        test_tensor(ctx, GGML_TYPE_F32, n, key_heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, n, key_heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, n, heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, vector ? n : 1, heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, 1, heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, n, n, heads, SEQS),
    };
    struct expected e = new_expected((size_t)(n * heads * TOKENS * SEQS),
                                     (size_t)(n * n * heads * SEQS));

    for (int64_t seq = 0; seq < SEQS; seq++)
        for (int64_t h = 0; h < heads; h++)
            delta_head(src, h, seq, &e);
    compare(ctx,
            ggml_gated_delta_net(ctx, src[0], src[1], src[2], src[3], src[4],
                                 src[5], K),
            &e, K, name);
    ggml_free(ctx);
}

/* ---- Mamba's scan -------------------------------------------------------- */

static const int32_t states_of[] = { 2, 0 }; /* the sequences' */

static void
scan_row(struct ggml_tensor *const *src, int64_t i, int64_t h, int64_t seq,
         struct expected *e)
{
    const struct ggml_tensor *x = src[1], *A = src[3], *B = src[4];
    int64_t n = src[0]->ne[0], dim = x->ne[0], heads = x->ne[1];
    int64_t group = h / (heads / B->ne[1]);
    size_t size = (size_t)(n * dim * heads);
    size_t row = (size_t)((h * dim + i) * n);
    double *s = malloc((size_t)n * sizeof(*s));

    load_state(src[0], (size_t)states_of[seq] * size + row, s, (size_t)n);
    for (int64_t t = 0; t < TOKENS; t++) {
        double d = log1p(exp(test_at(src[2], h, t, seq, 0))), y = 0;

        for (int64_t j = 0; j < n; j++) {
            double a = test_at(A, A->ne[0] == 1 ? 0 : j, h, 0, 0);

            s[j] = exp(d * a) * s[j] +
                   d * test_at(x, i, h, t, seq) * test_at(B, j, group, t, seq);
            y += s[j] * test_at(src[5], j, group, t, seq);
        }
        e->out[((seq * TOKENS + t) * heads + h) * dim + i] = y;
        keep(e, t, (size_t)seq * size + row, s, (size_t)n);
    }
    free(s);
}

static void
test_scan(int64_t n, int64_t dim, int64_t heads, int64_t groups, bool vector,
          int K, const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *src[] = {
        test_tensor(ctx, GGML_TYPE_F32, n, dim, heads, SEQS + 1),
        test_tensor(ctx, GGML_TYPE_F32, dim, heads, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, heads, TOKENS, SEQS, 1),
        test_tensor(ctx, GGML_TYPE_F32, vector ? n : 1, heads, 1, 1),
        test_tensor(ctx, GGML_TYPE_F32, n, groups, TOKENS, SEQS),
        test_tensor(ctx, GGML_TYPE_F32, n, groups, TOKENS, SEQS),
        ggml_new_tensor_1d(ctx, GGML_TYPE_I32, SEQS),
    };
    struct expected e = new_expected((size_t)(dim * heads * TOKENS * SEQS),
                                     (size_t)(n * dim * heads * SEQS));

    memcpy(src[6]->data, states_of, sizeof(states_of));
    for (int64_t i = 0; i < SEQS * heads * dim; i++)
        scan_row(src, i % dim, i / dim % heads, i / dim / heads, &e);
    compare(ctx,
            ggml_ssm_scan(ctx, src[0], src[1], src[2], src[3], src[4], src[5],
                          src[6], K),
            &e, K, name);
    ggml_free(ctx);
}

/* ---- RWKV, and gated linear attention ------------------------------------ */

/* r, w, k, v, a, b, state */
static void
wkv7_head(struct ggml_tensor *const *src, int64_t h, int64_t seq,
          struct expected *e)
{
    int64_t n = src[0]->ne[0], heads = src[0]->ne[1];
    size_t size = (size_t)(n * n), at = (size_t)(seq * heads + h) * size;
    double *s = malloc(size * sizeof(*s));

    load_state(src[6], at, s, size);
    for (int64_t t = 0; t < TOKENS; t++) {
        int64_t token = seq * TOKENS + t;

        for (int64_t i = 0; i < n; i++) {
            double *row = s + i * n, sa = 0, y = 0;

            for (int64_t j = 0; j < n; j++)
                sa += row[j] * test_at(src[4], j, h, token, 0);
            for (int64_t j = 0; j < n; j++) {
                row[j] = row[j] * test_at(src[1], j, h, token, 0) +
                         test_at(src[3], i, h, token, 0) *
                             test_at(src[2], j, h, token, 0) +
                         sa * test_at(src[5], j, h, token, 0);
                y += row[j] * test_at(src[0], j, h, token, 0);
            }
            e->out[(token * heads + h) * n + i] = y;
        }
        keep(e, t, at, s, size);
    }
    free(s);
}

/* k, v, r, tf, td, state of WKV 6; k, v, q, g, state of the other */
static void
outer_head(struct ggml_tensor *const *src, int64_t h, int64_t seq, bool wkv6,
           double scale, struct expected *e)
{
    int64_t n = src[0]->ne[0], heads = src[0]->ne[1];
    size_t size = (size_t)(n * n), at = (size_t)(seq * heads + h) * size;
    double *s = malloc(size * sizeof(*s));

    load_state(src[wkv6 ? 5 : 4], at, s, size);
    for (int64_t t = 0; t < TOKENS; t++) {
        int64_t token = seq * TOKENS + t;

        for (int64_t i = 0; i < n * n; i++) {
            int64_t row = i / n, column = i % n;
            double kv = test_at(src[0], row, h, token, 0) *
                        test_at(src[1], column, h, token, 0);
            double w = test_at(src[wkv6 ? 4 : 3], row, h, token, 0);
            double old = s[i];

            s[i] = w * old + kv;
            e->out[(token * heads + h) * n + column] +=
                scale * test_at(src[2], row, h, token, 0) *
                (wkv6 ? old + test_at(src[3], row, h, 0, 0) * kv : s[i]);
        }
        keep(e, t, at, s, size);
    }
    free(s);
}

static struct expected
matrix_expected(int64_t n, int64_t heads)
{
    return new_expected((size_t)(n * heads * TOKENS * SEQS),
                        (size_t)(n * n * heads * SEQS));
}

static void
test_matrices(int64_t n, int64_t heads)
{
    struct ggml_context *ctx = test_context();
    struct expected e[] = { matrix_expected(n, heads),
                            matrix_expected(n, heads),
                            matrix_expected(n, heads) };
    struct ggml_tensor *x[6], *state;
    struct ggml_tensor *tf = test_tensor(ctx, GGML_TYPE_F32, n, heads, 1, 1);

    for (int i = 0; i < 6; i++)
        x[i] = test_tensor(ctx, GGML_TYPE_F32, n, heads, TOKENS * SEQS, 1);
    state = test_tensor(ctx, GGML_TYPE_F32, n * n * heads, SEQS, 1, 1);
    for (int64_t i = 0; i < SEQS * heads; i++) {
        struct ggml_tensor *of7[] = {
            x[0], x[1], x[2], x[3], x[4], x[5], state
        };
        struct ggml_tensor *of6[] = { x[0], x[1], x[2], tf, x[3], state };
        struct ggml_tensor *gated[] = { x[0], x[1], x[2], x[3], state };

        wkv7_head(of7, i % heads, i / heads, &e[0]);
        outer_head(of6, i % heads, i / heads, true, 1, &e[1]);
        outer_head(gated, i % heads, i / heads, false, 0.25, &e[2]);
    }
    compare(ctx, ggml_rwkv_wkv7(ctx, x[0], x[1], x[2], x[3], x[4], x[5], state),
            &e[0], 1, "RWKV 7");
    compare(ctx, ggml_rwkv_wkv6(ctx, x[0], x[1], x[2], tf, x[3], state), &e[1],
            1, "RWKV 6");
    compare(ctx,
            ggml_gated_linear_attn(ctx, x[0], x[1], x[2], x[3], state, 0.25f),
            &e[2], 1, "gated linear attention");
    ggml_free(ctx);
}

/* ---- convolution, equations ---------------------------------------------- */

static double
t_conv(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    double sum = 0;

    (void)i3;
    for (int64_t j = 0; j < t->src[1]->ne[0]; j++)
        sum += test_at(t->src[0], i1 + j, i0, i2, 0) *
               test_at(t->src[1], j, i0, 0, 0);
    return sum;
}

static void
test_convolution(void)
{
    struct ggml_context *ctx = test_context();

    test_op(ctx,
            ggml_ssm_conv(ctx, test_tensor(ctx, GGML_TYPE_F32, 3 + 9, 37, 2, 1),
                          test_tensor(ctx, GGML_TYPE_F32, 4, 37, 1, 1)),
            t_conv, 1e-6, "a short convolution");
    test_op(ctx,
            ggml_ssm_conv(ctx,
                          test_tensor(ctx, GGML_TYPE_F32, 10 + 70, 48, 2, 1),
                          test_tensor(ctx, GGML_TYPE_F32, 11, 48, 1, 1)),
            t_conv, 1e-6, "one of eleven taps");
    ggml_free(ctx);
}

/* a x, which is b. */
static double
product_at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
           int64_t i3)
{
    double sum = 0;

    for (int64_t j = 0; j <= i1; j++)
        sum += test_at(t->src[0], j, i1, i2, i3) * test_at(t, i0, j, i2, i3);
    return sum;
}

static void
test_equations(int64_t n, int64_t m)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, n, n, 2, 3);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, m, n, 2, 3);
    struct ggml_tensor *x = ggml_solve_tri(ctx, a, b, true, true, false);
    double sum = 0;

    for (int64_t i = 0; i < 6; i++)
        for (int64_t j = 0; j < n; j++)
            ((float *)a->data)[(i * n + j) * n + j] += 3;
    test_run(ctx, x, 2);
    for (int64_t i = 0; i < ggml_nelements(x); i++) {
        int64_t i0 = i % m, i1 = i / m % n, i2 = i / m / n % 2;
        double d = product_at(x, i0, i1, i2, i / m / n / 2) -
                   test_at(b, i0, i1, i2, i / m / n / 2);

        sum += d * d;
    }
    okf(sum / (double)ggml_nelements(x) < 1e-10, "%d equations, %d right sides",
        (int)n, (int)m);
    ggml_free(ctx);
}

/* ---- in pieces ----------------------------------------------------------- */

static struct ggml_tensor *
tokens_of(struct ggml_context *ctx, struct ggml_tensor *x, int64_t first,
          int64_t n)
{
    return ggml_cont(ctx, ggml_view_4d(ctx, x, x->ne[0], x->ne[1], n, 1,
                                       x->nb[1], x->nb[2], x->nb[3],
                                       (size_t)first * x->nb[2]));
}

/* A prompt at once, and token by token. */
static void
test_pieces(void)
{
    enum {
        N = 33,
        HEADS = 3,
        ALL = 17
    };
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x[5], *state, *whole;
    bool same = true;

    for (int i = 0; i < 5; i++)
        x[i] = test_tensor(ctx, GGML_TYPE_F32, i < 3 ? N : 1, HEADS, ALL, 1);
    state = test_tensor(ctx, GGML_TYPE_F32, N, N, HEADS, 1);
    whole = ggml_gated_delta_net(ctx, x[0], x[1], x[2], x[3], x[4], state, 1);
    test_run(ctx, whole, 2);
    for (int64_t i = 0; i < ALL; i++) {
        struct ggml_tensor *part[5], *one;

        for (int j = 0; j < 5; j++)
            part[j] = tokens_of(ctx, x[j], i, 1);
        one = ggml_gated_delta_net(ctx, part[0], part[1], part[2], part[3],
                                   part[4], state, 1);
        test_run(ctx, one, 1);
        same = same && memcmp(one->data, (float *)whole->data + i * N * HEADS,
                              N * HEADS * sizeof(float)) == 0;
        memcpy(state->data, (float *)one->data + N * HEADS, ggml_nbytes(state));
    }
    ok(same && memcmp(state->data, (float *)whole->data + N * HEADS * ALL,
                      ggml_nbytes(state)) == 0,
       "token by token the bytes are the same");
    ggml_free(ctx);
}

int
main(void)
{
    test_delta(37, 3, 3, false, 1, "delta rule");
    test_delta(64, 4, 2, false, 3, "delta rule, heads in groups, three states");
    test_delta(16, 2, 1, true, 2, "delta rule, a gate an element");
    test_scan(16, 1, 21, 1, true, 1, "scan with a decay an element");
    test_scan(40, 37, 4, 2, false, 1, "scan");
    test_scan(128, 8, 3, 1, false, 3, "scan, three states");
    test_matrices(64, 2);
    test_matrices(19, 3);
    test_convolution();
    test_equations(37, 70);
    test_equations(5, 1);
    test_pieces();
    return tap_done();
}
