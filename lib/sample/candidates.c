/* candidates.c - candidates: logits as a list, sorted no further than needed */
#include "sample/candidates.h"

#include <math.h>

enum {
    FIRST_TAKE = 64, /* without top-k, this many are put in order first */
};

static void
fill_choices(struct sample_candidates *p, size_t k)
{
    if (k == p->n && p->bar > -INFINITY) {
        p->n_choices = select_above(p->ids, p->logits, k, p->bar, p->choices);
        p->whole = true;
        return;
    }
    p->n_choices = select_top(p->ids, p->logits, p->n, k, p->choices);
    p->whole = p->n_choices < k || k == p->n;
}

struct sample_candidates
sample_candidates_of(const int32_t *ids, const float *logits, size_t n,
                     size_t k, double temperature, struct choice *choices)
{
    struct sample_candidates p = {
        .ids = ids,
        .logits = logits,
        .n = n,
        .bar = -INFINITY,
        .temperature = temperature,
        .choices = choices,
    };
    bool cut;

    if (temperature == 0)
        k = 1;
    cut = k > 0 && k < n;
    fill_choices(&p, cut ? k : n < FIRST_TAKE ? n : FIRST_TAKE);
    p.whole = p.whole || cut;
    p.highest = p.choices[0].logit;
    return p;
}

struct sample_candidates
sample_candidates_whole(struct choice *choices, size_t n, double temperature)
{
    return (struct sample_candidates){
        .n = n,
        .highest = choices[0].logit,
        .bar = -INFINITY,
        .temperature = temperature,
        .choices = choices,
        .n_choices = n,
        .whole = true,
    };
}

/* The bar is lower than it need be, by more than logarithms and floats err. */
void
sample_candidates_limit(struct sample_candidates *p, double weight)
{
    double below = p->temperature * log(weight), bar = p->highest + below;

    if (p->temperature > 0 && weight > 0)
        p->bar =
            (float)(bar - 1e-6 * (fabs(bar) + fabs(below) + p->temperature));
}

bool
sample_candidates_take(struct sample_candidates *p, struct choice *out)
{
    bool few = 8 * p->next < SELECT_MANY && p->bar == -INFINITY;

    if (p->next == p->n_choices && !p->whole)
        fill_choices(p, few ? 8 * p->next : p->n);
    if (p->next == p->n_choices)
        return false;
    *out = p->choices[p->next++];
    return true;
}

double
sample_candidates_weigh(const struct sample_candidates *p, float logit)
{
    double t = p->temperature;

    return t == 0 ? 1 : exp(((double)logit - p->highest) / t);
}

double
sample_candidates_weight(const struct sample_candidates *p)
{
    double sum = 0;

    for (size_t i = 0; p->whole && i < p->n_choices; i++)
        sum += sample_candidates_weigh(p, p->choices[i].logit);
    for (size_t i = 0; !p->whole && i < p->n; i++)
        sum += sample_candidates_weigh(p, p->logits[i]);
    return sum;
}
