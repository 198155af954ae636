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
 * after `n` rows from `row` on is fetched meanwhile, line by line in the
 * order of memory; if nothing is, that is what was read already. */
static inline const char *
rows_after(const struct cpu_product *p, int64_t row, int64_t n)
{
    bool more = p->more || row + n < p->n_rows;

    return p->rows + (size_t)(more ? row + n : 0) * p->row_stride;
}

/* Of whole tiles, the rows that are fetched ahead of products of one column:
 * fewer would be multiplied before the next arrive. */
static inline int64_t
rows_ahead(const struct cpu_product *p, int64_t tile)
{
    int64_t size = tile * (int64_t)p->row_stride;

    return size <= 0 ? tile : (CPU_AHEAD + size - 1) / size * tile;
}

/* The first rows, if no other fetched them. */
static inline void
fetch_first(const struct cpu_product *p, int64_t n)
{
    n = n < p->n_rows ? n : p->n_rows;
    if (!p->going)
        for (size_t at = 0; at < (size_t)n * p->row_stride; at += LINE)
            __builtin_prefetch(p->rows + at, 0, 2);
}

#endif
