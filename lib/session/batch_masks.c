/* batch_masks.c - which keys each id of a batch sees, and how far they are */
#include "session/batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "graph/relative.h"

const int32_t *
session_batch_buckets(struct batch *b, int32_t i)
{
    const struct graph_segment *s = &b->segments[i];
    bool decodes = b->hp->n_encoder > 0 && !b->encodes;
    int32_t n = decodes ? s->keys[CACHE_ALL].n : s->n;
    int32_t past =
        decodes ? b->positions[s->first] - s->keys[CACHE_ALL].start : 0;
    size_t row = (size_t)n;

    if (!mem_grow(&b->buckets, &b->buckets_cap, row * (size_t)s->n,
                  sizeof(*b->buckets)))
        return NULL;
    for (int32_t q = 0; q < s->n; q++)
        for (int32_t k = 0; k < n; k++)
            b->buckets[(size_t)q * row + (size_t)k] =
                decodes ? graph_relative_bucket_before(k - q - past,
                                                       b->hp->n_bucket)
                        : graph_relative_bucket(k - q, b->hp->n_bucket);
    return b->buckets;
}

static void
hide(uint16_t *row, int32_t from, int32_t to)
{
    enum {
        HALF_MINUS_INFINITY = 0xfc00,
        BEGUN = 64 /* of these copies are made, and of what is there then */
    };
    size_t n = to > from ? (size_t)(to - from) : 0;

    row += from;
    for (size_t k = 0; k < n && k < BEGUN; k++)
        row[k] = HALF_MINUS_INFINITY;
    for (size_t done = BEGUN; done < n; done *= 2)
        memcpy(row + done, row,
               (n - done < done ? n - done : done) * sizeof(*row));
}

/* The distance times -1; what no half holds exactly is rounded, as attention's
 * bias is. */
static void
bias(uint16_t *row, int32_t from, int32_t to, int32_t position)
{
    for (int32_t k = from; k < to; k++)
        row[k] = ggml_fp32_to_fp16((float)-abs(position - k));
}

/* Which keys an id sees: positions first..last. */
struct span {
    int32_t first, last;
};

static struct span
seen_in_window(const struct model_hparams *hp, struct span s, int32_t window,
               int32_t position)
{
    int32_t first;

    switch (hp->window_kind) {
    case MODEL_WINDOW_CHUNKED:
        first = position - position % window;
        break;
    case MODEL_WINDOW_SYMMETRIC:
        first = position - window / 2;
        if (position + window / 2 < s.last)
            s.last = position + window / 2;
        break;
    default:
        first = position - window + 1;
    }
    s.first = first > s.first ? first : s.first;
    return s;
}

/* Rows of the block that follow are seen, too; a window bounds what comes
 * before, as Gemma 3 and 4 have it. */
static void
see_block(struct span *seen, const struct medium_block *block)
{
    if (block->end == 0)
        return;
    seen->last = block->end - 1;
}

/* Positions count from the row's first key. */
static void
mask_row(const struct model_hparams *hp, uint16_t *row, int32_t n,
         struct span seen, int32_t position)
{
    hide(row, 0, seen.first);
    if (hp->attn_max_bias > 0)
        bias(row, seen.first, seen.last + 1, position);
    else
        memset(row + seen.first, 0,
               (size_t)(seen.last + 1 - seen.first) * sizeof(*row));
    hide(row, seen.last + 1, n);
}

/* Hides positions that MTP layers have no right key of. */
static void
hide_holes(uint16_t *row, const struct cache_range *keys,
           const struct cache_mtp_slot *s)
{
    int32_t start = keys->start, end = start + keys->n;

    hide(row, 0, (s->first < end ? s->first : end) - start);
    for (int i = 0; i < s->n_holes; i++) {
        const struct cache_mtp_hole *h = &s->holes[i];

        hide(row, (h->from > start ? h->from : start) - start,
             (h->end < end ? h->end : end) - start);
    }
}

const uint16_t *
session_batch_cross_mask(struct batch *b, int32_t i, int32_t first, int32_t n)
{
    const struct graph_segment *s = &b->segments[i];
    size_t row = (size_t)s->crossed.n;

    (void)first;
    if (!mem_grow(&b->mask, &b->mask_cap, row * (size_t)n, sizeof(*b->mask)))
        return NULL;
    memset(b->mask, 0, row * (size_t)n * sizeof(*b->mask));
    for (int32_t r = 0; r < n; r++)
        hide(b->mask + (size_t)r * row, s->n_encoded, s->crossed.n);
    return b->mask;
}

/* Keys that id r of the segment sees. */
static struct span
seen_by(const struct batch *b, const struct cache_part *part,
        const struct graph_segment *s, int32_t start, int32_t r)
{
    int32_t position = b->positions[s->first + r];
    bool both_ways = b->block || (b->hp->encoder && !b->hp->one_way);
    struct span seen = { start, both_ways ? b->positions[s->first + s->n - 1]
                                          : position - b->apart };

    if (s->n_encoded > seen.first)
        seen.first = s->n_encoded;
    if (part->window)
        seen = seen_in_window(b->hp, seen, part->window, position);
    if (b->n_given > 0)
        see_block(&seen, &b->seen[s->first + r]);
    return seen;
}

/* Rows of the mask of keys of a part; those of `narrow` layers begin later, if
 * it is not 0. */
static const uint16_t *
make_mask(struct batch *b, const struct cache *cache, int kind, int32_t narrow,
          int32_t i, int32_t first, int32_t n)
{
    const struct graph_segment *s = &b->segments[i];
    const struct cache_range *keys = &s->keys[kind];

    if (!mem_grow(&b->mask, &b->mask_cap, (size_t)keys->n * (size_t)n,
                  sizeof(*b->mask)))
        return NULL;
    for (int32_t r = 0; r < n; r++) {
        int32_t position = b->positions[s->first + first + r];
        uint16_t *row = b->mask + (size_t)r * (size_t)keys->n;
        struct span seen =
            seen_by(b, &cache->parts[kind], s, keys->start, first + r);

        if (narrow && position - narrow + 1 > seen.first)
            seen.first = position - narrow + 1;
        seen.first -= keys->start;
        seen.last -= keys->start;
        mask_row(b->drafter ? b->drafter : b->hp, row, keys->n, seen,
                 position - keys->start);
        if (b->mtp > 0 && !b->apart)
            hide_holes(row, keys, &cache->mtp.slots[s->slot]);
    }
    return b->mask;
}

const uint16_t *
session_batch_mask(struct batch *b, const struct cache *cache,
                   enum cache_kind kind, int32_t i, int32_t first, int32_t n)
{
    return make_mask(b, cache, kind, 0, i, first, n);
}

const uint16_t *
session_batch_narrow_mask(struct batch *b, const struct cache *cache, int32_t i,
                          int32_t first, int32_t n)
{
    return make_mask(b, cache, CACHE_ALL, b->drafter->drafting.window, i, first,
                     n);
}
