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

enum gg_status
gg_vocab_decode(const struct gg_vocab *v, struct gg_decode_state *state,
                int32_t id, unsigned flags, char *buf, size_t cap, size_t *n,
                struct gg_error *err)
{
    struct gg_decode_state next = *state;
    const uint8_t *p;
    size_t len, blank = 0;

    if (id < 0 || id >= v->n)
        return error_set(err, GG_ERR_FORMAT,
                         "%d is no id of the %d tokens of the vocabulary",
                         (int)id, (int)v->n);
    if (!next.started)
        next.drop_blank = v->add_blank && (id == v->bos || next.no_bos);
    next.started = true;
    p = shown(v, id, flags, &len);
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
