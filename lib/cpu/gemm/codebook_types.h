/* codebook_types.h - products with weights of the IQ types of
 * unpack_codebook.h, for any vectors
 *
 * An instruction set may say how they are opened and multiplied, if not row by
 * row:
 *
 *     OPEN_POINTS(name, offset, r, codes)
 *                               opens a block of VEC rows, as many columns want
 *                               it, in excess of the offset
 *     MULTIPLY_LONE(name, in_group, ...)
 *                               defines what multiplies them by the only
 *                               column, if it is not done as by many
 *     LONE(name), ORDER(name)   alone and order of struct format */
#ifndef CPU_GEMM_CODEBOOK_TYPES_H
#define CPU_GEMM_CODEBOOK_TYPES_H

#include "cpu/gemm/codebook_gemv.h"
#include "cpu/gemm/quant_types.h"

#ifndef OPEN_POINTS
#define OPEN_POINTS(name, offset, r, codes)                                    \
    open_points(points_##name, offset, r, codes)
#define ORDER(name) NULL
#ifdef LONE_POINTS
#define LONE(name) lone_##name
/* Sums of halves are floats before they are scaled, as those of large codes. */
#define MULTIPLY_LONE(name, in_group, ...)                                     \
    static void lone_##name(const struct cpu_product *p, int64_t row,          \
                            const char *next)                                  \
    {                                                                          \
        const struct points t = points_##name;                                 \
        const struct format f = { .size = sizeof(struct block_##name),         \
                                  .group = in_group,                           \
                                  .offset = t.moved ? MOVED_OFFSET : 0,        \
                                  .most = UINT8_MAX,                           \
                                  __VA_ARGS__ };                               \
                                                                               \
        lone_points(t, f, p, row, next);                                       \
    }
#else
#define LONE(name) NULL
#define MULTIPLY_LONE(name, in_group, ...)
#endif
#endif

/* Codes that wait for many columns: types that take long to open have no loops
 * of their own, but the only column may. If codes are small and scales
 * integers, these are IQ1_M's, which stand for odd numbers. */
#define MANY_POINTS(range, in_group, odd)                                      \
    MANY(range##_by_##in_group, in_group, false, range##_OFFSET,               \
         2 * range##_OFFSET, in_group == 16, odd)
MANY_POINTS(SMALL, 32, false)
MANY_POINTS(SMALL, 16, SIGNED_OFFSET != 0)
MANY_POINTS(MIDDLE, 32, false)
MANY_POINTS(LARGE, 32, false)
MANY_POINTS(LARGE, 16, false)
#undef MANY_POINTS

/* A block's codes, so that half of them are multiplied. */
INLINE void
weigh_even(struct format f, const struct coded *c, vec_bits *codes)
{
    UNROLL for (int g = 0; g < 2 * MOST_UNITS; g++)
    {
        struct weight weight = weight_of(f, c, g / 2, g % 2);

        UNROLL for (int i = 0; i < 4; i++, codes++) *codes =
            weigh(*codes >> 1, &weight);
    }
}

#define MULTIPLY_POINTS(name, range, in_group, ...)                            \
    enum {                                                                     \
        few_##name = 1                                                         \
    };                                                                         \
    MULTIPLY_LONE(name, in_group, __VA_ARGS__)                                 \
    INLINE void whole_##name(const struct rows *r, vec_bits *codes,            \
                             vec *scales)                                      \
    {                                                                          \
        const struct format f =                                                \
            range##_by_##in_group##_codes((struct format){ __VA_ARGS__ });     \
        struct coded integers;                                                 \
                                                                               \
        load_scales(f, false, r, &integers, scales);                           \
        OPEN_POINTS(name, range##_OFFSET, r, codes);                           \
        if (is_weighed(f))                                                     \
            weigh_even(f, &integers, codes);                                   \
    }                                                                          \
    INLINE struct format format_##name(void)                                   \
    {                                                                          \
        return range##_by_##in_group##_codes(                                  \
            (struct format){ .block = QUANT_SUPER,                             \
                             .size = sizeof(struct block_##name),              \
                             .order = ORDER(name),                             \
                             .alone = LONE(name),                              \
                             .whole = whole_##name });                         \
    }                                                                          \
    OPEN_AND_MULTIPLY(name)
MULTIPLY_POINTS(iq2_xxs, LARGE, 32, FLOATS(iq2_xxs))
MULTIPLY_POINTS(iq2_xs, LARGE, 16, CODED(iq2_xs, 0))
MULTIPLY_POINTS(iq2_s, LARGE, 16, CODED(iq2_s, 0))
MULTIPLY_POINTS(iq3_xxs, MIDDLE, 32, FLOATS(iq3_xxs))
MULTIPLY_POINTS(iq3_s, SMALL, 32, FLOATS(iq3_s))
MULTIPLY_POINTS(iq1_s, SMALL, 32, FLOATS(iq1_s))
MULTIPLY_POINTS(iq1_m, SMALL, 16, CODED(iq1_m, 0))

INLINE void
fill_points(struct cpu_kernels *k)
{
#define FILL(name, type, kind) FILL_TYPE(k, name, type);
    CPU_POINT_TYPES(FILL)
#undef FILL
}

#endif
