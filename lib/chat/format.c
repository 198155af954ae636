/* format.c - "%5.1f" % value, and "{:>5}".format(value) */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/repr.h"
#include "chat/text.h"

enum {
    MAX_WIDTH = 10000,
    MAX_PRECISION = 60
};

/* How one value is shown. */
struct form {
    char type;    /* of %d, {:d}; or '\0' */
    char convert; /* r: repr(), else '\0' or s */
    char align;   /* < > ^ =, or '\0': numbers right, others left */
    char sign;    /* + or blank: of numbers at least 0 */
    bool alternate, zeros, commas;
    struct chat_value fill; /* a character; absent: a blank */
    int width, precision;   /* -1: none */
};

/* ---- one value ----------------------------------------------------------- */

static void
put_padding(struct chat_builder *b, const struct form *f, size_t n)
{
    while (n-- && !chat_failed(b->r))
        if (f->fill.type == CHAT_STRING)
            chat_put_string(b, f->fill.string);
        else
            chat_put(b, f->zeros ? "0" : " ", 1, CHAT_TEXT);
}

/* A text in its width; its first `sign` bytes stay in front of zeros. */
static void
put_aligned(struct chat_builder *b, const struct form *f,
            const struct chat_string *s, size_t sign, char usual)
{
    size_t length = chat_length(b->r, s);
    size_t n = f->width > 0 && (size_t)f->width > length
                   ? (size_t)f->width - length
                   : 0;
    char align = f->align ? f->align : f->zeros && usual == '>' ? '=' : usual;
    size_t left = align == '<' ? 0 : align == '^' ? n / 2 : n;

    if (align != '=')
        put_padding(b, f, left);
    chat_put_part(b, s, 0, sign);
    if (align == '=')
        put_padding(b, f, n);
    chat_put_part(b, s, sign, s->n - sign);
    if (align != '=')
        put_padding(b, f, n - left);
}

static void
put_string(struct chat_builder *b, const struct form *f, struct chat_value v)
{
    struct chat_builder repr = { .r = b->r };
    size_t n;

    if (f->convert == 'r') {
        chat_put_repr(&repr, v);
        v = chat_built(&repr);
    } else {
        v = chat_str(b->r, v);
    }
    if (chat_failed(b->r))
        return;
    n = f->precision < 0 ? v.string->n
                         : chat_offset(b->r, v.string, (size_t)f->precision);
    v = chat_part(b->r, v.string, 0, n);
    if (!chat_failed(b->r))
        put_aligned(b, f, v.string, 0, '<');
}

/* Digits with a comma between each three in front of the point. */
static size_t
put_commas(char *out, const char *digits)
{
    size_t whole = strcspn(digits, ".e"), n = 0;

    for (size_t i = 0; digits[i]; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = '\0';
    return n;
}

/* A number's sign and digits. */
static void
put_digits(struct chat_builder *b, const struct form *f, bool negative,
           const char *digits)
{
    char s[1024] = { negative ? '-' : f->sign, '\0' };
    size_t sign = s[0] != '\0';
    struct chat_string text = { .s = s };

    if (f->commas)
        put_commas(s + sign, digits);
    else
        snprintf(s + sign, sizeof(s) - sign, "%s", digits);
    text.n = strlen(s);
    put_aligned(b, f, &text, sign, '>');
}

static void
binary(char *out, const char *prefix, uint64_t u)
{
    int bits = 1;

    while (bits < 64 && u >> bits)
        bits++;
    out += sprintf(out, "%s", prefix);
    while (bits--)
        *out++ = (char)('0' + (u >> bits & 1));
    *out = '\0';
}

static void
put_int(struct chat_builder *b, const struct form *f, int64_t i)
{
    uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
    const char *prefix = f->alternate && f->type == 'x'   ? "0x"
                         : f->alternate && f->type == 'X' ? "0X"
                         : f->alternate && f->type == 'o' ? "0o"
                         : f->alternate && f->type == 'b' ? "0b"
                                                          : "";
    int digits = f->precision < 1 ? 1 : f->precision;
    char s[80];

    if (f->type == 'x')
        snprintf(s, sizeof(s), "%s%.*" PRIx64, prefix, digits, u);
    else if (f->type == 'X')
        snprintf(s, sizeof(s), "%s%.*" PRIX64, prefix, digits, u);
    else if (f->type == 'o')
        snprintf(s, sizeof(s), "%s%.*" PRIo64, prefix, digits, u);
    else if (f->type == 'b')
        binary(s, prefix, u);
    else
        snprintf(s, sizeof(s), "%.*" PRIu64, digits, u);
    put_digits(b, f, i < 0, s);
}

static void
put_float(struct chat_builder *b, const struct form *f, double x)
{
    int precision = f->precision < 0 ? 6 : f->precision;
    double y = f->type == '%' ? 100 * fabs(x) : fabs(x);
    char s[512];

    chat_take_steps(b->r, CHAT_FLOAT_STEPS);
    if (f->type == '\0' && f->precision < 0)
        chat_float_text(s, y);
    else if (f->type == 'e')
        snprintf(s, sizeof(s), "%.*e", precision, y);
    else if (f->type == 'E')
        snprintf(s, sizeof(s), "%.*E", precision, y);
    else if (f->type == 'G')
        snprintf(s, sizeof(s), "%.*G", precision, y);
    else if (f->type == 'g' || f->type == '\0')
        snprintf(s, sizeof(s), "%.*g", precision, y);
    else
        snprintf(s, sizeof(s), "%.*f%s", precision, y,
                 f->type == '%' ? "%" : "");
    put_digits(b, f, signbit(x), s);
}

static void
put_number(struct chat_builder *b, const struct form *f, struct chat_value v)
{
    bool whole = strchr("diuxXobc", f->type) && f->type;

    if (!chat_is_number(v)) {
        chat_fail(b->r, "a %s has no format %c", chat_type_name(v), f->type);
    } else if (whole && chat_is_real(v)) {
        if (fabs(chat_number(v)) < 9.2e18)
            put_int(b, f, (int64_t)chat_number(v));
        else
            chat_fail(b->r, "a number is too large");
    } else if (f->type == 'c') {
        chat_put_character(
            b, v.i < 0 || v.i > 0x10ffff ? UINT32_MAX : (uint32_t)v.i,
            CHAT_TEXT);
    } else if (chat_is_real(v) || !(whole || f->type == '\0')) {
        put_float(b, f, chat_number(v));
    } else {
        put_int(b, f, v.type == CHAT_BOOL ? v.b : v.i);
    }
}

static bool
is_plain(const struct form *f)
{
    return f->width < 0 && f->precision < 0 && !f->sign && !f->commas &&
           !f->alternate;
}

static void
put_formed(struct chat_builder *b, const struct form *f, struct chat_value v)
{

    bool text = f->convert || f->type == 's' ||
                (f->type == 'c' && v.type == CHAT_STRING) ||
                (f->type == '\0' &&
                 (!chat_is_number(v) || (v.type == CHAT_BOOL && is_plain(f))));

    chat_take_steps(b->r, 1);
    if (text)
        put_string(b, f, v);
    else
        put_number(b, f, v);
}

/* ---- reading formats ----------------------------------------------------- */

struct reader {
    struct chat_run *r;
    const struct chat_string *s;
    size_t at;
};

static char
peek(const struct reader *x)
{
    return x->at < x->s->n ? x->s->s[x->at] : '\0';
}

static bool
take(struct reader *x, char c)
{
    bool is = x->at < x->s->n && x->s->s[x->at] == c;

    x->at += is;
    return is;
}

static int
take_number(struct reader *x, int most)
{
    int n = -1;

    for (; peek(x) >= '0' && peek(x) <= '9'; x->at++) {
        n = 10 * (n < 0 ? 0 : n) + (peek(x) - '0');
        if (n > most) {
            chat_fail(x->r, "a format has a number that is too large");
            n = most;
        }
    }
    return n;
}

static int
take_precision(struct reader *x)
{
    int n;

    if (!take(x, '.'))
        return -1;
    n = take_number(x, MAX_PRECISION);
    return n < 0 ? 0 : n;
}

/* ---- % ------------------------------------------------------------------- */

static void
read_flags(struct reader *x, struct form *f)
{
    for (;; x->at++)
        switch (peek(x)) {
        case '-':
            f->align = '<';
            break;
        case '+':
            f->sign = '+';
            break;
        case ' ':
            f->sign = f->sign ? f->sign : ' ';
            break;
        case '#':
            f->alternate = true;
            break;
        case '0':
            f->zeros = true;
            break;
        default:
            return;
        }
}

/* The values of %: a tuple's, one after another, or one. */
struct values {
    struct chat_value v;
    size_t used;
};

static struct chat_value
next_value(struct reader *x, struct values *values)
{
    size_t n = values->v.type == CHAT_TUPLE ? values->v.list->n : 1;

    if (values->used >= n)
        return chat_fail(x->r, "not enough values for a format");
    values->used++;
    return values->v.type == CHAT_TUPLE
               ? values->v.list->items[values->used - 1]
               : values->v;
}

/* %(name)s */
static struct chat_value
named_value(struct reader *x, const struct values *values)
{
    size_t from = x->at;
    const struct chat_value *v = NULL;

    while (x->at < x->s->n && peek(x) != ')')
        x->at++;
    if (values->v.type == CHAT_DICT)
        v = chat_find_name(x->r, values->v.dict, x->s->s + from, x->at - from);
    take(x, ')');
    return v ? *v : chat_fail(x->r, "a format's name is not among the values");
}

static void
put_percent(struct chat_builder *b, struct reader *x, struct values *values)
{
    struct form f = { .width = -1, .precision = -1 };
    bool named = take(x, '(');
    struct chat_value v = { .type = CHAT_ABSENT };

    if (named)
        v = named_value(x, values);
    read_flags(x, &f);
    f.width = take_number(x, MAX_WIDTH);
    f.precision = take_precision(x);
    f.type = peek(x);
    x->at++;
    if (f.type == '%') {
        chat_put(b, "%", 1, CHAT_TEXT);
        return;
    }
    if (!f.type || !strchr("sradiuxXofFeEgGc", f.type)) {
        chat_fail(x->r, "a format that is none");
        return;
    }
    f.convert = f.type == 'r' || f.type == 'a' ? 'r' : f.type == 's' ? 's' : 0;
    f.zeros = f.zeros && !f.convert && !f.align;
    if (!named)
        v = next_value(x, values);
    if (!f.align)
        f.align = f.zeros ? '=' : '>';
    if (!chat_failed(x->r))
        put_formed(b, &f, v);
}

/* Whether the value need not be used up: Python takes it for names and their
 * values. */
static bool
has_items(struct chat_value v)
{
    return v.type == CHAT_LIST || v.type == CHAT_DICT ||
           v.type == CHAT_UNDEFINED;
}

struct chat_value
chat_format_percent(struct chat_run *r, const struct chat_string *format,
                    struct chat_value v)
{
    struct chat_builder b = { .r = r };
    struct reader x = { r, format, 0 };
    struct values values = { v, 0 };

    chat_take_steps(r, format->n / 8);
    while (x.at < format->n && !chat_failed(r)) {
        const char *p = memchr(format->s + x.at, '%', format->n - x.at);
        size_t to = p ? (size_t)(p - format->s) : format->n;

        chat_put_part(&b, format, x.at, to - x.at);
        x.at = to + 1;
        if (p)
            put_percent(&b, &x, &values);
    }
    if (values.used < (v.type == CHAT_TUPLE ? v.list->n : !has_items(v)))
        chat_fail(r, "more values than a format has places");
    return chat_built(&b);
}

/* ---- {} ------------------------------------------------------------------ */

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static void
read_spec(struct reader *x, struct form *f)
{
    size_t n = x->at < x->s->n ? chat_character(x->s, x->at, NULL) : 0;
    char next = n && x->at + n < x->s->n ? x->s->s[x->at + n] : '\0';

    if (next && strchr("<>^=", next)) {
        f->fill = chat_part(x->r, x->s, x->at, n);
        x->at += n;
    }
    if (peek(x) && strchr("<>^=", peek(x)))
        f->align = x->s->s[x->at++];
    if (peek(x) && strchr("+- ", peek(x))) {
        f->sign = peek(x) == '-' ? '\0' : peek(x);
        x->at++;
    }
    f->alternate = take(x, '#');
    f->zeros = take(x, '0');
    f->width = take_number(x, MAX_WIDTH);
    f->commas = take(x, ',');
    f->precision = take_precision(x);
    if (peek(x) && peek(x) != '}')
        f->type = x->s->s[x->at++];
    if (f->type && !strchr("sdbxXofFeEgGc%", f->type))
        chat_fail(x->r, "a format that is none");
}

/* The value of "0", "name", "" (the next), with .attributes and [items]. */
static struct chat_value
field_value(struct reader *x, const struct chat_arguments *a, size_t *next)
{
    size_t from = x->at, n;
    const struct chat_value *named;
    int i;

    i = take_number(x, MAX_WIDTH);
    while (x->at < x->s->n && !strchr(".[!:}", peek(x)))
        x->at++;
    n = x->at - from;
    named = a->named ? chat_find_name(x->r, a->named, x->s->s + from, n) : NULL;
    if (named)
        return *named;
    if (n == 0)
        i = (int)(*next)++;
    return i >= 0 && (size_t)i < a->n
               ? a->v[i]
               : chat_fail(x->r, "format() has no such value");
}

static struct chat_value
field_part(struct reader *x, struct chat_value v)
{
    bool item = take(x, '[');
    size_t from = x->at += !item, n;
    struct chat_value key;

    while (x->at < x->s->n && !strchr(item ? "]" : ".[!:}", peek(x)))
        x->at++;
    n = x->at - from;
    if (item)
        take(x, ']');
    key = chat_part(x->r, x->s, from, n);
    return chat_failed(x->r) ? v : chat_path(x->r, v, key.string);
}

static void
put_field(struct chat_builder *b, struct reader *x,
          const struct chat_arguments *a, size_t *next)
{
    struct form f = { .width = -1, .precision = -1 };
    struct chat_value v = field_value(x, a, next);

    while (!chat_failed(x->r) && (peek(x) == '.' || peek(x) == '['))
        v = field_part(x, v);
    if (take(x, '!')) {
        f.convert = peek(x) == 's' ? 's' : 'r';
        x->at++;
    }
    if (take(x, ':'))
        read_spec(x, &f);
    if (!take(x, '}'))
        chat_fail(x->r, "a format's '{' is not closed");
    if (!chat_failed(x->r))
        put_formed(b, &f, v);
}

struct chat_value
chat_format_braces(struct chat_run *r, const struct chat_string *format,
                   const struct chat_arguments *a)
{
    struct chat_builder b = { .r = r };
    struct reader x = { r, format, 0 };
    size_t next = 0;

    while (x.at < format->n && !chat_failed(r)) {
        char c = peek(&x);

        if ((c == '{' || c == '}') && x.at + 1 < format->n &&
            format->s[x.at + 1] == c) {
            chat_put_part(&b, format, x.at, 1);
            x.at += 2;
        } else if (take(&x, '{')) {
            put_field(&b, &x, a, &next);
        } else if (c == '}') {
            chat_fail(r, "a format has a single '}'");
        } else {
            size_t from = x.at;

            while (x.at < format->n && peek(&x) != '{' && peek(&x) != '}')
                x.at++;
            chat_put_part(&b, format, from, x.at - from);
        }
    }
    return chat_built(&b);
}
