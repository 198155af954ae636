/* codebook_types.h - products with weights of the IQ types of
 * unpack_codebook.h, for any vectors
 *
 * An instruction set may say how they are unpacked and multiplied, if not row
 * by row:
 *
 *     UNPACK_CODEBOOK(name, offset, r, codes)
 *                               unpacks a block of VEC rows for GEMM, codes in
 *                               excess of the offset
 *     DEFINE_GEMV(name, in_group, ...)
 *                               defines their GEMV, if it has one of its own
 *     GEMV_OF(name), ORDER(name)    `gemv` and `order` of struct format */
#ifndef CPU_GEMM_CODEBOOK_TYPES_H
#define CPU_GEMM_CODEBOOK_TYPES_H

#include "cpu/gemm/codebook_gemv.h"
#include "cpu/gemm/quant_types.h"

#ifndef UNPACK_CODEBOOK
#define UNPACK_CODEBOOK(name, offset, r, codes)                                \
    cpu_unpack_codebook(codebook_##name, offset, r, codes)
#define ORDER(name) NULL
#ifdef HAS_CODEBOOK_GEMV
#define GEMV_OF(name) gemv_##name
/* Sums of halves are floats before they are scaled, as those of large codes. */
#define DEFINE_GEMV(name, in_group, ...)                                       \
    static void gemv_##name(const struct cpu_product *p, int64_t row,          \
                            const char *next)                                  \
    {                                                                          \
        const struct codebook t = codebook_##name;                             \
        const struct format f = { .size = sizeof(struct block_##name),         \
                                  .group = in_group,                           \
                                  .offset = t.moved ? MOVED_OFFSET : 0,        \
                                  .max_code = UINT8_MAX,                       \
                                  __VA_ARGS__ };                               \
                                                                               \
        cpu_gemv_codebook(t, f, p, row, next);                                 \
    }
#else
#define GEMV_OF(name) NULL
#define DEFINE_GEMV(name, in_group, ...)
#endif
#endif

/* Codes for GEMM: types that take long to unpack have no loops
 * of their own, but their GEMV may. If codes are small and scales
 * integers, these are IQ1_M's, which stand for odd numbers. */
#define DEFINE_CODEBOOK_GEMM(range, in_group, odd)                             \
    DEFINE_GEMM(range##_by_##in_group, in_group, false, range##_OFFSET,        \
                2 * range##_OFFSET, in_group == 16, odd)
DEFINE_CODEBOOK_GEMM(SMALL, 32, false)
DEFINE_CODEBOOK_GEMM(SMALL, 16, SIGNED_OFFSET != 0)
DEFINE_CODEBOOK_GEMM(MIDDLE, 32, false)
DEFINE_CODEBOOK_GEMM(LARGE, 32, false)
DEFINE_CODEBOOK_GEMM(LARGE, 16, false)
#undef DEFINE_CODEBOOK_GEMM

/* A block's codes, so that half of them are multiplied. */
INLINE void
scale_even_codes(struct format f, const struct int_scales *c, vec_bits *codes)
{
    UNROLL for (int g = 0; g < 2 * MAX_UNITS; g++)
    {
        struct code_scale scale = cpu_code_scale(f, c, g / 2, g % 2);

        UNROLL for (int i = 0; i < 4; i++, codes++) *codes =
            cpu_scale_codes(*codes >> 1, &scale);
    }
}

#define MULTIPLY_CODEBOOK(name, range, in_group, ...)                          \
    enum {                                                                     \
        small_batch_##name = 1                                                 \
    };                                                                         \
    DEFINE_GEMV(name, in_group, __VA_ARGS__)                                   \
    INLINE void unpack_whole_##name(const struct rows *r, vec_bits *codes,     \
                                    vec *scales)                               \
    {                                                                          \
        const struct format f =                                                \
            range##_by_##in_group##_codes((struct format){ __VA_ARGS__ });     \
        struct int_scales integers;                                            \
                                                                               \
        cpu_load_scales(f, false, r, &integers, scales);                       \
        UNPACK_CODEBOOK(name, range##_OFFSET, r, codes);                       \
        if (cpu_has_scaled_codes(f))                                           \
            scale_even_codes(f, &integers, codes);                             \
    }                                                                          \
    INLINE struct format format_##name(void)                                   \
    {                                                                          \
        return range##_by_##in_group##_codes(                                  \
            (struct format){ .block = QUANT_SUPER,                             \
                             .size = sizeof(struct block_##name),              \
                             .order = ORDER(name),                             \
                             .gemv = GEMV_OF(name),                            \
                             .unpack_whole = unpack_whole_##name });           \
    }                                                                          \
    UNPACK_AND_MULTIPLY(name)
MULTIPLY_CODEBOOK(iq2_xxs, LARGE, 32, FLOAT_SCALES(iq2_xxs))
MULTIPLY_CODEBOOK(iq2_xs, LARGE, 16, INT_SCALES(iq2_xs, 0))
MULTIPLY_CODEBOOK(iq2_s, LARGE, 16, INT_SCALES(iq2_s, 0))
MULTIPLY_CODEBOOK(iq3_xxs, MIDDLE, 32, FLOAT_SCALES(iq3_xxs))
MULTIPLY_CODEBOOK(iq3_s, SMALL, 32, FLOAT_SCALES(iq3_s))
MULTIPLY_CODEBOOK(iq1_s, SMALL, 32, FLOAT_SCALES(iq1_s))
MULTIPLY_CODEBOOK(iq1_m, SMALL, 16, INT_SCALES(iq1_m, 0))

INLINE void
cpu_fill_codebook(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_CODEBOOK_TYPES(FILL)
#undef FILL
}

#endif
