/* test_families.c - every family's logits, by the library and two others
 *
 * The plain double-precision pass (reference.c) must agree with the
 * transformers library in float64, whose logits golden_families.h has, as far
 * as doubles go (numbers that files keep as floats leave 1e-14); the library
 * with both. Its bounds: float sums and a float cache leave NMSE 1e-9; keys and
 * values rounded to f16 (2^-11 each) 1e-6, which loud experts multiply by ten,
 * and more than 40 layers by a hundred; block formats multiply activations that
 * are rounded to 8 bits, 5e-3.
 */
#include <math.h>

#include "cpu/kernels.h"
#include "fixtures/golden_families.h"
#include "fixtures/reference.h"
#include "harness/session_test.h"

enum {
    N = 110,    /* beyond windows and original contexts */
    TYPED = 36, /* for matrices of other types: beyond the smaller windows */
};

static int32_t ids[N];

/* NMSE of a position's logits against the golden ones. */
static double
golden_nmse(const struct golden *g, int at, const double *logits)
{
    double error = 0, power = 0;

    for (int i = 0; i < GOLDEN_IDS; i++) {
        double d = logits[golden_ids[i]] - g->logits[at][i];

        error += d * d;
        power += g->logits[at][i] * g->logits[at][i];
    }
    return error / power;
}

static void
check_nmse(const char *name, const char *what, double nmse, double bound)
{
    char title[160];

    snprintf(title, sizeof(title), "%s, %s: NMSE %.1e <= %.0e", name, what,
             nmse, bound);
    ok(nmse <= bound, title);
}

/* Greater of the two; not a number if one is none. */
static double
worse(double a, double b)
{
    return b <= a ? a : b;
}

/* Evaluates in chunks that end at the golden positions; the worst NMSE of
 * their logits against the golden ones and against `truth`. */
static double
in_chunks(const struct gg_model *m, const struct golden *g,
          enum gg_cache_type type, const double *truth)
{
    struct gg_session_params params = { .cache_type = type, .n_ctx = g->n_ctx };
    struct gg_session *s = new_session(m, params);
    float logits[V];
    double wide[V], worst = 0;

    for (int i = 0, done = 0; i < GOLDEN_POSITIONS; i++) {
        int end = golden_positions[i] + 1;

        eval_ids(s, 0, ids, done, end, logits);
        done = end;
        for (int j = 0; j < V; j++)
            wide[j] = (double)logits[j];
        worst = worse(worst, golden_nmse(g, i, wide));
        worst = worse(worst, reference_nmse(logits, truth + (end - 1) * V, V));
    }
    gg_session_free(s);
    return worst;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* NMSE after each of n ids, one id at a time, ascending. */
static void
id_by_id(const struct gg_model *m, int32_t n_ctx, int n, const double *truth,
         double *nmse)
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F32,
                                        .n_ctx = n_ctx };
    struct gg_session *s = new_session(m, params);
    float logits[V];

    for (int i = 0; i < n; i++) {
        eval_ids(s, 0, ids, i, i + 1, logits);
        nmse[i] = reference_nmse(logits, truth + i * V, V);
    }
    gg_session_free(s);
    qsort(nmse, (size_t)n, sizeof(*nmse), by_value);
}

/* The reference's logits after each of n ids; NULL: it can't. */
static double *
new_truth(int n_ctx, int n)
{
    struct reference *r = reference_open(scratch_path());
    double *truth = r ? malloc(sizeof(*truth) * (size_t)n * V) : NULL;

    if (r && n_ctx)
        reference_set_n_ctx(r, n_ctx);
    if (r)
        reference_logits(r, ids, n, truth);
    reference_free(r);
    return truth;
}

static void
check_library(const char *name, const struct golden *g,
              const struct model_spec *spec, const double *truth)
{
    struct gg_model *m = new_model(spec);
    double nmse[N];

    id_by_id(m, g->n_ctx, N, truth, nmse);
    check_nmse(name, "f32 cache, id by id", nmse[N - 1], 1e-9);
    check_nmse(name, "f32 cache, in chunks",
               in_chunks(m, g, GG_CACHE_F32, truth), 1e-9);
    check_nmse(name, "f16 cache, in chunks",
               in_chunks(m, g, GG_CACHE_F16, truth),
               spec->n_layer > 40 ? 1e-4 : 1e-5);
    gg_model_free(m);
}

static void
check_family(const struct golden *g)
{
    struct model_spec spec;
    char name[64];
    double *truth, nmse = 0;

    snprintf(name, sizeof(name), "%s-f32", g->family);
    if (!models_named(name, &spec) || !models_write(&spec, scratch_path())) {
        ok(false, name);
        return;
    }
    if (g->n_ctx)
        snprintf(name, sizeof(name), "%s, n_ctx %d", g->family, g->n_ctx);
    truth = new_truth(g->n_ctx, N);
    for (int i = 0; truth && i < GOLDEN_POSITIONS; i++)
        nmse = worse(nmse, golden_nmse(g, i, truth + golden_positions[i] * V));
    ok(truth != NULL, name);
    if (truth)
        check_nmse(name, "reference and transformers", nmse, 1e-13);
    if (truth)
        check_library(name, g, &spec, truth);
    free(truth);
}

/* Matrices of another type. Rounded activations may choose another expert where
 * two are as good, so that not the worst position tells, but the median. */
static void
check_type(const char *family, const char *type, double bound)
{
    struct model_spec spec;
    struct gg_model *m;
    char name[64];
    double *truth, nmse[TYPED];

    snprintf(name, sizeof(name), "%s-%s", family, type);
    if (!models_named(name, &spec)) {
        ok(false, name);
        return;
    }
    if (spec.n_layer > 40)
        return; /* rounding grows beyond any bound */
    m = new_model(&spec);
    truth = new_truth(0, TYPED);
    if (truth)
        id_by_id(m, 0, TYPED, truth, nmse);
    check_nmse(name, "median", truth ? nmse[TYPED / 2] : NAN, bound);
    gg_model_free(m);
    free(truth);
}

/* Some kernels round activations to BF16 where weights are that: see
 * isas.test for the others. `only`: "bf16", or NULL for all types. */
static void
check_types(const char *only)
{
    bool rounds = cpu_kernels()->mul_mat[GGML_TYPE_BF16].prepare != NULL;
    double bf16 = rounds ? 5e-4 : 1e-9;

    for (size_t i = 0; models_family(i); i++) {
        const char *family = models_family(i);

        if (!only || !strcmp(only, "bf16"))
            check_type(family, "bf16", bf16);
        if (only)
            continue;
        check_type(family, "f16", 1e-9);
        check_type(family, "q8_0", 5e-3);
        check_type(family, "q4_0", 5e-3);
    }
    if (!only)
        check_type("gpt-oss", "mxfp4", 5e-3);
    if (!only)
        check_type("qwen3scaled", "nvfp4", 5e-3);
    if (!only)
        check_type("qwen2moescaled", "nvfp4", 5e-3);
}

/* Every model of the generator has golden logits. */
static void
check_complete(void)
{
    size_t n = sizeof(goldens) / sizeof(goldens[0]);

    for (size_t i = 0; models_family(i); i++) {
        size_t j = 0;

        while (j < n && strcmp(goldens[j].family, models_family(i)))
            j++;
        ok(j < n, models_family(i));
    }
}

int
main(int argc, char **argv)
{
    fill_ids(ids, N);
    if (argc > 1) {
        check_types(argv[1]);
        return tap_done();
    }
    check_complete();
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++)
        check_family(&goldens[i]);
    check_types(NULL);
    return tap_done();
}
