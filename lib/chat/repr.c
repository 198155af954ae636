/* repr.c - values as Python prints them: str() and repr() */
#include <config.h>

#include "chat/repr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chat/text.h"

/* ---- numbers ------------------------------------------------------------- */

void
chat_float_text(char out[CHAT_FLOAT_TEXT], double f)
{
    if (isnan(f) || isinf(f))
        strcpy(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    else
        core_real_text(out, f);
}

static void
put_float(struct chat_builder *b, double f)
{
    char s[CHAT_FLOAT_TEXT];

    chat_take_steps(b->r, CHAT_FLOAT_STEPS);
    chat_float_text(s, f);
    chat_put_words(b, s);
}

static void
put_int(struct chat_builder *b, int64_t i)
{
    char s[24];

    snprintf(s, sizeof(s), "%" PRId64, i);
    chat_put_words(b, s);
}

/* ---- strings ------------------------------------------------------------- */

/* Python shows control and format characters, separators and those for private
 * use as escape sequences; unassigned ones, which it shows so, too, are not
 * known here. */
static bool
is_printable(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0x00, 0x1f },       { 0x7f, 0xa0 },        { 0xad, 0xad },
        { 0x600, 0x605 },     { 0x61c, 0x61c },      { 0x6dd, 0x6dd },
        { 0x70f, 0x70f },     { 0x180e, 0x180e },    { 0x200b, 0x200f },
        { 0x202a, 0x202e },   { 0x2060, 0x206f },    { 0xd800, 0xf8ff },
        { 0xfeff, 0xfeff },   { 0xfff0, 0xfffb },    { 0xfffe, 0xffff },
        { 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff },
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return false;
    return c == 0x20 || !chat_is_space(c);
}

static void
put_escaped(struct chat_builder *b, uint32_t c, enum chat_origin origin)
{
    char s[16];
    int n;

    if (c == '\n' || c == '\r' || c == '\t')
        n = snprintf(s, sizeof(s), "\\%c",
                     c == '\n'   ? 'n'
                     : c == '\r' ? 'r'
                                 : 't');
    else
        n = snprintf(s, sizeof(s),
                     c < 0x100     ? "\\x%02x"
                     : c < 0x10000 ? "\\u%04x"
                                   : "\\U%08x",
                     c);
    chat_take_steps(b->r, 2);
    chat_put(b, s, (size_t)n, origin);
}

static void
put_quoted(struct chat_builder *b, const struct chat_string *s)
{
    bool doubled = s->n && memchr(s->s, '\'', s->n) && !memchr(s->s, '"', s->n);
    const char *quote = doubled ? "\"" : "'";

    chat_put_words(b, quote);
    for (size_t at = 0, n; at < s->n && !chat_failed(b->r); at += n) {
        uint32_t c = 0;

        n = chat_character(s, at, &c);
        if (c == '\\' || (c == '\'' && !doubled))
            chat_put(b, "\\", 1, chat_origin_at(s, at));
        if (is_printable(c))
            chat_put_part(b, s, at, n);
        else
            put_escaped(b, c, chat_origin_at(s, at));
    }
    chat_put_words(b, quote);
}

/* ---- lists and dicts ----------------------------------------------------- */

static void
repr_list(struct chat_builder *b, const struct chat_list *list, bool tuple)
{
    chat_put_words(b, tuple ? "(" : "[");
    for (size_t i = 0; i < list->n && !chat_failed(b->r); i++) {
        chat_put_words(b, i ? ", " : "");
        chat_put_repr(b, list->items[i]);
    }
    chat_put_words(b, tuple && list->n == 1 ? "," : "");
    chat_put_words(b, tuple ? ")" : "]");
}

static void
put_dict(struct chat_builder *b, const struct chat_dict *dict)
{
    chat_put_words(b, "{");
    for (size_t i = 0; i < dict->n && !chat_failed(b->r); i++) {
        chat_put_words(b, i ? ", " : "");
        chat_put_repr(b, dict->pairs[i].key);
        chat_put_words(b, ": ");
        chat_put_repr(b, dict->pairs[i].value);
    }
    chat_put_words(b, "}");
}

void
chat_put_repr(struct chat_builder *b, struct chat_value v)
{
    chat_take_steps(b->r, 1);
    switch (v.type) {
    case CHAT_NONE:
        chat_put(b, "None", 4, v.origin);
        break;
    case CHAT_BOOL:
        chat_put_words(b, v.b ? "True" : "False");
        break;
    case CHAT_INT:
        put_int(b, v.i);
        break;
    case CHAT_FLOAT:
        put_float(b, v.f);
        break;
    case CHAT_LARGE:
        chat_put_words(b, v.large->text);
        break;
    case CHAT_STRING:
        put_quoted(b, v.string);
        break;
    case CHAT_LIST:
    case CHAT_TUPLE:
        repr_list(b, v.list, v.type == CHAT_TUPLE);
        break;
    case CHAT_DICT:
        put_dict(b, v.dict);
        break;
    default:
        chat_put_words(b, v.type == CHAT_UNDEFINED   ? "Undefined"
                          : v.type == CHAT_NAMESPACE ? "<Namespace>"
                          : v.type == CHAT_LOOP      ? "<LoopContext>"
                                                     : "<function>");
    }
}

void
chat_put_value(struct chat_builder *b, struct chat_value v)
{
    if (v.type == CHAT_STRING)
        chat_put_string(b, v.string);
    else if (v.type != CHAT_UNDEFINED)
        chat_put_repr(b, v);
}

struct chat_value
chat_str(struct chat_run *r, struct chat_value v)
{
    struct chat_builder b = { .r = r };

    if (v.type == CHAT_STRING || chat_failed(r))
        return v;
    if (v.type == CHAT_ABSENT)
        return chat_fail(r, "an argument is missing");
    chat_put_value(&b, v);
    return chat_built(&b);
}
