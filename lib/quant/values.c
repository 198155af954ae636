/* values.c - unpacked blocks to floats */
#include "quant/values.h"

#include <string.h>

enum {
    PART = 8, /* values at a time, so that compilers make vectors of them */
};

static void
open_part(const int8_t *q, float scale, float min, float *y)
{
    int8_t in[PART];
    float out[PART];

    memcpy(in, q, sizeof(in));
    for (int j = 0; j < PART; j++)
        out[j] = scale * (float)in[j] - min;
    memcpy(y, out, sizeof(out));
}

void
quant_open_row(quant_unpack_fn unpack, size_t size, const void *x, float *y,
               int64_t n)
{
    struct quant_values v;

    for (const char *block = x; n > 0; n -= v.n, block += size) {
        unpack(block, &v);
        for (int g = 0; g < v.n / v.group; g++, y += v.group) {
            const int8_t *q = v.q + g * v.group;

            for (int j = 0; j < v.group; j += PART)
                open_part(q + j, v.scale[g], v.min[g], y + j);
        }
    }
}

/* Twice the value of each code; the highest bit is the sign. */
const int8_t quant_fp4_doubled[16] = { 0, 1,  2,  3,  4,  6,  8,  12,
                                       0, -1, -2, -3, -4, -6, -8, -12 };
