/* jobs.c - jobs done by several threads, and taken back in their order */
#include <config.h>

#include "common/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

struct jobs {
    struct jobs_calls calls;
    size_t n_slots;
    bool *finished;                   /* a slot's: its job is done */
    uint64_t submitted, begun, taken; /* how many of them; the lock's */

    struct thread {
        struct jobs *jobs;
        pthread_t id;
    } * threads;
    int max_threads, n_threads; /* those that run begin with the first job */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
};

static void *
run_worker(void *arg)
{
    const struct thread *t = arg;
    struct jobs *p = t->jobs;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        size_t slot;

        while (p->begun == p->submitted && !p->stop)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->stop)
            break;
        slot = p->begun++ % p->n_slots;
        pthread_mutex_unlock(&p->lock);
        p->calls.work(p->calls.data, slot, (int)(t - p->threads));
        pthread_mutex_lock(&p->lock);
        p->finished[slot] = true;
        pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct jobs *
jobs_new(int n_threads, size_t n_slots, const struct jobs_calls *calls)
{
    struct jobs *p = cli_alloc(NULL, 1, sizeof(*p));

    if ((size_t)n_threads > n_slots)
        n_threads = (int)n_slots;
    *p = (struct jobs){ .calls = *calls,
                        .n_slots = n_slots,
                        .max_threads = n_threads };
    p->finished = cli_alloc(NULL, n_slots, sizeof(*p->finished));
    p->threads = cli_alloc(NULL, (size_t)n_threads, sizeof(*p->threads));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    return p;
}

/* False: there is no thread, and none can be started. */
static bool
begin_threads(struct jobs *p)
{
    while (p->n_threads < p->max_threads) {
        struct thread *t = &p->threads[p->n_threads];

        t->jobs = p;
        if (cli_start_thread(&t->id, run_worker, t))
            break;
        p->n_threads++;
    }
    return p->n_threads > 0;
}

static void
take_oldest(struct jobs *p)
{
    size_t slot = p->taken % p->n_slots;

    pthread_mutex_lock(&p->lock);
    while (!p->finished[slot])
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    p->calls.done(p->calls.data, slot);
    p->taken++;
}

size_t
jobs_next(struct jobs *p)
{
    if (p->submitted - p->taken == p->n_slots)
        take_oldest(p);
    return p->submitted % p->n_slots;
}

void
jobs_submit(struct jobs *p, bool alone)
{
    size_t slot = p->submitted % p->n_slots;
    bool here = p->max_threads <= 1 || (alone && p->taken == p->submitted) ||
                !begin_threads(p);

    p->finished[slot] = here;
    if (here)
        p->calls.work(p->calls.data, slot, 0);
    pthread_mutex_lock(&p->lock);
    p->submitted++;
    p->begun += here;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    if (here)
        jobs_wait(p);
}

void
jobs_wait(struct jobs *p)
{
    while (p->taken < p->submitted)
        take_oldest(p);
}

void
jobs_free(struct jobs *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    while (p->n_threads > 0)
        pthread_join(p->threads[--p->n_threads].id, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    free(p->threads);
    free(p->finished);
    free(p);
}

/* ---- all of a number ---- */

struct all {
    void (*work)(void *data, int64_t i);
    void (*done)(void *data, int64_t i);
    void *data;
};

static void
work_one(void *data, size_t slot, int thread)
{
    const struct all *all = data;

    (void)thread;
    all->work(all->data, (int64_t)slot);
}

static void
done_one(void *data, size_t slot)
{
    const struct all *all = data;

    all->done(all->data, (int64_t)slot);
}

void
jobs_run(int n_threads, int64_t n, void (*work)(void *data, int64_t i),
         void (*done)(void *data, int64_t i), void *data)
{
    struct all all = { work, done, data };
    struct jobs_calls calls = { work_one, done_one, &all };
    struct jobs *jobs;

    if (n == 0)
        return;
    if (n_threads == 0)
        n_threads = gg_default_threads();
    jobs = jobs_new(n_threads, (size_t)n, &calls);
    for (int64_t i = 0; i < n; i++) {
        (void)jobs_next(jobs);
        jobs_submit(jobs, false);
    }
    jobs_wait(jobs);
    jobs_free(jobs);
}
