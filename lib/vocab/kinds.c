/* kinds.c - encoding of the kinds that normalise a text, WordPiece and Unigram,
 * and of RWKV's
 *
 * Special tokens part the text. */
#include "core/mem.h"
#include "vocab/unigram.h"
#include "vocab/wordpiece.h"
#include "vocab/world.h"

static void
emit_special(const struct gg_vocab *v, int32_t id, size_t at,
             struct vocab_out *out)
{
    size_t n;

    vocab_bytes(v, id, &n);
    vocab_emit_range(out, id, at, at + n);
}

/* Special tokens, and each part between them on its own. */
static void
encode_parts(const struct gg_vocab *v, const uint8_t *p, size_t len,
             const struct special_set *set, struct cache *cache,
             struct vocab_out *out)
{
    for (size_t at = 0, n, left; at < len;) {
        int32_t id = vocab_special_find(set, v, p + at, len - at, &n);

        left = vocab_special_left(v, id, p + at, n);
        if (v->kind == VOCAB_WPM)
            vocab_wordpiece_encode(v, p, at, left, cache, out);
        else
            vocab_world_encode(v, p, at, left, out);
        at += n;
        if (id < 0)
            continue;
        emit_special(v, id, at, out);
        at = vocab_special_after(v, id, p, len, at);
    }
}

/* Looks across what the user defined; after other tokens a text begins. */
static bool
encode_ugm(struct unigram *u, const struct gg_vocab *v, const uint8_t *p,
           size_t len, const struct special_set *set, struct cache *cache,
           struct vocab_out *out)
{
    const uint8_t *base = p, *end = p + len;
    bool good = true;

    while (p < end && good) {
        size_t n;
        int32_t id = vocab_special_find(set, v, p, (size_t)(end - p), &n);

        good = vocab_unigram_part(u, p, vocab_special_left(v, id, p, n), out);
        p += n;
        if (!good || id < 0)
            continue;
        if (vocab_type(v, id) == GG_TOKEN_USER_DEFINED) {
            good = vocab_unigram_user(u, p, id, out);
        } else {
            vocab_unigram_end(u, out);
            emit_special(v, id, (size_t)(p - base), out);
            vocab_unigram_begin(u, v, base, true, cache);
        }
        p += vocab_special_after(v, id, p, (size_t)(end - p), 0);
    }
    if (good)
        vocab_unigram_end(u, out);
    return good;
}

bool
vocab_encode_kind(const struct gg_vocab *v, const uint8_t *p, size_t len,
                  const struct special_set *set, bool first,
                  struct cache *cache, struct vocab_out *out)
{
    struct unigram *u;
    bool good;

    if (v->kind != VOCAB_UGM) {
        encode_parts(v, p, len, set, cache, out);
        return true;
    }
    u = mem_alloc(sizeof(*u));
    if (!u)
        return false;
    memset(u, 0, offsetof(struct unigram, sums));
    vocab_unigram_begin(u, v, p, first, cache);
    good = encode_ugm(u, v, p, len, set, cache, out);
    vocab_unigram_clear(u);
    mem_free(u);
    return good;
}
