/* gemm_mma.cu - small-batch GEMM with quantised weights, by tensor cores
 *
 * As gemv_quantized.cu, with tiles of 32 columns: a block computes a panel of
 * 16 rows of weights or 32 (or 16 of two matrices), and its warps split the k
 * dimension. A lane unpacks sub-blocks of 32 values to bytes in shared memory,
 * from where a warp loads them as MMA fragments; the int8 products are exact,
 * and each sub-block's are scaled and added to float accumulators. At the end
 * the warps' sums are added, in order. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/functions.h"
#include "cuda/gemv.h"
#include "cuda/quantize.h"

#define MMA_ROWS  16 /* rows of an MMA fragment */
#define COLUMNS   32
#define MMA_TILES (COLUMNS / 8)

/* The float 1.5 * 2^23 and its bits: an integer accumulated on top of the bits
 * is the same integer added to the float, so that sums of bytes need no
 * conversion. */
#define BIAS_BITS  0x4b400000
#define BIAS_FLOAT 12582912.0f

/* A step of a warp: sub-blocks of a row, and their bytes; the stride of a row
 * in a pipeline stage, with the bytes before it back to a multiple of 16, and
 * the width of an unpacked row: odd multiples of 16, so that eight rows have
 * no bank conflicts. */
template <class T, int M> struct step {
    enum {
        sub_blocks = T::sub_blocks > 4 ? T::sub_blocks : 4,
        bytes = T::size * (sub_blocks / T::sub_blocks),
        stride = ((bytes + 15 + 15) / 16 | 1) * 16,
        width = sub_blocks * SUB_BLOCK + 16,
        rows = M * MMA_ROWS,
        groups = SUB_BLOCK / T::group,
        warps = M == 1 ? 8 : 4, /* of a block */
        biased = T::min != 0 || T::offset != 0,
        stages = M == 1 ? 3 : 2,             /* of the pipeline */
        scales = sub_blocks * groups * rows, /* scales, and as many biases */
        pipeline = stages * rows * stride,
        all = pipeline + rows * width + scales * 4 * (1 + biased)
    };
};

/* A warp's buffers in shared memory. */
struct warp_buffers {
    char *pipeline, *unpacked;
    float *scales, *biases;
};

template <class T, int M>
DEVICE struct warp_buffers
buffers_of(char *shared)
{
    struct warp_buffers b;

    b.pipeline = shared + cuda_warp_id() * step<T, M>::all;
    b.unpacked = b.pipeline + step<T, M>::pipeline;
    b.scales =
        (float *)(void *)(b.unpacked + step<T, M>::rows * step<T, M>::width);
    b.biases = b.scales + step<T, M>::scales;
    return b;
}

/* The block's rows. 32-bit offsets reach them, and all columns: see
 * offsets_fit_32(). */
struct row_panel {
    const char *rows, *rows2; /* the first, and of the other matrix */
    uint32_t stride;
    int last; /* rows beyond it repeat it */
};

DEVICE struct row_panel
row_panel_at(const struct gemv *p, const struct gemv_work *t, int64_t first)
{
    int64_t left = t->n_rows - first - 1, at = first * p->w.nb[1];
    struct row_panel g;

    g.rows = t->rows + at;
    g.rows2 = p->w2 ? t->rows2 + at : NULL;
    g.stride = (uint32_t)p->w.nb[1];
    g.last = left < 2 * MMA_ROWS ? (int)left : 2 * MMA_ROWS;
    return g;
}

/* Row r: from MMA_ROWS on those of the second matrix, if there is one. */
DEVICE const char *
panel_row(const struct row_panel *g, int r)
{
    const char *rows = g->rows;

    if (g->rows2 && r >= MMA_ROWS) {
        rows = g->rows2;
        r -= MMA_ROWS;
    }
    return rows + (uint32_t)(r < g->last ? r : g->last) * g->stride;
}

/* Starts the asynchronous copies of step s, if there is one: some lanes a
 * row. */
template <class T, int M>
DEVICE void
load_step_async(const struct gemv *p, const struct row_panel *g, int s,
                char *to)
{
    const int vectors = step<T, M>::stride / 16, each = 4;
    int at = s * step<T, M>::bytes;
    int left = (int)(p->k / T::values) * T::size - at;
    int n = left < step<T, M>::bytes ? left : (int)step<T, M>::bytes;

    if (n > 0)
        UNROLL for (int i = 0; i < step<T, M>::rows / (LANES / each); i++)
        {
            int r = i * (LANES / each) + (int)cuda_lane_id() / each;
            const char *from = panel_row(g, r) + at;
            int before = (int)((uint32_t)(uintptr_t)from & 15);
            char *row = to + r * step<T, M>::stride;

            UNROLL for (int j = 0; j < vectors; j += each)
            {
                int place = (j + (int)cuda_lane_id() % each) * 16;

                if (place < before + n)
                    cuda_copy_async(row + place, from - before + place);
            }
        }
    cuda_copy_commit();
}

/* Unpacks a step; sub-blocks beyond a row's end become 0. Where a sub-block has
 * one scale, words 0, 2, 4 and 6 come first: a lane's bytes of a column are
 * then adjacent. */
template <class T, int M>
DEVICE void
unpack_step(const struct gemv *p, const struct row_panel *g, int s,
            const char *from, const struct warp_buffers *b)
{
    const int sub_blocks = step<T, M>::sub_blocks, rows = step<T, M>::rows;
    const int groups = step<T, M>::groups;

    UNROLL for (int i = 0; i < rows * sub_blocks / LANES; i++)
    {
        int sub_block = (int)cuda_lane_id() % sub_blocks;
        int r = i * (LANES / sub_blocks) + (int)cuda_lane_id() / sub_blocks;
        int before = (int)((uint32_t)(uintptr_t)(panel_row(g, r) +
                                                 s * step<T, M>::bytes) &
                           15);
        char *to = b->unpacked + r * step<T, M>::width + sub_block * SUB_BLOCK;
        struct sub_block u = {};
        uint32_t *w = u.codes;

        if ((s * sub_blocks + sub_block) * SUB_BLOCK < (int)p->k)
            T::unpack(from + r * step<T, M>::stride + before +
                          sub_block / T::sub_blocks * T::size,
                      sub_block % T::sub_blocks, &u);
        uint4 even = { w[0], w[2], w[4], w[6] };
        uint4 odd = { w[1], w[3], w[5], w[7] };
        uint4 low = { w[0], w[1], w[2], w[3] };
        uint4 high = { w[4], w[5], w[6], w[7] };

        cuda_store_vector(to, groups == 1 ? even : low);
        cuda_store_vector(to + 16, groups == 1 ? odd : high);
        UNROLL for (int i = 0; i < groups; i++)
        {
            int at = (sub_block * groups + i) * rows + r;

            b->scales[at] = u.scale[i];
            if (step<T, M>::biased)
                b->biases[at] =
                    (T::min ? u.min[i] : 0) + u.scale[i] * (float)T::offset;
        }
    }
}

/* Byte offsets of a lane's columns: of each eight, where its values of column
 * lane / 4 begin, `each` of them, and the scales of its two columns of the
 * accumulator. */
struct column_offsets {
    const char *all;
    uint32_t bytes[MMA_TILES], scales[MMA_TILES][2];
    int tiles;
    int sub_blocks; /* of a column */
};

DEVICE struct column_offsets
find_column_offsets(const struct gemv *p, const struct gemv_work *t, int each)
{
    int part = (int)cuda_lane_id() % 4 * each;
    int g = (int)cuda_lane_id() / 4, two = (int)cuda_lane_id() % 4 * 2;
    struct column_offsets c;

    c.all = p->columns;
    c.tiles = (t->n + 7) / 8;
    c.sub_blocks = (int)(p->k / SUB_BLOCK);
    UNROLL for (int j = 0; j < MMA_TILES; j++)
    {
        int at = 8 * j + g, of = 8 * j + two, last = t->n - 1;
        int64_t column = t->first + (at < last ? at : last);

        c.bytes[j] = (uint32_t)(column * p->column_stride + part);
        UNROLL for (int i = 0; i < 2; i++)
        {
            column = t->first + (of + i < last ? of + i : last);
            c.scales[j][i] = (uint32_t)(column * p->column_stride + p->k);
        }
        cuda_keep_in_register(&c.bytes[j]);
        cuda_keep_in_register(&c.scales[j][0]);
        cuda_keep_in_register(&c.scales[j][1]);
    }
    return c;
}

/* A lane's activations of a sub-block of eight columns. */
struct activations {
    uint32_t bytes[2];
    struct q8_scale f[2]; /* `sums` where weights have a bias */
};

template <class T>
DEVICE struct activations
load_activations(const struct column_offsets *c, int j, int n)
{
    const char *at = c->all + (c->bytes[j] + (uint32_t)n * SUB_BLOCK);
    struct activations m;

    if (T::group == SUB_BLOCK) {
        uint2 two = cuda_load_vector<uint2>(at);

        m.bytes[0] = two.x, m.bytes[1] = two.y;
    } else {
        m.bytes[0] = cuda_load_vector<uint32_t>(at);
        m.bytes[1] = cuda_load_vector<uint32_t>(at + 16);
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        uint32_t offset = (uint32_t)n * (uint32_t)sizeof(struct q8_scale);
        const void *scales = c->all + (c->scales[j][i] + offset);
        const struct q8_scale *f = (const struct q8_scale *)scales;

        m.f[i].d = f->d;
        if (T::min != 0 || T::offset != 0)
            m.f[i].sums[0] = f->sums[0], m.f[i].sums[1] = f->sums[1];
    }
    return m;
}

/* Activations of all columns, if there is a sub-block n: loaded from L2 cache
 * ahead of their use. */
template <class T>
DEVICE void
load_sub_block(const struct column_offsets *c, int n,
               struct activations *activations)
{
    if (n < c->sub_blocks)
        UNROLL for (int j = 0; j < MMA_TILES; j++) if (j < c->tiles)
            activations[j] = load_activations<T>(c, j, n);
}

/* Adds the products of 16 rows with eight columns: `scale` and `bias` are of
 * rows lane / 4 and lane / 4 + 8, of each group. */
template <class T>
DEVICE void
add_mma(const uint32_t *a, const struct activations *m, const float (*scale)[2],
        const float (*bias)[2], float *sum)
{
    const int groups = SUB_BLOCK / T::group;

    UNROLL for (int g = 0; g < groups; g++)
    {
        int dot[4] = { BIAS_BITS, BIAS_BITS, BIAS_BITS, BIAS_BITS };

        if (groups == 1)
            cuda_mma_16x8x32_s8(dot, a, m->bytes);
        else
            cuda_mma_16x8x16_s8(dot, a + 2 * g, m->bytes[g]);
        UNROLL for (int i = 0; i < 4; i++)
        {
            const struct q8_scale *f = &m->f[i % 2];
            float v = cuda_bits_float((uint32_t)dot[i]) - BIAS_FLOAT;

            sum[i] = fmaf(v, scale[g][i / 2] * f->d, sum[i]);
            if (T::min != 0 || T::offset != 0) {
                int total = groups == 2 ? f->sums[g] : f->sums[0] + f->sums[1];

                sum[i] = fmaf(-bias[g][i / 2], f->d * (float)total, sum[i]);
            }
        }
    }
}

/* A sub-block of the warp's unpacked rows: fragments, scales and biases. */
template <class T, int M> struct fragment {
    uint32_t a[M][4];
    float scale[M][SUB_BLOCK / T::group][2], bias[M][SUB_BLOCK / T::group][2];
};

template <class T, int M>
DEVICE void
load_fragment(const struct warp_buffers *b, int sub_block,
              struct fragment<T, M> *f)
{
    const int groups = step<T, M>::groups;
    int lane = (int)cuda_lane_id();

    UNROLL for (int m = 0; m < M; m++)
    {
        cuda_ldmatrix_x4(
            f->a[m], b->unpacked +
                         (m * MMA_ROWS + lane % MMA_ROWS) * step<T, M>::width +
                         sub_block * SUB_BLOCK + lane / MMA_ROWS * 16);
        UNROLL for (int i = 0; i < 2 * groups; i++)
        {
            int at = (sub_block * groups + i / 2) * step<T, M>::rows +
                     m * MMA_ROWS + i % 2 * 8 + lane / 4;

            f->scale[m][i / 2][i % 2] = b->scales[at];
            f->bias[m][i / 2][i % 2] = step<T, M>::biased ? b->biases[at] : 0;
        }
    }
}

/* Unpacked step s times all columns; `activations` are its first sub-block's,
 * and then those of the warp's next step. */
template <class T, int M>
DEVICE void
mma_step(const struct column_offsets *c, int s, const struct warp_buffers *b,
         struct activations *activations, float (*sum)[MMA_TILES][4])
{
    const int sub_blocks = step<T, M>::sub_blocks;
    int first = s * sub_blocks;

    for (int sub_block = 0;
         sub_block < sub_blocks && first + sub_block < c->sub_blocks;
         sub_block++) {
        int follows = sub_block + 1 < sub_blocks
                          ? first + sub_block + 1
                          : first + step<T, M>::warps * sub_blocks;
        struct fragment<T, M> f;
        struct activations next[MMA_TILES];

        load_sub_block<T>(c, follows, next);
        load_fragment<T, M>(b, sub_block, &f);
        UNROLL for (int j = 0; j < MMA_TILES; j++)
        {
            if (j < c->tiles)
                UNROLL for (int m = 0; m < M; m++) add_mma<T>(
                    f.a[m], &activations[j], f.scale[m], f.bias[m], sum[m][j]);
            activations[j] = next[j];
        }
    }
}

/* All steps of a warp. `wait`: the columns are written by the previous launch,
 * so that the weights are loaded before cuda_grid_dependency_sync(). */
template <class T, int M>
DEVICE void
mma_steps(const struct gemv *p, const struct gemv_work *t, int64_t first,
          bool wait, const struct warp_buffers *b, float (*sum)[MMA_TILES][4])
{
    const int size = step<T, M>::rows * step<T, M>::stride;
    const int stages = step<T, M>::stages, warps = step<T, M>::warps;
    struct column_offsets c =
        find_column_offsets(p, t, T::group == SUB_BLOCK ? 8 : 4);
    struct row_panel g = row_panel_at(p, t, first);
    int n =
        (c.sub_blocks + step<T, M>::sub_blocks - 1) / step<T, M>::sub_blocks;
    int now = 0, next = stages - 1;
    struct activations activations[MMA_TILES];

    UNROLL for (int i = 0; i < stages - 1; i++) load_step_async<T, M>(
        p, &g, (int)cuda_warp_id() + i * warps, b->pipeline + i * size);
    if (wait)
        cuda_grid_dependency_sync();
    load_sub_block<T>(&c, (int)cuda_warp_id() * step<T, M>::sub_blocks,
                      activations);
    for (int s = (int)cuda_warp_id(); s < n; s += warps) {
        cuda_copy_wait<stages - 2>();
        cuda_warp_barrier(); /* all lanes see the copies, and are done with it
                              */
        load_step_async<T, M>(p, &g, s + (stages - 1) * warps,
                              b->pipeline + next * size);
        unpack_step<T, M>(p, &g, s, b->pipeline + now * size, b);
        cuda_warp_barrier();
        mma_step<T, M>(&c, s, b, activations, sum);
        now = now + 1 < stages ? now + 1 : 0;
        next = next + 1 < stages ? next + 1 : 0;
    }
    cuda_copy_wait<0>();
}

#define SUM_STRIDE(M) ((M)*MMA_ROWS + 4) /* no bank conflicts */
#define SUMS(M)       (COLUMNS * SUM_STRIDE(M))

/* Stores a warp's partial sums to shared memory. */
template <int M>
DEVICE void
store_partial_sums(const float (*sum)[MMA_TILES][4], float *sums)
{
    int g = (int)cuda_lane_id() / 4, two = (int)cuda_lane_id() % 4 * 2;

    UNROLL for (int j = 0; j < MMA_TILES; j++)
    {
        UNROLL for (int i = 0; i < 4 * M; i++)
        {
            int column = 8 * j + two + i % 2, r = i / 2 * 8 + g;

            sums[column * SUM_STRIDE(M) + r] = sum[i / 4][j][i % 4];
        }
    }
}

template <int M>
DEVICE float
add_warps(const float *sums, int warps, int column, int r)
{
    float v = 0;

    for (int w = 0; w < warps; w++)
        v += sums[w * SUMS(M) + column * SUM_STRIDE(M) + r];
    return v;
}

template <int M>
DEVICE void
store_panel(const struct gemv *p, const struct gemv_work *t, int64_t first,
            const float *sums)
{
    int rows = p->w2 ? MMA_ROWS : M * MMA_ROWS,
        warps = (int)cuda_block_size() / LANES;

    for (int i = (int)cuda_thread_id(); i < rows * t->n;
         i += (int)cuda_block_size()) {
        int r = i % rows, column = i / rows;
        float v;

        if (first + r >= t->n_rows)
            continue;
        v = add_warps<M>(sums, warps, column, r);
        if (M > 1 && p->w2)
            v = cuda_apply_glu(p->end.glu, v,
                               add_warps<M>(sums, warps, column, MMA_ROWS + r),
                               p->end.alpha, p->end.limit);
        cuda_store_gemv_result(t, t->first + column, first + r, v);
    }
}

template <class T, int M>
KERNEL BOUNDS((step<T, M>::warps * LANES), M == 1 ? 2 : 3)
    gemm_mma(struct gemv p, int64_t tiles, int64_t n_items)
{
    SHARED_BYTES(shared);
    struct warp_buffers b = buffers_of<T, M>(shared);
    float *sums = (float *)(void *)shared;

    if (!p.constant_weights)
        cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t row, tile, each = p.w2 ? MMA_ROWS : M * MMA_ROWS;
        float sum[M][MMA_TILES][4] = {};
        struct gemv_work t;

        row = cuda_divide(item, tiles, &tile) * each;
        t = cuda_column_tile_at(&p, tile, COLUMNS);
        cuda_choose_sibling(&p, each, &t, &row);
        mma_steps<T, M>(&p, &t, row,
                        p.constant_weights && item == cuda_block_id(), &b, sum);
        cuda_barrier(); /* the sums overwrite the pipelines */
        store_partial_sums<M>(sum, sums + cuda_warp_id() * SUMS(M));
        cuda_barrier();
        store_panel<M>(&p, &t, row, sums);
        cuda_barrier();
    }
}

/* False: a block cannot have so much shared memory. */
template <class T, int M>
static bool
launch_panels(struct cuda_ctx *c, const struct gemv *p)
{
    int64_t tiles = p->x2 * p->x3 * cuda_ceil_div(p->n, COLUMNS);
    int64_t n = cuda_row_panels(p, p->w2 ? MMA_ROWS : M * MMA_ROWS) * tiles;
    const int warps = step<T, M>::warps;
    struct cuda_launch_config config = cuda_default_launch(n, warps * LANES);
    size_t sums = warps * SUMS(M) * sizeof(float);

    config.shared = (size_t)warps * step<T, M>::all;
    if (config.shared < sums)
        config.shared = sums;
    if (config.shared > c->max_shared)
        return false;
    ALLOW_SHARED((gemm_mma<T, M>), config.shared);
    PREFER_SHARED((gemm_mma<T, M>));
    LAUNCH((gemm_mma<T, M>), config, c, *p, tiles, n);
    return true;
}

/* Larger panels read the columns less often, smaller ones occupy a device. */
template <class T>
static bool
launch(struct cuda_ctx *c, const struct gemv *p)
{
    return p->w2 || cuda_row_panels(p, 2 * MMA_ROWS) >= 2 * (int64_t)c->n_sm
               ? launch_panels<T, 2>(c, p)
               : launch_panels<T, 1>(c, p);
}

/* Whether 32-bit offsets suffice. */
static bool
offsets_fit_32(const struct gemv *p)
{
    return p->w.nb[1] < INT32_MAX / (2 * MMA_ROWS) &&
           p->column_stride < INT32_MAX / (p->n * p->x2 * p->x3);
}

bool
cuda_gemm_mma(struct cuda_ctx *c, const struct gemv *p)
{
    if (p->by_id || p->n <= GEMV_COLUMNS || !offsets_fit_32(p))
        return false;
    switch (p->w.type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        return launch<format_##name>(c, p);
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    default:
        return false;
    }
}
