/* gemv_float.cu - GEMV and small-batch GEMM with F32, F16 or BF16 weights
 *
 * As gemv_quantized.cu, but weights are loaded to registers: a warp computes
 * two rows, a lane loads 16-byte vectors of each, several of them ahead of
 * their use. Rows that are no multiple of 16 bytes, or not aligned, are loaded
 * value by value. */
#include "cuda/functions.h"
#include "cuda/gemv.h"

#define WARPS     GEMV_WARPS
#define WARP_ROWS 2
#define PREFETCH  4 /* vectors of a row that a lane loads ahead */

struct weight_f32 {
    enum {
        size = 4,
        type = GGML_TYPE_F32
    };
    DEVICE float value(const char *p)
    {
        return *(const float *)(const void *)p;
    }
    DEVICE void unpack(uint4 w, float *v)
    {
        v[0] = cuda_bits_float(w.x), v[1] = cuda_bits_float(w.y);
        v[2] = cuda_bits_float(w.z), v[3] = cuda_bits_float(w.w);
    }
};

struct weight_f16 {
    enum {
        size = 2,
        type = GGML_TYPE_F16
    };
    DEVICE float value(const char *p)
    {
        return cuda_from_f16(*(const uint16_t *)(const void *)p);
    }
    DEVICE void unpack(uint4 w, float *v)
    {
        const uint32_t words[4] = { w.x, w.y, w.z, w.w };

        UNROLL for (int i = 0; i < 8; i++) v[i] =
            cuda_from_f16((uint16_t)(words[i / 2] >> i % 2 * 16));
    }
};

struct weight_bf16 {
    enum {
        size = 2,
        type = GGML_TYPE_BF16
    };
    DEVICE float value(const char *p)
    {
        return cuda_from_bf16(*(const uint16_t *)(const void *)p);
    }
    DEVICE void unpack(uint4 w, float *v)
    {
        const uint32_t words[4] = { w.x, w.y, w.z, w.w };

        UNROLL for (int i = 0; i < 4; i++)
        {
            v[2 * i] = cuda_bits_float(words[i] << 16);
            v[2 * i + 1] = cuda_bits_float(words[i] & 0xffff0000);
        }
    }
};

DEVICE const float *
column_floats(const struct gemv *p, const struct gemv_work *t, int c)
{
    return (const float *)(const void *)(p->columns + cuda_column_of(p, t, c) *
                                                          p->column_stride);
}

/* A vector of both rows, from value `at` on, times all columns. */
template <class T, int COLUMNS>
DEVICE void
gemv_vector(const struct gemv *p, const struct gemv_work *t, int64_t at,
            const uint4 *w, float (*sum)[COLUMNS])
{
    const int n = 16 / T::size;
    float v[WARP_ROWS][n];

    UNROLL for (int r = 0; r < WARP_ROWS; r++) T::unpack(w[r], v[r]);
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        if (c >= t->n)
            break;
        const float *x = column_floats(p, t, c) + at;

        UNROLL for (int i = 0; i < n; i += 4)
        {
            float4 f = cuda_load_vector<float4>(x + i);

            UNROLL for (int r = 0; r < WARP_ROWS; r++)
            {
                sum[r][c] = fmaf(v[r][i], f.x, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 1], f.y, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 2], f.z, sum[r][c]);
                sum[r][c] = fmaf(v[r][i + 3], f.w, sum[r][c]);
            }
        }
    }
}

/* Loads vectors of both rows from i on, where the lane has any. */
DEVICE void
prefetch_vectors(const char *const *rows, int64_t i, int64_t n,
                 uint4 (*w)[WARP_ROWS])
{
    UNROLL for (int j = 0; j < PREFETCH; j++)
        UNROLL for (int r = 0; r < WARP_ROWS; r++)
    {
        int64_t at = i + j * LANES + cuda_lane_id();

        if (at < n)
            w[j][r] = cuda_load_streaming(rows[r] + at * 16);
    }
}

/* `w` are the first vectors: the next ones are loaded before they are
 * multiplied. */
template <class T, int COLUMNS>
DEVICE void
gemv_vectorized(const struct gemv *p, const struct gemv_work *t,
                const char *const *rows, uint4 (*w)[WARP_ROWS],
                float (*sum)[COLUMNS])
{
    int64_t n = p->k * T::size / 16;

    for (int64_t i = 0; i < n; i += PREFETCH * LANES) {
        uint4 next[PREFETCH][WARP_ROWS];

        prefetch_vectors(rows, i + PREFETCH * LANES, n, next);
        UNROLL for (int j = 0; j < PREFETCH; j++)
        {
            int64_t at = i + j * LANES + cuda_lane_id();

            if (at < n)
                gemv_vector<T, COLUMNS>(p, t, at * (16 / T::size), w[j], sum);
        }
        UNROLL for (int j = 0; j < PREFETCH; j++)
            UNROLL for (int r = 0; r < WARP_ROWS; r++) w[j][r] = next[j][r];
    }
}

template <class T, int COLUMNS>
DEVICE void
gemv_scalar(const struct gemv *p, const struct gemv_work *t,
            const char *const *rows, float (*sum)[COLUMNS])
{
    for (int64_t i = cuda_lane_id(); i < p->k; i += LANES)
        UNROLL for (int c = 0; c < COLUMNS; c++)
        {
            if (c >= t->n)
                break;
            float x = column_floats(p, t, c)[i];

            UNROLL for (int r = 0; r < WARP_ROWS; r++) sum[r][c] =
                fmaf(T::value(rows[r] + i * T::size), x, sum[r][c]);
        }
}

/* `vectorized`: all rows are aligned to 16 bytes. */
template <class T, int COLUMNS>
KERNEL
BOUNDS(WARPS *LANES, COLUMNS == 1 ? 4 : 3)
    gemv_float(struct gemv p, bool vectorized, int64_t tiles, int64_t n_items)
{
    SHARED(float, sums, WARPS *WARP_ROWS *COLUMNS);

    if (!p.constant_weights)
        cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t row;
        struct gemv_work t = cuda_gemv_work_at(&p, item, tiles, COLUMNS, &row);
        const char *rows[WARP_ROWS];
        float sum[WARP_ROWS][COLUMNS] = {};
        uint4 w[PREFETCH][WARP_ROWS];
        bool any = row < t.n_rows && t.n > 0;

        if (any) {
            rows[0] = t.rows + row * p.w.nb[1];
            rows[1] = cuda_second_gemv_row(&p, &t, row);
            if (vectorized)
                prefetch_vectors(rows, 0, p.k * T::size / 16, w);
        }
        if (p.constant_weights && item == cuda_block_id())
            cuda_grid_dependency_sync();
        if (!any)
            continue;
        if (vectorized)
            gemv_vectorized<T, COLUMNS>(&p, &t, rows, w, sum);
        else
            gemv_scalar<T, COLUMNS>(&p, &t, rows, sum);
        cuda_store_gemv_sums<COLUMNS>(
            &p, &t, row, sum, sums + cuda_warp_id() * (WARP_ROWS * COLUMNS));
    }
}

static bool
is_aligned(const struct gemv *p)
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
launch(struct cuda_ctx *c, const struct gemv *p)
{
    bool vectorized = is_aligned(p) && p->k % 8 == 0;
    int64_t n = cuda_gemv_items(p);

    if (n == 0)
        return;
    if (cuda_has_single_columns(p))
        LAUNCH((gemv_float<T, 1>), cuda_default_launch(n, WARPS * LANES), c, *p,
               vectorized, cuda_gemv_tiles(p), n);
    else
        LAUNCH((gemv_float<T, GEMV_COLUMNS>),
               cuda_default_launch(n, WARPS * LANES), c, *p, vectorized,
               cuda_gemv_tiles(p), n);
}

void
cuda_gemv_float(struct cuda_ctx *c, const struct gemv *p)
{
    if (p->w.type == GGML_TYPE_F16)
        launch<weight_f16>(c, p);
    else if (p->w.type == GGML_TYPE_BF16)
        launch<weight_bf16>(c, p);
    else
        launch<weight_f32>(c, p);
}
