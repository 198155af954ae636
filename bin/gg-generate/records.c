/* records.c - one answer for each record of the input, several at once */
#include <config.h>

#include "common/terminal.h"
#include "common/ticker.h"
#include "gg-generate/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_RECORD = 1 << 24, /* bytes; parsed JSON takes twenty times as many */
    MAX_HELD = 1 << 26,   /* bytes that wait for an answer before them */
};

struct records {
    struct generate *g;
    const struct form *form;
    struct reader in;
    struct record *first, *last; /* not written yet, in order */
    size_t held;                 /* bytes in them */
    uint64_t number;             /* of the record that was read last */
    struct slots slots;
    struct gg_chunk *chunks; /* scratch */
    int32_t n_choosing;      /* records with choices that have a slot */
    bool ended;              /* the input */
    bool failed;             /* a record */
    size_t n_records;        /* done */
    struct resumed resumed;
    struct ticker ticker;
    uint64_t all; /* bytes of the input; 0: nobody knows */
};

/* ---- output ---- */

/* All but what is written. */
static void
forget_input(struct record *r)
{
    buffer_clear(&r->text);
    stop_strings_clear(&r->own);
    choices_clear(&r->choices);
    prompt_clear(&r->prompt);
    free(r->bias);
    for (size_t i = 0; r->breakers && i < r->sampling.n_breakers; i++)
        free(r->breakers[i]);
    free(r->breakers);
    r->bias = NULL;
    r->breakers = NULL;
}

static void
free_record(struct record *r)
{
    forget_input(r);
    buffer_clear(&r->out);
    buffer_clear(&r->before);
    free(r);
}

static size_t
size_of(const struct record *r)
{
    return sizeof(*r) + r->text.cap + r->out.cap;
}

/* A record is done; it waits for those before it. */
static void
finish(struct records *w, struct record *r)
{
    r->done = true;
    grammars_give_back(&w->g->grammars, r->grammar);
    r->grammar = NULL;
    forget_input(r);
    w->held += size_of(r);
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
        w->held -= size_of(r);
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
    finish(w, r);
}

/* ---- beginning ---- */

static struct record *
add_record(struct records *w)
{
    struct record *r = cli_alloc(NULL, 1, sizeof(*r));

    *r =
        (struct record){ .number = ++w->number, .sampling = w->g->o->sampling };
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

/* What is to be chosen from needs no more of an answer than ids. */
static void
begin_choice(struct records *w, struct record *r)
{
    size_t head = r->prompt.contest.head;
    struct slot *s = slots_take(&w->slots, r, r->prompt.ids, head);

    if (!s) /* a signal came */
        return;
    s->answer.n_ids = 0;
    answer_put(&s->answer, r->prompt.ids, head);
    w->n_choosing++;
}

/* The record's ids are there: it gets a slot. */
static void
begin(struct records *w, struct record *r, struct gg_sampler *sampler)
{
    struct slot *s = slots_take(&w->slots, r, r->prompt.ids, r->prompt.n);
    struct answer *a;

    if (!s) { /* a signal came */
        gg_sampler_free(sampler);
        return;
    }
    a = &s->answer;
    a->n_ids = 0;
    a->n_dropped = w->g->base.n_dropped;
    a->has_mirostat = w->g->base.has_mirostat;
    a->mirostat = w->g->base.mirostat;
    a->sequence = r->sequence;
    a->numbered = true;
    a->number = w->form == jsonl_form ? r->number : r->sequence;
    a->wants_logprob = w->g->o->form == FORM_JSONL;
    a->text.len = 0;
    answer_start(a, &r->sampling, sampler,
                 r->has_own ? &r->own : &w->g->o->stop);
    a->decode.started = r->prompt.goes_on;
    answer_put(a, r->prompt.ids, r->prompt.n);
}

/* True where another run would give the record the same answer. */
static bool
is_repeatable(const struct records *w, const struct record *r)
{
    return w->g->o->sampling.has_seed || r->has_seed ||
           r->sampling.params.temperature == 0 || r->prompt.contest.n;
}

static void
start_record(struct records *w, struct record *r, const char *text, size_t len)
{
    struct gg_sampler *sampler = NULL;
    struct gg_error err;
    enum gg_status st = GG_OK;

    if (w->in.too_long) {
        snprintf(err.message, sizeof(err.message), "more than %d bytes",
                 MAX_RECORD);
        st = GG_ERR_FORMAT;
    }
    if (st == GG_OK)
        st = w->form->read(w->g, r, text, len, &err);
    if (st == GG_OK)
        st = check_room(w, r, &err);
    if (st == GG_OK && r->prompt.n && r->prompt.contest.n == 0)
        st = sampling_sampler(&r->sampling, w->g->engine.vocab, &sampler, &err);
    if (st != GG_OK) {
        fail(w, r, NULL, st, err.message);
    } else if (r->known && !is_repeatable(w, r)) {
        buffer_clear(&r->out);
        buffer_add(&r->out, r->before.p, r->before.len);
        gg_sampler_free(sampler);
        finish(w, r);
    } else if (r->prompt.n == 0) { /* the empty text has no continuation */
        w->form->write(w->g, r, NULL, NULL);
        finish(w, r);
    } else if (r->prompt.contest.n) {
        begin_choice(w, r);
    } else {
        begin(w, r, sampler);
    }
}

/* Reads records into free slots: what is there; waits for one where nothing
 * else is to be done. */
static void
fill(struct records *w)
{
    while (!w->ended && !cli_signal() && w->slots.n_busy < w->slots.n &&
           (w->slots.n_busy == 0 || w->held < MAX_HELD)) {
        const char *text;
        size_t len;
        enum reader_state state =
            reader_next(&w->in, w->slots.n_busy == 0, &text, &len);

        w->ended = state == READER_END;
        if (state != READER_RECORD)
            return;
        start_record(w, add_record(w), text, len);
        write_done(w);
    }
}

/* ---- choosing ---- */

/* Records with choices are done at once, those that wait for an answer are
 * left. */
static void
choose(struct records *w)
{
    if (w->n_choosing == 0 || !contest_run(&w->slots))
        return;
    w->n_choosing = 0;
    for (int32_t i = 0; i < w->slots.n; i++) {
        struct slot *s = &w->slots.list[i];
        struct record *r = s->record;
        struct gg_error err;

        if (!r || r->prompt.contest.n == 0)
            continue;
        if (contest_decide(&r->prompt.contest, &err)) {
            w->form->write(w->g, r, NULL, NULL);
            finish(w, r);
        } else {
            fail(w, r, NULL, GG_ERR_FORMAT, err.message);
        }
        slots_leave(&w->slots, s);
    }
}

/* ---- going on ---- */

static void
say_full(struct records *w, struct record *r, const struct answer *a,
         bool failed)
{
    char text[256];

    engine_say_full(&w->g->engine, a->n_ids, 1, text, sizeof(text));
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

/* The slot's sampler may have a grammar of the record, which goes. */
static void
let_go(struct slot *s)
{
    answer_end(&s->answer);
    if (s->record->grammar)
        answer_drop(&s->answer);
}

/* The answer has ended. In JSON the reason stands in it; a text that is less
 * than what was asked for has failed. */
static void
end_answer(struct records *w, struct slot *s)
{
    struct answer *a = &s->answer;
    struct record *r = s->record;
    bool full = a->ending == ENDING_CONTEXT && w->g->o->form != FORM_JSONL;
    char text[128];
    bool cut = answer_is_cut(a, text, sizeof(text));

    let_go(s);
    if (full)
        say_full(w, r, a, r->sampling.count > 0);
    if (!r->done) {
        if (cut)
            say_cut(w, r, text);
        w->form->write(w->g, r, a, NULL);
        finish(w, r);
    }
    slots_leave(&w->slots, s);
}

/* False: a signal came. */
static bool
evaluate(struct records *w)
{
    size_t n = 0;
    struct gg_error err;
    enum gg_status st;

    for (int32_t i = 0; i < w->slots.n; i++)
        if (w->slots.list[i].record) {
            w->chunks[n] = answer_chunk(&w->slots.list[i].answer);
            w->slots.n_evaluated += w->chunks[n++].n;
        }
    st = gg_session_eval(w->g->engine.session, w->chunks, n, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    return true;
}

static void
draw(struct records *w)
{
    for (int32_t i = 0; i < w->slots.n; i++) {
        struct slot *s = &w->slots.list[i];
        struct gg_error err;
        enum gg_status st;

        if (!s->record)
            continue;
        w->g->sum_made++;
        st = answer_draw(&s->answer, &err);
        if (st != GG_OK) {
            let_go(s);
            fail(w, s->record, &s->answer, st, err.message);
        } else if (answer_goes_on(&s->answer)) {
            continue;
        }
        end_answer(w, s);
    }
}

/* ---- life ---- */

static void
clear(struct records *w)
{
    slots_close(&w->slots);
    free(w->chunks);
    while (w->first) { /* a signal came */
        struct record *r = w->first;

        w->first = r->next;
        free_record(r);
    }
    reader_clear(&w->in);
}

static void
describe(const struct records *w, int64_t us)
{
    double s = (double)us / 1e6;

    cli_warn("%zu records in %.3f s, %.2f/s", w->n_records, s,
             s > 0 ? (double)w->n_records / s : 0);
    cli_warn("%zu ids evaluated, %zu copied, %zu drawn", w->slots.n_evaluated,
             w->slots.n_copied, w->g->sum_made);
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

/* Goes on behind what an earlier run has answered. Its last answer is made
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

/* What a file has behind where it stands; 0: it is none. */
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

bool
generate_records(struct generate *g, int resumed)
{
    const struct options *o = g->o;
    struct records w = {
        .g = g,
        .form = o->form == FORM_JSONL ? jsonl_form : &plain_form,
        .in = { .fd = cli_open_input(o->input),
                .name = cli_input_name(o->input),
                .end = o->form == FORM_NULL ? '\0' : '\n',
                .max = MAX_RECORD,
                .skip_blank = o->form == FORM_JSONL },
        .resumed = { .end = -1 },
    };
    int64_t start = ggml_time_us();

    w.all = size_of_input(w.in.fd);
    ticker_start_beside(&w.ticker, o->engine.quiet);
    slots_open(&w.slots, g,
               o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0);
    w.chunks = cli_alloc(NULL, (size_t)w.slots.n, sizeof(*w.chunks));
    if (resumed >= 0)
        resume(&w, resumed);
    do {
        fill(&w);
        choose(&w);
        if (w.slots.n_busy && !cli_signal() && evaluate(&w))
            draw(&w);
        write_done(&w);
        show_progress(&w);
    } while (!cli_signal() && (!w.ended || w.slots.n_busy));
    ticker_end(&w.ticker);
    if (!cli_signal())
        resume_cut(o->resume, &w.resumed);
    generate_tell_left_out(g, w.in.name);
    if (o->engine.verbose)
        describe(&w, ggml_time_us() - start);
    clear(&w);
    return !w.failed && !cli_signal();
}
