/* accept.c - accept MODEL [mtp|DRAFT] [THREADS] [IDS] [WARMTH] [TYPE]: how
 * often a draft is right, by the types of the KV cache
 *
 * Some texts of IDS ids are drawn once, with a cache of F16 at a temperature of
 * WARMTH (1), and with it the
 * ids that the model finds likeliest at each place. Then each pair of types of
 * keys and of values gets the same texts, id by id, and after each id one is
 * drafted, by MTP layers, by a drafter, or by another model with such a cache.
 *
 * The first table has the share of drafts that are the likeliest id of the
 * first time, types of keys down and of values across: all have the same task.
 * The second one has the model's own likeliest ids that are, which change, too.
 * The third one has the share of drafts that the model accepts with its types.
 *
 * With TYPE, of keys and values, each id is printed with the likeliest one
 * after it and the draft of that, for other programs to compare with; an empty
 * line ends a text. Shares of the first table and of the third one go to
 * standard error. */
#include <gg-engine.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drafter.h"
#include "session/session.h"

enum {
    TEXTS = 4,
    BEGINNING = 8, /* ids of a text that are not drawn */
    MOST_IDS = 4096,
    TYPES = 6,
};

static const char *const type_names[TYPES] = { "f16",  "f32",  "q8_0",
                                               "bf16", "q5_0", "q4_0" };

static struct gg_error err;

struct text {
    int32_t ids[MOST_IDS], likeliest[MOST_IDS];
};

struct bench {
    const char *path, *by;
    struct gg_model *model, *other; /* other: NULL unless a model drafts */
    int n_ids, n_threads, n_vocab;
    float warmth;
    struct text texts[TEXTS];
};

static void
must(enum gg_status st)
{
    if (st == GG_OK)
        return;
    fprintf(stderr, "accept: %s\n", err.message);
    exit(1);
}

/* ---- models -------------------------------------------------------------- */

static void
open_models(struct bench *b)
{
    bool mtp = !strcmp(b->by, "mtp"), drafter = !mtp && bench_is_drafter(b->by);
    const struct gg_model_params with = { .mtp = mtp || drafter,
                                          .mtp_path = drafter ? b->by : NULL,
                                          .device = "cpu" };
    const struct gg_model_params plain = { .device = "cpu" };

    must(gg_model_open(b->path, &with, &b->model, &err));
    if (!with.mtp)
        must(gg_model_open(b->by, &plain, &b->other, &err));
    b->n_vocab = gg_model_n_vocab(b->model);
}

static struct gg_session *
new_session(const struct bench *b, struct gg_model *m, int keys, int values)
{
    const struct gg_session_params params = {
        .n_ctx = b->n_ids + 16,
        .n_threads = b->n_threads,
        .cache_type = (enum gg_cache_type)keys,
        .value_type = (enum gg_cache_type)values,
        .has_value_type = true,
    };
    struct gg_session *s;
    enum gg_status st = gg_session_new(m, &params, &s, &err);

    if (st == GG_ERR_UNSUPPORTED)
        return NULL;
    must(st);
    return s;
}

/* ---- texts --------------------------------------------------------------- */

static float *
new_logits(int n)
{
    float *logits = malloc((size_t)n * sizeof(*logits));

    if (!logits)
        exit(1);
    return logits;
}

static int32_t
evaluate(struct gg_session *s, int32_t id, float *logits, int n_vocab)
{
    const struct gg_chunk c = { .ids = &id, .n = 1, .rows.logits = logits };
    int32_t best = 0;

    must(gg_session_eval(s, &c, 1, &err));
    for (int32_t i = 1; i < n_vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static void
draw_text(const struct bench *b, int number, struct text *t)
{
    const struct gg_sampler_params usual = { .temperature = b->warmth,
                                             .seed = 1 };
    struct gg_session *s = new_session(b, b->model, GG_CACHE_F16, GG_CACHE_F16);
    float *logits = new_logits(b->n_vocab);
    struct gg_sampler *sampler;

    must(gg_sampler_new(&usual, &sampler, &err));
    for (int i = 0; i < b->n_ids; i++) {
        if (i < BEGINNING)
            t->ids[i] = (int32_t)((i * 7919 + 13 + number * 613) % b->n_vocab);
        t->likeliest[i] = evaluate(s, t->ids[i], logits, b->n_vocab);
        if (i + 1 >= BEGINNING && i + 1 < b->n_ids)
            must(gg_sampler_draw(sampler, NULL, logits, (size_t)b->n_vocab,
                                 (uint64_t)number, (uint64_t)i + 1,
                                 &t->ids[i + 1], &err));
    }
    gg_sampler_free(sampler);
    free(logits);
    gg_session_free(s);
}

/* ---- drafts -------------------------------------------------------------- */

/* By MTP layers or a drafter, of the id after `next`, which is drawn. */
static int32_t
draft_inside(struct gg_session *s, int32_t past, const int32_t *next)
{
    int32_t rows = session_mtp_blocks(s) ? session_mtp(s) : 1;
    int32_t ids[MOST_IDS] = { 0 };
    float logits[MOST_IDS];
    struct gg_best best[MOST_IDS];
    struct model_guess q = {
        .past = past, .ids = next, .n = 1, .n_rows = rows, .best = best
    };

    for (int32_t i = 0; i < rows; i++)
        best[i] = (struct gg_best){
            .k = 1, .ids = ids + i, .logits = logits + i, .no_sum = true
        };
    must(session_mtp_guess(s, &q, 1, &err));
    return ids[0];
}

/* After id i: drafts[i]; own[i]: the model's likeliest, with such a cache.
 * False: there is no such cache. */
static bool
draft_text(const struct bench *b, const struct text *t, int keys, int values,
           int32_t *drafts, int32_t *own)
{
    struct gg_session *s = new_session(b, b->model, keys, values);
    struct gg_session *other =
        b->other ? new_session(b, b->other, keys, values) : NULL;
    int n_others = b->other ? gg_model_n_vocab(b->other) : 0;
    float *logits = new_logits(n_others > b->n_vocab ? n_others : b->n_vocab);
    bool can = s && (other || !b->other);

    for (int i = 0; i < b->n_ids && can; i++) {
        drafts[i] = -1;
        if (other)
            drafts[i] = evaluate(other, t->ids[i], logits, n_others);
        else if (i > 0 && session_mtp_can(s, 0, i))
            drafts[i] = draft_inside(s, i, t->ids + i);
        own[i] = evaluate(s, t->ids[i], logits, b->n_vocab);
    }
    free(logits);
    gg_session_free(other);
    gg_session_free(s);
    return can;
}

enum {
    RIGHT,    /* drafts that are the likeliest id of the first time, */
    ACCEPTED, /* or the model's likeliest now; */
    OWN,      /* and how often this is that */
    SHARES,
};

/* NAN: there is no such cache. */
static void
count(const struct bench *b, int keys, int values, bool shown,
      double shares[SHARES])
{
    int32_t drafts[MOST_IDS], own[MOST_IDS];
    int n = 0, same[SHARES] = { 0 };
    bool can = true;

    for (int k = 0; k < TEXTS; k++) {
        const struct text *t = &b->texts[k];

        can = can && draft_text(b, t, keys, values, drafts, own);
        for (int i = 0; i < b->n_ids && can; i++) {
            if (drafts[i] >= 0) {
                n++;
                same[RIGHT] += drafts[i] == t->likeliest[i];
                same[ACCEPTED] += drafts[i] == own[i];
                same[OWN] += own[i] == t->likeliest[i];
            }
            if (shown)
                printf("%d %d %d\n", (int)t->ids[i], (int)t->likeliest[i],
                       (int)drafts[i]);
        }
        if (shown)
            putchar('\n');
    }
    for (int i = 0; i < SHARES; i++)
        shares[i] = n ? (double)same[i] / n : NAN;
}

/* ---- the tables ---------------------------------------------------------- */

static void
show_table(const char *title, double x[TYPES][TYPES])
{
    int key = 0, value = 0;

    printf("%s:\n\n| keys |", title);
    for (int i = 0; i < TYPES; i++)
        printf(" %-5s |", type_names[i]);
    puts("\n|------|-------|-------|-------|-------|-------|-------|");
    for (int k = 0; k < TYPES; k++) {
        printf("| %-4s |", type_names[k]);
        for (int v = 0; v < TYPES; v++) {
            if (isnan(x[k][v]))
                fputs(" -     |", stdout);
            else
                printf(" %.3f |", x[k][v]);
            if (x[k][v] < x[key][value]) {
                key = k;
                value = v;
            }
        }
        putchar('\n');
    }
    printf("\nThe least, keys of %s and values of %s: %.3f less than f16.\n\n",
           type_names[key], type_names[value], x[0][0] - x[key][value]);
}

static void
measure(const struct bench *b)
{
    static double x[SHARES][TYPES][TYPES];
    double shares[SHARES];

    for (int k = 0; k < TYPES; k++)
        for (int v = 0; v < TYPES; v++) {
            count(b, k, v, false, shares);
            for (int i = 0; i < SHARES; i++)
                x[i][k][v] = shares[i];
        }
    show_table("Drafts that are the likeliest id with f16", x[RIGHT]);
    show_table("The model's own likeliest ids that are", x[OWN]);
    show_table("Drafts that the model accepts", x[ACCEPTED]);
}

static int
type_of(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(type_names[i], name))
            return i;
    fprintf(stderr, "accept: %s: no type\n", name);
    exit(2);
}

int
main(int argc, char **argv)
{
    static struct bench b;
    int n = argc > 4 ? atoi(argv[4]) : 128, type;
    double shares[SHARES];

    if (argc < 2) {
        fputs(
            "usage: accept MODEL [mtp|DRAFT] [THREADS] [IDS] [WARMTH] [TYPE]\n",
            stderr);
        return 2;
    }
    b.path = argv[1];
    b.by = argc > 2 ? argv[2] : "mtp";
    b.n_threads = argc > 3 ? atoi(argv[3]) : 0;
    b.n_ids = n < 2 * BEGINNING ? 2 * BEGINNING : n > MOST_IDS ? MOST_IDS : n;
    b.warmth = argc > 5 ? strtof(argv[5], NULL) : 1;
    open_models(&b);
    for (int i = 0; i < TEXTS; i++)
        draw_text(&b, i, &b.texts[i]);
    if (argc > 6) {
        type = type_of(argv[6]);
        count(&b, type, type, true, shares);
        fprintf(stderr, "%.3f, accepted: %.3f\n", shares[RIGHT],
                shares[ACCEPTED]);
    } else {
        measure(&b);
    }
    gg_model_free(b.other);
    gg_model_free(b.model);
    return 0;
}
