/* quant_prefetch.h - what is fetched while a block of VEC rows is computed with
 */
#ifndef CPU_GEMM_QUANT_PREFETCH_H
#define CPU_GEMM_QUANT_PREFETCH_H

#include "cpu/gemm/unpack_scales.h"

/* Lines of what a block of VEC rows has. */
INLINE int
lines_of(struct format f)
{
    return (int)((VEC * f.size + LINE - 1) / LINE);
}

/* Part `part` of `parts` of so many lines from `next` on. Many at once would
 * have to wait for each other. */
INLINE void
fetch_lines(int lines, const char *next, int part, int parts, bool soon)
{
    const int first = lines * part / parts, end = lines * (part + 1) / parts;

    UNROLL for (int i = 0; i < (lines + parts - 1) / parts; i++)
    {
        if (first + i >= end)
            break;
        if (soon)
            fetch_line(next + (first + i) * LINE);
        else
            fetch_far(next + (first + i) * LINE);
    }
}

/* Of as many as a block of VEC rows has. */
INLINE void
fetch_part(struct format f, const char *next, int part, int parts, bool soon)
{
    fetch_lines(lines_of(f), next, part, parts, soon);
}

/* A share of them in a loop that is not unrolled: whole lines, as many in each,
 * some of which the next block asks for again. The more is computed meanwhile,
 * the fewer `times` they are to be asked for. */
INLINE void
fetch_share(struct format f, const char *next, int part, int parts, int times)
{
    const int each = (lines_of(f) + parts - 1) / parts;

    next += part * each * LINE;
    UNROLL for (int i = 0; i < each; i++)
        ask_for(next + i * LINE, times, FETCH_NEAR ? times : 0);
}

/* Where the word-th word of half of run n of such a block is used. Where runs
 * are a loop each has as many lines. */
INLINE void
fetch_word(struct format f, const char *next, int n, int half, int word,
           bool soon)
{
    const int runs = f.loops ? runs_of(f) : 1;
    const int lines = (lines_of(f) + runs - 1) / runs;
    const int at = half * units_in(f, n) * WORDS / 2 + word;
    const int before = f.loops ? 0 : n * f.together * WORDS;

    if (f.loops)
        next += n * lines * LINE;
    fetch_lines(lines, next, before + at,
                (int)(f.block / COLUMN_BLOCK * WORDS) / runs, soon);
}

#endif
