/* attention_tiles.cu - FLASH_ATTN_EXT for many queries, with tensor cores
 *
 * A block has 64 tokens of one head, a warp 16 of them; keys and values, F16,
 * come in tiles of 64 through shared memory. Products are of F16s, sums of
 * floats. Fragments of matrices are as device.h tells: a lane has, of its
 * warp's 16 rows, row lane / 4 and the one 8 further on. Tiles that are hidden
 * from all tokens of a block are passed over. */
#include "cuda/attention.h"

#define WARPS  4
#define TOKENS (WARPS * 16)
#define KEYS   64
#define LOG2_E 1.4426950408889634f

/* F16s of a row of a tile in shared memory: the rest keeps rows apart, so
 * that eight of them lie in different banks. */
template <int D> struct tile {
    enum { width = D + 8, size = KEYS * (D + 8) };
};
#define MASK_WIDTH (KEYS + 8)

/* A warp's part of the work. */
struct queries {
    int64_t head, batch, first; /* token of the warp's first row */
    const char *keys, *values;
    float slope;
};

/* What a lane knows of its two rows. */
template <int D> struct rows {
    uint32_t q[D / 16][4];
    float sum[D / 8][4];
    float max[2], total[2];
};

DEVICE int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The queries, scaled, as fragments; rows beyond the end repeat the last. */
template <int D>
DEVICE void
load_queries(const struct attention *a, const struct queries *qs,
             struct rows<D> *s)
{
    int g = (int)lane_id() / 4, t = (int)lane_id() % 4;

    UNROLL for (int half = 0; half < 2; half++)
    {
        struct row r = { least(qs->first + g + 8 * half, a->q.ne[1] - 1),
                         qs->head, qs->batch };
        const char *from = row_data(&a->q, r);

        UNROLL for (int i = 0; i < D / 16; i++)
            UNROLL for (int j = 0; j < 2; j++)
        {
            int at = 16 * i + 8 * j + 2 * t;

            s->q[i][2 * j + half] =
                to_f16_pair(load_element(&a->q, from, at) * a->scale,
                            load_element(&a->q, from, at + 1) * a->scale);
        }
    }
}

/* Starts to copy the rows from `first` on that are seen; the others become 0:
 * what was never written may be no number. */
template <int D>
DEVICE void
fetch(const char *matrix, int64_t stride, int64_t first, const char *seen,
      uint16_t *to)
{
    const uint4 zero = { 0, 0, 0, 0 };

    for (int i = (int)thread_id(); i < KEYS * (D / 8); i += WARPS * LANES) {
        int row = i / (D / 8), at = i % (D / 8) * 8;
        uint16_t *place = to + row * tile<D>::width + at;

        if (seen[row] | seen[KEYS + row])
            copy_async(place, matrix + (first + row) * stride + at * 2);
        else
            store_vector(place, zero);
    }
    copy_commit();
}

/* The mask of the block's tokens; whether any of it is seen, and which keys. A
 * thread looks at every other token of one key. */
DEVICE bool
load_mask(const struct attention *a, const struct queries *qs, int64_t token,
          int64_t first, int n, uint16_t *to, char *seen)
{
    bool any = false;

    for (int i = (int)thread_id(); i < TOKENS * KEYS; i += WARPS * LANES) {
        struct row r = { least(token + i / KEYS, a->q.ne[1] - 1), qs->head,
                         qs->batch };
        int key = i % KEYS;
        uint16_t m = 0xfc00; /* -infinity */

        if (key < n)
            m = a->has_mask ? mask_row(a, r)[first + key] : 0;
        any |= m != 0xfc00;
        to[i / KEYS * MASK_WIDTH + key] = m;
    }
    seen[thread_id()] = any;
    return barrier_any(any);
}

/* Scores of the warp's rows and the tile's keys. */
template <int D>
DEVICE void
multiply_keys(const struct rows<D> *s, const uint16_t *keys,
              float (*score)[4])
{
    int lane = (int)lane_id();
    /* where the lane says that a row is: matrices are 8 places apart */
    const uint16_t *row = keys + lane % 8 * tile<D>::width + lane / 8 * 8;

    UNROLL for (int n = 0; n < KEYS / 8; n++)
    {
        UNROLL for (int i = 0; i < 4; i++) score[n][i] = 0;
        UNROLL for (int i = 0; i < D / 32; i++)
        {
            uint32_t b[4];

            load_matrices(b, row + n * 8 * tile<D>::width + 32 * i);
            multiply_16x8x16(score[n], s->q[2 * i], b);
            multiply_16x8x16(score[n], s->q[2 * i + 1], b + 2);
        }
    }
}

/* Cap, mask and ALiBi; then in units of log2(e). */
DEVICE void
adjust(const struct attention *a, const struct queries *qs,
       const uint16_t *mask, float (*score)[4])
{
    int g = (int)lane_id() / 4, t = (int)lane_id() % 4;
    const uint16_t *m = mask + ((int)warp_id() * 16 + g) * MASK_WIDTH + 2 * t;

    UNROLL for (int n = 0; n < KEYS / 8; n++)
        UNROLL for (int i = 0; i < 4; i++) score[n][i] =
            LOG2_E *
            add_mask(cap_score(a, score[n][i]),
                     from_f16(m[i / 2 * 8 * MASK_WIDTH + n * 8 + i % 2]),
                     qs->slope);
}

/* Over the four lanes that share rows. */
DEVICE float
row_max(float v)
{
    v = fmaxf(v, lane_xor(v, 1));
    return fmaxf(v, lane_xor(v, 2));
}

/* Scores become weights; sums and totals shrink where the maximum grows. */
template <int D>
DEVICE void
weigh(struct rows<D> *s, float (*score)[4])
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        float most = s->max[half], keep, base, total = 0;

        UNROLL for (int n = 0; n < KEYS / 8; n++) most =
            fmaxf(most, fmaxf(score[n][2 * half], score[n][2 * half + 1]));
        most = row_max(most);
        base = most == -INFINITY ? 0 : most; /* nothing is seen yet */
        keep = exp2f(s->max[half] - base);
        UNROLL for (int n = 0; n < KEYS / 8; n++)
            UNROLL for (int i = 2 * half; i < 2 * half + 2; i++)
        {
            score[n][i] = exp2f(score[n][i] - base);
            total += score[n][i];
        }
        s->max[half] = most;
        s->total[half] = s->total[half] * keep + total;
        UNROLL for (int n = 0; n < D / 8; n++)
        {
            s->sum[n][2 * half] *= keep;
            s->sum[n][2 * half + 1] *= keep;
        }
    }
}

/* Adds the weighed values. */
template <int D>
DEVICE void
multiply_values(struct rows<D> *s, const uint16_t *values,
                const float (*weight)[4])
{
    int lane = (int)lane_id();
    const uint16_t *row =
        values + lane % 16 * tile<D>::width + lane / 16 * 8;

    UNROLL for (int i = 0; i < KEYS / 16; i++)
    {
        uint32_t p[4];

        UNROLL for (int j = 0; j < 4; j++) p[j] =
            to_f16_pair(weight[2 * i + j / 2][j % 2 * 2],
                        weight[2 * i + j / 2][j % 2 * 2 + 1]);
        UNROLL for (int n = 0; n < D / 16; n++)
        {
            uint32_t b[4];

            load_transposed(b, row + i * 16 * tile<D>::width + 16 * n);
            multiply_16x8x16(s->sum[2 * n], p, b);
            multiply_16x8x16(s->sum[2 * n + 1], p, b + 2);
        }
    }
}

/* The sink, a score without a value, takes its part of the sum. */
template <int D>
DEVICE void
store_rows(const struct attention *a, const struct queries *qs,
           const struct rows<D> *s)
{
    int g = (int)lane_id() / 4, t = (int)lane_id() % 4;
    float sink = sink_of(a, qs->head) * LOG2_E;

    UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t token = qs->first + g + 8 * half;
        float total = s->total[half], most = fmaxf(s->max[half], sink);
        float factor = 0;
        char *to = a->dst.data + qs->head * a->dst.nb[1] +
                   token * a->dst.nb[2] + qs->batch * a->dst.nb[3];

        total += lane_xor(total, 1);
        total += lane_xor(total, 2);
        if (s->max[half] != -INFINITY) {
            float keep = exp2f(s->max[half] - most);

            factor = keep / (total * keep + exp2f(sink - most));
        }
        if (token >= a->q.ne[1])
            continue;
        UNROLL for (int n = 0; n < D / 8; n++)
            UNROLL for (int i = 0; i < 2; i++)
                store_element(&a->dst, to, n * 8 + 2 * t + i,
                              s->sum[n][2 * half + i] * factor);
    }
}

/* Items: a head and TOKENS of its queries; the last tokens, which see the
 * most keys, come first. */
template <int D>
KERNEL
BOUNDS(WARPS *LANES, 2)
attend_tiles(struct attention a, int64_t blocks, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(char, seen, WARPS *LANES); /* 2 KEYS: even tokens, odd ones */
    uint16_t *keys = (uint16_t *)(void *)bytes;
    uint16_t *values = keys + tile<D>::size, *mask = values + tile<D>::size;

    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct queries qs;
        struct rows<D> s = {};
        int64_t n_heads = a.q.ne[2], at, token;

        at = divide(item, n_heads, &qs.head);
        qs.batch = divide(at, blocks, &at);
        token = (blocks - 1 - at) * TOKENS;
        qs.first = token + warp_id() * 16;
        qs.keys = matrix_of(&a, &a.k, qs.head, qs.batch);
        qs.values = matrix_of(&a, &a.v, qs.head, qs.batch);
        qs.slope = alibi_slope(qs.head, n_heads, a.max_bias);
        s.max[0] = s.max[1] = -INFINITY;
        load_queries<D>(&a, &qs, &s);
        for (int64_t first = 0; first < a.k.ne[1]; first += KEYS) {
            int n = (int)least(a.k.ne[1] - first, KEYS);
            float score[KEYS / 8][4];

            barrier(); /* all are done with the tile before */
            if (!load_mask(&a, &qs, token, first, n, mask, seen))
                continue;
            fetch<D>(qs.keys, a.k.nb[1], first, seen, keys);
            fetch<D>(qs.values, a.v.nb[1], first, seen, values);
            copy_wait<1>();
            barrier();
            multiply_keys<D>(&s, keys, score);
            adjust(&a, &qs, mask, score);
            weigh<D>(&s, score);
            copy_wait<0>();
            barrier();
            multiply_values<D>(&s, values, score);
        }
        store_rows<D>(&a, &qs, &s);
    }
}

template <int D>
static void
launch(struct cuda_ctx *c, const struct attention *a)
{
    int64_t blocks = cuda_pieces(a->q.ne[1], TOKENS);
    int64_t n = blocks * a->q.ne[2] * a->q.ne[3];
    struct cuda_shape shape = shape_of(n, WARPS * LANES);

    shape.shared = (2 * tile<D>::size + TOKENS * MASK_WIDTH) * sizeof(uint16_t);
    ALLOW_SHARED((attend_tiles<D>), shape.shared);
    LAUNCH((attend_tiles<D>), shape, stream_of(c), *a, blocks, n);
}

/* Rows in F16 that copy_async() can take. */
static bool
is_tiled(const struct view *x)
{
    uintptr_t all = (uintptr_t)x->data;

    for (int i = 1; i < 4; i++)
        all |= (uintptr_t)x->nb[i];
    return x->type == GGML_TYPE_F16 && (all & 15) == 0;
}

bool
cuda_attend_tiles(struct cuda_ctx *c, const struct attention *a)
{
    if (a->q.ne[1] < 16 || a->k.ne[0] != a->v.ne[0] || !is_tiled(&a->k) ||
        !is_tiled(&a->v))
        return false;
    switch (a->k.ne[0]) {
    case 64:
        launch<64>(c, a);
        return true;
    case 96:
        launch<96>(c, a);
        return true;
    case 128:
        launch<128>(c, a);
        return true;
    default:
        return false;
    }
}
