/* iq.h - grids of points, as blocks of IQ types refer to them */
#ifndef QUANT_IQ_H
#define QUANT_IQ_H

#include <stdint.h>

struct quant_grid {
    const uint16_t *points; /* as in iq_grid.h */
    int n, size;            /* points, coordinates of each */
    int bits, mask;         /* of a code in a point */
    const int8_t *levels;   /* what the codes stand for, ascending */
};

extern const struct quant_grid quant_grid_iq2_xxs, quant_grid_iq2_xs,
    quant_grid_iq2_s, quant_grid_iq3_xxs, quant_grid_iq3_s;

/* The coordinates of a point, negative where a bit of `signs` is set. */
void
quant_put_point(int8_t *q, uint16_t point, const struct quant_grid *grid,
                int signs);

#endif
