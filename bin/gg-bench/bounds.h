/* bounds.h - how fast this machine could read memory and multiply, at best */
#ifndef BENCH_BOUNDS_H
#define BENCH_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* Dot products of one type of numbers in one set of instructions, as many as
 * registers take, and nothing else. */
struct bounds_peak {
    const char *what; /* "f32", "bf16", "int8" */
    const char *isa;  /* as in $GG_CPU_ISA */
    bool (*is_here)(void);
    void (*run)(long rounds);
    double ops; /* multiplications and additions of a round */
};

/* ---- loops: peaks.c ---- */

/* NULL: no such peak. A set of instructions that is wider comes later. */
const struct bounds_peak *
bounds_peak(size_t i);

/* Reads n bytes at p, a multiple of 4096; returns something of them. */
unsigned long
bounds_read(const char *p, size_t n, bool prefetch);

/* ---- how fast they run: bounds.c ---- */

enum {
    BOUNDS_MAX_THREADS = 512, /* more measure as this many */
};

/* Takes the memory that is read. False: there is too little; then the rate of
 * reading is 0. */
bool
bounds_start(void);
void
bounds_end(void);

/* GB/s that n_threads threads read, the best of some tries; 0: unknown. */
double
bounds_read_rate(int n_threads);

/* GOP/s of n_threads threads, the best of `tries`. */
double
bounds_peak_rate(const struct bounds_peak *peak, int n_threads, int tries);

/* True if this machine has the instructions, and $GG_CPU_ISA allows them. */
bool
bounds_has(const struct bounds_peak *peak);

/* The fastest of these for dot products of `what`; without any, the fastest for
 * "f32". NULL: there is none of that either. */
const struct bounds_peak *
bounds_fastest(const char *what, int n_threads);

#endif
