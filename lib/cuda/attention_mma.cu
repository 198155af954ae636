/* attention_mma.cu - FLASH_ATTN_EXT for prefill, by tensor cores
 *
 * A block has 64 tokens of one head, a warp 16 of them; keys and values, F16,
 * come in tiles of 64 through shared memory (of 32 where heads are wide, and
 * then queries are there as well, not in registers). Products are F16,
 * accumulators F32. Fragments are distributed as device.h describes: a lane
 * has, of its warp's 16 rows, rows lane / 4 and lane / 4 + 8. The mask is
 * summarised once for all heads (mask_blocks.cu): tiles that are hidden from
 * all tokens of a block are skipped, and fully visible ones need no mask. The
 * next tile is loaded while one is computed. A launch takes several sequences.
 * attention_f16.cu converts caches of BF16 and of blocks to F16 first. */
#include "cuda/attention_mma.h"

#define LOG2_E 1.4426950408889634f

/* Layout of shared memory, in F16s: rows are padded beyond D, so that eight of
 * them have no bank conflicts. */
template <int D> struct kv_tile {
    enum {
        wide = D > 128,
        keys = wide ? 32 : 64,
        width = D + 8,
        size = keys * width,
        mask_width = keys + 8,
        mask_size = BLOCK_TOKENS * mask_width,
        queries = wide ? BLOCK_TOKENS * width : 0,
        all = queries + 2 * size + mask_size
    };
};

/* The queries of a block and of a warp. */
struct query_block {
    const struct sequence *of;
    int64_t head, batch, first; /* token of the warp's first row */
    int64_t token;              /* of the block's first row */
    const char *keys, *values;
    const uint8_t *mask_blocks; /* of the block's tokens, for each tile */
    float slope;
};

/* A lane's queries, accumulators and online softmax of its two rows. */
template <int D> struct warp_rows {
    uint32_t q[kv_tile<D>::wide ? 1 : D / 16][4];
    uint16_t *wide; /* the warp's queries, where they are not in q */
    float sum[D / 8][4];
    float max[2], total[2];
};

/* The queries, scaled, as fragments; rows beyond the end repeat the last. */
template <int D>
DEVICE void
load_queries(const struct attention *a, const struct query_block *qs,
             struct warp_rows<D> *s)
{
    int g = (int)cuda_lane_id() / 4, t = (int)cuda_lane_id() % 4;

    UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t token =
            cuda_min_i64(qs->first + g + 8 * half, qs->of->tokens - 1);
        const char *from = qs->of->q + token * a->q.nb[1] +
                           qs->head * a->q.nb[2] + qs->batch * a->q.nb[3];

        UNROLL for (int i = 0; i < D / 16; i++)
            UNROLL for (int j = 0; j < 2; j++)
        {
            int at = 16 * i + 8 * j + 2 * t;

            uint32_t pair = cuda_to_f16_pair(
                cuda_load_element(&a->q, from, at) * a->scale,
                cuda_load_element(&a->q, from, at + 1) * a->scale);

            if (kv_tile<D>::wide)
                *(uint32_t *)(void *)(s->wide +
                                      (g + 8 * half) * kv_tile<D>::width + at) =
                    pair;
            else
                s->q[kv_tile<D>::wide ? 0 : i][2 * j + half] = pair;
        }
    }
    if (kv_tile<D>::wide)
        cuda_warp_barrier();
}

/* The fragment of the warp's queries with 16 values of each from 16 i on. */
template <int D>
DEVICE void
query_fragment(const struct warp_rows<D> *s, int i, uint32_t *q)
{
    int lane = (int)cuda_lane_id();

    if (kv_tile<D>::wide)
        cuda_ldmatrix_x4(q, s->wide + lane % 16 * kv_tile<D>::width + 16 * i +
                                lane / 16 * 8);
    else
        UNROLL for (int j = 0; j < 4; j++) q[j] =
            s->q[kv_tile<D>::wide ? 0 : i][j];
}

/* Starts the asynchronous copies of the rows from `first` on that are visible
 * (NULL: all are); the others become 0: memory that was never written
 * may be non-finite. */
template <int D>
DEVICE void
copy_tile_async(const char *matrix, int64_t stride, int64_t first,
                const char *visible, uint16_t *to)
{
    const uint4 zero = { 0, 0, 0, 0 };
    const int keys = kv_tile<D>::keys;

    for (int i = (int)cuda_thread_id(); i < keys * (D / 8);
         i += MMA_WARPS * LANES) {
        int row = i / (D / 8), at = i % (D / 8) * 8;
        uint16_t *place = to + row * kv_tile<D>::width + at;
        char any = !visible;

        if (visible)
            UNROLL for (int j = row; j < MMA_WARPS * LANES; j += keys) any |=
                visible[j];
        if (any)
            cuda_copy_async(place, matrix + (first + row) * stride + at * 2);
        else
            cuda_store_vector(place, zero);
    }
    cuda_copy_commit();
}

/* Loads the mask of the block's tokens, and sets which keys are visible. A
 * thread reads every second token (or fourth) of one key. */
template <int D>
DEVICE void
load_mask(const struct attention *a, const struct query_block *qs,
          int64_t first, uint16_t *to, char *visible)
{
    const int keys = kv_tile<D>::keys;
    const char *rows = qs->of->mask + cuda_mask_offset(a, qs->head, qs->batch);
    int key = (int)cuda_thread_id() % keys;
    bool any = false;

    for (int i = (int)cuda_thread_id() / keys; i < BLOCK_TOKENS;
         i += MMA_WARPS * LANES / keys) {
        const char *row =
            rows + cuda_min_i64(qs->token + i, qs->of->tokens - 1) *
                       qs->of->mask_stride;
        uint16_t m = 0xfc00; /* -infinity */

        if (first + key < qs->of->keys)
            m = a->has_mask ? cuda_load_f16_bits(row, first + key) : 0;
        any |= m != 0xfc00;
        to[i * kv_tile<D>::mask_width + key] = m;
    }
    visible[cuda_thread_id()] = any;
    cuda_barrier();
}

/* The first tile from `first` on that is visible to any token; else beyond all
 * keys. */
template <int D>
DEVICE int64_t
next_visible_tile(const struct query_block *qs, int64_t first)
{
    while (first < qs->of->keys &&
           qs->mask_blocks[first / kv_tile<D>::keys] == MASK_HIDDEN)
        first += kv_tile<D>::keys;
    return first;
}

/* Scores of the warp's rows with the tile's keys: Q K^T. */
template <int D>
DEVICE void
score_tile(const struct warp_rows<D> *s, const uint16_t *keys,
           float (*score)[4])
{
    int lane = (int)cuda_lane_id();
    /* the row that the lane passes to ldmatrix; matrices are 8 values apart */
    const uint16_t *row = keys + lane % 8 * kv_tile<D>::width + lane / 8 * 8;

    UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
        UNROLL for (int i = 0; i < 4; i++) score[n][i] = 0;
    UNROLL for (int i = 0; i < D / 32; i++)
    {
        uint32_t q[2][4];

        query_fragment<D>(s, 2 * i, q[0]);
        query_fragment<D>(s, 2 * i + 1, q[1]);
        UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
        {
            uint32_t b[4];

            cuda_ldmatrix_x4(b, row + n * 8 * kv_tile<D>::width + 32 * i);
            cuda_mma_16x8x16_f16(score[n], q[0], b);
            cuda_mma_16x8x16_f16(score[n], q[1], b + 2);
        }
    }
}

/* Soft cap, mask (or none) and ALiBi; then scaled by log2(e) for exp2f(). */
template <int D>
DEVICE void
apply_mask(const struct attention *a, const struct query_block *qs,
           const uint16_t *mask, float (*score)[4])
{
    int g = (int)cuda_lane_id() / 4, t = (int)cuda_lane_id() % 4;
    const int width = kv_tile<D>::mask_width;
    const uint16_t *m = mask + ((int)cuda_warp_id() * 16 + g) * width + 2 * t;

    if (a->softcap != 0)
        UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
            UNROLL for (int i = 0; i < 4; i++) score[n][i] =
                cuda_cap_score(a, score[n][i]);
    if (!mask) {
        UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
            UNROLL for (int i = 0; i < 4; i++) score[n][i] *= LOG2_E;
        return;
    }
    UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
        UNROLL for (int i = 0; i < 4; i++) score[n][i] =
            LOG2_E *
            cuda_add_mask(score[n][i],
                          cuda_from_f16(m[i / 2 * 8 * width + n * 8 + i % 2]),
                          qs->slope);
}

/* The maximum over the four lanes that share rows. */
DEVICE float
row_max(float v)
{
    v = fmaxf(v, cuda_lane_xor(v, 1));
    return fmaxf(v, cuda_lane_xor(v, 2));
}

/* Turns scores into weights; rescales sums and totals where the maximum
 * grows. */
template <int D>
DEVICE void
online_softmax(struct warp_rows<D> *s, bool masked, float (*score)[4])
{
    float least = masked ? -INFINITY : LEAST_SCORE; /* all keys are visible */

    UNROLL for (int half = 0; half < 2; half++)
    {
        float most = fmaxf(s->max[half], least), keep, base, total = 0;

        UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++) most =
            fmaxf(most, fmaxf(score[n][2 * half], score[n][2 * half + 1]));
        most = row_max(most);
        base = most == -INFINITY ? 0 : most; /* no score so far, or NaN */
        keep = exp2f(s->max[half] - base);
        UNROLL for (int n = 0; n < kv_tile<D>::keys / 8; n++)
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

/* Accumulates the weighted values: P V. */
template <int D>
DEVICE void
add_values(struct warp_rows<D> *s, const uint16_t *values,
           const float (*weight)[4])
{
    int lane = (int)cuda_lane_id();
    const uint16_t *row =
        values + lane % 16 * kv_tile<D>::width + lane / 16 * 8;

    UNROLL for (int i = 0; i < kv_tile<D>::keys / 16; i++)
    {
        uint32_t p[4];

        UNROLL for (int j = 0; j < 4; j++) p[j] =
            cuda_to_f16_pair(weight[2 * i + j / 2][j % 2 * 2],
                             weight[2 * i + j / 2][j % 2 * 2 + 1]);
        UNROLL for (int n = 0; n < D / 16; n++)
        {
            uint32_t b[4];

            cuda_ldmatrix_x4_trans(b,
                                   row + i * 16 * kv_tile<D>::width + 16 * n);
            cuda_mma_16x8x16_f16(s->sum[2 * n], p, b);
            cuda_mma_16x8x16_f16(s->sum[2 * n + 1], p, b + 2);
        }
    }
}

/* The sink, a score without a value, adds to the sum of weights. */
template <int D>
DEVICE void
store_rows(const struct attention *a, const struct query_block *qs,
           const struct warp_rows<D> *s)
{
    int g = (int)cuda_lane_id() / 4, t = (int)cuda_lane_id() % 4;
    float sink = cuda_sink_of(a, qs->head) * LOG2_E;

    UNROLL for (int half = 0; half < 2; half++)
    {
        int64_t token = qs->first + g + 8 * half;
        float total = s->total[half], most = fmaxf(s->max[half], sink);
        float factor = 0;
        char *to = qs->of->dst + qs->head * a->dst.nb[1] +
                   token * a->dst.nb[2] + qs->batch * a->dst.nb[3];
        struct row at = { qs->head, token, qs->batch };
        int64_t row = qs->of->first_row + cuda_row_number(&a->dst, at);
        uint32_t *fused =
            a->fused.data ? (uint32_t *)a->fused.data + row * (D / 2) : NULL;

        total += cuda_lane_xor(total, 1);
        total += cuda_lane_xor(total, 2);
        if (s->max[half] != -INFINITY || total != 0) { /* a key is visible */
            float keep = exp2f(s->max[half] - most);

            factor = most > LEAST_SCORE
                         ? keep / (total * keep + exp2f(sink - most))
                         : NAN;
        }
        if (token >= qs->of->tokens)
            continue;
        UNROLL for (int n = 0; n < D / 8; n++)
        {
            float v = s->sum[n][2 * half] * factor;
            float w = s->sum[n][2 * half + 1] * factor;

            cuda_store_element(&a->dst, to, n * 8 + 2 * t, v);
            cuda_store_element(&a->dst, to, n * 8 + 2 * t + 1, w);
            if (fused)
                fused[n * 4 + t] = cuda_to_bf16_pair(v, w);
        }
    }
}

/* The mask-block summary of a block's tokens. */
DEVICE const uint8_t *
mask_blocks_of(const struct attention *a, const struct sequence *s,
               const uint8_t *mask_blocks, int keys, int64_t head,
               int64_t batch, int64_t block)
{
    int64_t i2 = cuda_modulo(head, a->mask.ne[2]),
            i3 = cuda_modulo(batch, a->mask.ne[3]);
    int64_t at = (i3 * a->mask.ne[2] + i2) * cuda_token_blocks(s) + block;

    return mask_blocks + s->first_slot + at * cuda_kv_tiles(s, keys);
}

/* Loads a tile's mask if it is mixed, and starts to copy its keys. */
template <int D>
DEVICE bool
begin_tile(const struct attention *a, const struct query_block *qs,
           int64_t first, uint16_t *mask, char *visible, uint16_t *keys)
{
    bool masked = first < qs->of->keys &&
                  qs->mask_blocks[first / kv_tile<D>::keys] == MASK_MIXED;

    if (masked)
        load_mask<D>(a, qs, first, mask, visible);
    if (first < qs->of->keys)
        copy_tile_async<D>(qs->keys, a->k.nb[1], first, masked ? visible : NULL,
                           keys);
    else
        cuda_copy_commit();
    return masked;
}

/* Attends to all visible keys. The next tile's keys, and then its mask, replace
 * the current ones once scores are computed, values once they are
 * accumulated. */
template <int D>
DEVICE void
attend_keys(const struct attention *a, const struct query_block *qs,
            struct warp_rows<D> *s, uint16_t *keys, uint16_t *values,
            uint16_t *mask, char *visible)
{
    int64_t first = next_visible_tile<D>(qs, 0);
    bool masked = begin_tile<D>(a, qs, first, mask, visible, keys), was_masked;

    if (first < qs->of->keys)
        copy_tile_async<D>(qs->values, a->v.nb[1], first,
                           masked ? visible : NULL, values);
    while (first < qs->of->keys) {
        int64_t next = next_visible_tile<D>(qs, first + kv_tile<D>::keys);
        float score[kv_tile<D>::keys / 8][4];

        cuda_copy_wait<1>();
        cuda_barrier();
        score_tile<D>(s, keys, score);
        apply_mask<D>(a, qs, masked ? mask : NULL, score);
        cuda_barrier();
        was_masked = masked;
        masked = begin_tile<D>(a, qs, next, mask, visible, keys);
        online_softmax<D>(s, was_masked, score);
        cuda_copy_wait<1>();
        cuda_barrier();
        add_values<D>(s, values, score);
        cuda_barrier();
        if (next < qs->of->keys)
            copy_tile_async<D>(qs->values, a->v.nb[1], next,
                               masked ? visible : NULL, values);
        first = next;
    }
    cuda_copy_wait<0>();
}

/* Items: BLOCK_TOKENS queries of a head, of a sequence or batch; the last
 * tokens, which have the most visible keys, come first. */
template <int D>
DEVICE struct query_block
query_block_at(const struct attention *a, const struct sequences<SEQUENCES> *s,
               const uint8_t *mask_blocks, int64_t item)
{
    struct query_block qs;
    int64_t at, block;

    qs.of = cuda_sequence_at<&sequence::first_item>(s, item);
    at = cuda_divide(item - qs.of->first_item, a->q.ne[2], &qs.head);
    qs.batch = cuda_divide(at, cuda_token_blocks(qs.of), &at);
    block = cuda_token_blocks(qs.of) - 1 - at;
    qs.token = block * BLOCK_TOKENS;
    qs.first = qs.token + cuda_warp_id() * 16;
    qs.keys = qs.of->k + cuda_kv_offset(a, &a->k, qs.head, qs.batch);
    qs.values = qs.of->v + cuda_kv_offset(a, &a->v, qs.head, qs.batch);
    qs.mask_blocks = mask_blocks_of(a, qs.of, mask_blocks, kv_tile<D>::keys,
                                    qs.head, qs.batch, block);
    qs.slope = cuda_alibi_slope(qs.head, a->q.ne[2], a->max_bias);
    return qs;
}

template <int D>
KERNEL
BOUNDS(MMA_WARPS *LANES, kv_tile<D>::wide ? 1
                         : D == 64        ? 3
                                          : 2)
    attend_mma(struct attention a, struct sequences<SEQUENCES> sequences,
               const uint8_t *mask_blocks, int64_t n_items)
{
    SHARED_BYTES(bytes);
    SHARED(char, visible,
           MMA_WARPS *LANES); /* keys, by some of the tokens each */
    uint16_t *queries = (uint16_t *)(void *)bytes;
    uint16_t *keys = queries + kv_tile<D>::queries;
    uint16_t *values = keys + kv_tile<D>::size,
             *mask = values + kv_tile<D>::size;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        struct query_block qs =
            query_block_at<D>(&a, &sequences, mask_blocks, item);
        warp_rows<D> s = {};

        s.max[0] = s.max[1] = -INFINITY;
        s.wide = queries + cuda_warp_id() * 16 * kv_tile<D>::width;
        load_queries<D>(&a, &qs, &s);
        attend_keys<D>(&a, &qs, &s, keys, values, mask, visible);
        store_rows<D>(&a, &qs, &s);
        cuda_barrier(); /* all threads are done with shared memory */
    }
}

/* Assigns items and mask blocks. Returns how many items there are. */
static int64_t
number_items(const struct attention *a, int keys,
             struct sequences<SEQUENCES> *s, int64_t *n_mask_blocks)
{
    int64_t n = 0;

    *n_mask_blocks = 0;
    for (int i = 0; i < s->n; i++) {
        struct sequence *one = &s->all[i];

        one->first_item = n;
        one->first_slot = *n_mask_blocks;
        n += cuda_token_blocks(one) * a->q.ne[2] * a->q.ne[3];
        *n_mask_blocks += cuda_token_blocks(one) * cuda_kv_tiles(one, keys) *
                          a->mask.ne[2] * a->mask.ne[3];
    }
    return n;
}

template <int D>
static size_t
bytes_of(void)
{
    return kv_tile<D>::all * sizeof(uint16_t);
}

template <int D>
static void
launch_tiles(struct cuda_ctx *c, const struct attention *a,
             struct sequences<SEQUENCES> *s)
{
    int64_t n_mask_blocks,
        n = number_items(a, kv_tile<D>::keys, s, &n_mask_blocks);
    struct cuda_launch_config config =
        cuda_default_launch(n, MMA_WARPS * LANES);
    uint8_t *mask_blocks = (uint8_t *)cuda_scratch(c, (size_t)n_mask_blocks);

    if (!mask_blocks)
        return; /* c->failed says so */
    cuda_summarize_mask(c, a, s, kv_tile<D>::keys, mask_blocks, n_mask_blocks);
    config.shared = bytes_of<D>();
    ALLOW_SHARED((attend_mma<D>), config.shared);
    PREFER_SHARED((attend_mma<D>));
    LAUNCH((attend_mma<D>), config, c, *a, *s, mask_blocks, n);
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
cuda_attention_mma_supports(const struct cuda_ctx *c, const struct attention *a)
{
    size_t shared = shared_bytes(a->k.ne[0]);

    return a->q.ne[1] >= CUDA_MMA_MIN_TOKENS && a->k.ne[0] == a->v.ne[0] &&
           shared > 0 && shared <= c->max_shared &&
           (!a->has_mask || a->mask.ne[1] >= a->q.ne[1]) &&
           cuda_kv_can_be_f16(&a->k) && cuda_kv_can_be_f16(&a->v);
}

void
cuda_attention_mma(struct cuda_ctx *c, const struct attention *given,
                   struct sequences<SEQUENCES> *s)
{
    struct attention a = *given;

    if (!a.has_mask)
        a.mask.ne[2] = a.mask.ne[3] = 1;
    switch (a.k.ne[0]) {
    case 64:
        launch_tiles<64>(c, &a, s);
        break;
    case 96:
        launch_tiles<96>(c, &a, s);
        break;
    case 128:
        launch_tiles<128>(c, &a, s);
        break;
    default:
        launch_tiles<256>(c, &a, s);
    }
}
