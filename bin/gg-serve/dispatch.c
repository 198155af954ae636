/* dispatch.c - which request goes to which engine
 *
 * Requests wait in the order in which they came. Where an engine has a place,
 * the next is one of the key that has the fewest running there; of several, the
 * oldest. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "gg-serve/front.h"

/* ---- engines for requests ------------------------------------------------ */

static const char *
key_of_engine(const struct front *f, const struct ask *a)
{
    return f->params.engine_per_key ? a->key : "";
}

static bool
may_run(const struct engine *e, const struct ask *a)
{
    return !e->is_retired && strcmp(e->model, a->model) == 0 &&
           strcmp(e->key, key_of_engine(e->front, a)) == 0;
}

static struct engine *
engine_for(struct front *f, const struct ask *a)
{
    struct engine *e;

    TAILQ_FOREACH(e, &f->engines, next)
    if (may_run(e, a))
        return e;
    return NULL;
}

static int
place_of_key(const struct front *f, const char *name)
{
    for (int i = 0; f->params.engine_per_key && i < f->keys.n; i++)
        if (strcmp(f->keys.of[i].name, name) == 0)
            return i;
    return -1;
}

/* The monitor is asked each second again, and starts one once. */
static void
want_engine(struct front *f, struct ask *a)
{
    int model = models_find(&f->models, a->model);
    int64_t now = front_now();

    if (model < 0 || (a->wanted && now - a->wanted < 1000))
        return;
    a->wanted = now;
    front_tell(f, WIRE_START, 0, model, place_of_key(f, a->key));
}

/* ---- turns --------------------------------------------------------------- */

static int
n_running_of(const struct engine *e, const char *key)
{
    const struct ask *a;
    int n = 0;

    TAILQ_FOREACH(a, &e->running, next)
    n += strcmp(a->key, key) == 0;
    return n;
}

static struct ask *
next_for(const struct engine *e)
{
    struct ask *a, *best = NULL;
    int fewest = 0;

    TAILQ_FOREACH(a, &e->front->waiting, next)
    {
        int n = may_run(e, a) ? n_running_of(e, a->key) : -1;

        if (n >= 0 && (!best || n < fewest)) {
            best = a;
            fewest = n;
        }
    }
    return best;
}

static void
run_ask(struct engine *e, struct ask *a)
{
    dispatch_remove(e->front, a);
    TAILQ_INSERT_TAIL(&e->running, a, next);
    a->engine = e;
    e->n_running++;
    engine_send(e, a->record.p, a->record.len);
    buffer_clear(&a->record);
}

/* One that has not said how many it takes gets one. */
static bool
has_place(const struct engine *e)
{
    return e->n_running < (e->n_slots ? e->n_slots : 1);
}

void
dispatch(struct front *f)
{
    struct engine *e;
    struct ask *a;

    TAILQ_FOREACH(e, &f->engines, next)
    while (has_place(e) && (a = next_for(e)))
        run_ask(e, a);
    TAILQ_FOREACH(a, &f->waiting, next)
    if (!engine_for(f, a))
        want_engine(f, a);
}

/* ---- the line ------------------------------------------------------------ */

static int
n_waiting_of(const struct front *f, const char *key)
{
    const struct ask *a;
    int n = 0;

    TAILQ_FOREACH(a, &f->waiting, next)
    n += strcmp(a->key, key) == 0;
    return n;
}

bool
dispatch_add(struct front *f, struct ask *a)
{
    if (f->is_draining) {
        ask_fail(a, 503, "shutting_down", "the server is shutting down");
        return false;
    }
    if (f->n_waiting >= f->params.max_waiting) {
        ask_fail(a, 503, "queue_full", "too many requests are waiting");
        return false;
    }
    if (f->has_keys &&
        n_waiting_of(f, a->key) >= f->params.max_waiting_of_key) {
        ask_fail(a, 429, "rate_limit_exceeded",
                 "too many requests of this key are waiting");
        return false;
    }
    TAILQ_INSERT_TAIL(&f->waiting, a, next);
    f->n_waiting++;
    return true;
}

void
dispatch_remove(struct front *f, struct ask *a)
{
    TAILQ_REMOVE(&f->waiting, a, next);
    f->n_waiting--;
}
