/* amx_tiles.h - the integer sums of GEMM, sixteen columns at a time, with tile
 * registers of bytes (Intel AMX: AMX-TILE, AMX-INT8)
 *
 * A tile register has up to 16 rows of up to 64 bytes. Unpacked codes of a
 * group are one as they lie: four bytes of each of 16 rows of weights in a row
 * of the tile. So are as many bytes of 16 columns, a row each. What their
 * product adds to a third has a row for each column, and a lane for each row of
 * weights.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 1, chapter 18. */
#ifndef CPU_X86_AMX_TILES_H
#define CPU_X86_AMX_TILES_H

#include <immintrin.h>

#include "cpu/gemm/lane_rows.h"

/* Columns of a tile. */
#define TILED 16

/* Sums are in 0 to 3. */
#define COLUMN_BYTES 4
#define WEIGHT_BYTES 5

#undef TILE
#define TILE TILED
/* Many units, as each tile has to wait for its first sums. */
#undef UNITS
#define UNITS 32

struct tile_shapes {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* The compiler does not know what the instructions of tiles read: whatever it
 * holds back it must write before. */
INLINE void
v_let_tiles_read(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* For groups of 16 or 32 values. */
INLINE void
v_begin_tiles(int group)
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
    v_let_tiles_read(&s);
    _tile_loadconfig(&s);
}

INLINE void
v_end_tiles(void)
{
    _tile_release();
}

/* Bytes less `offset`. */
INLINE vec_bits
v_less_offset(vec_bits codes, int offset)
{
    return (vec_bits)_mm512_sub_epi8((__m512i)codes,
                                     _mm512_set1_epi8((char)offset));
}

/* The sums of a group of VEC rows, codes signed or not, with TILED columns, in
 * tile t of 0 to 3. */
#define SUM_IN(t)                                                              \
    case t:                                                                    \
        _tile_zero(t);                                                         \
        _tile_loadd(COLUMN_BYTES, cols, col_stride);                           \
        _tile_loadd(WEIGHT_BYTES, codes, sizeof(*codes));                      \
        if (is_signed)                                                         \
            _tile_dpbssd(t, COLUMN_BYTES, WEIGHT_BYTES);                       \
        else                                                                   \
            _tile_dpbsud(t, COLUMN_BYTES, WEIGHT_BYTES);                       \
        _tile_stored(t, sums, sizeof(*sums));                                  \
        break;
INLINE void
v_sum_tile(const int t, const bool is_signed, const vec_bits *codes,
           const char *cols, size_t col_stride, vec_bits *sums)
{
    switch (t) {
        SUM_IN(0)
        SUM_IN(1)
        SUM_IN(2)
        SUM_IN(3)
    }
}
#undef SUM_IN

#endif
