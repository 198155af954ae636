/* amx_emulated.c - the kernels of AMX with what its instructions do in plain C,
 * so that they are tried where only AVX-512 is here, too
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, LDTILECFG, TILELOADD, TDPBSSD, TDPBSUD, TILESTORED. What these would
 * refuse ends the test. */
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TILES 8

struct shapes {
    uint8_t palette, start_row, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static _Thread_local struct shapes shapes; /* palette 0: none */
static _Thread_local uint8_t tiles[TILES][16][64];

static void
refuse_unless(int holds)
{
    if (!holds)
        abort();
}

static void
load_config(const void *p)
{
    memcpy(&shapes, p, sizeof(shapes));
    refuse_unless(shapes.palette == 1 && shapes.start_row == 0);
    for (int i = 0; i < TILES; i++)
        refuse_unless(shapes.rows[i] <= 16 && shapes.row_bytes[i] <= 64 &&
                      !shapes.rows[i] == !shapes.row_bytes[i]);
    memset(tiles, 0, sizeof(tiles));
}

static void
release(void)
{
    shapes = (struct shapes){ 0 };
}

static void
zero(int t)
{
    refuse_unless(shapes.palette && shapes.rows[t]);
    memset(tiles[t], 0, sizeof(tiles[t]));
}

static void
load(int t, const void *from, size_t stride)
{
    zero(t);
    for (size_t i = 0; i < shapes.rows[t]; i++)
        memcpy(tiles[t][i], (const char *)from + i * stride,
               shapes.row_bytes[t]);
}

static void
store(int t, void *to, size_t stride)
{
    refuse_unless(shapes.palette && shapes.rows[t]);
    for (size_t i = 0; i < shapes.rows[t]; i++)
        memcpy((char *)to + i * stride, tiles[t][i], shapes.row_bytes[t]);
}

static int32_t
four_products(const uint8_t *a, const uint8_t *b, int is_signed)
{
    int32_t sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (int8_t)a[i] * (is_signed ? (int8_t)b[i] : b[i]);
    return sum;
}

/* Signed bytes of a times bytes of b, signed or not. */
static void
add_products(int to, int a, int b, int is_signed)
{
    refuse_unless(shapes.palette && to != a && to != b && a != b &&
                  shapes.rows[to] == shapes.rows[a] &&
                  shapes.row_bytes[to] == shapes.row_bytes[b] &&
                  shapes.row_bytes[a] == 4 * shapes.rows[b]);
    for (int m = 0; m < shapes.rows[to]; m++)
        for (int n = 0; n < shapes.row_bytes[to]; n += 4) {
            int32_t sum;

            memcpy(&sum, &tiles[to][m][n], sizeof(sum));
            for (int k = 0; k < shapes.rows[b]; k++)
                sum += four_products(&tiles[a][m][4 * k], &tiles[b][k][n],
                                     is_signed);
            memcpy(&tiles[to][m][n], &sum, sizeof(sum));
        }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbsud
#define _tile_loadconfig           load_config
#define _tile_release              release
#define _tile_zero(t)              zero(t)
#define _tile_loadd(t, p, stride)  load(t, p, stride)
#define _tile_stored(t, p, stride) store(t, p, stride)
#define _tile_dpbssd(to, a, b)     add_products(to, a, b, 1)
#define _tile_dpbsud(to, a, b)     add_products(to, a, b, 0)
#define cpu_fill_amx               fill_amx_emulated
#include "cpu/x86/quant_amx.c"
