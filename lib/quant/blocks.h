/* blocks.h - the block layouts, as files hold them
 *
 * A scale `d` is an F16. The figures are those of the GGUF format. */
#ifndef QUANT_BLOCKS_H
#define QUANT_BLOCKS_H

#include <assert.h>
#include <stdint.h>

#define QUANT_BLOCK 32 /* values in a block of the types without suffix _K */

/* x[j] = d * (low nibble of qs[j] - 8), x[j + 16] the same of the high one. */
struct block_q4_0 {
    uint16_t d;
    uint8_t qs[QUANT_BLOCK / 2];
};
static_assert(sizeof(struct block_q4_0) == 18, "no padding in blocks");

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

#endif
