/* out_prod.c - OUT_PROD: dst[j][i] = sum over k of b[k][j] * a[k][i]
 *
 * a = src0 [n, k, p, q], b = src1 [m, k, p r, q s], dst [n, m, p r, q s]: a
 * GEMM whose weights lie as multiply_panel() wants them, without a
 * transposition. A piece is a tile of dst; for each block of k, a panel of a is
 * dequantised, unless it is there as floats, and b comes as rows of dst, which
 * is how a gradient lies that was transposed. */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "quant/types.h"

#define BLOCK_K   64  /* so that some columns of a panel stay in L1 */
#define TILE_M    512 /* rows of dst, at most */
#define LEAST_M   96
#define TILE_N    128 /* columns of dst, or a block of a's type */
#define PANEL_N   16  /* what multiply_panel() takes a multiple of */
#define FLOATS(n) cpu_pad((size_t)(n) * sizeof(float))

struct tile {
    struct cpu_range rows, cols; /* of dst */
    struct cpu_row of_a, of_b;   /* their matrices; rows are 0 */
    int64_t width;               /* columns, padded for the panel */
};

struct scratch {
    float *a, *b, *c;
};

static int64_t
tile_n(const struct ggml_tensor *dst)
{
    int64_t block = ggml_blck_size(dst->src[0]->type);

    return block > TILE_N ? block : TILE_N;
}

static int64_t
tiles_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

static int64_t
n_tiles(const struct ggml_tensor *dst, int64_t m)
{
    return tiles_of(dst->ne[0], tile_n(dst)) * tiles_of(dst->ne[1], m) *
           dst->ne[2] * dst->ne[3];
}

/* Rows of a tile: many, as a is dequantised for each, but so few that threads
 * end together. */
static int64_t
tile_m(const struct ggml_tensor *dst, int n_threads)
{
    int64_t m = TILE_M;

    while (m > LEAST_M && n_threads > 1 && n_tiles(dst, m) < 4 * n_threads)
        m /= 2;
    return m;
}

static int
out_prod_pieces(const struct ggml_tensor *dst, int n_threads)
{
    return (int)n_tiles(dst, tile_m(dst, n_threads));
}

static size_t
scratch_size(const struct ggml_tensor *dst)
{
    int64_t n = tile_n(dst);

    return FLOATS(BLOCK_K * n) + FLOATS(TILE_M * BLOCK_K) + FLOATS(TILE_M * n);
}

static size_t
out_prod_work_size(const struct ggml_tensor *dst, int n_threads,
                   const struct cpu_kernels *k)
{
    (void)k;
    return scratch_size(dst) * (size_t)n_threads;
}

static struct scratch
scratch_of(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    char *base = cpu_scratch(t, scratch_size(dst));
    size_t of_a = FLOATS(BLOCK_K * tile_n(dst));
    size_t of_b = FLOATS(TILE_M * BLOCK_K);

    return (struct scratch){ (float *)(void *)base,
                             (float *)(void *)(base + of_a),
                             (float *)(void *)(base + of_a + of_b) };
}

static struct cpu_range
range_at(int64_t i, int64_t size, int64_t n)
{
    int64_t first = i * size;

    return (struct cpu_range){ first, first + size < n ? first + size : n };
}

/* Neighbours have the same rows of dst. */
static struct tile
tile_at(const struct ggml_tensor *dst, int64_t m, int64_t piece)
{
    const struct ggml_tensor *a = dst->src[0];
    int64_t across = tiles_of(dst->ne[0], tile_n(dst));
    int64_t down = tiles_of(dst->ne[1], m);
    int64_t matrix = piece / (across * down);
    struct tile tile = {
        .cols = range_at(piece % across, tile_n(dst), dst->ne[0]),
        .rows = range_at(piece / across % down, m, dst->ne[1]),
        .of_b = { 0, matrix % dst->ne[2], matrix / dst->ne[2] },
    };

    tile.of_a = (struct cpu_row){ 0, tile.of_b.i2 / (dst->ne[2] / a->ne[2]),
                                  tile.of_b.i3 / (dst->ne[3] / a->ne[3]) };
    tile.width =
        (tile.cols.end - tile.cols.first + PANEL_N - 1) / PANEL_N * PANEL_N;
    return tile;
}

/* ---- the operands of a block of k -----------------------------------------
 */

static const char *
part_of_a(const struct ggml_tensor *a, const struct tile *tile, int64_t k)
{
    struct cpu_row r = tile->of_a;

    r.i1 = k;
    return cpu_row_data(a, r) +
           (size_t)(tile->cols.first / ggml_blck_size(a->type)) * a->nb[0];
}

/* Columns beyond the tile's are zero. */
static void
convert_part(const struct cpu_task *t, const struct ggml_tensor *a,
             const struct tile *tile, int64_t k, float *y)
{
    int64_t n = tile->cols.end - tile->cols.first;
    const char *p = part_of_a(a, tile, k);

    if (cpu_is_plain(a))
        memcpy(y, p, (size_t)n * sizeof(*y));
    else if (t->k->to_float[a->type])
        t->k->to_float[a->type](p, y, n);
    else
        cpu_gather(a->type, p, a->nb[0], n, y);
    memset(y + n, 0, (size_t)(tile->width - n) * sizeof(*y));
}

static void
find_a(const struct cpu_task *t, const struct ggml_tensor *dst,
       const struct tile *tile, struct cpu_range k, float *buffer,
       struct cpu_panel *panel)
{
    const struct ggml_tensor *a = dst->src[0];

    if (cpu_is_plain(a) && tile->width == tile->cols.end - tile->cols.first &&
        a->nb[1] % sizeof(float) == 0) {
        panel->b = (const float *)(const void *)part_of_a(a, tile, k.first);
        panel->b_stride = a->nb[1] / sizeof(float);
        return;
    }
    for (int64_t i = k.first; i < k.end; i++)
        convert_part(t, a, tile, i,
                     buffer + (size_t)((i - k.first) * tile->width));
    panel->b = buffer;
    panel->b_stride = (size_t)tile->width;
}

/* y[j][i] = b[i][j], for the tile's rows j and all i of k. */
static void
transpose_part(const struct cpu_task *t, const struct ggml_tensor *b,
               const struct tile *tile, struct cpu_range k, float *y)
{
    int64_t m = tile->rows.end - tile->rows.first, n = k.end - k.first;
    struct cpu_row r = tile->of_b;
    int64_t whole = 0;

    r.i1 = k.first;
    if (cpu_is_plain(b) && n % PANEL_N == 0 && b->nb[1] % sizeof(float) == 0) {
        whole = m / 4 * 4;
        t->k->transpose(n, whole,
                        (const float *)(void *)cpu_row_data(b, r) +
                            tile->rows.first,
                        b->nb[1] / sizeof(float), y, BLOCK_K);
    }
    for (int64_t j = whole; j < m; j++)
        cpu_gather(b->type,
                   cpu_row_data(b, r) +
                       (size_t)(tile->rows.first + j) * b->nb[0],
                   b->nb[1], n, y + (size_t)j * BLOCK_K);
}

static void
find_b(const struct cpu_task *t, const struct ggml_tensor *dst,
       const struct tile *tile, struct cpu_range k, float *buffer,
       struct cpu_panel *panel)
{
    const struct ggml_tensor *b = dst->src[1];
    struct cpu_row r = tile->of_b;

    r.i1 = k.first;
    if (b->type == GGML_TYPE_F32 && b->nb[1] == sizeof(float) &&
        b->nb[0] % sizeof(float) == 0) {
        panel->a = (const float *)(void *)(cpu_row_data(b, r) +
                                           (size_t)tile->rows.first * b->nb[0]);
        panel->a_stride = b->nb[0] / sizeof(float);
        return;
    }
    transpose_part(t, b, tile, k, buffer);
    panel->a = buffer;
    panel->a_stride = BLOCK_K;
}

/* ---- tiles ----------------------------------------------------------------
 */

/* In dst, or where columns have to be padded in a buffer. */
static void
find_c(struct ggml_tensor *dst, const struct tile *tile, float *buffer,
       struct cpu_panel *panel)
{
    struct cpu_row r = tile->of_b;

    r.i1 = tile->rows.first;
    panel->c = (float *)(void *)cpu_row_data(dst, r) + tile->cols.first;
    panel->c_stride = dst->nb[1] / sizeof(float);
    if (tile->width == tile->cols.end - tile->cols.first)
        return;
    panel->c = buffer;
    panel->c_stride = (size_t)tile->width;
}

static void
store_buffer(struct ggml_tensor *dst, const struct tile *tile,
             const struct cpu_panel *panel)
{
    struct cpu_row r = tile->of_b;
    size_t n = (size_t)(tile->cols.end - tile->cols.first);

    for (int64_t j = 0; j < panel->m; j++) {
        r.i1 = tile->rows.first + j;
        memcpy((float *)(void *)cpu_row_data(dst, r) + tile->cols.first,
               panel->c + (size_t)j * panel->c_stride, n * sizeof(float));
    }
}

static void
out_prod_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct tile tile = tile_at(dst, tile_m(dst, t->n_threads), t->ith);
    struct scratch s = scratch_of(t, dst);
    int64_t k = dst->src[0]->ne[1];
    struct cpu_panel panel = { .m = tile.rows.end - tile.rows.first,
                               .n = tile.width };

    find_c(dst, &tile, s.c, &panel);
    for (int64_t i = 0; i < k; i += BLOCK_K) {
        struct cpu_range block = range_at(i / BLOCK_K, BLOCK_K, k);

        panel.k = block.end - block.first;
        panel.add = i > 0;
        find_a(t, dst, &tile, block, s.a, &panel);
        find_b(t, dst, &tile, block, s.b, &panel);
        t->k->multiply_panel(&panel);
    }
    if (panel.c == s.c)
        store_buffer(dst, &tile, &panel);
}

static bool
out_prod_supports(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0];
    const struct ggml_type_traits *traits = quant_traits(a->type);

    return cpu_is_plain(dst) && cpu_has_elements(dst->src[1]->type) && traits &&
           (quant_reader(a->type) || cpu_has_elements(a->type)) &&
           a->nb[0] == traits->type_size && a->ne[1] > 0;
}

static int64_t
out_prod_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * dst->src[0]->ne[1] / 32;
}

const struct cpu_op cpu_op_out_prod = { .compute = out_prod_compute,
                                        .supports = out_prod_supports,
                                        .cost = out_prod_cost,
                                        .pieces = out_prod_pieces,
                                        .work_size = out_prod_work_size };
