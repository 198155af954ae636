/* attention_tiles.cu - FLASH_ATTN_EXT for many queries, with tensor cores
 *
 * A block has 64 tokens of one head, a warp 16 of them; keys and values, F16,
 * come in tiles of 64 through shared memory (of 32 where heads are wide, and
 * then queries lie there as well, not in registers). Products are of F16s,
 * sums of floats. Fragments of matrices are as device.h tells: a lane has, of
 * its warp's 16 rows, row lane / 4 and the one 8 further on. The mask is looked
 * at once for all heads: tiles that are hidden from all tokens of a block are
 * passed over, and those that all see want no mask. The next tile is on its way
 * while one is worked on. A launch takes several sequences, one behind the
 * other. attention_halves.cu turns caches of BF16 and Q8_0 into F16 first. */
#include "cuda/attention_tiles.h"

#define LOG2_E 1.4426950408889634f

/* Places in shared memory, in F16s: what a row has beyond D keeps rows apart,
 * so that eight of them lie in different banks. */
template <int D> struct tile {
    enum {
        wide = D > 128,
        keys = wide ? 32 : 64,
        width = D + 8,
        size = keys * width,
        mask_width = keys + 8,
        mask_size = TOKENS * mask_width,
        queries = wide ? TOKENS * width : 0,
        all = queries + 2 * size + mask_size
    };
};

/* A warp's part of the work. */
struct queries {
    const struct sequence *of;
    int64_t head, batch, first; /* token of the warp's first row */
    int64_t token;              /* of the block's first row */
    const char *keys, *values;
    const uint8_t *looks; /* of the block's tokens at each tile */
    float slope;
};

/* What a lane knows of its two rows. */
template <int D> struct rows {
    uint32_t q[tile<D>::wide ? 1 : D / 16][4];
    uint16_t *wide; /* the warp's queries, where they are not in q */
    float sum[D / 8][4];
    float max[2], total[2];
};

/* The queries, scaled, as fragments; rows beyond the end repeat the last. */
template <int D>
DEVICE void
load_queries(const struct attention *a, const struct queries *qs,
             struct rows<D> *s)
{
    int g = (int)lane_id() / 4, t = (int)lane_id() % 4;

    UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t token = least(qs->first + g + 8 * half, qs->of->tokens - 1);
        const char *from = qs->of->q + token * a->q.nb[1] +
                           qs->head * a->q.nb[2] + qs->batch * a->q.nb[3];

        UNROLL for (int i = 0; i < D / 16; i++)
            UNROLL for (int j = 0; j < 2; j++)
        {
            int at = 16 * i + 8 * j + 2 * t;

            uint32_t pair =
                to_f16_pair(load_element(&a->q, from, at) * a->scale,
                            load_element(&a->q, from, at + 1) * a->scale);

            if (tile<D>::wide)
                *(uint32_t *)(void *)(s->wide +
                                      (g + 8 * half) * tile<D>::width + at) =
                    pair;
            else
                s->q[tile<D>::wide ? 0 : i][2 * j + half] = pair;
        }
    }
    if (tile<D>::wide)
        warp_barrier();
}

/* The warp's queries, 16 values of each from 16 i on. */
template <int D>
DEVICE void
query_fragment(const struct rows<D> *s, int i, uint32_t *q)
{
    int lane = (int)lane_id();

    if (tile<D>::wide)
        load_matrices(q, s->wide + lane % 16 * tile<D>::width + 16 * i +
                             lane / 16 * 8);
    else
        UNROLL for (int j = 0; j < 4; j++) q[j] =
            s->q[tile<D>::wide ? 0 : i][j];
}

/* Starts to copy the rows from `first` on that are seen (NULL: all are); the
 * others become 0: what was never written may be no number. */
template <int D>
DEVICE void
fetch(const char *matrix, int64_t stride, int64_t first, const char *seen,
      uint16_t *to)
{
    const uint4 zero = { 0, 0, 0, 0 };
    const int keys = tile<D>::keys;

    for (int i = (int)thread_id(); i < keys * (D / 8); i += WARPS * LANES) {
        int row = i / (D / 8), at = i % (D / 8) * 8;
        uint16_t *place = to + row * tile<D>::width + at;
        char any = !seen;

        if (seen)
            UNROLL for (int j = row; j < WARPS * LANES; j += keys) any |=
                seen[j];
        if (any)
            copy_async(place, matrix + (first + row) * stride + at * 2);
        else
            store_vector(place, zero);
    }
    copy_commit();
}

/* The mask of the block's tokens, and which keys are seen. A thread looks at
 * every second token (or fourth) of one key. */
template <int D>
DEVICE void
load_mask(const struct attention *a, const struct queries *qs, int64_t first,
          uint16_t *to, char *seen)
{
    const int keys = tile<D>::keys;
    const char *rows = qs->of->mask + mask_at(a, qs->head, qs->batch);
    int key = (int)thread_id() % keys;
    bool any = false;

    for (int i = (int)thread_id() / keys; i < TOKENS;
         i += WARPS * LANES / keys) {
        const char *row = rows + least(qs->token + i, qs->of->tokens - 1) *
                                     qs->of->mask_stride;
        uint16_t m = 0xfc00; /* -infinity */

        if (first + key < qs->of->keys)
            m = a->has_mask ? load_half(row, first + key) : 0;
        any |= m != 0xfc00;
        to[i * tile<D>::mask_width + key] = m;
    }
    seen[thread_id()] = any;
    barrier();
}

/* The first tile from `first` on that any token sees; else beyond all keys. */
template <int D>
DEVICE int64_t
next_tile(const struct queries *qs, int64_t first)
{
    while (first < qs->of->keys && qs->looks[first / tile<D>::keys] == HIDDEN)
        first += tile<D>::keys;
    return first;
}

/* Scores of the warp's rows and the tile's keys. */
template <int D>
DEVICE void
multiply_keys(const struct rows<D> *s, const uint16_t *keys, float (*score)[4])
{
    int lane = (int)lane_id();
    /* where the lane says that a row is: matrices are 8 places apart */
    const uint16_t *row = keys + lane % 8 * tile<D>::width + lane / 8 * 8;

    UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
        UNROLL for (int i = 0; i < 4; i++) score[n][i] = 0;
    UNROLL for (int i = 0; i < D / 32; i++)
    {
        uint32_t q[2][4];

        query_fragment<D>(s, 2 * i, q[0]);
        query_fragment<D>(s, 2 * i + 1, q[1]);
        UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
        {
            uint32_t b[4];

            load_matrices(b, row + n * 8 * tile<D>::width + 32 * i);
            multiply_16x8x16(score[n], q[0], b);
            multiply_16x8x16(score[n], q[1], b + 2);
        }
    }
}

/* Cap, mask (or none) and ALiBi; then in units of log2(e). */
template <int D>
DEVICE void
adjust(const struct attention *a, const struct queries *qs,
       const uint16_t *mask, float (*score)[4])
{
    int g = (int)lane_id() / 4, t = (int)lane_id() % 4;
    const int width = tile<D>::mask_width;
    const uint16_t *m = mask + ((int)warp_id() * 16 + g) * width + 2 * t;

    if (a->softcap != 0)
        UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
            UNROLL for (int i = 0; i < 4; i++) score[n][i] =
                cap_score(a, score[n][i]);
    if (!mask) {
        UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
            UNROLL for (int i = 0; i < 4; i++) score[n][i] *= LOG2_E;
        return;
    }
    UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
        UNROLL for (int i = 0; i < 4; i++) score[n][i] =
            LOG2_E * add_mask(score[n][i],
                              from_f16(m[i / 2 * 8 * width + n * 8 + i % 2]),
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

        UNROLL for (int n = 0; n < tile<D>::keys / 8; n++) most =
            fmaxf(most, fmaxf(score[n][2 * half], score[n][2 * half + 1]));
        most = row_max(most);
        base = most == -INFINITY ? 0 : most; /* nothing is seen yet */
        keep = exp2f(s->max[half] - base);
        UNROLL for (int n = 0; n < tile<D>::keys / 8; n++)
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
    const uint16_t *row = values + lane % 16 * tile<D>::width + lane / 16 * 8;

    UNROLL for (int i = 0; i < tile<D>::keys / 16; i++)
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
        char *to = qs->of->dst + qs->head * a->dst.nb[1] +
                   token * a->dst.nb[2] + qs->batch * a->dst.nb[3];
        struct row at = { qs->head, token, qs->batch };
        int64_t row = qs->of->first_row + row_number(&a->dst, at);
        uint32_t *also =
            a->also.data ? (uint32_t *)a->also.data + row * (D / 2) : NULL;

        total += lane_xor(total, 1);
        total += lane_xor(total, 2);
        if (s->max[half] != -INFINITY) {
            float keep = exp2f(s->max[half] - most);

            factor = keep / (total * keep + exp2f(sink - most));
        }
        if (token >= qs->of->tokens)
            continue;
        UNROLL for (int n = 0; n < D / 8; n++)
        {
            float v = s->sum[n][2 * half] * factor;
            float w = s->sum[n][2 * half + 1] * factor;

            store_element(&a->dst, to, n * 8 + 2 * t, v);
            store_element(&a->dst, to, n * 8 + 2 * t + 1, w);
            if (also)
                also[n * 4 + t] = to_bf16_pair(v, w);
        }
    }
}

/* The part of the mask's rows that a block meets. */
DEVICE const uint8_t *
looks_of(const struct attention *a, const struct sequence *s,
         const uint8_t *looks, int keys, int64_t head, int64_t batch,
         int64_t block)
{
    int64_t i2 = modulo(head, a->mask.ne[2]), i3 = modulo(batch, a->mask.ne[3]);
    int64_t at = (i3 * a->mask.ne[2] + i2) * blocks_of(s) + block;

    return looks + s->first_found + at * tiles_of(s, keys);
}

/* Makes a tile's mask ready if it has one, and starts to copy its keys. */
template <int D>
DEVICE bool
begin_tile(const struct attention *a, const struct queries *qs, int64_t first,
           uint16_t *mask, char *seen, uint16_t *keys)
{
    bool masked =
        first < qs->of->keys && qs->looks[first / tile<D>::keys] == MASKED;

    if (masked)
        load_mask<D>(a, qs, first, mask, seen);
    if (first < qs->of->keys)
        fetch<D>(qs->keys, a->k.nb[1], first, masked ? seen : NULL, keys);
    else
        copy_commit();
    return masked;
}

/* All keys that the block's tokens see. Keys, and then the mask, give way to
 * the next tile's when there are scores, values when they are weighed. */
template <int D>
DEVICE void
attend_all(const struct attention *a, const struct queries *qs,
           struct rows<D> *s, uint16_t *keys, uint16_t *values, uint16_t *mask,
           char *seen)
{
    int64_t first = next_tile<D>(qs, 0);
    bool masked = begin_tile<D>(a, qs, first, mask, seen, keys);

    if (first < qs->of->keys)
        fetch<D>(qs->values, a->v.nb[1], first, masked ? seen : NULL, values);
    while (first < qs->of->keys) {
        int64_t next = next_tile<D>(qs, first + tile<D>::keys);
        float score[tile<D>::keys / 8][4];

        copy_wait<1>();
        barrier();
        multiply_keys<D>(s, keys, score);
        adjust<D>(a, qs, masked ? mask : NULL, score);
        barrier();
        masked = begin_tile<D>(a, qs, next, mask, seen, keys);
        weigh<D>(s, score);
        copy_wait<1>();
        barrier();
        multiply_values<D>(s, values, score);
        barrier();
        if (next < qs->of->keys)
            fetch<D>(qs->values, a->v.nb[1], next, masked ? seen : NULL,
                     values);
        first = next;
    }
    copy_wait<0>();
}

/* Items: a head and TOKENS of its queries, of a sequence or batch; the last
 * tokens, which see the most keys, come first. */
template <int D>
DEVICE struct queries
queries_of(const struct attention *a, const struct sequences<SEQUENCES> *s,
           const uint8_t *looks, int64_t item)
{
    struct queries qs;
    int64_t at, block;

    qs.of = find_sequence<&sequence::first_item>(s, item);
    at = divide(item - qs.of->first_item, a->q.ne[2], &qs.head);
    qs.batch = divide(at, blocks_of(qs.of), &at);
    block = blocks_of(qs.of) - 1 - at;
    qs.token = block * TOKENS;
    qs.first = qs.token + warp_id() * 16;
    qs.keys = qs.of->k + matrix_at(a, &a->k, qs.head, qs.batch);
    qs.values = qs.of->v + matrix_at(a, &a->v, qs.head, qs.batch);
    qs.looks =
        looks_of(a, qs.of, looks, tile<D>::keys, qs.head, qs.batch, block);
    qs.slope = alibi_slope(qs.head, a->q.ne[2], a->max_bias);
    return qs;
}

template <int D>
KERNEL
BOUNDS(WARPS *LANES, tile<D>::wide ? 1
                     : D == 64     ? 3
                                   : 2)
    attend_tiles(struct attention a, struct sequences<SEQUENCES> sequences,
                 const uint8_t *looks, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(char, seen, WARPS *LANES); /* keys, by some of the tokens each */
    uint16_t *queries = (uint16_t *)(void *)bytes;
    uint16_t *keys = queries + tile<D>::queries;
    uint16_t *values = keys + tile<D>::size, *mask = values + tile<D>::size;

    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        struct queries qs = queries_of<D>(&a, &sequences, looks, item);
        rows<D> s = {};

        s.max[0] = s.max[1] = -INFINITY;
        s.wide = queries + warp_id() * 16 * tile<D>::width;
        load_queries<D>(&a, &qs, &s);
        attend_all<D>(&a, &qs, &s, keys, values, mask, seen);
        store_rows<D>(&a, &qs, &s);
        barrier(); /* all are done with what is shared */
    }
}

/* Numbers items and looks. Returns how many items there are. */
static int64_t
number(const struct attention *a, int keys, struct sequences<SEQUENCES> *s,
       int64_t *n_looks)
{
    int64_t n = 0;

    *n_looks = 0;
    for (int i = 0; i < s->n; i++) {
        struct sequence *one = &s->all[i];

        one->first_item = n;
        one->first_found = *n_looks;
        n += blocks_of(one) * a->q.ne[2] * a->q.ne[3];
        *n_looks += blocks_of(one) * tiles_of(one, keys) * a->mask.ne[2] *
                    a->mask.ne[3];
    }
    return n;
}

template <int D>
static size_t
bytes_of(void)
{
    return tile<D>::all * sizeof(uint16_t);
}

template <int D>
static void
launch(struct cuda_ctx *c, const struct attention *a,
       struct sequences<SEQUENCES> *s)
{
    int64_t n_looks, n = number(a, tile<D>::keys, s, &n_looks);
    struct cuda_shape shape = shape_of(n, WARPS * LANES);
    uint8_t *looks = (uint8_t *)cuda_scratch(c, (size_t)n_looks);

    if (!looks)
        return; /* c->failed says so */
    cuda_look(c, a, s, tile<D>::keys, looks, n_looks);
    shape.shared = bytes_of<D>();
    ALLOW_SHARED((attend_tiles<D>), shape.shared);
    PREFER_SHARED((attend_tiles<D>));
    LAUNCH((attend_tiles<D>), shape, c, *a, *s, looks, n);
}

/* Bytes of shared memory that tiles of a width need; 0: there are none. */
static size_t
shared_bytes(int64_t width)
{
    switch (width) {
    case 64:
        return bytes_of<64>();
    case 96:
        return bytes_of<96>();
    case 128:
        return bytes_of<128>();
    case 256:
        return bytes_of<256>();
    default:
        return 0;
    }
}

bool
cuda_can_attend_tiles(const struct cuda_ctx *c, const struct attention *a)
{
    size_t shared = shared_bytes(a->k.ne[0]);

    return a->q.ne[1] >= CUDA_TILE_TOKENS && a->k.ne[0] == a->v.ne[0] &&
           shared > 0 && shared <= c->max_shared &&
           (!a->has_mask || a->mask.ne[1] >= a->q.ne[1]) &&
           cuda_can_be_halves(&a->k) && cuda_can_be_halves(&a->v);
}

void
cuda_attend_tiles(struct cuda_ctx *c, const struct attention *given,
                  struct sequences<SEQUENCES> *s)
{
    struct attention a = *given;

    if (!a.has_mask)
        a.mask.ne[2] = a.mask.ne[3] = 1;
    switch (a.k.ne[0]) {
    case 64:
        launch<64>(c, &a, s);
        break;
    case 96:
        launch<96>(c, &a, s);
        break;
    case 128:
        launch<128>(c, &a, s);
        break;
    default:
        launch<256>(c, &a, s);
    }
}
