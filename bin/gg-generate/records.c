/* records.c - one answer for each record of the input, several at once */
#include <config.h>

#include "common/terminal.h"
#include "common/ticker.h"
#include "gg-generate/records.h"

#include <ggml.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_RECORD = 1 << 24, /* bytes; parsed JSON takes twenty times as many */
    MAX_LOST = 1 << 28,   /* of a record that is passed over */
    MAX_HELD = 1 << 26,   /* bytes that wait for an answer before them */
};

struct records {
    struct generate *g;
    const struct form *form;
    struct reader in;
    struct record *first, *last; /* not written yet, in order */
    size_t held;                 /* bytes in them */
    uint64_t number;             /* of the record that was read last */
    struct record **active;  /* that are being answered; there is room for */
    size_t n_active, n_most; /* so many */
    struct gg_text **texts;  /* scratch */
    bool ended;              /* the input */
    bool failed;             /* a record */
    size_t n_records;        /* done */
    struct resumed resumed;
    struct ticker ticker;
    uint64_t all; /* bytes of the input; 0: unknown */
};

/* ---- output ---- */

/* All but what is written. */
static void
forget_input(struct record *r)
{
    buffer_clear(&r->text);
    choices_clear(&r->choices);
    prompt_clear(&r->prompt);
    free(r->bias);
    for (size_t i = 0; r->breakers && i < r->sampling.n_breakers; i++)
        free(r->breakers[i]);
    free(r->breakers);
    gg_stop_free(r->stop);
    r->stop = NULL;
    r->bias = NULL;
    r->breakers = NULL;
}

static void
free_record(struct record *r)
{
    answer_clear(&r->answer);
    forget_input(r);
    buffer_clear(&r->out);
    buffer_clear(&r->before);
    free(r);
}

static size_t
record_size(const struct record *r)
{
    return sizeof(*r) + r->text.cap + r->out.cap;
}

/* A record is done; it waits for those before it. Its sampler may have a
 * grammar of its own, which goes. */
static void
finish_record(struct records *w, struct record *r)
{
    r->done = true;
    answer_clear(&r->answer);
    grammars_give_back(&w->g->grammars, r->grammar);
    r->grammar = NULL;
    forget_input(r);
    w->held += record_size(r);
    w->n_records++;
}

/* Draws depend on nothing else than what is named here. */
static void
check_known(const struct records *w, const struct record *r)
{
    if (r->out.len != r->before.len ||
        (r->out.len && memcmp(r->out.p, r->before.p, r->out.len) != 0))
        cli_die("%s: record %" PRIu64 " would now have another answer: the "
                "input, the options, the model or the processor differ",
                w->g->o->resume, r->number);
}

/* A NUL at the end of one is no part of its text. */
static void
put_record(struct records *w, const struct record *r)
{
    bool nul = w->in.end == '\0' && r->out.len;

    resume_cut(w->g->o->resume, &w->resumed);
    terminal_write(r->out.p, r->out.len - nul, false);
    if (nul)
        putchar('\0');
}

static void
write_done(struct records *w)
{
    while (w->first && w->first->done) {
        struct record *r = w->first;

        w->first = r->next;
        w->held -= record_size(r);
        if (r->known)
            check_known(w, r);
        else
            put_record(w, r);
        cli_flush();
        free_record(r);
    }
    if (!w->first)
        w->last = NULL;
}

/* The record has no answer, or no whole one. What is no fault of its own ends
 * the tool: it counts as not answered. */
static void
fail(struct records *w, struct record *r, const struct answer *a,
     enum gg_status st, const char *message)
{
    if (st == GG_ERR_NOMEM || st == GG_ERR_IO)
        cli_die("%s: record %" PRIu64 ": %s", w->in.name, r->number, message);
    cli_warn("%s: record %" PRIu64 ": %s", w->in.name, r->number, message);
    w->failed = true;
    w->form->write(w->g, r, a, message);
    finish_record(w, r);
}

/* ---- beginning ---- */

enum gg_status
record_encode(struct generate *g, struct record *r, bool messages,
              const char *text, size_t len, struct gg_error *err)
{
    const struct choices *choices = r->choices.n ? &r->choices : &g->o->choices;
    struct prompt_source s = { 0 };
    enum gg_status st = messages
                            ? prompt_source_open_messages(g, &s, text, len, err)
                            : prompt_source_open(g, &s, text, len, err);

    if (st == GG_OK)
        st = prompt_source_encode(g, &s, choices, &r->prompt, err);
    prompt_source_close(&s);
    return st;
}

enum gg_status
record_take_prompt(struct generate *g, struct record *r, const char *text,
                   size_t len, struct gg_error *err)
{
    const char *before = g->o->prompt ? g->o->prompt : "";
    struct buffer all = { 0 };
    enum gg_status st;

    buffer_add(&all, before, strlen(before));
    buffer_add(&all, text, len);
    if (g->o->echo)
        buffer_add(&r->out, all.p, all.len);
    st = record_encode(g, r, false, all.p, all.len, err);
    buffer_clear(&all);
    return st;
}

static struct record *
add_record(struct records *w)
{
    struct record *r = cli_alloc(NULL, 1, sizeof(*r));

    *r = (struct record){ .number = ++w->number,
                          .sampling = w->g->o->sampling,
                          .answer.tail = -1 };
    if (w->last)
        w->last->next = r;
    else
        w->first = r;
    w->last = r;
    return r;
}

static enum gg_status
check_room(const struct records *w, const struct record *r,
           struct gg_error *err)
{
    const struct engine *e = &w->g->engine;

    if (!contest_fits(&r->prompt.contest, e, err))
        return GG_ERR_CONTEXT;
    if (r->prompt.n <= (size_t)gg_session_n_ctx(e->session))
        return GG_OK;
    engine_say_full(e, 0, r->prompt.n, err->message, sizeof(err->message));
    return GG_ERR_CONTEXT;
}

/* The record's ids are there. */
static enum gg_status
begin_record(struct records *w, struct record *r, struct gg_error *err)
{
    const struct generate *g = w->g;
    struct answer *a = &r->answer;
    enum gg_status st =
        sampling_sampler(&r->sampling, g->engine.vocab, &a->sampler, err);

    a->sampling = &r->sampling;
    a->stop = r->stop ? r->stop : g->o->stop;
    a->draws = r->sequence;
    a->numbered = true;
    a->number = w->form == jsonl_form ? r->number : r->sequence;
    a->wants_logprob = g->o->form == FORM_JSONL;
    if (st == GG_OK)
        st = generate_new_sequence(g, &a->sequence, err);
    return st == GG_OK ? answer_start(g, a, &r->prompt,
                                      engine_count_ids(a->sequence), err)
                       : st;
}

/* True where another run would give the record the same answer. */
static bool
is_repeatable(const struct records *w, const struct record *r)
{
    return w->g->o->sampling.has_seed || r->has_seed ||
           r->sampling.params.temperature == 0 || r->prompt.contest.n;
}

/* As an earlier run has written it. */
static void
take_over(struct records *w, struct record *r)
{
    buffer_clear(&r->out);
    buffer_add(&r->out, r->before.p, r->before.len);
    finish_record(w, r);
}

static enum gg_status
read_record(struct records *w, struct record *r, const char *text, size_t len,
            struct gg_error *err)
{
    enum gg_status st;

    if (w->in.too_long)
        return cli_error(err, GG_ERR_FORMAT, "more than %d bytes", MAX_RECORD);
    st = w->form->read(w->g, r, text, len, err);
    if (st == GG_OK)
        st = check_room(w, r, err);
    if (st == GG_OK && r->prompt.n && r->prompt.contest.n == 0)
        st = begin_record(w, r, err);
    return st;
}

static void
start_record(struct records *w, struct record *r, const char *text, size_t len)
{
    struct gg_error err;
    enum gg_status st = read_record(w, r, text, len, &err);

    if (st != GG_OK) {
        fail(w, r, NULL, st, err.message);
    } else if (r->known && !is_repeatable(w, r)) {
        take_over(w, r);
    } else if (r->prompt.n == 0) { /* the empty text has no continuation */
        w->form->write(w->g, r, NULL, NULL);
        finish_record(w, r);
    } else {
        w->active[w->n_active++] = r;
    }
}

/* Reads records as there is room for them: what is there; waits for one where
 * nothing else is to be done. */
static void
fill_slots(struct records *w)
{
    while (!w->ended && !cli_signal() && w->n_active < w->n_most &&
           (w->n_active == 0 || w->held < MAX_HELD)) {
        const char *text;
        size_t len;
        enum reader_state state =
            reader_next(&w->in, w->n_active == 0, &text, &len);

        w->ended = state == READER_END;
        if (state != READER_RECORD)
            return;
        start_record(w, add_record(w), text, len);
        write_done(w);
    }
}

/* Those that are done are active no longer. */
static void
remove_done(struct records *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_active; i++)
        if (!w->active[i]->done)
            w->active[n++] = w->active[i];
    w->n_active = n;
}

/* ---- choosing ---- */

static void
decide(struct records *w, struct record *r)
{
    struct gg_error err;

    if (contest_decide(&r->prompt.contest, &err)) {
        w->form->write(w->g, r, NULL, NULL);
        finish_record(w, r);
    } else {
        fail(w, r, NULL, GG_ERR_FORMAT, err.message);
    }
}

/* Records with choices are done at once, those that wait for an answer are
 * left. */
static void
choose_tokens(struct records *w)
{
    struct gg_choices *list = cli_alloc(NULL, w->n_active, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < w->n_active; i++)
        if (w->active[i]->prompt.contest.n)
            list[n++] = w->active[i]->prompt.contest; /* the same choices */
    if (n && contest_run(w->g->engine.gg, list, n)) {
        for (size_t i = 0; i < w->n_active; i++)
            if (w->active[i]->prompt.contest.n)
                decide(w, w->active[i]);
        remove_done(w);
    }
    free(list);
}

/* ---- going on ---- */

static void
say_full(struct records *w, struct record *r, const struct answer *a,
         bool failed)
{
    char text[256];

    engine_say_full(&w->g->engine, engine_count_ids(a->sequence), 1, text,
                    sizeof(text));
    if (failed)
        fail(w, r, a, GG_ERR_CONTEXT, text);
    else if (!w->g->o->engine.quiet)
        cli_warn("%s: record %" PRIu64 " stopped: %s", w->in.name, r->number,
                 text);
}

static void
say_cut(struct records *w, const struct record *r, const char *text)
{
    cli_warn("%s: record %" PRIu64 ": %s", w->in.name, r->number, text);
    w->failed = true;
}

/* The answer has ended. In JSON the reason stands in it; a text that is less
 * than what was asked for has failed. */
static void
end_answer(struct records *w, struct record *r)
{
    struct answer *a = &r->answer;
    bool full = gg_text_finish(a->made) == GG_FINISH_CONTEXT &&
                w->g->o->form != FORM_JSONL;
    char text[128];

    if (gg_text_error(a->made)) {
        fail(w, r, a, GG_ERR_FORMAT, gg_text_error(a->made));
        return;
    }
    if (full)
        say_full(w, r, a, r->sampling.count > 0);
    if (r->done)
        return;
    if (answer_is_cut(a, text, sizeof(text)))
        say_cut(w, r, text);
    w->form->write(w->g, r, a, NULL);
    finish_record(w, r);
}

/* One id for each answer. */
static void
step_records(struct records *w)
{
    struct gg_error err;
    enum gg_status st;

    for (size_t i = 0; i < w->n_active; i++)
        w->texts[i] = w->active[i]->answer.made;
    st = gg_engine_step(w->g->engine.gg, w->texts, w->n_active, &err);
    if (!cli_finished(st, &err))
        return;
    for (size_t i = 0; i < w->n_active; i++) {
        struct record *r = w->active[i];

        w->g->sum_made++;
        answer_take(&r->answer);
        if (gg_text_finish(r->answer.made) != GG_FINISH_NONE)
            end_answer(w, r);
    }
    remove_done(w);
}

/* ---- life ---- */

static void
clear_records(struct records *w)
{
    free(w->active);
    free(w->texts);
    while (w->first) { /* a signal came */
        struct record *r = w->first;

        w->first = r->next;
        free_record(r);
    }
    reader_clear(&w->in);
}

static void
describe_times(const struct records *w, int64_t us)
{
    struct gg_engine_stats stats = gg_engine_stats(w->g->engine.gg);
    double s = (double)us / 1e6;

    cli_warn("%zu records in %.3f s, %.2f/s", w->n_records, s,
             s > 0 ? (double)w->n_records / s : 0);
    cli_warn("%" PRIu64 " ids evaluated, %" PRIu64 " copied, %zu drawn",
             stats.n_evaluated, stats.n_copied, w->g->sum_made);
    draft_model_describe(w->g);
}

/* How much of it is done is the input that was taken. */
static void
show_progress(struct records *w)
{
    uint64_t done = reader_place(&w->in);
    char count[40];

    snprintf(count, sizeof(count), "%zu records", w->n_records);
    if (w->all)
        ticker_show_part(&w->ticker, done < w->all ? done : w->all, w->all,
                         count);
    else
        ticker_show(&w->ticker, "%s, %zu ids", count, w->g->sum_made);
}

/* Resumes after the answers of an earlier run. Its last answer is made
 * again, if that is sure to give the same. */
static void
resume(struct records *w, int fd)
{
    struct resumed *last = &w->resumed;
    struct record *r;

    resume_skip(w->g, w->form, &w->in, fd, w->g->o->resume, last);
    w->failed = last->failed;
    w->number = last->number;
    if (last->number) {
        w->number--;
        r = add_record(w);
        r->known = true;
        r->before = last->out;
        last->out = (struct buffer){ 0 };
        start_record(w, r, last->text.p, last->text.len);
        write_done(w);
    }
    buffer_clear(&last->text);
    buffer_clear(&last->out);
}

/* What a file has after its offset; 0: it is none. */
static uint64_t
size_of_input(int fd)
{
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && at >= 0 &&
                   st.st_size > at
               ? (uint64_t)(st.st_size - at)
               : 0;
}

static void
open_records(struct records *w, struct generate *g)
{
    const struct options *o = g->o;
    bool json = o->form == FORM_JSONL;

    *w = (struct records){
        .g = g,
        .form = json ? jsonl_form : &plain_form,
        .in = { .fd = cli_open_input(o->input),
                .name = cli_input_name(o->input),
                .end = o->form == FORM_NULL ? '\0' : '\n',
                .what = "a record",
                .max = MAX_RECORD,
                .max_lost = MAX_LOST,
                .skip_blank = json,
                .may_mark = json || o->numbered },
        .resumed = { .end = -1 },
    };
    w->all = size_of_input(w->in.fd);
    ticker_start_beside(&w->ticker, o->engine.quiet);
    w->n_most = (size_t)g->engine.n_slots;
    w->n_most -= g->base.sequence && w->n_most > 1; /* which stays in a slot */
    w->active = cli_alloc(NULL, w->n_most, sizeof(*w->active));
    w->texts = cli_alloc(NULL, w->n_most, sizeof(*w->texts));
}

bool
generate_records(struct generate *g)
{
    struct records w;
    int64_t start = ggml_time_us();

    open_records(&w, g);
    if (g->resumed >= 0)
        resume(&w, g->resumed);
    do {
        fill_slots(&w);
        choose_tokens(&w);
        if (w.n_active && !cli_signal())
            step_records(&w);
        write_done(&w);
        show_progress(&w);
    } while (!cli_signal() && (!w.ended || w.n_active));
    ticker_end(&w.ticker);
    if (!cli_signal())
        resume_cut(g->o->resume, &w.resumed);
    generate_tell_left_out(g, w.in.name);
    if (g->o->engine.verbose)
        describe_times(&w, ggml_time_us() - start);
    clear_records(&w);
    return !w.failed && !cli_signal();
}
