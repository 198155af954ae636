/* tool_frame.c - where a call stands in a render, and what stands around it */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

#include "chat/tool_json.h"
#include "chat/tool_text.h"
#include "core/json.h"

/* ---- the call ---- */

/* The object that begins with the last brace in from..before, and goes beyond
 * `before`; the caller's. */
static json_t *
object_around(const struct chat_string *s, size_t from, size_t before,
              size_t *begin, size_t *end)
{
    json_error_t e;

    for (size_t at = before; at-- > from;) {
        if (s->s[at] != '{')
            continue;
        *begin = at;
        *end = chat_tool_extent(s->s, s->n, at);
        return *end > before ? core_json_load(s->s + at, *end - at, 0, &e)
                             : NULL;
    }
    return NULL;
}

static const char *
key_of(struct tool_finder *f, json_t *object, const char *value)
{
    const char *key;
    json_t *v;

    json_object_foreach(object, key, v)
    {
        const char *s = json_is_object(v) ? NULL : json_string_value(v);

        if (s ? strcmp(s, value) == 0
              : json_is_object(v) && json_object_get(v, value))
            return chat_tool_keep(
                f, (struct chat_string){ .s = key, .n = strlen(key) });
    }
    return NULL;
}

/* Whether the call is an object with a name and arguments. */
static bool
is_call(struct tool_finder *f, json_t *object)
{
    struct tool_form *form = f->form;

    form->arguments_key = key_of(f, object, PROBE_KEY_1);
    form->name_key = key_of(f, object, PROBE_NAME_1);
    form->id_key = key_of(f, object, PROBE_ID_1);
    return form->arguments_key &&
           (form->name_key || strcmp(form->arguments_key, PROBE_NAME_1) == 0);
}

/* The first of name and id. */
static size_t
first_slot(const struct chat_string *s, size_t from, const char *name,
           const char *id)
{
    size_t n = chat_tool_where(s, from, name);
    size_t i = chat_tool_where(s, from, id);

    return i < n ? i : n;
}

/* Whether the arguments around a key are an object of JSON; where. */
static bool
find_arguments(struct tool_finder *f, size_t key)
{
    json_t *o = object_around(&f->one, f->begin, key, &f->args, &f->args_to);
    bool is = json_object_size(o) == 1 && json_object_get(o, PROBE_KEY_1);

    json_decref(o);
    return is;
}

/* The call is an object around its arguments and what stands before them. */
static void
find_object(struct tool_finder *f, size_t slot)
{
    size_t before = slot < f->args ? slot : f->args, from, to;
    json_t *o = object_around(&f->one, f->begin, before, &from, &to);

    if (o && to >= f->args_to && is_call(f, o)) {
        f->form->kind = TOOL_OBJECT;
        f->from = from;
        f->to = to;
    }
    json_decref(o);
}

bool
chat_tool_find_kind(struct tool_finder *f)
{
    size_t key = chat_tool_where(&f->one, f->begin, PROBE_KEY_1);
    size_t value = chat_tool_where(&f->one, f->begin, PROBE_STRING_1);

    if (key == TOOL_NOWHERE || value == TOOL_NOWHERE)
        return chat_tool_fails(f,
                               "its arguments stand in no order that is known");
    f->from = first_slot(&f->one, f->begin, PROBE_NAME_1, PROBE_ID_1);
    f->to = value + strlen(PROBE_STRING_1);
    f->form->kind = TOOL_PAIRS;
    if (find_arguments(f, key)) {
        f->form->kind = TOOL_JSON;
        f->to = f->args_to;
        find_object(f, f->from);
    }
    return true;
}

/* ---- what stands around it ---- */

/* The text after the content of an answer without calls. */
static struct chat_string
plain_end(const struct tool_finder *f)
{
    size_t content = chat_tool_where(&f->plain, 0, PROBE_CONTENT);

    return chat_tool_part(
        &f->plain,
        content == TOOL_NOWHERE ? 0 : content + strlen(PROBE_CONTENT),
        f->plain.n);
}

/* Where the second of two calls begins, if the first is written as one is. */
static size_t
second_call(const struct tool_finder *f)
{
    size_t slot = first_slot(&f->both, f->to, PROBE_NAME_2, PROBE_ID_2);
    size_t from = slot, to;
    bool is;
    json_t *o;

    if (f->both.n < f->to || slot == TOOL_NOWHERE ||
        memcmp(f->both.s + f->begin, f->one.s + f->begin, f->to - f->begin) !=
            0)
        return TOOL_NOWHERE;
    if (f->form->kind != TOOL_OBJECT)
        return slot;
    o = object_around(&f->both, f->to, slot, &from, &to);
    is = o != NULL;
    json_decref(o);
    return is ? from : TOOL_NOWHERE;
}

/* The text between two calls shows what is around each, and what around
 * all. */
static bool
cut_frame(const struct tool_finder *f, struct tool_frame *t)
{
    size_t second = second_call(f), n;

    if (second == TOOL_NOWHERE)
        return false;
    t->between = chat_tool_part(&f->both, f->to, second);
    n = chat_tool_alike_end(&t->before, &t->between);
    t->open = chat_tool_part(&t->before, 0, t->before.n - n);
    t->before = chat_tool_part(&t->before, t->before.n - n, t->before.n);
    t->between.n -= n;
    n = chat_tool_alike(&t->between, &t->after);
    t->end = chat_tool_part(&t->after, n, t->after.n);
    t->after.n = n;
    t->between = chat_tool_part(&t->between, n, t->between.n);
    return true;
}

/* Finds what ends the turn: a token after the calls. */
static void
find_ends(struct tool_finder *f, struct chat_string *end)
{
    struct chat_string s = f->post.n ? f->post : *end;
    size_t last = chat_tool_last(end), to = 0, at = 0;

    if (!f->post.n && end->n && end->s[last] == '<') {
        s = chat_tool_part(end, last, end->n);
        end->n = last;
    }
    while (at < s.n && chat_tool_is_space(s.s[at]))
        at++;
    if (at < s.n && s.s[at] == '<')
        to = chat_tool_token(&s, at);
    if (to > at + 1) {
        f->form->ends[0].s = chat_tool_keep(f, chat_tool_part(&s, at, to));
        f->form->ends[0].n = to - at;
        f->form->n_ends = 1;
    }
}

/* Finds the text after two calls: some templates show more there than after
 * one. */
static void
find_end_too(struct tool_finder *f)
{
    const char *foot = f->form->foot, *p = NULL;
    size_t n = strlen(foot), from = f->to;
    struct chat_string *s = &f->both;

    for (; n && from < s->n && (p = memmem(s->s + from, s->n - from, foot, n));
         from = (size_t)(p - s->s) + n)
        ;
    if (from > f->to && s->n - from <= TOOL_LITERAL)
        f->form->end_too = chat_tool_keep(f, chat_tool_part(s, from, s->n));
}

bool
chat_tool_find_frame(struct tool_finder *f, struct tool_frame *out)
{
    struct tool_frame *t = out;
    struct tool_form *form = f->form;
    struct chat_string plain = plain_end(f);
    size_t n;

    *t = (struct tool_frame){ 0 };
    t->before = chat_tool_part(&f->one, f->begin, f->from);
    t->after = chat_tool_part(&f->one, f->to, f->one.n);
    n = chat_tool_alike_end(&t->after, &plain);
    f->post = chat_tool_part(&t->after, t->after.n - n, t->after.n);
    t->after.n -= n;
    form->one = !f->has_both;
    if (f->has_both && !cut_frame(f, t))
        return chat_tool_fails(f, "two calls are not written like one");
    find_ends(f, f->has_both ? &t->end : &t->after);
    form->open = chat_tool_keep(f, t->open);
    form->separator = chat_tool_keep(f, t->between);
    form->end = chat_tool_keep(f, t->end);
    form->head = chat_tool_keep(f, t->before);
    form->foot = chat_tool_keep(f, t->after);
    if (f->has_both)
        find_end_too(f);
    return true;
}

size_t
chat_tool_tail(const struct tool_finder *f)
{
    size_t n = strlen(f->form->end) + f->post.n;

    return f->form->n_ends && !f->post.n ? n + f->form->ends[0].n : n;
}

#endif
