/* greedy.c - the longest token at each place, as ggml's GPT-2 example has it
 *
 * A text is cut into words by what std::regex makes of
 *     's|'t|'re|'ve|'m|'ll|'d| ?[[:alpha:]]+| ?[[:digit:]]+|
 *      ?[^\s[:alpha:][:digit:]]+|\s+(?!\S)|\s+
 * byte by byte in the C locale: letters, digits and spaces are those of ASCII.
 * Of a word, the longest token that it begins with is taken, and so on; a byte
 * with which no token begins is left out. */
#include "core/error.h"
#include "vocab/vocab.h"

enum kind {
    SPACE,
    LETTER,
    DIGIT,
    OTHER,
};

static enum kind
byte_kind(uint8_t c)
{
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return SPACE;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return LETTER;
    return c >= '0' && c <= '9' ? DIGIT : OTHER;
}

/* Bytes from p on that are of the kind. */
static size_t
run_of(const uint8_t *p, size_t len, enum kind kind)
{
    size_t n = 0;

    while (n < len && byte_kind(p[n]) == kind)
        n++;
    return n;
}

static size_t
suffix(const uint8_t *p, size_t len)
{
    static const char *const suffixes[] = { "'s", "'t",  "'re", "'ve",
                                            "'m", "'ll", "'d" };

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t n = strlen(suffixes[i]);

        if (len >= n && !memcmp(p, suffixes[i], n))
            return n;
    }
    return 0;
}

/* Bytes of the first word. len > 0 */
static size_t
next_word(const uint8_t *p, size_t len)
{
    size_t n = *p == '\'' ? suffix(p, len) : 0, spaces;
    size_t blank = *p == ' ' && len > 1 && byte_kind(p[1]) != SPACE;

    if (n)
        return n;
    if (blank || byte_kind(*p) != SPACE)
        return blank + run_of(p + blank, len - blank, byte_kind(p[blank]));
    spaces = run_of(p, len, SPACE);
    return spaces == len || spaces == 1 ? spaces : spaces - 1;
}

static void
cut_word(const struct gg_vocab *v, const uint8_t *p, size_t len,
         struct vocab_out *out)
{
    while (len) {
        size_t n = len < v->max_bytes ? len : v->max_bytes;
        int32_t id = -1;

        while (n && (id = vocab_find_piece(v, p, n)) < 0)
            n--;
        if (id >= 0)
            vocab_emit(out, id);
        else
            vocab_leave_out(out, p, 1);
        p += n ? n : 1;
        len -= n ? n : 1;
    }
}

static void
cut_text(const struct gg_vocab *v, const uint8_t *p, size_t len,
         const struct special_set *set, struct vocab_out *out)
{
    while (len) {
        size_t n, skip = 0;
        int32_t id = vocab_special_find(set, v, p, len, &n);

        for (size_t at = 0, bytes; at < n; at += bytes) {
            bytes = next_word(p + at, n - at);
            cut_word(v, p + at, bytes, out);
        }
        if (id >= 0) {
            vocab_bytes(v, id, &skip);
            vocab_emit(out, id);
        }
        p += n + skip;
        len -= n + skip;
    }
}

enum gg_status
vocab_encode_greedy(const struct gg_vocab *v, const char *text, size_t len,
                    const struct special_set *set, struct vocab_out *out,
                    struct gg_error *err)
{
    if (v->kind != VOCAB_BPE || v->textless[0])
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary is none of bytes, as GPT-2's is");
    cut_text(v, (const uint8_t *)text, len, set, out);
    return GG_OK;
}
