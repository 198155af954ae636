/* draft.c - draft MODEL [mtp|DRAFT] [THREADS] [IDS] [ROUNDS]: the
 * acceptance at which drafts break even
 *
 * A text of IDS ids is made without drafts. Then it is made again with drafts
 * by MTP layers, by a drafter, or by another model, each id of which is
 * replaced: by the id that comes, with the probability in front of the row, or
 * else by another.
 * Costs are those of real drafts, so that random weights will do. Columns are
 * tokens a second over those without drafts, in the same round, for drafts of
 * a fixed length, and for `auto`, the length that is learned. */
#include <gg-engine.h>
#include <ggml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drafter.h"
#include "engine/draft.h"

enum {
    PROMPT = 64,
    MOST_IDS = 4096,
    FIXED = 3, /* the longest of a fixed length */
    RATES = 8,
    MOST_ROUNDS = 9,
};

static struct gg_error err;

struct bench {
    struct gg_engine *engine, *draft;
    struct gg_sampler *sampler;
    int32_t prompt[PROMPT], text[MOST_IDS], n_vocab;
    int n_ids;
    double rate;    /* of ids that are to be accepted */
    uint64_t state; /* of the draws */
    double drafted; /* ids an evaluation, of the last run */
};

static void
must(enum gg_status st)
{
    if (st == GG_OK)
        return;
    fprintf(stderr, "draft: %s\n", err.message);
    exit(1);
}

static double
draw_by_chance(struct bench *b)
{
    b->state = b->state * UINT64_C(6364136223846793005) + 1;
    return (double)(b->state >> 11) * 0x1p-53;
}

/* The first id that is wrong makes those after it useless. */
static void
replace_drafted(void *data, size_t position, int32_t *ids, size_t n)
{
    struct bench *b = data;
    size_t at = position - PROMPT;

    for (size_t i = 0; i < n; i++) {
        int32_t right = at + i < (size_t)b->n_ids ? b->text[at + i] : 0;

        ids[i] = draw_by_chance(b) < b->rate ? right : (right + 1) % b->n_vocab;
    }
}

/* Seconds to make the text after its first id. */
static double
make_text(struct bench *b, int32_t *ids)
{
    const struct gg_text_params params = { .sampler = b->sampler,
                                           .ignore_eog = true,
                                           .max_ids = (uint64_t)b->n_ids };
    struct gg_sequence *q;
    struct gg_text *t;
    const int32_t *made;
    int64_t start;
    size_t n;

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, b->prompt, PROMPT, &err));
    must(gg_text_new(q, &params, &t, &err));
    must(gg_engine_step(b->engine, &t, 1, &err));
    start = ggml_time_us();
    while (gg_text_finish(t) == GG_FINISH_NONE)
        must(gg_engine_step(b->engine, &t, 1, &err));
    start = ggml_time_us() - start;
    made = gg_text_ids(t, &n);
    memcpy(ids, made, n * sizeof(*ids));
    gg_text_free(t);
    gg_sequence_free(q);
    return (double)start / 1e6;
}

/* Without drafts: as if all were useless, before anything is drafted. */
static double
time_without(struct bench *b)
{
    struct engine_draft *d = b->engine->draft;
    double s;

    b->engine->draft = NULL;
    s = make_text(b, b->text);
    b->engine->draft = d;
    return s;
}

static double
time_with(struct bench *b, int fixed)
{
    struct engine_draft *d = b->engine->draft;
    static int32_t ids[MOST_IDS];
    double s;

    engine_draft_length_init(&d->length);
    d->length.goes_back = b->engine->can.goes_back;
    d->length.fixed = (size_t)fixed;
    d->stats = (struct gg_draft_stats){ 0 };
    b->state = 1;
    s = make_text(b, ids);
    if (memcmp(ids, b->text, (size_t)b->n_ids * sizeof(*ids)) != 0) {
        fputs("draft: another text\n", stderr);
        exit(1);
    }
    b->drafted = d->stats.n_runs
                     ? (double)d->stats.n_drafted / (double)d->stats.n_runs
                     : 0;
    return s;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof(*x), compare);
    return x[n / 2];
}

/* A row: what drafts of each length gain; [0]: of the length that is learned.
 */
static void
measure_row(struct bench *b, int rounds, double *gain)
{
    double all[FIXED + 1][MOST_ROUNDS], drafted = 0;

    for (int r = 0; r < rounds; r++) {
        double without = time_without(b);

        for (int n = 0; n <= FIXED; n++) {
            all[n][r] = without / time_with(b, n);
            if (n == 0)
                drafted += b->drafted / rounds;
        }
    }
    for (int n = 0; n <= FIXED; n++)
        gain[n] = median(all[n], rounds);
    printf("| %.1f      |", b->rate);
    for (int n = 1; n <= FIXED; n++)
        printf(" %.2f |", gain[n]);
    printf(" %.2f | %.2f    |\n", gain[0], drafted);
    fflush(stdout);
}

/* Where a column crosses 1. */
static void
show_break_even(const double rates[RATES], double gain[RATES][FIXED + 1])
{
    for (int n = 1; n <= FIXED; n++) {
        int i = RATES;

        while (i > 0 && gain[i - 1][n] >= 1)
            i--;
        printf("drafts of %d break even at ", n);
        if (i == RATES)
            puts("no acceptance here");
        else if (i == 0)
            printf("less than %.1f\n", rates[0]);
        else
            printf("%.2f\n", rates[i - 1] + (rates[i] - rates[i - 1]) *
                                                (1 - gain[i - 1][n]) /
                                                (gain[i][n] - gain[i - 1][n]));
    }
}

static void
show_table(struct bench *b, int rounds)
{
    static const double rates[RATES] = {
        0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9
    };
    double gain[RATES][FIXED + 1];

    (void)time_without(b); /* pages, caches */
    (void)time_with(b, 1);
    puts("| accepted | 1    | 2    | 3    | auto | drafted |\n"
         "|----------|------|------|------|------|---------|");
    for (int i = 0; i < RATES; i++) {
        b->rate = rates[i];
        measure_row(b, rounds, gain[i]);
    }
    show_break_even(rates, gain);
}

/* mtp_path: NULL or a drafter. */
static struct gg_engine *
open_engine(const struct bench *b, const char *path, bool mtp,
            const char *mtp_path, int threads, struct gg_model **m,
            struct gg_session **s)
{
    const struct gg_model_params with = { .mtp = mtp,
                                          .mtp_path = mtp_path,
                                          .device = "cpu" };
    const struct gg_session_params params = { .n_ctx = PROMPT + b->n_ids + 16,
                                              .n_threads = threads };
    struct gg_engine *e;

    must(gg_model_open(path, &with, m, &err));
    must(gg_session_new(*m, &params, s, &err));
    must(gg_engine_new(*m, *s, NULL, &e, &err));
    return e;
}

static int
number_of(int argc, char **argv, int i, int usual, int most)
{
    int n = i < argc ? atoi(argv[i]) : usual;

    return n < 1 ? usual : n > most ? most : n;
}

/* Models and sessions of a measurement. */
struct opened {
    struct gg_model *m, *other;
    struct gg_session *s, *s_other;
};

static void
set_prompt(struct bench *b)
{
    for (int i = 0; i < PROMPT; i++)
        b->prompt[i] = (int32_t)((i * 7919LL + 13) % b->n_vocab);
}

static struct opened
open_all(struct bench *b, const char *path, const char *by, int threads)
{
    struct opened o = { 0 };
    bool apart = strcmp(by, "mtp") != 0 && bench_is_drafter(by);
    bool mtp = apart || !strcmp(by, "mtp");

    b->draft = NULL;
    b->engine =
        open_engine(b, path, mtp, apart ? by : NULL, threads, &o.m, &o.s);
    b->n_vocab = gg_model_n_vocab(o.m);
    set_prompt(b);
    if (mtp) {
        must(gg_engine_draft_mtp(b->engine, &err));
    } else {
        b->draft =
            open_engine(b, by, false, NULL, threads, &o.other, &o.s_other);
        must(gg_engine_draft(b->engine, b->draft, &err));
    }
    return o;
}

static void
close_all(struct bench *b, struct opened *o)
{
    gg_engine_free(b->engine);
    gg_engine_free(b->draft);
    gg_session_free(o->s);
    gg_session_free(o->s_other);
    gg_model_free(o->m);
    gg_model_free(o->other);
}

int
main(int argc, char **argv)
{
    const struct gg_sampler_params sampling = gg_sampler_params_default();
    const char *by = argc > 2 ? argv[2] : "mtp";
    int threads = argc > 3 ? atoi(argv[3]) : 0;
    static struct bench b;
    struct opened o;

    if (argc < 2) {
        fputs("usage: draft MODEL [mtp|DRAFT] [THREADS] [IDS] [ROUNDS]\n",
              stderr);
        return 2;
    }
    b.n_ids = number_of(argc, argv, 4, 96, MOST_IDS - 1);
    must(gg_sampler_new(&sampling, &b.sampler, &err));
    o = open_all(&b, argv[1], by, threads);
    b.engine->draft->replace = replace_drafted;
    b.engine->draft->data = &b;
    show_table(&b, number_of(argc, argv, 5, 3, MOST_ROUNDS));
    close_all(&b, &o);
    gg_sampler_free(b.sampler);
    return 0;
}
