/* tokens.c - reads the tokens: their types, and the bytes they stand for */
#include <string.h>

#include "core/mem.h"
#include "vocab/bytes.h"
#include "vocab/vocab.h"
#include "vocab/wordpiece.h"
#include "vocab/world.h"

#define TOKENS "tokenizer.ggml.tokens"
#define TYPES  "tokenizer.ggml.token_type"

#define FOUR(x)    (x) + 1, (x) + 2, (x) + 3, (x) + 4
#define SIXTEEN(x) FOUR(x), FOUR((x) + 4), FOUR((x) + 8), FOUR((x) + 12)

/* GPT-2 writes bytes as printable characters (bytes_to_unicode() of its
 * encoder.py): 33 to 126, 161 to 172 and 174 to 255 as themselves, the others
 * in ascending order as U+0100 and on. This has the characters of two bytes,
 * U+0080 to U+017F: 1 + the byte that each stands for, or 0. */
static const uint16_t two_bytes[4][64] = {
    { [33] = 162,
      163,
      164,
      FOUR(164),
      FOUR(168),
      173,
      0,
      175,
      176,
      SIXTEEN(176) },
    { SIXTEEN(192), SIXTEEN(208), SIXTEEN(224), SIXTEEN(240) },
    { SIXTEEN(0), SIXTEEN(16), 33, 128, 129, 130, FOUR(130), FOUR(134),
      FOUR(138), FOUR(142), FOUR(146), FOUR(150), FOUR(154) },
    { 159, 160, 161, 174 },
};

static bool
bpe_bytes(const char *text, size_t len, uint8_t *out, size_t *n)
{
    const uint8_t *p = (const uint8_t *)text, *end = p + len;
    uint8_t *to = out;

    if (len >= 2 && p[0] == 0xc4 && p[1] == 0xa0) { /* U+0120: a blank */
        *to++ = ' ';
        p += 2;
    }
    if (vocab_bytes_copy((const char *)p, (size_t)(end - p), to,
                         vocab_bytes_not_visible)) {
        *n = (size_t)(to - out) + (size_t)(end - p);
        return true;
    }
    while (p < end) {
        unsigned c = *p++, row = c - 0xc2;

        if (c - 33 < 94) {
            *to++ = (uint8_t)c;
            continue;
        }
        if (row > 3 || p == end || (*p & 0xc0) != 0x80)
            return false;
        c = two_bytes[row][*p++ & 0x3f];
        if (c == 0)
            return false;
        *to++ = (uint8_t)(c - 1);
    }
    *n = (size_t)(to - out);
    return true;
}

/* Bytes of p[0..n), n <= 8, in front of the first that is a blank or may begin
 * a mark. */
static inline size_t
before_mark(const char *p, size_t n)
{
    uint64_t w = vocab_bytes_load(p, n);
    uint64_t stops = vocab_bytes_have(w, 0xe2) | vocab_bytes_have(w, ' ');

    return stops ? (size_t)__builtin_ctzll(stops) / 8 : n;
}

/* SentencePiece writes a blank as U+2581. *n gets the bytes; returns whether
 * the text has no blank that is written as such. */
static bool
unmark(const char *text, size_t len, uint8_t *out, size_t *n)
{
    const char *p = text, *end = text + len;
    uint8_t *to = out;
    bool good = true;

    while (p < end) {
        size_t left = (size_t)(end - p);
        size_t k = before_mark(p, left < 8 ? left : 8);

        for (size_t i = 0; i < k; i++)
            *to++ = (uint8_t)*p++;
        if (k == 8 || p == end)
            continue;
        if (end - p >= 3 && memcmp(p, "\xe2\x96\x81", 3) == 0) {
            *to++ = ' ';
            p += 3;
        } else {
            good = good && *p != ' ';
            *to++ = (uint8_t)*p++;
        }
    }
    *n = (size_t)(to - out);
    return good;
}

/* Files write a piece that begins a word with U+2581 in front. */
static size_t
unmark_first(const char *text, size_t len, uint8_t *out)
{
    size_t mark = len > 3 && memcmp(text, "\xe2\x96\x81", 3) == 0 ? 3 : 0;

    if (mark)
        *out++ = ' ';
    memcpy(out, text + mark, len - mark);
    return len - mark + (mark != 0);
}

bool
vocab_piece_bytes(enum vocab_kind kind, const char *text, size_t len,
                  uint8_t *out, size_t *n)
{
    if (len == 0)
        return false;
    if (kind == VOCAB_BPE)
        return bpe_bytes(text, len, out, n);
    if (kind == VOCAB_WORLD)
        return vocab_world_bytes(text, len, out, n);
    if (kind != VOCAB_WPM)
        return unmark(text, len, out, n);
    *n = unmark_first(text, len, out);
    return memchr(text, ' ', len) == NULL;
}

static int
hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)((at - digits) % 16) : -1;
}

/* <0xHH>: the byte, or -1. */
static int
hex_byte(const struct gguf_str *s)
{
    int high, low;

    if (s->n != 6 || memcmp(s->s, "<0x", 3) != 0 || s->s[5] != '>')
        return -1;
    high = hex_digit(s->s[3]);
    low = hex_digit(s->s[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Writes the bytes of token `id` to `out`. False: a byte token that is none. */
static bool
token_bytes(struct gg_vocab *v, int32_t id, uint8_t *out, size_t *n)
{
    const struct gguf_str *s = &v->tokens[id];
    int byte;

    *n = s->n;
    switch (vocab_type(v, id)) {
    case GG_TOKEN_NORMAL:
    case GG_TOKEN_UNUSED:
        if (vocab_piece_bytes(v->kind, s->s, s->n, out, n)) {
            v->types[id] |= VOCAB_PIECE;
            if (*n > v->max_bytes)
                v->max_bytes = *n;
            return true;
        }
        break;
    case GG_TOKEN_BYTE:
        byte = hex_byte(s);
        *out = (uint8_t)byte;
        *n = 1;
        return byte >= 0;
    case GG_TOKEN_USER_DEFINED:
        if (v->kind == VOCAB_SPM || v->kind == VOCAB_UGM) {
            (void)unmark(s->s, s->n, out, n);
            return true;
        }
        break;
    default:
        break;
    }
    *n = s->n;
    if (s->n)
        memcpy(out, s->s, s->n);
    return true;
}

static enum gg_status
read_types(struct gg_vocab *v, const struct gguf_context *gguf,
           struct gg_error *err)
{
    struct gguf_array types = { 0 };
    enum gg_status st;

    v->types = mem_array((size_t)v->n, 1);
    if (!v->types)
        return error_nomem(err);
    memset(v->types, GG_TOKEN_NORMAL, (size_t)v->n);
    if (gguf_find_key(gguf, TYPES) < 0)
        return GG_OK;
    st = gguf_get_array_n(gguf, TYPES, GGUF_TYPE_INT32, (size_t)v->n, &types,
                          err);
    for (size_t i = 0; st == GG_OK && i < types.n; i++) {
        int32_t type = gguf_array_i32(&types, i);

        if (type < GG_TOKEN_NORMAL || type > GG_TOKEN_BYTE)
            return gguf_bad_value(gguf, TYPES, err,
                                  "%d, of token %zu, is no type of a token",
                                  (int)type, i);
        v->types[i] = (uint8_t)type;
    }
    return st;
}

/* All of them into one piece of memory, of at most `total` bytes. */
static enum gg_status
read_bytes(struct gg_vocab *v, const struct gguf_context *gguf, size_t total,
           struct gg_error *err)
{
    size_t used = 0, n;

    /* A byte token needs one byte even where its text is shorter; it fails
     * then, but only after it was written. */
    v->bytes = mem_alloc(total + VOCAB_SLACK);
    v->at = mem_array((size_t)v->n + 1, sizeof(*v->at));
    if (!v->bytes || !v->at)
        return error_nomem(err);
    for (int32_t id = 0; id < v->n; id++) {
        if (!token_bytes(v, id, v->bytes + used, &n))
            return gguf_bad_value(gguf, TOKENS, err,
                                  "byte token %d is not written <0xHH>",
                                  (int)id);
        if (v->kind == VOCAB_WPM &&
            vocab_wordpiece_attached(v->bytes + used, n))
            v->types[id] |= VOCAB_ATTACHED;
        used += n;
        v->at[id + 1] = (uint32_t)used;
    }
    return GG_OK;
}

enum gg_status
vocab_load_tokens(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    struct gguf_array tokens;
    size_t total = 0;
    enum gg_status st =
        gguf_get_array(gguf, TOKENS, GGUF_TYPE_STRING, &tokens, err);

    if (st != GG_OK)
        return st;
    if (tokens.n == 0 || tokens.n > VOCAB_MAX_TOKENS)
        return gguf_bad_value(gguf, TOKENS, err, "%zu tokens, not 1 to %d",
                              tokens.n, VOCAB_MAX_TOKENS);
    v->n = (int32_t)tokens.n;
    v->tokens = tokens.strings;
    for (size_t i = 0; i < tokens.n; i++) {
        if (v->tokens[i].n > VOCAB_MAX_TOKEN_BYTES)
            return gguf_bad_value(gguf, TOKENS, err,
                                  "token %zu has %zu bytes, more than %d", i,
                                  v->tokens[i].n, VOCAB_MAX_TOKEN_BYTES);
        total += v->tokens[i].n;
    }
    if (total >= UINT32_MAX)
        return gguf_bad_value(gguf, TOKENS, err, "%zu bytes in all", total);
    st = read_types(v, gguf, err);
    return st == GG_OK ? read_bytes(v, gguf, total, err) : st;
}

enum gg_status
vocab_read_id(const struct gg_vocab *v, const struct gguf_context *gguf,
              const char *key, int32_t *id, struct gg_error *err)
{
    uint32_t value = 0;
    enum gg_status st;

    if (gguf_find_key(gguf, key) < 0)
        return GG_OK;
    st = gguf_get_u32(gguf, key, &value, err);
    if (st == GG_OK && value >= (uint32_t)v->n)
        return gguf_bad_value(gguf, key, err,
                              "token %u, but there are only %d tokens",
                              (unsigned)value, (int)v->n);
    if (st == GG_OK)
        *id = (int32_t)value;
    return st;
}
