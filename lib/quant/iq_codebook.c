/* iq_codebook.c - the codebooks of the IQ types, as words */
#include "quant/iq_codebook.h"
#include "quant/iq_codebook_tables.h"

#define POINT(p) p,
#define GRID(name, n, points)                                                  \
    const uint16_t quant_##name##_grid[n] = { points(POINT) };
QUANT_CODEBOOKS(GRID)
