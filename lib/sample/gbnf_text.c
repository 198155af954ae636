/* gbnf_text.c - a grammar's text: characters, blanks, numbers */
#include <config.h>

#include "sample/gbnf_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sample/gbnf.h"

enum gg_status
sample_gbnf_bad(const struct gbnf_text *t, const char *what, ...)
{
    char text[200];
    size_t line = 1;
    va_list ap;

    for (const char *p = t->start; p < t->p; p++)
        line += *p == '\n';
    va_start(ap, what);
    vsnprintf(text, sizeof(text), what, ap);
    va_end(ap);
    return error_set(t->err, GG_ERR_FORMAT, "line %zu: %s", line, text);
}

void
sample_gbnf_skip(struct gbnf_text *t, bool lines)
{
    for (; t->p < t->end; t->p++)
        if (*t->p == '#')
            while (t->p + 1 < t->end && t->p[1] != '\n')
                t->p++;
        else if (*t->p != ' ' && *t->p != '\t' &&
                 !(lines && (*t->p == '\n' || *t->p == '\r')))
            break;
}

static int
hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool
is_character(uint32_t c)
{
    return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

static enum gg_status
escaped(struct gbnf_text *t, uint32_t *c)
{
    char kind = t->p + 1 < t->end ? t->p[1] : '\0';
    int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    static const char plain[] = "ntr\"\\[]-^", are[] = "\n\t\r\"\\[]-^";
    const char *found = kind ? strchr(plain, kind) : NULL;

    if (found) {
        *c = (uint8_t)are[found - plain];
        t->p += 2;
        return GG_OK;
    }
    if (!digits || t->end - t->p < 2 + digits)
        return sample_gbnf_bad(t, "an escape that is not known");
    *c = 0;
    for (int i = 0; i < digits; i++) {
        int value = hex(t->p[2 + i]);

        if (value < 0)
            return sample_gbnf_bad(t, "'\\%c' wants %d hexadecimal digits",
                                   kind, digits);
        *c = *c << 4 | (uint32_t)value;
    }
    if (!is_character(*c))
        return sample_gbnf_bad(t, "U+%lX is not a character",
                               (unsigned long)*c);
    t->p += 2 + digits;
    return GG_OK;
}

enum gg_status
sample_gbnf_character(struct gbnf_text *t, uint32_t *c)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    uint8_t first = (uint8_t)*t->p;
    int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;

    if (first == '\\')
        return escaped(t, c);
    *c = more ? first & (0x3fu >> more) : first;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 ||
        t->end - t->p <= more)
        return sample_gbnf_bad(t, "a byte that is not UTF-8");
    for (int i = 1; i <= more; i++) {
        uint8_t b = (uint8_t)t->p[i];

        if ((b & 0xc0) != 0x80)
            return sample_gbnf_bad(t, "a byte that is not UTF-8");
        *c = *c << 6 | (b & 0x3f);
    }
    if (*c < least[more] || !is_character(*c))
        return sample_gbnf_bad(t, "a byte that is not UTF-8");
    t->p += more + 1;
    return GG_OK;
}

enum gg_status
sample_gbnf_number(struct gbnf_text *t, size_t *n)
{
    if (sample_gbnf_peek(t) < '0' || sample_gbnf_peek(t) > '9')
        return sample_gbnf_bad(t, "a repetition without a number");
    for (*n = 0; sample_gbnf_peek(t) >= '0' && sample_gbnf_peek(t) <= '9';
         t->p++)
        if (*n <= INT32_MAX)
            *n = 10 * *n + (size_t)(*t->p - '0');
    return GG_OK;
}

enum gg_status
sample_gbnf_bounds(struct gbnf_text *t, size_t *least, size_t *most)
{
    enum gg_status st;

    t->p++;
    sample_gbnf_skip(t, false);
    st = sample_gbnf_number(t, least);
    *most = *least;
    sample_gbnf_skip(t, false);
    if (st == GG_OK && sample_gbnf_peek(t) == ',') {
        t->p++;
        sample_gbnf_skip(t, false);
        *most = SIZE_MAX;
        if (sample_gbnf_peek(t) != '}')
            st = sample_gbnf_number(t, most);
        sample_gbnf_skip(t, false);
    }
    if (st == GG_OK && (sample_gbnf_peek(t) != '}' || *most < *least))
        st = sample_gbnf_bad(t, "a repetition is {m}, {m,} or {m,n}");
    if (st == GG_OK)
        t->p++;
    return st;
}
