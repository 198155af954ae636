/* tool_finder.c - what a form of calls is found in: renders, and their texts */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

#include "chat/tool_text.h"

bool
chat_tool_fails(struct tool_finder *f, const char *why)
{
    f->why = why;
    return false;
}

char *
chat_tool_copy(struct tool_finder *f, struct chat_string s)
{
    char *p = chat_arena_alloc(f->probe.arena, s.n + 1);

    f->nomem |= !p;
    if (!p)
        return NULL;
    if (s.n)
        memcpy(p, s.s, s.n);
    p[s.n] = '\0';
    return p;
}

const char *
chat_tool_keep(struct tool_finder *f, struct chat_string s)
{
    const char *literal;

    if (s.n > TOOL_LITERAL)
        f->why = "what stands around its calls is too long";
    else if (!chat_tool_is_text(s.s, s.n))
        f->why = "what stands around its calls is no text";
    literal = chat_tool_copy(f, s);
    return literal ? literal : "";
}

bool
chat_tool_render(struct tool_finder *f, const char *first, const char *second,
                 struct chat_string *out)
{
    return chat_probe(&f->probe, first, second, out, &f->nomem);
}

/* Where the question stands, or the beginning. */
static size_t
question(const struct chat_string *s)
{
    size_t at = chat_tool_where(s, 0, PROBE_USER);

    return at == TOOL_NOWHERE ? 0 : at;
}

/* Renders calls, if the content stands before them or nowhere. */
static bool
render_calls(struct tool_finder *f)
{
    size_t user, content;

    if (!chat_tool_render(f, PROBE_ARGUMENTS_1, NULL, &f->one) ||
        !chat_probe_shows_call(&f->one) ||
        !chat_tool_render(f, TOOL_ARGUMENTS_2, NULL, &f->two))
        return false;
    user = question(&f->one);
    content = chat_tool_where(&f->one, user, PROBE_CONTENT);
    return content == TOOL_NOWHERE ||
           content < chat_tool_where(&f->one, user, PROBE_NAME_1);
}

bool
chat_tool_render_all(struct tool_finder *f)
{
    static const char *const contents[] = { NULL, "\"" PROBE_CONTENT "\"",
                                            "\"\"", "null" };
    bool found = false;

    f->probe.content = contents[0];
    if (!chat_tool_render(f, NULL, NULL, &f->prompt))
        return chat_tool_fails(f, "it refuses a question");
    f->probe.content = contents[1];
    if (!chat_tool_render(f, NULL, NULL, &f->plain))
        return chat_tool_fails(f, "it refuses a question and an answer");
    for (int i = 1; i < 4 && !found && !f->nomem; i++) {
        f->probe.content = contents[i];
        found = render_calls(f);
    }
    if (!found)
        return chat_tool_fails(f, "it does not show calls in answers");
    f->has_none = chat_tool_render(f, "{}", NULL, &f->none) &&
                  chat_probe_shows(&f->none, PROBE_NAME_1);
    f->has_both =
        chat_tool_render(f, PROBE_ARGUMENTS_1, PROBE_ARGUMENTS_1, &f->both) &&
        chat_probe_shows(&f->both, PROBE_NAME_1) &&
        chat_probe_shows(&f->both, PROBE_NAME_2);
    return !f->nomem;
}

size_t
chat_tool_answer(const struct tool_finder *f, const struct chat_string *s)
{
    return chat_tool_alike(s, &f->prompt);
}

/* The end of the content, or where a render without calls goes another way. */
static size_t
after_content(const struct tool_finder *f)
{
    size_t from = question(&f->one);
    size_t content = chat_tool_where(&f->one, from, PROBE_CONTENT);
    size_t begin = content == TOOL_NOWHERE ? chat_tool_alike(&f->one, &f->plain)
                                           : content + strlen(PROBE_CONTENT);

    return begin > chat_tool_where(&f->one, from, PROBE_NAME_1) ? from : begin;
}

/* The content may have a turn of its own: then calls begin as they do without
 * one, if that is shorter. */
static void
shorten_begin(struct tool_finder *f)
{
    struct probe other = f->probe;
    struct chat_string s, a, b;
    size_t from, name, n;

    other.content = "\"\"";
    if (!chat_probe(&other, PROBE_ARGUMENTS_1, NULL, &s, &f->nomem) ||
        !chat_probe_shows_call(&s))
        return;
    from = chat_tool_answer(f, &s);
    name = chat_tool_where(&s, from, PROBE_NAME_1);
    if (name == TOOL_NOWHERE || from < chat_tool_where(&s, 0, PROBE_USER))
        return;
    a = chat_tool_part(&s, from, name);
    b = chat_tool_part(&f->one, f->begin,
                       chat_tool_where(&f->one, f->begin, PROBE_NAME_1));
    n = chat_tool_alike_end(&a, &b);
    if (n == a.n && n > 0)
        f->begin += b.n - n;
}

void
chat_tool_find_begin(struct tool_finder *f)
{
    f->begin = after_content(f);
    shorten_begin(f);
}

#endif
