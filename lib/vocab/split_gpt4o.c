/* split_gpt4o.c - the split rules that part words at capitals: GPT-4o's
 * (o200k), Mistral's (tekken), Kimi's, Youtu's, Tiny Aya's
 *
 * GPT-4o's is, of tiktoken, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], W for
 * [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for (?i:'s|'t|'re|'ve|'m|'ll|'d):
 * [^\r\n\p{L}\p{N}]?U*W+C?|[^\r\n\p{L}\p{N}]?U+W*C?|\p{N}{1,3}
 * | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * tekken, of the tokenizer.json of Mistral's models, is without C, and has
 * \p{N} for \p{N}{1,3}. */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define N UNICODE_NUMBER
#define S UNICODE_SPACE
#define U (UNICODE_UPPER | UNICODE_CASELESS | UNICODE_MARK)
#define W (UNICODE_LOWER | UNICODE_CASELESS | UNICODE_MARK)

/* Classes next to those of unicode.h. */
enum {
    HAN = 0x200,  /* with the class: a letter or mark that is in no word */
    STOP = 0x400, /* alone: here the piece ends */
};

/* Differences between the rules. */
struct kind {
    int digits;             /* most of a word of numbers */
    bool contractions;      /* C */
    bool slashes;           /* [\r\n/]* and not [\r\n]* */
    bool (*han)(uint32_t);  /* whether a character is not in U and W; or 0 */
    int (*piece)(uint32_t); /* pieces are runs of one figure; or 0 */
    int first;              /* that of this piece */
};

SPLIT_INLINE unsigned
class_at(const uint8_t *p, const uint8_t *end, size_t *n, const struct kind *k)
{
    unsigned c = vocab_split_ascii[*p];
    uint32_t cp = *p;

    *n = 1;
    if (c == SPLIT_LONG) {
        cp = vocab_unicode_at(p, (size_t)(end - p), n);
        c = vocab_unicode_class(cp);
        if (k->han && k->han(cp))
            c |= HAN;
    }
    if (k->piece && (cp < 0x80 ? 0 : k->piece(cp)) != k->first)
        return STOP;
    return c;
}

SPLIT_INLINE bool
in_word(unsigned c, unsigned any)
{
    return c & any && !(c & HAN);
}

/* The end of U*W+ at p. Where no W follows the U*, it gives back as many as
 * let one of its own be the W. Where it has none, *only is true, and what is
 * returned is the end of U*. */
SPLIT_INLINE const uint8_t *
capitals(const uint8_t *p, const uint8_t *end, bool *only, const struct kind *k)
{
    const uint8_t *both = NULL; /* after the last one that is U and W */
    unsigned c = 0;
    size_t n;

    for (; p < end && in_word(c = class_at(p, end, &n, k), U); p += n)
        if (c & W)
            both = p + n;
    *only = false;
    if (p < end && in_word(c, W)) {
        do {
            p = vocab_split_ascii_run(p + n, end, k->first ? 0 : W);
        } while (p < end && in_word(class_at(p, end, &n, k), W));
        return p;
    }
    *only = !both;
    return both ? both : p;
}

/* The end of the first two branches without C?, or p where none matches. */
SPLIT_INLINE const uint8_t *
word(const uint8_t *p, const uint8_t *end, const struct kind *k)
{
    const uint8_t *after, *q;
    size_t n;
    unsigned c = class_at(p, end, &n, k);
    bool only;

    if (c & L)
        return capitals(p, end, &only, k);
    if (c == N || vocab_split_is_newline(*p))
        return p;
    after = p + n;
    q = capitals(after, end, &only, k);
    if (only && c == UNICODE_MARK) /* it may be the W, with nothing before */
        return after;
    return q > after ? q : p;
}

SPLIT_INLINE const uint8_t *
lines(const uint8_t *p, const uint8_t *end, const struct kind *k)
{
    const uint8_t *last, *line, *q = vocab_split_spaces(p, end, &last, &line);
    size_t n;

    if (line)
        return line;
    if (k->piece && q < end && class_at(q, end, &n, k) == STOP)
        return q;
    return q == end || last == p ? q : last;
}

/* In kinds with pieces, p stands in one of k->first. */
SPLIT_INLINE size_t
scan(const uint8_t *p, size_t len, const struct kind *k)
{
    const uint8_t *end = p + len, *q;
    size_t n = vocab_split_plain_lower(p, len);
    unsigned c;

    if (n)
        return n;
    q = word(p, end, k);
    if (q > p) {
        n = k->contractions && q < end ? vocab_split_contraction(q, end) : 0;
        return (size_t)(q - p) + (k->first ? 0 : n);
    }
    c = class_at(p, end, &n, k) & ~(unsigned)HAN;
    q = p + n;
    if (c == N) {
        for (int i = k->digits; --i > 0 && q < end; q += n)
            if (!(class_at(q, end, &n, k) & N))
                break;
        return (size_t)(q - p);
    }
    if (c == S &&
        (*p != ' ' || q == end || class_at(q, end, &n, k) & (L | N | S | STOP)))
        return (size_t)(lines(p, end, k) - p);
    while (q < end && !(class_at(q, end, &n, k) & (L | N | S | STOP)))
        q += n;
    while (q < end && !k->first &&
           (vocab_split_is_newline(*q) || (k->slashes && *q == '/')))
        q++;
    return (size_t)(q - p);
}

size_t
vocab_split_gpt4o(const uint8_t *p, size_t len)
{
    static const struct kind kind = { .digits = 3,
                                      .contractions = true,
                                      .slashes = true };

    return scan(p, len, &kind);
}

size_t
vocab_split_tekken(const uint8_t *p, size_t len)
{
    static const struct kind kind = { .digits = 1, .slashes = true };

    return scan(p, len, &kind);
}

static inline bool
in(uint32_t cp, uint32_t first, uint32_t last)
{
    return cp - first <= last - first;
}

/* ---- kimi, of the tokenization_kimi.py of Moonshot's models: as GPT-4o's, but
 * [\p{Han}]+ comes first, U and W are without \p{Han}, and no slash follows
 * punctuation. ---- */

/* \p{Han}: Script=Han of Scripts.txt of Unicode 16.0. */
static bool
is_han(uint32_t cp)
{
    if (cp < 0x3400)
        return in(cp, 0x2e80, 0x2e99) || in(cp, 0x2e9b, 0x2ef3) ||
               in(cp, 0x2f00, 0x2fd5) || cp == 0x3005 || cp == 0x3007 ||
               in(cp, 0x3021, 0x3029) || in(cp, 0x3038, 0x303b);
    if (cp < 0x20000)
        return in(cp, 0x3400, 0x4dbf) || in(cp, 0x4e00, 0x9fff) ||
               in(cp, 0xf900, 0xfa6d) || in(cp, 0xfa70, 0xfad9) ||
               in(cp, 0x16fe2, 0x16fe3) || in(cp, 0x16ff0, 0x16ff1);
    return in(cp, 0x20000, 0x2a6df) || in(cp, 0x2a700, 0x2b739) ||
           in(cp, 0x2b740, 0x2b81d) || in(cp, 0x2b820, 0x2cea1) ||
           in(cp, 0x2ceb0, 0x2ebe0) || in(cp, 0x2ebf0, 0x2ee5d) ||
           in(cp, 0x2f800, 0x2fa1d) || in(cp, 0x30000, 0x3134a) ||
           in(cp, 0x31350, 0x323af);
}

size_t
vocab_split_kimi(const uint8_t *p, size_t len)
{
    static const struct kind kind = { .digits = 3,
                                      .contractions = true,
                                      .han = is_han };
    const uint8_t *end = p + len, *q = p;
    size_t n;

    for (; q < end && *q >= 0x80; q += n)
        if (!is_han(vocab_unicode_at(q, (size_t)(end - q), &n)))
            break;
    return q > p ? (size_t)(q - p) : scan(p, len, &kind);
}

/* ---- youtu, of the tokenizer.json of Youtu-LLM:
 * [\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+
 * |[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}
 * \x{ff0c}\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+
 * |[\x{4e00}-\x{9fa5}\x{3040}-\x{30ff}]+
 * and then GPT-4o's with \p{N} for \p{N}{1,3}. ---- */

static int
youtu_piece(uint32_t cp)
{
    if (cp < 0x2014)
        return 0;
    if (in(cp, 0xac00, 0xd7a3) || in(cp, 0x3131, 0x318e))
        return 1;
    if (in(cp, 0x3001, 0x303f) || in(cp, 0xfe30, 0xfe4f) || cp == 0x2014 ||
        in(cp, 0x2018, 0x2019) || in(cp, 0x201c, 0x201d) || cp == 0x2026 ||
        cp == 0xff01 || cp == 0xff0c || in(cp, 0xff1a, 0xff1b))
        return 2;
    if (in(cp, 0x3105, 0x312f))
        return 3;
    return in(cp, 0x4e00, 0x9fa5) || in(cp, 0x3040, 0x30ff) ? 4 : 0;
}

size_t
vocab_split_youtu(const uint8_t *p, size_t len)
{
    struct kind kind = {
        .digits = 1, .contractions = true, .slashes = true, .piece = youtu_piece
    };
    size_t n;

    if (*p >= 0x80)
        kind.first = youtu_piece(vocab_unicode_at(p, len, &n));
    return scan(p, len, &kind);
}

/* ---- tiny_aya, of the tokenizer.json of Cohere's models:
 * \d{1,3}(?=(?:\d{3})*\b)
 * and then GPT-4o's: a run of decimal digits before what is not \w is cut from
 * its end. Other numbers are cut from their begin. ---- */

/* \w of the regular expressions in Hugging Face's tokenizers, of Oniguruma: the
 * property Alphabetic, \p{M}, \p{Nd}, \p{Pc}, and all numbers of Latin-1. */
static bool
is_word(const uint8_t *p, const uint8_t *end)
{
    size_t n;
    uint32_t cp = vocab_unicode_at(p, (size_t)(end - p), &n);

    switch (vocab_unicode_class(cp)) {
    case UNICODE_NUMBER: /* \p{Nl}, too */
        return cp < 0x100 || vocab_unicode_is_decimal(cp) ||
               in(cp, 0x16ee, 0x16f0) || in(cp, 0x2160, 0x2182) ||
               in(cp, 0x2185, 0x2188) || cp == 0x3007 ||
               in(cp, 0x3021, 0x3029) || in(cp, 0x3038, 0x303a) ||
               in(cp, 0xa6e6, 0xa6ef) || in(cp, 0x10140, 0x10174) ||
               cp == 0x10341 || cp == 0x1034a || in(cp, 0x103d1, 0x103d5) ||
               in(cp, 0x12400, 0x1246e);
    case UNICODE_PUNCTUATION:
        return cp == '_' || in(cp, 0x203f, 0x2040) || cp == 0x2054 ||
               in(cp, 0xfe33, 0xfe34) || in(cp, 0xfe4d, 0xfe4f) || cp == 0xff3f;
    case UNICODE_SYMBOL: /* letters in circles and squares */
        return in(cp, 0x24b6, 0x24e9) || in(cp, 0x1f130, 0x1f149) ||
               in(cp, 0x1f150, 0x1f169) || in(cp, 0x1f170, 0x1f189);
    case UNICODE_OTHER:
    case UNICODE_SPACE:
        return false;
    default:
        return true;
    }
}

static const uint8_t *
decimals(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    while (p < end &&
           vocab_unicode_is_decimal(vocab_unicode_at(p, (size_t)(end - p), &n)))
        p += n;
    return p;
}

/* The end of the digits at p, if they are such as the first expression cuts;
 * else NULL. *after gets the end of the digits. */
static const uint8_t *
whole_number(const uint8_t *p, const uint8_t *end, const uint8_t **after)
{
    *after = decimals(p, end);
    return *after > p && (*after == end || !is_word(*after, end)) ? *after
                                                                  : NULL;
}

/* The run of numbers at p up to those that the first expression cuts. */
static const uint8_t *
other_numbers(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p, *after;
    size_t n;

    while (q < end && vocab_split_class(q, end, &n) == N) {
        if (whole_number(q, end, &after))
            break;
        q = after > q ? after : q + n;
    }
    return q;
}

size_t
vocab_split_tiny_aya(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q, *after;
    size_t n;
    unsigned c = vocab_split_class(p, end, &n);

    if (c == N) {
        q = whole_number(p, end, &after);
        return (size_t)((q ? q : other_numbers(p, end)) - p);
    }
    if (c == S) {
        q = vocab_split_run(p, end, S);
        if (q < end && whole_number(q, end, &after))
            len = (size_t)(q - p);
    }
    return vocab_split_gpt4o(p, len);
}

size_t
vocab_split_tiny_aya_group(const uint8_t *p, size_t n, size_t len,
                           size_t *count)
{
    const uint8_t *end = p + len, *q = p, *after;
    size_t bytes;

    if (vocab_split_class(p, end, &bytes) != N)
        return n;
    if (*count == 0 && !whole_number(p, end, &after))
        *count = SIZE_MAX;
    if (*count < SIZE_MAX)
        return vocab_split_thousands(p, n, len, count);
    for (int i = 0; i < 3 && q < p + n; i++) {
        vocab_unicode_at(q, (size_t)(end - q), &bytes);
        q += bytes;
    }
    return (size_t)(q - p);
}
