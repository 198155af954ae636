/* filters.c - what stands after |, but for the filters of lists */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/case.h"
#include "chat/text.h"
#include "core/case.h"

/* ---- any value ----------------------------------------------------------- */

static struct chat_value
filter_default(struct chat_run *r, struct chat_value v,
               const struct chat_arguments *a)
{
    bool lacks = v.type == CHAT_UNDEFINED ||
                 (chat_bool_argument(a->v[1], false) && !chat_truth(v));

    if (!lacks)
        return v;
    return a->v[0].type == CHAT_ABSENT ? chat_words(r, "") : a->v[0];
}

static struct chat_value
filter_string(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    (void)a;
    return chat_str(r, v);
}

/* Attributes only: a key of a dict is none. */
static struct chat_value
filter_attr(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    const struct chat_string *name = chat_string_argument(r, a->v[0], NULL);
    struct chat_value found;

    if (!name)
        return chat_undefined(NULL);
    found = chat_attribute_named(r, v, name);
    return v.type == CHAT_DICT && found.type != CHAT_FUNCTION
               ? chat_undefined(NULL)
               : found;
}

static struct chat_value
filter_length(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    (void)a;
    switch (v.type) {
    case CHAT_STRING:
        return chat_int((int64_t)chat_length(r, v.string));
    case CHAT_LIST:
    case CHAT_TUPLE:
        return chat_int((int64_t)v.list->n);
    case CHAT_DICT:
        return chat_int((int64_t)v.dict->n);
    case CHAT_UNDEFINED:
        return chat_int(0);
    default:
        return chat_fail(r, "a %s has no length", chat_type_name(v));
    }
}

/* ---- numbers ------------------------------------------------------------- */

static struct chat_value
filter_abs(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    (void)a;
    if (!chat_is_number(v))
        return chat_fail(r, "a %s has no absolute value", chat_type_name(v));
    if (chat_is_real(v))
        return chat_float(fabs(chat_number(v)));
    return chat_truth(chat_bool(chat_compare(r, '<', v, chat_int(0))))
               ? chat_operate(r, '-', chat_int(0), v)
               : chat_operate(r, '+', chat_int(0), v);
}

/* The number that a whole text is; false where it is none. */
static bool
read_number(struct chat_run *r, const struct chat_string *s, int base,
            double *f, int64_t *i, bool *whole)
{
    struct chat_value text = chat_strip(r, s, NULL, CHAT_LEFT | CHAT_RIGHT);
    char copy[128], *end;
    size_t n = chat_failed(r) ? 0 : text.string->n;

    chat_take_steps(r, CHAT_FLOAT_STEPS);
    if (n == 0 || n >= sizeof(copy) || memchr(text.string->s, '\0', n))
        return false;
    memcpy(copy, text.string->s, n);
    copy[n] = '\0';
    errno = 0;
    *i = strtoll(copy, &end, base);
    *whole = !errno && !*end;
    if (*whole)
        *f = (double)*i;
    if (*whole || base != 10 || strpbrk(copy, "xXpP"))
        return *whole;
    *f = strtod(copy, &end);
    return !*end;
}

/* Towards zero; what is no number, or too large, is `other`. */
static struct chat_value
float_to_int(double f, struct chat_value other)
{
    return f > -9.2e18 && f < 9.2e18 ? chat_int((int64_t)f) : other;
}

static struct chat_value
no_number(struct chat_run *r, struct chat_value v)
{
    return chat_fail(r, "%s is undefined, and no number",
                     v.name ? v.name : "a value");
}

static struct chat_value
filter_int(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    struct chat_value other =
        a->v[0].type == CHAT_ABSENT ? chat_int(0) : a->v[0];
    int64_t base = chat_int_argument(r, a->v[1], 10), i;
    double f = 0;
    bool whole;

    if (v.type == CHAT_INT || v.type == CHAT_BOOL)
        return chat_operate(r, '+', chat_int(0), v);
    if (v.type == CHAT_LARGE && v.large->whole)
        return v;
    if (v.type == CHAT_UNDEFINED)
        return no_number(r, v);
    if (chat_is_real(v))
        return float_to_int(chat_number(v), other);
    if (v.type != CHAT_STRING || base < 2 || base > 36 ||
        !read_number(r, v.string, (int)base, &f, &i, &whole))
        return other;
    return whole ? chat_int(i) : float_to_int(f, other);
}

static struct chat_value
filter_float(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    double f = 0;
    int64_t i;
    bool whole;

    if (chat_is_number(v))
        return chat_float(chat_number(v));
    if (v.type == CHAT_UNDEFINED)
        return no_number(r, v);
    if (v.type == CHAT_STRING && read_number(r, v.string, 10, &f, &i, &whole))
        return chat_float(f);
    return a->v[0].type == CHAT_ABSENT ? chat_float(0) : a->v[0];
}

static struct chat_value
filter_round(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    int64_t digits = chat_int_argument(r, a->v[0], 0);
    const struct chat_string *how = chat_string_argument(r, a->v[1], "common");
    double scale = pow(10, (double)digits), f;
    char s[400];

    chat_take_steps(r, CHAT_FLOAT_STEPS);
    if (!chat_is_number(v))
        return chat_fail(r, "a %s cannot be rounded", chat_type_name(v));
    if (!how || digits < -300 || digits > 300)
        return chat_fail(r, "round: no such precision");
    f = chat_number(v);
    if (chat_is(how, "ceil"))
        return chat_float(ceil(f * scale) / scale + 0.0); /* not -0.0 */
    if (chat_is(how, "floor"))
        return chat_float(floor(f * scale) / scale + 0.0);
    if (!chat_is(how, "common"))
        return chat_fail(r, "round: method must be common, ceil or floor");
    if (!chat_is_real(v) && digits >= 0)
        return chat_operate(r, '+', chat_int(0), v);
    if (!chat_is_real(v) && digits > -16)
        return chat_int((int64_t)(nearbyint(f * scale) / scale));
    if (digits < 0 || fabs(f) >= 1e16)
        return chat_float(nearbyint(f * scale) / scale);
    snprintf(s, sizeof(s), "%.*f", (int)digits, f);
    return chat_float(strtod(s, NULL));
}

/* ---- texts --------------------------------------------------------------- */

/* Calls the method of str(value). */
static struct chat_value
by_method(struct chat_run *r, struct chat_value v, const char *method,
          struct chat_value first, struct chat_value second)
{
    const struct chat_builtin *b;

    v = chat_str(r, v);
    if (chat_failed(r))
        return v;
    b = chat_method(v, method);
    return b ? chat_call_simply(r, b, v, first, second) : v;
}

#define NOTHING                                                                \
    (struct chat_value)                                                        \
    {                                                                          \
        .type = CHAT_ABSENT                                                    \
    }

/* A filter that is a method of strings. */
#define METHOD(name, method, first)                                            \
    static struct chat_value name(struct chat_run *r, struct chat_value v,     \
                                  const struct chat_arguments *a)              \
    {                                                                          \
        (void)a;                                                               \
        return by_method(r, v, method, first, NOTHING);                        \
    }

METHOD(filter_upper, "upper", NOTHING)
METHOD(filter_lower, "lower", NOTHING)
METHOD(filter_capitalize, "capitalize", NOTHING)
METHOD(filter_trim, "strip", a->v[0])
METHOD(filter_center, "center",
       a->v[0].type == CHAT_ABSENT ? chat_int(80) : a->v[0])

static struct chat_value
filter_replace(struct chat_run *r, struct chat_value v,
               const struct chat_arguments *a)
{
    struct chat_value s = chat_str(r, v), old = chat_str(r, a->v[0]);
    const struct chat_value args[3] = { old, chat_str(r, a->v[1]), a->v[2] };
    const struct chat_arguments all = { args,
                                        args[2].type == CHAT_ABSENT ? 2 : 3,
                                        NULL };

    if (chat_failed(r))
        return s;
    return chat_call_builtin(r, chat_method(s, "replace"), s, &all);
}

/* Each word begins with a capital; words begin after blanks and brackets. */
static struct chat_value
filter_title(struct chat_run *r, struct chat_value v,
             const struct chat_arguments *a)
{
    struct chat_builder b = { .r = r };
    bool first = true;

    (void)a;
    v = chat_str(r, v);
    for (size_t at = 0, n; !chat_failed(r) && at < v.string->n; at += n) {
        const struct chat_string *s = v.string;
        uint32_t c = 0, other;

        n = chat_character(s, at, &c);
        other = first ? core_upper(c) : core_lower(c);
        if (other == c)
            chat_put_part(&b, s, at, n);
        else
            chat_put_character(&b, other, chat_origin_at(s, at));
        first = chat_is_space(c) || (c && c < 0x80 && strchr("-({[<", (int)c));
    }
    return chat_built(&b);
}

/* Words are of letters, digits and underscores. */
static struct chat_value
filter_wordcount(struct chat_run *r, struct chat_value v,
                 const struct chat_arguments *a)
{
    bool within = false, before;
    int64_t words = 0;

    (void)a;
    v = chat_str(r, v);
    for (size_t at = 0; !chat_failed(r) && at < v.string->n;) {
        uint32_t c = 0;

        chat_take_steps(r, at % 8 == 0);
        at += chat_character(v.string, at, &c);
        before = within;
        within = (c | 32) - 'a' < 26u || c - '0' < 10u || c == '_' ||
                 (c >= 0xaa && !chat_is_space(c));
        words += within && !before;
    }
    return chat_int(words);
}

static bool
is_text(struct chat_run *r, struct chat_value v, const char *filter)
{
    if (v.type != CHAT_STRING)
        chat_fail(r, "%s: a %s is no text", filter, chat_type_name(v));
    return !chat_failed(r);
}

/* Blanks in front of all lines but the first; empty lines stay empty. */
static struct chat_value
filter_indent(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    int64_t width =
        a->v[0].type == CHAT_STRING ? 0 : chat_int_argument(r, a->v[0], 4);
    bool first = chat_bool_argument(a->v[1], false);
    bool blank = chat_bool_argument(a->v[2], false);
    struct chat_value s = chat_str(r, v), with = chat_words(r, " "), lines;
    struct chat_builder b = { .r = r };
    size_t end = 0; /* of the last line, in s */

    if (!is_text(r, v, "indent"))
        return v;
    with = a->v[0].type == CHAT_STRING
               ? a->v[0]
               : chat_operate(r, '*', with, chat_int(width));
    s = chat_operate(r, '+', s, chat_words(r, "\n"));
    lines = by_method(r, s, "splitlines", NOTHING, NOTHING);
    for (size_t i = 0; !chat_failed(r) && i < lines.list->n; i++) {
        const struct chat_string *line = lines.list->items[i].string;

        if (i)
            chat_put(&b, "\n", 1, chat_origin_at(s.string, end));
        if (i ? blank || line->n : first)
            chat_put_string(&b, with.string);
        chat_put_string(&b, line);
        end = (size_t)(line->s - s.string->s) + line->n;
    }
    return chat_built(&b);
}

static struct chat_value
filter_truncate(struct chat_run *r, struct chat_value v,
                const struct chat_arguments *a)
{
    struct chat_value s = chat_str(r, v);
    int64_t length = chat_int_argument(r, a->v[0], 255);
    bool kill = chat_bool_argument(a->v[1], false);
    const struct chat_string *end = chat_string_argument(r, a->v[2], "...");
    int64_t leeway = chat_int_argument(r, a->v[3], 5);
    struct chat_builder b = { .r = r };
    size_t n;

    if (chat_failed(r) ||
        (v.type != CHAT_UNDEFINED && !is_text(r, v, "truncate")))
        return s;
    if (length < (int64_t)chat_length(r, end) || leeway < 0)
        return chat_fail(r, "truncate: no such length");
    if ((int64_t)chat_length(r, s.string) - leeway <= length)
        return s;
    n = chat_offset(r, s.string,
                    (size_t)(length - (int64_t)chat_length(r, end)));
    for (size_t k = n; !kill && k > 0; k--)
        if (s.string->s[k - 1] == ' ') {
            n = k - 1;
            break;
        }
    chat_put_part(&b, s.string, 0, n);
    chat_put_string(&b, end);
    return chat_built(&b);
}

static const char *
html_escape(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&#34;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

struct chat_value
chat_escape(struct chat_run *r, struct chat_value v)
{
    struct chat_value s = chat_str(r, v);
    struct chat_builder b = { .r = r, .markup = true };

    if (chat_failed(r) || s.string->markup)
        return s;
    for (size_t i = 0; !chat_failed(r) && i < s.string->n; i++) {
        const char *e = html_escape(s.string->s[i]);

        if (e)
            chat_put(&b, e, strlen(e), chat_origin_at(s.string, i));
        else
            chat_put_part(&b, s.string, i, 1);
    }
    return chat_built(&b);
}

static struct chat_value
filter_escape(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    (void)a;
    return chat_escape(r, v);
}

static struct chat_value
filter_safe(struct chat_run *r, struct chat_value v,
            const struct chat_arguments *a)
{
    (void)a;
    v = chat_str(r, v);
    return chat_failed(r) ? v : chat_as_markup(r, v.string);
}

static struct chat_value
filter_urlencode(struct chat_run *r, struct chat_value v,
                 const struct chat_arguments *a)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_.-~/";
    struct chat_value s = chat_str(r, v);
    struct chat_builder b = { .r = r };

    (void)a;
    if (chat_is_list(v) || v.type == CHAT_DICT)
        is_text(r, v, "urlencode");
    for (size_t i = 0; !chat_failed(r) && i < s.string->n; i++) {
        unsigned char c = (unsigned char)s.string->s[i];
        char code[4];

        chat_take_steps(r, 2);
        snprintf(code, sizeof(code), "%%%02X", c);
        if (c && strchr(plain, c))
            chat_put_part(&b, s.string, i, 1);
        else
            chat_put(&b, code, 3, chat_origin_at(s.string, i));
    }
    return chat_built(&b);
}

static struct chat_value
filter_format(struct chat_run *r, struct chat_value v,
              const struct chat_arguments *a)
{
    struct chat_value s = chat_str(r, v);
    struct chat_value values = chat_new_list(r, CHAT_TUPLE);

    for (size_t i = 0; i < a->n && !chat_failed(r); i++)
        chat_run_add(r, values, a->v[i]);
    if (chat_failed(r))
        return s;
    if (a->named && a->named->n) {
        values = chat_new_dict(r, CHAT_DICT);
        for (size_t i = 0; i < a->named->n; i++)
            chat_set(r, values, a->named->pairs[i].key,
                     a->named->pairs[i].value);
    }
    return chat_failed(r) ? s : chat_format_percent(r, s.string, values);
}

const struct chat_builtin chat_filters[] = {
    { "abs", filter_abs, "" },
    { "attr", filter_attr, "name" },
    { "capitalize", filter_capitalize, "" },
    { "center", filter_center, "width" },
    { "count", filter_length, "" },
    { "d", filter_default, "default_value,boolean" },
    { "default", filter_default, "default_value,boolean" },
    { "e", filter_escape, "" },
    { "escape", filter_escape, "" },
    { "float", filter_float, "default" },
    { "forceescape", filter_escape, "" },
    { "format", filter_format, NULL },
    { "indent", filter_indent, "width,first,blank" },
    { "int", filter_int, "default,base" },
    { "length", filter_length, "" },
    { "lower", filter_lower, "" },
    { "replace", filter_replace, "old,new,count" },
    { "round", filter_round, "precision,method" },
    { "safe", filter_safe, "" },
    { "string", filter_string, "" },
    { "title", filter_title, "" },
    { "tojson", chat_to_json, "ensure_ascii,indent,separators,sort_keys" },
    { "trim", filter_trim, "chars" },
    { "truncate", filter_truncate, "length,killwords,end,leeway" },
    { "upper", filter_upper, "" },
    { "urlencode", filter_urlencode, "" },
    { "wordcount", filter_wordcount, "" },
    { 0 },
};

const struct chat_builtin *
chat_filter(const char *name)
{
    const struct chat_builtin *b = chat_find_builtin(chat_filters, name);

    return b ? b : chat_find_builtin(chat_list_filters, name);
}
