/* weight_stream.c - weights larger than memory: threads that read and drop */
#include <config.h>

#include "cpu/exec/weight_stream.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "core/cgroup.h"
#include "core/mem.h"
#include "core/paging.h"
#include "core/thread.h"
#include "cpu/exec/weight_units.h"
#include "tensor/graph.h"

enum {
    READERS = 4, /* threads: a disk does several requests at once */
    /* Places of experts that ids choose, in multiples of the experts, from
     * which on nearly all experts are chosen by some id. */
    SCAN_TIMES = 3,
    MEASURE_US = 1000000, /* between two looks at how much memory is free */
    MANY_FAULTS = 64,     /* that read from disk, in a graph */
};

/* A node that multiplies weights. */
struct stream_step {
    int node;
    const struct ggml_tensor *product;
    int first, n; /* units that it may need */
    bool experts; /* it needs those that its ids choose, */
    bool chosen;  /* and these are few */
};

/* Units in turn. There is room for each of them once. */
struct unit_queue {
    int *list;
    size_t first, n;
};

struct cpu_stream {
    struct backend_streaming of;
    pthread_t readers[READERS];
    int n_readers;
    /* who computes alone: */
    int64_t measured; /* when, in us */
    long faults;      /* so far */
    uint64_t room;    /* as it was measured */
    uint64_t serial;  /* of the graph that steps are of */
    int *used, n_used;
    /* with the lock: */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    struct weight_units units;
    size_t cap; /* units that there is room for below */
    struct unit_queue wanted, expired;
    struct stream_step *steps;
    size_t n_steps, cap_steps;
    size_t now, needed; /* steps that are computed: [now, needed) */
    size_t ahead_step;  /* up to here is read ahead, */
    int ahead_unit;     /* in it */
};

/* ---- queues -------------------------------------------------------------- */

static void
push_unit(const struct cpu_stream *s, struct unit_queue *q, int unit)
{
    q->list[(q->first + q->n++) % s->cap] = unit;
}

static int
pop_unit(const struct cpu_stream *s, struct unit_queue *q)
{
    int unit = q->list[q->first];

    q->first = (q->first + 1) % s->cap;
    q->n--;
    return unit;
}

static bool
grow_queue(struct cpu_stream *s, struct unit_queue *q, size_t cap)
{
    int *list = mem_array(cap, sizeof(*list));

    if (!list)
        return false;
    for (size_t i = 0; i < q->n; i++)
        list[i] = q->list[(q->first + i) % s->cap];
    mem_free(q->list);
    q->list = list;
    q->first = 0;
    return true;
}

static bool
grow_queues(struct cpu_stream *s)
{
    size_t cap = s->units.n;
    int *used;

    if (cap <= s->cap)
        return true;
    used = mem_realloc(s->used, cap * sizeof(*used));
    if (!used)
        return false;
    s->used = used;
    if (!grow_queue(s, &s->wanted, cap) || !grow_queue(s, &s->expired, cap))
        return false; /* one that has grown begins at 0: it is as good */
    s->cap = cap;
    return true;
}

/* ---- readers ------------------------------------------------------------- */

/* A reader's next task. */
struct reader_task {
    int drop; /* a unit; or -1 */
    int read; /* a unit, after the victims were dropped; or -1 */
    struct weight_victims victims;
};

/* A unit that is read ahead; -1: none, or there is no room. */
static int
find_ahead(struct cpu_stream *s, struct weight_victims *victims)
{
    if (s->ahead_step < s->now) {
        s->ahead_step = s->now;
        s->ahead_unit = 0;
    }
    for (; s->ahead_step < s->n_steps; s->ahead_step++, s->ahead_unit = 0) {
        const struct stream_step *step = &s->steps[s->ahead_step];

        for (; !step->chosen && s->ahead_unit < step->n; s->ahead_unit++) {
            int i = step->first + s->ahead_unit;

            if (s->units.list[i].state != UNIT_ABSENT)
                continue;
            s->units.list[i].chosen = false;
            return cpu_units_admit(&s->units, i, false, victims) ? i : -1;
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
        t->drop = pop_unit(s, &s->expired);
        return true;
    }
    if (s->wanted.n > 0) {
        t->read = pop_unit(s, &s->wanted);
        cpu_units_admit(&s->units, t->read, true, &t->victims);
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
do_task(const struct reader_task *t, const struct weight_unit *drops,
        const struct weight_unit *read)
{
    for (int i = 0; i < t->victims.n + (t->drop >= 0); i++)
        drop_unit(&drops[i]);
    if (t->read >= 0)
        paging_load(read->at, read->n);
}

/* The unit is not in memory any more. */
static void
end_drop(struct cpu_stream *s, int i)
{
    struct weight_unit *unit = &s->units.list[i];

    unit->state = UNIT_ABSENT;
    if (!unit->again)
        return;
    unit->again = false;
    unit->state = UNIT_WANTED;
    push_unit(s, &s->wanted, i);
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
    do_task(t, drops, &read);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < t->victims.n; i++)
        end_drop(s, t->victims.list[i]);
    if (t->drop >= 0)
        end_drop(s, t->drop);
    if (t->read >= 0)
        s->units.list[t->read].state = UNIT_PRESENT;
    pthread_cond_broadcast(&s->done);
    if (n > 0)
        pthread_cond_broadcast(&s->work);
}

static void *
read_units(void *arg)
{
    struct cpu_stream *s = arg;
    struct reader_task task;

    pthread_mutex_lock(&s->lock);
    while (!s->stop)
        if (take_task(s, &task))
            run_task(s, &task);
        else
            pthread_cond_wait(&s->work, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the steps of a graph ------------------------------------------------ */

static const struct file_map *
map_of(const struct cpu_stream *s, const struct ggml_tensor *t)
{
    const char *p = t->data;

    for (size_t i = 0; i < s->of.n_maps; i++) {
        const struct file_map *map = &s->of.maps[i];
        const char *begin = map->data;

        if (map->filed && p >= begin && p < begin + map->size)
            return map;
    }
    return NULL;
}

static const struct ggml_tensor *
root_of(const struct ggml_tensor *t)
{
    while (t->view_src)
        t = t->view_src;
    return t;
}

/* Experts, one after the other, that ids choose from. */
static bool
has_experts(const struct ggml_tensor *node)
{
    const struct ggml_tensor *w = node->src[0];

    return node->op == GGML_OP_MUL_MAT_ID && !w->view_src &&
           ggml_is_contiguous(w) && w->ne[3] == 1;
}

/* The weights' units. False: no memory. */
static bool
add_units_of(struct cpu_stream *s, const struct ggml_tensor *node,
             const struct file_map *map, struct stream_step *step)
{
    const struct ggml_tensor *w = node->src[0], *root = root_of(w);
    bool experts = has_experts(node);
    size_t n = s->units.n;
    const struct weight_tensor *t = cpu_units_tensor(
        &s->units,
        &(struct weight_tensor){ .data = root->data,
                                 .size = ggml_nbytes(root),
                                 .unit = experts ? w->nb[2] : WEIGHT_UNIT_BYTES,
                                 .whole = !experts,
                                 .map = map });

    if (!t)
        return false;
    if (s->units.n > n)
        paging_by_hand(t->data, t->size, true);
    step->n = cpu_units_of(t, w->data, ggml_nbytes(w), &step->first);
    step->experts = experts && t->unit == w->nb[2];
    step->chosen = step->experts && node->src[2]->ne[0] * node->src[2]->ne[1] <
                                        SCAN_TIMES * w->ne[2];
    return true;
}

static bool
find_step(struct cpu_stream *s, const struct ggml_cgraph *graph, int i)
{
    const struct ggml_tensor *node = graph->nodes[i], *root;
    struct stream_step step = { .node = i, .product = node };
    const struct file_map *map;

    if (node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_MUL_MAT_ID)
        return true;
    root = root_of(node->src[0]);
    if (root->op != GGML_OP_NONE || ggml_nbytes(root) < s->of.least ||
        !(map = map_of(s, root)))
        return true;
    if (!mem_grow(&s->steps, &s->cap_steps, s->n_steps + 1,
                  sizeof(*s->steps)) ||
        !add_units_of(s, node, map, &step))
        return false;
    s->steps[s->n_steps++] = step;
    return true;
}

/* Bytes for units, without those of weights that are none. */
static uint64_t
room_for_units(const struct cpu_stream *s)
{
    uint64_t units = s->units.whole + s->units.others;
    uint64_t rest = s->of.weights > units ? s->of.weights - units : 0;

    return s->room > rest ? s->room - rest : 0;
}

static bool
find_steps(struct cpu_stream *s, const struct ggml_cgraph *graph)
{
    s->n_steps = 0;
    s->serial = 0;
    for (int i = 0; i < graph->n_nodes; i++)
        if (!find_step(s, graph, i))
            return false;
    if (!grow_queues(s))
        return false;
    cpu_units_set_room(&s->units, room_for_units(s));
    s->serial = graph->serial;
    return true;
}

/* ---- who computes -------------------------------------------------------- */

/* Faults of pages that were thought to be in memory: others need it, too. */
static void
count_faults(struct cpu_stream *s)
{
    struct rusage usage;
    long before = s->faults;

    if (getrusage(RUSAGE_SELF, &usage))
        return;
    s->faults = usage.ru_majflt;
    if (before && s->faults - before >= MANY_FAULTS)
        cpu_units_forget(&s->units);
}

/* A part is left for what else the process and the system do. */
static uint64_t
measure_room(const struct cpu_stream *s)
{
    uint64_t room = cgroup_memory("") / (uint64_t)s->of.n_sharers;

    if (s->of.room)
        return s->of.room;
    return room ? room - room / 16 : UINT64_MAX;
}

static bool
exceeds_memory(struct cpu_stream *s)
{
    int64_t now = ggml_time_us();

    if (!s->room || now - s->measured >= MEASURE_US) {
        s->measured = now;
        s->room = measure_room(s);
        s->serial = 0;
    }
    return s->of.weights > s->room;
}

/* Units that were read ahead for nothing. */
static void
expire_units(struct cpu_stream *s, int first, int n)
{
    for (int i = first; i < first + n && s->units.passing > 0; i++)
        if (cpu_units_expire(&s->units, i))
            push_unit(s, &s->expired, i);
}

bool
cpu_stream_begin(struct cpu_stream *s, const struct ggml_cgraph *graph)
{
    bool found;

    if (!exceeds_memory(s))
        return false;
    pthread_mutex_lock(&s->lock);
    count_faults(s);
    found = (s->serial && s->serial == graph->serial) || find_steps(s, graph);
    if (!found)
        s->n_steps = 0;
    expire_units(s, 0, (int)s->units.n);
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
    push_unit(s, &s->wanted, i);
}

/* Once, however many ids choose it. */
static void
use_unit(struct cpu_stream *s, int i, bool chosen)
{
    if (s->units.list[i].uses > 0)
        return;
    s->used[s->n_used++] = i;
    want_unit(s, i, chosen);
    cpu_units_use(&s->units, i, chosen);
}

static int32_t
expert_at(const struct ggml_tensor *ids, int64_t place, int64_t token)
{
    const char *p = (const char *)ids->data + (size_t)place * ids->nb[0] +
                    (size_t)token * ids->nb[1];

    return *(const int32_t *)(const void *)p;
}

/* Calls for each expert that the step's ids choose. */
static void
for_chosen(struct cpu_stream *s, const struct stream_step *step,
           void (*call)(struct cpu_stream *s, int i, bool chosen))
{
    const struct ggml_tensor *ids = step->product->src[2];

    for (int64_t t = 0; t < ids->ne[1]; t++)
        for (int64_t k = 0; k < ids->ne[0]; k++) {
            int32_t expert = expert_at(ids, k, t);

            if (expert >= 0 && expert < step->n)
                call(s, step->first + expert, step->chosen);
        }
}

/* The other matrices of the experts, which the next products need. */
static void
want_others(struct cpu_stream *s, size_t at)
{
    const struct ggml_tensor *ids = s->steps[at].product->src[2];

    for (size_t i = at + 1; i < s->n_steps; i++) {
        const struct stream_step *step = &s->steps[i];

        if (!step->chosen || step->product->src[2] != ids)
            break;
        for_chosen(s, step, want_unit);
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

static void
need_step(struct cpu_stream *s, size_t at)
{
    const struct stream_step *step = &s->steps[at];

    if (step->experts)
        for_chosen(s, step, use_unit);
    for (int i = 0; i < step->n && !step->experts; i++)
        use_unit(s, step->first + i, false);
    if (step->chosen)
        want_others(s, at);
}

void
cpu_stream_need(struct cpu_stream *s, int first, int end)
{
    pthread_mutex_lock(&s->lock);
    while (s->now < s->n_steps && s->steps[s->now].node < first)
        s->now++;
    for (s->needed = s->now;
         s->needed < s->n_steps && s->steps[s->needed].node < end; s->needed++)
        need_step(s, s->needed);
    if (s->n_used > 0)
        pthread_cond_broadcast(&s->work);
    while (!all_present(s))
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void
cpu_stream_done(struct cpu_stream *s)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->n_used; i++)
        if (cpu_units_release(&s->units, s->used[i]))
            push_unit(s, &s->expired, s->used[i]);
    for (; s->now < s->needed; s->now++)
        expire_units(s, s->steps[s->now].first, s->steps[s->now].n);
    if (s->n_used > 0)
        pthread_cond_broadcast(&s->work);
    s->n_used = 0;
    pthread_mutex_unlock(&s->lock);
}

void
cpu_stream_end(struct cpu_stream *s)
{
    cpu_stream_done(s);
    pthread_mutex_lock(&s->lock);
    s->now = s->needed = s->n_steps;
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
    mem_free(s->wanted.list);
    mem_free(s->expired.list);
    mem_free(s->steps);
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
