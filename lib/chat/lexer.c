/* lexer.c - a template as tokens */
#include <config.h>

#include "chat/lexer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "chat/text.h"

enum {
    MAX_OPEN = 256
}; /* brackets within brackets */

__attribute__((format(printf, 2, 3))) static void
lex_error(struct chat_lexer *x, const char *fmt, ...)
{
    char why[sizeof(x->err->message)];
    va_list ap;

    if (x->status != GG_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    x->status = error_set(x->err, GG_ERR_FORMAT, "line %d: %s", x->line, why);
}

static void
add(struct chat_lexer *x, enum chat_token_type type, const char *s, size_t n)
{
    size_t size = sizeof(*x->tokens), more = x->cap ? 2 * x->cap : 256;

    if (x->status == GG_OK && x->n_tokens == x->cap) {
        void *p =
            chat_arena_grow(x->arena, x->tokens, x->cap * size, more * size);

        if (!p) {
            x->status = error_nomem(x->err);
            return;
        }
        x->tokens = p;
        x->cap = more;
    }
    if (x->status == GG_OK)
        x->tokens[x->n_tokens++] = (struct chat_token){ type, x->line, s, n };
}

/* Goes on to `to`, and counts lines. */
static void
advance(struct chat_lexer *x, size_t to)
{
    for (size_t i = x->at; i < to; i++)
        x->line += x->source[i] == '\n';
    x->line_starts = to > x->at && x->source[to - 1] == '\n';
    x->at = to;
}

/* The end of the white space at `at`: Python's, not ASCII's alone. */
static size_t
skip_blanks(const struct chat_lexer *x, size_t at)
{
    const struct chat_string source = { .s = x->source, .n = x->n };
    uint32_t c;

    while (at < x->n) {
        size_t n = chat_character(&source, at, &c);

        if (!chat_is_space(c))
            break;
        at += n;
    }
    return at;
}

/* The length of text[0..n) without the white space at its end. */
static size_t
cut_blanks(const char *text, size_t n)
{
    const struct chat_string s = { .s = text, .n = n };
    uint32_t c;

    while (n) {
        size_t m = chat_character_before(&s, n, &c);

        if (!chat_is_space(c))
            break;
        n -= m;
    }
    return n;
}

static bool
stands(const struct chat_lexer *x, size_t at, const char *text)
{
    size_t n = strlen(text);

    return n <= x->n - at && memcmp(x->source + at, text, n) == 0;
}

/* ---- text ---------------------------------------------------------------- */

/* The length of text[0..n) in front of a block with this sign. */
static size_t
cut_end(const struct chat_lexer *x, const char *text, size_t n, char sign,
        bool block)
{
    const char *newline = memrchr(text, '\n', n);
    size_t line = newline ? (size_t)(newline - text) + 1 : 0;

    if (sign == '-')
        return cut_blanks(text, n);
    if (sign == '+' || !block || (line == 0 && !x->line_starts))
        return n;
    return cut_blanks(text, n) <= line ? line : n;
}

/* The text up to `to`, where something with this sign begins. */
static void
add_text(struct chat_lexer *x, size_t to, char sign, bool block)
{
    const char *text = x->source + x->at;
    size_t n = cut_end(x, text, to - x->at, sign, block);

    if (n)
        add(x, CHAT_TOKEN_TEXT, text, n);
    advance(x, to);
}

static size_t
find_opening(const struct chat_lexer *x)
{
    size_t at = x->at;

    while (at + 1 < x->n &&
           !(x->source[at] == '{' && memchr("{%#", x->source[at + 1], 3)))
        at++;
    return at + 1 < x->n ? at : x->n;
}

static char
sign_at(const struct chat_lexer *x, size_t at)
{
    char c = at < x->n ? x->source[at] : '\0';

    return c == '-' || c == '+' ? c : '\0';
}

/* Whether "sign %}" ends a block at `at`; *end gets where the text goes on. */
static bool
ends_with(const struct chat_lexer *x, size_t at, const char *mark, bool trim,
          size_t *end)
{
    char sign = sign_at(x, at);
    size_t n = at + (sign != '\0');

    if (!stands(x, n, mark) || (sign == '+' && !trim))
        return false;
    *end = n + 2;
    if (sign == '-')
        *end = skip_blanks(x, *end);
    else if (sign == '\0' && trim && *end < x->n && x->source[*end] == '\n')
        ++*end;
    return true;
}

static void
skip_comment(struct chat_lexer *x)
{
    size_t at = x->at + 2 + (sign_at(x, x->at + 2) != '\0'), end;

    for (; at < x->n; at++)
        if (ends_with(x, at, "#}", true, &end)) {
            advance(x, end);
            return;
        }
    lex_error(x, "a comment does not end");
}

/* ---- raw blocks ---------------------------------------------------------- */

/* Whether "{% word" stands at `at`; *after gets where it ends. */
static bool
is_tag(const struct chat_lexer *x, size_t at, const char *word, size_t *after)
{
    size_t n;

    if (!stands(x, at, "{%"))
        return false;
    at += 2;
    n = skip_blanks(x, at + (sign_at(x, at) != '\0'));
    if (!stands(x, n, word))
        return false;
    *after = skip_blanks(x, n + strlen(word));
    return true;
}

/* {% raw %}: text up to {% endraw %}. */
static bool
lex_raw(struct chat_lexer *x)
{
    size_t after, end;

    if (!is_tag(x, x->at, "raw", &after) ||
        !ends_with(x, after, "%}", false, &end))
        return false;
    advance(x, end);
    for (size_t at = end; at < x->n; at++)
        if (is_tag(x, at, "endraw", &after) &&
            ends_with(x, after, "%}", true, &end)) {
            add_text(x, at, sign_at(x, at + 2), true);
            advance(x, end);
            return true;
        }
    lex_error(x, "raw has no endraw");
    return true;
}

/* ---- within blocks ------------------------------------------------------- */

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t
skip_digits(const struct chat_lexer *x, size_t at)
{
    while (at < x->n &&
           (is_digit(x->source[at]) || (x->source[at] == '_' && at + 1 < x->n &&
                                        is_digit(x->source[at + 1]))))
        at++;
    return at;
}

/* The end of the part of a number that makes it a float, or `at`. */
static size_t
skip_fraction(const struct chat_lexer *x, size_t at)
{
    size_t end = at;

    if (at + 1 < x->n && x->source[at] == '.' && is_digit(x->source[at + 1]))
        end = skip_digits(x, at + 1);
    if (end + 1 < x->n && (x->source[end] | 0x20) == 'e') {
        size_t digits = end + 1 + (sign_at(x, end + 1) != '\0');

        if (digits < x->n && is_digit(x->source[digits]))
            end = skip_digits(x, digits);
    }
    return end;
}

/* The end of 0x1f, 0o17 or 0b11 at x->at; or x->at. */
static size_t
skip_based(const struct chat_lexer *x)
{
    char c = x->at + 1 < x->n ? (char)(x->source[x->at + 1] | 0x20) : '\0';
    const char *digits = c == 'x'   ? "0123456789abcdefABCDEF"
                         : c == 'o' ? "01234567"
                         : c == 'b' ? "01"
                                    : "";
    size_t at = x->at + 2;

    if (x->source[x->at] != '0' || !*digits)
        return x->at;
    while (at < x->n && x->source[at] && strchr(digits, x->source[at]))
        at++;
    return at > x->at + 2 ? at : x->at;
}

static size_t
lex_number(struct chat_lexer *x)
{
    size_t based = skip_based(x);
    bool item = x->n_tokens && x->source[x->at - 1] == '.'; /* list.0 */
    size_t whole = skip_digits(x, x->at);
    size_t end = item ? whole : skip_fraction(x, whole);

    if (based > x->at)
        whole = end = based;
    add(x, end > whole ? CHAT_TOKEN_FLOAT : CHAT_TOKEN_INT, x->source + x->at,
        end - x->at);
    return end;
}

static size_t
lex_name(struct chat_lexer *x)
{
    size_t at = x->at;

    while (at < x->n && (is_letter(x->source[at]) || is_digit(x->source[at])))
        at++;
    add(x, CHAT_TOKEN_NAME, x->source + x->at, at - x->at);
    return at;
}

static size_t
lex_string(struct chat_lexer *x)
{
    char quote = x->source[x->at];
    size_t at = x->at + 1;

    while (at < x->n && x->source[at] != quote)
        at += x->source[at] == '\\' ? 2 : 1;
    if (at >= x->n) {
        lex_error(x, "a string does not end");
        return x->n;
    }
    add(x, CHAT_TOKEN_STRING, x->source + x->at, at + 1 - x->at);
    return at + 1;
}

static size_t
lex_operator(struct chat_lexer *x)
{
    static const char pairs[] = "// ** == != >= <= ";
    size_t n = 1;

    for (const char *p = pairs; *p; p += 3)
        if (x->n - x->at > 1 && memcmp(x->source + x->at, p, 2) == 0)
            n = 2;
    if (n == 1 && !strchr("+-/*%~[](){}><=.:|,;", x->source[x->at])) {
        lex_error(x, "a character that no expression has: '%.1s'",
                  is_letter(x->source[x->at]) ? "?" : x->source + x->at);
        return x->n;
    }
    add(x, CHAT_TOKEN_OPERATOR, x->source + x->at, n);
    return x->at + n;
}

/* Keeps the brackets that are open. */
static void
balance(struct chat_lexer *x, char *open, size_t *n, char c)
{
    const char *p = c ? strchr("([{)]}", c) : NULL;
    char closing = c == '(' ? ')' : c == '[' ? ']' : '}';

    if (!p)
        return;
    if (c != '(' && c != '[' && c != '{') {
        if (*n == 0 || open[*n - 1] != c)
            lex_error(x, "unexpected '%c'", c);
        else
            --*n;
    } else if (*n == MAX_OPEN) {
        lex_error(x, "brackets are nested too deep");
    } else {
        open[(*n)++] = closing;
    }
}

static size_t
lex_one(struct chat_lexer *x, char *open, size_t *n)
{
    char c = x->source[x->at];

    if (is_digit(c))
        return lex_number(x);
    if (is_letter(c))
        return lex_name(x);
    if (c == '\'' || c == '"')
        return lex_string(x);
    balance(x, open, n, c);
    return lex_operator(x);
}

/* Tokens of {{ }} or {% %}, up to its end. */
static void
lex_inside(struct chat_lexer *x, const char *mark, bool trim)
{
    char open[MAX_OPEN];
    size_t n = 0, end;

    while (x->status == GG_OK) {
        advance(x, skip_blanks(x, x->at));
        if (x->at == x->n) {
            lex_error(x, "a block does not end");
            return;
        }
        if (n == 0 && ends_with(x, x->at, mark, trim, &end)) {
            add(x, trim ? CHAT_TOKEN_BLOCK_END : CHAT_TOKEN_PRINT_END,
                x->source + x->at, 2);
            advance(x, end);
            return;
        }
        advance(x, lex_one(x, open, &n));
    }
}

/* ---- the whole ----------------------------------------------------------- */

/* Text that begins with '{' at x->at. */
static void
lex_opening(struct chat_lexer *x)
{
    char kind = x->source[x->at + 1];

    if (kind == '#') {
        skip_comment(x);
    } else if (kind != '%' || !lex_raw(x)) {
        add(x, kind == '%' ? CHAT_TOKEN_BLOCK : CHAT_TOKEN_PRINT,
            x->source + x->at, 2);
        advance(x, x->at + 2 + (sign_at(x, x->at + 2) != '\0'));
        lex_inside(x, kind == '%' ? "%}" : "}}", kind == '%');
    }
}

/* A copy with "\n" for all newlines, and without the last one. */
static bool
copy_source(struct chat_lexer *x, const char *text, size_t n)
{
    char *to = chat_arena_alloc(x->arena, n);

    if (!to)
        return false;
    x->source = to;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\r' && i + 1 < n && text[i + 1] == '\n')
            continue;
        *to++ = text[i] == '\r' ? '\n' : text[i];
    }
    x->n = (size_t)(to - x->source);
    x->n -= x->n && x->source[x->n - 1] == '\n';
    return true;
}

enum gg_status
chat_lex(struct chat_lexer *x, const char *text, size_t n)
{
    if (!copy_source(x, text, n))
        return error_nomem(x->err);
    x->line = 1;
    x->line_starts = true;
    while (x->status == GG_OK && x->at < x->n) {
        size_t to = find_opening(x);
        char kind = to < x->n ? x->source[to + 1] : '\0';

        add_text(x, to, kind ? sign_at(x, to + 2) : '+', kind != '{');
        if (kind && x->status == GG_OK)
            lex_opening(x);
    }
    add(x, CHAT_TOKEN_END, x->source + x->n, 0);
    return x->status;
}
