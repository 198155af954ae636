/* decode.c - from ids back to bytes */
#include <string.h>

#include "vocab/vocab.h"
#include "vocab/wordpiece.h"

/* The bytes that `id` shows. */
static const uint8_t *
shown(const struct gg_vocab *v, int32_t id, unsigned flags, size_t *n)
{
    enum gg_token_type type = vocab_type(v, id);
    const uint8_t *p = vocab_bytes(v, id, n);

    if (v->kind == VOCAB_WPM && wordpiece_attached(p, *n)) {
        p++;
        --*n;
    }
    if ((type == GG_TOKEN_CONTROL || type == GG_TOKEN_UNKNOWN) &&
        !(flags & GG_DECODE_SPECIAL))
        *n = 0;
    return p;
}

/* The names of WordPiece's control tokens are words. */
static bool
is_word(const struct gg_vocab *v, int32_t id, size_t len)
{
    return v->kind == VOCAB_WPM && len > 0 &&
           vocab_type(v, id) == GG_TOKEN_CONTROL;
}

/* Writes what fits of p[0..len), a blank in front if there is one. */
static void
copy(char *buf, size_t cap, const uint8_t *p, size_t len, size_t blank)
{
    if (blank && cap) {
        *buf++ = ' ';
        cap--;
    }
    len = len < cap ? len : cap;
    if (len)
        memcpy(buf, p, len);
}

/* Most tokens by far: a piece in the middle of a text. Its bytes are copied
 * eight at once where there is room. */
static inline bool
decode_piece(const struct gg_vocab *v, const struct gg_decode_state *state,
             int32_t id, char *buf, size_t cap, size_t *n)
{
    const uint8_t *p;
    size_t len;

    if (!state->started || state->drop_blank || !(v->types[id] & VOCAB_PIECE) ||
        v->kind == VOCAB_WPM)
        return false;
    p = vocab_bytes(v, id, &len);
    *n = len;
    if (len <= 8 && cap >= 8)
        memcpy(buf, p, 8);
    else if (cap)
        memcpy(buf, p, len < cap ? len : cap);
    return true;
}

/* Apart, so that what is done for most tokens stays short. */
__attribute__((noinline)) static enum gg_status
decode_other(const struct gg_vocab *v, struct gg_decode_state *state,
             int32_t id, unsigned flags, char *buf, size_t cap, size_t *n)
{
    struct gg_decode_state next = *state;
    size_t len, blank = 0;
    const uint8_t *p = shown(v, id, flags, &len);

    if (!next.started)
        next.drop_blank = v->add_blank && (id == v->bos || next.no_bos);
    next.started = true;
    if (is_word(v, id, len)) {
        blank = state->started;
        next.drop_blank = false;
    }
    if (next.drop_blank && len && vocab_type(v, id) != GG_TOKEN_CONTROL) {
        size_t drop = p[0] == ' ';

        next.drop_blank = false;
        p += drop;
        len -= drop;
    }
    copy(buf, cap, p, len, blank);
    *n = len + blank;
    if (*n <= cap)
        *state = next;
    return GG_OK;
}

enum gg_status
gg_vocab_decode(const struct gg_vocab *v, struct gg_decode_state *state,
                int32_t id, unsigned flags, char *buf, size_t cap, size_t *n,
                struct gg_error *err)
{
    if (id < 0 || id >= v->n)
        return error_set(err, GG_ERR_FORMAT,
                         "%d is no id of the %d tokens of the vocabulary",
                         (int)id, (int)v->n);
    return decode_piece(v, state, id, buf, cap, n)
               ? GG_OK
               : decode_other(v, state, id, flags, buf, cap, n);
}
