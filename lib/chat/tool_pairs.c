/* tool_pairs.c - keys and values of calls whose arguments are no JSON */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

static void
add_variant(struct tool_finder *f, unsigned types, struct chat_string before,
            struct chat_string after)
{
    struct tool_form *form = f->form;
    struct tool_variant *v;

    for (size_t i = 0; i < form->n_variants; i++) {
        v = &form->variants[i];
        if (strlen(v->before) == before.n && strlen(v->after) == after.n &&
            memcmp(v->before, before.s, before.n) == 0 &&
            memcmp(v->after, after.s, after.n) == 0) {
            v->types |= types;
            return;
        }
    }
    if (form->n_variants == TOOL_VARIANTS)
        return;
    form->variants[form->n_variants++] = (struct tool_variant){
        .types = types,
        .before = chat_tool_keep(f, before),
        .after = chat_tool_keep(f, after),
    };
}

/* The last place of any of two words in s[from..to). */
static size_t
last_of(const struct chat_string *s, size_t from, size_t to, const char *a,
        const char *b, size_t *n)
{
    for (size_t at = to; at-- > from;)
        for (int i = 0; i < 2; i++) {
            const char *w = i ? b : a;

            *n = strlen(w);
            if (*n <= to - at && memcmp(s->s + at, w, *n) == 0)
                return at;
        }
    return TOOL_NOWHERE;
}

/* From the first of two characters on to the last of two others. */
static size_t
bracketed(const struct chat_string *s, size_t from, size_t to, char open,
          char close, size_t *n)
{
    const char *a = memchr(s->s + from, open, to - from);
    const char *b = memrchr(s->s + from, close, to - from);

    if (!a || !b || b < a)
        return TOOL_NOWHERE;
    *n = (size_t)(b - a) + 1;
    return (size_t)(a - s->s);
}

/* Where the value of a type stands in s[from..to). */
static size_t
value_at(const struct chat_string *s, size_t from, size_t to, unsigned type,
         size_t *n)
{
    switch (type) {
    case TOOL_NUMBER:
        return last_of(s, from, to, PROBE_NUMBER, PROBE_NUMBER, n);
    case TOOL_BOOLEAN:
        return last_of(s, from, to, "true", "True", n);
    case TOOL_NULL:
        return last_of(s, from, to, "null", "None", n);
    case TOOL_ARRAY:
        return bracketed(s, from, to, '[', ']', n);
    case TOOL_DICT:
        return bracketed(s, from, to, '{', '}', n);
    default:
        return last_of(s, from, to, "<a&\nb", "<a&\nb", n);
    }
}

/* Finds how a value of another type stands after its key. */
static void
find_variant(struct tool_finder *f, unsigned type, const char *arguments)
{
    struct chat_string s;
    size_t tail = strlen(f->form->close) + chat_tool_tail(f);
    size_t from, to, at, n;

    if (!chat_tool_render(f, arguments, NULL, &s))
        return;
    from = chat_tool_where(&s, f->begin, PROBE_KEY_1);
    if (from == TOOL_NOWHERE || s.n < tail)
        return;
    from += strlen(PROBE_KEY_1);
    to = s.n - tail;
    at = from < to ? value_at(&s, from, to, type, &n) : TOOL_NOWHERE;
    if (at == TOOL_NOWHERE)
        return;
    add_variant(f, type, chat_tool_part(&s, from, at),
                chat_tool_part(&s, at + n, to));
}

static void
find_variants(struct tool_finder *f)
{
    static const struct {
        unsigned type;
        const char *arguments;
    } probes[] = {
        { TOOL_NUMBER, TOOL_ONE(PROBE_NUMBER) },
        { TOOL_BOOLEAN, TOOL_ONE("true") },
        { TOOL_NULL, TOOL_ONE("null") },
        { TOOL_ARRAY, TOOL_ONE("[" PROBE_NUMBER "]") },
        { TOOL_DICT, TOOL_ONE("{\"kk\": " PROBE_NUMBER "}") },
        { TOOL_STRING, TOOL_ONE("\"<a&\\nb\"") },
    };

    for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
        find_variant(f, probes[i].type, probes[i].arguments);
}

/* Finds the text after the name of a call without arguments. */
static void
find_none(struct tool_finder *f)
{
    struct tool_form *form = f->form;
    size_t name = chat_tool_where(&f->none, f->begin, PROBE_NAME_1);
    size_t tail = chat_tool_tail(f), at;
    const char *digits = strchr(form->first, '\1');

    form->none = form->close;
    if (!f->has_none || name == TOOL_NOWHERE)
        return;
    name += strlen(PROBE_NAME_1);
    if (f->none.n < name + tail)
        return;
    form->none =
        chat_tool_keep(f, chat_tool_part(&f->none, name, f->none.n - tail));
    at = digits ? (size_t)(digits - form->first) : 0;
    if (digits && strlen(form->none) > at)
        form->none = chat_tool_any_digits(f, form->none, at);
}

/* Bytes of the tag that closes a value by its key. */
static size_t
closing_length(const struct tool_form *form)
{
    return strlen(form->closing) + strlen(PROBE_KEY_1) + strlen(form->closed);
}

/* Finds the text before the first key, and before and after values: `after` is
 * what stands after the last one. */
static bool
find_strings(struct tool_finder *f, struct chat_string after)
{
    const struct chat_string *one = &f->one, *two = &f->two;
    size_t k1 = chat_tool_where(two, f->begin, PROBE_KEY_1);
    size_t v1 = chat_tool_where(two, k1, PROBE_STRING_1);
    size_t k2 = chat_tool_where(two, v1, PROBE_KEY_2);
    size_t name = chat_tool_where(one, f->from, PROBE_NAME_1);
    size_t key = chat_tool_where(one, f->from, PROBE_KEY_1), n;
    struct chat_string first, before, between;
    bool tags;

    if (k1 == TOOL_NOWHERE || v1 == TOOL_NOWHERE || k2 == TOOL_NOWHERE ||
        key < name || name == TOOL_NOWHERE)
        return chat_tool_fails(f,
                               "its arguments stand in no order that is known");
    first = chat_tool_part(one, name + strlen(PROBE_NAME_1), key);
    before = chat_tool_part(two, k1 + strlen(PROBE_KEY_1), v1);
    between = chat_tool_part(two, v1 + strlen(PROBE_STRING_1), k2);
    tags = chat_tool_find_tags(f, &between);
    n = tags ? closing_length(f->form) : chat_tool_alike(&between, &after);
    if (n > after.n)
        return chat_tool_fails(f, "its arguments are not closed alike");
    f->form->first = chat_tool_second_text(f, chat_tool_keep(f, first));
    f->form->next = chat_tool_keep(f, chat_tool_part(&between, n, between.n));
    f->form->close = chat_tool_keep(f, chat_tool_part(&after, n, after.n));
    add_variant(f, TOOL_STRING, before, chat_tool_part(&between, 0, n));
    return true;
}

bool
chat_tool_find_pairs(struct tool_finder *f, struct chat_string after)
{
    if (!find_strings(f, after))
        return false;
    if (f->form->closing && !chat_tool_find_nested(f))
        return false;
    if (!f->form->closing)
        find_variants(f);
    find_none(f);
    if (!*f->form->first || !*f->form->next)
        return chat_tool_fails(f, "nothing stands before its arguments");
    return true;
}

#endif
