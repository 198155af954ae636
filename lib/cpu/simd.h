/* simd.h - what the kernels of all instruction sets share */
#ifndef CPU_SIMD_H
#define CPU_SIMD_H

#include <string.h>

#include "cpu/kernels.h"

/* Loops over the registers of a tile must be gone after compiling; but not
 * where sanitizers have changed them so much that gcc warns of what it cannot
 * unroll. */
#ifdef __SANITIZE_ADDRESS__
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
/* A loop whose body needs all registers. */
#ifdef __clang__
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif
/* A function that callers share, though they all pass constants. */
#ifdef __clang__
#define APART static __attribute__((noinline))
#else
#define APART static __attribute__((noipa))
#endif
/* What follows and uses the pointer is not moved before the vector is there;
 * the vector is made, not computed with in another form. */
#ifdef __aarch64__
#define AFTER(pointer, vector) __asm__("" : "+r"(pointer) : "w"(vector))
#define IN_REGISTER(vector)    __asm__("" : "+w"(vector))
#else
#define AFTER(pointer, vector) __asm__("" : "+r"(pointer) : "v"(vector))
#define IN_REGISTER(vector)    __asm__("" : "+v"(vector))
#endif
#define INLINE       static inline __attribute__((always_inline))
#define AS(T, p)     ((const T *)(const void *)(p))
#define AS_OUT(T, p) ((T *)(void *)(p))

/* Four bytes of a block, wherever it lies. */
INLINE int32_t
four_bytes(const char *p)
{
    int32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

#define LINE 64

/* Weights that are used once come from memory fastest as one long stream, not
 * as a stream a row, which is how a tile of rows reads them. So what is read
 * later is fetched meanwhile, line by line in the order of memory: of that,
 * what comes with row `row`; if nothing is, that is what was read already. */
static inline const char *
ahead_of(const struct cpu_product *p, int64_t row)
{
    return (p->ahead ? p->ahead : p->rows) + (size_t)row * p->row_stride;
}

/* A processor that has asked memory for as many lines as it can forgets what
 * else it is to fetch; so lines are asked for again, some time later. */
#define ASK_AGAIN 4096

/* How an instruction set fetches weights, unless it says otherwise: how often
 * it asks for a line; whether into the first cache; and how many bytes ahead,
 * at least: what memory sends while one line is on its way to a busy processor,
 * and more. */
#ifndef FETCH_LEAD
#define FETCH_TIMES 3
#define FETCH_NEAR  cpu_large_first_cache
#define FETCH_LEAD  (24 * 1024)
#endif

/* Of the times that a line is asked for, the last `near` want it in the first
 * cache, the others in the second. */
INLINE void
ask_for(const char *p, int times, int near)
{
    UNROLL for (int i = 0; i < times; i++)
    {
        if (i >= times - near)
            __builtin_prefetch(p - i * ASK_AGAIN, 0, 3);
        else
            __builtin_prefetch(p - i * ASK_AGAIN, 0, 2);
    }
}

/* Used by one column, or few: what comes in between is not much. */
INLINE void
fetch_line(const char *p)
{
    ask_for(p, FETCH_TIMES, FETCH_NEAR ? FETCH_TIMES : 0);
}

/* Used when all columns of some rows have gone by: it comes near at last. Where
 * less than a line is fetched in a turn of the loop, few are forgotten. */
INLINE void
fetch_later(bool slowly, const char *p)
{
    ask_for(p, slowly ? 2 : FETCH_TIMES, FETCH_NEAR ? 1 : 0);
}

/* Used when many have, that fill the first cache with what is opened for them:
 * there it would drive that out, or be driven out. */
INLINE void
fetch_far(const char *p)
{
    ask_for(p, FETCH_TIMES, 0);
}

#endif
