/* test_draft_length.c - how many ids are drafted: never at a loss worth the
 * name, and as many as pay */
#include <stdint.h>
#include <stdio.h>

#include "engine/draft_length.h"
#include "harness/tap.h"

enum {
    KIND = DRAFT_LIKELY,
    IDS = 3000,
};

/* A machine: of an evaluation with n ids more the time is 10 + slope n, and
 * somewhat more of one in eight by chance. */
struct machine {
    struct draft_length d;
    double slope, each, p; /* of an id to be accepted */
    double noise, us;
    uint64_t state;
    size_t drafted;
};

static double
draw_by_chance(struct machine *m)
{
    m->state = m->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(m->state >> 11) * 0x1p-53;
}

static double
time_on(struct machine *m, size_t n)
{
    double us = 10 + m->slope * (double)n;

    return draw_by_chance(m) < 0.125 ? us * (1 + m->noise) : us;
}

/* Makes an evaluation; returns how many ids it gives. */
static size_t
evaluate_once(struct machine *m)
{
    size_t n, made, accepted = 0;
    double us;
    bool aside;

    engine_draft_length_begin(&m->d, 1);
    made = n = engine_draft_length_try(&m->d, KIND, DRAFT_MOST, &aside);
    if (n == 0)
        engine_draft_length_skipped(&m->d, KIND);
    engine_draft_length_drafted(&m->d, n, (double)n * m->each);
    n = aside ? 0 : n;
    us = time_on(m, n);
    engine_draft_length_evaluated(&m->d, n, us);
    if (aside)
        engine_draft_length_tried(&m->d, KIND, draw_by_chance(m) < m->p);
    while (accepted < n && draw_by_chance(m) < m->p)
        accepted++;
    engine_draft_length_learn(&m->d, KIND, accepted + (accepted < n), accepted);
    m->us += us + (double)made * m->each;
    m->drafted += n;
    return 1 + accepted;
}

/* Ids a time over those without drafts. */
static double
gain(struct machine *m, size_t n_ids)
{
    double plain = 10 * (1 + m->noise / 8);
    size_t made = 0;

    m->us = 0;
    m->drafted = 0;
    while (made < n_ids)
        made += evaluate_once(m);
    return (double)made * plain / m->us;
}

static struct machine
start_machine(double slope, double each, double p, double noise)
{
    struct machine m = {
        .slope = slope, .each = each, .p = p, .noise = noise, .state = 7
    };

    engine_draft_length_init(&m.d);
    return m;
}

/* The best that a fixed length gains. */
static double
best_gain(double slope, double each, double p)
{
    double best = 1, ids = 1, power = 1;

    for (int n = 0; n <= DRAFT_MOST; n++) {
        double g = 10 * ids / (10 + n * (slope + each));

        best = g > best ? g : best;
        power *= p;
        ids += power;
    }
    return best;
}

static void
check_bounds(double slope, double each, double noise)
{
    double worst = 2, least = 2;

    for (int i = 0; i <= 19; i++) {
        struct machine m = start_machine(slope, each, 0.05 * i, noise);
        double g = gain(&m, IDS), want = best_gain(slope, each, m.p);

        worst = g < worst ? g : worst;
        least = g / want < least ? g / want : least;
        printf("# %.2f: %.3f of %.3f\n", m.p, g, want);
    }
    printf("# slope %g, each %g, noise %g: worst %.3f, least %.3f\n", slope,
           each, noise, worst, least);
    ok(worst >= (noise > 0 ? 0.97 : 0.98), "no acceptance costs more");
    ok(least >= 0.8, "and none gets less than 0.8 of what can be had");
}

/* The least of some texts of n ids. */
static double
least_gain(double slope, double p, size_t n_ids)
{
    double least = 2;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct machine m = start_machine(slope, 1, p, 0);
        double g;

        m.state = seed;
        g = gain(&m, n_ids);
        least = g < least ? g : least;
    }
    return least;
}

/* The beginning is what costs. As in bench/: an evaluation of two ids takes 1.3
 * times that of one, of a mixture 1.5 times, and a draft a tenth. */
static void
check_short(void)
{
    static const double slopes[] = { 3, 5 };

    for (int i = 0; i < 2; i++) {
        double never = least_gain(slopes[i], 0, 128);
        double seldom = least_gain(slopes[i], 0.2, 128);

        printf("# slope %g, 128 ids: %.3f, %.3f\n", slopes[i], never, seldom);
        ok(never >= 0.99, "128 ids without any that is accepted");
        ok(seldom >= 0.98, "with few");
    }
}

static void
check_change(void)
{
    struct machine m = start_machine(3, 1, 0.05, 0.5);
    double before = gain(&m, IDS), after;

    m.p = 0.9;
    after = gain(&m, IDS);
    printf("# %.3f, then %.3f\n", before, after);
    ok(before >= 0.98 && after > 1.3, "drafts that begin to pay are found");
    m.p = 0;
    after = gain(&m, IDS);
    printf("# and %.3f\n", after);
    ok(after >= 0.975, "and left again when they end to");
}

/* The first evaluations take ten times as long, with drafts or without. */
static void
check_cold(void)
{
    struct machine m = start_machine(4, 1, 0, 0);

    for (int i = 0; i < 2; i++) {
        engine_draft_length_begin(&m.d, 1);
        engine_draft_length_evaluated(&m.d, 0, i ? 30 : 100);
    }
    ok(gain(&m, 200) >= 0.95, "weights that are read first cost little more");
}

/* A first measurement that was far too long. */
static void
check_pause(void)
{
    struct machine m = start_machine(2, 1, 0.9, 0);

    (void)evaluate_once(&m);
    m.slope = 100;
    (void)evaluate_once(&m);
    m.slope = 2;
    ok(gain(&m, IDS) > 1.3, "a pause of the machine is got over");
}

int
main(void)
{
    static const double slopes[] = { 0.5, 2, 4, 8 };

    for (int i = 0; i < 4; i++) {
        check_bounds(slopes[i], 0.7, 0);
        check_bounds(slopes[i], 0.7, 1);
    }
    check_short();
    check_change();
    check_pause();
    check_cold();
    return tap_done();
}
