/* attention_decode.cu - FLASH_ATTN_EXT for few queries, F16 and BF16 caches
 *
 * Split-KV attention, see attention_split.h, where keys and values can be
 * copied by 16 bytes: a tile is loaded to shared memory by asynchronous copies,
 * unconverted. For scores a thread has a key and two rows, for weights a warp
 * has a row, for sums a thread has two elements of a value and some of the
 * keys. */
#include "cuda/attention_split.h"

#define KEYS        64 /* of a tile */
#define SLICES      8  /* of a tile's keys, at most */
#define MAX_WIDTH   256
#define THREADS     (SPLIT_ROWS * LANES)            /* a row a warp */
#define THREAD_ROWS (SPLIT_ROWS / (THREADS / KEYS)) /* rows of a thread */

/* A block's shared memory. */
struct buffers {
    uint16_t *keys, *values;
    float *queries; /* SPLIT_ROWS of d */
    float *scores;  /* SPLIT_ROWS of KEYS */
    float *weights; /* KEYS of SPLIT_ROWS */
    float *shrink;  /* SPLIT_ROWS */
    float *slices;  /* aliases the keys: slices of SPLIT_ROWS of e */
    int key_size,
        value_size; /* strides of rows, padded against bank conflicts */
};

/* Into how many slices a tile's keys are divided for values that are e wide. */
HOST_DEVICE int
slices_of(int e)
{
    int most = THREADS / (e / 2);

    return most >= SLICES ? SLICES : most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

static inline size_t
bytes_of_keys(int64_t d, int64_t e)
{
    size_t keys = KEYS * (size_t)(d + 8) * sizeof(uint16_t);
    size_t sums =
        (size_t)slices_of((int)e) * SPLIT_ROWS * (size_t)e * sizeof(float);

    return keys > sums ? keys : sums;
}

static inline size_t
bytes_of_values(int64_t e)
{
    return KEYS * (size_t)(e + 8) * sizeof(uint16_t);
}

static inline size_t
bytes_of_floats(int64_t d)
{
    return (SPLIT_ROWS * (size_t)d + 2 * KEYS * SPLIT_ROWS + SPLIT_ROWS) *
           sizeof(float);
}

DEVICE struct buffers
buffers_of(char *bytes, int64_t key_bytes, int64_t value_bytes, int d, int e)
{
    struct buffers r;

    r.keys = (uint16_t *)(void *)bytes;
    r.slices = (float *)(void *)bytes;
    r.values = (uint16_t *)(void *)(bytes + key_bytes);
    r.queries = (float *)(void *)(bytes + key_bytes + value_bytes);
    r.scores = r.queries + SPLIT_ROWS * d;
    r.weights = r.scores + SPLIT_ROWS * KEYS;
    r.shrink = r.weights + KEYS * SPLIT_ROWS;
    r.key_size = d + 8;
    r.value_size = e + 8;
    return r;
}

/* The warp's row; row 0 if it has none, so that reads stay in bounds. */
DEVICE struct row
warp_row(const struct attention *a, const struct split_work *p)
{
    int row = (int)cuda_warp_id();

    return cuda_query_row(a, p->head, p->batch,
                          p->first + (row < p->rows ? row : 0));
}

/* The queries as floats, scaled; missing rows are 0. */
DEVICE void
load_queries(const struct attention *a, const struct split_work *p,
             float *queries)
{
    int d = (int)a->q.ne[0];
    struct row r = warp_row(a, p);
    const char *from = p->q + r.i1 * a->q.nb[1] + r.i2 * a->q.nb[2];
    float *to = queries + (int)cuda_warp_id() * d;
    float scale = (int)cuda_warp_id() < p->rows ? a->scale : 0;

    for (int i = (int)cuda_lane_id(); i < d; i += LANES)
        to[i] = cuda_load_element(&a->q, from, i) * scale;
}

/* Starts the asynchronous copies of n rows of `width` elements. */
DEVICE void
copy_rows_async(const char *from, int64_t stride, int n, int width, int size,
                uint16_t *to)
{
    int vectors = width / 8, together = THREADS / vectors;
    int row = (int)cuda_thread_id() / vectors,
        at = (int)cuda_thread_id() % vectors;

    for (; row < n && (int)cuda_thread_id() < together * vectors;
         row += together)
        cuda_copy_async(to + row * size + at * 8,
                        from + row * stride + at * 16);
    cuda_copy_commit();
}

DEVICE void
copy_tile_async(const struct attention *a, const struct split_work *p,
                int64_t first, int n, const struct buffers *buffers)
{
    copy_rows_async(cuda_work_keys(a, p) + first * a->k.nb[1], a->k.nb[1], n,
                    (int)a->k.ne[0], buffers->key_size, buffers->keys);
    copy_rows_async(cuda_work_values(a, p) + first * a->v.nb[1], a->v.nb[1], n,
                    (int)a->v.ne[0], buffers->value_size, buffers->values);
}

/* The mask and ALiBi slope of the thread's rows. */
struct masks {
    const uint16_t *rows[THREAD_ROWS]; /* NULL: no mask, or no row */
    float slope[THREAD_ROWS];
};

DEVICE struct masks
find_masks(const struct attention *a, const struct split_work *p)
{
    struct masks m;

    UNROLL for (int i = 0; i < THREAD_ROWS; i++)
    {
        int r = (int)cuda_thread_id() / KEYS * THREAD_ROWS + i;
        struct row q = cuda_query_row(a, p->head, p->batch,
                                      p->first + (r < p->rows ? r : 0));

        m.rows[i] = r < p->rows ? cuda_work_mask(a, p, q) : NULL;
        m.slope[i] =
            r < p->rows ? cuda_alibi_slope(q.i2, a->q.ne[2], a->max_bias) : -1;
    }
    return m;
}

/* The mask of the thread's key of a tile, -infinity: hidden; returns whether it
 * is visible to any of the thread's rows. */
DEVICE bool
load_masks(const struct masks *m, int64_t first, int n, float *mask)
{
    int key = (int)cuda_thread_id() % KEYS;
    bool any = false;

    UNROLL for (int i = 0; i < THREAD_ROWS; i++)
    {
        mask[i] = -INFINITY;
        if (key < n && m->slope[i] >= 0)
            mask[i] = m->rows[i] ? cuda_from_f16(m->rows[i][first + key]) : 0;
        any |= mask[i] != -INFINITY;
    }
    return any;
}

/* Eight F16 or BF16 to floats. */
DEVICE void
unpack_8(int type, uint4 w, float *y)
{
    const uint32_t words[4] = { w.x, w.y, w.z, w.w };

    UNROLL for (int j = 0; j < 8; j++)
    {
        uint16_t h = (uint16_t)(words[j / 2] >> j % 2 * 16);

        y[j] = type == GGML_TYPE_F16 ? cuda_from_f16(h) : cuda_from_bf16(h);
    }
}

/* The scores of the thread's key with its rows. */
DEVICE void
dot_key(const struct attention *a, const struct buffers *buffers,
        const struct masks *m, const float *mask)
{
    int key = (int)cuda_thread_id() % KEYS, d = (int)a->k.ne[0];
    int first = (int)cuda_thread_id() / KEYS * THREAD_ROWS;
    float sum[THREAD_ROWS] = {};

    for (int i = 0; i < d; i += 8) {
        float k[8];

        unpack_8(a->k.type,
                 cuda_load_vector<uint4>(buffers->keys +
                                         key * buffers->key_size + i),
                 k);
        UNROLL for (int r = 0; r < THREAD_ROWS; r++)
        {
            const float *q = buffers->queries + (first + r) * d + i;
            float4 x = cuda_load_vector<float4>(q),
                   y = cuda_load_vector<float4>(q + 4);

            sum[r] = fmaf(k[0], x.x, sum[r]), sum[r] = fmaf(k[1], x.y, sum[r]);
            sum[r] = fmaf(k[2], x.z, sum[r]), sum[r] = fmaf(k[3], x.w, sum[r]);
            sum[r] = fmaf(k[4], y.x, sum[r]), sum[r] = fmaf(k[5], y.y, sum[r]);
            sum[r] = fmaf(k[6], y.z, sum[r]), sum[r] = fmaf(k[7], y.w, sum[r]);
        }
    }
    UNROLL for (int r = 0; r < THREAD_ROWS; r++)
        buffers->scores[(first + r) * KEYS + key] =
        mask[r] == -INFINITY
            ? -INFINITY
            : cuda_add_mask(cuda_cap_score(a, sum[r]), mask[r], m->slope[r]);
}

/* Online softmax of a warp's row. */
struct state {
    float max, total;
};

/* Turns scores of a tile into weights, and stores the factors by which previous
 * sums are rescaled. */
DEVICE void
online_softmax(struct state *s, const struct buffers *buffers)
{
    int row = (int)cuda_warp_id(), lane = (int)cuda_lane_id();
    const float *from = buffers->scores + row * KEYS;
    float a = from[lane], b = from[lane + LANES];
    float most = fmaxf(s->max, cuda_warp_max(fmaxf(a, b)));
    float base = most == -INFINITY ? 0 : most; /* no score so far, or NaN */
    float keep = expf(s->max - base);

    a = expf(a - base);
    b = expf(b - base);
    s->max = most;
    s->total = s->total * keep + cuda_warp_sum(a + b);
    buffers->weights[lane * SPLIT_ROWS + row] = a;
    buffers->weights[(lane + LANES) * SPLIT_ROWS + row] = b;
    if (lane == 0)
        buffers->shrink[row] = keep;
}

/* The slice of a tile's keys, and the two elements of values, that a thread
 * accumulates. */
struct value_slice {
    int place, first, n, slice, slices;
};

DEVICE struct value_slice
value_slice_of(int e)
{
    int threads = e / 2;
    struct value_slice s;

    s.slices = slices_of(e);
    s.slice = (int)cuda_thread_id() / threads;
    s.place = (int)cuda_thread_id() % threads * 2;
    s.n = s.slice < s.slices ? KEYS / s.slices : 0;
    s.first = s.slice * s.n;
    return s;
}

/* Accumulates the weighted values of a tile. Values with weight 0 are skipped,
 * as hidden ones may be non-finite. */
DEVICE void
add_values(const struct attention *a, const struct buffers *buffers,
           const struct value_slice *mine, float (*sum)[2])
{
    bool f16 = a->v.type == GGML_TYPE_F16;

    if (mine->n == 0)
        return;
    UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
    {
        sum[r][0] *= buffers->shrink[r];
        sum[r][1] *= buffers->shrink[r];
    }
    for (int key = mine->first; key < mine->first + mine->n; key++) {
        uint32_t pair =
            *(const uint32_t *)(const void *)(buffers->values +
                                              key * buffers->value_size +
                                              mine->place);
        float w[SPLIT_ROWS];
        float4 x =
            cuda_load_vector<float4>(buffers->weights + key * SPLIT_ROWS);
        float4 y =
            cuda_load_vector<float4>(buffers->weights + key * SPLIT_ROWS + 4);
        float v0 = f16 ? cuda_from_f16((uint16_t)pair)
                       : cuda_from_bf16((uint16_t)pair);
        float v1 = f16 ? cuda_from_f16((uint16_t)(pair >> 16))
                       : cuda_from_bf16((uint16_t)(pair >> 16));

        w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
        w[4] = y.x, w[5] = y.y, w[6] = y.z, w[7] = y.w;
        UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
        {
            if (w[r] == 0)
                continue;
            sum[r][0] = fmaf(w[r], v0, sum[r][0]);
            sum[r][1] = fmaf(w[r], v1, sum[r][1]);
        }
    }
}

/* Adds the sums of all slices, in their order. */
DEVICE void
store_partials(const struct attention *a, const struct kv_split *split,
               const struct split_work *p, const struct buffers *buffers,
               const struct value_slice *mine, float (*sum)[2])
{
    int e = (int)a->v.ne[0];
    const float *from;
    float *to;

    cuda_barrier(); /* the slices overwrite the keys */
    if (mine->n)
        UNROLL for (int r = 0; r < SPLIT_ROWS; r++)
        {
            float *to = buffers->slices + (mine->slice * SPLIT_ROWS + r) * e +
                        mine->place;

            to[0] = sum[r][0];
            to[1] = sum[r][1];
        }
    cuda_barrier();
    if ((int)cuda_warp_id() >= p->rows)
        return;
    from = buffers->slices + (int)cuda_warp_id() * e;
    to = split->partials + cuda_partial_at(a, p, (int)cuda_warp_id()) * e;
    for (int i = (int)cuda_lane_id(); i < e; i += LANES) {
        float total = 0;

        for (int j = 0; j < mine->slices; j++)
            total += from[j * SPLIT_ROWS * e + i];
        to[i] = total;
    }
}

DEVICE void
store_max_sum(const struct attention *a, const struct kv_split *split,
              const struct split_work *p, const struct state *s)
{
    int row = (int)cuda_warp_id();

    if (cuda_lane_id() == 0 && row < p->rows) {
        float *ends = split->max_sum + cuda_partial_at(a, p, row) * 2;

        ends[0] = s->max;
        ends[1] = s->total;
    }
}

/* `eager`: most tiles are visible, so that each is loaded before its mask is
 * known. */
template <int N>
KERNEL
BOUNDS(THREADS, 3)
    attend_decode(struct attention a, struct kv_split split,
                  struct sequences<N> sequences, int64_t key_bytes,
                  int64_t value_bytes, bool eager, int64_t n_items)
{
    SHARED_BYTES(bytes);
    struct buffers buffers = buffers_of(bytes, key_bytes, value_bytes,
                                        (int)a.k.ne[0], (int)a.v.ne[0]);
    struct value_slice mine = value_slice_of((int)a.v.ne[0]);

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        struct split_work p = cuda_work_at(&a, &split, &sequences, item);
        struct masks masks = find_masks(&a, &p);
        struct state s = { -INFINITY, 0 };
        float sum[SPLIT_ROWS][2] = {};
        bool begun = false;

        for (int64_t first = p.begin; first < p.end; first += KEYS) {
            int n = p.end - first < KEYS ? (int)(p.end - first) : KEYS;
            float mask[THREAD_ROWS];
            bool any;

            cuda_barrier(); /* all threads are done with the previous tile */
            if (eager)
                copy_tile_async(&a, &p, first, n, &buffers);
            any = cuda_barrier_any(load_masks(&masks, first, n, mask));
            if (any && !eager)
                copy_tile_async(&a, &p, first, n, &buffers);
            if (any && !begun)
                load_queries(&a, &p, buffers.queries);
            begun |= any;
            cuda_copy_wait<1>();
            cuda_barrier();
            if (any) {
                dot_key(&a, &buffers, &masks, mask);
                cuda_barrier();
                online_softmax(&s, &buffers);
            }
            cuda_copy_wait<0>();
            cuda_barrier();
            if (any)
                add_values(&a, &buffers, &mine, sum);
        }
        if (begun)
            store_partials(&a, &split, &p, &buffers, &mine, sum);
        store_max_sum(&a, &split, &p, &s);
    }
}

static bool
is_supported_kv(const struct view *x)
{
    return (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16) &&
           x->nb[0] == 2 && x->ne[0] % 8 == 0 && x->ne[0] <= MAX_WIDTH &&
           cuda_is_aligned_16(x);
}

static size_t
shared_bytes(const struct attention *a)
{
    return bytes_of_keys(a->k.ne[0], a->v.ne[0]) + bytes_of_values(a->v.ne[0]) +
           bytes_of_floats(a->k.ne[0]);
}

bool
cuda_attention_decode_supports(const struct cuda_ctx *c,
                               const struct attention *a)
{
    return is_supported_kv(&a->k) && is_supported_kv(&a->v) &&
           a->k.ne[2] == a->v.ne[2] && shared_bytes(a) <= c->max_shared;
}

template <int N>
static void
launch(struct cuda_ctx *c, const struct attention *a,
       const struct kv_split *split, const struct sequences<N> *s, int64_t n)
{
    int64_t d = a->k.ne[0], e = a->v.ne[0];
    struct cuda_launch_config config = cuda_default_launch(n, THREADS);

    config.shared = shared_bytes(a);
    ALLOW_SHARED(attend_decode<N>, config.shared);
    PREFER_SHARED(attend_decode<N>);
    LAUNCH(attend_decode<N>, config, c, *a, *split, *s,
           (int64_t)bytes_of_keys(d, e), (int64_t)bytes_of_values(e),
           a->q.ne[1] <= 2, n);
}

void
cuda_attention_decode(struct cuda_ctx *c, const struct attention *a,
                      const struct kv_split *split,
                      const struct sequences<SEQUENCES> *s, int64_t n)
{
    sequences<1> none = {};

    if (s)
        launch<SEQUENCES>(c, a, split, s, n);
    else
        launch<1>(c, a, split, &none, n);
}
