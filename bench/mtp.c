/* mtp.c - mtp MODEL [THREADS]: what drafts by MTP layers cost, and what they
 * gain where a draft's ids are accepted with a probability: a table of
 * milliseconds, and one of tokens a second over those without drafts
 *
 * The ids are any, so that random weights will do: costs are measured, and what
 * comes of them is played through. In models with a recurrent state a draft
 * that is rejected in part has what was accepted evaluated again, with the next
 * id and no draft. */
#include <ggml.h>
#include <stdio.h>
#include <stdlib.h>

#include "session/session.h"

enum {
    PROMPT = 16,
    MOST = 4, /* ids of a draft */
    CYCLES = 100000,
};

static struct gg_error err;

struct bench {
    struct gg_session *s;
    int32_t n_vocab, *ids, past; /* ids that the text has, but for the last */
    float *logits;
    double draft, times[MOST + 2]; /* ms of a step, of an evaluation of n ids */
    bool recurs;
    uint64_t state; /* of the draws */
};

static void
must(enum gg_status st)
{
    if (st == GG_OK)
        return;
    fprintf(stderr, "mtp: %s\n", err.message);
    exit(1);
}

static double
draw(struct bench *b)
{
    b->state = b->state * UINT64_C(6364136223846793005) + 1;
    return (double)(b->state >> 11) * 0x1p-53;
}

static double
now(void)
{
    return (double)ggml_time_us() / 1e3;
}

/* The logits of the last n ids. */
static void
evaluate(struct bench *b, int32_t end, int n)
{
    int32_t from = gg_session_length(b->s, 0);
    struct gg_chunk c = { .ids = b->ids + from,
                          .n = (size_t)(end - from),
                          .rows = { .logits = b->logits,
                                    .n_last = (size_t)n } };

    must(gg_session_eval(b->s, &c, 1, &err));
}

static void
guess(struct bench *b, int n)
{
    struct model_guess g = { .past = b->past,
                             .ids = b->ids + b->past,
                             .logits = b->logits };

    for (g.n = 1; g.n <= n; g.n++)
        must(session_mtp_guess(b->s, &g, 1, &err));
}

static void
begin(struct bench *b)
{
    gg_session_truncate(b->s, 0, 0);
    b->past = PROMPT;
    evaluate(b, PROMPT, 1);
}

static double
median_of_3(double a, double b, double c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* ms of an evaluation of n ids, of which all but one are taken back where there
 * are several, as a recurrent state can go back before these, or, n 0, of a
 * step of a draft. */
static double
time_once(struct bench *b, int n)
{
    double start = now();

    if (n == 0)
        guess(b, 1);
    else
        evaluate(b, (n > 1 ? PROMPT : gg_session_length(b->s, 0)) + n, n);
    if (n > 1)
        gg_session_truncate(b->s, 0, PROMPT + 1);
    start = now() - start;
    if (n > 1)
        gg_session_truncate(b->s, 0, PROMPT);
    return start;
}

static double
time_of(struct bench *b, int n)
{
    begin(b);
    time_once(b, n);
    return median_of_3(time_once(b, n), time_once(b, n), time_once(b, n));
}

static void
measure(struct bench *b)
{
    b->draft = time_of(b, 0);
    for (int n = 1; n <= MOST + 1; n++)
        b->times[n] = time_of(b, n);
    begin(b);
    evaluate(b, PROMPT + 3, 3);
    b->recurs = gg_session_truncate(b->s, 0, PROMPT + 1) <= PROMPT;
}

/* Tokens a second with drafts of n ids, over those without. */
static double
gain(struct bench *b, int n, double p)
{
    double tokens = 0, ms = 0;

    for (int i = 0; i < CYCLES; i++) {
        int accepted = 0;

        while (accepted < n && draw(b) < p)
            accepted++;
        tokens += 1 + accepted;
        ms += b->times[1 + n] + n * b->draft;
        if (accepted < n && b->recurs) {
            ms += b->times[2 + accepted];
            tokens++;
        }
    }
    return tokens / ms * b->times[1];
}

static void
show(struct bench *b)
{
    static const double acceptance[] = { 0, 0.5, 0.8, 1 };

    printf("| what                    | ms     |\n"
           "|-------------------------|--------|\n"
           "| a draft of one id       | %6.1f |\n",
           b->draft);
    for (int n = 1; n <= MOST + 1; n++)
        printf("| an evaluation of %d ids  | %6.1f |\n", n, b->times[n]);
    puts("\n| drafted | accepted: 0 | 0.5  | 0.8  | all  |\n"
         "|---------|-------------|------|------|------|");
    for (int n = 1; n <= MOST; n++) {
        printf("| %d       |", n);
        for (int i = 0; i < 4; i++)
            printf(i ? " %.2f |" : " %.2f        |", gain(b, n, acceptance[i]));
        putchar('\n');
    }
}

int
main(int argc, char **argv)
{
    const struct gg_model_params with = { .mtp = true, .device = "cpu" };
    struct gg_session_params params = { .n_ctx = 512 };
    struct gg_model *m;
    struct bench b = { .state = 1 };

    if (argc < 2 || argc > 3) {
        fputs("usage: mtp MODEL [THREADS]\n", stderr);
        return 2;
    }
    params.n_threads = argc > 2 ? atoi(argv[2]) : 0;
    must(gg_model_open(argv[1], &with, &m, &err));
    must(gg_session_new(m, &params, &b.s, &err));
    b.n_vocab = gg_model_n_vocab(m);
    b.ids = malloc(512 * sizeof(*b.ids));
    b.logits = malloc((MOST + 1) * (size_t)b.n_vocab * sizeof(*b.logits));
    for (int i = 0; i < 512; i++)
        b.ids[i] = (int32_t)((i * 7919LL + 13) % b.n_vocab);
    measure(&b);
    show(&b);
    gg_session_free(b.s);
    gg_model_free(m);
    free(b.ids);
    free(b.logits);
    return 0;
}
