/* stages.c - the stages of the sampler chain: what cuts a list, and the table
 *
 * Top-k, top-p, min-p and the eta cutoff each keep the front of the list.
 * Locally typical sampling keeps a part of it that may have gaps; XTC takes the
 * front off. All sums are in double, in list order. */
#include <config.h>

#include "sample/stages.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sample/edit.h"
#include "sample/mirostat.h"
#include "sample/sampler.h"

double
sample_stages_sum(const struct gg_sampler *s, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += s->weights[i];
    return sum;
}

/* Numbers of most stages: 0 is off. */
static bool
is_above_0(const double *v)
{
    return v[0] > 0;
}

/* A probability that must be reached: 1 is off. */
static bool
is_below_1(const double *v)
{
    return v[0] < 1;
}

static size_t
any_logits(const double *v)
{
    (void)v;
    return SAMPLE_ANY;
}

static bool
always(const double *v)
{
    (void)v;
    return true;
}

/* ---- surprise ---- */

/* How unlikely token i of the list is: -log of its probability, where
 * exp(whole) is the sum of all weights. */
static double
surprisal(const struct sample_draw *d, double whole, size_t i)
{
    double x = d->s->candidates[i].logit;

    return whole - (x - d->list.highest) / d->list.temperature;
}

/* Without that of a weight so small that it is 0, whose share of the entropy
 * is none. */
static double
entropy(const struct sample_draw *d, double all)
{
    double h = 0, whole = log(all);

    for (size_t i = 0; i < d->left; i++)
        if (d->s->weights[i] > 0)
            h += d->s->weights[i] / all * surprisal(d, whole, i);
    return h;
}

/* ---- temperature ---- */

enum {
    TEMPERATURE,
    DYNATEMP_RANGE,
    DYNATEMP_EXPONENT,
};

/* At 0 the likeliest is taken, whatever the range. */
static bool
is_dynamic(const double *v)
{
    return v[TEMPERATURE] > 0 && v[DYNATEMP_RANGE] > 0;
}

static size_t
temperature_enough(const double *v)
{
    if (is_dynamic(v))
        return 0;
    return v[TEMPERATURE] == 0 ? 1 : SAMPLE_ANY;
}

static bool
join_temperature(struct sample_front *f, const double *v)
{
    if (f->top_p < 1 || f->min_p > 0 || is_dynamic(v))
        return false;
    f->temperature = v[TEMPERATURE];
    return true;
}

static double
within_1(double x)
{
    return x > 0 ? x < 1 ? x : 1 : 0;
}

/* Between temperature - range, or 0, and temperature + range: by the entropy of
 * what is left, as a share of the greatest that as many tokens can have, to the
 * power of the exponent. */
static double
dynamic_temperature(const struct sample_draw *d, const double *v)
{
    double least = v[TEMPERATURE] - v[DYNATEMP_RANGE];
    double most = v[TEMPERATURE] + v[DYNATEMP_RANGE], share;

    if (d->left < 2)
        return v[TEMPERATURE];
    least = least > 0 ? least : 0;
    share = entropy(d, sample_stages_sum(d->s, d->left)) / log((double)d->left);
    return least + (most - least) * pow(within_1(share), v[DYNATEMP_EXPONENT]);
}

static size_t
scale(struct sample_draw *d, const double *v)
{
    struct gg_sampler *s = d->s;
    double t = is_dynamic(v) ? dynamic_temperature(d, v) : v[TEMPERATURE];

    d->list.temperature = t;
    d->list.highest = s->candidates[0].logit;
    for (size_t i = 0; i < d->left; i++)
        s->weights[i] =
            sample_candidates_weigh(&d->list, s->candidates[i].logit);
    return t == 0 ? 1 : d->left;
}

/* ---- top-k ---- */

static size_t
top_k_enough(const double *v)
{
    return (size_t)v[0];
}

static bool
join_top_k(struct sample_front *f, const double *v)
{
    if (f->top_p < 1 || f->min_p > 0)
        return false;
    f->k = (size_t)v[0];
    return true;
}

static size_t
cut_top_k(struct sample_draw *d, const double *v)
{
    return (double)d->left > v[0] ? (size_t)v[0] : d->left;
}

/* ---- top-p, min-p ---- */

static bool
join_top_p(struct sample_front *f, const double *v)
{
    if (f->min_p > 0)
        return false;
    f->top_p = v[0];
    return true;
}

static size_t
cut_top_p(struct sample_draw *d, const double *v)
{
    double stop = v[0] * sample_stages_sum(d->s, d->left), sum = 0;
    size_t i = 0;

    do
        sum += d->s->weights[i++];
    while (i < d->left && sum < stop);
    return i;
}

static bool
join_min_p(struct sample_front *f, const double *v)
{
    f->min_p = v[0];
    return true;
}

static size_t
cut_min_p(struct sample_draw *d, const double *v)
{
    const double *weights = d->s->weights;
    size_t n = d->left;

    while (n > 1 && weights[n - 1] < v[0] * weights[0])
        n--;
    return n;
}

/* ---- typical ---- */

static bool
typical_is_on(const double *v)
{
    return v[0] > 0 && v[0] < 1;
}

/* The tokens from[0..n) of the list stand at `to`. */
static void
move_tokens(struct gg_sampler *s, size_t to, size_t from, size_t n)
{
    memmove(&s->candidates[to], &s->candidates[from],
            n * sizeof(*s->candidates));
    memmove(&s->weights[to], &s->weights[from], n * sizeof(*s->weights));
}

/* Where the tokens that have the logit of the one before `end` begin. */
static size_t
begin_of_equals(const struct gg_sampler *s, size_t end)
{
    size_t i = end - 1;

    while (i > 0 && s->candidates[i - 1].logit == s->candidates[i].logit)
        i--;
    return i;
}

/* Along the list surprise grows, so that its distance from the entropy falls
 * and then rises: tokens are taken to both sides from where it is least, the
 * nearest first, of equals the first one. */
static size_t
cut_typical(struct sample_draw *d, const double *v)
{
    struct gg_sampler *s = d->s;
    double all = sample_stages_sum(s, d->left), h = entropy(d, all);
    double enough = v[0] * all, whole = log(all), sum = 0;
    size_t n = d->left, first = 0, end, part, m = 0;

    while (first < n && surprisal(d, whole, first) < h)
        first++;
    end = part = first;
    do {
        bool front = end == n;

        if (first > 0 && end < n)
            front = h - surprisal(d, whole, first - 1) <=
                    surprisal(d, whole, end) - h;
        if (front) {
            part = first;
            first = begin_of_equals(s, first);
            for (m = first; m < part && (m == first || sum < enough); m++)
                sum += s->weights[m];
            if (m < part)
                break; /* of these equals the last ones are left out */
        } else {
            sum += s->weights[end++];
        }
        part = m = first;
    } while (sum < enough && end - first < n);
    move_tokens(s, 0, first, m - first);
    move_tokens(s, m - first, part, end - part);
    return m - first + end - part;
}

/* ---- eta cutoff ---- */

/* The highest probability is at least exp(-entropy), and so never below eta:
 * what has the weight of the first stays, whatever the rounding. */
static size_t
cut_eta(struct sample_draw *d, const double *v)
{
    const double *weights = d->s->weights;
    double all = sample_stages_sum(d->s, d->left);
    double eta = fmin(v[0], sqrt(v[0]) * exp(-entropy(d, all)));
    double bar = fmin(eta * all, weights[0]);
    size_t n = d->left;

    while (n > 1 && weights[n - 1] < bar)
        n--;
    return n;
}

/* ---- XTC ---- */

enum {
    XTC_PROBABILITY,
    XTC_THRESHOLD,
};

static bool
xtc_acts(const struct sample_draw *d, const double *v)
{
    return d->chance < v[XTC_PROBABILITY];
}

/* The last of the tokens that reach the threshold stays, and what is after
 * it. */
static size_t
exclude_top(struct sample_draw *d, const double *v)
{
    double bar = v[XTC_THRESHOLD] * sample_stages_sum(d->s, d->left);
    size_t n = d->left, top = 0;

    while (top < n && d->s->weights[top] >= bar)
        top++;
    if (top < 2)
        return n;
    n -= top - 1;
    move_tokens(d->s, 0, top - 1, n);
    return n;
}

/* ---- adaptive-p ---- */

enum {
    ADAPTIVE_TARGET,
    ADAPTIVE_DECAY,
};

static bool
adaptive_is_on(const double *v)
{
    return v[ADAPTIVE_TARGET] >= 0;
}

/* A token's weight falls with the distance of its probability from one that
 * makes up for what the mean of the last ones was off the target: near it with
 * the square, far from it in proportion. */
static size_t
favor_target(struct sample_draw *d, const double *v)
{
    static const double width = 0.3, sharpness = 10;
    struct gg_sampler *s = d->s;
    double target = within_1(2 * v[ADAPTIVE_TARGET] - d->h->mu);

    d->before = sample_stages_sum(s, d->left);
    for (size_t i = 0; i < d->left; i++) {
        double far = fabs(s->weights[i] / d->before - target) / width;

        s->weights[i] = exp(-sharpness * far * far / (1 + far));
    }
    return d->left;
}

static void
adaptive_begin(struct gg_history *h, const double *v)
{
    h->mu = v[ADAPTIVE_TARGET];
    h->is_mean = true;
}

/* The probability that the token had before. */
static void
adaptive_learn(struct gg_history *h, const double *v,
               const struct sample_draw *d, size_t i)
{
    double weight =
        sample_candidates_weigh(&d->list, d->s->candidates[i].logit);

    h->mu = v[ADAPTIVE_DECAY] * h->mu +
            (1 - v[ADAPTIVE_DECAY]) * weight / d->before;
}

/* ---- the table ---- */

#define AT(member) .at = offsetof(struct gg_sampler_params, member)

/* clang-format off */
const struct sample_stage sample_stages[] = {
    { "penalties", .kind = SAMPLE_CHANGES, .remembers = true,
      .numbers = {
        [PENALTY_REPEAT] = { { "repeat-penalty", 0, 1e6 },
                             AT(repeat_penalty) },
        [PENALTY_FREQUENCY] = { { "frequency-penalty", -1e6, 1e6 },
                                AT(frequency_penalty) },
        [PENALTY_PRESENCE] = { { "presence-penalty", -1e6, 1e6 },
                               AT(presence_penalty) },
        [PENALTY_LAST_N] = { { "repeat-last-n", -1, INT32_MAX, 64, true },
                             AT(penalty_last_n), .past = true } },
      .is_on = sample_edit_has_penalties,
      .needs_all = "penalties that raise logits need all of them",
      .raises = sample_edit_raises, .edit = sample_edit_penalties },
    { "dry", .kind = SAMPLE_CHANGES, .remembers = true,
      .numbers = {
        [DRY_MULTIPLIER] = { { "dry-multiplier", 0, 1e6 },
                             AT(dry_multiplier) },
        [DRY_BASE] = { { "dry-base", 1, 1e6, 1.75 }, AT(dry_base) },
        [DRY_LENGTH] = { { "dry-allowed-length", 1, INT32_MAX, 2, true },
                         AT(dry_allowed_length) },
        [DRY_LAST_N] = { { "dry-penalty-last-n", -1, INT32_MAX, -1, true },
                         AT(dry_last_n), .past = true } },
      .is_on = sample_edit_has_dry, .edit = sample_edit_dry },
    { "top-n-sigma", .kind = SAMPLE_CUTS_TAIL,
      .numbers = { { { "top-n-sigma", 0, 1e6 }, AT(top_n_sigma) } },
      .is_on = is_above_0, .needs_all = "top-n-sigma needs all logits",
      .edit = sample_edit_sigma, .looks_around = true },
    { "temperature", "temp", SAMPLE_CHANGES,
      .numbers = {
        [TEMPERATURE] = { { "temperature", 0, 1e6, 0.8f }, AT(temperature) },
        [DYNATEMP_RANGE] = { { "dynatemp-range", 0, 1e6 } },
        [DYNATEMP_EXPONENT] = { { "dynatemp-exponent", 0, 1e6, 1 } } },
      .is_on = always, .enough = temperature_enough,
      .needs_all = "dynamic temperature needs all logits",
      .raises = is_dynamic,
      .join = join_temperature, .cut = scale },
    { "top-k", .kind = SAMPLE_CUTS_TAIL,
      .numbers = { { { "top-k", 0, INT32_MAX, 40, true }, AT(top_k),
                     .said_0 = -1 } },
      .is_on = is_above_0, .enough = top_k_enough,
      .join = join_top_k, .cut = cut_top_k },
    { "typical-p", "typ-p|typ|typical", SAMPLE_CUTS,
      .numbers = { { { "typical-p", 0, 1 }, AT(typical_p) } },
      .is_on = typical_is_on, .cut = cut_typical },
    { "eta-cutoff", .kind = SAMPLE_CUTS_TAIL,
      .numbers = { { { "eta-cutoff", 0, 1 } } },
      .is_on = is_above_0, .cut = cut_eta },
    { "top-p", "nucleus", SAMPLE_CUTS_TAIL,
      .numbers = { { { "top-p", 0, 1, 0.95f }, AT(top_p) } },
      .is_on = is_below_1, .join = join_top_p, .cut = cut_top_p },
    { "min-p", .kind = SAMPLE_CUTS_TAIL,
      .numbers = { { { "min-p", 0, 1 }, AT(min_p) } },
      .is_on = is_above_0, .enough = any_logits,
      .join = join_min_p, .cut = cut_min_p },
    { "xtc", .kind = SAMPLE_CUTS,
      .numbers = {
        [XTC_PROBABILITY] = { { "xtc-probability", 0, 1 },
                              AT(xtc_probability) },
        [XTC_THRESHOLD] = { { "xtc-threshold", 0, 1, 0.1f },
                            AT(xtc_threshold) } },
      .is_on = is_above_0, .acts = xtc_acts, .cut = exclude_top },
    { "mirostat", .kind = SAMPLE_ALONE, .remembers = true,
      .numbers = {
        [MIROSTAT_VERSION] = { { "mirostat", 0, 2, 0, true }, AT(mirostat) },
        [MIROSTAT_TAU] = { { "mirostat-tau", 0, 1e6, 5 }, AT(mirostat_tau) },
        [MIROSTAT_ETA] = { { "mirostat-eta", 0, 1, 0.1f },
                           AT(mirostat_eta) } },
      .is_on = is_above_0, .needs_all = "Mirostat needs all logits",
      .take = sample_mirostat_take,
      .begin = sample_mirostat_begin, .learn = sample_mirostat_learn },
    { "adaptive-p", .kind = SAMPLE_LAST, .remembers = true,
      .numbers = {
        [ADAPTIVE_TARGET] = { { "adaptive-target", -1, 1, -1 } },
        [ADAPTIVE_DECAY] = { { "adaptive-decay", 0, 0.99f, 0.9f } } },
      .is_on = adaptive_is_on, .cut = favor_target,
      .begin = adaptive_begin, .learn = adaptive_learn },
    { .name = NULL },
};
/* clang-format on */

_Static_assert(sizeof(sample_stages) / sizeof(sample_stages[0]) <=
                   SAMPLE_STAGES + 1,
               "room for the stages of an order");

/* ---- names ---- */

/* The first of s[0..n) that is neither '-' nor '_', in small letters; 0: there
 * is none. */
static int
next_letter(const char **s, size_t *n)
{
    while (*n > 0) {
        char c = *(*s)++;

        (*n)--;
        if (c != '-' && c != '_')
            return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
    }
    return 0;
}

/* llama.cpp's files and options write "top_k", "top-k", "topk" and "TOP_K". */
static bool
is_name(const char *name, size_t n, const char *s, size_t len)
{
    int letter;

    do {
        letter = next_letter(&name, &n);
        if (letter != next_letter(&s, &len))
            return false;
    } while (letter);
    return true;
}

static bool
is_alias(const char *aliases, const char *s, size_t len)
{
    for (const char *p = aliases; p && *p;) {
        size_t n = strcspn(p, "|");

        if (is_name(p, n, s, len))
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

const struct sample_stage *
sample_stages_find(const char *name, size_t len)
{
    for (size_t i = 0; sample_stages[i].name; i++) {
        const struct sample_stage *row = &sample_stages[i];

        if (row->kind != SAMPLE_ALONE &&
            (is_name(row->name, strlen(row->name), name, len) ||
             is_alias(row->aliases, name, len)))
            return row;
    }
    return NULL;
}
