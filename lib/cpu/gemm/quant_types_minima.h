/* quant_types_minima.h - products with weights whose groups have minima,
 * or integers as scales, for any
 * vectors; see quant_types.h */
#ifndef CPU_GEMM_QUANT_TYPES_MINIMA_H
#define CPU_GEMM_QUANT_TYPES_MINIMA_H

#include "cpu/gemm/quant_types.h"

/*          min    offset, largest code; integers as scales */
MANY(nibbles, 32, true, 0, 15, false, false)
MANY(fives, 32, true, 0, 31, false, false)
MANY(coded_twos, 16, true, 0, 3, true, false)
MANY(coded_threes, 16, false, 4, 7, true, false)
MANY(coded_sixes, 16, false, 32, 63, true, false)

/*                                    together;               few */
MULTIPLY(q4_1, QUANT_BLOCK, nibbles, 1, FLOATS(dm), FEW_OF(8, 2))
MULTIPLY(q5_1, QUANT_BLOCK, fives, 1, FLOATS(dm), FEW_OF(8, 2))
MULTIPLY(q2_k, QUANT_SUPER, coded_twos, 4, QUADS(LOOPS(CODED(q2_k, 0))),
         FEW_OF(3, 1))
MULTIPLY(q3_k, QUANT_SUPER, coded_threes, 4, QUADS(CODED(q3_k, 32)),
         FEW_OF(4, 2))
MULTIPLY(q4_k, QUANT_SUPER, nibbles, 2, LOOPS(FLOATS(k)), FEW_OF(8, 2))
MULTIPLY(q5_k, QUANT_SUPER, fives, 2, FLOATS(k), FEW_OF(4, 1))
MULTIPLY(q6_k, QUANT_SUPER, coded_sixes, 4, LOOPS(CODED(q6_k, 128)),
         FEW_OF(3, 1))

INLINE void
fill_minima(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_MINIMA_TYPES(FILL)
#undef FILL
}

#endif
