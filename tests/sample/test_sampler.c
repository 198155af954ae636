/* test_sampler.c - the sampler against sorting everything in double */
#include <gg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/random.h"
#include "core/select.h"
#include "sampler_said.h"
#include "harness/tap.h"

enum {
    MAX = 3000,
};

static struct gg_error err;

/* ---- an implementation to compare with: sort, then cut ---- */

struct token {
    double logit, p;
    int32_t id;
};

static int
by_logit(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void
softmax(struct token *t, size_t n, double temperature)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += t[i].p = exp((t[i].logit - t[0].logit) / temperature);
    for (size_t i = 0; i < n; i++)
        t[i].p /= sum;
}

static size_t
reference(const struct gg_sampler_params *p, const float *logits, size_t n,
          struct token *t)
{
    double sum = 0, t0 = p->temperature > 0 ? p->temperature : 1;
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (logits[i] > -INFINITY)
            t[m++] = (struct token){ logits[i], 0, (int32_t)i };
    qsort(t, m, sizeof(*t), by_logit);
    if (p->temperature == 0)
        m = 1;
    if (p->top_k > 0 && m > (size_t)p->top_k)
        m = (size_t)p->top_k;
    softmax(t, m, t0);
    for (size_t i = 0; i < m; i++) {
        sum += t[i].p;
        if (p->top_p < 1 && sum >= p->top_p)
            m = i + 1;
    }
    softmax(t, m, t0);
    while (m > 1 && t[m - 1].p < p->min_p * t[0].p)
        m--;
    softmax(t, m, t0);
    return m;
}

static int32_t
reference_draw(const struct token *t, size_t n, double u)
{
    double sum = 0;
    size_t i = 0;

    while (i + 1 < n && (sum += t[i].p) <= u)
        i++;
    return t[i].id;
}

/* ---- comparisons ---- */

static struct gg_sampler *
sampler(float temperature, int32_t k, float p, float min, uint64_t seed)
{
    struct gg_sampler_params params = { .temperature = temperature,
                                        .top_k = k,
                                        .top_p = p,
                                        .min_p = min,
                                        .seed = seed };
    struct gg_sampler *s = NULL;

    return new_said(&params, &s, &err) == GG_OK ? s : NULL;
}

static bool
same_list(const struct gg_candidate *c, size_t n, const struct token *t,
          size_t m)
{
    if (n != m)
        return false;
    for (size_t i = 0; i < n; i++)
        if (c[i].id != t[i].id || fabs(c[i].p - t[i].p) > 1e-6)
            return false;
    return true;
}

static bool
agrees(const struct gg_sampler_params *params, const float *logits, size_t n)
{
    static struct token t[MAX];
    const struct gg_candidate *c;
    struct gg_sampler *s;
    size_t m = reference(params, logits, n, t), got;
    bool same;

    if (new_said(params, &s, &err) != GG_OK ||
        gg_sampler_candidates(s, NULL, logits, n, &c, &got, &err) != GG_OK)
        return false;
    same = same_list(c, got, t, m);
    for (uint64_t at = 0; at < 20; at++) {
        double u = sample_random_uniform(params->seed, n, at);
        int32_t id = -1;

        same = same &&
               gg_sampler_draw(s, NULL, logits, n, n, at, &id, &err) == GG_OK &&
               id == reference_draw(t, m, u);
    }
    gg_sampler_free(s);
    return same;
}

static void
fill(float *logits, size_t n, double spread, bool ties)
{
    for (size_t i = 0; i < n; i++) {
        double x = spread *
                   ((double)rand() / RAND_MAX + (double)rand() / RAND_MAX - 1);

        logits[i] = (float)(ties ? floor(x) : x);
        if (rand() % 50 == 0)
            logits[i] = -INFINITY;
    }
    logits[n / 2] = 0;
}

static void
test_against_reference(void)
{
    static const float temperatures[] = { 0, 0.3f, 0.8f, 1, 5 };
    static const int32_t ks[] = { 0, 1, 2, 40, 500, 100000 };
    static const float ps[] = { 0, 0.3f, 0.95f, 1 };
    static const float mins[] = { 0, 0.05f, 1 };
    static float logits[MAX];
    char name[80];

    for (int ties = 0; ties < 2; ties++)
        for (size_t n = 1; n <= MAX; n = n * 3 + 1) {
            int wrong = 0;

            for (int i = 0; i < 5 * 6 * 4 * 3; i++) {
                struct gg_sampler_params p = { .temperature =
                                                   temperatures[i % 5],
                                               .top_k = ks[i / 5 % 6],
                                               .top_p = ps[i / 30 % 4],
                                               .min_p = mins[i / 120],
                                               .seed = (uint64_t)i };

                fill(logits, n, 12, ties);
                wrong += !agrees(&p, logits, n);
            }
            snprintf(name, sizeof(name), "%zu logits%s as by sorting", n,
                     ties ? " with ties" : "");
            is(wrong, 0, name);
        }
}

/* ---- figures from elsewhere ---- */

/* Logits of the project's requirements. */
static const float vector[] = { 0.5f,  2.0f, 1.5f, 0.0f, 1.0f,
                                -0.5f, 3.0f, 0.2f, 2.5f, 1.8f };

static void
test_vector(void)
{
    static const int32_t ids[] = { 6, 8, 1, 9 };
    static const double p[] = { 0.4616, 0.2648, 0.1519, 0.1217 };
    struct gg_sampler *s = sampler(0.9f, 5, 0.9f, 0, 1);
    const struct gg_candidate *c;
    int count[10] = { 0 }, draws = 40000;
    size_t n = 0;
    bool same;
    double chi2 = 0;

    ok(gg_sampler_candidates(s, NULL, vector, 10, &c, &n, &err) == GG_OK &&
           n == 4,
       "four candidates");
    same = n == 4;
    for (size_t i = 0; same && i < 4; i++)
        same = c[i].id == ids[i] && fabs(c[i].p - p[i]) < 0.5e-4 &&
               c[i].logit == vector[ids[i]];
    ok(same, "with the probabilities wanted");
    for (int i = 0; i < draws; i++) {
        int32_t id = 0;

        if (gg_sampler_draw(s, NULL, vector, 10, (uint64_t)i % 7,
                            (uint64_t)i / 7, &id, &err) == GG_OK)
            count[id]++;
    }
    for (int i = 0; i < 4; i++)
        chi2 += pow(count[ids[i]] - draws * p[i], 2) / (draws * p[i]);
    /* 3 degrees of freedom: 16.27 is exceeded once in a thousand. */
    ok(chi2 < 16.27 && count[6] + count[8] + count[1] + count[9] == draws,
       "drawn as often as they should be");
    gg_sampler_free(s);
}

/* kat_vectors of Random123, philox4x32 with 10 rounds. */
static void
test_philox(void)
{
    static const uint32_t cases[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
          0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
          0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };

    for (int i = 0; i < 3; i++) {
        uint32_t out[4];

        sample_random_philox(cases[i] + 4, cases[i], out);
        ok(memcmp(out, cases[i] + 6, sizeof(out)) == 0, "philox4x32-10");
    }
    /* The first case again: 0xe169c58d6627e8d5 >> 11, times 2^-53. */
    is(sample_random_uniform(0, 0, 0),
       (double)(UINT64_C(0xe169c58d6627e8d5) >> 11) / 9007199254740992.0,
       "uniform number of seed 0, sequence 0, position 0");
    ok(sample_random_uniform(1, 0, 0) != sample_random_uniform(0, 1, 0) &&
           sample_random_uniform(0, 1, 0) != sample_random_uniform(0, 0, 1),
       "seed, sequence and position all count");
}

/* ---- corners ---- */

static enum gg_status
draw(struct gg_sampler *s, const int32_t *ids, const float *logits, size_t n,
     int32_t *id)
{
    return gg_sampler_draw(s, ids, logits, n, 0, 0, id, &err);
}

static void
test_corners(void)
{
    static const float ties[] = { 1, 3, 3, 2, 3 };
    static const int32_t names[] = { 50, 40, 30, 20, 10 };
    static const float nan_[] = { 1, NAN, 2 }, inf[] = { 1, INFINITY };
    static const float none[] = { -INFINITY, -INFINITY };
    static const float one[] = { -INFINITY, -1e30f, -INFINITY };
    float flat[200];
    struct gg_sampler *greedy = sampler(0, 0, 1, 0, 1);
    struct gg_sampler *all = sampler(1, 0, 1, 0, 1);
    int32_t id = -1;

    ok(draw(greedy, NULL, ties, 5, &id) == GG_OK && id == 1,
       "greedy takes the lowest id of a tie");
    ok(draw(greedy, names, ties, 5, &id) == GG_OK && id == 10,
       "also where the ids are named");
    ok(draw(all, NULL, nan_, 3, &id) == GG_ERR_FORMAT, "NaN is refused");
    ok(draw(greedy, NULL, nan_, 3, &id) == GG_ERR_FORMAT, "by greedy, too");
    ok(draw(all, NULL, inf, 2, &id) == GG_ERR_FORMAT, "infinity is refused");
    ok(draw(all, NULL, none, 2, &id) == GG_ERR_FORMAT, "nothing possible");
    ok(draw(all, NULL, none, 0, &id) == GG_ERR_FORMAT, "no logits");
    ok(draw(all, NULL, one, 3, &id) == GG_OK && id == 1, "one possible");
    for (int i = 0; i < 200; i++)
        flat[i] = i == 130 ? NAN : 1;
    ok(draw(all, NULL, flat, 200, &id) == GG_ERR_FORMAT, "NaN far inside");
    gg_sampler_free(greedy);
    gg_sampler_free(all);
    gg_sampler_free(NULL);
}

static void
test_params(void)
{
    ok(!sampler(-1, 0, 1, 0, 0) && !sampler(NAN, 0, 1, 0, 0), "temperature");
    ok(!sampler(1, -2, 1, 0, 0), "top-k");
    ok(!sampler(1, 0, 1.5f, 0, 0) && !sampler(1, 0, NAN, 0, 0), "top-p");
    ok(!sampler(1, 0, 1, -0.1f, 0) && !sampler(1, 0, 1, 2, 0), "min-p");
}

/* Nothing said is what the defaults say, and greedy whatever else is. */
static void
test_zero(void)
{
    static const struct gg_sampler_params zero,
        greedy = { .greedy = true, .temperature = 2 };
    struct gg_sampler_params given = gg_sampler_params_default();
    struct gg_sampler *s[3] = { NULL };
    float logits[300];
    int differ = 0, above = 0;

    ok(gg_sampler_new(&zero, &s[0], &err) == GG_OK &&
           gg_sampler_new(&given, &s[1], &err) == GG_OK &&
           gg_sampler_new(&greedy, &s[2], &err) == GG_OK,
       "samplers");
    for (uint64_t i = 0; i < 200; i++) {
        int32_t id[3] = { -1, -2, -3 };

        fill(logits, 300, 15, false);
        for (int k = 0; k < 3; k++)
            if (gg_sampler_draw(s[k], NULL, logits, 300, 0, i, &id[k], &err))
                differ++;
        differ += id[0] != id[1];
        for (int j = 0; j < 300; j++)
            above += logits[j] > logits[id[2]];
    }
    is(differ, 0, "zero is the default");
    is(above, 0, "greedy");
    for (int k = 0; k < 3; k++)
        gg_sampler_free(s[k]);
}

/* The best logits, which a stream sends, are drawn from like all of them. */
static void
test_sparse(void)
{
    static float logits[2000], few[100];
    struct gg_sampler *s = sampler(0.8f, 40, 0.95f, 0, 3);
    const struct gg_candidate *c;
    struct gg_sampler *top = sampler(1, 100, 1, 0, 0);
    int32_t ids[100], a = -1, b = -2;
    size_t n = 0;
    int wrong = 0;

    for (int round = 0; round < 50; round++) {
        fill(logits, 2000, 15, false);
        wrong += gg_sampler_candidates(top, NULL, logits, 2000, &c, &n, &err) !=
                 GG_OK;
        for (size_t i = 0; i < n; i++) {
            ids[i] = c[i].id;
            few[i] = c[i].logit;
        }
        wrong +=
            gg_sampler_draw(s, NULL, logits, 2000, 1, 2, &a, &err) != GG_OK;
        wrong += gg_sampler_draw(s, ids, few, n, 1, 2, &b, &err) != GG_OK;
        wrong += a != b;
    }
    is(wrong, 0, "sparse as dense");
    gg_sampler_free(s);
    gg_sampler_free(top);
}

/* ---- the order ---------------------------------------------------------- */

/* Many are alike; both zeros, infinities and what is no number among them. */
static float
some_logit(uint32_t i)
{
    static const float odd[] = { 0,   -0.0f,  INFINITY, -INFINITY,
                                 NAN, 1e-42f, -1e-42f,  3e38f };
    uint32_t r = i * 2654435761u >> 8;

    return r % 16 < 8 ? odd[r % 8] : (float)((int)(r >> 4) % 700 - 350) / 8;
}

static bool
is_selected(const float *logits, const int32_t *ids, size_t n, size_t k)
{
    static struct choice out[2 * MAX];
    static struct token t[MAX];
    size_t m = 0, got = select_top(ids, logits, n, k, out);
    bool right = true;

    for (size_t i = 0; i < n; i++)
        if (logits[i] > -INFINITY)
            t[m++] = (struct token){ logits[i], 0, ids ? ids[i] : (int32_t)i };
    qsort(t, m, sizeof(*t), by_logit);
    for (size_t i = 0; i < got; i++)
        right &= out[i].id == t[i].id && out[i].logit == (float)t[i].logit;
    return right && got == (k < m ? k : m);
}

/* The choices are the first ones of all, as many as reach the bar. */
static bool
is_above(const float *logits, const int32_t *ids, size_t n, float bar)
{
    static struct choice out[2 * MAX], all[2 * MAX];
    size_t m = select_top(ids, logits, n, n, all);
    size_t got = select_above(ids, logits, n, bar, out);
    bool right = got == m || !(all[got].logit >= bar);

    for (size_t i = 0; i < got; i++)
        right &= out[i].logit >= bar && out[i].id == all[i].id;
    return right;
}

static void
test_select(void)
{
    static const float bars[] = { -INFINITY, -43, 0, 1, 40, 3.3e38f };
    static const size_t some[] = { 0, 1, 5, 64, 1023, 1024, 2000, MAX };
    static float logits[MAX], same[MAX];
    static int32_t ids[MAX];
    bool right = true, right_ids = true, right_same = true, right_above = true;

    for (size_t i = 0; i < MAX; i++) {
        logits[i] = some_logit((uint32_t)i);
        same[i] = 2;
        ids[i] = (int32_t)(i * 1009 % MAX);
    }
    for (size_t i = 0; i < sizeof(bars) / sizeof(*bars); i++)
        for (size_t n = 0; n <= MAX; n += MAX / 3) {
            right_above &= is_above(logits, NULL, n, bars[i]);
            right_above &= is_above(logits, ids, n, bars[i]);
        }
    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
        right &= is_selected(logits, NULL, MAX, some[i]);
        right_ids &= is_selected(logits, ids, MAX, some[i]);
        right_same &= is_selected(same, ids, MAX, some[i]);
    }
    ok(right_above, "those that reach a bar are the first ones");
    ok(right, "the first of all, in order");
    ok(right_ids, "and of some ids");
    ok(right_same, "that are alike");
}

int
main(void)
{
    srand(1);
    test_select();
    test_vector();
    test_philox();
    test_corners();
    test_params();
    test_zero();
    test_sparse();
    test_against_reference();
    return tap_done();
}
