/* quiz.c - how often the likeliest of several answers is the right one */
#include <config.h>

#include "gg-eval/quiz.h"

#include <gg-engine.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/records/reader.h"
#include "common/ticker.h"
#include "gg-eval/question.h"

enum {
    MAX_LINE = 1 << 24, /* bytes */
};

struct quiz {
    const struct engine *engine;
    struct reader reader;
    struct ticker ticker;
    struct question *questions; /* that are answered together */
    struct gg_choices *choices; /* one for each of their options */
    size_t n, n_options, cap, cap_options;
    uint64_t n_done, n_right, n_right_norm;
};

/* ---- ids ---- */

static int32_t *
encode_quiz(const struct quiz *q, const struct buffer *text, unsigned flags,
            size_t *n)
{
    const struct gg_vocab *v = q->engine->vocab;
    size_t cap = 2 * text->len + 4;
    struct gg_encoded out = { .n = cap };
    int32_t *ids = NULL;
    struct gg_error err;

    do {
        cap = out.n;
        ids = cli_alloc(ids, cap, sizeof(*ids));
        cli_check(gg_vocab_encode(v, text->p ? text->p : "", text->len, flags,
                                  ids, cap, &out, &err),
                  &err);
    } while (out.n > cap);
    *n = out.n;
    return ids;
}

/* A prompt without an id, for which BOS or the end of a text stands. */
static void
begin_prompt(const struct quiz *q, struct gg_choices *c)
{
    const struct gg_vocab *v = q->engine->vocab;
    struct gg_choice *choice = c->list;
    int32_t id = gg_vocab_bos(v) >= 0 ? gg_vocab_bos(v) : gg_vocab_eos(v);
    int32_t *ids;

    if (c->n_prompt || id < 0)
        return;
    *(int32_t *)c->prompt = id; /* there is room for some */
    c->n_prompt = 1;
    ids = cli_alloc((void *)choice->ids, choice->n + 1, sizeof(*ids));
    memmove(ids + 1, ids, choice->n++ * sizeof(*ids));
    ids[0] = id;
    choice->ids = ids;
}

/* A decoder's answer to a prompt, which is its encoder's. */
static void
ask_decoder(const struct quiz *q, const struct question_option *o,
            struct gg_choices *c)
{
    size_t n;
    int32_t *own = encode_quiz(q, &o->text, 0, &n), *ids;

    c->prompt = encode_quiz(q, &o->given, GG_ENCODE_EOS, &c->n_prompt);
    ids = cli_alloc(NULL, c->n_prompt + n, sizeof(*ids));
    memcpy(ids, c->prompt, c->n_prompt * sizeof(*ids));
    memcpy(ids + c->n_prompt, own, n * sizeof(*ids));
    *c->list = (struct gg_choice){ .ids = ids, .n = c->n_prompt + n };
    free(own);
}

static struct gg_choices
ask(const struct quiz *q, const struct question_option *o)
{
    const struct gg_vocab *v = q->engine->vocab;
    unsigned flags = gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0;
    struct gg_choices c = { .list = cli_alloc(NULL, 1, sizeof(*c.list)),
                            .n = 1 };
    struct buffer all = { 0 };

    if (gg_vocab_decoder_start(v) >= 0) {
        ask_decoder(q, o, &c);
        return c;
    }
    buffer_add(&all, o->given.p, o->given.len);
    c.prompt = encode_quiz(q, &all, flags, &c.n_prompt);
    buffer_add(&all, o->text.p, o->text.len);
    *c.list = (struct gg_choice){ 0 };
    c.list->ids = encode_quiz(q, &all, flags, &c.list->n);
    buffer_clear(&all);
    begin_prompt(q, &c);
    return c;
}

static void
clear_choices(struct gg_choices *c)
{
    free((void *)c->prompt);
    free((void *)c->list->ids);
    free(c->list);
}

/* ---- answers ---- */

/* The option with the highest likelihood, or with that of a character. */
static size_t
find_best(const struct question *one, const struct gg_choices *c, bool norm)
{
    size_t best = 0;
    double highest = 0;

    for (size_t i = 0; i < one->n; i++) {
        double x = c[i].list->logprob;

        if (norm)
            x /= (double)one->options[i].length;
        if (i == 0 || x > highest) {
            highest = x;
            best = i;
        }
    }
    return best;
}

static void
take_answers(struct quiz *q)
{
    const struct gg_choices *c = q->choices;

    for (size_t i = 0; i < q->n_options; i++)
        if (!isfinite(c[i].list->logprob))
            cli_die("%s: the logits are not numbers", q->engine->path);
    for (size_t i = 0; i < q->n; i++) {
        const struct question *one = &q->questions[i];

        q->n_done++;
        q->n_right += find_best(one, c, false) == one->right;
        q->n_right_norm += find_best(one, c, true) == one->right;
        c += one->n;
    }
}

/* All that were read. */
static void
answer_all(struct quiz *q)
{
    struct gg_error err;

    if (q->n_options)
        cli_check(
            gg_engine_choose(q->engine->gg, q->choices, q->n_options, &err),
            &err);
    take_answers(q);
    for (size_t i = 0; i < q->n_options; i++)
        clear_choices(&q->choices[i]);
    for (size_t i = 0; i < q->n; i++)
        question_clear(&q->questions[i]);
    q->n = q->n_options = 0;
    ticker_show(&q->ticker, "%" PRIu64 " questions, %.4f", q->n_done,
                (double)q->n_right / (double)(q->n_done ? q->n_done : 1));
}

/* ---- questions ---- */

static void
check_option(const struct quiz *q, const struct gg_choices *c)
{
    size_t most = (size_t)gg_session_n_ctx(q->engine->session);

    if (c->list->n > most)
        cli_die("%s: line %" PRIu64 ": %zu ids are above the context of %zu "
                "(-c)",
                q->reader.name, q->reader.n_records, c->list->n, most);
    if (c->n_prompt == 0 || c->list->n <= c->n_prompt)
        cli_die("%s: line %" PRIu64 ": %s", q->reader.name, q->reader.n_records,
                c->n_prompt ? "an option adds no token" : "nothing is given");
}

static void
add_options(struct quiz *q, const struct question *one)
{
    for (size_t i = 0; i < one->n; i++) {
        if (q->n_options == q->cap_options) {
            q->cap_options = 2 * q->cap_options + 16;
            q->choices =
                cli_alloc(q->choices, q->cap_options, sizeof(*q->choices));
        }
        q->choices[q->n_options] = ask(q, &one->options[i]);
        check_option(q, &q->choices[q->n_options++]);
    }
}

static void
add_question(struct quiz *q, const char *line, size_t len)
{
    struct question *one;
    struct gg_error err;

    if (q->n == q->cap) {
        q->cap = 2 * q->cap + 16;
        q->questions = cli_alloc(q->questions, q->cap, sizeof(*q->questions));
    }
    one = &q->questions[q->n++];
    if (q->reader.too_long)
        cli_die("%s: line %" PRIu64 ": more than %d bytes", q->reader.name,
                q->reader.n_records, MAX_LINE);
    if (question_read(line, len, one, &err) != GG_OK)
        cli_die("%s: line %" PRIu64 ": %s", q->reader.name, q->reader.n_records,
                err.message);
    add_options(q, one);
}

/* ---- the result ---- */

/* The standard error of a mean of zeros and ones. */
static double
error_of(uint64_t right, uint64_t n)
{
    double p = (double)right / (double)n;

    return n > 1 ? sqrt(p * (1 - p) / (double)(n - 1)) : 0;
}

static void
put_result(const struct quiz *q, bool json)
{
    const uint64_t right[] = { q->n_right, q->n_right_norm };
    static const char *const names[] = { "acc", "acc_norm" };

    if (json)
        printf("{\"questions\":%" PRIu64, q->n_done);
    else
        printf("metric\tquestions\tright\taccuracy\terror\n");
    for (int i = 0; i < 2; i++) {
        double p = (double)right[i] / (double)q->n_done;
        double error = error_of(right[i], q->n_done);

        if (json)
            printf(",\"%s\":%.6f,\"%s_stderr\":%.6f", names[i], p, names[i],
                   error);
        else
            printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%.4f\t%.4f\n", names[i],
                   q->n_done, right[i], p, error);
    }
    if (json)
        printf("}\n");
}

void
quiz_run(const struct engine *engine, const struct quiz_options *o, int fd,
         const char *name)
{
    struct quiz q = { .engine = engine,
                      .reader = { .fd = fd,
                                  .name = name,
                                  .end = '\n',
                                  .what = "a line",
                                  .max = MAX_LINE,
                                  .max_lost = MAX_LINE,
                                  .skip_blank = true,
                                  .may_mark = true } };
    const char *line;
    size_t len;

    ticker_start_among(&q.ticker, engine->quiet);
    while (!cli_signal() &&
           reader_next(&q.reader, true, &line, &len) == READER_RECORD) {
        add_question(&q, line, len);
        if (q.n_options >= (size_t)engine->n_slots)
            answer_all(&q);
    }
    if (!cli_signal())
        answer_all(&q);
    ticker_end(&q.ticker);
    if (!cli_signal() && q.n_done == 0)
        cli_die("%s: no questions", name);
    if (!cli_signal())
        put_result(&q, o->json);
    reader_clear(&q.reader);
    free(q.questions);
    free(q.choices);
}
