/* threadpool.c - threads that help with work cut into pieces */
#include <config.h>

#include "cpu/exec/threadpool.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/numa.h"
#include "core/thread.h"

#define CACHE_LINE 64
/* How many pauses a thread spins before it sleeps: some 100 us at the default
 * poll of 50, times 2 for 100; the caller, for the last pieces of a job. */
#define SPIN_POLL    100
#define SPIN_LAST    2000
#define SPIN_CROWDED 16 /* more threads than processors */
/* Pauses between two looks at the clock; they take far less than LATE_US, so
 * that who sees more has been kept from running. Where that comes again and
 * again, others want the machine: each time counts LATE, and BUSY together are
 * made MOST; a graph counts one off. Down to BUSY threads sleep at once when
 * they are idle, and are called for large nodes only. */
#define SPIN_LOOK 64
#define LATE_US   500
#define LATE      16
#define BUSY      48
#define MOST      200

struct worker {
    struct ggml_threadpool *pool;
    pthread_t thread;
    int ith;
};

/* Pieces of a job that nobody has taken yet: [first, end), end above. Who
 * takes one by exchanging this word holds the job: what the pool says of it
 * stays as it is until the piece is done. */
struct thread_share {
    alignas(CACHE_LINE) atomic_uint_fast64_t left;
    atomic_int inside; /* the share's thread looks for pieces */
};

struct ggml_threadpool {
    int n_threads;
    unsigned spin_idle, spin_last;
    struct worker *workers; /* n_threads - 1 */
    struct ggml_threadpool_params params;

    pthread_mutex_t lock; /* for sleeping only */
    pthread_cond_t changed;

    struct thread_share *shares; /* one a thread */
    int n_shares;
    alignas(CACHE_LINE) atomic_uint jobs; /* that were offered */
    struct cpu_offer job;
    bool pinned; /* by the program, to processors that it says */
    alignas(CACHE_LINE) atomic_uint done; /* pieces of the job */
    alignas(CACHE_LINE) atomic_uint wakes;
    atomic_int stop, paused, limit, late;
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

/* Sleeps until *word is no longer `old`. */
static void
sleep_on(struct ggml_threadpool *pool, atomic_uint *word, unsigned old)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(word) == old)
        pthread_cond_wait(&pool->changed, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* After a word was changed. Who sleeps has counted itself before it looked at
 * the word for the last time. */
static void
wake_sleepers(struct ggml_threadpool *pool)
{
    if (atomic_load(&pool->sleepers) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

#define FIRST(left) ((uint32_t)(left))
#define END(left)   ((uint32_t)((left) >> 32) & INT32_MAX)
#define ONE_END     ((uint64_t)1 << 32)
#define RUNS        ((uint64_t)1 << 63) /* see cpu_offer */

/* How many of n pieces that are left are taken together: the fewer, the nearer
 * the end is, so that all threads get there at the same time. */
static int
run_of(uint32_t n)
{
    return (int)(n + 3) / 4;
}

/* Pieces that were taken. */
struct taken {
    int piece, count;
};

/* Takes the first pieces of one's own share, or the last of another's. */
static bool
take_pieces(struct thread_share *s, bool own, struct taken *t)
{
    uint64_t left = atomic_load_explicit(&s->left, memory_order_relaxed), less;

    do {
        if (FIRST(left) == END(left))
            return false;
        t->count = 1;
        if (own && left & RUNS)
            t->count = run_of(END(left) - FIRST(left));
        t->piece = (int)(own ? FIRST(left) : END(left) - 1);
        less = own ? left + (uint32_t)t->count : left - ONE_END;
    } while (!atomic_compare_exchange_weak_explicit(
        &s->left, &left, less, memory_order_acquire, memory_order_relaxed));
    return true;
}

static bool
take_any(struct ggml_threadpool *pool, int thread, struct taken *t)
{
    int n = pool->n_shares, of = thread;

    for (int i = 0; i < n; i++) {
        if (take_pieces(&pool->shares[of], of == thread, t))
            return true;
        of = of + 1 < n ? of + 1 : 0;
    }
    return false;
}

/* Does pieces until there are none. They are counted together: the count
 * wanders between processors. */
static void
do_pieces(struct ggml_threadpool *pool, int thread)
{
    unsigned n_done = 0, n = 0;
    struct taken t;

    for (; take_any(pool, thread, &t); n_done += (unsigned)t.count) {
        n = (unsigned)pool->job.n;
        pool->job.fn(pool->job.arg, t.piece, t.count, (int)n, thread);
    }
    if (n_done && atomic_fetch_add(&pool->done, n_done) == n - n_done &&
        thread != 0)
        wake_sleepers(pool); /* thread 0 may sleep for this */
}

static bool
is_done(struct ggml_threadpool *pool)
{
    return atomic_load_explicit(&pool->done, memory_order_acquire) ==
           (unsigned)pool->job.n;
}

static void
wait_done(struct ggml_threadpool *pool)
{
    unsigned done;

    for (unsigned i = 0; i < pool->spin_last; i++) {
        if (is_done(pool))
            return;
        pause_cpu();
    }
    while ((done = atomic_load(&pool->done)) != (unsigned)pool->job.n)
        sleep_on(pool, &pool->done, done);
}

void
cpu_pool_offer(struct ggml_threadpool *pool, const struct cpu_offer *offer)
{
    int limit = atomic_load_explicit(&pool->limit, memory_order_relaxed);
    int n = offer->n;

    pool->job = *offer;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    for (int i = 0; i < limit; i++) {
        uint64_t first = (uint64_t)cpu_pool_first(n, limit, i);
        uint64_t end = (uint64_t)cpu_pool_first(n, limit, i + 1);

        atomic_store_explicit(&pool->shares[i].left,
                              first | end << 32 |
                                  (offer->contiguous ? RUNS : 0),
                              memory_order_release);
    }
    atomic_fetch_add_explicit(&pool->jobs, 1, memory_order_release);
    if (offer->wake)
        cpu_pool_wake(pool);
}

void
cpu_pool_help(struct ggml_threadpool *pool)
{
    do_pieces(pool, 0);
}

void
cpu_pool_finish(struct ggml_threadpool *pool)
{
    cpu_pool_help(pool);
    wait_done(pool);
}

void
cpu_pool_share(struct ggml_threadpool *pool, const struct cpu_offer *offer)
{
    cpu_pool_offer(pool, offer);
    cpu_pool_finish(pool);
}

/* Threads from n_threads on may be looking for pieces of the last job still:
 * they must not find one of the next. */
static void
set_limit(struct ggml_threadpool *pool, int n_threads)
{
    int before = atomic_load_explicit(&pool->limit, memory_order_relaxed);

    if (n_threads == before)
        return;
    atomic_store(&pool->limit, n_threads);
    for (int i = n_threads; i < before; i++)
        while (atomic_load(&pool->shares[i].inside))
            sched_yield();
}

void
cpu_pool_begin(struct ggml_threadpool *pool, int n_threads)
{
    int late = atomic_load_explicit(&pool->late, memory_order_relaxed);

    set_limit(pool, n_threads);
    if (late > 0)
        atomic_store_explicit(&pool->late, late - 1, memory_order_relaxed);
    if (late < BUSY)
        cpu_pool_wake(pool);
}

void
cpu_pool_wake(struct ggml_threadpool *pool)
{
    /* even if nobody sleeps: somebody may be about to */
    atomic_fetch_add(&pool->wakes, 1);
    wake_sleepers(pool);
}

static bool
is_busy(const struct ggml_threadpool *pool)
{
    return atomic_load_explicit(&pool->late, memory_order_relaxed) >= BUSY;
}

/* Threads that count at the same time may count one: it is a guess anyway. */
static void
count_late(struct ggml_threadpool *pool)
{
    int late = atomic_load_explicit(&pool->late, memory_order_relaxed) + LATE;

    atomic_store_explicit(&pool->late, late < BUSY ? late : MOST,
                          memory_order_relaxed);
}

/* Looks for a job that is newer than *seen, and helps with it. */
static bool
help_once(struct ggml_threadpool *pool, int ith, unsigned *seen)
{
    unsigned jobs = atomic_load_explicit(&pool->jobs, memory_order_acquire);
    struct thread_share *own = &pool->shares[ith];

    if (jobs == *seen)
        return false;
    *seen = jobs;
    atomic_store(&own->inside, 1);
    if (ith < atomic_load(&pool->limit))
        do_pieces(pool, ith);
    atomic_store_explicit(&own->inside, 0, memory_order_release);
    return true;
}

/* Helps until nothing came for a while. */
static void
help(struct ggml_threadpool *pool, int ith)
{
    unsigned idle = 0, spins = pool->spin_idle;
    unsigned seen = atomic_load_explicit(&pool->jobs, memory_order_relaxed) - 1;
    int64_t looked = ggml_time_us(), now;

    if (atomic_load_explicit(&pool->paused, memory_order_relaxed) ||
        is_busy(pool))
        spins = 0;
    while (idle <= spins &&
           !atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
        if (help_once(pool, ith, &seen)) {
            idle = 0;
            looked = ggml_time_us();
            continue;
        }
        pause_cpu();
        if (++idle % SPIN_LOOK)
            continue;
        now = ggml_time_us();
        if (now - looked > LATE_US)
            count_late(pool);
        looked = now;
    }
}

#ifdef __linux__
/* The calling thread's: the nth processor of the mask, or all of them. By 0,
 * not by an id: a sandbox allows a thread its own affinity only. */
static void
pin(const struct ggml_threadpool_params *p, int ith)
{
    cpu_set_t set;
    int count = 0, skip = ith;

    CPU_ZERO(&set);
    for (int i = 0; i < GGML_MAX_N_THREADS; i++)
        count += p->cpumask[i];
    skip %= count;
    for (int i = 0; i < GGML_MAX_N_THREADS && i < CPU_SETSIZE; i++)
        if (p->cpumask[i] && (!p->strict_cpu || skip-- == 0))
            CPU_SET(i, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        log_say(GGML_LOG_LEVEL_WARN, "cannot bind thread %d\n", ith);
}
#else
static void
pin(const struct ggml_threadpool_params *p, int ith)
{
    (void)p;
    (void)ith;
}
#endif

static void *
work(void *arg)
{
    struct worker *w = arg;
    struct ggml_threadpool *pool = w->pool;

    if (pool->pinned)
        pin(&pool->params, w->ith);
    else
        numa_enter(w->ith, pool->params.n_threads);
    while (!atomic_load(&pool->stop)) {
        unsigned wakes = atomic_load(&pool->wakes);

        help(pool, w->ith);
        if (!atomic_load(&pool->stop))
            sleep_on(pool, &pool->wakes, wakes);
    }
    return NULL;
}

static void
stop_workers(struct ggml_threadpool *pool, int started)
{
    atomic_store(&pool->stop, 1);
    atomic_fetch_add(&pool->wakes, 1);
    wake_sleepers(pool);
    for (int i = 0; i < started; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

static void
set_spins(struct ggml_threadpool *pool)
{
    bool crowded = pool->n_threads > thread_count_default();
    unsigned poll = pool->params.poll > 100 ? 100 : pool->params.poll;

    pool->spin_last = crowded ? SPIN_CROWDED : SPIN_LAST;
    pool->spin_idle = crowded ? SPIN_CROWDED : poll * SPIN_POLL;
}

static void
free_memory(struct ggml_threadpool *pool)
{
    mem_free(pool->shares);
    mem_free(pool->workers);
    mem_free(pool);
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
    pool->shares = mem_aligned(CACHE_LINE, (size_t)n * sizeof(*pool->shares));
    if (!pool->workers || !pool->shares) {
        free_memory(pool);
        return NULL;
    }
    memset(pool->shares, 0, (size_t)n * sizeof(*pool->shares));
    pool->n_shares = n;
    pool->n_threads = n;
    pool->params = *params;
    atomic_store(&pool->paused, params->paused);
    atomic_store(&pool->limit, n);
    set_spins(pool);
    pool->pinned = memchr(params->cpumask, true, sizeof(params->cpumask));
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (int i = 0; i < n - 1; i++) {
        struct worker *w = &pool->workers[i];

        w->pool = pool;
        w->ith = i + 1;
        if (thread_start(&w->thread, work, w) != 0) {
            log_say(GGML_LOG_LEVEL_WARN, "only %d threads of %d\n", i + 1, n);
            pool->n_threads = i + 1;
            break;
        }
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
    free_memory(pool);
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
