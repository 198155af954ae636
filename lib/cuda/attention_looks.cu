/* attention_looks.cu - what blocks of tokens see of tiles of keys, asked of the
 * mask once for all heads */
#include "cuda/attention_tiles.h"

/* What is seen of a tile by a block of tokens, or rather by those of them that
 * the thread asks. It asks for all at once; rows and keys beyond the end repeat
 * the last. */
template <int KEYS>
DEVICE void
look_at_tile(const struct sequence *s, const char *rows, int64_t block,
             int64_t tile, bool *any, bool *some)
{
    const int step = WARPS * LANES / KEYS;
    int64_t first = block * TOKENS + thread_id() / KEYS;
    int64_t key = tile * KEYS + thread_id() % KEYS;
    uint16_t m[TOKENS / step];

    UNROLL for (int i = 0; i < TOKENS / step; i++) m[i] = load_half(
        rows + least(first + i * step, s->tokens - 1) * s->mask_stride,
        least(key, s->keys - 1));
    *any = false;
    *some = key >= s->keys;
    UNROLL for (int i = 0; i < TOKENS / step; i++)
    {
        *any |= m[i] != 0xfc00; /* -infinity */
        *some |= m[i] != 0;
    }
}

/* Items are all looks. */
template <int KEYS>
KERNEL
BOUNDS(WARPS *LANES, 1)
    look(struct attention a, struct sequences<SEQUENCES> sequences, uint8_t *to,
         int64_t n_items)
{
    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        const struct sequence *s =
            find_sequence<&sequence::first_found>(&sequences, item);
        int64_t tile, block, i2, at = item - s->first_found, i3;
        bool any = true, some;

        at = divide(at, tiles_of(s, KEYS), &tile);
        some = (tile + 1) * KEYS > s->keys;
        at = divide(at, blocks_of(s), &block);
        i3 = divide(at, a.mask.ne[2], &i2);
        if (s->mask)
            look_at_tile<KEYS>(s, s->mask + mask_at(&a, i2, i3), block, tile,
                               &any, &some);
        any = barrier_any(any);
        some = barrier_any(some);
        if (thread_id() == 0)
            to[item] = !any ? HIDDEN : some ? MASKED : SEEN;
    }
}

void
cuda_look(struct cuda_ctx *c, const struct attention *a,
          const struct sequences<SEQUENCES> *s, int keys, uint8_t *looks,
          int64_t n)
{
    struct cuda_shape shape = shape_of(n, WARPS * LANES);

    if (keys == 64)
        LAUNCH(look<64>, shape, c, *a, *s, looks, n);
    else
        LAUNCH(look<32>, shape, c, *a, *s, looks, n);
}
