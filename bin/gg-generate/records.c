/* records.c - one answer for each record of the input, several at once */
#include <config.h>

#include "gg-generate/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 16, /* ids: to evaluate them again costs next to nothing */
    MAX_RECORD =
        1 << 24,        /* bytes; in JSON they may take twenty times as many */
    MAX_HELD = 1 << 26, /* bytes that wait for an answer before them */
};

/* What the session holds of an answer stays until the slot is needed: another
 * record may begin alike. */
struct slot {
    struct answer answer;
    struct record *record; /* being answered; or NULL */
    uint64_t used;         /* when it was last */
};

struct records {
    struct generate *g;
    const struct form *form;
    struct reader in;
    struct record *first, *last; /* not written yet, in order */
    size_t held;                 /* bytes in them */
    uint64_t number;             /* of the record that was read last */
    struct slot *slots;
    int32_t n_slots, n_busy;
    uint64_t clock;
    struct gg_chunk *chunks;                 /* scratch */
    bool ended;                              /* the input */
    bool failed;                             /* a record */
    size_t n_records, n_evaluated, n_copied; /* for -v */
};

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- output ---------------------------------------------------------------
 */

static void
free_record(struct record *r)
{
    buffer_clear(&r->text);
    buffer_clear(&r->out);
    buffer_clear(&r->before);
    stop_strings_clear(&r->own);
    free(r->ids);
    free(r);
}

static size_t
size_of(const struct record *r)
{
    return sizeof(*r) + r->text.cap + r->out.cap + r->cap * sizeof(*r->ids);
}

/* A record is done; it waits for those before it. */
static void
finish(struct records *w, struct record *r)
{
    r->done = true;
    buffer_clear(&r->text);
    stop_strings_clear(&r->own);
    free(r->ids);
    r->ids = NULL;
    r->cap = 0;
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

static void
write_done(struct records *w)
{
    while (w->first && w->first->done) {
        struct record *r = w->first;

        w->first = r->next;
        w->held -= size_of(r);
        if (r->known)
            check_known(w, r);
        else if (r->out.len)
            fwrite(r->out.p, 1, r->out.len, stdout);
        cli_flush();
        free_record(r);
    }
    if (!w->first)
        w->last = NULL;
}

/* The record has no answer, or no whole one. */
static void
fail(struct records *w, struct record *r, const struct answer *a,
     const char *message)
{
    cli_warn("%s: record %" PRIu64 ": %s", w->in.name, r->number, message);
    w->failed = true;
    w->form->write(w->g, r, a, message);
    finish(w, r);
}

/* ---- slots ----------------------------------------------------------------
 */

static size_t
held_by(const struct records *w, const struct slot *s)
{
    int32_t n = gg_session_length(w->g->engine.session, s->answer.slot);

    return (size_t)n;
}

/* How many of the record's ids the slot begins with; one is left to be
 * evaluated. Of an answer that goes on, also what is not yet evaluated. */
static size_t
common(const struct records *w, const struct slot *s, const struct record *r)
{
    size_t most = s->record ? s->answer.n_ids - 1 : held_by(w, s), n = 0;

    most = smaller(most, r->n_ids - 1);
    while (n < most && s->answer.ids[n] == r->ids[n])
        n++;
    return n;
}

/* The slot that begins most like the record, a free one if there is, and how
 * much so; NULL: none does, or so little that copying is not worth it. */
static struct slot *
find_alike(const struct records *w, const struct record *r, size_t *n)
{
    struct slot *best = NULL;

    *n = FEW;
    for (int32_t i = 0; i < w->n_slots; i++) {
        struct slot *s = &w->slots[i];
        size_t same = common(w, s, r);

        if (same > *n || (best && same == *n && best->record && !s->record)) {
            *n = same;
            best = s;
        }
    }
    return best;
}

/* Of those that are free the one that was used least recently. There is one. */
static struct slot *
find_free(const struct records *w)
{
    struct slot *best = NULL;

    for (int32_t i = 0; i < w->n_slots; i++) {
        struct slot *s = &w->slots[i];

        if (!s->record && (!best || s->used < best->used))
            best = s;
    }
    return best;
}

/* The slot holds the first n of its ids from now on. False: a signal came. */
static bool
evaluate_prefix(struct records *w, struct slot *s, size_t n)
{
    size_t held = held_by(w, s);
    struct gg_chunk chunk = { .slot = s->answer.slot,
                              .ids = s->answer.ids + held,
                              .n = n - held };
    struct gg_error err;
    enum gg_status st;

    if (held >= n)
        return true;
    st = gg_session_eval(w->g->engine.session, &chunk, 1, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    w->n_evaluated += chunk.n;
    return true;
}

/* A slot for the record, which holds what could be had of it. */
static struct slot *
take_slot(struct records *w, const struct record *r)
{
    struct gg_session *session = w->g->engine.session;
    size_t n;
    struct slot *alike = find_alike(w, r, &n);
    struct slot *s = alike && !alike->record ? alike : find_free(w);
    int32_t held = 0;

    if (alike && !evaluate_prefix(w, alike, n))
        return NULL;
    if (alike == s)
        held = gg_session_truncate(session, s->answer.slot, (int32_t)n);
    else if (alike)
        held = gg_session_copy(session, s->answer.slot, alike->answer.slot,
                               (int32_t)n);
    else
        gg_session_truncate(session, s->answer.slot, 0);
    w->n_copied += (size_t)held;
    return s;
}

/* ---- beginning -------------------------------------------------------------
 */

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

    if (r->n_ids <= (size_t)gg_session_n_ctx(e->session))
        return GG_OK;
    engine_say_full(e, 0, r->n_ids, err->message, sizeof(err->message));
    return GG_ERR_CONTEXT;
}

/* The record's ids are there: it gets a slot. */
static void
begin(struct records *w, struct record *r, struct gg_sampler *sampler)
{
    struct slot *s = take_slot(w, r);
    struct answer *a;

    if (!s) { /* a signal came */
        gg_sampler_free(sampler);
        return;
    }
    a = &s->answer;
    a->n_ids = 0;
    a->n_dropped = 0;
    a->sequence = r->sequence;
    a->numbered = true;
    a->wants_logprob = w->g->o->form == FORM_JSONL;
    a->text.len = 0;
    answer_start(a, &r->sampling, sampler,
                 r->has_own ? &r->own : &w->g->o->stop);
    answer_put(a, r->ids, r->n_ids);
    s->record = r;
    w->n_busy++;
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
    if (st == GG_OK && r->n_ids)
        st = sampling_sampler(&r->sampling, w->g->engine.vocab, &sampler, &err);
    if (st != GG_OK) {
        fail(w, r, NULL, err.message);
    } else if (r->n_ids == 0) { /* the empty text has no continuation */
        w->form->write(w->g, r, NULL, NULL);
        finish(w, r);
    } else {
        begin(w, r, sampler);
    }
}

/* Reads records into free slots: what is there; waits for one where nothing
 * else is to be done. */
static void
fill(struct records *w)
{
    while (!w->ended && !cli_signal() && w->n_busy < w->n_slots &&
           (w->n_busy == 0 || w->held < MAX_HELD)) {
        const char *text;
        size_t len;
        enum reader_state state =
            reader_next(&w->in, w->n_busy == 0, &text, &len);

        w->ended = state == READER_END;
        if (state != READER_RECORD)
            return;
        start_record(w, add_record(w), text, len);
        write_done(w);
    }
}

/* ---- going on ---------------------------------------------------------------
 */

static void
say_full(struct records *w, struct record *r, const struct answer *a,
         bool failed)
{
    char text[256];

    engine_say_full(&w->g->engine, a->n_ids, 1, text, sizeof(text));
    if (failed)
        fail(w, r, a, text);
    else if (!w->g->o->engine.quiet)
        cli_warn("%s: record %" PRIu64 " stopped: %s", w->in.name, r->number,
                 text);
}

/* The answer has ended. In JSON the reason stands in it; a text that is less
 * than what was asked for has failed. */
static void
end_answer(struct records *w, struct slot *s)
{
    struct answer *a = &s->answer;
    struct record *r = s->record;
    bool full = a->ending == ENDING_CONTEXT && w->g->o->form != FORM_JSONL;

    answer_end(a);
    if (full)
        say_full(w, r, a, r->sampling.count > 0);
    if (!r->done) {
        w->form->write(w->g, r, a, NULL);
        finish(w, r);
    }
    s->record = NULL;
    s->used = ++w->clock;
    w->n_busy--;
}

/* False: a signal came. */
static bool
evaluate(struct records *w)
{
    size_t n = 0;
    struct gg_error err;
    enum gg_status st;

    for (int32_t i = 0; i < w->n_slots; i++)
        if (w->slots[i].record) {
            w->chunks[n] = answer_chunk(&w->slots[i].answer);
            w->n_evaluated += w->chunks[n++].n;
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
    for (int32_t i = 0; i < w->n_slots; i++) {
        struct slot *s = &w->slots[i];
        struct gg_error err;

        if (!s->record)
            continue;
        w->g->sum_made++;
        if (answer_draw(&s->answer, &err) != GG_OK) {
            answer_end(&s->answer);
            fail(w, s->record, &s->answer, err.message);
        } else if (answer_goes_on(&s->answer)) {
            continue;
        }
        end_answer(w, s);
    }
}

/* ---- life
 * -------------------------------------------------------------------- */

static void
open_slots(struct records *w)
{
    const struct generate *g = w->g;

    w->n_slots = g->engine.n_slots;
    w->slots = cli_alloc(NULL, (size_t)w->n_slots, sizeof(*w->slots));
    w->chunks = cli_alloc(NULL, (size_t)w->n_slots, sizeof(*w->chunks));
    for (int32_t i = 0; i < w->n_slots; i++) {
        w->slots[i] = (struct slot){ 0 };
        answer_init(&w->slots[i].answer, &g->engine, i);
        if (g->o->special == SPECIAL_PARSE)
            w->slots[i].answer.flags = GG_DECODE_SPECIAL;
    }
}

static void
clear(struct records *w)
{
    for (int32_t i = 0; i < w->n_slots; i++)
        answer_clear(&w->slots[i].answer);
    free(w->slots);
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
    cli_warn("%zu ids evaluated, %zu copied, %zu drawn", w->n_evaluated,
             w->n_copied, w->g->sum_made);
}

/* Goes on behind what an earlier run has answered. Its last answer is made
 * again, if that is sure to give the same. */
static void
resume(struct records *w, int fd)
{
    const struct options *o = w->g->o;
    bool sure = o->sampling.has_seed || o->sampling.params.temperature == 0;
    struct resumed last = { 0 };
    struct record *r;

    resume_skip(w->g, w->form, &w->in, fd, o->resume, &last);
    w->failed = last.failed;
    w->number = last.number;
    if (last.number && sure) {
        w->number--;
        r = add_record(w);
        r->known = true;
        r->before = last.out;
        last.out = (struct buffer){ 0 };
        start_record(w, r, last.text.p, last.text.len);
        write_done(w);
    }
    buffer_clear(&last.text);
    buffer_clear(&last.out);
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
    };
    int64_t start = ggml_time_us();

    open_slots(&w);
    if (resumed >= 0)
        resume(&w, resumed);
    do {
        fill(&w);
        if (w.n_busy && evaluate(&w))
            draw(&w);
        write_done(&w);
    } while (!cli_signal() && (!w.ended || w.n_busy));
    if (o->engine.verbose)
        describe(&w, ggml_time_us() - start);
    clear(&w);
    return !w.failed && !cli_signal();
}
