/* to_json.c - the filter tojson: json.dumps() as transformers calls it */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/repr.h"
#include "chat/text.h"

struct writer {
    struct chat_builder *b;
    const struct chat_string *indent; /* of a level, or NULL: in one line */
    const struct chat_string *between, *after_key;
    bool ascii, sorted;
};

static void
put_code(struct chat_builder *b, uint32_t c, enum chat_origin origin)
{
    char s[16];
    int n;

    if (c >= 0x10000)
        n = snprintf(s, sizeof(s), "\\u%04x\\u%04x",
                     0xd800 + ((c - 0x10000) >> 10),
                     0xdc00 + ((c - 0x10000) & 0x3ff));
    else
        n = snprintf(s, sizeof(s), "\\u%04x", c);
    chat_take_steps(b->r, 2);
    chat_put(b, s, (size_t)n, origin);
}

static void
put_character(const struct writer *w, const struct chat_string *s, size_t at,
              size_t n, uint32_t c)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    const char *p = c && c < 0x80 ? strchr(from, (int)c) : NULL;
    enum chat_origin origin = chat_origin_at(s, at);

    if (p) {
        chat_put(w->b, "\\", 1, origin);
        chat_put(w->b, to + (p - from), 1, origin);
    } else if (c < 0x20 || (w->ascii && c >= 0x7f)) {
        put_code(w->b, c, origin);
    } else {
        chat_put_part(w->b, s, at, n);
    }
}

static void
put_string(const struct writer *w, const struct chat_string *s)
{
    chat_put_words(w->b, "\"");
    for (size_t at = 0, n; at < s->n && !chat_failed(w->b->r); at += n) {
        uint32_t c = 0;

        n = chat_character(s, at, &c);
        put_character(w, s, at, n, c);
    }
    chat_put_words(w->b, "\"");
}

static void
put_line(const struct writer *w, unsigned level)
{
    if (!w->indent)
        return;
    chat_put_words(w->b, "\n");
    chat_take_steps(w->b->r, level / 8);
    while (level--)
        chat_put_string(w->b, w->indent);
}

static void
put_number(const struct writer *w, struct chat_value v)
{
    char s[CHAT_FLOAT_TEXT];

    if (v.type == CHAT_INT) {
        snprintf(s, sizeof(s), "%" PRId64, v.i);
    } else if (isfinite(v.f)) {
        chat_take_steps(w->b->r, CHAT_FLOAT_STEPS);
        chat_float_text(s, v.f);
    } else {
        strcpy(s, isnan(v.f) ? "NaN" : v.f > 0 ? "Infinity" : "-Infinity");
    }
    chat_put_words(w->b, s);
}

static void
put_value(const struct writer *w, struct chat_value v, unsigned level);

static void
put_list(const struct writer *w, const struct chat_list *list, unsigned level)
{
    chat_put_words(w->b, "[");
    for (size_t i = 0; i < list->n && !chat_failed(w->b->r); i++) {
        if (i)
            chat_put_string(w->b, w->between);
        put_line(w, level + 1);
        put_value(w, list->items[i], level + 1);
    }
    if (list->n)
        put_line(w, level);
    chat_put_words(w->b, "]");
}

/* Keys become strings, as in json.dumps(). */
static void
put_key(const struct writer *w, struct chat_value key)
{
    if (key.type == CHAT_STRING) {
        put_string(w, key.string);
        return;
    }
    chat_put_words(w->b, "\"");
    put_value(w, key, 0);
    chat_put_words(w->b, "\"");
}

static const struct chat_dict *
in_order(const struct writer *w, const struct chat_dict *dict)
{
    struct chat_run *r = w->b->r;
    const struct chat_builtin *sort = chat_filter("dictsort");
    const struct chat_value v = { .type = CHAT_DICT,
                                  .dict = (struct chat_dict *)dict };
    struct chat_value pairs, out;

    if (!w->sorted)
        return dict;
    pairs = chat_call_simply(r, sort, v, chat_bool(true),
                             (struct chat_value){ .type = CHAT_ABSENT });
    out = chat_new_dict(r, CHAT_DICT);
    for (size_t i = 0; !chat_failed(r) && i < pairs.list->n; i++)
        chat_set(r, out, pairs.list->items[i].list->items[0],
                 pairs.list->items[i].list->items[1]);
    return chat_failed(r) ? dict : out.dict;
}

static void
put_dict(const struct writer *w, const struct chat_dict *dict, unsigned level)
{
    dict = in_order(w, dict);
    chat_put_words(w->b, "{");
    for (size_t i = 0; i < dict->n && !chat_failed(w->b->r); i++) {
        if (i)
            chat_put_string(w->b, w->between);
        put_line(w, level + 1);
        put_key(w, dict->pairs[i].key);
        chat_put_string(w->b, w->after_key);
        put_value(w, dict->pairs[i].value, level + 1);
    }
    if (dict->n)
        put_line(w, level);
    chat_put_words(w->b, "}");
}

static void
put_value(const struct writer *w, struct chat_value v, unsigned level)
{
    chat_take_steps(w->b->r, 1);
    switch (v.type) {
    case CHAT_NONE:
        chat_put(w->b, "null", 4, v.origin);
        break;
    case CHAT_BOOL:
        chat_put_words(w->b, v.b ? "true" : "false");
        break;
    case CHAT_INT:
    case CHAT_FLOAT:
        put_number(w, v);
        break;
    case CHAT_LARGE:
        chat_put_words(w->b, v.large->text);
        break;
    case CHAT_STRING:
        put_string(w, v.string);
        break;
    case CHAT_LIST:
    case CHAT_TUPLE:
        put_list(w, v.list, level);
        break;
    case CHAT_DICT:
        put_dict(w, v.dict, level);
        break;
    default:
        chat_fail(w->b->r, "tojson: a %s is nothing that JSON has",
                  chat_type_name(v));
    }
}

/* ---- arguments ----------------------------------------------------------- */

/* A number of blanks, or a text. */
static const struct chat_string *
read_indent(struct chat_run *r, struct chat_value v)
{
    int64_t n;

    if (v.type == CHAT_ABSENT || v.type == CHAT_NONE)
        return NULL;
    if (v.type == CHAT_STRING)
        return v.string;
    n = chat_int_argument(r, v, 0);
    v = chat_words(r, " ");
    if (n < 0 || n > 100)
        chat_fail(r, "tojson: no such indent");
    if (!chat_failed(r))
        v = chat_operate(r, '*', v, chat_int(n));
    return chat_failed(r) ? NULL : v.string;
}

/* (between items, after a key) */
static void
read_separators(struct chat_run *r, struct chat_value v, struct writer *w)
{
    struct chat_value between = chat_words(r, w->indent ? "," : ", ");
    struct chat_value after = chat_words(r, ": ");

    if (chat_is_list(v) && v.list->n == 2) {
        between = v.list->items[0];
        after = v.list->items[1];
    } else if (v.type != CHAT_ABSENT && v.type != CHAT_NONE) {
        chat_fail(r, "tojson: separators are two texts");
    }
    w->between = chat_string_argument(r, between, NULL);
    w->after_key = chat_string_argument(r, after, NULL);
}

struct chat_value
chat_to_json(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    struct chat_builder b = { .r = r };
    struct writer w = { .b = &b,
                        .ascii = chat_bool_argument(a->v[0], false),
                        .sorted = chat_bool_argument(a->v[3], false) };

    w.indent = read_indent(r, a->v[1]);
    read_separators(r, a->v[2], &w);
    if (!chat_failed(r))
        put_value(&w, self, 0);
    return chat_built(&b);
}
