/* decode.c - from ids back to bytes */
#include <string.h>

#include "vocab/vocab.h"
#include "vocab/wordpiece.h"

/* Apart from each other, both have what they need in registers. */
#define NOINLINE __attribute__((noinline))

enum {
    SHORT = 16 /* bytes; most pieces by far have no more */
};
_Static_assert((int)SHORT <= (int)VOCAB_SLACK, "one copy reads so many");

static bool
is_hidden_type(enum gg_token_type type)
{
    return type == GG_TOKEN_CONTROL || type == GG_TOKEN_UNKNOWN;
}

/* ---- any id ---- */

/* The bytes that `id` shows. */
static const uint8_t *
shown(const struct gg_vocab *v, int32_t id, unsigned flags, size_t *n)
{
    const uint8_t *p = vocab_bytes(v, id, n);

    if (v->kind == VOCAB_WPM && vocab_wordpiece_attached(p, *n)) {
        p++;
        --*n;
    }
    if (is_hidden_type(vocab_type(v, id)) && !(flags & GG_DECODE_SPECIAL))
        *n = 0;
    return p;
}

/* WordPiece: the names of control tokens, and of the unknown one, are words. */
static bool
is_word(const struct gg_vocab *v, int32_t id, size_t len)
{
    return v->kind == VOCAB_WPM && len > 0 && is_hidden_type(vocab_type(v, id));
}

/* Writes what fits of p[0..len), a blank in front if there is one. */
static void
copy_piece(char *buf, size_t cap, const uint8_t *p, size_t len, size_t blank)
{
    if (blank && cap) {
        *buf++ = ' ';
        cap--;
    }
    len = len < cap ? len : cap;
    if (len)
        memcpy(buf, p, len);
}

/* Returns how many bytes the id has. Where they do not fit, `state` stays. */
NOINLINE static size_t
decode_id(const struct gg_vocab *v, struct gg_decode_state *state, int32_t id,
          unsigned flags, char *buf, size_t cap)
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
    copy_piece(buf, cap, p, len, blank);
    if (len + blank <= cap)
        *state = next;
    return len + blank;
}

/* ---- most ids ---- */

/* In the middle of a text, an id is its bytes and nothing more, unless it may
 * be hidden. Decodes ids[0..n) up to one that takes more, is wrong, or finds
 * little room; returns how many. *used counts the bytes of `buf`. */
NOINLINE static size_t
decode_plain(const struct gg_vocab *v, const int32_t *ids, size_t n, char *buf,
             size_t cap, size_t *used)
{
    const uint8_t *types = v->types, *bytes = v->bytes;
    const uint32_t *at = v->at, size = (uint32_t)v->n;
    size_t to = *used, i;

    for (i = 0; i < n && to + SHORT <= cap; i++) {
        uint32_t id = (uint32_t)ids[i], from, len;

        if (id >= size || is_hidden_type(types[id] & VOCAB_TYPE))
            break;
        from = at[id] + (types[id] / VOCAB_ATTACHED & 1);
        len = at[id + 1] - from;
        if (len > SHORT && len > cap - to)
            break;
        memcpy(buf + to, bytes + from, SHORT);
        if (len > SHORT)
            memcpy(buf + to, bytes + from, len);
        to += len;
    }
    *used = to;
    return i;
}

enum gg_status
gg_vocab_decode_ids(const struct gg_vocab *v, struct gg_decode_state *state,
                    const int32_t *ids, size_t n, unsigned flags, char *buf,
                    size_t cap, size_t *done, size_t *len, struct gg_error *err)
{
    size_t i = 0, used = 0, need = 0;

    if (!v || !state || !done || !len || (!ids && n) || (!buf && cap))
        return error_null(err);
    if (n && (ids[0] < 0 || ids[0] >= v->n))
        return error_set(err, GG_ERR_FORMAT,
                         "%d is no id of the %d tokens of the vocabulary",
                         (int)ids[0], (int)v->n);
    while (i < n) {
        if (state->started && !state->drop_blank)
            i += decode_plain(v, ids + i, n - i, buf, cap, &used);
        if (i == n || ids[i] < 0 || ids[i] >= v->n)
            break;
        need = decode_id(v, state, ids[i], flags, buf ? buf + used : NULL,
                         cap - used);
        if (need > cap - used)
            break;
        used += need;
        i++;
    }
    *done = i;
    *len = i || !n ? used : need;
    return GG_OK;
}

enum gg_status
gg_vocab_decode(const struct gg_vocab *v, struct gg_decode_state *state,
                int32_t id, unsigned flags, char *buf, size_t cap, size_t *n,
                struct gg_error *err)
{
    size_t done;

    return gg_vocab_decode_ids(v, state, &id, 1, flags, buf, cap, &done, n,
                               err);
}
