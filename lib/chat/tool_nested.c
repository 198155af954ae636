/* tool_nested.c - arguments whose values stand between tags of their keys, and
 * may be such pairs themselves */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

#define INNER_KEY "kkq"

/* Whether the text stands in s at *at, which moves past it. */
static bool
skip_text(const struct chat_string *s, size_t *at, const char *text)
{
    size_t n = strlen(text);

    if (n > s->n - *at || memcmp(s->s + *at, text, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Finds the value after the tag that opens the first argument. */
static bool
find_value(const struct tool_finder *f, const struct chat_string *s, size_t *at)
{
    size_t key = chat_tool_where(s, f->begin, PROBE_KEY_1);

    *at = key == TOOL_NOWHERE ? s->n : key + strlen(PROBE_KEY_1);
    return skip_text(s, at, f->form->variants[0].before);
}

/* Where a tag's key ends. */
static size_t
key_end(const struct chat_string *s, size_t at)
{
    while (at < s->n && ((s->s[at] >= 'a' && s->s[at] <= 'z') ||
                         (s->s[at] >= 'A' && s->s[at] <= 'Z')))
        at++;
    return at;
}

/* Whether a value is another one between tags of a key; which. */
static bool
find_inner(struct tool_finder *f, const char *value, struct chat_string *key)
{
    const struct tool_form *form = f->form;
    struct chat_string s;
    size_t at, to;

    if (!chat_tool_render(f, value, NULL, &s) || !find_value(f, &s, &at) ||
        !skip_text(&s, &at, form->next))
        return false;
    to = key_end(&s, at);
    *key = chat_tool_part(&s, at, to);
    return key->n && skip_text(&s, &to, form->variants[0].before) &&
           skip_text(&s, &to, PROBE_NUMBER) &&
           skip_text(&s, &to, form->closing) && to + key->n <= s.n &&
           memcmp(s.s + to, key->s, key->n) == 0;
}

bool
chat_tool_find_tags(struct tool_finder *f, const struct chat_string *between)
{
    size_t key = chat_tool_where(between, 0, PROBE_KEY_1);
    size_t from = key == TOOL_NOWHERE ? 0 : key + strlen(PROBE_KEY_1);
    const char *end =
        from ? memchr(between->s + from, '>', between->n - from) : NULL;
    size_t to = end ? (size_t)(end - between->s) + 1 : 0;

    if (!end || key == 0)
        return false;
    f->form->closing = chat_tool_keep(f, chat_tool_part(between, 0, key));
    f->form->closed = chat_tool_keep(f, chat_tool_part(between, from, to));
    return true;
}

bool
chat_tool_find_nested(struct tool_finder *f)
{
    struct tool_form *form = f->form;
    struct chat_string item, key;
    size_t first = strlen(form->first), next = strlen(form->next);

    if (first <= next || strcmp(form->first + first - next, form->next) != 0 ||
        !find_inner(f, TOOL_ONE("[" PROBE_NUMBER "]"), &item) ||
        !find_inner(f, TOOL_ONE("{\"" INNER_KEY "\": " PROBE_NUMBER "}"),
                    &key) ||
        key.n != strlen(INNER_KEY) || memcmp(key.s, INNER_KEY, key.n) != 0)
        return chat_tool_fails(
            f, "values in its arguments' values stand in no way that is known");
    form->item = chat_tool_keep(f, item);
    return true;
}

#endif
