/* lookup.c - from bytes to ids: one table for all tokens of a vocabulary */
#include <config.h>

#include <string.h>
#include <sys/random.h>

#include "core/mem.h"
#include "vocab/bytes.h"
#include "vocab/cache.h"
#include "vocab/vocab.h"

static uint64_t
hash_long(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    uint64_t h = v->seed ^ len;

    for (; len > 8; p += 8, len -= 8)
        h = vocab_mix(h ^ vocab_bytes_load8(p));
    return vocab_mix(h ^ vocab_bytes_load8(p + len - 8));
}

/* The bytes that token `id` is looked up by. */
static const uint8_t *
looked_up_by(const struct gg_vocab *v, int32_t id, size_t *len)
{
    if (v->types[id] & VOCAB_PIECE)
        return vocab_bytes(v, id, len);
    *len = v->tokens[id].n;
    return (const uint8_t *)v->tokens[id].s;
}

static inline int32_t
slot_id(const struct vocab_slot *slot)
{
    return (int32_t)(slot->code >> 1) - 1;
}

static bool
is_same(const struct gg_vocab *v, const struct vocab_slot *slot,
        const uint8_t *p)
{
    size_t len;

    return memcmp(looked_up_by(v, slot_id(slot), &len), p, slot->len) == 0;
}

/* `first` are the bytes themselves, if there are up to 8; `piece`: 1 or 0, the
 * two never meet. */
static inline struct vocab_query
query(const struct gg_vocab *v, const uint8_t *p, size_t len, uint64_t first,
      uint32_t piece)
{
    uint64_t key = len <= 8 ? first : hash_long(v, p, len);
    uint64_t h = vocab_mix(vocab_mix(v->seed ^ key) ^ (len << 1 | piece));

    return (struct vocab_query){ p, len, key, h };
}

static inline void
fetch(const struct gg_vocab *v, const struct vocab_query *q)
{
    __builtin_prefetch(&v->slots[q->hash & v->slot_mask]);
}

/* The slot that holds the bytes, or the free one where they belong. */
static inline struct vocab_slot *
probe(const struct gg_vocab *v, const struct vocab_query *q, uint32_t piece)
{
    for (size_t i = q->hash & v->slot_mask;; i = (i + 1) & v->slot_mask) {
        struct vocab_slot *slot = &v->slots[i];

        if (slot->code == 0 || (slot->key == q->key && slot->len == q->len &&
                                (slot->code & 1) == piece &&
                                (q->len <= 8 || is_same(v, slot, q->p))))
            return slot;
    }
}

/* The first bytes of some of v->bytes, after which more can be read. */
static inline uint64_t
first_of(const uint8_t *p, size_t len)
{
    return len <= 8 ? vocab_bytes_first(vocab_bytes_load8(p), len) : 0;
}

static inline uint32_t
is_piece(const struct gg_vocab *v, int32_t id)
{
    return v->types[id] & VOCAB_PIECE ? 1 : 0;
}

static inline struct vocab_query
query_token(const struct gg_vocab *v, int32_t id)
{
    uint32_t piece = is_piece(v, id);
    size_t len;
    const uint8_t *p = looked_up_by(v, id, &len);

    if (len == 0)
        return (struct vocab_query){ p, 0, 0, 0 };
    return query(v, p, len, piece ? first_of(p, len) : vocab_bytes_load(p, len),
                 piece);
}

/* Where two are written alike, the first is found. */
static inline void
add_to_lookup(struct gg_vocab *v, int32_t id, const struct vocab_query *q)
{
    uint32_t piece = is_piece(v, id);
    struct vocab_slot *slot = q->len ? probe(v, q, piece) : NULL;

    if (!slot)
        return;
    if (slot->code == 0)
        *slot = (struct vocab_slot){ q->key, (uint32_t)q->len,
                                     ((uint32_t)id + 1) << 1 | piece };
    else if (piece)
        v->twins = true;
}

/* Some at a time, so that memory has the time to come. */
static void
add_all(struct gg_vocab *v)
{
    struct vocab_query queries[VOCAB_BATCH];

    for (int32_t id = 0; id < v->n; id += VOCAB_BATCH) {
        int32_t n = v->n - id < VOCAB_BATCH ? v->n - id : VOCAB_BATCH;

        for (int32_t i = 0; i < n; i++) {
            queries[i] = query_token(v, id + i);
            fetch(v, &queries[i]);
        }
        for (int32_t i = 0; i < n; i++)
            add_to_lookup(v, id + i, &queries[i]);
    }
}

int32_t
vocab_find_piece(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    struct vocab_query q;

    if (len == 0 || len > v->max_bytes)
        return -1;
    q = query(v, p, len, vocab_bytes_load(p, len), 1);
    return slot_id(probe(v, &q, 1));
}

void
vocab_ask(const struct gg_vocab *v, const uint8_t *p, size_t len,
          struct vocab_query *q)
{
    *q = (struct vocab_query){ p, 0, 0, 0 };
    if (len == 0 || len > v->max_bytes)
        return;
    *q = query(v, p, len, first_of(p, len), 1);
    fetch(v, q);
}

int32_t
vocab_answer(const struct gg_vocab *v, const struct vocab_query *q)
{
    return q->len ? slot_id(probe(v, q, 1)) : -1;
}

int32_t
vocab_find_other(const struct gg_vocab *v, const char *text, size_t len)
{
    const uint8_t *p = (const uint8_t *)text;
    struct vocab_query q;

    if (len == 0)
        return -1;
    q = query(v, p, len, vocab_bytes_load(p, len), 0);
    return slot_id(probe(v, &q, 0));
}

/* A byte's own token: the piece of one byte in byte-level BPE, else <0xHH>. */
static void
find_byte_tokens(struct gg_vocab *v)
{
    for (int b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;

        v->byte_ids[b] = v->kind == VOCAB_BPE || v->kind == VOCAB_WORLD
                             ? vocab_find_piece(v, &byte, 1)
                             : -1;
    }
    for (int32_t id = 0; id < v->n; id++)
        if (vocab_type(v, id) == GG_TOKEN_BYTE) {
            int32_t *to = &v->byte_ids[v->bytes[v->at[id]]];

            *to = *to < 0 ? id : *to;
        }
}

enum gg_status
vocab_index(struct gg_vocab *v, struct gg_error *err)
{
    size_t slots = 16;

    while (slots < (size_t)v->n * 2)
        slots *= 2;
    v->slots = mem_table(slots, sizeof(*v->slots));
    v->whole = mem_array((size_t)v->n, sizeof(*v->whole));
    v->caches = vocab_cache_store_new();
    if (!v->slots || !v->whole || !v->caches)
        return error_nomem(err);
    v->slot_mask = slots - 1;
    if (getrandom(&v->seed, sizeof(v->seed), GRND_NONBLOCK) < 0)
        v->seed = (uintptr_t)v; /* early at boot: better than nothing */
    add_all(v);
    find_byte_tokens(v);
    return GG_OK;
}
