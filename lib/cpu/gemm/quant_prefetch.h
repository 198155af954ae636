/* quant_prefetch.h - prefetch while a block of VEC rows is multiplied: the
 * distances, in blocks, and cache lines of a row */
#ifndef CPU_GEMM_QUANT_PREFETCH_H
#define CPU_GEMM_QUANT_PREFETCH_H

#include "cpu/gemm/unpack_scales.h"

/* Lines of what a block of VEC rows has. */
INLINE int
lines_of(struct format f)
{
    return (int)((VEC * f.size + LINE - 1) / LINE);
}

/* Prefetches part `part` of `parts` of `lines` lines from `next` on. Many at
 * once would have to wait for each other. */
INLINE void
prefetch_lines(int lines, const char *next, int part, int parts, bool soon)
{
    const int first = lines * part / parts, end = lines * (part + 1) / parts;

    UNROLL for (int i = 0; i < (lines + parts - 1) / parts; i++)
    {
        if (first + i >= end)
            break;
        if (soon)
            cpu_prefetch_for_gemv(next + (first + i) * LINE);
        else
            cpu_prefetch_to_l2(next + (first + i) * LINE);
    }
}

/* Prefetches a part of as many lines as a block of VEC rows has. */
INLINE void
cpu_prefetch_part(struct format f, const char *next, int part, int parts,
                  bool soon)
{
    prefetch_lines(lines_of(f), next, part, parts, soon);
}

/* A share of them in a loop that is not unrolled: whole lines, as many in each,
 * some of which the next block prefetches again. The more is computed
 * meanwhile, the fewer `times` they are to be prefetched. */
INLINE void
cpu_prefetch_unit(struct format f, const char *next, int part, int parts,
                  int times)
{
    const int each = (lines_of(f) + parts - 1) / parts;

    next += part * each * LINE;
    UNROLL for (int i = 0; i < each; i++)
        cpu_prefetch_line(next + i * LINE, times, PREFETCH_TO_L1 ? times : 0);
}

/* Where the word-th word of half of run n of such a block is used. Where runs
 * are a loop each has as many lines. */
INLINE void
cpu_prefetch_word(struct format f, const char *next, int n, int half, int word,
                  bool soon)
{
    const int runs = f.chunk_loop ? cpu_chunks(f) : 1;
    const int lines = (lines_of(f) + runs - 1) / runs;
    const int at = half * cpu_units_in_chunk(f, n) * WORDS / 2 + word;
    const int before = f.chunk_loop ? 0 : n * f.chunk_units * WORDS;

    if (f.chunk_loop)
        next += n * lines * LINE;
    prefetch_lines(lines, next, before + at,
                   (int)(f.block / COLUMN_BLOCK * WORDS) / runs, soon);
}

#endif
