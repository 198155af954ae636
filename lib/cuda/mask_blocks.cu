/* mask_blocks.cu - mask-block summary: which blocks of an attention mask are
 * all hidden or all visible, computed once for all heads */
#include "cuda/attention_mma.h"

/* Whether `any` key of a block is visible, and whether `some` mask is not zero,
 * for the thread's part of the block. All loads are issued before the first
 * use; rows and keys beyond the end repeat the last. */
template <int KEYS>
DEVICE void
summarize_block(const struct sequence *s, const char *rows, int64_t block,
                int64_t tile, bool *any, bool *some)
{
    const int step = MMA_WARPS * LANES / KEYS;
    int64_t first = block * BLOCK_TOKENS + cuda_thread_id() / KEYS;
    int64_t key = tile * KEYS + cuda_thread_id() % KEYS;
    uint16_t m[BLOCK_TOKENS / step];

    UNROLL for (int i = 0; i < BLOCK_TOKENS / step; i++) m[i] =
        cuda_load_f16_bits(rows +
                               cuda_min_i64(first + i * step, s->tokens - 1) *
                                   s->mask_stride,
                           cuda_min_i64(key, s->keys - 1));
    *any = false;
    *some = key >= s->keys;
    UNROLL for (int i = 0; i < BLOCK_TOKENS / step; i++)
    {
        *any |= m[i] != 0xfc00; /* -infinity */
        *some |= m[i] != 0;
    }
}

/* Items: mask blocks. */
template <int KEYS>
KERNEL
BOUNDS(MMA_WARPS *LANES, 1)
    summarize_mask(struct attention a, struct sequences<SEQUENCES> sequences,
                   uint8_t *to, int64_t n_items)
{
    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        const struct sequence *s =
            cuda_sequence_at<&sequence::first_slot>(&sequences, item);
        int64_t tile, block, i2, at = item - s->first_slot, i3;
        bool any = true, some;

        at = cuda_divide(at, cuda_kv_tiles(s, KEYS), &tile);
        some = (tile + 1) * KEYS > s->keys;
        at = cuda_divide(at, cuda_token_blocks(s), &block);
        i3 = cuda_divide(at, a.mask.ne[2], &i2);
        if (s->mask)
            summarize_block<KEYS>(s, s->mask + cuda_mask_offset(&a, i2, i3),
                                  block, tile, &any, &some);
        any = cuda_barrier_any(any);
        some = cuda_barrier_any(some);
        if (cuda_thread_id() == 0)
            to[item] = !any ? MASK_HIDDEN : some ? MASK_MIXED : MASK_VISIBLE;
    }
}

void
cuda_summarize_mask(struct cuda_ctx *c, const struct attention *a,
                    const struct sequences<SEQUENCES> *s, int keys,
                    uint8_t *mask_blocks, int64_t n)
{
    struct cuda_launch_config config =
        cuda_default_launch(n, MMA_WARPS * LANES);

    if (keys == 64)
        LAUNCH(summarize_mask<64>, config, c, *a, *s, mask_blocks, n);
    else
        LAUNCH(summarize_mask<32>, config, c, *a, *s, mask_blocks, n);
}
