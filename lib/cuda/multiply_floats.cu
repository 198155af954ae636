/* multiply_floats.cu - rows of F32, F16 or BF16, times a few columns of floats
 *
 * As multiply.cu, but weights go straight to registers: a warp has two rows,
 * a lane a piece of 16 bytes of each, several of them under way. Rows that
 * are no multiple of 16 bytes, or lie at odd addresses, go value by value. */
#include "cuda/functions.h"
#include "cuda/product.h"

#define WARPS PRODUCT_WARPS
#define ROWS  2
#define AHEAD 4 /* pieces of a row that a lane loads before it multiplies */

struct load_f32 {
    enum {
        size = 4,
        type = GGML_TYPE_F32
    };
    DEVICE float value(const char *p)
    {
        return *(const float *)(const void *)p;
    }
    DEVICE void open(uint4 w, float *v)
    {
        v[0] = float_of(w.x), v[1] = float_of(w.y);
        v[2] = float_of(w.z), v[3] = float_of(w.w);
    }
};

struct load_f16 {
    enum {
        size = 2,
        type = GGML_TYPE_F16
    };
    DEVICE float value(const char *p)
    {
        return from_f16(*(const uint16_t *)(const void *)p);
    }
    DEVICE void open(uint4 w, float *v)
    {
        const uint32_t pairs[4] = { w.x, w.y, w.z, w.w };

        UNROLL for (int i = 0; i < 8; i++) v[i] =
            from_f16((uint16_t)(pairs[i / 2] >> i % 2 * 16));
    }
};

struct load_bf16 {
    enum {
        size = 2,
        type = GGML_TYPE_BF16
    };
    DEVICE float value(const char *p)
    {
        return from_bf16(*(const uint16_t *)(const void *)p);
    }
    DEVICE void open(uint4 w, float *v)
    {
        const uint32_t pairs[4] = { w.x, w.y, w.z, w.w };

        UNROLL for (int i = 0; i < 4; i++)
        {
            v[2 * i] = float_of(pairs[i] << 16);
            v[2 * i + 1] = float_of(pairs[i] & 0xffff0000);
        }
    }
};

DEVICE const float *
column_at(const struct product *p, const struct work *t, int c)
{
    return (const float *)(const void *)(p->columns +
                                         column_of(p, t, c) * p->column_stride);
}

/* One piece of both rows, from value `at` on. */
template <class T, int COLUMNS>
DEVICE void
multiply_piece(const struct product *p, const struct work *t, int64_t at,
               const uint4 *w, float (*sum)[COLUMNS])
{
    const int n = 16 / T::size;
    float v[ROWS][n];

    UNROLL for (int r = 0; r < ROWS; r++) T::open(w[r], v[r]);
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        if (c >= t->n)
            break;
        const float *x = column_at(p, t, c) + at;

        UNROLL for (int i = 0; i < n; i += 4)
        {
            float4 f = load_vector<float4>(x + i);

            UNROLL for (int r = 0; r < ROWS; r++)
            {
                sum[r][c] = fmaf(v[r][i], f.x, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 1], f.y, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 2], f.z, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 3], f.w, sum[r][c]);
            }
        }
    }
}

/* Starts to load pieces of both rows from i on, where the lane has any. */
DEVICE void
load_pieces(const char *const *rows, int64_t i, int64_t n, uint4 (*w)[ROWS])
{
    UNROLL for (int j = 0; j < AHEAD; j++) UNROLL for (int r = 0; r < ROWS; r++)
    {
        int64_t at = i + j * LANES + lane_id();

        if (at < n)
            w[j][r] = load_once(rows[r] + at * 16);
    }
}

/* `w` are the first pieces: others are on their way while some are met. */
template <class T, int COLUMNS>
DEVICE void
multiply_whole(const struct product *p, const struct work *t,
               const char *const *rows, uint4 (*w)[ROWS], float (*sum)[COLUMNS])
{
    int64_t n = p->k * T::size / 16;

    for (int64_t i = 0; i < n; i += AHEAD * LANES) {
        uint4 next[AHEAD][ROWS];

        load_pieces(rows, i + AHEAD * LANES, n, next);
        UNROLL for (int j = 0; j < AHEAD; j++)
        {
            int64_t at = i + j * LANES + lane_id();

            if (at < n)
                multiply_piece<T, COLUMNS>(p, t, at * (16 / T::size), w[j],
                                           sum);
        }
        UNROLL for (int j = 0; j < AHEAD; j++)
            UNROLL for (int r = 0; r < ROWS; r++) w[j][r] = next[j][r];
    }
}

template <class T, int COLUMNS>
DEVICE void
multiply_singly(const struct product *p, const struct work *t,
                const char *const *rows, float (*sum)[COLUMNS])
{
    for (int64_t i = lane_id(); i < p->k; i += LANES)
        UNROLL for (int c = 0; c < COLUMNS; c++)
        {
            if (c >= t->n)
                break;
            float x = column_at(p, t, c)[i];

            UNROLL for (int r = 0; r < ROWS; r++) sum[r][c] =
                fmaf(T::value(rows[r] + i * T::size), x, sum[r][c]);
        }
}

/* `whole`: all addresses are multiples of 16. */
template <class T, int COLUMNS>
KERNEL
BOUNDS(WARPS *LANES, COLUMNS == 1 ? 4 : 3)
    multiply_floats(struct product p, bool whole, int64_t tiles,
                    int64_t n_items)
{
    SHARED(float, sums, WARPS *ROWS *COLUMNS);

    if (!p.early)
        take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        int64_t row;
        struct work t = find_work(&p, item, tiles, COLUMNS, &row);
        const char *rows[ROWS];
        float sum[ROWS][COLUMNS] = {};
        uint4 w[AHEAD][ROWS];
        bool any = row < t.n_rows && t.n > 0;

        if (any) {
            rows[0] = t.rows + row * p.w.nb[1];
            rows[1] = second_row(&p, &t, row);
            if (whole)
                load_pieces(rows, 0, p.k * T::size / 16, w);
        }
        if (p.early && item == block_id())
            take_turn();
        if (!any)
            continue;
        if (whole)
            multiply_whole<T, COLUMNS>(&p, &t, rows, w, sum);
        else
            multiply_singly<T, COLUMNS>(&p, &t, rows, sum);
        store_sums<COLUMNS>(&p, &t, row, sum,
                            sums + warp_id() * (ROWS * COLUMNS));
    }
}

static bool
is_aligned(const struct product *p)
{
    uintptr_t all = (uintptr_t)p->w.data | (uintptr_t)p->w2 |
                    (uintptr_t)p->columns | (uintptr_t)p->column_stride;

    for (int i = 1; i < 4; i++)
        all |= (uintptr_t)p->w.nb[i];
    for (int i = 0; i < CUDA_SIBLINGS; i++)
        all |= (uintptr_t)p->siblings[i].w;
    return (all & 15) == 0;
}

template <class T>
static void
launch(struct cuda_ctx *c, const struct product *p)
{
    bool whole = is_aligned(p) && p->k % 8 == 0;
    int64_t n = items_of(p);

    if (n == 0)
        return;
    if (single_columns(p))
        LAUNCH((multiply_floats<T, 1>), shape_of(n, WARPS * LANES), c, *p,
               whole, tiles_of(p), n);
    else
        LAUNCH((multiply_floats<T, MOST_COLUMNS>), shape_of(n, WARPS * LANES),
               c, *p, whole, tiles_of(p), n);
}

void
cuda_multiply_floats(struct cuda_ctx *c, const struct product *p)
{
    if (p->w.type == GGML_TYPE_F16)
        launch<load_f16>(c, p);
    else if (p->w.type == GGML_TYPE_BF16)
        launch<load_bf16>(c, p);
    else
        launch<load_f32>(c, p);
}
