/* test_sampler_order.c - every stage of the sampler chain in every place of an
 * order, against plain computations in double
 *
 * A stage without a case here fails. */
#include <gg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/random.h"
#include "sample/stages.h"
#include "sampler_draws.h"
#include "harness/tap.h"

enum {
    ORDERS = 60,
    STEPS = 12,
};

/* ---- stages to compare with: each changes a sorted list ---- */

struct token {
    double x, p, key; /* the logit as stages have left it */
    int32_t id;
};

struct list {
    struct token t[N];
    size_t n;
    const int32_t *past;
    size_t n_past;
    double chance;
};

static int
by_logit(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    if (x->x != y->x)
        return x->x > y->x ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int
by_key(const void *a, const void *b)
{
    const struct token *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void
softmax(struct list *l)
{
    double sum = 0;

    qsort(l->t, l->n, sizeof(*l->t), by_logit);
    for (size_t i = 0; i < l->n; i++)
        sum += l->t[i].p = exp(l->t[i].x - l->t[0].x);
    for (size_t i = 0; i < l->n; i++)
        l->t[i].p /= sum;
}

static void
penalties(struct list *l, const double *v)
{
    for (size_t i = 0; i < l->n; i++) {
        double *x = &l->t[i].x;
        int count = 0;

        for (size_t k = 0; k < l->n_past; k++)
            count += l->past[k] == l->t[i].id && l->n_past - k <= v[3];
        if (count && v[0] > 0)
            *x = *x > 0 ? *x / v[0] : *x * v[0];
        *x -= count ? count * v[1] + v[2] : 0;
    }
}

static void
dry(struct list *l, const double *v)
{
    for (size_t i = 0; i < l->n; i++) {
        size_t longest = 0, n = l->n_past;

        for (size_t at = 1; at < n; at++) {
            size_t len = 0;

            while (l->past[at] == l->t[i].id && len < at &&
                   l->past[at - 1 - len] == l->past[n - 1 - len])
                len++;
            longest = len > longest ? len : longest;
        }
        if ((double)longest >= v[2])
            l->t[i].x -= v[0] * pow(v[1], (double)longest - v[2]);
    }
}

static void
sigma(struct list *l, const double *v)
{
    double mean = 0, square = 0;

    softmax(l);
    for (size_t i = 0; i < l->n; i++)
        mean += l->t[i].x / (double)l->n;
    for (size_t i = 0; i < l->n; i++)
        square += pow(l->t[i].x - mean, 2) / (double)l->n;
    while (l->t[l->n - 1].x < l->t[0].x - v[0] * sqrt(square))
        l->n--;
}

static void
temperature(struct list *l, const double *v)
{
    double t = v[0], h = 0, least = fmax(v[0] - v[1], 0);

    if (v[0] == 0)
        l->n = 1;
    for (size_t i = 0; i < l->n; i++)
        h -= l->t[i].p * log(l->t[i].p);
    if (v[1] > 0 && l->n > 1)
        t = least + (v[0] + v[1] - least) * pow(h / log((double)l->n), v[2]);
    for (size_t i = 0; i < l->n && t > 0; i++)
        l->t[i].x /= t;
}

static void
top_k(struct list *l, const double *v)
{
    l->n = (double)l->n > v[0] ? (size_t)v[0] : l->n;
}

static void
typical(struct list *l, const double *v)
{
    double h = 0, sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        h -= l->t[i].p * log(l->t[i].p);
    for (size_t i = 0; i < l->n; i++)
        l->t[i].key = fabs(-log(l->t[i].p) - h);
    qsort(l->t, l->n, sizeof(*l->t), by_key);
    while (n < l->n && sum < v[0])
        sum += l->t[n++].p;
    l->n = n;
}

static void
eta_cutoff(struct list *l, const double *v)
{
    double h = 0;

    for (size_t i = 0; i < l->n; i++)
        h -= l->t[i].p * log(l->t[i].p);
    while (l->n > 1 && l->t[l->n - 1].p < fmin(v[0], sqrt(v[0]) * exp(-h)))
        l->n--;
}

static void
top_p(struct list *l, const double *v)
{
    double sum = 0;
    size_t n = 0;

    while (n < l->n && sum < v[0])
        sum += l->t[n++].p;
    l->n = n;
}

static void
min_p(struct list *l, const double *v)
{
    while (l->n > 1 && l->t[l->n - 1].p < v[0] * l->t[0].p)
        l->n--;
}

static void
xtc(struct list *l, const double *v)
{
    size_t top = 0;

    while (l->chance < v[0] && top < l->n && l->t[top].p >= v[1])
        top++;
    if (top > 1) {
        l->n -= top - 1;
        memmove(l->t, l->t + top - 1, l->n * sizeof(*l->t));
    }
}

/* As the first draw of a text has it: the mean is the target. */
static void
adaptive_p(struct list *l, const double *v)
{
    double sum = 0;

    for (size_t i = 0; i < l->n; i++) {
        double far = fabs(l->t[i].p - v[0]) / 0.3;

        sum += l->t[i].p = exp(5 - 10 * far * far / (1 + far));
    }
    for (size_t i = 0; i < l->n; i++)
        l->t[i].p /= sum;
}

/* With numbers by which the place of a stage is seen. */
static struct stage_case {
    const char *name;
    void (*apply)(struct list *l, const double *v);
    double v[SAMPLE_NUMBERS];
} cases[] = {
    { "penalties", penalties, { 1.25, 0.25, 0.5, 30 } },
    { "dry", dry, { 0.5, 1.5, 1, -1 } },
    { "top-n-sigma", sigma, { 1.5 } },
    { "temperature", temperature, { 1.75 } },
    { "top-k", top_k, { 23 } },
    { "typical-p", typical, { 0.75 } },
    { "eta-cutoff", eta_cutoff, { 0.25 } },
    { "top-p", top_p, { 0.875 } },
    { "min-p", min_p, { 0.0625 } },
    { "xtc", xtc, { 0.75, 0.0625 } },
    { "adaptive-p", adaptive_p, { 0.25, 0.5 } },
};

enum {
    TEMPERATURE_CASE = 3,
    CASES = sizeof(cases) / sizeof(cases[0]),
};

/* ---- samplers ---- */

/* A sampler of stages that are named or all, each with the numbers of its
 * case; or at temperature 0. */
static struct gg_sampler *
new_sampler(const char *stages, uint64_t seed, bool greedy)
{
    static struct gg_sampler_value values[CASES * SAMPLE_NUMBERS];
    struct gg_sampler_params p = {
        .stages = stages, .values = values, .seed = seed, .greedy = greedy
    };
    struct gg_sampler *s = NULL;

    for (int i = 0; i < CASES; i++) {
        const struct sample_stage *row =
            sample_stages_find(cases[i].name, strlen(cases[i].name));

        for (int k = 0; row && k < SAMPLE_NUMBERS; k++)
            if (row->numbers[k].is.name)
                values[p.n_values++] =
                    (struct gg_sampler_value){ row->numbers[k].is.name,
                                               cases[i].v[k] };
    }
    return gg_sampler_new(&p, &s, &err) == GG_OK ? s : NULL;
}

static void
apply(struct list *l, const int *order, size_t n, bool greedy)
{
    static const double zero[SAMPLE_NUMBERS];
    bool scaled = false;
    const struct stage_case *last = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct stage_case *c = &cases[order[i]];
        bool is_temperature = c->apply == temperature;

        if (c->apply == adaptive_p) {
            last = c;
            continue;
        }
        softmax(l);
        c->apply(l, greedy && is_temperature ? zero : c->v);
        scaled |= is_temperature;
    }
    softmax(l);
    if (greedy && !scaled)
        l->n = 1;
    softmax(l);
    if (last)
        last->apply(l, last->v);
}

static struct token
draw_reference(struct list *l, double u)
{
    double sum = 0;
    size_t i = 0;

    while (i + 1 < l->n && (sum += l->t[i].p) <= u)
        i++;
    return l->t[i];
}

/* Draws of the order that are not those of the reference. */
static int
count_wrong(const int *order, size_t n, bool greedy)
{
    char names[300] = "";
    float logits[N];
    int32_t past[PAST];
    struct gg_sampler *s;
    int wrong = 0;

    for (size_t i = 0; i < n; i++) {
        strcat(names, i ? ";" : "");
        strcat(names, cases[order[i]].name);
    }
    s = new_sampler(names, 5, greedy);
    for (uint64_t at = 0; s && at < STEPS; at++) {
        struct list l = { .n = N, .past = past, .n_past = PAST };
        struct token want;
        struct gg_draw d = { -1, 0 };
        double u[2];

        fill(logits, past);
        sample_random_pair(5, 1, at, u);
        for (int32_t i = 0; i < N; i++)
            l.t[i] = (struct token){ logits[i], 0, 0, i };
        l.chance = u[1];
        apply(&l, order, n, greedy);
        want = draw_reference(&l, u[0]);
        wrong += !draw(s, logits, past, at, &d) || d.id != want.id ||
                 fabs(d.logprob - log(want.p)) > 1e-5;
    }
    gg_sampler_free(s);
    if (!s || wrong)
        printf("# %s%s\n", names, greedy ? ", greedy" : "");
    return s ? wrong : STEPS;
}

static void
shuffle(int *order)
{
    for (int i = 0; i < CASES; i++) {
        int k = rand() % (i + 1);

        order[i] = order[k];
        order[k] = i;
    }
}

static void
test_orders(void)
{
    int order[CASES], wrong = 0, wrong_part = 0, wrong_greedy = 0;

    for (int i = 0; i < ORDERS; i++) {
        shuffle(order);
        wrong += count_wrong(order, CASES, false);
        wrong_part += count_wrong(order, (size_t)(i % CASES), false);
        wrong_greedy += count_wrong(order, (size_t)(i % (CASES + 1)), true);
    }
    is(wrong, 0, "all stages in any order, as computed in double");
    is(wrong_part, 0, "some of them");
    is(wrong_greedy, 0, "at temperature 0");
}

/* Draws of one text by adaptive-p, whose mean they move. */
static void
test_mean(void)
{
    static const struct gg_sampler_value values[] = {
        { "adaptive-target", 0.3f }, { "adaptive-decay", 0.75 }
    };
    struct gg_sampler_params p = { .stages = "adaptive_p;top-k;temp",
                                   .values = values,
                                   .n_values = 2,
                                   .temperature = 1,
                                   .top_k = 50 };
    struct gg_sampler *s = NULL;
    struct gg_history *h = NULL, *twin = NULL;
    double mean = 0.3f, u[2];
    int wrong = gg_sampler_new(&p, &s, &err) != GG_OK ||
                gg_history_new(s, &h, &err) != GG_OK ||
                gg_history_new(s, &twin, &err) != GG_OK;

    for (uint64_t at = 0; !wrong && at < 100; at++) {
        struct list l = { .n = N };
        struct token was[N], want;
        float logits[N];
        int32_t past[PAST];
        struct gg_draw d = { -1, 0 }, again = { -2, 0 };

        fill(logits, past);
        sample_random_pair(0, 0, at, u);
        for (int32_t i = 0; i < N; i++)
            l.t[i] = (struct token){ logits[i], 0, 0, i };
        softmax(&l);
        l.n = 50;
        softmax(&l);
        memcpy(was, l.t, sizeof(was));
        adaptive_p(&l, (double[]){ fmin(fmax(2 * 0.3f - mean, 0), 1) });
        want = draw_reference(&l, u[0]);
        gg_history_set_mirostat(twin, gg_history_mirostat(h));
        wrong +=
            gg_sampler_next(s, h, NULL, logits, N, 0, at, &d, &err) != GG_OK ||
            gg_sampler_next(s, twin, NULL, logits, N, 0, at, &again, &err) !=
                GG_OK ||
            d.id != want.id || again.id != want.id ||
            fabs(d.logprob - log(want.p)) > 1e-5;
        for (size_t i = 0; i < l.n; i++)
            if (was[i].id == want.id)
                mean = 0.75 * mean + 0.25 * was[i].p;
        wrong += fabs(gg_history_mirostat(h) - mean) > 1e-6;
    }
    is(wrong, 0, "adaptive-p holds the mean at its target, as in double");
    gg_history_set_mirostat(h, 10);
    ok(fabs(gg_history_mirostat(h) - mean) < 1e-6,
       "and takes no mean that is none");
    gg_history_free(h);
    gg_history_free(twin);
    gg_sampler_free(s);
}

/* Each stage moves to the other end, and to where it was alone. */
static void
test_stages(void)
{
    int found = 0, rows = 0;

    for (int i = 0; i < CASES; i++) {
        int order[CASES], n = 0, wrong;
        char name[80];

        for (int k = 0; k < CASES; k++)
            if (k != i)
                order[1 + n++] = k;
        order[0] = i;
        wrong = count_wrong(order, CASES, false) +
                count_wrong(order, 1, false) +
                count_wrong(order + 1, CASES - 1, false);
        for (int k = 0; k + 1 < CASES; k++)
            order[k] = order[k + 1];
        order[CASES - 1] = i;
        wrong += count_wrong(order, CASES, false);
        snprintf(name, sizeof(name), "%s first, last, alone, not there",
                 cases[i].name);
        is(wrong, 0, name);
    }
    for (int i = 0; sample_stages[i].name; i++, rows++) {
        bool has = sample_stages[i].kind == SAMPLE_ALONE;

        for (int k = 0; k < CASES; k++)
            has |= strcmp(cases[k].name, sample_stages[i].name) == 0;
        if (!has)
            printf("# %s has no case\n", sample_stages[i].name);
        found += has;
    }
    is(found, rows, "every stage that can be named has a case");
}

/* ---- sparse logits ---- */

static size_t
enough(const char *stages, bool greedy)
{
    struct gg_sampler *s = new_sampler(stages, 1, greedy);
    size_t n = s ? gg_sampler_enough(s) : 99999;

    gg_sampler_free(s);
    return n;
}

/* Draws of the likeliest k are those of all. */
static bool
draws_alike(const char *stages, size_t k)
{
    struct gg_sampler *s = new_sampler(stages, 1, false);
    struct gg_sampler *top = new_sampler("top-k", 1, false);
    const struct gg_candidate *c;
    float logits[N], few[N];
    int32_t past[PAST], ids[N], a = -1, b = -2;
    size_t n = 0;
    bool right = s && top;

    for (uint64_t at = 0; right && at < 30; at++) {
        fill(logits, past);
        right = gg_sampler_candidates(top, NULL, logits, N, &c, &n, &err) ==
                    GG_OK &&
                n == k;
        for (size_t i = 0; i < n; i++) {
            ids[i] = c[i].id;
            few[i] = c[i].logit;
        }
        right = right &&
                gg_sampler_draw(s, NULL, logits, N, 0, at, &a, &err) == GG_OK &&
                gg_sampler_draw(s, ids, few, n, 0, at, &b, &err) == GG_OK &&
                a == b;
    }
    gg_sampler_free(s);
    gg_sampler_free(top);
    return right;
}

static enum gg_status
draw_some(const char *stages)
{
    static const float logits[] = { 2, 1, 0 };
    static const int32_t ids[] = { 7, 3, 9 };
    struct gg_sampler_params p = { .stages = stages,
                                   .top_k = 3,
                                   .top_n_sigma = 1 };
    struct gg_sampler *s = NULL;
    int32_t id;
    enum gg_status st = gg_sampler_new(&p, &s, &err);

    if (st == GG_OK)
        st = gg_sampler_draw(s, ids, logits, 3, 0, 0, &id, &err);
    gg_sampler_free(s);
    return st;
}

static void
test_sparse(void)
{
    is(enough("top-k;typical-p;xtc;temperature", false), 23, "top-k first");
    is(enough("temperature;min-p;top-k;top-p", false), 23,
       "what needs no others before it");
    is(enough("top-p;top-k", false), 0, "a sum of all before it");
    is(enough("xtc;top-k", false), 0, "XTC");
    is(enough("dry;top-k", false), 0, "DRY");
    is(enough("", false), 0, "no stage");
    is(enough("temperature;penalties", true), 1, "the likeliest");
    is(enough("top-k;min-p;temperature", true), 1, "which these keep");
    is(enough("top-k;xtc;temperature", true), 23, "and XTC does not");
    ok(draws_alike("top-k;typical-p;xtc;temperature", 23) &&
           draws_alike("temperature;min-p;top-k;top-p", 23) &&
           draws_alike("top-k;top-n-sigma;temperature", 23),
       "enough of them are drawn from as all are");
    is(draw_some("top-n-sigma;top-k"), GG_ERR_UNSUPPORTED,
       "some are not enough for top-n-sigma");
    ok(strstr(err.message, "top-n-sigma"), "which is named");
    is(draw_some("top-k;top-n-sigma"), GG_OK, "but for those of top-k");
}

static bool
refuses(const char *stages, const char *why)
{
    bool right =
        draw_some(stages) == GG_ERR_UNSUPPORTED && strstr(err.message, why);

    if (!right)
        printf("# %s: %s\n", stages, err.message);
    return right;
}

/* In an order that is named no stage gets too few of them. */
static void
test_some(void)
{
    ok(refuses("top-p;top-k", "top-p needs all") &&
           refuses("penalties;xtc;top-k", "xtc needs all") == false &&
           refuses("temperature;min-p", "no stage of the order"),
       "some are not enough for a stage, which is named");
    is(enough("temperature;top-k", false), 0,
       "the dynamic temperature needs all");
    is(enough("top-k;temperature;adaptive-p", false), 23,
       "but for those that are left");
}

int
main(void)
{
    srand(1);
    test_stages();
    test_orders();
    cases[TEMPERATURE_CASE].v[1] = 1.25; /* its range, and the exponent */
    cases[TEMPERATURE_CASE].v[2] = 0.75;
    test_orders();
    test_stages();
    test_mean();
    test_some();
    cases[TEMPERATURE_CASE].v[1] = 0;
    test_sparse();
    return tap_done();
}
