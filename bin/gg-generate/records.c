/* records.c - one answer for each record of the input, several at once */
#include <config.h>

#include "common/spare.h"
#include "common/terminal.h"
#include "gg-generate/asides.h"
#include "gg-generate/likely.h"
#include "gg-generate/media.h"
#include "gg-generate/run.h"
#include "gg-generate/stream.h"

#include <ggml.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_RECORD = 1 << 24, /* bytes; parsed JSON takes twenty times as many */
    MAX_SEEN = 1 << 26,   /* of one that may have images in base64 */
    MAX_LOST = 1 << 28,   /* of a record that is passed over */
    MAX_HELD = 1 << 26,   /* bytes that wait for an answer before them */
};

/* ---- ends ---- */

/* Answers that are not made any more are active no longer: those of a record
 * that is done, and those that have ended. */
void
records_remove_ended(struct records *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_active; i++)
        if (w->active[i].record)
            w->active[n++] = w->active[i];
    w->n_active = n;
}

static void
end_active(struct active *a)
{
    answer_clear(&a->answer);
    asides_close(&a->aside);
    a->record = NULL;
}

/* A record is done; it waits for those before it. Its samplers may have a
 * grammar of its own, which goes. */
void
records_finish(struct records *w, struct record *r)
{
    r->done = true;
    for (size_t i = 0; i < w->n_active; i++)
        if (w->active[i].record == r)
            end_active(&w->active[i]);
    if (w->beginning == r)
        w->beginning = NULL;
    record_forget_input(w->g, r);
    w->held += records_size(r);
    w->n_records++;
}

void
records_fail(struct records *w, struct record *r, enum gg_status st,
             const char *message)
{
    if ((st == GG_ERR_NOMEM || st == GG_ERR_IO) && !w->g->o->unordered)
        cli_die("%s: record %" PRIu64 ": %s", w->in.reader.name,
                r->request.number, message);
    if (!w->g->o->unordered || !w->g->o->engine.quiet)
        cli_warn("%s: record %" PRIu64 ": %s", w->in.reader.name,
                 r->request.number, message);
    w->failed = true;
    w->unordered.n_failed++;
    r->status = st;
    r->writer->write(w->g, r, message);
    records_finish(w, r);
}

void
records_stop(struct records *w, struct record *r, const char *code,
             const char *message)
{
    bool cancelled = strcmp(code, "shutdown") != 0;

    w->unordered.n_cancelled += cancelled;
    w->failed = w->failed || !cancelled;
    r->stopped = code;
    r->status = GG_ERR_ABORTED;
    r->writer->write(w->g, r, message);
    records_finish(w, r);
    records_remove_ended(w);
}

/* ---- beginning ---- */

static struct record *
add_record(struct records *w, uint64_t number)
{
    struct record *r = record_new(w->g, w->form->writer, number);

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
    const struct prompt *most = &r->prompt;

    if (!contest_fits(&r->prompt.contest, e, err))
        return GG_ERR_CONTEXT;
    for (size_t i = 0; i < r->n_others; i++)
        most = r->others[i].n > most->n ? &r->others[i] : most;
    if (most->n <= (size_t)gg_session_n_ctx(e->session))
        return GG_OK;
    engine_say_full(e, 0, most->n, err->message, sizeof(err->message));
    generate_media_say_rows(w->g, most, err->message, sizeof(err->message));
    return GG_ERR_CONTEXT;
}

/* True where another run would give the record the same answer. */
static bool
is_repeatable(const struct records *w, const struct record *r)
{
    return w->g->o->sampling.has_seed || r->request.has_seed ||
           r->request.sampling.params.temperature == 0 || r->prompt.contest.n;
}

/* As an earlier run has written it. */
static void
take_over(struct records *w, struct record *r)
{
    buffer_clear(&r->out);
    buffer_add(&r->out, r->before.p, r->before.len);
    records_finish(w, r);
}

static enum gg_status
read_record(struct records *w, struct record *r, const char *text, size_t len,
            struct gg_error *err)
{
    enum gg_status st;

    if (!text)
        return cli_error(err, GG_ERR_FORMAT, "more than %zu bytes",
                         w->in.reader.max);
    if (w->g->o->unordered) /* a date of its own */
        w->g->date = w->g->o->date;
    st = w->form->read(w->g, r, text, len, err);
    r->date = w->g->date;
    return st == GG_OK ? check_room(w, r, err) : st;
}

/* Nothing is known of it but its id, if that comes first. */
static void
lose_record(struct records *w, struct record *r, const char *text, size_t len)
{
    stream_lose(r, text, len);
    records_fail(w, r, GG_ERR_NOMEM, "out of memory");
}

static void
start_record(struct records *w, struct record *r, const char *text, size_t len)
{
    struct gg_error err;
    enum gg_status st = read_record(w, r, text, len, &err);

    if (st == GG_ERR_ABORTED) { /* a signal came: it has no answer */
        return;
    } else if (st == GG_ERR_NOMEM && w->g->o->unordered && !r->is_read) {
        lose_record(w, r, text, len);
    } else if (st != GG_OK) {
        records_fail(w, r, st, err.message);
    } else if (r->known && !is_repeatable(w, r)) {
        take_over(w, r);
    } else if (r->vectors && w->g->o->unordered) {
        w->beginning = r;
    } else if (r->prompt.n == 0) { /* the empty text has no continuation */
        r->writer->write(w->g, r, NULL);
        records_finish(w, r);
    } else {
        w->beginning = r;
    }
}

void
records_start(struct records *w, struct inbox_item *item)
{
    struct record *r = add_record(w, item->number);

    r->came = item->came;
    if (item->no_memory || !spare_keep())
        lose_record(w, r, item->text, item->len);
    else
        start_record(w, r, item->too_long ? NULL : item->text, item->len);
    inbox_item_free(item);
}

void
records_refuse(struct records *w, struct inbox_item *item, const char *code,
               const char *message)
{
    struct record *r = add_record(w, item->number);
    struct gg_error err;

    r->stopped = code;
    if (item->no_memory)
        stream_lose(r, item->text, item->len);
    else if (!item->too_long)
        (void)!w->form->read(w->g, r, item->text, item->len, &err);
    inbox_item_free(item);
    records_stop(w, r, code, message);
}

/* The next answer of the record that has not begun all of them; there is room.
 */
static void
begin_answer(struct records *w)
{
    struct record *r = w->beginning;
    struct active *a = &w->active[w->n_active];
    enum gg_status st = GG_OK;
    struct gg_error err;

    *a = (struct active){ .record = r,
                          .which = r->answers.n_begun++,
                          .answer.tail = -1 };
    if (r->prompt.contest.n == 0 && !r->vectors)
        st = record_begin(w->g, r, a->which, &a->answer, &err);
    if (r->answers.n_begun == r->answers.n)
        w->beginning = NULL;
    w->n_active++;
    if (st != GG_OK) {
        records_fail(w, r, st, err.message);
        records_remove_ended(w);
    }
}

/* Records that were read and wait. */
static bool
take_next(struct records *w)
{
    struct inbox *b = &w->unordered.inbox;
    struct inbox_item *item = inbox_take(b, &b->waiting);

    if (item)
        records_start(w, item);
    return item;
}

/* False: there is none now. */
static bool
read_next(struct records *w)
{
    enum reader_state state;
    const char *text;
    uint64_t number;
    size_t len;

    if (w->ended || (w->n_active && w->held >= MAX_HELD))
        return false;
    state = record_input_next(&w->in, w->n_active == 0, &text, &len, &number);
    w->ended = state == READER_END;
    if (state == READER_RECORD)
        start_record(w, add_record(w, number),
                     w->in.reader.too_long ? NULL : text, len);
    return state == READER_RECORD;
}

/* Reads records as there is room for them: what is there; waits for one where
 * nothing else is to be done. */
static void
fill_slots(struct records *w)
{
    while (!cli_signal() && w->n_active < w->n_most) {
        if (w->beginning)
            begin_answer(w);
        else if (w->g->o->unordered ? !take_next(w) : !read_next(w))
            return;
        records_write_done(w);
    }
}

/* ---- choosing ---- */

void
records_decide(struct records *w, struct record *r)
{
    struct gg_error err;

    if (contest_decide(&r->prompt.contest, &err)) {
        r->writer->write(w->g, r, NULL);
        records_finish(w, r);
    } else {
        records_fail(w, r, GG_ERR_FORMAT, err.message);
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
        if (w->active[i].record->prompt.contest.n)
            list[n++] = w->active[i].record->prompt.contest; /* the same */
    if (n && contest_run(w->g->engine.gg, list, n)) {
        for (size_t i = 0; i < w->n_active; i++)
            if (w->active[i].record->prompt.contest.n)
                records_decide(w, w->active[i].record);
        records_remove_ended(w);
    }
    free(list);
}

/* ---- going on ---- */

/* A record whose answers are plain text has failed, if it has fewer tokens than
 * -n says. In JSON the reason stands in the answer. */
static bool
is_too_short(const struct records *w, const struct active *a, char *text,
             size_t size)
{
    if (gg_text_finish(a->answer.made) != GG_FINISH_CONTEXT ||
        w->g->o->form == FORM_JSONL)
        return false;
    engine_say_full(&w->g->engine, engine_count_ids(a->answer.sequence), 1,
                    text, size);
    if (a->record->request.sampling.count)
        return true;
    if (!w->g->o->engine.quiet)
        cli_warn("%s: record %" PRIu64 " stopped: %s", w->in.reader.name,
                 a->record->request.number, text);
    return false;
}

static void
say_cut(struct records *w, const struct active *a)
{
    char text[128];

    if (!answer_is_cut(&a->answer, text, sizeof(text)))
        return;
    cli_warn("%s: record %" PRIu64 ": %s", w->in.reader.name,
             a->record->request.number, text);
    w->failed = true;
}

/* The answer has ended, and perhaps its record. */
void
records_end_answer(struct records *w, struct active *a)
{
    struct record *r = a->record;
    const char *error = gg_text_error(a->answer.made);
    struct gg_error err;
    enum gg_status st;
    char text[256];

    st = tools_read(w->g, &a->answer, &err);
    if (st != GG_OK) {
        records_fail(w, r, st, err.message);
        return;
    }
    record_end(w->g, r, a->which, &a->answer);
    if (error || is_too_short(w, a, text, sizeof(text))) {
        st = w->flights.status == GG_ERR_NOMEM ? GG_ERR_NOMEM : GG_ERR_FORMAT;
        records_fail(w, r, error ? st : GG_ERR_CONTEXT, error ? error : text);
        return;
    }
    say_cut(w, a);
    end_active(a);
    if (r->answers.n_ended < r->answers.n)
        return;
    r->writer->write(w->g, r, NULL);
    records_finish(w, r);
}

/* Prompts that are written with how likely they are; of some nothing more is
 * wanted. */
static void
score_prompts(struct records *w)
{
    if (!w->n_active || !likely_run(w->g, w->active, w->n_active))
        return;
    for (size_t i = 0; i < w->n_active; i++) {
        struct active *a = &w->active[i];
        struct record *r = a->record;

        if (!r)
            continue;
        if (request_wants_prompt(&r->request) && !r->likely.n_prompt)
            records_fail(w, r, GG_ERR_FORMAT, "the logits are not numbers");
        else if (r->request.sampling.none)
            records_end_answer(w, a);
    }
    records_remove_ended(w);
}

/* One id for each answer of a flight. */
static void
step_answers(struct records *w)
{
    uint64_t flight, failed = w->unordered.n_failed;

    w->unordered.steps = true;
    flight = flights_step(&w->flights, w->active, w->n_active);
    w->unordered.steps = false;
    if (!flight)
        unordered_fail_step(w);
    for (size_t i = 0; i < w->n_active && flight; i++) {
        struct active *a = &w->active[i];
        size_t before;

        if (!a->record || a->flight != flight) /* another answer has failed */
            continue;
        a->flight = 0;
        before = a->answer.n_made;
        answer_take(&a->answer);
        w->g->sums.n_made += a->answer.n_made != before;
        if (a->record->writer->step)
            a->record->writer->step(w->g, a->record, a->which, &a->answer);
        if (gg_text_finish(a->answer.made) != GG_FINISH_NONE)
            records_end_answer(w, a);
    }
    records_remove_ended(w);
    if (flight && failed == w->unordered.n_failed)
        unordered_fail_step(w);
}

/* ---- life ---- */

static void
clear_records(struct records *w)
{
    for (size_t i = 0; i < w->n_active; i++)
        end_active(&w->active[i]);
    free(w->active);
    flights_clear(&w->flights);
    while (w->first) { /* a signal came */
        struct record *r = w->first;

        w->first = r->next;
        record_free(w->g, r);
    }
    reader_clear(&w->in.reader);
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
    if (last->n) {
        r = add_record(w, last->number);
        r->known = true;
        r->before = last->out;
        last->out = (struct buffer){ 0 };
        start_record(w, r, last->text.p, last->text.len);
        records_write_done(w);
    }
    buffer_clear(&last->text);
    buffer_clear(&last->out);
}

/* Bytes that a file has after its offset; 0: it is none. */
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
    const struct form *form = json ? jsonl_form : &plain_form;

    generate_start_requests(g);
    *w = (struct records){
        .g = g,
        .form = form,
        .in = { .reader = { .fd = cli_open_input(o->input),
                            .name = cli_input_name(o->input),
                            .end = o->form == FORM_NULL ? '\0' : '\n',
                            .what = "a record",
                            .max = json && g->intake ? MAX_SEEN : MAX_RECORD,
                            .max_lost = MAX_LOST,
                            .skip_blank = json,
                            .may_mark = json || o->numbered },
                .shard = o->shard,
                .number = o->numbered ? form->number : NULL },
        .resumed = { .end = -1 },
    };
    w->all = size_of_input(w->in.reader.fd);
    ticker_start_among(&w->ticker, o->engine.quiet);
    w->n_most = (size_t)g->engine.n_slots;
    w->n_most -= g->base.sequence && w->n_most > 1; /* which stays in a slot */
    if (o->n_slots && w->n_most > (size_t)o->n_batch)
        w->n_most = (size_t)o->n_batch;
    gg_engine_bound_cache(g->engine.gg, o->cache_ram);
    w->active = cli_alloc(NULL, w->n_most, sizeof(*w->active));
    flights_init(&w->flights, g->engine.gg, w->n_most);
    unordered_open(w);
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
        unordered_tick(&w);
        fill_slots(&w);
        if (g->o->unordered) {
            asides_step(&w);
        } else {
            choose_tokens(&w);
            score_prompts(&w);
        }
        if (w.n_active && !cli_signal())
            flights_begin(&w.flights, w.active, w.n_active);
        if (w.n_active && !cli_signal())
            step_answers(&w);
        records_write_done(&w);
        records_show_progress(&w);
    } while (!cli_signal() && (!w.ended || w.n_active || w.beginning));
    ticker_end(&w.ticker);
    if (!cli_signal())
        resume_cut(g->o->resume, &w.resumed);
    generate_tell_left_out(g, w.in.reader.name);
    if (g->o->engine.verbose)
        records_describe(&w, ggml_time_us() - start);
    unordered_close(&w);
    clear_records(&w);
    return !w.failed && !cli_signal();
}
