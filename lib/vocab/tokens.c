/* tokens.c - reads the tokens: their types, and the bytes they stand for */
#include <string.h>

#include "core/mem.h"
#include "vocab/vocab.h"

#define TOKENS "tokenizer.ggml.tokens"
#define TYPES  "tokenizer.ggml.token_type"

/* GPT-2 writes bytes as printable characters (bytes_to_unicode() of its
 * encoder.py): 33 to 126, 161 to 172 and 174 to 255 as themselves, the others
 * in ascending order as U+0100 and on. Returns the byte, or -1. */
static int
byte_of(uint32_t cp)
{
    if (cp < 0x100)
        return (cp > 32 && cp < 127) || (cp > 160 && cp != 173) ? (int)cp : -1;
    cp -= 0x100;
    return cp < 33    ? (int)cp
           : cp < 67  ? (int)cp - 33 + 127
           : cp == 67 ? 173
                      : -1;
}

static bool
bpe_bytes(const char *text, size_t len, uint8_t *out, size_t *n)
{
    const uint8_t *p = (const uint8_t *)text, *end = p + len;
    uint8_t *to = out;

    while (p < end) {
        uint32_t cp = *p++;
        int byte;

        if (cp - 33 < 94) { /* most of them */
            *to++ = (uint8_t)cp;
            continue;
        }
        if (cp >= 0x80) { /* all of them have two bytes */
            if (cp < 0xc2 || cp > 0xdf || p == end || (*p & 0xc0) != 0x80)
                return false;
            cp = (cp & 0x1f) << 6 | (*p++ & 0x3f);
        }
        byte = byte_of(cp);
        if (byte < 0)
            return false;
        *to++ = (uint8_t)byte;
    }
    *n = (size_t)(to - out);
    return true;
}

/* SentencePiece writes a blank as U+2581. */
static size_t
unmark(const char *text, size_t len, uint8_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < len; n++) {
        bool mark = len - i >= 3 && memcmp(text + i, "\xe2\x96\x81", 3) == 0;

        out[n] = mark ? ' ' : (uint8_t)text[i];
        i += mark ? 3 : 1;
    }
    return n;
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
    *n = kind == VOCAB_WPM ? unmark_first(text, len, out)
                           : unmark(text, len, out);
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
            *n = unmark(s->s, s->n, out);
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
    for (int32_t id = 0; st == GG_OK && id < v->n; id++) {
        int32_t type = gguf_array_i32(&types, (size_t)id);

        if (type < GG_TOKEN_NORMAL || type > GG_TOKEN_BYTE)
            return gguf_bad_value(gguf, TYPES, err,
                                  "%d, of token %d, is no type of a token",
                                  (int)type, (int)id);
        v->types[id] = (uint8_t)type;
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
    v->bytes = mem_alloc(total + 1);
    v->at = mem_array((size_t)v->n + 1, sizeof(*v->at));
    if (!v->bytes || !v->at)
        return error_nomem(err);
    for (int32_t id = 0; id < v->n; id++) {
        if (!token_bytes(v, id, v->bytes + used, &n))
            return gguf_bad_value(gguf, TOKENS, err,
                                  "byte token %d is not written <0xHH>",
                                  (int)id);
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
