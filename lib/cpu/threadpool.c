/* threadpool.c - threads that wait for jobs, and meet at barriers in them */
#include <config.h>

#include "cpu/threadpool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/thread.h"

#define CACHE_LINE 64
/* How many pauses a thread spins: some 50 us at a barrier; for the next job,
 * that for each `poll` of 1. */
#define SPIN_BARRIER 2000
#define SPIN_CROWDED 16 /* more threads than processors */
#define SPIN_POLL    100

/* A word of the job: its number, and above which thread nobody takes part. */
#define JOB_THREADS 1024u

struct worker {
    struct ggml_threadpool *pool;
    pthread_t thread;
    int ith;
};

struct ggml_threadpool {
    int n_threads;
    unsigned spin_barrier, spin_job;
    struct worker *workers; /* n_threads - 1 */
    struct ggml_threadpool_params params;
    cpu_job_fn fn;
    void *arg;

    pthread_mutex_t lock; /* for sleeping only */
    pthread_cond_t changed;

    alignas(CACHE_LINE) atomic_uint job; /* number * JOB_THREADS + threads */
    atomic_int stop, paused;
    alignas(CACHE_LINE) atomic_uint phase; /* barriers passed */
    alignas(CACHE_LINE) atomic_int arrived;
    alignas(CACHE_LINE) _Atomic int64_t next;
    alignas(CACHE_LINE) atomic_int sleepers;
};

static inline void
pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until *word is no longer `old`; returns what it is. */
static unsigned
wait_change(struct ggml_threadpool *pool, atomic_uint *word, unsigned old,
            unsigned spins)
{
    unsigned now;

    for (unsigned i = 0; i < spins; i++) {
        now = atomic_load_explicit(word, memory_order_acquire);
        if (now != old)
            return now;
        pause_cpu();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while ((now = atomic_load(word)) == old)
        pthread_cond_wait(&pool->changed, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
    return now;
}

/* Who sleeps has counted itself before it looked at the word last. */
static void
change(struct ggml_threadpool *pool, atomic_uint *word, unsigned value)
{
    atomic_store(word, value);
    if (atomic_load(&pool->sleepers) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void
cpu_pool_barrier(struct ggml_threadpool *pool, int nth)
{
    unsigned phase;

    if (nth == 1) {
        atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
        return;
    }
    phase = atomic_load_explicit(&pool->phase, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel) ==
        nth - 1) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
        change(pool, &pool->phase, phase + 1);
    } else {
        wait_change(pool, &pool->phase, phase, pool->spin_barrier);
    }
}

int64_t
cpu_pool_next(struct ggml_threadpool *pool)
{
    return atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
}

void
cpu_pool_run(struct ggml_threadpool *pool, int n, cpu_job_fn fn, void *arg)
{
    GGML_ASSERT(n >= 1 && n <= pool->n_threads);
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    if (n > 1) {
        unsigned number =
            atomic_load_explicit(&pool->job, memory_order_relaxed) /
            JOB_THREADS;

        pool->fn = fn;
        pool->arg = arg;
        change(pool, &pool->job, (number + 1) * JOB_THREADS + (unsigned)n);
    }
    fn(arg, 0, n);
    cpu_pool_barrier(pool, n);
}

/* Threads that a job does not need may sleep through it, and see only a later
 * one: number and count of threads come in one word. */
static void *
work(void *arg)
{
    struct worker *w = arg;
    struct ggml_threadpool *pool = w->pool;
    unsigned job = 0;

    for (;;) {
        unsigned spins = atomic_load(&pool->paused) ? 0 : pool->spin_job;
        int nth;

        job = wait_change(pool, &pool->job, job, spins);
        if (atomic_load(&pool->stop))
            return NULL;
        nth = (int)(job % JOB_THREADS);
        if (w->ith >= nth)
            continue;
        pool->fn(pool->arg, w->ith, nth);
        cpu_pool_barrier(pool, nth);
    }
}

#ifdef __linux__
/* The nth processor of the mask, or all of them. */
static void
pin(const struct ggml_threadpool_params *p, const struct worker *w)
{
    cpu_set_t set;
    int count = 0, skip = w->ith;

    CPU_ZERO(&set);
    for (int i = 0; i < GGML_MAX_N_THREADS; i++)
        count += p->cpumask[i];
    if (!count)
        return;
    skip %= count;
    for (int i = 0; i < GGML_MAX_N_THREADS && i < CPU_SETSIZE; i++)
        if (p->cpumask[i] && (!p->strict_cpu || skip-- == 0))
            CPU_SET(i, &set);
    if (pthread_setaffinity_np(w->thread, sizeof(set), &set) != 0)
        log_say(GGML_LOG_LEVEL_WARN, "cannot bind thread %d\n", w->ith);
}
#else
static void
pin(const struct ggml_threadpool_params *p, const struct worker *w)
{
    (void)p;
    (void)w;
}
#endif

static void
stop_workers(struct ggml_threadpool *pool, int started)
{
    unsigned job = atomic_load(&pool->job);

    atomic_store(&pool->stop, 1);
    change(pool, &pool->job, job + JOB_THREADS);
    for (int i = 0; i < started; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

static void
set_spins(struct ggml_threadpool *pool)
{
    bool crowded = pool->n_threads > thread_count_default();
    unsigned poll = pool->params.poll > 100 ? 100 : pool->params.poll;

    pool->spin_barrier = crowded ? SPIN_CROWDED : SPIN_BARRIER;
    pool->spin_job = crowded ? SPIN_CROWDED : poll * SPIN_POLL;
}

/* Signals are for the program's own threads. */
static int
start(struct worker *w)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

struct ggml_threadpool *
ggml_threadpool_new(struct ggml_threadpool_params *params)
{
    int n = params->n_threads;
    struct ggml_threadpool *pool = mem_aligned(CACHE_LINE, sizeof(*pool));

    GGML_ASSERT(n >= 1 && n <= GGML_MAX_N_THREADS);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof(*pool));
    pool->workers = mem_array((size_t)n, sizeof(*pool->workers));
    if (!pool->workers) {
        mem_free(pool);
        return NULL;
    }
    pool->n_threads = n;
    pool->params = *params;
    atomic_store(&pool->paused, params->paused);
    set_spins(pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (int i = 0; i < n - 1; i++) {
        struct worker *w = &pool->workers[i];

        w->pool = pool;
        w->ith = i + 1;
        if (start(w) != 0) {
            log_say(GGML_LOG_LEVEL_WARN, "only %d threads of %d\n", i + 1, n);
            pool->n_threads = i + 1;
            break;
        }
        pin(params, w);
    }
    return pool;
}

void
ggml_threadpool_free(struct ggml_threadpool *pool)
{
    if (!pool)
        return;
    stop_workers(pool, pool->n_threads - 1);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->workers);
    mem_free(pool);
}

int
ggml_threadpool_get_n_threads(struct ggml_threadpool *pool)
{
    return pool->n_threads;
}

/* A paused pool works as well: its threads sleep at once when idle. */
void
ggml_threadpool_pause(struct ggml_threadpool *pool)
{
    atomic_store(&pool->paused, 1);
}

void
ggml_threadpool_resume(struct ggml_threadpool *pool)
{
    atomic_store(&pool->paused, 0);
}

struct ggml_threadpool_params
ggml_threadpool_params_default(int n_threads)
{
    struct ggml_threadpool_params params;

    ggml_threadpool_params_init(&params, n_threads);
    return params;
}

void
ggml_threadpool_params_init(struct ggml_threadpool_params *p, int n_threads)
{
    memset(p, 0, sizeof(*p)); /* no processor chosen: any */
    p->n_threads = n_threads;
    p->poll = 50;
}

bool
ggml_threadpool_params_match(const struct ggml_threadpool_params *p0,
                             const struct ggml_threadpool_params *p1)
{
    return p0->n_threads == p1->n_threads && p0->prio == p1->prio &&
           p0->poll == p1->poll && p0->strict_cpu == p1->strict_cpu &&
           memcmp(p0->cpumask, p1->cpumask, sizeof(p0->cpumask)) == 0;
}
