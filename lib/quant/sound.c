/* sound.c - whether a float is finite, for each type of floats */
#include "quant/sound.h"

#include <math.h>

#include "quant/format.h"

bool
quant_sound_f16(const void *block)
{
    return quant_is_finite_16(block, QUANT_EXPONENT_F16);
}

bool
quant_sound_bf16(const void *block)
{
    return quant_is_finite_16(block, QUANT_EXPONENT_BF16);
}

bool
quant_sound_f32(const void *block)
{
    return quant_is_finite_32(block);
}

bool
quant_sound_f64(const void *block)
{
    double d;

    memcpy(&d, block, sizeof(d));
    return isfinite(d);
}
