/* bounds.c - what this machine could do at best: read memory, multiply
 *
 *   bounds [THREADS]           all bounds, one tab-separated line each:
 *                              what, instructions, threads, value, unit
 *   bounds --probe THREADS     GB/s of reading only
 *
 * The best of some tries each: a bound is what nothing gets in the way of. */
#define _GNU_SOURCE
#include "bounds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_THREADS = 256,
    TRIES = 6, /* of each variant */
};

/* Far above any cache, for all threads together. */
#define BUFFER ((size_t)512 << 20)

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What each thread does at once with the others. */
struct work {
    pthread_barrier_t *barrier;
    const struct bounds_peak *peak; /* NULL: reads */
    long rounds;
    const char *p;
    size_t n;
    bool prefetch;
    unsigned long result;
    double begin, end;
};

static void *
run(void *arg)
{
    struct work *w = arg;

    pthread_barrier_wait(w->barrier);
    w->begin = now();
    if (w->peak)
        w->peak->run(w->rounds);
    else
        w->result = bounds_read(w->p, w->n, w->prefetch);
    w->end = now();
    return NULL;
}

/* Seconds from the first one's begin to the last one's end. */
static double
run_all(struct work *works, int n)
{
    pthread_t threads[MAX_THREADS];
    pthread_barrier_t barrier;
    double begin, end;

    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        works[i].barrier = &barrier;
        if (pthread_create(&threads[i], NULL, run, &works[i])) {
            fputs("bounds: no threads\n", stderr);
            exit(1);
        }
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    begin = works[0].begin;
    end = works[0].end;
    for (int i = 1; i < n; i++) {
        begin = works[i].begin < begin ? works[i].begin : begin;
        end = works[i].end > end ? works[i].end : end;
    }
    return end - begin;
}

static double
read_once(const char *buffer, int n_threads, bool prefetch)
{
    size_t each = BUFFER / (size_t)n_threads / 4096 * 4096;
    struct work works[MAX_THREADS];

    for (int i = 0; i < n_threads; i++)
        works[i] = (struct work){ .p = buffer + (size_t)i * each,
                                  .n = each,
                                  .prefetch = prefetch };
    return (double)each * n_threads / run_all(works, n_threads) * 1e-9;
}

/* GB/s, with and without prefetching: processors differ in what they like. */
static double
read_rate(const char *buffer, int n_threads)
{
    double best = 0;

    for (int i = 0; i < 2 * TRIES; i++) {
        double rate = read_once(buffer, n_threads, i % 2);

        best = rate > best ? rate : best;
    }
    return best;
}

static double
peak_once(const struct bounds_peak *peak, int n_threads, long rounds)
{
    struct work works[MAX_THREADS];

    for (int i = 0; i < n_threads; i++)
        works[i] = (struct work){ .peak = peak, .rounds = rounds };
    return run_all(works, n_threads);
}

/* GOP/s */
static double
peak_rate(const struct bounds_peak *peak, int n_threads)
{
    long rounds = 1000;
    double seconds = 0, best = 0;

    while ((seconds = peak_once(peak, n_threads, rounds)) < 0.01)
        rounds *= 4;
    for (int i = 0; i < TRIES; i++) {
        seconds = peak_once(peak, n_threads, rounds);
        best = seconds < best || best == 0 ? seconds : best;
    }
    return peak->ops * (double)rounds * n_threads / best * 1e-9;
}

static char *
new_buffer(void)
{
    char *p = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("bounds");
        exit(1);
    }
    madvise(p, BUFFER, MADV_HUGEPAGE);
    memset(p, 1, BUFFER);
    return p;
}

static int
threads_of(const char *text)
{
    long n = text ? atol(text) : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

static void
print_all(const char *buffer, int n_threads)
{
    for (int n = 1;; n = n_threads) {
        const struct bounds_peak *peak;

        printf("read\t-\t%d\t%.1f\tGB/s\n", n, read_rate(buffer, n));
        for (size_t i = 0; (peak = bounds_peak(i)) != NULL; i++)
            if (peak->is_here())
                printf("%s\t%s\t%d\t%.1f\tGOP/s\n", peak->what, peak->isa, n,
                       peak_rate(peak, n));
        fflush(stdout);
        if (n == n_threads)
            return;
    }
}

int
main(int argc, char **argv)
{
    bool probe = argc > 1 && strcmp(argv[1], "--probe") == 0;
    const char *threads = argc > 1 + probe ? argv[1 + probe] : NULL;
    char *buffer = new_buffer();

    if (probe)
        printf("%.1f\n", read_rate(buffer, threads_of(threads)));
    else
        print_all(buffer, threads_of(threads));
    return fclose(stdout) != 0;
}
