/* attention_any.cu - FLASH_ATTN_EXT for few queries, keys of any type
 *
 * See attention_parts.h for who does what. A warp has two rows; keys of a tile
 * become floats; for scores a lane is a key, for sums a thread is one or more
 * places of a value. */
#include "cuda/attention_parts.h"
#include "quant/blocks.h"

#define ROWS    PART_ROWS
#define THREADS 128
#define MINE    (ROWS / (THREADS / LANES)) /* rows of a warp */
#define ROOM    ((int64_t)40 << 10)        /* bytes of a tile of keys */

struct tiles {
    int keys;
    int width;  /* floats of a row of the tile, or of a query */
    bool whole; /* keys can be loaded in pieces of 16 bytes */
};

/* Element i of a row of keys or values. */
DEVICE float
load_value(const struct view *x, const char *row, int64_t i)
{
    if (x->type == GGML_TYPE_Q8_0) {
        const struct block_q8_0 *b =
            (const struct block_q8_0 *)(const void *)row + i / 32;

        return from_f16(b->d) * (float)b->qs[i % 32];
    }
    return load_element(x, row, i);
}

/* Eight elements of two bytes, and any from i on. */
DEVICE void
open_eight(const struct view *x, uint4 w, float *y)
{
    const uint32_t pairs[4] = { w.x, w.y, w.z, w.w };

    UNROLL for (int j = 0; j < 8; j++)
    {
        uint16_t h = (uint16_t)(pairs[j / 2] >> j % 2 * 16);

        y[j] = x->type == GGML_TYPE_F16 ? from_f16(h) : from_bf16(h);
    }
}

DEVICE void
load_eight(const struct view *x, const char *row, int i, float *y)
{
    UNROLL for (int j = 0; j < 8; j++) y[j] = load_value(x, row, i + j);
}

/* The queries as floats, scaled; rows that are none are 0. */
DEVICE void
load_queries(const struct attention *a, const struct tiles *tiles,
             const struct piece *p, float *queries)
{
    for (int r = 0; r < ROWS; r++) {
        const char *from = NULL;

        if (r < p->rows)
            from =
                row_data(&a->q, query_at(a, p->head, p->batch, p->first + r));
        for (int i = (int)thread_id(); i < a->q.ne[0]; i += THREADS)
            queries[r * tiles->width + i] =
                from ? load_element(&a->q, from, i) * a->scale : 0;
    }
}

/* Pieces of keys, and values, that a thread has under way at once. */
#define PIECES_AHEAD 4
#define AHEAD        8

/* Keys from `first` on, n of them, as floats. */
DEVICE void
load_keys(const struct attention *a, const struct tiles *tiles,
          const struct piece *p, int64_t first, int n, float *keys)
{
    const char *matrix = piece_keys(a, p);
    int pieces = (int)a->k.ne[0] / 8;

    for (int i = (int)thread_id(); i < n * pieces;
         i += THREADS * PIECES_AHEAD) {
        uint4 w[PIECES_AHEAD];

        UNROLL for (int j = 0; j < PIECES_AHEAD; j++)
        {
            int at = i + j * THREADS;

            if (tiles->whole && at < n * pieces)
                w[j] = load_vector<uint4>(matrix +
                                          (first + at / pieces) * a->k.nb[1] +
                                          at % pieces * 16);
        }
        UNROLL for (int j = 0; j < PIECES_AHEAD; j++)
        {
            int at = i + j * THREADS, key = at / pieces,
                place = at % pieces * 8;
            float *to = keys + key * tiles->width + place;

            if (at >= n * pieces)
                break;
            if (tiles->whole)
                open_eight(&a->k, w[j], to);
            else
                load_eight(&a->k, matrix + (first + key) * a->k.nb[1], place,
                           to);
        }
    }
}

/* A key with the queries of a warp. */
DEVICE void
multiply(const float *key, const float *queries, int width, int n, float *sum)
{
    UNROLL for (int r = 0; r < MINE; r++) sum[r] = 0;
    for (int i = 0; i < n; i += 4) {
        float4 x = load_vector<float4>(key + i);

        UNROLL for (int r = 0; r < MINE; r++)
        {
            float4 y = load_vector<float4>(queries + r * width + i);

            sum[r] = fmaf(x.x, y.x, sum[r]);
            sum[r] = fmaf(x.y, y.y, sum[r]);
            sum[r] = fmaf(x.z, y.z, sum[r]);
            sum[r] = fmaf(x.w, y.w, sum[r]);
        }
    }
}

/* What a warp knows of its rows. */
struct state {
    float max[MINE], total[MINE], slope[MINE];
    const uint16_t *masks[MINE];
};

/* The lane's key's score for row r of the warp; -infinity: hidden. */
DEVICE float
score(const struct attention *a, const struct state *s, int r, int64_t first,
      int n, float product)
{
    int key = (int)lane_id();
    float mask = 0;

    if (key >= n)
        return -INFINITY;
    if (a->has_mask)
        mask = from_f16(s->masks[r][first + key]);
    return add_mask(cap_score(a, product), mask, s->slope[r]);
}

/* Turns scores of a tile into weights, and says by what sums shrink. */
DEVICE void
weigh(const struct attention *a, const struct tiles *tiles, struct state *s,
      int64_t first, int n, const float *queries, const float *keys,
      float *weights, float *shrink)
{
    float product[MINE];

    multiply(keys + (int)lane_id() % n * tiles->width,
             queries + (int)warp_id() * MINE * tiles->width, tiles->width,
             (int)a->k.ne[0], product);
    UNROLL for (int r = 0; r < MINE; r++)
    {
        int row = (int)warp_id() * MINE + r;
        float v = score(a, s, r, first, n, product[r]);
        float most = fmaxf(s->max[r], warp_max(v)), keep = 1, w = 0;

        if (most != -INFINITY) {
            keep = expf(s->max[r] - most);
            w = expf(v - most);
        }
        s->max[r] = most;
        s->total[r] = s->total[r] * keep + warp_sum(w);
        weights[row * LANES + lane_id()] = w;
        if (lane_id() == 0)
            shrink[row] = keep;
    }
}

/* The bits of element i of a value, and what they say; of Q8_0 the float's. */
DEVICE uint32_t
load_bits(const struct view *x, const char *row, int64_t i)
{
    if (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16)
        return *(const uint16_t *)(const void *)(row + i * 2);
    return bits_of(load_value(x, row, i));
}

DEVICE float
value_of(const struct view *x, uint32_t bits)
{
    return x->type == GGML_TYPE_F16    ? from_f16((uint16_t)bits)
           : x->type == GGML_TYPE_BF16 ? from_bf16((uint16_t)bits)
                                       : float_of(bits);
}

/* One value, of which the thread has some places. A row does not meet values
 * that it does not see, which may be no numbers. */
template <int PLACES>
DEVICE void
add_value(const struct view *x, const uint32_t *bits, const float *weights,
          float (*sum)[PLACES])
{
    float v[PLACES];

    UNROLL for (int j = 0; j < PLACES; j++) v[j] = value_of(x, bits[j]);
    UNROLL for (int r = 0; r < ROWS; r++)
    {
        float w = weights[r * LANES];

        UNROLL for (int j = 0; j < PLACES; j++) if (w != 0) sum[r][j] =
            fmaf(w, v[j], sum[r][j]);
    }
}

/* Adds the weighed values of a tile. */
template <int PLACES>
DEVICE void
add_values(const struct attention *a, const struct piece *p, int64_t first,
           int n, const float *weights, const float *shrink,
           float (*sum)[PLACES])
{
    const char *matrix = piece_values(a, p) + first * a->v.nb[1];

    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int j = 0; j < PLACES; j++) sum[r][j] *= shrink[r];
    for (int key = 0; key < n; key += AHEAD) {
        uint32_t bits[AHEAD][PLACES];

        UNROLL for (int i = 0; i < AHEAD; i++)
            UNROLL for (int j = 0; j < PLACES; j++)
        {
            int at = (int)thread_id() + j * THREADS;

            bits[i][j] = 0;
            if (key + i < n && at < a->v.ne[0])
                bits[i][j] =
                    load_bits(&a->v, matrix + (key + i) * a->v.nb[1], at);
        }
        UNROLL for (int i = 0; i < AHEAD; i++) if (key + i < n)
            add_value<PLACES>(&a->v, bits[i], weights + key + i, sum);
    }
}

/* Whether any row sees any key of a tile. */
DEVICE bool
sees_any(const struct attention *a, const struct state *s,
         const struct piece *p, int64_t first, int n)
{
    bool any = false;

    UNROLL for (int r = 0; r < MINE;
                r++) if ((int)warp_id() * MINE + r < p->rows) any |=
        (int)lane_id() < n &&
        (!a->has_mask || from_f16(s->masks[r][first + lane_id()]) != -INFINITY);
    return barrier_any(any);
}

/* Puts what was found where the rows are combined. */
template <int PLACES>
DEVICE void
store_found(const struct attention *a, const struct cut *cut,
            const struct piece *p, const struct state *s, float (*sum)[PLACES])
{
    int64_t e = a->v.ne[0];

    UNROLL for (int r = 0; r < ROWS; r++)
    {
        int64_t at = place_of(a, p, r);

        if (r >= p->rows)
            break;
        UNROLL for (int j = 0; j < PLACES; j++)
        {
            int i = (int)thread_id() + j * THREADS;

            if (i < e)
                cut->found[at * e + i] = sum[r][j];
        }
        if (lane_id() == 0 && (int)warp_id() == r / MINE) {
            cut->found_ends[at * 2] = s->max[r % MINE];
            cut->found_ends[at * 2 + 1] = s->total[r % MINE];
        }
    }
}

DEVICE void
begin_state(const struct attention *a, const struct piece *p, struct state *s)
{
    UNROLL for (int r = 0; r < MINE; r++)
    {
        int row = (int)warp_id() * MINE + r;
        struct row q = query_at(a, p->head, p->batch,
                                p->first + (row < p->rows ? row : 0));

        s->max[r] = -INFINITY;
        s->total[r] = 0;
        s->slope[r] = alibi_slope(q.i2, a->q.ne[2], a->max_bias);
        s->masks[r] = piece_mask(a, p, q);
    }
}

template <int PLACES>
KERNEL
BOUNDS(THREADS, 1) attend(struct attention a, struct cut cut,
                          struct tiles tiles, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(float, weights, ROWS *LANES);
    SHARED(float, shrink, ROWS);
    float *queries = (float *)(void *)bytes;
    float *keys = queries + ROWS * tiles.width;

    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct piece p = piece_at<1>(&a, &cut, NULL, item);
        struct state s;
        float sum[ROWS][PLACES] = {};

        barrier();
        load_queries(&a, &tiles, &p, queries);
        begin_state(&a, &p, &s);
        for (int64_t first = p.begin; first < p.end; first += tiles.keys) {
            int n =
                p.end - first < tiles.keys ? (int)(p.end - first) : tiles.keys;

            if (!sees_any(&a, &s, &p, first, n))
                continue;
            load_keys(&a, &tiles, &p, first, n, keys);
            barrier();
            weigh(&a, &tiles, &s, first, n, queries, keys, weights, shrink);
            barrier();
            add_values<PLACES>(&a, &p, first, n, weights, shrink, sum);
        }
        store_found<PLACES>(&a, &cut, &p, &s, sum);
    }
}

template <int PLACES>
static void
launch(struct cuda_ctx *c, const struct attention *a, const struct cut *cut,
       const struct tiles *tiles, int64_t n)
{
    struct cuda_shape shape = shape_of(n, THREADS);

    shape.shared = (size_t)(ROWS + tiles->keys) * tiles->width * sizeof(float);
    ALLOW_SHARED((attend<PLACES>), shape.shared);
    LAUNCH((attend<PLACES>), shape, c, *a, *cut, *tiles, n);
}

void
cuda_attend_any(struct cuda_ctx *c, const struct attention *a,
                const struct cut *cut, int64_t n)
{
    struct tiles tiles;

    tiles.keys = cuda_tile_keys(a->q.ne[0], ROOM);
    tiles.width = (int)a->q.ne[0] + 4;
    tiles.whole = is_whole(&a->k) &&
                  (a->k.type == GGML_TYPE_F16 || a->k.type == GGML_TYPE_BF16);
    if (a->v.ne[0] <= THREADS)
        launch<1>(c, a, cut, &tiles, n);
    else if (a->v.ne[0] <= 2 * THREADS)
        launch<2>(c, a, cut, &tiles, n);
    else
        launch<5>(c, a, cut, &tiles, n);
}
