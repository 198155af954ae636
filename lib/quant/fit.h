/* fit.h - scales and integers with the least weighted squared error
 *
 * Weights are not negative; a group whose weights are all zero is fitted as if
 * they were ones. A fit starts from several scales, takes the best and improves
 * it in turns: integers for the scale, scale for the integers. Sums have a
 * fixed order, so that the bytes are the same everywhere. A value or a weight
 * that is not finite spoils its block and nothing else. Lengths are multiples
 * of 8. */
#ifndef QUANT_FIT_H
#define QUANT_FIT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "quant/values.h"

struct quant_codebook;

/* The integers that a value may be: lo to hi, or, where `levels` is set, the
 * `n` ascending ones there, of which lo is the first and hi the last. */
struct quant_codes {
    int lo, hi;
    const int8_t *levels;
    int n;
};

struct quant_range {
    float min, max;
};

/* The value of largest magnitude, with its sign, the first of equals. */
float
quant_extreme(const float *x, int n);
/* quant_extreme(), but NaN if a value is: a cache must not lose one. */
float
quant_extreme_or_nan(const float *x, int n);
struct quant_range
quant_range(const float *x, int n);

/* q = the whole part of (x - m) * inverse + add, no less than 0 and no more
 * than hi; 0 of what is no number or no int32. */
void
quant_cut(const float *x, int n, float m, float inverse, float add, int hi,
          int8_t *q);

/* The nearest integer within [lo, hi]; lo for a NaN. */
static inline int
quant_round(float v, int lo, int hi)
{
    if (!(v > (float)lo))
        return lo;
    return v >= (float)hi ? hi : (int)lrintf(v);
}

/* The code nearest to v, as its value. */
int
quant_nearest(const struct quant_codes *codes, float v);

/* d and q with x = d * q, for a block with one scale, which is returned as
 * F16; n up to 256. */
uint16_t
quant_fit_block(const struct quant_codes *codes, int n, const float *x,
                const float *w, int8_t *q);

/* d, m and q with x = d * q + m, q from 0 to hi, for 32 values. Returns d. */
uint16_t
quant_fit_line_block(int hi, const float *x, const float *w, int8_t *q,
                     uint16_t *m);

/* The d that fits best; no rounding to F16. */
float
quant_fit_scale(const struct quant_codes *codes, int n, const float *x,
                const float *w);

/* Values and their weights; n is 16 or 32. */
struct quant_group {
    int n;
    const float *x, *w;
};

/* A line x = d * q + m, and the error that it leaves. */
struct quant_line {
    double d, m, error;
};

/* The line that fits best, q from 0 to hi. With `below`, m is not above 0. */
struct quant_line
quant_fit_line(int hi, struct quant_group from, bool below);

/* Sums of a group that was rounded: the error, and weighted sums of q, of its
 * square and of its product with x. */
struct quant_sums {
    float error, q, qq, xq;
};

/* q for x = d * q - m. */
void
quant_round_group(const struct quant_codes *codes, struct quant_group of,
                  float d, float m, int8_t *q, struct quant_sums *s);

/* w, or ones if it is NULL or none of the n is above 0; n up to 256. */
const float *
quant_or_ones(const float *w, int n);

/* The limits of a format with scales of scales. */
struct quant_shape {
    int group; /* values */
    struct quant_codes codes;
    struct quant_codes scales; /* multiples of d that a group's scale may be */
    int max_min;               /* mins are 0 to this; 0: there are none */
    /* How a group is rounded where codes depend on each other (then there are
     * no mins); returns the error. NULL: each to the nearest. */
    float (*round)(const struct quant_shape *shape, struct quant_group of,
                   float d, int8_t *q);
    const struct quant_codebook *codebook; /* for round() */
    bool even;   /* the number of negative values in eight */
    int shifted; /* values that are moved alike; 0: none is */
};

/* 256 values: x = d * scale[g] * q - dmin * min[g] */
struct quant_super {
    uint16_t d, dmin; /* F16 */
    int8_t scale[QUANT_MOST_GROUPS], min[QUANT_MOST_GROUPS];
    int8_t q[QUANT_MOST_VALUES];
};

/* NULL weights are ones. */
void
quant_fit_super(const struct quant_shape *shape, const float *x, const float *w,
                struct quant_super *s);

#endif
