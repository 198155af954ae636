/* values.c - opened blocks to floats */
#include "quant/values.h"

void
quant_open_row(quant_unpack_fn unpack, size_t size, const void *x, float *y,
               int64_t n)
{
    struct quant_values v;

    for (const char *block = x; n > 0; n -= v.n, block += size) {
        unpack(block, &v);
        for (int g = 0; g < v.n / v.group; g++, y += v.group) {
            const int8_t *q = v.q + g * v.group;

            for (int j = 0; j < v.group; j++)
                y[j] = v.scale[g] * (float)q[j] - v.min[g];
        }
    }
}
