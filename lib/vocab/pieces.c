/* pieces.c - the pieces of Unigram that a text begins with, found by hashes */
#include "vocab/pieces.h"

#include "core/mem.h"
#include "vocab/unigram.h"

/* A key of up to 7 bytes has their number on top. */
#define HASHED (UINT64_C(1) << 63)

static uint64_t
piece_key(struct pieces_at *at, size_t n)
{
    uint64_t h;

    if (n < 8)
        return vocab_bytes_first(vocab_bytes_load8(at->p), n) | (uint64_t)n
                                                                    << 56;
    for (; at->done + 8 < n; at->done += 8)
        at->hash = vocab_mix(at->hash ^ vocab_bytes_load8(at->p + at->done));
    h = vocab_bytes_first(vocab_bytes_load8(at->p + at->done), n - at->done);
    return (vocab_mix(at->hash ^ h) ^ n) | HASHED;
}

static bool
is_same(const struct gg_vocab *v, const struct piece *slot, uint64_t key,
        const uint8_t *p, size_t n)
{
    const uint8_t *bytes;
    size_t len;

    if (slot->key != key)
        return false;
    if (n < 8)
        return true;
    bytes = vocab_bytes(v, slot->id, &len);
    return len == n && memcmp(bytes, p, n) == 0;
}

/* The slot of the piece, or the free one where it belongs. */
static struct piece *
probe(const struct gg_vocab *v, struct pieces_at *at, size_t n)
{
    const struct pieces *t = &v->pieces;
    uint64_t key = piece_key(at, n);
    size_t i = (size_t)vocab_mix(key ^ t->seed);

    for (;; i++) {
        struct piece *slot = &t->slots[i & t->mask];

        if (slot->key == 0 || is_same(v, slot, key, at->p, n))
            return slot;
    }
}

const struct piece *
vocab_pieces_find(const struct gg_vocab *v, struct pieces_at *at, size_t n)
{
    const struct piece *slot = probe(v, at, n);

    return slot->key ? slot : NULL;
}

/* SentencePiece finds what is unused never. */
static bool
belongs(const struct gg_vocab *v, int32_t id)
{
    return vocab_type(v, id) == GG_TOKEN_NORMAL
               ? v->types[id] & VOCAB_PIECE
               : vocab_unigram_has_blank(v, id);
}

/* Tokens that the user defined shall win: a tenth for each byte in the file but
 * one, as in SentencePiece 0.2.3. */
static float
score_of(const struct gg_vocab *v, int32_t id)
{
    if (vocab_type(v, id) == GG_TOKEN_USER_DEFINED)
        return 0.1f * (float)(v->tokens[id].n - 1);
    return gguf_array_f32(&v->scores, (size_t)id);
}

/* Adds a piece; the first of equal ones stays. */
static void
add_piece(struct gg_vocab *v, int32_t id)
{
    struct pieces *t = &v->pieces;
    size_t n;
    const uint8_t *p = vocab_bytes(v, id, &n);
    struct pieces_at at = { .p = p };
    struct piece *slot = probe(v, &at, n);

    if (slot->key)
        return;
    at = (struct pieces_at){ .p = p };
    *slot = (struct piece){ piece_key(&at, n), id, score_of(v, id) };
    if (n < 3)
        t->few[*p] |= (uint64_t)n;
    else
        t->lengths[vocab_pieces_start(t, p)] |=
            UINT64_C(1) << ((n < PIECES_LONG ? n : PIECES_LONG) - 1);
    t->is_long[n] = n >= PIECES_LONG;
}

enum gg_status
vocab_load_pieces(struct gg_vocab *v, struct gg_error *err)
{
    struct pieces *t = &v->pieces;
    size_t slots = 16;

    while (slots < (size_t)v->n * 2)
        slots *= 2;
    t->slots = mem_array(slots, sizeof(*t->slots));
    t->lengths = mem_array(1 << PIECES_START_BITS, sizeof(*t->lengths));
    if (!t->slots || !t->lengths)
        return error_nomem(err);
    t->seed = v->seed;
    t->mask = slots - 1;
    for (int32_t id = 0; id < v->n; id++)
        if (belongs(v, id))
            add_piece(v, id);
    return GG_OK;
}

void
vocab_clear_pieces(struct gg_vocab *v)
{
    mem_free(v->pieces.slots);
    mem_free(v->pieces.lengths);
}
