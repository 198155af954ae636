/* weight_stream.c - weights larger than memory: threads that read and drop */
#include <config.h>

#include "cpu/exec/weight_stream.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "core/mem.h"
#include "core/paging.h"
#include "core/thread.h"
#include "cpu/exec/weight_queue.h"
#include "cpu/exec/weight_room.h"
#include "cpu/exec/weight_slots.h"
#include "cpu/exec/weight_steps.h"
#include "cpu/exec/weight_units.h"
#include "tensor/graph.h"

enum {
    READERS = 4,      /* threads: a disk does several requests at once */
    MANY_FAULTS = 64, /* that read from disk, in a graph */
};

/* Elsewhere a reader's faults count as everybody's. */
#ifdef RUSAGE_THREAD
#define OWN_FAULTS RUSAGE_THREAD
#else
#define OWN_FAULTS (-2)
#endif

struct cpu_stream {
    struct backend_streaming of;
    pthread_t readers[READERS];
    int n_readers;
    /* who computes alone: */
    long faults; /* so far, but for readers' */
    struct weight_room room;
    uint64_t serial; /* of the graph that steps are of */
    int *used, n_used;
    /* with the lock: */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    long own_faults; /* that readers caused */
    struct weight_units units;
    struct weight_slots slots;
    struct weight_queue wanted, expired; /* with room for each unit once */
    struct weight_steps steps;
    size_t now, needed; /* steps that are computed: [now, needed) */
    size_t ahead_step;  /* up to here is read ahead, */
    int ahead_unit;     /* in it */
};

/* ---- readers ------------------------------------------------------------- */

/* A reader's next task. */
struct reader_task {
    int drop; /* a unit; or -1 */
    int read; /* a unit, after the victims were dropped; or -1 */
    struct weight_victims victims;
};

/* Finds memory for a unit that was admitted. False: it has to wait for some. */
static bool
find_place(struct cpu_stream *s, int i, bool urgent)
{
    struct weight_unit *unit = &s->units.list[i];

    if (unit->count != UNIT_PASSING || unit->whole || unit->chosen ||
        !cpu_slots_serve(&s->slots, unit->map))
        return true;
    unit->slot = cpu_slots_take(&s->slots);
    s->units.slots = cpu_slots_used(&s->slots);
    if (unit->slot >= 0 || urgent)
        return true;
    cpu_units_withdraw(&s->units, i);
    return false;
}

/* A unit that is read ahead; -1: none, or there is no room. */
static int
find_ahead(struct cpu_stream *s, struct weight_victims *victims)
{
    if (s->ahead_step < s->now) {
        s->ahead_step = s->now;
        s->ahead_unit = 0;
    }
    for (; s->ahead_step < s->steps.n; s->ahead_step++, s->ahead_unit = 0) {
        const struct weight_step *step = &s->steps.list[s->ahead_step];

        for (; !step->chosen && s->ahead_unit < step->n; s->ahead_unit++) {
            int i = step->first + s->ahead_unit;

            if (s->units.list[i].state != UNIT_ABSENT)
                continue;
            s->units.list[i].chosen = false;
            return cpu_units_admit(&s->units, i, false, victims) &&
                           find_place(s, i, false)
                       ? i
                       : -1;
        }
    }
    return -1;
}

/* False: there is nothing to do. */
static bool
take_task(struct cpu_stream *s, struct reader_task *t)
{
    t->drop = t->read = -1;
    t->victims.n = 0;
    if (s->expired.n > 0) {
        t->drop = cpu_queue_pop(&s->expired);
        return true;
    }
    if (s->wanted.n > 0) {
        t->read = cpu_queue_pop(&s->wanted);
        cpu_units_admit(&s->units, t->read, true, &t->victims);
        find_place(s, t->read, true);
    } else {
        t->read = find_ahead(s, &t->victims);
    }
    if (t->read >= 0)
        s->units.list[t->read].state = UNIT_READING;
    return t->read >= 0 || t->victims.n > 0;
}

static void
drop_unit(const struct weight_unit *unit)
{
    paging_drop(unit->map, unit->at, unit->n);
}

/* Without the lock. Places and sizes of units do not change, but their list may
 * move. */
static void
do_task(const struct cpu_stream *s, const struct reader_task *t,
        const struct weight_unit *drops, struct weight_unit *read)
{
    for (int i = 0; i < t->victims.n + (t->drop >= 0); i++)
        drop_unit(&drops[i]);
    if (t->read < 0)
        return;
    if (read->slot >= 0 &&
        cpu_slots_read(&s->slots, read->slot, read->map, read->at, read->n))
        return;
    read->slot = -1;
    paging_load(read->at, read->n);
}

static void
free_slot(struct cpu_stream *s, struct weight_unit *unit)
{
    if (unit->slot < 0)
        return;
    cpu_slots_give(&s->slots, unit->slot);
    unit->slot = -1;
}

/* The unit is not in memory any more. */
static void
end_drop(struct cpu_stream *s, int i)
{
    struct weight_unit *unit = &s->units.list[i];

    free_slot(s, unit);
    unit->state = UNIT_ABSENT;
    if (!unit->again)
        return;
    unit->again = false;
    unit->state = UNIT_WANTED;
    cpu_queue_push(&s->wanted, i);
}

static void
end_read(struct cpu_stream *s, int i, const struct weight_unit *read)
{
    struct weight_unit *unit = &s->units.list[i];

    if (read->slot < 0) /* it could not be read there */
        free_slot(s, unit);
    unit->state = UNIT_PRESENT;
}

/* A unit that gives way: one in a slot at once, pages by a reader. */
static void
drop_passed(struct cpu_stream *s, int i)
{
    if (s->units.list[i].slot >= 0)
        end_drop(s, i);
    else
        cpu_queue_push(&s->expired, i);
}

static void
run_task(struct cpu_stream *s, const struct reader_task *t)
{
    struct weight_unit drops[WEIGHT_UNIT_VICTIMS + 1], read = { 0 };
    int n = 0;

    for (int i = 0; i < t->victims.n; i++)
        drops[n++] = s->units.list[t->victims.list[i]];
    if (t->drop >= 0)
        drops[n++] = s->units.list[t->drop];
    if (t->read >= 0)
        read = s->units.list[t->read];
    pthread_mutex_unlock(&s->lock);
    do_task(s, t, drops, &read);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < t->victims.n; i++)
        end_drop(s, t->victims.list[i]);
    if (t->drop >= 0)
        end_drop(s, t->drop);
    if (t->read >= 0)
        end_read(s, t->read, &read);
    pthread_cond_broadcast(&s->done);
    if (n > 0)
        pthread_cond_broadcast(&s->work);
}

/* Faults that read from disk, so far. */
static long
faults_of(int who)
{
    struct rusage usage;

    return getrusage(who, &usage) ? 0 : usage.ru_majflt;
}

static void *
read_units(void *arg)
{
    struct cpu_stream *s = arg;
    struct reader_task task;
    long before, faults = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->stop)
        if (take_task(s, &task)) {
            run_task(s, &task);
            before = faults;
            faults = faults_of(OWN_FAULTS);
            s->own_faults += faults - before;
        } else {
            pthread_cond_wait(&s->work, &s->lock);
        }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the steps of a graph ------------------------------------------------ */

/* Bytes for units, without those of weights that are none. */
static uint64_t
room_for_units(const struct cpu_stream *s)
{
    uint64_t units = s->units.whole + s->units.others;
    uint64_t rest = s->of.weights > units ? s->of.weights - units : 0;

    return s->room.bytes > rest ? s->room.bytes - rest : 0;
}

static bool
grow_queues(struct cpu_stream *s)
{
    size_t n = s->units.n;
    int *used = mem_realloc(s->used, n * sizeof(*used));

    if (!used)
        return false;
    s->used = used;
    return cpu_queue_grow(&s->wanted, n) && cpu_queue_grow(&s->expired, n);
}

static bool
find_steps(struct cpu_stream *s, const struct ggml_cgraph *graph)
{
    s->serial = 0;
    if (!cpu_steps_find(&s->steps, &s->units, &s->of, graph) || !grow_queues(s))
        return false;
    cpu_units_set_room(&s->units, room_for_units(s));
    s->serial = graph->serial;
    return true;
}

/* Slots are for graphs that need nearly all experts. */
static void
find_slots(struct cpu_stream *s)
{
    bool scans = false;

    for (size_t i = 0; i < s->steps.n; i++)
        scans |= s->steps.list[i].experts && !s->steps.list[i].chosen;
    if (scans)
        cpu_slots_make(&s->slots, s->steps.largest, (size_t)s->units.ahead);
    else
        cpu_slots_discard(&s->slots);
    s->units.slots = cpu_slots_used(&s->slots);
}

/* ---- who computes -------------------------------------------------------- */

/* Faults of pages that were thought to be in memory: others need it, too. */
static void
count_faults(struct cpu_stream *s)
{
    long before = s->faults;

    s->faults = faults_of(RUSAGE_SELF) - s->own_faults;
    if (before && s->faults - before >= MANY_FAULTS)
        cpu_units_forget(&s->units);
}

/* Units that were read ahead for nothing. */
static void
expire_units(struct cpu_stream *s, int first, int n)
{
    for (int i = first; i < first + n && s->units.passing > 0; i++)
        if (cpu_units_expire(&s->units, i))
            drop_passed(s, i);
}

bool
cpu_stream_begin(struct cpu_stream *s, const struct ggml_cgraph *graph)
{
    bool same = s->serial && s->serial == graph->serial, found;

    pthread_mutex_lock(&s->lock);
    if (cpu_room_measure(&s->room, &s->of, graph, !same,
                         cpu_slots_used(&s->slots)))
        same = false;
    if (s->of.weights <= s->room.bytes) {
        s->serial = 0;
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    count_faults(s);
    found = same || find_steps(s, graph);
    if (!found)
        s->steps.n = 0;
    expire_units(s, 0, (int)s->units.n);
    find_slots(s);
    s->now = s->needed = s->ahead_step = 0;
    s->ahead_unit = 0;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* Has the unit read, if it is not there. */
static void
want_unit(struct cpu_stream *s, int i, bool chosen)
{
    struct weight_unit *unit = &s->units.list[i];

    if (unit->state == UNIT_ABSENT || unit->state == UNIT_DROPPING)
        unit->chosen = chosen;
    if (unit->state == UNIT_DROPPING)
        unit->again = true;
    if (unit->state != UNIT_ABSENT)
        return;
    unit->state = UNIT_WANTED;
    cpu_queue_push(&s->wanted, i);
}

/* A step, at work with its units. */
struct step_use {
    struct cpu_stream *s;
    const struct weight_step *step;
};

/* Once, if several nodes need it. */
static void
use_unit(void *arg, int i)
{
    const struct step_use *use = arg;
    struct cpu_stream *s = use->s;

    if (s->units.list[i].uses > 0)
        return;
    s->used[s->n_used++] = i;
    want_unit(s, i, use->step->chosen);
    cpu_units_use(&s->units, i, use->step->chosen);
}

static void
want_other(void *arg, int i)
{
    const struct step_use *use = arg;

    want_unit(use->s, i, true);
}

/* The other matrices of the experts, which the next products need. */
static void
want_others(struct cpu_stream *s, size_t at)
{
    const struct ggml_tensor *ids = s->steps.list[at].product->src[2];
    static const struct weight_part all = { 0, 1, 1 };

    for (size_t i = at + 1; i < s->steps.n; i++) {
        struct step_use use = { s, &s->steps.list[i] };

        if (!use.step->chosen || use.step->product->src[2] != ids)
            break;
        cpu_step_units(use.step, &s->units, &all, want_other, &use);
    }
}

static bool
all_present(const struct cpu_stream *s)
{
    for (int i = 0; i < s->n_used; i++)
        if (s->units.list[s->used[i]].state != UNIT_PRESENT)
            return false;
    return true;
}

/* Units that were computed with are not read ahead any more. */
static void
move_ahead(struct cpu_stream *s, size_t at, int unit)
{
    if (s->ahead_step == at && s->ahead_unit < unit)
        s->ahead_unit = unit;
}

static void
need_step(struct cpu_stream *s, size_t at, const struct weight_part *part)
{
    struct step_use use = { s, &s->steps.list[at] };
    int before = s->n_used;

    cpu_step_units(use.step, &s->units, part, use_unit, &use);
    if (s->n_used > before)
        move_ahead(s, at, s->used[before] - use.step->first);
    if (use.step->chosen)
        want_others(s, at);
}

int
cpu_stream_parts(const struct cpu_stream *s, int first, int end)
{
    size_t i = s->now; /* nobody else writes it */

    while (i < s->steps.n && s->steps.list[i].node < first)
        i++;
    return i < s->steps.n && s->steps.list[i].node < end &&
                   (i + 1 == s->steps.n || s->steps.list[i + 1].node >= end)
               ? cpu_step_parts(&s->steps.list[i])
               : 1;
}

void
cpu_stream_need(struct cpu_stream *s, int first, int end,
                const struct weight_part *part)
{
    pthread_mutex_lock(&s->lock);
    while (s->now < s->steps.n && s->steps.list[s->now].node < first)
        s->now++;
    for (s->needed = s->now;
         s->needed < s->steps.n && s->steps.list[s->needed].node < end;
         s->needed++)
        need_step(s, s->needed, part);
    if (s->n_used > 0)
        pthread_cond_broadcast(&s->work);
    while (!all_present(s))
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

const char *
cpu_stream_at(const struct cpu_stream *s, const char *p)
{
    const struct weight_unit *unit = cpu_units_at(&s->units, p);

    return unit && unit->slot >= 0
               ? cpu_slots_at(&s->slots, unit->slot, unit->at) + (p - unit->at)
               : p;
}

void
cpu_stream_done(struct cpu_stream *s, bool last)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->n_used; i++)
        if (cpu_units_release(&s->units, s->used[i]))
            drop_passed(s, s->used[i]);
    for (; last && s->now < s->needed; s->now++)
        expire_units(s, s->steps.list[s->now].first, s->steps.list[s->now].n);
    if (s->n_used > 0)
        pthread_cond_broadcast(&s->work);
    s->n_used = 0;
    pthread_mutex_unlock(&s->lock);
}

void
cpu_stream_end(struct cpu_stream *s)
{
    cpu_stream_done(s, true);
    pthread_mutex_lock(&s->lock);
    s->now = s->needed = s->steps.n;
    pthread_mutex_unlock(&s->lock);
}

/* ---- birth and death ----------------------------------------------------- */

static void
stop_readers(struct cpu_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    while (s->n_readers > 0)
        pthread_join(s->readers[--s->n_readers], NULL);
}

void
cpu_stream_free(struct cpu_stream *s)
{
    if (!s)
        return;
    stop_readers(s);
    for (size_t i = 0; i < s->units.n_tensors; i++)
        paging_by_hand(s->units.tensors[i].data, s->units.tensors[i].size,
                       false);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    cpu_units_clear(&s->units);
    cpu_queue_clear(&s->wanted);
    cpu_queue_clear(&s->expired);
    mem_free(s->steps.list);
    cpu_slots_clear(&s->slots);
    mem_free(s->used);
    mem_free(s);
}

struct cpu_stream *
cpu_stream_new(const struct backend_streaming *of)
{
    struct cpu_stream *s = mem_zalloc(sizeof(*s));

    if (!s)
        return NULL;
    s->of = *of;
    if (!cpu_slots_init(&s->slots, of->maps, of->n_maps)) {
        mem_free(s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->done, NULL);
    cpu_units_clear(&s->units);
    while (s->n_readers < READERS &&
           thread_start(&s->readers[s->n_readers], read_units, s) == 0)
        s->n_readers++;
    if (s->n_readers > 0)
        return s;
    cpu_stream_free(s);
    return NULL;
}
