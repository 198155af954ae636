/* tiles.h - the integer sums of many columns, sixteen at a time, with tiles of
 * bytes (Intel AMX: AMX-TILE, AMX-INT8)
 *
 * A tile has up to 16 rows of up to 64 bytes. Opened codes of a group are one
 * as they lie: four bytes of each of 16 rows of weights in a row of the tile.
 * So are as many bytes of 16 columns, a row each. What their product adds to a
 * third has a row for each column, and a lane for each row of weights.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 1, chapter 18. */
#ifndef CPU_X86_TILES_H
#define CPU_X86_TILES_H

#include <immintrin.h>

#include "cpu/vector_tile.h"

/* Columns of a tile. */
#define TILED 16

/* Sums are in 0 to 5. */
#define COLUMN_BYTES 6
#define WEIGHT_BYTES 7

struct tile_shapes {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* The compiler does not know what the instructions of tiles read: whatever it
 * holds back it must write before. */
INLINE void
let_tiles_read(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* For groups of 16 or 32 values. */
INLINE void
begin_tiles(int group)
{
    struct tile_shapes s = { .palette = 1 };

    for (int i = 0; i < COLUMN_BYTES; i++) {
        s.rows[i] = TILED;
        s.row_bytes[i] = sizeof(vec);
    }
    s.rows[COLUMN_BYTES] = TILED;
    s.row_bytes[COLUMN_BYTES] = (uint16_t)group;
    s.rows[WEIGHT_BYTES] = (uint8_t)(group / 4);
    s.row_bytes[WEIGHT_BYTES] = sizeof(vec);
    let_tiles_read(&s);
    _tile_loadconfig(&s);
}

INLINE void
end_tiles(void)
{
    _tile_release();
}

/* The sums of a group of V vectors of rows, `next` vectors of codes and of sums
 * apart, with TILED columns, in the tiles a, b and c, so that one group's may
 * be computed while the last one's are stored. */
#define SUM_TILE(v, tile)                                                      \
    if ((v) < V) {                                                             \
        _tile_zero(tile);                                                      \
        _tile_loadd(WEIGHT_BYTES, codes + (v)*next_codes, sizeof(*codes));     \
        _tile_dpbsud(tile, COLUMN_BYTES, WEIGHT_BYTES);                        \
        _tile_stored(tile, sums + (v)*next_sums, sizeof(*sums));               \
    }
#define SUM_TILES(a, b, c)                                                     \
    {                                                                          \
        _tile_loadd(COLUMN_BYTES, cols, col_stride);                           \
        SUM_TILE(0, a)                                                         \
        SUM_TILE(1, b)                                                         \
        SUM_TILE(2, c)                                                         \
    }

/* The same of n groups, one after the other. */
INLINE void
sum_tiles(const int V, const int group, int64_t n, const vec_bits *codes,
          const int next_codes, const char *cols, size_t col_stride,
          vec_bits *sums, const int next_sums)
{
    let_tiles_read(codes);
    for (int64_t i = 0; i < n; i++) {
        if (i % 2)
            SUM_TILES(3, 4, 5)
        else
            SUM_TILES(0, 1, 2)
        codes += group / 4;
        cols += group;
        sums += TILED;
    }
}
#undef SUM_TILES
#undef SUM_TILE

#endif
