/* codebook_planes.h - the entries that IQ blocks refer to, as tables of bytes
 * that are permuted
 *
 * An entry's codes are two bytes, each of which is looked up by the entry's
 * index: its planes. Then a code and its coordinate's sign are looked up
 * together, by six bits of a byte: the code's where the plane has them, the
 * sign in one of the others, all that is left does not count.
 *
 *     field                 0             1             2             3
 *     eight codes, of two bits, of coordinates 0 to 3 in the first plane, of 4
 *     to 7 in the second, which both are shifted by two bits for odd fields:
 *       code in bits        4, 5          4, 5          0, 1          0, 1
 *       sign in bit         0             1             2             3
 *     four codes, of three bits, two in each plane:
 *       code in bits        3 to 5        0 to 2        0, 1, 5       2 to 4
 *       sign in bit         2             3             4             5
 *     entries that are moved, up or, where bit 3 is set, down: as of eight */
#ifndef CPU_X86_CODEBOOK_PLANES_H
#define CPU_X86_CODEBOOK_PLANES_H

#include <stdalign.h>
#include <stdint.h>

#include "cpu/gemm/codebooks.h"
#include "cpu/gemm/unpack_types.h"
#include "quant/iq_codebook_tables.h"

#define LEVELS 64

#define EIGHTS_LOW(p)  (uint8_t)(((p)&15) << 4 | ((p) >> 4 & 15)),
#define EIGHTS_HIGH(p) EIGHTS_LOW((p) >> 8)
#define FOURS_LOW(p)   (uint8_t)(((p) >> 3 & 7) | ((p)&7) << 3),
#define FOURS_HIGH(p)                                                          \
    (uint8_t)(((p) >> 6 & 3) | ((p) >> 8 & 1) << 5 | ((p) >> 9 & 7) << 2),

#define PLANES(name, n, entries, size)                                         \
    static alignas(64) const uint8_t planes_##name[2 * (n)] = { entries(       \
        size##_LOW) entries(size##_HIGH) };
PLANES(iq2_xxs, 256, QUANT_IQ2_XXS, EIGHTS)
PLANES(iq2_xs, 512, QUANT_IQ2_XS, EIGHTS)
PLANES(iq2_s, 1024, QUANT_IQ2_S, EIGHTS)
PLANES(iq1, 2048, QUANT_IQ1, EIGHTS)
PLANES(iq3_xxs, 256, QUANT_IQ3_XXS, FOURS)
PLANES(iq3_s, 512, QUANT_IQ3_S, FOURS)
#undef PLANES

#define FOUR_OF(L, i) L(i), L((i) + 1), L((i) + 2), L((i) + 3)
#define SIXTEEN_OF(L, i)                                                       \
    FOUR_OF(L, i), FOUR_OF(L, (i) + 4), FOUR_OF(L, (i) + 8),                   \
        FOUR_OF(L, (i) + 12)
#define BY_SIX_BITS(L)                                                         \
    {                                                                          \
        SIXTEEN_OF(L, 0), SIXTEEN_OF(L, 16), SIXTEEN_OF(L, 32),                \
            SIXTEEN_OF(L, 48)                                                  \
    }
#define WITH_SIGN(level, code, minus) ((minus) ? -level(code) : level(code))

/* By those bits, in excess of what makes all of a type's codes. */
#define EIGHTS_0(i) WITH_SIGN(QUANT_LEVEL_IQ2, (i) >> 4, (i)&1) + LARGE_OFFSET
#define EIGHTS_1(i) WITH_SIGN(QUANT_LEVEL_IQ2, (i) >> 4, (i)&2) + LARGE_OFFSET
#define EIGHTS_2(i) WITH_SIGN(QUANT_LEVEL_IQ2, (i)&3, (i)&4) + LARGE_OFFSET
#define EIGHTS_3(i) WITH_SIGN(QUANT_LEVEL_IQ2, (i)&3, (i)&8) + LARGE_OFFSET
#define MOVED(code, down)                                                      \
    8 * QUANT_LEVEL_IQ1(code) + ((down) ? -1 : 1) + SMALL_OFFSET
#define MOVED_01(i)         MOVED((i) >> 4, (i)&8)
#define MOVED_23(i)         MOVED((i)&3, (i)&8)
#define FOURS_0(i, L, over) WITH_SIGN(L, (i) >> 3, (i)&4) + over
#define FOURS_1(i, L, over) WITH_SIGN(L, (i)&7, (i)&8) + over
#define FOURS_2(i, L, over) WITH_SIGN(L, ((i)&3) | (i) >> 5 << 2, (i)&16) + over
#define FOURS_3(i, L, over) WITH_SIGN(L, (i) >> 2 & 7, (i)&32) + over
#define XXS_0(i)            FOURS_0(i, CPU_LEVEL_IQ3_XXS, MIDDLE_OFFSET)
#define XXS_1(i)            FOURS_1(i, CPU_LEVEL_IQ3_XXS, MIDDLE_OFFSET)
#define XXS_2(i)            FOURS_2(i, CPU_LEVEL_IQ3_XXS, MIDDLE_OFFSET)
#define XXS_3(i)            FOURS_3(i, CPU_LEVEL_IQ3_XXS, MIDDLE_OFFSET)
#define S_0(i)              FOURS_0(i, QUANT_LEVEL_IQ3_S, SMALL_OFFSET)
#define S_1(i)              FOURS_1(i, QUANT_LEVEL_IQ3_S, SMALL_OFFSET)
#define S_2(i)              FOURS_2(i, QUANT_LEVEL_IQ3_S, SMALL_OFFSET)
#define S_3(i)              FOURS_3(i, QUANT_LEVEL_IQ3_S, SMALL_OFFSET)
#define LEVELS_OF(name, a, b, c, d)                                            \
    static alignas(64) const uint8_t levels_##name[4][LEVELS] = {              \
        BY_SIX_BITS(a), BY_SIX_BITS(b), BY_SIX_BITS(c), BY_SIX_BITS(d)         \
    };
LEVELS_OF(iq2, EIGHTS_0, EIGHTS_1, EIGHTS_2, EIGHTS_3)
LEVELS_OF(iq1, MOVED_01, MOVED_01, MOVED_23, MOVED_23)
LEVELS_OF(iq3_xxs, XXS_0, XXS_1, XXS_2, XXS_3)
LEVELS_OF(iq3_s, S_0, S_1, S_2, S_3)
#undef LEVELS_OF

#endif
