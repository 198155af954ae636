/* quant_types_scaled.h - products with weights whose groups have a scale each,
 * but for those of one or two bits, for any vectors; see quant_types.h */
#ifndef CPU_GEMM_QUANT_TYPES_SCALED_H
#define CPU_GEMM_QUANT_TYPES_SCALED_H

#include "cpu/gemm/quant_types.h"

/*          min    offset, largest code; integers as scales */
DEFINE_GEMM(int8, 32, false, SIGNED_OFFSET, 0, false, false)
DEFINE_GEMM(bits4_less_8, 32, false, 8, 15, false, false)
DEFINE_GEMM(bits5_less_16, 32, false, 16, 31, false, false)
DEFINE_GEMM(fp4, 32, false, FP4_OFFSET, 24, false, false)
DEFINE_GEMM(fp4_by_16, 16, false, FP4_OFFSET, 24, false, false)

/*                                    chunk units;            small batch */
MULTIPLY(q8_0, QUANT_BLOCK, int8, 1, FLOAT_SCALES(d), SMALL_BATCH_OF(8, 4))
MULTIPLY(q4_0, QUANT_BLOCK, bits4_less_8, 1, FLOAT_SCALES(d),
         SMALL_BATCH_OF(8, 4))
MULTIPLY(q5_0, QUANT_BLOCK, bits5_less_16, 1, FLOAT_SCALES(d),
         SMALL_BATCH_OF(8, 2))
MULTIPLY(iq4_nl, QUANT_BLOCK, int8, 1, FLOAT_SCALES(d), SMALL_BATCH_OF(8, 4))
MULTIPLY(iq4_xs, QUANT_SUPER, int8, 1, CHUNK_LOOP(FLOAT_SCALES(iq4_xs)),
         SMALL_BATCH_OF(8, 4))
MULTIPLY(mxfp4, QUANT_BLOCK, fp4, 1, FLOAT_SCALES(mxfp4), SMALL_BATCH_OF(8, 2))
MULTIPLY(nvfp4, 64, fp4_by_16, 1, FLOAT_SCALES(nvfp4), SMALL_BATCH_OF(4, 2))

INLINE void
cpu_fill_scaled(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_SCALED_TYPES(FILL)
#undef FILL
}

#endif
