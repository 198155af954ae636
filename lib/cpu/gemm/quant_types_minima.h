/* quant_types_minima.h - products with weights whose groups have minima, or
 * integers as scales, for any vectors; see quant_types.h */
#ifndef CPU_GEMM_QUANT_TYPES_MINIMA_H
#define CPU_GEMM_QUANT_TYPES_MINIMA_H

#include "cpu/gemm/quant_types.h"

/*          min    offset, largest code; integers as scales */
DEFINE_GEMM(bits4, 32, true, 0, 15, false, false)
DEFINE_GEMM(bits5, 32, true, 0, 31, false, false)
DEFINE_GEMM(bits2_int_scales, 16, true, 0, 3, true, false)
DEFINE_GEMM(bits3_int_scales, 16, false, 4, 7, true, false)
DEFINE_GEMM(bits6_int_scales, 16, false, 32, 63, true, false)

/*                                    chunk units;            small batch */
MULTIPLY(q4_1, QUANT_BLOCK, bits4, 1, FLOAT_SCALES(dm), SMALL_BATCH_OF(8, 2))
MULTIPLY(q5_1, QUANT_BLOCK, bits5, 1, FLOAT_SCALES(dm), SMALL_BATCH_OF(8, 2))
MULTIPLY(q2_k, QUANT_SUPER, bits2_int_scales, 4,
         QUADS(CHUNK_LOOP(INT_SCALES(q2_k, 0))), SMALL_BATCH_OF(3, 1))
MULTIPLY(q3_k, QUANT_SUPER, bits3_int_scales, 4, QUADS(INT_SCALES(q3_k, 32)),
         SMALL_BATCH_OF(4, 2))
MULTIPLY(q4_k, QUANT_SUPER, bits4, 2, CHUNK_LOOP(FLOAT_SCALES(k)),
         SMALL_BATCH_OF(8, 2))
MULTIPLY(q5_k, QUANT_SUPER, bits5, 2, FLOAT_SCALES(k), SMALL_BATCH_OF(4, 1))
MULTIPLY(q6_k, QUANT_SUPER, bits6_int_scales, 4,
         CHUNK_LOOP(INT_SCALES(q6_k, 128)), SMALL_BATCH_OF(3, 1))

INLINE void
cpu_fill_minima(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_MINIMA_TYPES(FILL)
#undef FILL
}

#endif
