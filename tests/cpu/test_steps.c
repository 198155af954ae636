/* test_steps.c - OPT_STEP_ADAMW and OPT_STEP_SGD against double precision, for
 * rows of any length; COUNT_EQUAL for any number of threads */
#include "cpu_test.h"

static const float adamw[] = { 0.01f, 0.9f, 0.999f, 1e-6f, 0.1f, 10, 1000 };
static const float sgd[] = { 0.3f, 0.1f };

enum {
    ROWS = 3
};

/* Weights, their gradients, both moments. */
struct step {
    struct ggml_tensor *w, *g, *m, *v, *result;
};

/* A step with the same numbers, whatever the shape. */
static struct step
new_step(struct ggml_context *ctx, int64_t ne0, int64_t ne1, bool moments)
{
    struct ggml_tensor *p =
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, moments ? 7 : 2);
    struct step s;

    test_state = 5;
    s.w = test_tensor(ctx, GGML_TYPE_F32, ne0, ne1, 1, 1);
    s.g = test_tensor(ctx, GGML_TYPE_F32, ne0, ne1, 1, 1);
    s.m = test_tensor(ctx, GGML_TYPE_F32, ne0, ne1, 1, 1);
    s.v = test_tensor(ctx, GGML_TYPE_F32, ne0, ne1, 1, 1);
    for (int64_t i = 0; i < ne0 * ne1; i++)
        ggml_get_data_f32(s.v)[i] = fabsf(ggml_get_data_f32(s.v)[i]);
    memcpy(p->data, moments ? adamw : sgd, ggml_nbytes(p));
    ggml_set_param(s.w);
    s.result = moments ? ggml_opt_step_adamw(ctx, s.w, s.g, s.m, s.v, p)
                       : ggml_opt_step_sgd(ctx, s.w, s.g, p);
    return s;
}

static double
at(const struct ggml_tensor *t, int i)
{
    return (double)ggml_get_data_f32(t)[i];
}

/* A weight after a step, from what was there before. */
static double
truth(const struct step *s, int i, bool moments)
{
    double m, v, p[7];

    for (int k = 0; k < 7; k++)
        p[k] = moments ? (double)adamw[k] : k < 2 ? (double)sgd[k] : 0;
    if (!moments)
        return at(s->w, i) * (1 - p[0] * p[1]) - p[0] * at(s->g, i);
    m = at(s->m, i) * p[1] + at(s->g, i) * (1 - p[1]);
    v = at(s->v, i) * p[2] + at(s->g, i) * at(s->g, i) * (1 - p[2]);
    return at(s->w, i) * (1 - p[0] * p[4]) -
           p[0] * m * p[5] / (sqrt(v * p[6]) + p[3]);
}

static bool
are_same(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return memcmp(a->data, b->data, ggml_nbytes(a)) == 0;
}

/* Vectors and single elements give the same bytes. */
static void
test_step(int64_t width, bool moments)
{
    struct ggml_context *ctx = test_context();
    struct step s = new_step(ctx, width, ROWS, moments);
    struct step single = new_step(ctx, 1, width * ROWS, moments);
    double *want = malloc((size_t)(width * ROWS) * sizeof(*want));
    double worst = 0;
    char text[80];

    for (int i = 0; i < width * ROWS; i++)
        want[i] = truth(&s, i, moments);
    test_run(ctx, s.result, 2);
    test_run(ctx, single.result, 1);
    for (int i = 0; i < width * ROWS; i++)
        worst = fmax(worst, fabs(at(s.w, i) - want[i]));
    snprintf(text, sizeof(text), "%s of rows of %d (%.2g)",
             moments ? "AdamW" : "SGD", (int)width, worst);
    ok(worst < 1e-6 && are_same(s.w, single.w) && are_same(s.m, single.m) &&
           are_same(s.v, single.v),
       text);
    free(want);
    ggml_free(ctx);
}

static struct ggml_tensor *
integers(struct ggml_context *ctx, int64_t ne0, int64_t ne1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, ne0, ne1);

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        ((int32_t *)t->data)[i] = (int32_t)(test_draw() * 4);
    return t;
}

static void
test_count(int64_t ne0, int64_t ne1, bool turned)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = integers(ctx, ne0, ne1), *b, *n;
    int64_t want = 0;
    bool right = true;
    char text[80];

    b = turned ? ggml_transpose(ctx, integers(ctx, ne1, ne0))
               : integers(ctx, ne0, ne1);
    for (int64_t j = 0; j < ne1; j++)
        for (int64_t i = 0; i < ne0; i++)
            want += test_at(a, i, j, 0, 0) == test_at(b, i, j, 0, 0);
    for (int n_threads = 1; n_threads <= 5; n_threads += 2) {
        n = ggml_count_equal(ctx, a, b);
        test_run(ctx, n, n_threads);
        right = right && *(int64_t *)n->data == want;
    }
    snprintf(text, sizeof(text), "%d of %d x %d are equal, %s", (int)want,
             (int)ne0, (int)ne1, turned ? "transposed" : "by threads");
    ok(right, text);
    ggml_free(ctx);
}

int
main(void)
{
    static const int64_t widths[] = { 1, 3, 63, 64, 65, 200, 1000 };

    for (int i = 0; i < 7; i++) {
        test_step(widths[i], true);
        test_step(widths[i], false);
    }
    test_count(1, 1, false);
    test_count(100000, 1, false);
    test_count(7, 9001, false);
    test_count(3000, 41, true);
    return tap_done();
}
