/* unordered.c - records are answered as they get done, and input is read
 * meanwhile */
#include <config.h>

#include "gg-generate/unordered.h"

#include <ggml.h>
#include <inttypes.h>
#include <unistd.h>

#include "common/spare.h"
#include "gg-generate/control.h"
#include "gg-generate/run.h"
#include "gg-generate/stream.h"

#ifdef HAVE_JANSSON

enum {
    STEP_US = 100000,      /* of prompts while answers are made */
    POLL_US = 20000,       /* between two looks at the input */
    WAIT_MS = 1000,        /* until a signal is seen that came before a wait */
    DRAFT_PART = 4,        /* of that: the draft's model is stepped before */
    MAX_RECORD = 40 << 20, /* bytes: images are in it */
};

#define SHUTDOWN "the engine is shutting down"

/* ---- heartbeat ----------------------------------------------------------- */

static int64_t
beat_us(const struct records *w)
{
    return (int64_t)w->g->o->heartbeat * 1000000;
}

static void
put_beat(struct records *w)
{
    struct unordered *u = &w->unordered;
    int64_t now = ggml_time_us();
    struct buffer line = { 0 };

    if (!w->g->o->heartbeat || now - u->beat < beat_us(w))
        return;
    u->beat = now;
    buffer_format(&line,
                  "{\"beat\":%.3f,\"active\":%zu,\"queue\":%zu,\"slots\":%d}\n",
                  (double)(now - u->start) / 1e6, w->n_active, u->inbox.n,
                  (int)w->g->engine.n_slots);
    stream_put(&line);
    cli_flush();
}

/* ---- in an evaluation ---------------------------------------------------- */

/* Asked often: a cancel of what is being evaluated ends the evaluation, which
 * the others begin again. */
static bool
is_interrupted(void *data)
{
    struct records *w = data;
    struct unordered *u = &w->unordered;
    int64_t now = ggml_time_us();

    if (!u->steps || now - u->polled < POLL_US)
        return false;
    u->polled = now;
    inbox_read(&u->inbox, 0);
    for (const struct inbox_item *i = u->inbox.controls.first; i; i = i->next)
        if (control_is_urgent(w, i))
            return true;
    return false;
}

/* ---- the end ------------------------------------------------------------- */

/* Records that wait do not begin any more; those that run end in time. */
static void
drain(struct records *w)
{
    struct unordered *u = &w->unordered;
    struct inbox_item *item;

    while ((item = inbox_take(&u->inbox, &u->inbox.waiting)))
        records_refuse(w, item, "shutdown", SHUTDOWN);
    for (struct record *r = w->first; r; r = r->next)
        if (!r->done && (!r->answers.n_begun || ggml_time_us() >= u->end))
            records_stop(w, r, "shutdown", SHUTDOWN);
    w->ended = true;
}

static void
check_drain(struct records *w)
{
    struct unordered *u = &w->unordered;

    if (cli_drains() && !u->drains) {
        u->drains = true;
        u->end = ggml_time_us() + (int64_t)w->g->o->drain * 1000000;
    }
    if (u->drains)
        drain(w);
}

/* Somebody has to give memory back. */
static void
end_youngest(struct records *w, enum gg_status st, const char *message)
{
    struct record *r = NULL;

    for (size_t i = 0; i < w->n_active; i++)
        if (w->active[i].record &&
            (!r || w->active[i].record->begun >= r->begun))
            r = w->active[i].record;
    if (r)
        records_fail(w, r, st, message);
    records_remove_ended(w);
}

/* ---- the job ------------------------------------------------------------- */

/* Ids of answers are not those of another run, unless a date says that both
 * are to be the same. */
static const char *
name_run(const struct generate *g)
{
    static char name[40];

    if (!g->o->date && !chat_date_is_fixed())
        snprintf(name, sizeof(name), "%" PRIx64 "%x-", (uint64_t)chat_date(),
                 (unsigned)getpid());
    return name;
}

void
unordered_open(struct records *w)
{
    struct unordered *u = &w->unordered;

    if (!w->g->o->unordered)
        return;
    w->g->run = name_run(w->g);
    inbox_init(&u->inbox, &w->in);
    u->start = u->beat = ggml_time_us();
    if (w->in.reader.max < MAX_RECORD)
        w->in.reader.max = MAX_RECORD;
    w->in.reader.max_lost = SIZE_MAX;
    w->flights.mild = true;
    gg_engine_bound_steps(w->g->engine.gg, 0, STEP_US);
    if (w->g->draft.gg) /* whose steps count as those without texts */
        gg_engine_bound_steps(w->g->draft.gg, 0, STEP_US / DRAFT_PART);
    (void)spare_keep();
    w->g->engine.interrupt = is_interrupted;
    w->g->engine.interrupt_data = w;
    cli_drain_by_signal();
}

void
unordered_close(struct records *w)
{
    if (!w->g->o->unordered)
        return;
    w->g->engine.interrupt = NULL;
    spare_drop();
    inbox_clear(&w->unordered.inbox);
}

static bool
is_idle(const struct records *w)
{
    const struct inbox *b = &w->unordered.inbox;

    return !w->n_active && !w->beginning && !b->waiting.first && !b->ended &&
           !w->unordered.drains;
}

void
unordered_tick(struct records *w)
{
    struct unordered *u = &w->unordered;
    struct inbox_item *item;

    if (!w->g->o->unordered)
        return;
    if (!spare_keep())
        end_youngest(w, GG_ERR_NOMEM, "out of memory");
    inbox_read(&u->inbox, is_idle(w) ? WAIT_MS : 0);
    while ((item = inbox_take(&u->inbox, &u->inbox.controls))) {
        control_do(w, item);
        inbox_item_free(item);
    }
    check_drain(w);
    put_beat(w);
    cli_flush();
    w->ended = u->drains || (u->inbox.ended && !u->inbox.waiting.first);
}

void
unordered_fail_step(struct records *w)
{
    enum gg_status st = w->flights.status;

    if (st == GG_OK || st == GG_ERR_ABORTED)
        return;
    if (st == GG_ERR_NOMEM) {
        end_youngest(w, st, w->flights.error.message);
        return;
    }
    for (size_t i = 0; i < w->n_active; i++) {
        w->active[i].flight = 0;
        if (w->active[i].record)
            records_fail(w, w->active[i].record, st, w->flights.error.message);
    }
    records_remove_ended(w);
}

#else

void
unordered_open(struct records *w)
{
    (void)w;
}

void
unordered_close(struct records *w)
{
    (void)w;
}

void
unordered_tick(struct records *w)
{
    (void)w;
}

void
unordered_fail_step(struct records *w)
{
    (void)w;
}

#endif
