/* attention_generic.cu - FLASH_ATTN_EXT for few queries, caches of any type
 *
 * Split-KV attention, see attention_split.h. A warp has two rows; keys of a
 * tile are converted to floats in shared memory; for scores a lane has a key,
 * for sums a thread has one or more elements of a value. */
#include "cuda/attention_split.h"
#include "quant/blocks.h"

#define THREADS    128
#define WARP_ROWS  (SPLIT_ROWS / (THREADS / LANES)) /* rows of a warp */
#define TILE_BYTES ((int64_t)40 << 10) /* bytes of a tile of keys */

struct tiles {
    int keys;
    int width;       /* floats of a row of the tile, or of a query */
    bool vectorized; /* keys can be loaded in vectors of 16 bytes */
};

/* Value i of a block. */
DEVICE float
load_q4_0(const struct block_q4_0 *b, int i)
{
    int code = b->qs[i % 16] >> i / 16 * 4 & 15;

    return cuda_from_f16(b->d) * (float)(code - 8);
}

DEVICE float
load_q5_0(const struct block_q5_0 *b, int i)
{
    int code = b->qs[i % 16] >> i / 16 * 4 & 15;
    int fifth = b->qh[i / 8] >> i % 8 & 1;

    return cuda_from_f16(b->d) * (float)((code | fifth << 4) - 16);
}

/* Element i of a row of keys or values. */
DEVICE float
load_value(const struct view *x, const char *row, int64_t i)
{
    if (x->type == GGML_TYPE_Q8_0) {
        const struct block_q8_0 *b =
            (const struct block_q8_0 *)(const void *)row + i / 32;

        return cuda_from_f16(b->d) * (float)b->qs[i % 32];
    }
    if (x->type == GGML_TYPE_Q5_0)
        return load_q5_0(
            (const struct block_q5_0 *)(const void *)row + i / 32,
            (int)(i % 32));
    if (x->type == GGML_TYPE_Q4_0)
        return load_q4_0(
            (const struct block_q4_0 *)(const void *)row + i / 32,
            (int)(i % 32));
    return cuda_load_element(x, row, i);
}

/* Eight F16 or BF16 to floats; load_8(): eight elements of any type from i
 * on. */
DEVICE void
unpack_8(const struct view *x, uint4 w, float *y)
{
    const uint32_t words[4] = { w.x, w.y, w.z, w.w };

    UNROLL for (int j = 0; j < 8; j++)
    {
        uint16_t h = (uint16_t)(words[j / 2] >> j % 2 * 16);

        y[j] = x->type == GGML_TYPE_F16 ? cuda_from_f16(h) : cuda_from_bf16(h);
    }
}

DEVICE void
load_8(const struct view *x, const char *row, int i, float *y)
{
    UNROLL for (int j = 0; j < 8; j++) y[j] = load_value(x, row, i + j);
}

/* The queries as floats, scaled; missing rows are 0. */
DEVICE void
load_queries(const struct attention *a, const struct tiles *tiles,
             const struct split_work *p, float *queries)
{
    for (int r = 0; r < SPLIT_ROWS; r++) {
        const char *from = NULL;

        if (r < p->rows)
            from = cuda_row_data(
                &a->q, cuda_query_row(a, p->head, p->batch, p->first + r));
        for (int i = (int)cuda_thread_id(); i < a->q.ne[0]; i += THREADS)
            queries[r * tiles->width + i] =
                from ? cuda_load_element(&a->q, from, i) * a->scale : 0;
    }
}

/* Vectors of keys, and keys whose values, that a thread loads ahead. */
#define KEY_PREFETCH   4
#define VALUE_PREFETCH 8

/* Keys from `first` on, n of them, as floats. */
DEVICE void
load_keys(const struct attention *a, const struct tiles *tiles,
          const struct split_work *p, int64_t first, int n, float *keys)
{
    const char *matrix = cuda_work_keys(a, p);
    int vectors = (int)a->k.ne[0] / 8;

    for (int i = (int)cuda_thread_id(); i < n * vectors;
         i += THREADS * KEY_PREFETCH) {
        uint4 w[KEY_PREFETCH];

        UNROLL for (int j = 0; j < KEY_PREFETCH; j++)
        {
            int at = i + j * THREADS;

            if (tiles->vectorized && at < n * vectors)
                w[j] = cuda_load_vector<uint4>(
                    matrix + (first + at / vectors) * a->k.nb[1] +
                    at % vectors * 16);
        }
        UNROLL for (int j = 0; j < KEY_PREFETCH; j++)
        {
            int at = i + j * THREADS, key = at / vectors,
                place = at % vectors * 8;
            float *to = keys + key * tiles->width + place;

            if (at >= n * vectors)
                break;
            if (tiles->vectorized)
                unpack_8(&a->k, w[j], to);
            else
                load_8(&a->k, matrix + (first + key) * a->k.nb[1], place, to);
        }
    }
}

/* Dot products of a key with the queries of a warp. */
DEVICE void
dot_keys(const float *key, const float *queries, int width, int n, float *sum)
{
    UNROLL for (int r = 0; r < WARP_ROWS; r++) sum[r] = 0;
    for (int i = 0; i < n; i += 4) {
        float4 x = cuda_load_vector<float4>(key + i);

        UNROLL for (int r = 0; r < WARP_ROWS; r++)
        {
            float4 y = cuda_load_vector<float4>(queries + r * width + i);

            sum[r] = fmaf(x.x, y.x, sum[r]);
            sum[r] = fmaf(x.y, y.y, sum[r]);
            sum[r] = fmaf(x.z, y.z, sum[r]);
            sum[r] = fmaf(x.w, y.w, sum[r]);
        }
    }
}

/* Online softmax of a warp's rows, and their masks. */
struct state {
    float max[WARP_ROWS], total[WARP_ROWS], slope[WARP_ROWS];
    const uint16_t *masks[WARP_ROWS];
};

/* The score of the lane's key for row r of the warp; -infinity: hidden. */
DEVICE float
score(const struct attention *a, const struct state *s, int r, int64_t first,
      int n, float product)
{
    int key = (int)cuda_lane_id();
    float mask = 0;

    if (key >= n)
        return -INFINITY;
    if (a->has_mask)
        mask = cuda_from_f16(s->masks[r][first + key]);
    return cuda_add_mask(cuda_cap_score(a, product), mask, s->slope[r]);
}

/* Turns scores of a tile into weights, and stores the factors by which previous
 * sums are rescaled. */
DEVICE void
online_softmax(const struct attention *a, const struct tiles *tiles,
               struct state *s, int64_t first, int n, const float *queries,
               const float *keys, float *weights, float *shrink)
{
    float product[WARP_ROWS];

    dot_keys(keys + (int)cuda_lane_id() % n * tiles->width,
             queries + (int)cuda_warp_id() * WARP_ROWS * tiles->width,
             tiles->width, (int)a->k.ne[0], product);
    UNROLL for (int r = 0; r < WARP_ROWS; r++)
    {
        int row = (int)cuda_warp_id() * WARP_ROWS + r;
        float v = score(a, s, r, first, n, product[r]);
        float most = fmaxf(s->max[r], cuda_warp_max(v));
        float base = most == -INFINITY ? 0 : most; /* no score so far, or NaN */
        float keep = expf(s->max[r] - base), w = expf(v - base);

        s->max[r] = most;
        s->total[r] = s->total[r] * keep + cuda_warp_sum(w);
        weights[row * LANES + cuda_lane_id()] = w;
        if (cuda_lane_id() == 0)
            shrink[row] = keep;
    }
}

/* Element i of a value as its bits, of blocks as a float's, so that loads are
 * issued before conversions. */
DEVICE uint32_t
load_bits(const struct view *x, const char *row, int64_t i)
{
    if (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16)
        return *(const uint16_t *)(const void *)(row + i * 2);
    return cuda_float_bits(load_value(x, row, i));
}

DEVICE float
value_of(const struct view *x, uint32_t bits)
{
    return x->type == GGML_TYPE_F16    ? cuda_from_f16((uint16_t)bits)
           : x->type == GGML_TYPE_BF16 ? cuda_from_bf16((uint16_t)bits)
                                       : cuda_bits_float(bits);
}

/* Accumulates the thread's elements of a value. Values with weight 0 are
 * skipped, as hidden ones may be non-finite. */
template <int PLACES>
DEVICE void
add_value(const struct view *x, const uint32_t *bits, const float *weights,
          float (*sum)[PLACES])
{
    float v[PLACES];

    UNROLL for (int j = 0; j < PLACES; j++) v[j] = value_of(x, bits[j]);
    UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
    {
        float w = weights[r * LANES];

        UNROLL for (int j = 0; j < PLACES; j++) if (w != 0) sum[r][j] =
            fmaf(w, v[j], sum[r][j]);
    }
}

/* Accumulates the weighted values of a tile. */
template <int PLACES>
DEVICE void
add_values(const struct attention *a, const struct split_work *p, int64_t first,
           int n, const float *weights, const float *shrink,
           float (*sum)[PLACES])
{
    const char *matrix = cuda_work_values(a, p) + first * a->v.nb[1];

    UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
        UNROLL for (int j = 0; j < PLACES; j++) sum[r][j] *= shrink[r];
    for (int key = 0; key < n; key += VALUE_PREFETCH) {
        uint32_t bits[VALUE_PREFETCH][PLACES];

        UNROLL for (int i = 0; i < VALUE_PREFETCH; i++)
            UNROLL for (int j = 0; j < PLACES; j++)
        {
            int at = (int)cuda_thread_id() + j * THREADS;

            bits[i][j] = 0;
            if (key + i < n && at < a->v.ne[0])
                bits[i][j] =
                    load_bits(&a->v, matrix + (key + i) * a->v.nb[1], at);
        }
        UNROLL for (int i = 0; i < VALUE_PREFETCH; i++) if (key + i < n)
            add_value<PLACES>(&a->v, bits[i], weights + key + i, sum);
    }
}

/* Whether any key of a tile is visible to any row. */
DEVICE bool
sees_any(const struct attention *a, const struct state *s,
         const struct split_work *p, int64_t first, int n)
{
    bool any = false;

    UNROLL for (int r = 0; r < WARP_ROWS;
                r++) if ((int)cuda_warp_id() * WARP_ROWS + r < p->rows) any |=
        (int)cuda_lane_id() < n &&
        (!a->has_mask ||
         cuda_from_f16(s->masks[r][first + cuda_lane_id()]) != -INFINITY);
    return cuda_barrier_any(any);
}

/* Stores the partial results, which combine_splits() reads. */
template <int PLACES>
DEVICE void
store_partials(const struct attention *a, const struct kv_split *split,
               const struct split_work *p, const struct state *s,
               float (*sum)[PLACES])
{
    int64_t e = a->v.ne[0];

    UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
    {
        int64_t at = cuda_partial_at(a, p, r);

        if (r >= p->rows)
            break;
        UNROLL for (int j = 0; j < PLACES; j++)
        {
            int i = (int)cuda_thread_id() + j * THREADS;

            if (i < e)
                split->partials[at * e + i] = sum[r][j];
        }
        if (cuda_lane_id() == 0 && (int)cuda_warp_id() == r / WARP_ROWS) {
            split->max_sum[at * 2] = s->max[r % WARP_ROWS];
            split->max_sum[at * 2 + 1] = s->total[r % WARP_ROWS];
        }
    }
}

DEVICE void
begin_state(const struct attention *a, const struct split_work *p,
            struct state *s)
{
    UNROLL for (int r = 0; r < WARP_ROWS; r++)
    {
        int row = (int)cuda_warp_id() * WARP_ROWS + r;
        struct row q = cuda_query_row(a, p->head, p->batch,
                                      p->first + (row < p->rows ? row : 0));

        s->max[r] = -INFINITY;
        s->total[r] = 0;
        s->slope[r] = cuda_alibi_slope(q.i2, a->q.ne[2], a->max_bias);
        s->masks[r] = cuda_work_mask(a, p, q);
    }
}

template <int PLACES>
KERNEL
BOUNDS(THREADS, 1) attend_generic(struct attention a, struct kv_split split,
                                  struct tiles tiles, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(float, weights, SPLIT_ROWS *LANES);
    SHARED(float, shrink, SPLIT_ROWS);
    float *queries = (float *)(void *)bytes;
    float *keys = queries + SPLIT_ROWS * tiles.width;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        struct split_work p = cuda_work_at<1>(&a, &split, NULL, item);
        struct state s;
        float sum[SPLIT_ROWS][PLACES] = {};

        cuda_barrier();
        load_queries(&a, &tiles, &p, queries);
        begin_state(&a, &p, &s);
        for (int64_t first = p.begin; first < p.end; first += tiles.keys) {
            int n =
                p.end - first < tiles.keys ? (int)(p.end - first) : tiles.keys;

            if (!sees_any(&a, &s, &p, first, n))
                continue;
            load_keys(&a, &tiles, &p, first, n, keys);
            cuda_barrier();
            online_softmax(&a, &tiles, &s, first, n, queries, keys, weights,
                           shrink);
            cuda_barrier();
            add_values<PLACES>(&a, &p, first, n, weights, shrink, sum);
        }
        store_partials<PLACES>(&a, &split, &p, &s, sum);
    }
}

template <int PLACES>
static void
launch(struct cuda_ctx *c, const struct attention *a,
       const struct kv_split *split, const struct tiles *tiles, int64_t n)
{
    struct cuda_launch_config config = cuda_default_launch(n, THREADS);

    config.shared =
        (size_t)(SPLIT_ROWS + tiles->keys) * tiles->width * sizeof(float);
    ALLOW_SHARED((attend_generic<PLACES>), config.shared);
    LAUNCH((attend_generic<PLACES>), config, c, *a, *split, *tiles, n);
}

void
cuda_attention_generic(struct cuda_ctx *c, const struct attention *a,
                       const struct kv_split *split, int64_t n)
{
    struct tiles tiles;

    tiles.keys = cuda_tile_keys(a->q.ne[0], TILE_BYTES);
    tiles.width = (int)a->q.ne[0] + 4;
    tiles.vectorized =
        cuda_is_aligned_16(&a->k) &&
        (a->k.type == GGML_TYPE_F16 || a->k.type == GGML_TYPE_BF16);
    if (a->v.ne[0] <= THREADS)
        launch<1>(c, a, split, &tiles, n);
    else if (a->v.ne[0] <= 2 * THREADS)
        launch<2>(c, a, split, &tiles, n);
    else
        launch<5>(c, a, split, &tiles, n);
}
