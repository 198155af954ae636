/* batch.c - ids that are evaluated together, and what the graph must know */
#include "model/batch.h"

#include "core/mem.h"

bool
batch_init(struct batch *b, int32_t max_tokens, int32_t max_segments)
{
    size_t n = (size_t)max_tokens, m = (size_t)max_segments;

    *b = (struct batch){
        .max_tokens = max_tokens,
        .max_segments = max_segments,
        .segments = mem_array(m, sizeof(struct graph_segment)),
        .ids = mem_array(n, sizeof(int32_t)),
        .positions = mem_array(n, sizeof(int32_t)),
        .cells = mem_array(n, sizeof(int64_t)),
        .rows = mem_array(m, sizeof(int32_t)),
        .logits = mem_array(m, sizeof(float *)),
    };
    return b->segments && b->ids && b->positions && b->cells && b->rows &&
           b->logits;
}

void
batch_clear(struct batch *b)
{
    mem_free(b->segments);
    mem_free(b->ids);
    mem_free(b->positions);
    mem_free(b->cells);
    mem_free(b->rows);
    mem_free(b->logits);
    mem_free(b->mask);
    *b = (struct batch){ 0 };
}

void
batch_start(struct batch *b)
{
    b->n_tokens = b->n_segments = b->n_outputs = 0;
}

static void
add_tokens(struct batch *b, int64_t first_cell, int32_t past,
           const int32_t *ids, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        b->ids[b->n_tokens] = ids[i];
        b->positions[b->n_tokens] = past + i;
        b->cells[b->n_tokens] = first_cell + past + i;
        b->n_tokens++;
    }
}

int32_t
batch_add(struct batch *b, const struct cache *cache, int32_t slot,
          int32_t past, const int32_t *ids, size_t n, float *logits)
{
    int32_t room = b->max_tokens - b->n_tokens;
    int32_t take = n < (size_t)room ? (int32_t)n : room;

    if (take == 0 || b->n_segments == b->max_segments)
        return 0;
    b->segments[b->n_segments++] = (struct graph_segment){
        .slot = slot,
        .first = b->n_tokens,
        .n = take,
        .n_kv = cache_cover(past + take),
    };
    add_tokens(b, (int64_t)slot * cache->n_rows, past, ids, take);
    if ((size_t)take == n && logits) {
        b->rows[b->n_outputs] = b->n_tokens - 1;
        b->logits[b->n_outputs++] = logits;
    }
    return take;
}

void
batch_finish(struct batch *b)
{
    if (b->n_outputs == 0) {
        b->rows[0] = b->n_tokens - 1;
        b->logits[b->n_outputs++] = NULL;
    }
}

const uint16_t *
batch_mask(struct batch *b, int32_t i)
{
    enum {
        HALF_MINUS_INFINITY = 0xfc00
    };
    const struct graph_segment *s = &b->segments[i];
    size_t n_kv = (size_t)s->n_kv;

    if (!mem_grow(&b->mask, &b->mask_cap, n_kv * (size_t)s->n,
                  sizeof(*b->mask)))
        return NULL;
    for (int32_t r = 0; r < s->n; r++) {
        uint16_t *row = b->mask + (size_t)r * n_kv;
        size_t seen = (size_t)b->positions[s->first + r] + 1;

        for (size_t k = 0; k < n_kv; k++)
            row[k] = k < seen ? 0 : HALF_MINUS_INFINITY;
    }
    return b->mask;
}
