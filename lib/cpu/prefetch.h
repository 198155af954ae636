/* prefetch.h - software prefetch: what will be read is requested early
 *
 * Everything in lib/cpu that prefetches does so by these functions. Weights
 * that are used once come from memory fastest as one long stream, not as a
 * stream a row, which is how a tile of rows reads them. So a kernel prefetches,
 * line by line in the order of memory, what its thread reads next: as many
 * bytes as it multiplies meanwhile, the prefetch distance further on. What a
 * thread reads next is known to exec/weight_prefetch.h, and what is read
 * between two jobs to exec/node_prefetch.h.
 *
 * An instruction set's header may say, before it includes this one,
 *
 *     PREFETCH_TIMES      how often a line is requested: a processor that has
 *                         as many requests under way as it can drops further
 *                         ones, so they are repeated, PREFETCH_REPEAT_BYTES
 *                         later
 *     PREFETCH_TO_L1      whether weights for GEMV and small batches go to the
 * L1 cache, otherwise to L2 PREFETCH_DISTANCE   bytes, at least: what memory
 * sends while one line is on its way to a busy processor, and more
 *     HARDWARE_PREFETCHED a type whose rows the hardware prefetcher finds by
 *                         itself: prefetched by software, they come later */
#ifndef CPU_PREFETCH_H
#define CPU_PREFETCH_H

#include "cpu/simd.h"

#define LINE 64 /* bytes of a cache line */

#define PREFETCH_REPEAT_BYTES 4096

#ifndef PREFETCH_DISTANCE
#define PREFETCH_TIMES    3
#define PREFETCH_TO_L1    cpu_large_l1
#define PREFETCH_DISTANCE (24 * 1024)
#endif
#ifndef HARDWARE_PREFETCHED
#define HARDWARE_PREFETCHED GGML_TYPE_COUNT /* none */
#endif

/* The line of p, to the L1 or the L2 cache, or to L1 to be written. */
#define PREFETCH_L1(p)    __builtin_prefetch(p, 0, 3)
#define PREFETCH_L2(p)    __builtin_prefetch(p, 0, 2)
#define PREFETCH_WRITE(p) __builtin_prefetch(p, 1, 3)

/* Where a product's rows [row, ...) prefetch from: that row of p->prefetch;
 * without it, the row itself, which was read already and costs nothing. */
static inline const char *
cpu_prefetch_source(const struct cpu_product *p, int64_t row)
{
    return (p->prefetch ? p->prefetch : p->rows) + (size_t)row * p->row_stride;
}

/* Requests a line `times` times: the last `to_l1` requests are for
 * the L1 cache, the others for L2. */
INLINE void
cpu_prefetch_line(const char *p, int times, int to_l1)
{
    UNROLL for (int i = 0; i < times; i++)
    {
        if (i >= times - to_l1)
            PREFETCH_L1(p - i * PREFETCH_REPEAT_BYTES);
        else
            PREFETCH_L2(p - i * PREFETCH_REPEAT_BYTES);
    }
}

/* Weights for one column, or a small batch: not much comes in between. */
INLINE void
cpu_prefetch_for_gemv(const char *p)
{
    cpu_prefetch_line(p, PREFETCH_TIMES, PREFETCH_TO_L1 ? PREFETCH_TIMES : 0);
}

/* Weights that are used when all columns of the rows before have gone by: the
 * last request is for L1. Where less than a line is requested in a turn of the
 * loop (`slowly`), few requests are dropped. */
INLINE void
cpu_prefetch_for_tile(bool slowly, const char *p)
{
    cpu_prefetch_line(p, slowly ? 2 : PREFETCH_TIMES, PREFETCH_TO_L1 ? 1 : 0);
}

/* Weights that are used when many columns have gone by, which fill L1 with
 * what is unpacked for them. */
INLINE void
cpu_prefetch_to_l2(const char *p)
{
    cpu_prefetch_line(p, PREFETCH_TIMES, 0);
}

#endif
