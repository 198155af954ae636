/* gemv_quantized.cu - GEMV and small-batch GEMM with quantised weights
 *
 * Decoding is bound by memory bandwidth: the weights are read once, by
 * asynchronous 16-byte copies whatever the layout of blocks, into a multi-stage
 * pipeline in shared memory, one for each warp, and unpacked from there. A warp
 * computes two rows (or one row of two matrices); in every step a lane unpacks
 * a sub-block of 32 values of each and multiplies it with all columns. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/functions.h"
#include "cuda/gemv.h"
#include "cuda/quantize.h"

#define WARPS     GEMV_WARPS
#define WARP_ROWS 2 /* of a warp */
#define STAGES    3 /* of the pipeline */

/* Bytes of a row that a warp reads in a step, and of a row in a pipeline stage,
 * which includes the bytes before the first, back to a multiple of 16. */
template <class T> struct step {
    enum {
        bytes = T::size * (LANES / T::sub_blocks),
        stride = (bytes + 15 + 15) / 16 * 16
    };
};

struct weight_rows {
    const char *rows[WARP_ROWS];
    int64_t size; /* bytes of a row */
};

/* Starts the asynchronous copies of step `s` to a pipeline stage. */
template <class T>
DEVICE void
load_step_async(const struct weight_rows *from, int64_t s, char *stage)
{
    const int bytes = step<T>::bytes;
    int64_t at = s * bytes;

    if (at < from->size) {
        int64_t left = from->size - at;
        int n = left < bytes ? (int)left : bytes;

        UNROLL for (int r = 0; r < WARP_ROWS; r++)
        {
            const char *p = from->rows[r] + at;
            int before = (int)((uintptr_t)p & 15);

            for (int i = (int)cuda_lane_id() * 16; i < before + n;
                 i += LANES * 16)
                cuda_copy_async(stage + r * step<T>::stride + i,
                                p - before + i);
        }
    }
    cuda_copy_commit();
}

/* Adds the dot product of a sub-block with `q`, 32 values of a column. */
template <class T>
DEVICE float
add_sub_block(float sum, const struct sub_block *u, const uint32_t *q,
              const struct q8_scale *f)
{
    const int groups = T::group == 16 ? 2 : 1;

    UNROLL for (int g = 0; g < groups; g++)
    {
        int dot = 0, total = groups == 2 ? f->sums[g] : f->sums[0] + f->sums[1];

        UNROLL for (int i = g * 4; i < (groups == 2 ? g * 4 + 4 : 8); i++) dot =
            cuda_dp4a(u->codes[i], q[i], dot);
        if (T::offset != 0)
            dot -= T::offset * total;
        sum = fmaf((float)dot, u->scale[g] * f->d, sum);
        if (T::min != 0)
            sum = fmaf(-u->min[g], f->d * (float)total, sum);
    }
    return sum;
}

/* A sub-block of a column. */
struct activations {
    uint32_t q[SUB_BLOCK / 4];
    struct q8_scale f;
};

DEVICE struct activations
load_activations(const struct gemv *p, int64_t column, int64_t n)
{
    const char *at = p->columns + column * p->column_stride;
    uint4 a = cuda_load_vector<uint4>(at + n * SUB_BLOCK);
    uint4 b = cuda_load_vector<uint4>(at + n * SUB_BLOCK + 16);
    struct activations c = { { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w }, {} };

    c.f = ((const struct q8_scale *)(const void *)(at + p->k))[n];
    return c;
}

/* Loads the lane's sub-block of step s of a single column, if there is such a
 * step, ahead of the weights. */
template <int COLUMNS>
DEVICE struct activations
prefetch_activations(const struct gemv *p, const struct gemv_work *t, int64_t s)
{
    int64_t n = s * LANES + cuda_lane_id();
    struct activations none = {};

    return COLUMNS == 1 && n * SUB_BLOCK < p->k
               ? load_activations(p, cuda_column_of(p, t, 0), n)
               : none;
}

/* The lane's sub-blocks of step s, of both rows, times all columns; `current`
 * is that of a single column. */
template <class T, int COLUMNS>
DEVICE void
gemv_step(const struct gemv *p, const struct gemv_work *t,
          const struct weight_rows *from, int64_t s, const char *stage,
          const struct activations *current, float (*sum)[COLUMNS])
{
    int64_t n = s * LANES + cuda_lane_id();
    int block = (int)cuda_lane_id() / T::sub_blocks,
        part = (int)cuda_lane_id() % T::sub_blocks;
    struct sub_block u[WARP_ROWS];

    if (n * SUB_BLOCK >= p->k)
        return;
    UNROLL for (int r = 0; r < WARP_ROWS; r++)
    {
        int before =
            (int)((uintptr_t)(from->rows[r] + s * step<T>::bytes) & 15);

        T::unpack(stage + r * step<T>::stride + before + block * T::size, part,
                  &u[r]);
    }
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        struct activations one;

        if (c >= t->n)
            break;
        one = COLUMNS == 1 ? *current
                           : load_activations(p, cuda_column_of(p, t, c), n);
        UNROLL for (int r = 0; r < WARP_ROWS; r++) sum[r][c] =
            add_sub_block<T>(sum[r][c], &u[r], one.q, &one.f);
    }
}

/* Fills the pipeline with the first steps of two rows. */
template <class T>
DEVICE void
start_pipeline(const struct weight_rows *from, char *stages)
{
    UNROLL for (int s = 0; s < STAGES - 1; s++)
        load_step_async<T>(from, s, stages + s * WARP_ROWS * step<T>::stride);
}

/* All steps of two rows, whose pipeline was started; the lanes' partial
 * sums. */
template <class T, int COLUMNS>
DEVICE void
gemv_rows(const struct gemv *p, const struct gemv_work *t,
          const struct weight_rows *from, char *stages, float (*sum)[COLUMNS])
{
    const int stride = WARP_ROWS * step<T>::stride;
    int64_t n = (p->k + LANES * SUB_BLOCK - 1) / (LANES * SUB_BLOCK);
    struct activations current = prefetch_activations<COLUMNS>(p, t, 0);

    for (int64_t s = 0; s < n; s++) {
        int64_t next = s + STAGES - 1;
        struct activations next_activations =
            prefetch_activations<COLUMNS>(p, t, s + 1);

        cuda_copy_wait<STAGES - 2>();
        cuda_warp_barrier(); /* all lanes see the copies, and are done with s -
                                1 */
        load_step_async<T>(from, next, stages + next % STAGES * stride);
        gemv_step<T, COLUMNS>(p, t, from, s, stages + s % STAGES * stride,
                              &current, sum);
        current = next_activations;
    }
    cuda_copy_wait<0>();
    cuda_warp_barrier();
}

/* Items: a panel of a block's rows, times a tile of columns. */
template <class T, int COLUMNS>
KERNEL
BOUNDS(WARPS *LANES, COLUMNS == 1 ? 6 : 4)
    gemv_quantized(struct gemv p, int64_t tiles, int64_t n_items)
{
    SHARED(char, shared, WARPS *STAGES *WARP_ROWS *step<T>::stride);
    SHARED(float, sums, WARPS *WARP_ROWS *COLUMNS);
    char *stages =
        shared + cuda_warp_id() * (STAGES * WARP_ROWS * step<T>::stride);

    if (!p.constant_weights)
        cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t row;
        struct gemv_work t = cuda_gemv_work_at(&p, item, tiles, COLUMNS, &row);
        struct weight_rows from = { {}, p.k / T::values * T::size };
        float sum[WARP_ROWS][COLUMNS] = {};
        bool any = row < t.n_rows && t.n > 0;

        if (any) {
            from.rows[0] = t.rows + row * p.w.nb[1];
            from.rows[1] = cuda_second_gemv_row(&p, &t, row);
            start_pipeline<T>(&from, stages);
        }
        if (p.constant_weights && item == cuda_block_id())
            cuda_grid_dependency_sync();
        if (!any)
            continue;
        gemv_rows<T, COLUMNS>(&p, &t, &from, stages, sum);
        cuda_store_gemv_sums<COLUMNS>(
            &p, &t, row, sum, sums + cuda_warp_id() * (WARP_ROWS * COLUMNS));
    }
}

template <class T, int COLUMNS>
static void
launch_columns(struct cuda_ctx *c, const struct gemv *p, int64_t n)
{
    PREFER_SHARED((gemv_quantized<T, COLUMNS>));
    LAUNCH((gemv_quantized<T, COLUMNS>), cuda_default_launch(n, WARPS * LANES),
           c, *p, cuda_gemv_tiles(p), n);
}

template <class T>
static void
launch(struct cuda_ctx *c, const struct gemv *p)
{
    int64_t n = cuda_gemv_items(p);

    if (n == 0)
        return;
    if (cuda_has_single_columns(p))
        launch_columns<T, 1>(c, p, n);
    else
        launch_columns<T, GEMV_COLUMNS>(c, p, n);
}

void
cuda_gemv_quantized(struct cuda_ctx *c, const struct gemv *p)
{
    switch (p->w.type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        launch<format_##name>(c, p);                                           \
        break;
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    }
}
