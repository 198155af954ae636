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

/* Weights that are used once come from memory fastest as one long stream, not
 * as a stream a row, which is how a tile of rows reads them. So the tile after
 * next is fetched beforehand, line by line in the order of memory. Returns
 * where it begins, or NULL if it is not wholly there, or has gaps. */
static inline const char *
tile_ahead(const struct cpu_product *p, int64_t row, int64_t tile,
           size_t row_size)
{
    if (p->row_stride != row_size || row + 3 * tile > p->n_rows)
        return NULL;
    return p->rows + (size_t)(row + 2 * tile) * row_size;
}

/* The first two tiles, that no other fetches beforehand. */
static inline void
fetch_first(const struct cpu_product *p, int64_t tile, size_t row_size)
{
    size_t n = (size_t)(2 * tile < p->n_rows ? 2 * tile : p->n_rows);

    if (p->row_stride == row_size)
        for (size_t at = 0; at < n * row_size; at += 64)
            __builtin_prefetch(p->rows + at, 0, 2);
}

#endif
