/* sound.h - whether a float is finite, told by its bits */
#ifndef QUANT_SOUND_H
#define QUANT_SOUND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool
quant_is_finite_16(const void *p, uint16_t exponent)
{
    uint16_t bits;

    memcpy(&bits, p, sizeof(bits));
    return (bits & exponent) != exponent;
}

static inline bool
quant_is_finite_32(const void *p)
{
    uint32_t bits;

    memcpy(&bits, p, sizeof(bits));
    return (bits & 0x7f800000) != 0x7f800000;
}

enum {
    QUANT_EXPONENT_F16 = 0x7c00,
    QUANT_EXPONENT_BF16 = 0x7f80,
};

#endif
