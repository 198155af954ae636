/* split_deepseek.c - DeepSeek's split rules
 *
 * Each is a sequence of expressions, of the tokenizer.json of the models; what
 * follows from them is worked out here for one place of the text at a time.
 * That the text can be cut anywhere between two words is what makes it right:
 * a later expression never sees across the cuts of an earlier one. */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define M UNICODE_MARK
#define N UNICODE_NUMBER
#define S UNICODE_SPACE
#define P UNICODE_PUNCTUATION

/* Classes next to those of unicode.h. */
enum {
    NEWLINE = 0x200, /* and no space */
    CJK = 0x400,
    WESTERN = 0x800, /* deepseek-llm: its letters; P is its punctuation */
    STOP = 0x1000,
};

static inline bool
in(uint32_t cp, uint32_t first, uint32_t last)
{
    return cp - first <= last - first;
}

/* ---- deepseek-coder:
 * [\r\n], then \s?\p{L}+, \s?\p{P}+, [\x{800}-\x{9fa5}\x{ac00}-\x{d7ff}]+,
 * \p{N}
 * ---- deepseek-llm:
 * [\r\n], then \s?[western]+, \s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}
 * \x{2018}-\x{201f}\x{3000}-\x{3002}]+, \s+$,
 * [\x{800}-\x{9fa5}\x{ac00}-\x{d7ff}]+, \p{N}
 * ---- */

/* [western]: Latin, Greek, Cyrillic and so on, as the expression lists them. */
static const struct {
    uint32_t first, last;
} western[] = {
    { 0xb5, 0xb5 },       { 0xc0, 0xd6 },       { 0xd8, 0xf6 },
    { 0xf8, 0x1ba },      { 0x1bc, 0x1bf },     { 0x1c4, 0x293 },
    { 0x295, 0x2af },     { 0x370, 0x373 },     { 0x376, 0x377 },
    { 0x37b, 0x37d },     { 0x37f, 0x37f },     { 0x386, 0x386 },
    { 0x388, 0x38a },     { 0x38c, 0x38c },     { 0x38e, 0x3a1 },
    { 0x3a3, 0x3f5 },     { 0x3f7, 0x481 },     { 0x48a, 0x52f },
    { 0x531, 0x556 },     { 0x10a0, 0x10c5 },   { 0x13a0, 0x13f5 },
    { 0x13f8, 0x13fd },   { 0x1c90, 0x1cba },   { 0x1cbd, 0x1cbf },
    { 0x1d00, 0x1d2b },   { 0x1d6b, 0x1d77 },   { 0x1d79, 0x1d9a },
    { 0x1e00, 0x1f15 },   { 0x1f18, 0x1f1d },   { 0x1f20, 0x1f45 },
    { 0x1f48, 0x1f4d },   { 0x1f50, 0x1f57 },   { 0x1f59, 0x1f59 },
    { 0x1f5b, 0x1f5b },   { 0x1f5d, 0x1f5d },   { 0x1f5f, 0x1f7d },
    { 0x1f80, 0x1fb4 },   { 0x1fb6, 0x1fbc },   { 0x1fbe, 0x1fbe },
    { 0x1fc2, 0x1fc4 },   { 0x1fc6, 0x1fcc },   { 0x1fd0, 0x1fd3 },
    { 0x1fd6, 0x1fdb },   { 0x1fe0, 0x1fec },   { 0x1ff2, 0x1ff4 },
    { 0x1ff6, 0x1ffc },   { 0x2102, 0x2102 },   { 0x2107, 0x2107 },
    { 0x210a, 0x2113 },   { 0x2115, 0x2115 },   { 0x2119, 0x211d },
    { 0x2124, 0x2124 },   { 0x2126, 0x2126 },   { 0x2128, 0x2128 },
    { 0x212a, 0x212d },   { 0x212f, 0x2134 },   { 0x2139, 0x2139 },
    { 0x213c, 0x213f },   { 0x2145, 0x2149 },   { 0x214e, 0x214e },
    { 0x2183, 0x2184 },   { 0x2c00, 0x2c7b },   { 0x2c7e, 0x2ce4 },
    { 0x2ceb, 0x2cee },   { 0x2cf2, 0x2cf3 },   { 0xa640, 0xa66d },
    { 0xa680, 0xa69b },   { 0xa722, 0xa76f },   { 0xa771, 0xa787 },
    { 0xa78b, 0xa78e },   { 0xab70, 0xabbf },   { 0xfb00, 0xfb06 },
    { 0xfb13, 0xfb17 },   { 0xff21, 0xff3a },   { 0xff41, 0xff5a },
    { 0x10400, 0x1044f }, { 0x104b0, 0x104d3 }, { 0x104d8, 0x104fb },
    { 0x10c80, 0x10cb2 }, { 0x10cc0, 0x10cf2 }, { 0x118a0, 0x118df },
    { 0x1e900, 0x1e943 },
};

static bool
is_western(uint32_t cp)
{
    size_t lo = 0, hi = sizeof(western) / sizeof(western[0]);

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (western[mid].last < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < sizeof(western) / sizeof(western[0]) && western[lo].first <= cp;
}

static inline bool
is_cjk(uint32_t cp)
{
    return in(cp, 0x800, 0x9fa5) || in(cp, 0xac00, 0xd7ff);
}

static inline unsigned
coder_class(const uint8_t *p, const uint8_t *end, size_t *n)
{
    unsigned c = vocab_split_ascii[*p];
    uint32_t cp;

    *n = 1;
    if (c == SPLIT_LONG) {
        cp = vocab_unicode_at(p, (size_t)(end - p), n);
        return vocab_unicode_class(cp) | (is_cjk(cp) ? CJK : 0u);
    }
    return vocab_split_is_newline(*p) ? (unsigned)NEWLINE : c;
}

static size_t
coder_scan(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = coder_class(p, end, &n), group = c & L ? L : c & P, next;

    q = p + n;
    if (c & (NEWLINE | N))
        return n;
    if (c & S && q < end && (next = coder_class(q, end, &m)) & (L | P)) {
        if ((c ^ next) & CJK)
            return n;
        group = next & L ? L : P;
        q += m;
    }
    for (; q < end; q += m) {
        if (group == L && !(c & CJK))
            q = vocab_split_ascii_run(q, end, L);
        if (q == end)
            break;
        next = coder_class(q, end, &m);
        if ((c ^ next) & CJK)
            break;
        if (group ? !(next & group) : next & (NEWLINE | N | L | P))
            break;
        if (next & S && q + m < end &&
            coder_class(q + m, end, &n) & (L | P)) /* it is the other's */
            break;
    }
    return (size_t)(q - p);
}

size_t
vocab_split_deepseek_coder(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : coder_scan(p, len);
}

static inline unsigned
llm_class(const uint8_t *p, const uint8_t *end, size_t *n)
{
    unsigned c = vocab_split_ascii[*p];
    uint32_t cp;

    *n = 1;
    if (c != SPLIT_LONG) {
        if (vocab_split_is_newline(*p))
            return NEWLINE;
        return c & L ? WESTERN | P : c & UNICODE_SYMBOL ? (unsigned)P : c;
    }
    cp = vocab_unicode_at(p, (size_t)(end - p), n);
    c = vocab_unicode_class(cp) & (N | S);
    if (in(cp, 0xff01, 0xff0f) || in(cp, 0xff1a, 0xff5e) ||
        in(cp, 0x2018, 0x201f) || in(cp, 0x3000, 0x3002))
        c |= P;
    return c | (is_western(cp) ? WESTERN : 0u) | (is_cjk(cp) ? CJK : 0u);
}

/* Which of the two runs begins at the character of class c at p, with a space
 * or without: WESTERN, P or 0. */
static unsigned
llm_begins(const uint8_t *p, const uint8_t *end, unsigned c, size_t n)
{
    unsigned next = 0, then = 0;
    size_t m;

    if (c & S && p + n < end) {
        next = llm_class(p + n, end, &m);
        if (next & S && next & P && p + n + m < end)
            then = llm_class(p + n + m, end, &m);
    }
    if ((c | next) & WESTERN)
        return WESTERN;
    /* The only space that is P, U+3000, may belong to a letter after it. */
    return c & P || (next & P && !(then & WESTERN)) ? P : 0;
}

/* True if the piece of the run `kind` (P or 0) ends with the spaces at p, so
 * that \s+$ cuts them off. *after gets the end of the spaces. */
static bool
llm_ends(const uint8_t *p, const uint8_t *end, unsigned kind,
         const uint8_t **after)
{
    unsigned c = NEWLINE;
    size_t n;

    for (; p < end; p += n) {
        c = llm_class(p, end, &n);
        if (!(c & S) || (c & P) != kind)
            break;
    }
    *after = p;
    if (p == end || c & (NEWLINE | WESTERN))
        return true;
    return (c & P) != kind;
}

/* The end of the run of letters that have `c`'s other properties. */
static const uint8_t *
llm_letters(const uint8_t *p, const uint8_t *end, unsigned c)
{
    size_t n;

    for (;;) {
        if (c == (WESTERN | P))
            p = vocab_split_ascii_run(p, end, L);
        if (p == end || llm_class(p, end, &n) != c)
            return p;
        p += n;
    }
}

/* The end of the run at q of punctuation, or of no letters either. `blank`: the
 * word, which began before q, has spaces only. */
static const uint8_t *
llm_others(const uint8_t *q, const uint8_t *end, unsigned kind, unsigned cjk,
           bool blank)
{
    const uint8_t *seen = q; /* spaces before this do not end a piece */
    size_t n;

    for (; q < end; q += n) {
        unsigned c = llm_class(q, end, &n);

        if (c & (NEWLINE | WESTERN | N) || (c & P) != kind || (c & CJK) != cjk)
            break;
        if (c & S) {
            unsigned begins = llm_begins(q, end, c, n);

            if (begins && begins != kind)
                break;
            if (!blank && q >= seen && llm_ends(q, end, kind, &seen))
                break;
        }
        blank = blank && c & S;
    }
    return q;
}

static size_t
llm_scan(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = llm_class(p, end, &n), begins, next;
    bool blank = c & S;

    q = p + n;
    if (c & (NEWLINE | N))
        return n;
    begins = llm_begins(p, end, c, n);
    if (begins == WESTERN && !(c & WESTERN)) {
        next = llm_class(q, end, &m);
        if (c & P || (c ^ next) & CJK)
            return n;
        q += m;
        c = next;
    } else if (begins == P && !(c & P)) {
        next = llm_class(q, end, &m);
        if ((c ^ next) & CJK)
            return n;
        q += m;
        c = next;
        blank = c & S;
    }
    q = begins == WESTERN ? llm_letters(q, end, c)
                          : llm_others(q, end, begins, c & CJK, blank);
    return (size_t)(q - p);
}

size_t
vocab_split_deepseek_llm(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : llm_scan(p, len);
}

/* ---- deepseek-v3:
 * \p{N}{1,3}, then [\x{4e00}-\x{9fa5}\x{3040}-\x{30ff}]+, then, with ! for any
 * ASCII punctuation,
 * [!][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*
 * |\s*[\r\n]+|\s+(?!\S)|\s+
 * ---- */

#define PS (P | UNICODE_SYMBOL)

/* Which of the expressions for scripts has the character, or 0. */
SPLIT_INLINE unsigned
v3_script(uint32_t cp)
{
    return in(cp, 0x4e00, 0x9fa5) || in(cp, 0x3040, 0x30ff);
}

/* ---- afmoe, of the tokenizer.json of Trinity:
 * \p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}, then
 * \A\p{Nd}{1,2}(?=\p{Nd}{3}+\z), then \A\p{Nd}{3}|\G\p{Nd}{3}, then
 * [\x{4e00}-\x{9fff}\x{3040}-\x{30ff}\x{3400}-\x{4dbf}\x{f900}-\x{faff}
 * \x{ff65}-\x{ff9f}\x{2f00}-\x{2fdf}]+|[\x{e00}-\x{e7f}]+
 * |[\x{e80}-\x{eff}]+|[\x{1780}-\x{17ff}]+
 * |[\x{1000}-\x{109f}\x{aa60}-\x{aa7f}\x{a9e0}-\x{a9ff}]+
 * |[\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+, and then deepseek-v3's last.
 * The first three cut decimal digits into threes from their end, and those for
 * scripts cut these again; other numbers are nothing special. ---- */
static unsigned
afmoe_script(uint32_t cp)
{
    if (in(cp, 0x4e00, 0x9fff) || in(cp, 0x3040, 0x30ff) ||
        in(cp, 0x3400, 0x4dbf) || in(cp, 0xf900, 0xfaff) ||
        in(cp, 0xff65, 0xff9f) || in(cp, 0x2f00, 0x2fdf))
        return 1;
    if (in(cp, 0xe00, 0xe7f))
        return 2;
    if (in(cp, 0xe80, 0xeff))
        return 3;
    if (in(cp, 0x1780, 0x17ff))
        return 4;
    if (in(cp, 0x1000, 0x109f) || in(cp, 0xaa60, 0xaa7f) ||
        in(cp, 0xa9e0, 0xa9ff))
        return 5;
    return in(cp, 0xac00, 0xd7af) || in(cp, 0x1100, 0x11ff) ? 6 : 0;
}

/* The piece that p belongs to: of a script or, if that is 0, of none. */
struct piece {
    bool afmoe, spark;
    unsigned script;
};

/* Outside of the piece is STOP. */
SPLIT_INLINE unsigned
v3_class(const uint8_t *p, const uint8_t *end, size_t *n, struct piece first)
{
    unsigned c = vocab_split_ascii[*p], script = 0;
    uint32_t cp = *p;

    *n = 1;
    if (c == SPLIT_LONG) {
        cp = vocab_unicode_at(p, (size_t)(end - p), n);
        c = vocab_unicode_class(cp);
        script = first.afmoe ? afmoe_script(cp) : v3_script(cp);
    }
    if (c == N && first.afmoe && !vocab_unicode_is_decimal(cp))
        c = UNICODE_OTHER;
    return c == N || script != first.script ? (unsigned)STOP : c;
}

static const uint8_t *
v3_run(const uint8_t *p, const uint8_t *end, unsigned any, struct piece first)
{
    size_t n;

    for (;;) {
        if (!first.script)
            p = vocab_split_ascii_run(p, end, any);
        if (p == end || !(v3_class(p, end, &n, first) & any))
            return p;
        p += n;
    }
}

static const uint8_t *
v3_lines(const uint8_t *p, const uint8_t *end, struct piece first)
{
    const uint8_t *last, *lines, *q = vocab_split_spaces(p, end, &last, &lines);
    size_t n;

    if (lines)
        return lines;
    return q == end || last == p || v3_class(q, end, &n, first) & STOP ? q
                                                                       : last;
}

/* Characters that nothing matches, from q on, up to one that can be followed
 * by letters, and is. */
static const uint8_t *
v3_rest(const uint8_t *q, const uint8_t *end, struct piece first)
{
    size_t n, m;

    for (; q < end; q += n) {
        if (v3_class(q, end, &n, first) != UNICODE_OTHER)
            break;
        if (q + n < end && v3_class(q + n, end, &m, first) & (L | M))
            break;
    }
    return q;
}

static bool
is_ascii_letter(uint8_t c)
{
    return vocab_split_ascii[c] != SPLIT_LONG && vocab_split_ascii[c] & L;
}

static const uint8_t *
v3_numbers(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    for (int i = 0; i < 3 && p < end && vocab_split_class(p, end, &n) == N; i++)
        p += n;
    return p;
}

/* spark2_5: an end of a line is a word, and no other word holds the last of
 * spaces, unless the piece ends there. */
static const uint8_t *
spark_spaces(const uint8_t *p, const uint8_t *end, struct piece first)
{
    const uint8_t *last, *q;
    size_t n;

    if (vocab_split_is_newline(*p))
        return p + 1;
    q = vocab_split_spaces(p, end, &last, NULL);
    return q == end || last == p || v3_class(q, end, &n, first) & STOP ? q
                                                                       : last;
}

/* The first word of the last expression in the piece. */
SPLIT_INLINE size_t
v3_word(const uint8_t *p, size_t len, struct piece first)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = v3_class(p, end, &n, first), next = STOP;

    q = p + n;
    if (q < end)
        next = v3_class(q, end, &m, first);
    if (c & PS && *p < 0x80 && q < end && is_ascii_letter(*q)) {
        while (q < end && is_ascii_letter(*q))
            q++;
    } else if (c & (L | M) ||
               (!(c & PS) && next & (L | M) && !vocab_split_is_newline(*p))) {
        q = v3_run(q, end, L | M, first);
    } else if (c & PS || (*p == ' ' && next & PS)) {
        q = v3_run(q, end, PS, first);
        while (!first.script && !first.spark && q < end &&
               vocab_split_is_newline(*q))
            q++;
    } else if (c & S) {
        q = first.spark ? spark_spaces(p, end, first) : v3_lines(p, end, first);
    } else {
        q = v3_rest(q, end, first);
    }
    return (size_t)(q - p);
}

size_t
vocab_split_deepseek_v3(const uint8_t *p, size_t len)
{
    const uint8_t *q;
    struct piece first = { 0 };
    size_t n = vocab_split_plain(p, len);

    if (n)
        return n;
    q = v3_numbers(p, p + len);
    if (q > p)
        return (size_t)(q - p);
    if (*p >= 0x80)
        first.script = v3_script(vocab_unicode_at(p, len, &n));
    return v3_word(p, len, first);
}

/* ---- spark2_5: as deepseek-v3, with | ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+ at
 * the end of its last expression, and then \p{N}. ---- */

size_t
vocab_split_spark(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;
    struct piece first = { .spark = true };
    size_t n = vocab_split_plain(p, len), bytes;

    if (n)
        return n;
    if (vocab_split_class(p, end, &bytes) == N)
        return bytes;
    if (*p >= 0x80)
        first.script = v3_script(vocab_unicode_at(p, len, &bytes));
    return v3_word(p, len, first);
}

size_t
vocab_split_afmoe(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q = p;
    struct piece first = { .afmoe = true };
    size_t n = vocab_split_plain(p, len);

    if (n)
        return n;
    while (q < end &&
           vocab_unicode_is_decimal(vocab_unicode_at(q, (size_t)(end - q), &n)))
        q += n;
    if (q > p)
        return (size_t)(q - p);
    if (*p >= 0x80)
        first.script = afmoe_script(vocab_unicode_at(p, len, &n));
    return v3_word(p, len, first);
}

/* Threes, each up to a digit of another script. */
size_t
vocab_split_afmoe_group(const uint8_t *p, size_t n, size_t len, size_t *count)
{
    const uint8_t *end = p + n, *cut = NULL;
    size_t m = vocab_split_thousands(p, n, len, count), bytes;
    unsigned script = afmoe_script(vocab_unicode_at(p, n, &bytes));

    if (!vocab_unicode_is_decimal(vocab_unicode_at(p, n, &bytes)))
        return n;
    for (const uint8_t *q = p; q < p + m; q += bytes) {
        uint32_t cp = vocab_unicode_at(q, (size_t)(end - q), &bytes);

        if (!cut && afmoe_script(cp) != script)
            cut = q;
        *count += cut != NULL; /* it is left for the next part */
    }
    return cut ? (size_t)(cut - p) : m;
}
