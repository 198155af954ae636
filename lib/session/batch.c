/* batch.c - a batch: ids evaluated together, and inputs of the graph */
#include "session/batch.h"

#include <math.h>

#include "core/mem.h"
#include "session/chunks.h"
#include "session/mtp_rows.h"
#include "graph/ngrams.h"

static bool
new_hidden_rows(struct batch *b, size_t n)
{
    b->mtp_from = mem_array(n, sizeof(*b->mtp_from));
    b->mtp_shift = mem_array(n, sizeof(*b->mtp_shift));
    b->mtp_of = mem_array(n, sizeof(*b->mtp_of));
    b->mtp_to = mem_array(n, sizeof(*b->mtp_to));
    return b->mtp_from && b->mtp_shift && b->mtp_of && b->mtp_to;
}

static bool
new_given_rows(struct batch *b, size_t n)
{
    bool done = true;

    b->given = mem_array(n, sizeof(*b->given));
    b->given_at = mem_array(n, sizeof(*b->given_at));
    b->picks = mem_array(n, sizeof(*b->picks));
    b->seen = mem_array(n, sizeof(*b->seen));
    for (int i = 0; i < 3; i++) {
        b->turns[i] = mem_array(n, sizeof(*b->turns[i]));
        done = done && b->turns[i];
    }
    return done && b->given && b->given_at && b->picks && b->seen;
}

bool
session_batch_init(struct batch *b, int32_t max_tokens, int32_t max_segments,
                   const struct model_hparams *hp, const struct slots *slots)
{
    size_t n = (size_t)max_tokens, m = (size_t)max_segments;

    *b = (struct batch){
        .max_tokens = max_tokens,
        .max_segments = max_segments,
        .n_vocab = hp->n_vocab,
        .hp = hp,
        .slots = slots,
        .segments = mem_array(m, sizeof(struct graph_segment)),
        .ids = mem_array(n, sizeof(int32_t)),
        .positions = mem_array(n, sizeof(int32_t)),
        .ngrams =
            mem_array(n * (size_t)hp->ngrams.n_heads + 1, sizeof(int32_t)),
        .switches = mem_array(n, sizeof(int32_t)),
        .types = mem_array(n, sizeof(int32_t)),
        .temperature = mem_array(n, sizeof(float)),
        .rows = mem_array(n, sizeof(int32_t)),
        .logits = mem_array(n, sizeof(float *)),
        .best = mem_array(n, sizeof(struct gg_best *)),
        .next = mem_array(n, sizeof(int32_t *)),
        .n_next = mem_array(n, sizeof(size_t)),
        .logprobs = mem_array(n, sizeof(float *)),
        .pools = mem_array(n, sizeof(double *)),
    };
    for (int i = 0; i < CACHE_KINDS; i++)
        b->cells[i] = mem_array(n, sizeof(int64_t));
    if (!new_given_rows(b, n) || (hp->n_mtp > 0 && !new_hidden_rows(b, n)))
        return false;
    return b->segments && b->ids && b->positions && b->ngrams && b->switches &&
           b->types && b->temperature && b->rows && b->logits && b->best &&
           b->next && b->n_next && b->logprobs && b->pools &&
           b->cells[CACHE_ALL] && b->cells[CACHE_WINDOW];
}

void
session_batch_clear(struct batch *b)
{
    mem_free(b->segments);
    mem_free(b->ids);
    mem_free(b->positions);
    for (int i = 0; i < 3; i++)
        mem_free(b->turns[i]);
    mem_free(b->given);
    mem_free(b->given_at);
    mem_free(b->picks);
    mem_free(b->seen);
    mem_free(b->ngrams);
    mem_free(b->switches);
    mem_free(b->types);
    mem_free(b->temperature);
    for (int i = 0; i < CACHE_KINDS; i++)
        mem_free(b->cells[i]);
    mem_free(b->rows);
    mem_free(b->logits);
    mem_free(b->best);
    mem_free(b->next);
    mem_free(b->n_next);
    mem_free(b->logprobs);
    mem_free(b->pools);
    mem_free(b->mtp_from);
    mem_free(b->mtp_shift);
    mem_free(b->mtp_of);
    mem_free(b->mtp_to);
    mem_free(b->mask);
    mem_free(b->buckets);
    *b = (struct batch){ 0 };
}

void
session_batch_start(struct batch *b)
{
    b->n_tokens = b->n_segments = b->n_outputs = b->n_given = 0;
    b->scored = b->pooled = b->turned = b->encodes = false;
    b->scales = NULL;
}

static float
temperature_at(const struct model_hparams *hp, int32_t position)
{
    double n = hp->temperature_n > 0 ? hp->temperature_n : 1;

    return (float)(1 +
                   (double)hp->temperature_scale *
                       log(1 + floor((position + hp->temperature_offset) / n)));
}

/* The id is a row's. */
static void
add_given(struct batch *b, int32_t position, int32_t id)
{
    const struct media *media = b->slots->media;
    struct medium_block block;

    b->ids[b->n_tokens] = b->hp->pad;
    b->given[b->n_given] = id;
    b->given_at[b->n_given++] = b->n_tokens;
    b->turned = b->turned || session_media_of(media, id)->positions;
    if (session_media_block(media, id, &block))
        b->seen[b->n_tokens] =
            (struct medium_block){ position + block.first - id,
                                   position + block.end - id };
}

static void
add_turns(struct batch *b, int32_t slot, int32_t position)
{
    struct slot_position p = session_slots_position(b->slots, slot, position);

    for (int i = 0; i < 3; i++)
        b->turns[i][b->n_tokens] = p.x[i];
}

/* MTP layers read none. */
static void
add_ngrams(struct batch *b, int32_t slot, int32_t position)
{
    const struct model_ngrams *n = &b->hp->ngrams;
    const struct slot_ids *kept;
    int32_t ids[MODEL_MAX_NGRAM];

    if (n->n == 0 || b->mtp > 0)
        return;
    kept = &b->slots->kept[slot];
    for (int32_t k = 0; k < n->n; k++) {
        ids[k] = k <= position ? kept->ids[position - k] : n->end;
        if (ids[k] >= b->n_vocab)
            ids[k] = n->medium;
    }
    graph_ngram_rows(n, ids,
                     b->ngrams + (size_t)b->n_tokens * (size_t)n->n_heads);
}

/* Another id is embedded where one switches. */
static void
add_switch(struct batch *b, int32_t slot, int32_t position)
{
    const struct model_switches *w = &b->hp->switches;
    int32_t *id = &b->ids[b->n_tokens];

    if (w->n == 0)
        return;
    b->switches[b->n_tokens] =
        session_slots_adapter(b->slots, w, slot, position);
    *id = graph_switch_embedded(w, *id);
}

static void
add_tokens(struct batch *b, const struct cache *cache, int32_t slot,
           int32_t past, const int32_t *ids, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        b->ids[b->n_tokens] = ids[i];
        b->positions[b->n_tokens] = past + i;
        b->seen[b->n_tokens] = (struct medium_block){ 0, 0 };
        add_turns(b, slot, past + i);
        add_ngrams(b, slot, past + i);
        add_switch(b, slot, past + i);
        if (ids[i] >= b->n_vocab)
            add_given(b, past + i, ids[i]);
        b->types[b->n_tokens] = 0;
        b->temperature[b->n_tokens] = temperature_at(b->hp, past + i);
        for (int k = 0; k < CACHE_KINDS; k++)
            b->cells[k][b->n_tokens] =
                session_cache_row(cache, k, slot, past + i);
        b->n_tokens++;
    }
}

/* Ids after the first separator are of the second kind. */
static void
set_types(struct batch *b, int32_t first)
{
    int32_t type = 0;

    for (int32_t i = first; i < b->n_tokens; i++) {
        b->types[i] = type;
        if (b->ids[i] == b->hp->separator)
            type = 1;
    }
}

/* The first id that has a score. */
static size_t
first_scored(const struct gg_chunk *chunk)
{
    return chunk->scores.first ? chunk->scores.first : 1;
}

/* The ids that may be the one after id i of the chunk, and are scored; *n gets
 * how many. NULL: none is, or what follows is a row. */
static const int32_t *
ids_after(const struct batch *b, const struct gg_chunk *chunk, size_t i,
          size_t *n)
{
    *n = 1;
    if (!chunk->scores.logprobs || i + 1 < first_scored(chunk))
        return NULL;
    if (i < chunk->n - 1)
        return chunk->ids[i + 1] < b->n_vocab ? chunk->ids + i + 1 : NULL;
    *n = chunk->scores.n_next ? chunk->scores.n_next : 1;
    return chunk->scores.next;
}

static bool
is_pooled(const struct model_hparams *hp, const struct gg_chunk *chunk,
          size_t i)
{
    enum gg_pooling pooling = chunk->embed.pooling == GG_POOL_RANK
                                  ? hp->rank_pooling
                                  : chunk->embed.pooling;

    switch (pooling) {
    case GG_POOL_CLS:
        return i == 0;
    case GG_POOL_LAST:
        return i == chunk->n - 1;
    default:
        return true;
    }
}

/* Adds the outputs of id i of the chunk, which is in this row of the batch. */
static void
add_output(struct batch *b, const struct gg_chunk *chunk, size_t i, int32_t row,
           double *pool)
{
    size_t n_last = chunk->rows.n_last ? chunk->rows.n_last : 1;
    size_t first = chunk->n - n_last; /* that logits are wanted after */
    size_t n_next;
    const int32_t *next = ids_after(b, chunk, i, &n_next);
    bool best = chunk->rows.best && i >= first;
    bool logits = chunk->rows.logits && !chunk->rows.best && i >= first;
    bool pooled = chunk->embed.values && is_pooled(b->hp, chunk, i);
    int32_t n = b->n_outputs;

    if (!logits && !best && !next && !pooled)
        return;
    b->rows[n] = row;
    b->logits[n] =
        logits ? chunk->rows.logits + (i - first) * (size_t)b->n_vocab : NULL;
    b->best[n] = best ? chunk->rows.best + (i - first) : NULL;
    b->next[n] = next;
    b->n_next[n] = n_next;
    b->logprobs[n] =
        next ? chunk->scores.logprobs + (i + 1 - first_scored(chunk)) : NULL;
    b->scored = b->scored || next;
    if (pooled && session_pools_each(chunk))
        pool += i * (size_t)b->hp->n_embd;
    b->pools[n] = pooled ? pool : NULL;
    b->pooled = b->pooled || pooled;
    b->n_outputs++;
}

/* A decoder's ids see themselves, and those of the encoder across: the rows of
 * both are one after the other. */
static void
set_crossed(const struct batch *b, struct graph_segment *s)
{
    struct cache_range *keys = &s->keys[CACHE_ALL];
    int32_t n = b->encodes ? 0 : b->slots->encoded[s->slot];
    int32_t above = n / CACHE_BLOCK * CACHE_BLOCK;

    s->n_encoded = n;
    s->crossed.n = (n + CACHE_BLOCK - 1) / CACHE_BLOCK * CACHE_BLOCK;
    keys->row += above;
    keys->start += above;
    keys->n -= above;
}

/* The chunk's ids from `done` on; there is room for them. */
static struct graph_segment *
add_segment(struct batch *b, const struct cache *cache,
            const struct gg_chunk *chunk, size_t done, int32_t past, int32_t n,
            double *pool)
{
    struct graph_segment *s = &b->segments[b->n_segments++];

    *s = (struct graph_segment){ .slot = chunk->slot,
                                 .first = b->n_tokens,
                                 .n = n };
    for (int i = 0; i < CACHE_KINDS; i++)
        s->keys[i] = session_cache_seen(cache, i, chunk->slot, past, n);
    for (int i = 0; i < b->hp->n_compression; i++)
        s->blocks[i].n_rows = session_cache_blocks(cache, i, past, n);
    set_crossed(b, s);
    for (int32_t i = 0; i < n && !b->encodes; i++)
        add_output(b, chunk, done + (size_t)i, b->n_tokens + i, pool);
    add_tokens(b, cache, chunk->slot, past, chunk->ids + done, n);
    return s;
}

void
session_batch_add_draft(struct batch *b, struct cache *cache,
                        const struct gg_chunk *chunk, int32_t past)
{
    int32_t n = (int32_t)chunk->n;

    session_cache_make_draft_room(cache, chunk->slot, past, n);
    add_segment(b, cache, chunk, 0, past, n, NULL);
}

/* How many ids of a chunk, `most` at most, end at no block's middle. */
static int32_t
whole_blocks(const struct batch *b, const int32_t *ids, int32_t most)
{
    const struct media *media = b->slots->media;
    struct medium_block block;
    int32_t n = (int32_t)session_media_edge(media, ids, (size_t)most);

    if (n > 0 || most == 0 || b->n_tokens > 0 ||
        !session_media_block(media, ids[0], &block))
        return n;
    return block.end - block.first;
}

int32_t
session_batch_add(struct batch *b, struct cache *cache,
                  const struct gg_chunk *chunk, size_t done, size_t end,
                  int32_t past, double *pool)
{
    int32_t room =
        b->n_tokens < b->max_tokens ? b->max_tokens - b->n_tokens : 0;
    int32_t slot = chunk->slot;
    size_t n = end - done;
    int32_t take = n < (size_t)room ? (int32_t)n : room;
    struct graph_segment *s;

    take = whole_blocks(b, chunk->ids + done, take);
    if (take == 0 || b->n_segments == b->max_segments)
        return 0;
    if ((b->hp->encoder || b->encodes) && (size_t)take < n)
        return 0;
    session_cache_make_room(cache, slot, past, take);
    s = add_segment(b, cache, chunk, done, past, take, pool);
    if (b->hp->typed_pairs && session_pools_scores(chunk))
        set_types(b, s->first);
    return take;
}

/* Each id reads the hidden vector before it: that of a segment's first was kept
 * or is a hole, session_cache_mtp_begin(); of its last ids they are kept. */
static void
set_hidden_rows(struct batch *b)
{
    int32_t n = 0;

    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *s = &b->segments[i];
        int32_t past = b->positions[s->first];
        int32_t kept = graph_mtp_kept(s->n);

        b->mtp_from[i] = session_cache_mtp_row(s->slot, past ? past - 1 : 0);
        b->mtp_shift[s->first] = i;
        for (int32_t r = s->first + 1; r < s->first + s->n; r++)
            b->mtp_shift[r] = b->n_segments + r - 1;
        for (int32_t r = s->first + s->n - kept; r < s->first + s->n; r++) {
            b->mtp_of[n] = r;
            b->mtp_to[n++] = session_cache_mtp_row(s->slot, b->positions[r]);
        }
    }
}

/* Where each is found, among the batch's ids and the rows after them. */
static void
set_picks(struct batch *b)
{
    for (int32_t i = 0; i < b->n_tokens; i++)
        b->picks[i] = i;
    for (int32_t i = 0; i < b->n_given; i++)
        b->picks[b->given_at[i]] = b->n_tokens + i;
}

bool
session_batch_decodes(const struct batch *b)
{
    return b->n_tokens == b->n_outputs;
}

void
session_batch_feed(struct batch *b, struct cache *cache, enum graph_feed feed)
{
    b->feed = feed;
    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *s = &b->segments[i];

        session_cache_mtp_begin(cache, s->slot, b->positions[s->first], s->n,
                                feed);
    }
}

void
session_batch_finish(struct batch *b)
{
    if (b->n_given > 0)
        set_picks(b);
    if (b->hp->n_mtp > 0)
        set_hidden_rows(b);
    if (b->n_outputs == 0) {
        b->rows[0] = b->n_tokens - 1;
        b->logits[b->n_outputs] = NULL;
        b->best[b->n_outputs] = NULL;
        b->pools[b->n_outputs] = NULL;
        b->logprobs[b->n_outputs++] = NULL;
    }
    /* a graph that ends in hidden vectors has no logits of its own */
    for (int32_t i = 0; b->pooled && !b->scored && i < b->n_outputs; i++)
        b->scored = b->logits[i] || b->best[i];
}
