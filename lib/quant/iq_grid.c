/* iq_grid.c - the points that IQ blocks refer to, as words */
#include "quant/iq_grid.h"
#include "quant/iq_points.h"

#define POINT(p) p,
#define GRID(name, n, points)                                                  \
    const uint16_t quant_##name##_grid[n] = { points(POINT) };
QUANT_GRIDS(GRID)
