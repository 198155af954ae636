/* quant_types_lowbit.h - products with weights of one or two bits, for any
 * vectors; see quant_types.h */
#ifndef CPU_GEMM_QUANT_TYPES_LOWBIT_H
#define CPU_GEMM_QUANT_TYPES_LOWBIT_H

#include "cpu/gemm/unpack_ternary.h"
#include "cpu/gemm/quant_types.h"

/*          min    offset, largest code; integers as scales */
DEFINE_GEMM(bits2_less_1, 32, false, 1, 3, false, false)

/*                                    chunk units;            small batch */
MULTIPLY(q1_0, 128, bits2_less_1, 4, FLOAT_SCALES(q1_0), SMALL_BATCH_OF(8, 1))
MULTIPLY(q2_0, 64, bits2_less_1, 2, FLOAT_SCALES(q2_0), SMALL_BATCH_OF(8, 2))
MULTIPLY(tq1_0, QUANT_SUPER, bits2_less_1, 5, GEMV(cpu_gemv_ternary, tq1_0), 1)
MULTIPLY(tq2_0, QUANT_SUPER, bits2_less_1, 4, CHUNK_LOOP(FLOAT_SCALES(tq2_0)),
         SMALL_BATCH_OF(8, 1))

INLINE void
cpu_fill_lowbit(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_SMALL_TYPES(FILL)
#undef FILL
}

#endif
