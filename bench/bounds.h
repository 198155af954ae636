/* bounds.h - what this machine could do at best */
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

/* NULL: no such peak. */
const struct bounds_peak *
bounds_peak(size_t i);

/* Reads n bytes at p, a multiple of 4096; returns something of them. */
unsigned long
bounds_read(const char *p, size_t n, bool prefetch);

#endif
