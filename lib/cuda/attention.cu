/* attention.cu - FLASH_ATTN_EXT for few queries, and for any types
 *
 * Dao et al. 2022: keys come in tiles, with a running maximum and sum; see
 * attention_parts.h for who does what, and attention_few.cu for the usual
 * types of keys and values. Here, for any, a warp has two rows; for scores a
 * lane is a key, for sums a thread is one or more places of a value. */
#include "cuda/also.h"
#include "cuda/attention_parts.h"
#include "quant/blocks.h"

#define ROWS    PART_ROWS
#define THREADS PART_THREADS
#define MINE    PART_MINE
#define ROOM    ((int64_t)40 << 10) /* bytes of a tile of keys */

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
load_queries(const struct attention *a, const struct cut *cut,
             const struct piece *p, float *queries)
{
    for (int r = 0; r < ROWS; r++) {
        const char *from = NULL;

        if (r < p->rows)
            from =
                row_data(&a->q, query_at(a, p->head, p->batch, p->first + r));
        for (int i = (int)thread_id(); i < a->q.ne[0]; i += THREADS)
            queries[r * cut->width + i] =
                from ? load_element(&a->q, from, i) * a->scale : 0;
    }
}

/* Pieces of keys, and values, that a thread has under way at once. */
#define PIECES_AHEAD 4
#define AHEAD        8

/* Keys from `first` on, n of them, as floats. */
DEVICE void
load_keys(const struct attention *a, const struct cut *cut,
          const struct piece *p, int64_t first, int n, float *keys)
{
    const char *matrix = matrix_of(a, &a->k, p->head, p->batch);
    int pieces = (int)a->k.ne[0] / 8;

    for (int i = (int)thread_id(); i < n * pieces;
         i += THREADS * PIECES_AHEAD) {
        uint4 w[PIECES_AHEAD];

        UNROLL for (int j = 0; j < PIECES_AHEAD; j++)
        {
            int at = i + j * THREADS;

            if (cut->whole && at < n * pieces)
                w[j] = load_vector<uint4>(matrix +
                                          (first + at / pieces) * a->k.nb[1] +
                                          at % pieces * 16);
        }
        UNROLL for (int j = 0; j < PIECES_AHEAD; j++)
        {
            int at = i + j * THREADS, key = at / pieces,
                place = at % pieces * 8;
            float *to = keys + key * cut->width + place;

            if (at >= n * pieces)
                break;
            if (cut->whole)
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
weigh(const struct attention *a, const struct cut *cut, struct state *s,
      int64_t first, int n, const float *queries, const float *keys,
      float *weights, float *shrink)
{
    float product[MINE];

    multiply(keys + (int)lane_id() % n * cut->width,
             queries + (int)warp_id() * MINE * cut->width, cut->width,
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
    const char *matrix =
        matrix_of(a, &a->v, p->head, p->batch) + first * a->v.nb[1];

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
BOUNDS(THREADS, 1) attend(struct attention a, struct cut cut, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(float, weights, ROWS *LANES);
    SHARED(float, shrink, ROWS);
    float *queries = (float *)(void *)bytes;
    float *keys = queries + ROWS * cut.width;

    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct piece p = piece_at<1>(&a, &cut, NULL, item);
        struct state s;
        float sum[ROWS][PLACES] = {};

        barrier();
        load_queries(&a, &cut, &p, queries);
        begin_state(&a, &p, &s);
        for (int64_t first = p.begin; first < p.end; first += cut.tile) {
            int n = p.end - first < cut.tile ? (int)(p.end - first) : cut.tile;

            if (!sees_any(&a, &s, &p, first, n))
                continue;
            load_keys(&a, &cut, &p, first, n, keys);
            barrier();
            weigh(&a, &cut, &s, first, n, queries, keys, weights, shrink);
            barrier();
            add_values<PLACES>(&a, &p, first, n, weights, shrink, sum);
        }
        store_found<PLACES>(&a, &cut, &p, &s, sum);
    }
}

/* A row's result, and what was found of it. */
struct result {
    const float *found, *ends;
    int64_t parts, head;
    char *to;
};

/* Row i of all: of the heads of tokens, of sequences or batches. */
template <int N>
DEVICE struct result
result_at(const struct attention *a, const struct cut *cut,
          const struct sequences<N> *s, int64_t i)
{
    struct result r;
    int64_t at, token, batch, first;

    at = divide(i, a->q.ne[2], &r.head);
    batch = divide(at, a->q.ne[1], &token);
    if (N > 1) {
        const struct sequence *one = &s->all[batch];

        r.parts = one->parts;
        first = one->first_found + (token * a->q.ne[2] + r.head) * one->parts;
        r.to = one->dst;
    } else {
        r.parts = cut->parts;
        first = i * cut->parts;
        r.to = a->dst.data + batch * a->dst.nb[3];
    }
    r.to += r.head * a->dst.nb[1] + token * a->dst.nb[2];
    r.found = cut->found + first * a->v.ne[0];
    r.ends = cut->found_ends + first * 2;
    return r;
}

/* The parts of a row, in order; the sink, a score without a value, takes its
 * part of the sum. Who sees no key at all gets zeros. `before`: rows of dst
 * before the first. */
template <int N>
KERNEL
combine(struct attention a, struct cut cut, struct sequences<N> sequences,
        int64_t before, int64_t n_rows)
{
    SHARED(float, room, LANES);
    int64_t e = a.v.ne[0];

    take_turn();
    for (int64_t i = block_id(); i < n_rows; i += grid_size()) {
        struct result r = result_at(&a, &cut, &sequences, i);
        float sink = sink_of(&a, r.head), most = -INFINITY, total = 0;
        bool any;

        for (int64_t p = thread_id(); p < r.parts; p += block_size())
            most = fmaxf(most, r.ends[2 * p]);
        most = block_max(most, room);
        any = most != -INFINITY;
        most = fmaxf(most, sink);
        for (int64_t p = 0; p < r.parts && any; p++)
            total = fmaf(r.ends[2 * p + 1], expf(r.ends[2 * p] - most), total);
        total += any ? expf(sink - most) : 0;
        for (int64_t j = thread_id(); j < e; j += block_size()) {
            float sum = 0;

            for (int64_t p = 0; p < r.parts && any; p++)
                if (r.ends[2 * p] != -INFINITY)
                    sum = fmaf(r.found[p * e + j], expf(r.ends[2 * p] - most),
                               sum);
            sum = total > 0 ? sum / total : 0;
            store_element(&a.dst, r.to, j, sum);
            store_also(&a.also, (before + i) * e + j, sum);
        }
    }
}

template <int N>
static void
start_combine(struct cuda_ctx *c, const struct attention *a,
              const struct cut *cut, const struct sequences<N> *s,
              int64_t before, int64_t n)
{
    LAUNCH(combine<N>, shape_of(n, a->v.ne[0] > 64 ? 128 : 64), c, *a, *cut, *s,
           before, n);
}

static bool
is_cache(const struct ggml_tensor *x)
{
    return x->nb[0] == ggml_type_size(x->type) &&
           (is_float_type(x->type) || x->type == GGML_TYPE_Q8_0);
}

bool
cuda_supports_attention(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0], *k = dst->src[1];
    const struct ggml_tensor *v = dst->src[2], *mask = dst->src[3];

    return is_f32(dst) && is_float_type(q->type) && is_cache(k) &&
           is_cache(v) && k->ne[2] == v->ne[2] && q->ne[0] % 8 == 0 &&
           q->ne[0] <= 1024 && v->ne[0] <= 5 * THREADS &&
           (!mask ||
            (mask->type == GGML_TYPE_F16 && mask->nb[0] == sizeof(uint16_t))) &&
           (!dst->src[4] || is_f32(dst->src[4]));
}

static struct attention
read_params(const struct ggml_tensor *dst)
{
    struct attention a = {};

    a.q = view_of(dst->src[0]);
    a.k = view_of(dst->src[1]);
    a.v = view_of(dst->src[2]);
    a.dst = view_of(dst);
    a.has_mask = dst->src[3] != NULL;
    a.has_sinks = dst->src[4] != NULL;
    a.mask = a.has_mask ? view_of(dst->src[3]) : a.q;
    a.sinks = a.has_sinks ? view_of(dst->src[4]) : a.q;
    a.scale = tensor_get_f32(dst, 0);
    a.max_bias = tensor_get_f32(dst, 1);
    a.softcap = tensor_get_f32(dst, 2);
    if (a.softcap != 0)
        a.scale /= a.softcap;
    a.group = a.q.ne[2] / a.k.ne[2];
    return a;
}

static bool
is_whole(const struct view *k)
{
    uintptr_t all = (uintptr_t)k->data;

    for (int i = 1; i < 4; i++)
        all |= (uintptr_t)k->nb[i];
    return (all & 15) == 0 &&
           (k->type == GGML_TYPE_F16 || k->type == GGML_TYPE_BF16);
}

template <int PLACES>
static void
launch(struct cuda_ctx *c, const struct attention *a, const struct cut *cut)
{
    int64_t n = cut->parts * cut->chunks * (a->q.ne[2] / a->group) * a->q.ne[3];
    struct cuda_shape shape = shape_of(n, THREADS);

    shape.shared = (size_t)(ROWS + cut->tile) * cut->width * sizeof(float);
    ALLOW_SHARED((attend<PLACES>), shape.shared);
    LAUNCH((attend<PLACES>), shape, c, *a, *cut, n);
}

/* In how many parts: what is found of each has its place in memory. */
static int64_t
parts_of(const struct attention *a, int64_t rows)
{
    int64_t parts = cuda_parts(a->k.ne[1], a->q.ne[1]);
    int64_t size = rows * parts * a->v.ne[0] * (int64_t)sizeof(float);

    return size <= CUDA_FOUND ? parts : 1;
}

void
cuda_run_attend(struct cuda_ctx *c, struct ggml_tensor *dst,
                const struct ggml_tensor *next)
{
    sequences<1> none = {};
    struct attention a = read_params(dst);
    struct cut cut = {};
    int64_t rows = a.q.ne[1] * a.q.ne[2] * a.q.ne[3];

    if (ggml_is_empty(dst))
        return;
    cut.parts = parts_of(&a, rows);
    if (cut.parts == 1 && cuda_attend_tiles(c, &a, dst, next))
        return;
    a.also = cuda_also_for(c, dst, next, true);
    cut.part_keys = cut.parts > 1 ? CUDA_PART : a.k.ne[1];
    cut.chunks = cuda_pieces(a.q.ne[1] * a.group, ROWS);
    cut.tile = cuda_tile_keys(a.q.ne[0], ROOM);
    cut.width = (int)a.q.ne[0] + 4;
    cut.whole = is_whole(&a.k);
    cut.found = (float *)cuda_scratch(
        c, (size_t)(rows * cut.parts * a.v.ne[0]) * sizeof(float));
    cut.found_ends = (float *)cuda_scratch(c, (size_t)(rows * cut.parts) * 2 *
                                                  sizeof(float));
    if (!cut.found || !cut.found_ends)
        return;
    if (cuda_can_attend_few(c, &a))
        cuda_attend_few(c, &a, &cut, NULL,
                        cut.parts * cut.chunks * (a.q.ne[2] / a.group) *
                            a.q.ne[3]);
    else if (a.v.ne[0] <= THREADS)
        launch<1>(c, &a, &cut);
    else if (a.v.ne[0] <= 2 * THREADS)
        launch<2>(c, &a, &cut);
    else
        launch<5>(c, &a, &cut);
    start_combine<1>(c, &a, &cut, &none, 0, rows);
}

bool
cuda_can_attend_each(struct cuda_ctx *c, const struct ggml_tensor *dst)
{
    struct attention a = read_params(dst);

    return cuda_supports_attention(dst) && cuda_can_attend_few(c, &a) &&
           a.q.ne[3] == 1 && a.q.ne[1] < CUDA_TILE_TOKENS;
}

/* The sequences of one launch, of all from `first` on; the parts before, and
 * behind them. Returns the launch's items. */
static int64_t
list_sequences(const struct attention *a, struct ggml_tensor *const *each,
               int first, int n, char *dst, int64_t chunks, int64_t *found,
               struct sequences<SEQUENCES> *s)
{
    int64_t items = 0, rows = a->q.ne[1] * a->q.ne[2];

    s->n = n - first < SEQUENCES ? n - first : SEQUENCES;
    for (int i = 0; i < s->n; i++) {
        struct ggml_tensor *const *src = each[first + i]->src;
        struct sequence *one = &s->all[i];

        one->q = (const char *)src[0]->data;
        one->k = (const char *)src[1]->data;
        one->v = (const char *)src[2]->data;
        one->mask = src[3] ? (const char *)src[3]->data : NULL;
        one->mask_stride = src[3] ? (int64_t)src[3]->nb[1] : 0;
        one->dst = dst + (first + i) * a->q.ne[1] * a->dst.nb[2];
        one->keys = src[1]->ne[1];
        one->parts = cuda_parts(one->keys, a->q.ne[1]);
        one->first_item = items;
        one->first_found = *found;
        items += one->parts * chunks * (a->q.ne[2] / a->group);
        *found += one->parts * rows;
    }
    return items;
}

void
cuda_run_each(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
              struct ggml_tensor *dst, const struct ggml_tensor *next)
{
    struct attention a = read_params(each[0]);
    int64_t rows = a.q.ne[1] * a.q.ne[2], found = 0;
    struct sequences<SEQUENCES> s = {
    };
    struct cut cut = {};

    for (int i = 0; i < n; i++)
        found += cuda_parts(each[i]->src[1]->ne[1], a.q.ne[1]) * rows;
    a.dst = view_of(dst);
    a.also = cuda_also_for(c, dst, next, true);
    cut.part_keys = CUDA_PART;
    cut.chunks = cuda_pieces(a.q.ne[1] * a.group, ROWS);
    cut.found =
        (float *)cuda_scratch(c, (size_t)(found * a.v.ne[0]) * sizeof(float));
    cut.found_ends =
        (float *)cuda_scratch(c, (size_t)found * 2 * sizeof(float));
    if (!cut.found || !cut.found_ends)
        return;
    /* all are computed before dst, which may lie over what they read */
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        int64_t items =
            list_sequences(&a, each, i, n, a.dst.data, cut.chunks, &found, &s);

        cuda_attend_few(c, &a, &cut, &s, items);
    }
    found = 0;
    for (int i = 0; i < n; i += SEQUENCES) {
        list_sequences(&a, each, i, n, a.dst.data, cut.chunks, &found, &s);
        start_combine<SEQUENCES>(c, &a, &cut, &s, i * rows, s.n * rows);
    }
}

void
cuda_run_attention(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_attend(c, dst, NULL);
}
