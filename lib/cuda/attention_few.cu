/* attention_few.cu - FLASH_ATTN_EXT for few queries, keys of two bytes
 *
 * As attention.cu, where keys and values are F16 or BF16 and 16 bytes can be
 * copied at once: those of a tile are all asked for together, and lie in
 * shared memory as they are. For scores a thread has a key and two rows, for
 * weights a warp has a row, for sums a thread two places of a value and some of
 * the keys. */
#include "cuda/attention_parts.h"

#define KEYS    64 /* of a tile */
#define SLICES  8  /* of a tile's keys, at most */
#define WIDEST  256
#define THREADS (PART_ROWS * LANES)            /* a row a warp */
#define MINE    (PART_ROWS / (THREADS / KEYS)) /* rows of a thread */

/* A block's shared memory. */
struct room {
    uint16_t *keys, *values;
    float *queries; /* PART_ROWS of d */
    float *scores;  /* PART_ROWS of KEYS */
    float *weights; /* KEYS of PART_ROWS */
    float *shrink;  /* PART_ROWS */
    float *slices;  /* in place of the keys: slices of PART_ROWS of e */
    int key_size, value_size; /* numbers of a row, so that rows are apart */
};

/* How many threads share two places of a value that is e wide. */
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
        (size_t)slices_of((int)e) * PART_ROWS * (size_t)e * sizeof(float);

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
    return (PART_ROWS * (size_t)d + 2 * KEYS * PART_ROWS + PART_ROWS) *
           sizeof(float);
}

DEVICE struct room
lay_out(char *bytes, int64_t key_bytes, int64_t value_bytes, int d, int e)
{
    struct room r;

    r.keys = (uint16_t *)(void *)bytes;
    r.slices = (float *)(void *)bytes;
    r.values = (uint16_t *)(void *)(bytes + key_bytes);
    r.queries = (float *)(void *)(bytes + key_bytes + value_bytes);
    r.scores = r.queries + PART_ROWS * d;
    r.weights = r.scores + PART_ROWS * KEYS;
    r.shrink = r.weights + KEYS * PART_ROWS;
    r.key_size = d + 8;
    r.value_size = e + 8;
    return r;
}

/* The warp's row, which may be none; as queries are read, it is another then.
 */
DEVICE struct row
warp_row(const struct attention *a, const struct piece *p)
{
    int row = (int)warp_id();

    return query_at(a, p->head, p->batch, p->first + (row < p->rows ? row : 0));
}

/* The queries as floats, scaled; rows that are none are 0. */
DEVICE void
load_queries(const struct attention *a, const struct piece *p, float *queries)
{
    int d = (int)a->q.ne[0];
    struct row r = warp_row(a, p);
    const char *from = p->q + r.i1 * a->q.nb[1] + r.i2 * a->q.nb[2];
    float *to = queries + (int)warp_id() * d;
    float scale = (int)warp_id() < p->rows ? a->scale : 0;

    for (int i = (int)lane_id(); i < d; i += LANES)
        to[i] = load_element(&a->q, from, i) * scale;
}

/* Starts to copy n rows of `width` numbers. */
DEVICE void
fetch(const char *from, int64_t stride, int n, int width, int size,
      uint16_t *to)
{
    int pieces = width / 8, together = THREADS / pieces;
    int row = (int)thread_id() / pieces, at = (int)thread_id() % pieces;

    for (; row < n && (int)thread_id() < together * pieces; row += together)
        copy_async(to + row * size + at * 8, from + row * stride + at * 16);
    copy_commit();
}

DEVICE void
fetch_tile(const struct attention *a, const struct piece *p, int64_t first,
           int n, const struct room *room)
{
    fetch(piece_keys(a, p) + first * a->k.nb[1], a->k.nb[1], n, (int)a->k.ne[0],
          room->key_size, room->keys);
    fetch(piece_values(a, p) + first * a->v.nb[1], a->v.nb[1], n,
          (int)a->v.ne[0], room->value_size, room->values);
}

/* What the mask adds to the thread's key for its rows; -infinity: hidden. */
struct masks {
    const uint16_t *rows[MINE]; /* NULL: the row is none */
    float slope[MINE];
};

DEVICE struct masks
find_masks(const struct attention *a, const struct piece *p)
{
    struct masks m;

    UNROLL for (int i = 0; i < MINE; i++)
    {
        int r = (int)thread_id() / KEYS * MINE + i;
        struct row q =
            query_at(a, p->head, p->batch, p->first + (r < p->rows ? r : 0));

        m.rows[i] = r < p->rows ? piece_mask(a, p, q) : NULL;
        m.slope[i] =
            r < p->rows ? alibi_slope(q.i2, a->q.ne[2], a->max_bias) : -1;
    }
    return m;
}

/* Of key `first` + the thread's; whether any of its rows sees it. */
DEVICE bool
load_masks(const struct masks *m, int64_t first, int n, float *mask)
{
    int key = (int)thread_id() % KEYS;
    bool any = false;

    UNROLL for (int i = 0; i < MINE; i++)
    {
        mask[i] = -INFINITY;
        if (key < n && m->slope[i] >= 0)
            mask[i] = m->rows[i] ? from_f16(m->rows[i][first + key]) : 0;
        any |= mask[i] != -INFINITY;
    }
    return any;
}

/* Eight numbers of two bytes. */
DEVICE void
open_eight(int type, uint4 w, float *y)
{
    const uint32_t pairs[4] = { w.x, w.y, w.z, w.w };

    UNROLL for (int j = 0; j < 8; j++)
    {
        uint16_t h = (uint16_t)(pairs[j / 2] >> j % 2 * 16);

        y[j] = type == GGML_TYPE_F16 ? from_f16(h) : from_bf16(h);
    }
}

/* The thread's key's scores with its rows. */
DEVICE void
score_key(const struct attention *a, const struct room *room,
          const struct masks *m, const float *mask)
{
    int key = (int)thread_id() % KEYS, d = (int)a->k.ne[0];
    int first = (int)thread_id() / KEYS * MINE;
    float sum[MINE] = {};

    for (int i = 0; i < d; i += 8) {
        float k[8];

        open_eight(a->k.type,
                   load_vector<uint4>(room->keys + key * room->key_size + i),
                   k);
        UNROLL for (int r = 0; r < MINE; r++)
        {
            const float *q = room->queries + (first + r) * d + i;
            float4 x = load_vector<float4>(q), y = load_vector<float4>(q + 4);

            sum[r] = fmaf(k[0], x.x, sum[r]), sum[r] = fmaf(k[1], x.y, sum[r]);
            sum[r] = fmaf(k[2], x.z, sum[r]), sum[r] = fmaf(k[3], x.w, sum[r]);
            sum[r] = fmaf(k[4], y.x, sum[r]), sum[r] = fmaf(k[5], y.y, sum[r]);
            sum[r] = fmaf(k[6], y.z, sum[r]), sum[r] = fmaf(k[7], y.w, sum[r]);
        }
    }
    UNROLL for (int r = 0; r < MINE; r++)
        room->scores[(first + r) * KEYS + key] =
        mask[r] == -INFINITY
            ? -INFINITY
            : add_mask(cap_score(a, sum[r]), mask[r], m->slope[r]);
}

/* What a warp knows of its row. */
struct state {
    float max, total;
};

/* Turns scores of a tile into weights, and says by what sums shrink. */
DEVICE void
weigh(struct state *s, const struct room *room)
{
    int row = (int)warp_id(), lane = (int)lane_id();
    const float *from = room->scores + row * KEYS;
    float a = from[lane], b = from[lane + LANES], keep = 1;
    float most = fmaxf(s->max, warp_max(fmaxf(a, b)));

    if (most != -INFINITY) {
        keep = expf(s->max - most);
        a = expf(a - most);
        b = expf(b - most);
    } else {
        a = b = 0;
    }
    s->max = most;
    s->total = s->total * keep + warp_sum(a + b);
    room->weights[lane * PART_ROWS + row] = a;
    room->weights[(lane + LANES) * PART_ROWS + row] = b;
    if (lane == 0)
        room->shrink[row] = keep;
}

/* Which of a tile's keys, and which two places, a thread adds up. */
struct share {
    int place, first, n, slice, slices;
};

DEVICE struct share
share_of(int e)
{
    int pairs = e / 2;
    struct share s;

    s.slices = slices_of(e);
    s.slice = (int)thread_id() / pairs;
    s.place = (int)thread_id() % pairs * 2;
    s.n = s.slice < s.slices ? KEYS / s.slices : 0;
    s.first = s.slice * s.n;
    return s;
}

/* Adds the weighed values of a tile. A row does not meet values that it does
 * not see, which may be no numbers. */
DEVICE void
add_values(const struct attention *a, const struct room *room,
           const struct share *mine, float (*sum)[2])
{
    bool f16 = a->v.type == GGML_TYPE_F16;

    if (mine->n == 0)
        return;
    UNROLL for (int r = 0; r < PART_ROWS; r++)
    {
        sum[r][0] *= room->shrink[r];
        sum[r][1] *= room->shrink[r];
    }
    for (int key = mine->first; key < mine->first + mine->n; key++) {
        uint32_t pair =
            *(const uint32_t *)(const void *)(room->values +
                                              key * room->value_size +
                                              mine->place);
        float w[PART_ROWS];
        float4 x = load_vector<float4>(room->weights + key * PART_ROWS);
        float4 y = load_vector<float4>(room->weights + key * PART_ROWS + 4);
        float v0 = f16 ? from_f16((uint16_t)pair) : from_bf16((uint16_t)pair);
        float v1 = f16 ? from_f16((uint16_t)(pair >> 16))
                       : from_bf16((uint16_t)(pair >> 16));

        w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
        w[4] = y.x, w[5] = y.y, w[6] = y.z, w[7] = y.w;
        UNROLL for (int r = 0; r < PART_ROWS; r++)
        {
            if (w[r] == 0)
                continue;
            sum[r][0] = fmaf(w[r], v0, sum[r][0]);
            sum[r][1] = fmaf(w[r], v1, sum[r][1]);
        }
    }
}

/* The sums of all slices, in their order. */
DEVICE void
store_sums(const struct attention *a, const struct cut *cut,
           const struct piece *p, const struct room *room,
           const struct share *mine, float (*sum)[2])
{
    int e = (int)a->v.ne[0];
    const float *from;
    float *to;

    barrier(); /* all are done with the keys */
    if (mine->n)
        UNROLL for (int r = 0; r < PART_ROWS; r++)
        {
            float *to =
                room->slices + (mine->slice * PART_ROWS + r) * e + mine->place;

            to[0] = sum[r][0];
            to[1] = sum[r][1];
        }
    barrier();
    if ((int)warp_id() >= p->rows)
        return;
    from = room->slices + (int)warp_id() * e;
    to = cut->found + place_of(a, p, (int)warp_id()) * e;
    for (int i = (int)lane_id(); i < e; i += LANES) {
        float total = 0;

        for (int j = 0; j < mine->slices; j++)
            total += from[j * PART_ROWS * e + i];
        to[i] = total;
    }
}

DEVICE void
store_ends(const struct attention *a, const struct cut *cut,
           const struct piece *p, const struct state *s)
{
    int row = (int)warp_id();

    if (lane_id() == 0 && row < p->rows) {
        float *ends = cut->found_ends + place_of(a, p, row) * 2;

        ends[0] = s->max;
        ends[1] = s->total;
    }
}

/* `eager`: most tiles are seen, so that they are asked for before it is known.
 */
template <int N>
KERNEL
BOUNDS(THREADS, 3) attend_few(struct attention a, struct cut cut,
                              struct sequences<N> sequences, int64_t key_bytes,
                              int64_t value_bytes, bool eager, int64_t n_items)
{
    SHARED_BYTES(bytes);
    struct room room =
        lay_out(bytes, key_bytes, value_bytes, (int)a.k.ne[0], (int)a.v.ne[0]);
    struct share mine = share_of((int)a.v.ne[0]);

    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct piece p = piece_at(&a, &cut, &sequences, item);
        struct masks masks = find_masks(&a, &p);
        struct state s = { -INFINITY, 0 };
        float sum[PART_ROWS][2] = {};
        bool begun = false;

        for (int64_t first = p.begin; first < p.end; first += KEYS) {
            int n = p.end - first < KEYS ? (int)(p.end - first) : KEYS;
            float mask[MINE];
            bool any;

            barrier(); /* all are done with the tile before */
            if (eager)
                fetch_tile(&a, &p, first, n, &room);
            any = barrier_any(load_masks(&masks, first, n, mask));
            if (any && !eager)
                fetch_tile(&a, &p, first, n, &room);
            if (any && !begun)
                load_queries(&a, &p, room.queries);
            begun |= any;
            copy_wait<1>();
            barrier();
            if (any) {
                score_key(&a, &room, &masks, mask);
                barrier();
                weigh(&s, &room);
            }
            copy_wait<0>();
            barrier();
            if (any)
                add_values(&a, &room, &mine, sum);
        }
        if (begun)
            store_sums(&a, &cut, &p, &room, &mine, sum);
        store_ends(&a, &cut, &p, &s);
    }
}

static bool
is_taken(const struct view *x)
{
    return (x->type == GGML_TYPE_F16 || x->type == GGML_TYPE_BF16) &&
           x->nb[0] == 2 && x->ne[0] % 8 == 0 && x->ne[0] <= WIDEST &&
           is_whole(x);
}

static size_t
shared_bytes(const struct attention *a)
{
    return bytes_of_keys(a->k.ne[0], a->v.ne[0]) + bytes_of_values(a->v.ne[0]) +
           bytes_of_floats(a->k.ne[0]);
}

bool
cuda_can_attend_few(const struct cuda_ctx *c, const struct attention *a)
{
    return is_taken(&a->k) && is_taken(&a->v) && a->k.ne[2] == a->v.ne[2] &&
           shared_bytes(a) <= c->max_shared;
}

template <int N>
static void
launch(struct cuda_ctx *c, const struct attention *a, const struct cut *cut,
       const struct sequences<N> *s, int64_t n)
{
    int64_t d = a->k.ne[0], e = a->v.ne[0];
    struct cuda_shape shape = shape_of(n, THREADS);

    shape.shared = shared_bytes(a);
    ALLOW_SHARED(attend_few<N>, shape.shared);
    PREFER_SHARED(attend_few<N>);
    LAUNCH(attend_few<N>, shape, c, *a, *cut, *s, (int64_t)bytes_of_keys(d, e),
           (int64_t)bytes_of_values(e), a->q.ne[1] <= 2, n);
}

void
cuda_attend_few(struct cuda_ctx *c, const struct attention *a,
                const struct cut *cut, const struct sequences<SEQUENCES> *s,
                int64_t n)
{
    sequences<1> none = {};

    if (s)
        launch<SEQUENCES>(c, a, cut, s, n);
    else
        launch<1>(c, a, cut, &none, n);
}
