/* blocks.h - the block layouts, as files hold them
 *
 * A `d` of uint16_t is an F16, and so are m, s and dmin. Where a value's bits
 * lie is told with the functions of bits.h. The figures are those of the GGUF
 * format. */
#ifndef QUANT_BLOCKS_H
#define QUANT_BLOCKS_H

#include <assert.h>
#include <stdint.h>

#define QUANT_BLOCK 32  /* values in a block of the simple types */
#define QUANT_SUPER 256 /* and of the types _K, IQ (but IQ4_NL) and TQ */

/* x[j] = d * (nibble - 8), nibbles in runs of 32. */
struct block_q4_0 {
    uint16_t d;
    uint8_t qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_q4_0) == 18, "no padding in blocks");

/* x[j] = d * nibble + m */
struct block_q4_1 {
    uint16_t d, m;
    uint8_t qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_q4_1) == 20, "no padding in blocks");

/* x[j] = d * (nibble + 16 * bit j of qh - 16) */
struct block_q5_0 {
    uint16_t d;
    uint8_t qh[QUANT_BLOCK / 8], qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_q5_0) == 22, "no padding in blocks");

/* x[j] = d * (nibble + 16 * bit j of qh) + m */
struct block_q5_1 {
    uint16_t d, m;
    uint8_t qh[QUANT_BLOCK / 8], qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_q5_1) == 24, "no padding in blocks");

/* x[j] = d * qs[j]; no quantiser here writes -128. */
struct block_q8_0 {
    uint16_t d;
    int8_t qs[QUANT_BLOCK];
};
static_assert(sizeof(struct block_q8_0) == 34, "no padding in blocks");

/* Q8_0 with s = d * sum(qs): for products with types that have an offset. */
struct block_q8_1 {
    uint16_t d, s;
    int8_t qs[QUANT_BLOCK];
};
static_assert(sizeof(struct block_q8_1) == 36, "no padding in blocks");

/* x[j] = d * qs[j]; sums of qs over 16 values. In products only, no file. */
struct block_q8_k {
    float d;
    int8_t qs[QUANT_SUPER];
    int16_t sums[QUANT_SUPER / 16];
};
static_assert(sizeof(struct block_q8_k) == 292, "no padding in blocks");

/* Groups of 16: x[j] = d * (scales[g] & 15) * pair - dmin * (scales[g] >> 4) */
struct block_q2_k {
    uint8_t scales[QUANT_SUPER / 16], qs[QUANT_SUPER / 4];
    uint16_t d, dmin;
};
static_assert(sizeof(struct block_q2_k) == 84, "no padding in blocks");

/* Groups of 16: x[j] = d * (scale - 32) * (pair + 4 * plane - 4). The low
 * four bits of scale g are nibble g, run of 16, of the first eight bytes of
 * `scales`, the high two are bits g / 4 * 2 of byte 8 + g % 4. */
struct block_q3_k {
    uint8_t qh[QUANT_SUPER / 8], qs[QUANT_SUPER / 4], scales[12];
    uint16_t d;
};
static_assert(sizeof(struct block_q3_k) == 110, "no padding in blocks");

/* Groups of 32: x[j] = d * scale * nibble - dmin * min, nibbles in runs of
 * 64. How six bits each of eight scales and mins lie in `scales` tells
 * quant_k_scales(). */
struct block_q4_k {
    uint16_t d, dmin;
    uint8_t scales[12], qs[QUANT_SUPER / 2];
};
static_assert(sizeof(struct block_q4_k) == 144, "no padding in blocks");

/* Q4_K with a fifth bit, the planes of qh. */
struct block_q5_k {
    uint16_t d, dmin;
    uint8_t scales[12], qh[QUANT_SUPER / 8], qs[QUANT_SUPER / 2];
};
static_assert(sizeof(struct block_q5_k) == 176, "no padding in blocks");

/* Groups of 16: x[j] = d * scales[g] * (nibble + 16 * pair - 32), nibbles in
 * runs of 128. */
struct block_q6_k {
    uint8_t ql[QUANT_SUPER / 2], qh[QUANT_SUPER / 4];
    int8_t scales[QUANT_SUPER / 16];
    uint16_t d;
};
static_assert(sizeof(struct block_q6_k) == 210, "no padding in blocks");

/* x[j] = d * (2 * bit j - 1) */
struct block_q1_0 {
    uint16_t d;
    uint8_t qs[16];
};
static_assert(sizeof(struct block_q1_0) == 18, "no padding in blocks");

/* x[j] = d * (q - 1), q the bits j % 4 * 2 of byte j / 4 */
struct block_q2_0 {
    uint16_t d;
    uint8_t qs[16];
};
static_assert(sizeof(struct block_q2_0) == 18, "no padding in blocks");

/* x[j] = d * (digit - 1). A byte holds five ternary digits as a fraction: b
 * is the ceiling of 256 / 243 of their number, so that the digit n is the
 * whole part of 3 * frac(b * 3^n / 256). Digit n of bytes 0-31 are the values
 * from 32 * n on, of bytes 32-47 those from 160 + 16 * n on, and of the four
 * bytes of qh, which hold four digits, those from 240 + 4 * n on. */
struct block_tq1_0 {
    uint8_t qs[48], qh[4];
    uint16_t d;
};
static_assert(sizeof(struct block_tq1_0) == 54, "no padding in blocks");

/* x[j] = d * (pair - 1) */
struct block_tq2_0 {
    uint8_t qs[QUANT_SUPER / 4];
    uint16_t d;
};
static_assert(sizeof(struct block_tq2_0) == 66, "no padding in blocks");

/* OCP microscaling: x[j] = 2^(e - 127) * E2M1 value, nibbles in runs of 32. */
struct block_mxfp4 {
    uint8_t e, qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_mxfp4) == 17, "no padding in blocks");

/* Groups of 16: x[j] = E4M3 value of d[g] * E2M1 value, nibbles in runs of
 * 16. */
struct block_nvfp4 {
    uint8_t d[4], qs[32];
};
static_assert(sizeof(struct block_nvfp4) == 36, "no padding in blocks");

/* x[j] = d * level of the nibble, in runs of 32 */
struct block_iq4_nl {
    uint16_t d;
    uint8_t qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_iq4_nl) == 18, "no padding in blocks");

/* Groups of 32: x[j] = d * (scale - 32) * level of the nibble, runs of 32.
 * Scale g: four bits in nibble g % 2 of scales_l[g / 2], two in scales_h. */
struct block_iq4_xs {
    uint16_t d, scales_h;
    uint8_t scales_l[QUANT_SUPER / 64], qs[QUANT_SUPER / 2];
};
static_assert(sizeof(struct block_iq4_xs) == 136, "no padding in blocks");

/* The other IQ types: codebook entries (iq_codebook.h), each coordinate with a
 * sign.
 *
 * IQ2_XXS: per group of 32 eight bytes: four entries of eight values, then a
 * little-endian word: four times seven signs, and four bits of scale. The
 * eighth sign is such that an even number is negative.
 * x[j] = d * (scale + 1/2) / 4 * coordinate */
struct block_iq2_xxs {
    uint16_t d, qs[QUANT_SUPER / 8];
};
static_assert(sizeof(struct block_iq2_xxs) == 66, "no padding in blocks");

/* An entry (nine bits) and seven signs per word; a scale per group of 16 in
 * nibbles; else as IQ2_XXS. */
struct block_iq2_xs {
    uint16_t d, qs[QUANT_SUPER / 8];
    uint8_t scales[QUANT_SUPER / 32];
};
static_assert(sizeof(struct block_iq2_xs) == 74, "no padding in blocks");

/* Ten bits of entry, the high two in qh; eight signs; else as IQ2_XS. */
struct block_iq2_s {
    uint16_t d;
    uint8_t qs[QUANT_SUPER / 8], signs[QUANT_SUPER / 8], qh[QUANT_SUPER / 32],
        scales[QUANT_SUPER / 32];
};
static_assert(sizeof(struct block_iq2_s) == 82, "no padding in blocks");

/* Entries of four values; the words of signs and scale of IQ2_XXS.
 * x[j] = d * (scale + 1/2) / 2 * coordinate */
struct block_iq3_xxs {
    uint16_t d;
    uint8_t qs[QUANT_SUPER / 4], words[QUANT_SUPER / 8];
};
static_assert(sizeof(struct block_iq3_xxs) == 98, "no padding in blocks");

/* Nine bits of entry, the highest in qh; eight signs per eight values; a
 * scale per group of 32 in nibbles. x[j] = d * (2 * scale + 1) * coordinate */
struct block_iq3_s {
    uint16_t d;
    uint8_t qs[QUANT_SUPER / 4], qh[QUANT_SUPER / 32], signs[QUANT_SUPER / 8],
        scales[QUANT_SUPER / 64];
};
static_assert(sizeof(struct block_iq3_s) == 110, "no padding in blocks");

/* Per group of 32 a word: four times three high bits of an entry, three bits
 * of scale, and whether 1/8 is subtracted from or added to coordinates.
 * x[j] = d * (2 * scale + 1) * (coordinate +- 1/8) */
struct block_iq1_s {
    uint16_t d;
    uint8_t qs[QUANT_SUPER / 8];
    uint16_t qh[QUANT_SUPER / 32];
};
static_assert(sizeof(struct block_iq1_s) == 50, "no padding in blocks");

/* Per eight values a nibble of qh: three high bits of the entry, one whether
 * 1/8 is subtracted. Four words of scales: four times three bits, a group of
 * 16 each, and a nibble of d. */
struct block_iq1_m {
    uint8_t qs[QUANT_SUPER / 8], qh[QUANT_SUPER / 16], scales[QUANT_SUPER / 32];
};
static_assert(sizeof(struct block_iq1_m) == 56, "no padding in blocks");

#endif
