/* vector_types.h - products with weights of each type, for any vectors; see
 * vector_groups.h */
#ifndef CPU_VECTOR_TYPES_H
#define CPU_VECTOR_TYPES_H

#include "cpu/vector_formats.h"
#include "cpu/vector_points_types.h"
#include "cpu/vector_thirds.h"

#define MULTIPLY(name, values, in_group, minima, codes, abreast, how, most)    \
    enum {                                                                     \
        few_##name = most                                                      \
    };                                                                         \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        multiply(p, (struct format){ .block = values,                          \
                                     .size = sizeof(struct block_##name),      \
                                     .group = in_group,                        \
                                     .min = minima,                            \
                                     codes,                                    \
                                     .together = abreast,                      \
                                     how,                                      \
                                     .load = load_##name,                      \
                                     .code = code_##name,                      \
                                     .few = few_##name });                     \
    }
#define CODES(below, largest) .offset = below, .most = largest
#define QUADS(below, largest) CODES(below, largest), .quads = true
#define SIGNED                CODES(SIGNED_OFFSET, 0)
#define ALONE(way, name)      FLOATS(name), .alone = way
/* As many columns meet codes where these are opened as registers suffice for:
 * of 32, where FEW is 8, of 16, where it is 4. */
#define FEW_OF(many, some) (FEW == 8 ? (many) : FEW == 4 ? (some) : 1)
/*                           min    offset, largest code; together;    few */
MULTIPLY(q8_0, QUANT_BLOCK, 32, false, SIGNED, 1, FLOATS(d), FEW_OF(8, 4))
MULTIPLY(q4_0, QUANT_BLOCK, 32, false, CODES(8, 15), 1, FLOATS(d), FEW_OF(8, 4))
MULTIPLY(q4_1, QUANT_BLOCK, 32, true, CODES(0, 15), 1, FLOATS(dm), FEW_OF(8, 2))
MULTIPLY(q5_0, QUANT_BLOCK, 32, false, CODES(16, 31), 1, FLOATS(d),
         FEW_OF(8, 2))
MULTIPLY(q5_1, QUANT_BLOCK, 32, true, CODES(0, 31), 1, FLOATS(dm), FEW_OF(8, 2))
MULTIPLY(q2_k, QUANT_SUPER, 16, true, QUADS(0, 3), 4, CODED(q2_k, 0),
         FEW_OF(3, 1))
MULTIPLY(q3_k, QUANT_SUPER, 16, false, QUADS(4, 7), 4, CODED(q3_k, 32),
         FEW_OF(4, 2))
MULTIPLY(q4_k, QUANT_SUPER, 32, true, CODES(0, 15), 2, FLOATS(k), FEW_OF(8, 2))
MULTIPLY(q5_k, QUANT_SUPER, 32, true, CODES(0, 31), 2, FLOATS(k), FEW_OF(4, 1))
MULTIPLY(q6_k, QUANT_SUPER, 16, false, CODES(32, 63), 4, CODED(q6_k, 128),
         FEW_OF(3, 1))
MULTIPLY(iq4_nl, QUANT_BLOCK, 32, false, SIGNED, 1, FLOATS(d), FEW_OF(8, 4))
MULTIPLY(iq4_xs, QUANT_SUPER, 32, false, SIGNED, 1, FLOATS(iq4_xs),
         FEW_OF(8, 4))
MULTIPLY(mxfp4, QUANT_BLOCK, 32, false, CODES(FP4_OFFSET, 24), 1, FLOATS(mxfp4),
         FEW_OF(8, 2))
MULTIPLY(nvfp4, 64, 16, false, CODES(FP4_OFFSET, 24), 1, FLOATS(nvfp4),
         FEW_OF(4, 2))
MULTIPLY(q1_0, 128, 32, false, CODES(1, 2), 4, FLOATS(q1_0), FEW_OF(8, 1))
MULTIPLY(q2_0, 64, 32, false, CODES(1, 3), 2, FLOATS(q2_0), FEW_OF(8, 2))
MULTIPLY(tq1_0, QUANT_SUPER, 32, false, CODES(1, 2), 5,
         ALONE(lone_thirds, tq1_0), 1)
MULTIPLY(tq2_0, QUANT_SUPER, 32, false, CODES(1, 3), 4, FLOATS(tq2_0),
         FEW_OF(8, 1))

INLINE void
fill_groups(struct cpu_kernels *k,
            void (*prepare)(const float *x, void *column, int64_t k))
{
#define FILL(name, type, min)                                                  \
    k->mul_mat[type].multiply = multiply_##name;                               \
    k->mul_mat[type].prepare = prepare;                                        \
    k->mul_mat[type].abreast = VEC;                                            \
    k->mul_mat[type].lead = FETCH_LEAD;                                        \
    k->mul_mat[type].few = few_##name;                                         \
    k->mul_mat[type].scratch_size = NULL;
    CPU_GROUP_TYPES(FILL)
#undef FILL
}

#endif
