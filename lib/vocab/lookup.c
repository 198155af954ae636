/* lookup.c - from bytes to ids: one table for all tokens of a vocabulary */
#include <config.h>

#include <string.h>
#include <sys/random.h>

#include "core/mem.h"
#include "vocab/vocab.h"

static inline uint64_t
load(const uint8_t *p, size_t n)
{
    uint64_t w = 0;

    memcpy(&w, p, n);
    return w;
}

static inline uint64_t
hash(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    uint64_t h = v->seed ^ len;

    for (; len >= 8; p += 8, len -= 8)
        h = vocab_mix(h ^ load(p, 8));
    return vocab_mix(vocab_mix(h ^ load(p, len)));
}

/* The bytes that token `id` is looked up by. */
static const uint8_t *
key_of(const struct gg_vocab *v, int32_t id, int32_t piece, size_t *len)
{
    if (piece)
        return vocab_bytes(v, id, len);
    *len = v->tokens[id].n;
    return (const uint8_t *)v->tokens[id].s;
}

/* The slot that holds the key, or the free one where it belongs. `piece`: 1
 * or 0; the two never meet. */
static struct vocab_slot *
probe(const struct gg_vocab *v, const uint8_t *p, size_t len, int32_t piece,
      uint32_t *tag_out)
{
    uint64_t h = hash(v, p, len) + (uint64_t)piece;
    uint32_t tag = (uint32_t)(h >> 32);

    *tag_out = tag;

    for (size_t i = h & v->slot_mask;; i = (i + 1) & v->slot_mask) {
        struct vocab_slot *slot = &v->slots[i];
        const uint8_t *key;
        size_t n;

        if (slot->id < 0)
            return slot;
        if (slot->tag != tag || (slot->id & 1) != piece)
            continue;
        key = key_of(v, slot->id >> 1, piece, &n);
        if (n == len && memcmp(key, p, len) == 0)
            return slot;
    }
}

/* Where two are written alike, the first is found. */
static void
add(struct gg_vocab *v, int32_t id)
{
    int32_t piece = (v->types[id] & VOCAB_PIECE) != 0;
    size_t len;
    const uint8_t *p = key_of(v, id, piece, &len);
    struct vocab_slot *slot;
    uint32_t tag;

    if (len == 0)
        return;
    slot = probe(v, p, len, piece, &tag);
    if (slot->id < 0)
        *slot = (struct vocab_slot){ tag, id * 2 + piece };
    else if (piece)
        v->twins = true;
}

int32_t
vocab_find_piece(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    uint32_t tag;

    if (len == 0 || len > v->max_bytes)
        return -1;
    return probe(v, p, len, 1, &tag)->id >> 1;
}

int32_t
vocab_find_other(const struct gg_vocab *v, const char *text, size_t len)
{
    uint32_t tag;

    return len == 0 ? -1
                    : probe(v, (const uint8_t *)text, len, 0, &tag)->id >> 1;
}

/* A byte's own token: the piece of one byte in byte-level BPE, else <0xHH>. */
static void
find_byte_tokens(struct gg_vocab *v)
{
    for (int b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;

        v->byte_ids[b] =
            v->kind == VOCAB_BPE ? vocab_find_piece(v, &byte, 1) : -1;
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
    v->slots = mem_array(slots, sizeof(*v->slots));
    v->whole = mem_array((size_t)v->n, sizeof(*v->whole));
    if (!v->slots || !v->whole)
        return error_nomem(err);
    v->slot_mask = slots - 1;
    if (getrandom(&v->seed, sizeof(v->seed), GRND_NONBLOCK) < 0)
        v->seed = (uintptr_t)v; /* early at boot: better than nothing */
    memset(v->slots, 0xff, slots * sizeof(*v->slots)); /* each id is -1 */
    for (int32_t id = 0; id < v->n; id++)
        add(v, id);
    find_byte_tokens(v);
    return GG_OK;
}
