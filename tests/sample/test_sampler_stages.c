/* test_sampler_stages.c - penalties, DRY, top-n-sigma, typical, XTC, Mirostat
 * against plain computations in double, draw after draw; an eta cutoff */
#include <gg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/random.h"
#include "sampler_said.h"
#include "harness/tap.h"

enum {
    N = 400,    /* of logits */
    STEPS = 40, /* of a sequence */
};

static struct gg_error err;

/* ---- an implementation to compare with ---- */

struct token {
    double logit, p, key;
    int32_t id;
};

struct past {
    int32_t ids[1000];
    size_t n;
    double mu;
};

static int
by_logit(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int
by_key(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static size_t
from_end(const struct past *past, int32_t last)
{
    return last < 0 || (size_t)last > past->n ? 0 : past->n - (size_t)last;
}

static double
penalised(const struct gg_sampler_params *p, const struct past *past,
          int32_t id, double x)
{
    int count = 0;

    for (size_t i = from_end(past, p->penalty_last_n); i < past->n; i++)
        count += past->ids[i] == id;
    if (!count)
        return x;
    if (p->repeat_penalty > 0)
        x = x > 0 ? x / p->repeat_penalty : x * p->repeat_penalty;
    return x - count * (double)p->frequency_penalty - p->presence_penalty;
}

static bool
is_breaker(const struct gg_sampler_params *p, int32_t id)
{
    for (size_t i = 0; i < p->n_dry_breakers; i++)
        if (p->dry_breakers[i] == id)
            return true;
    return false;
}

/* Every earlier place of the id, looked at by itself. */
static double
dry(const struct gg_sampler_params *p, const struct past *past, int32_t id)
{
    size_t start = from_end(past, p->dry_last_n), n = past->n, longest = 0;

    if (p->dry_multiplier == 0 || is_breaker(p, id))
        return 0;
    for (size_t at = start + 1; at < n; at++) {
        size_t len = 0;

        while (past->ids[at] == id && len < at - start &&
               past->ids[at - 1 - len] == past->ids[n - 1 - len] &&
               !is_breaker(p, past->ids[n - 1 - len]))
            len++;
        longest = len > longest ? len : longest;
    }
    if (longest < (size_t)p->dry_allowed_length)
        return 0;
    return p->dry_multiplier *
           pow(p->dry_base, (double)longest - p->dry_allowed_length);
}

static double
softmax(struct token *t, size_t n, double temperature)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += t[i].p = exp((t[i].logit - t[0].logit) / temperature);
    for (size_t i = 0; i < n; i++)
        t[i].p /= sum;
    return sum;
}

static size_t
edited(const struct gg_sampler_params *p, const struct past *past,
       const float *logits, struct token *t)
{
    double mean = 0, square = 0;
    size_t m = 0;

    for (int32_t id = 0; id < N; id++) {
        double x = logits[id];

        for (size_t i = 0; i < p->n_bias; i++)
            x += p->bias[i].id == id ? p->bias[i].add : 0;
        x = penalised(p, past, id, x) - dry(p, past, id);
        if (x > -INFINITY)
            t[m++] = (struct token){ x, 0, 0, id };
    }
    qsort(t, m, sizeof(*t), by_logit);
    if (p->top_n_sigma == 0 || p->mirostat)
        return m;
    for (size_t i = 0; i < m; i++)
        mean += t[i].logit / (double)m;
    for (size_t i = 0; i < m; i++)
        square += pow(t[i].logit - mean, 2) / (double)m;
    while (t[m - 1].logit < t[0].logit - p->top_n_sigma * sqrt(square))
        m--;
    return m;
}

static size_t
typical(struct token *t, size_t n, double mass, double temperature)
{
    double h = 0, sum = 0;
    size_t m = 0;

    softmax(t, n, temperature);
    for (size_t i = 0; i < n; i++)
        h -= t[i].p * log(t[i].p);
    for (size_t i = 0; i < n; i++)
        t[i].key = fabs(-log(t[i].p) - h);
    qsort(t, n, sizeof(*t), by_key);
    while (m < n && sum < mass)
        sum += t[m++].p;
    qsort(t, m, sizeof(*t), by_logit);
    return m;
}

static size_t
mirostat(const struct gg_sampler_params *p, struct token *t, size_t n,
         double mu)
{
    double T = p->temperature, a = 0, b = 0, s, k;
    size_t m = 1;

    softmax(t, n, T);
    if (p->mirostat == 2) {
        while (m < n && -log2(t[m].p) <= mu)
            m++;
        return m;
    }
    for (size_t i = 1; i < 100 && i < n; i++) {
        double step = log(i + 1.0) - log((double)i);

        a += step * (log(t[i - 1].p) - log(t[i].p));
        b += step * step;
    }
    s = a / b;
    k = pow((s - 1) * pow(2, mu) / (1 - pow(N, 1 - s)), 1 / s);
    return k < 1 ? 1 : k > (double)n ? n : (size_t)k;
}

static size_t
chain(const struct gg_sampler_params *p, struct token *t, size_t m, double u)
{
    double T = p->temperature, sum = 0;
    size_t top = 0;

    if (p->top_k > 0 && m > (size_t)p->top_k)
        m = (size_t)p->top_k;
    if (p->typical_p > 0 && p->typical_p < 1)
        m = typical(t, m, p->typical_p, T);
    softmax(t, m, T);
    for (size_t i = 0; i < m; i++) {
        sum += t[i].p;
        if (p->top_p < 1 && sum >= p->top_p)
            m = i + 1;
    }
    while (m > 1 && t[m - 1].p < p->min_p * t[0].p)
        m--;
    softmax(t, m, T);
    while (u < p->xtc_probability && top < m && t[top].p >= p->xtc_threshold)
        top++;
    if (top > 1) {
        m -= top - 1;
        memmove(t, t + top - 1, m * sizeof(*t));
    }
    return m;
}

static struct token
reference(const struct gg_sampler_params *p, struct past *past,
          const float *logits, const double u[2])
{
    struct token t[N];
    size_t m = edited(p, past, logits, t), i = 0;
    double sum = 0;

    m = p->mirostat ? mirostat(p, t, m, past->mu) : chain(p, t, m, u[1]);
    softmax(t, m, p->temperature);
    while (i + 1 < m && (sum += t[i].p) <= u[0])
        i++;
    past->mu -= p->mirostat_eta * (-log2(t[i].p) - p->mirostat_tau);
    return t[i];
}

/* ---- sequences ---- */

/* Few ids are likely, and they stay so: then they repeat. */
static void
fill(float *logits)
{
    for (int32_t i = 0; i < N; i++)
        logits[i] = (float)(6.0 * rand() / RAND_MAX + (i % 29 == 0 ? 3 : -3));
    logits[7] = -INFINITY;
}

/* The share of draws that differ must be none. */
static int
differ(const struct gg_sampler_params *p)
{
    static const int32_t prompt[] = { 29, 58, 87, 29, 58, 116, 29, 58 };
    struct past past = { .mu = 2.0 * p->mirostat_tau };
    struct gg_sampler *s = NULL;
    struct gg_history *h = NULL;
    float logits[N];
    int wrong = 0;

    if (new_said(p, &s, &err) != GG_OK ||
        gg_history_new(s, &h, &err) != GG_OK ||
        gg_history_add(h, prompt, 8, &err) != GG_OK)
        return STEPS;
    memcpy(past.ids, prompt, sizeof(prompt));
    past.n = 8;
    for (int i = 0; i < STEPS; i++) {
        struct gg_draw d = { -1, 0 };
        struct token want;
        double u[2];

        fill(logits);
        sample_random_pair(p->seed, 3, past.n, u);
        want = reference(p, &past, logits, u);
        wrong += gg_sampler_next(s, h, NULL, logits, N, 3, past.n, &d, &err) !=
                     GG_OK ||
                 d.id != want.id || fabs(d.logprob - log(want.p)) > 1e-5;
        past.ids[past.n++] = want.id;
        wrong += gg_history_add(h, &want.id, 1, &err) != GG_OK;
    }
    gg_history_free(h);
    gg_sampler_free(s);
    return wrong;
}

static const struct gg_bias biases[] = {
    { 3, 5 }, { 29, -INFINITY }, { 58, -2 }, { 3, 1 }
};
static const int32_t breakers[] = { 116, 87 };

static void
test_each(void)
{
    struct gg_sampler_params p = gg_sampler_params_default(), q;
    int wrong[12] = { 0 };

    for (int round = 0; round < 12; round++) {
        p.seed = (uint64_t)round;
        p.top_k = round % 3 * 40;
        p.top_p = round % 2 ? 1 : 0.95f;
        q = p, q.bias = biases, q.n_bias = 4;
        wrong[0] += differ(&q);
        q = p, q.repeat_penalty = 1.3f;
        wrong[1] += differ(&q);
        q = p, q.frequency_penalty = 0.5f, q.penalty_last_n = 5;
        wrong[2] += differ(&q);
        q = p, q.presence_penalty = 1.5f, q.penalty_last_n = -1;
        wrong[3] += differ(&q);
        q = p, q.dry_multiplier = 0.8f;
        wrong[4] += differ(&q);
        q.dry_breakers = breakers, q.n_dry_breakers = 2, q.dry_last_n = 30;
        q.dry_allowed_length = 1;
        wrong[5] += differ(&q);
        q = p, q.top_n_sigma = 1.5f;
        wrong[6] += differ(&q);
        q = p, q.typical_p = 0.6f;
        wrong[7] += differ(&q);
        q = p, q.xtc_probability = 0.5f;
        wrong[8] += differ(&q);
        q = p, q.mirostat = 1, q.mirostat_tau = 3;
        wrong[9] += differ(&q);
        q = p, q.mirostat = 2, q.mirostat_tau = 2, q.mirostat_eta = 0.5f;
        wrong[10] += differ(&q);
        /* all at once */
        q = p, q.bias = biases, q.n_bias = 4, q.repeat_penalty = 1.1f;
        q.dry_multiplier = 1, q.top_n_sigma = 2, q.typical_p = 0.9f;
        q.min_p = 0.02f, q.xtc_probability = 0.7f, q.xtc_threshold = 0.05f;
        wrong[11] += differ(&q);
    }
    is(wrong[0], 0, "biases");
    is(wrong[1], 0, "repeat penalty");
    is(wrong[2], 0, "frequency penalty of the last 5");
    is(wrong[3], 0, "presence penalty of all");
    is(wrong[4], 0, "DRY");
    is(wrong[5], 0, "DRY with breakers, a range and length 1");
    is(wrong[6], 0, "top-n-sigma");
    is(wrong[7], 0, "typical");
    is(wrong[8], 0, "XTC");
    is(wrong[9], 0, "Mirostat");
    is(wrong[10], 0, "Mirostat 2");
    is(wrong[11], 0, "many stages together");
}

/* ---- figures that can be seen ---- */

static const struct gg_candidate *
left(const struct gg_sampler_params *p, const float *logits, size_t n,
     size_t *m)
{
    static struct gg_candidate room[16];
    const struct gg_candidate *c;
    struct gg_sampler *s = NULL;

    *m = 0;
    if (new_said(p, &s, &err) == GG_OK &&
        gg_sampler_candidates(s, NULL, logits, n, &c, m, &err) == GG_OK)
        memcpy(room, c, *m * sizeof(*c));
    gg_sampler_free(s);
    return room;
}

/* Probabilities 0.6, 0.2, 0.1, 0.1: the entropy is 1.0889; the distances are
 * 0.578, 0.520, 1.214, 1.214. */
static void
test_typical(void)
{
    const float logits[] = { logf(0.6f), logf(0.2f), logf(0.1f), logf(0.1f) };
    struct gg_sampler_params p = { .temperature = 1, .top_p = 1 };
    const struct gg_candidate *c;
    size_t n;

    p.typical_p = 0.15f;
    c = left(&p, logits, 4, &n);
    ok(n == 1 && c[0].id == 1, "the likeliest is not the most typical");
    p.typical_p = 0.5f;
    c = left(&p, logits, 4, &n);
    ok(n == 2 && c[0].id == 0 && fabs(c[0].p - 0.75) < 1e-6,
       "then both, in their order");
}

/* How many an eta cutoff leaves. */
static size_t
left_by_eta(double epsilon, const float *logits, size_t n)
{
    const struct gg_sampler_value eta = { "eta-cutoff", epsilon };
    struct gg_sampler_params p = { .temperature = 1, .top_k = -1, .top_p = 1 };
    const struct gg_candidate *c;
    struct gg_sampler *s = NULL;
    size_t m = 0;

    p.values = &eta;
    p.n_values = 1;
    if (gg_sampler_new(&p, &s, &err) == GG_OK &&
        gg_sampler_candidates(s, NULL, logits, n, &c, &m, &err) != GG_OK)
        m = 0;
    gg_sampler_free(s);
    return m;
}

/* Probabilities 0.6, 0.2, 0.1, 0.1: exp(-entropy) is 0.3366. */
static void
test_eta(void)
{
    const float logits[] = { logf(0.6f), logf(0.2f), logf(0.1f), logf(0.1f) };
    static const float equal[7], far[] = { 0, -900, -INFINITY };

    is(left_by_eta(0, logits, 4), 4, "eta cutoff of 0: all");
    is(left_by_eta(0.098, logits, 4), 4, "epsilon, where it is less");
    is(left_by_eta(0.105, logits, 4), 2, "which cuts");
    is(left_by_eta(0.3, logits, 4), 2, "its root by the entropy: 0.1844");
    is(left_by_eta(0.4, logits, 4), 1, "0.2129");
    is(left_by_eta(1, equal, 7), 7, "equals stay");
    is(left_by_eta(1e-30, far, 3), 1, "a weight of 0 has no entropy");
}

/* Mean 1, deviation sqrt(2): 4, and what is 1 deviation below. */
static void
test_sigma(void)
{
    static const float logits[] = { 3, 1.6f, 0.2f, -INFINITY, 1, 0, 0.2f };
    struct gg_sampler_params p = { .temperature = 1, .top_p = 1 };
    double mean = 1, square = 0;
    size_t n, want = 0;

    for (int i = 0; i < 7; i++)
        square += i == 3 ? 0 : pow(logits[i] - mean, 2) / 6;
    for (int i = 0; i < 7; i++)
        want += logits[i] >= 3 - 1.5 * sqrt(square);
    p.top_n_sigma = 1.5f;
    left(&p, logits, 7, &n);
    ok(n == want && n == 2, "one deviation and a half");
    p.temperature = 9;
    left(&p, logits, 7, &n);
    is(n, want, "whatever the temperature");
}

/* The surprisal comes to tau, whatever the logits' own is. */
static void
test_surprise(int version)
{
    struct gg_sampler_params p = { .temperature = 1,
                                   .mirostat = version,
                                   .mirostat_tau = 3,
                                   .mirostat_eta = 0.1f };
    struct gg_sampler *s = NULL;
    struct gg_history *h = NULL;
    struct gg_draw d;
    double sum = 0;
    float logits[N];

    if (new_said(&p, &s, &err) == GG_OK && gg_history_new(s, &h, &err) == GG_OK)
        for (uint64_t i = 0; i < 1200; i++) {
            for (int j = 0; j < N; j++)
                logits[j] = -1.1f * logf((float)(j + 1));
            if (gg_sampler_next(s, h, NULL, logits, N, 0, i, &d, &err) != GG_OK)
                break;
            sum += i < 200 ? 0 : -d.logprob / log(2);
        }
    ok(fabs(sum / 1000 - 3) < 0.1, "the surprise is what was asked for");
    gg_history_free(h);
    gg_sampler_free(s);
}

/* ---- some of the logits; refusals ---- */

static enum gg_status
next(const struct gg_sampler_params *p, const int32_t *ids, size_t n,
     bool history, struct gg_draw *d)
{
    static const float logits[] = { 1, 0.5f, 0 };
    static const int32_t seen[] = { 9, 20, 9, 20, 9 };
    struct gg_sampler *s = NULL;
    struct gg_history *h = NULL;
    enum gg_status st = new_said(p, &s, &err);

    if (st == GG_OK)
        st = gg_history_new(s, &h, &err);
    if (st == GG_OK)
        st = gg_history_add(h, seen, 5, &err);
    if (st == GG_OK)
        st = gg_sampler_next(s, history ? h : NULL, ids, logits, n, 0, 5, d,
                             &err);
    gg_history_free(h);
    gg_sampler_free(s);
    return st;
}

static void
test_some(void)
{
    static const int32_t ids[] = { 20, 5, 70 };
    static const struct gg_bias up = { 6, 1 }, down = { 6, -1 },
                                own = { 70, 9 };
    struct gg_sampler_params p = { .penalty_last_n = 64 }, q;
    struct gg_draw d = { -1, 0 };

    q = p, q.presence_penalty = 2;
    ok(next(&q, ids, 3, true, &d) == GG_OK && d.id == 5, "penalty by id");
    ok(next(&q, NULL, 3, false, &d) == GG_ERR_ARG, "penalties want a history");
    q.presence_penalty = -1;
    is(next(&q, ids, 3, true, &d), GG_ERR_UNSUPPORTED, "a reward");
    q = p, q.dry_multiplier = 1, q.dry_base = 2, q.dry_allowed_length = 1;
    q.dry_last_n = -1;
    ok(next(&q, ids, 3, true, &d) == GG_OK && d.id == 5, "DRY by id");
    q = p, q.n_bias = 1, q.bias = &own;
    ok(next(&q, ids, 3, true, &d) == GG_OK && d.id == 70, "bias by id");
    q.bias = &up;
    is(next(&q, ids, 3, true, &d), GG_ERR_UNSUPPORTED, "of one not there");
    q.bias = &down;
    is(next(&q, ids, 3, true, &d), GG_OK, "which may be lowered");
    q = p, q.temperature = 1, q.top_n_sigma = 1;
    is(next(&q, ids, 3, true, &d), GG_ERR_UNSUPPORTED, "top-n-sigma");
    q = p, q.temperature = 1, q.mirostat = 2;
    is(next(&q, ids, 3, true, &d), GG_ERR_UNSUPPORTED, "Mirostat");
    ok(next(&q, NULL, 3, false, &d) == GG_ERR_ARG, "which wants a history");
}

static void
test_refused(void)
{
    static const struct gg_bias bias[] = { { 0, -INFINITY },
                                           { 1, -INFINITY },
                                           { 2, -INFINITY } };
    struct gg_sampler_params p = { .n_bias = 3, .bias = bias }, q = { 0 };
    struct gg_draw d;

    ok(next(&p, NULL, 3, true, &d) == GG_ERR_FORMAT, "nothing is left");
    ok(next(&p, NULL, 2, true, &d) == GG_ERR_ARG, "a bias beyond them");
    q.typical_p = 2;
    ok(next(&q, NULL, 3, true, &d) == GG_ERR_ARG, "typical");
    q = (struct gg_sampler_params){ .dry_multiplier = 1, .dry_base = 0.5f };
    ok(next(&q, NULL, 3, true, &d) == GG_ERR_ARG, "DRY's base");
    q = (struct gg_sampler_params){ .mirostat = 3 };
    ok(next(&q, NULL, 3, true, &d) == GG_ERR_ARG, "Mirostat 3");
    q = (struct gg_sampler_params){ .repeat_penalty = NAN };
    ok(next(&q, NULL, 3, true, &d) == GG_ERR_ARG, "no number");
}

static void
test_log_sum_exp(void)
{
    static const float logits[] = { 1000, 999, -INFINITY };

    ok(fabs(gg_log_sum_exp(logits, 3) - (1000 + log(1 + exp(-1)))) < 1e-12,
       "log-sum-exp");
}

int
main(void)
{
    srand(1);
    test_each();
    test_typical();
    test_eta();
    test_sigma();
    test_surprise(1);
    test_surprise(2);
    test_some();
    test_refused();
    test_log_sum_exp();
    return tap_done();
}
