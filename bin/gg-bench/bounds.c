/* bounds.c - memory bandwidth and peaks of dot products, measured
 *
 * The best of some tries each: a bound is what nothing gets in the way of. */
#define _GNU_SOURCE
#include <config.h>

#include "gg-bench/bounds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "common/cli.h"

enum {
    TRIES = 6, /* of reading, with and without prefetching */
};

/* Far above any cache, for all threads together. */
#define BUFFER ((size_t)512 << 20)

static char *buffer;

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- all threads at once ---- */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opens;
    int missing;
};

struct lane {
    struct gate *gate;
    const struct bounds_peak *peak; /* NULL: reads */
    long rounds;
    const char *p;
    size_t n;
    bool prefetch;
    unsigned long result;
    double begin, end;
};

/* The threads of one measurement at a time. */
static struct lane lanes[BOUNDS_MAX_THREADS];

/* Waits until nobody is missing. */
static void
pass(struct gate *g, int arrived)
{
    pthread_mutex_lock(&g->mutex);
    g->missing -= arrived;
    if (g->missing <= 0)
        pthread_cond_broadcast(&g->opens);
    while (g->missing > 0)
        pthread_cond_wait(&g->opens, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void *
run_lane(void *arg)
{
    struct lane *l = arg;

    pass(l->gate, 1);
    l->begin = now();
    if (l->peak)
        l->peak->run(l->rounds);
    else
        l->result = bounds_read(l->p, l->n, l->prefetch);
    l->end = now();
    return NULL;
}

/* Seconds from the first one's begin to the last one's end; *n gets the threads
 * that were started, 1 at least. */
static double
run_lanes(int *n)
{
    struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                         *n };
    pthread_t threads[BOUNDS_MAX_THREADS];
    double begin, end;
    int had = 1;

    for (int i = 0; i < *n; i++)
        lanes[i].gate = &gate;
    while (had < *n &&
           cli_start_thread(&threads[had], run_lane, &lanes[had]) == 0)
        had++;
    pthread_mutex_lock(&gate.mutex);
    gate.missing -= *n - had;
    pthread_mutex_unlock(&gate.mutex);
    run_lane(&lanes[0]);
    begin = lanes[0].begin;
    end = lanes[0].end;
    for (int i = 1; i < had; i++) {
        pthread_join(threads[i], NULL);
        begin = lanes[i].begin < begin ? lanes[i].begin : begin;
        end = lanes[i].end > end ? lanes[i].end : end;
    }
    *n = had;
    return end - begin;
}

static int
limit_threads(int n)
{
    return n > BOUNDS_MAX_THREADS ? BOUNDS_MAX_THREADS : n;
}

/* ---- reading ---- */

bool
bounds_start(void)
{
    void *p;

    if (buffer)
        return true;
    p = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
             -1, 0);
    if (p == MAP_FAILED)
        return false;
    buffer = p;
    (void)madvise(buffer, BUFFER, MADV_HUGEPAGE);
    memset(buffer, 1, BUFFER);
    return true;
}

void
bounds_end(void)
{
    if (buffer)
        munmap(buffer, BUFFER);
    buffer = NULL;
}

static double
read_buffer(int n_threads, bool prefetch)
{
    size_t each = BUFFER / (size_t)n_threads / 4096 * 4096;
    double seconds;

    for (int i = 0; i < n_threads; i++)
        lanes[i] = (struct lane){ .p = buffer + (size_t)i * each,
                                  .n = each,
                                  .prefetch = prefetch };
    seconds = run_lanes(&n_threads);
    return (double)each * n_threads / seconds * 1e-9;
}

/* Processors differ in whether they like prefetching. */
double
bounds_read_rate(int n_threads)
{
    double best = 0;

    if (!buffer)
        return 0;
    n_threads = limit_threads(n_threads);
    for (int i = 0; i < TRIES; i++) {
        double rate = read_buffer(n_threads, i % 2);

        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- dot products ---- */

static double
multiply(const struct bounds_peak *peak, int *n_threads, long rounds)
{
    for (int i = 0; i < *n_threads; i++)
        lanes[i] = (struct lane){ .peak = peak, .rounds = rounds };
    return run_lanes(n_threads);
}

double
bounds_peak_rate(const struct bounds_peak *peak, int n_threads, int tries)
{
    int n = limit_threads(n_threads);
    long rounds = 1000;
    double seconds, best = 0;

    while ((seconds = multiply(peak, &n, rounds)) < 0.01)
        rounds *= 4;
    for (int i = 0; i < tries; i++) {
        seconds = multiply(peak, &n, rounds);
        best = seconds < best || best == 0 ? seconds : best;
    }
    return peak->ops * (double)rounds * n / best * 1e-9;
}

/* Where the set of instructions stands in $GG_CPU_ISA's order. */
static int
isa_rank(const char *isa)
{
    static const char *const order[] = { "avx2", "avxvnni", "avx512",
                                         "amx",  "neon",    "dotprod" };
    int n = (int)(sizeof(order) / sizeof(order[0]));

    for (int i = 0; isa && i < n; i++)
        if (strcmp(isa, order[i]) == 0)
            return i;
    return n;
}

bool
bounds_has(const struct bounds_peak *peak)
{
    return isa_rank(peak->isa) <= isa_rank(getenv("GG_CPU_ISA")) &&
           peak->is_here();
}

const struct bounds_peak *
bounds_fastest(const char *what, int n_threads)
{
    const struct bounds_peak *peak, *best = NULL;
    double rate, best_rate = 0;

    for (size_t i = 0; (peak = bounds_peak(i)) != NULL; i++) {
        if (strcmp(peak->what, what) != 0 || !bounds_has(peak))
            continue;
        rate = bounds_peak_rate(peak, n_threads, 1);
        if (rate > best_rate) {
            best_rate = rate;
            best = peak;
        }
    }
    return best || strcmp(what, "f32") == 0 ? best
                                            : bounds_fastest("f32", n_threads);
}
