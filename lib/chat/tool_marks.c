/* tool_marks.c - what calls begin with, and what is known of their form
 * besides */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

#include "chat/tool_literal.h"
#include "chat/tool_text.h"

/* Whether an answer without calls has the text. */
static bool
is_plain(const struct tool_finder *f, const char *s, size_t n)
{
    size_t from = chat_tool_answer(f, &f->plain);

    return memmem(f->plain.s + from, f->plain.n - from, s, n);
}

/* Where the first tokens end that no answer without calls has. */
static size_t
mark_end(const struct tool_finder *f, const struct chat_string *s, size_t from)
{
    size_t to = from;

    while (to < s->n && (to == from || !chat_tool_is_space(s->s[to]))) {
        size_t end = chat_tool_token(s, to);
        bool whole = (s->s[to] == '<' || s->s[to] == '[') && end > to + 1;

        to = end;
        if (whole && !is_plain(f, s->s + from, to - from))
            break;
    }
    return to;
}

static void
add_mark(struct chat_mark *marks, size_t *n, const char *s, bool first)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(marks[i].s, s) == 0)
            return;
    if (*n < TOOL_MARKS)
        marks[(*n)++] =
            (struct chat_mark){ .s = s, .n = strlen(s), .first = first };
}

/* The tags that a call begins with, of which the first may be missing: to where
 * white space stands in them. */
static void
add_tags(struct tool_finder *f)
{
    struct tool_form *form = f->form;
    const char *s = form->pieces[0].slot == TOOL_TEXT && form->n_pieces
                        ? form->pieces[0].text
                        : "";

    for (size_t n; (n = chat_tool_unit(s)) > 0; s += n) {
        size_t len = 1;

        while (len < n && !chat_tool_is_space(s[len]) && s[len - 1] != '>')
            len++;
        if (chat_tool_is_tag(s, n) && !is_plain(f, s, len))
            add_mark(
                form->begins, &form->n_begins,
                chat_tool_keep(f, (struct chat_string){ .s = s, .n = len }),
                false);
    }
}

void
chat_tool_find_mark(struct tool_finder *f)
{
    const struct tool_form *form = f->form;
    size_t n = strlen(form->open), head = strlen(form->head), from = 0, to;
    char text[2 * TOOL_LITERAL + 2];
    struct chat_string s = { .s = text, .n = n + head };
    struct chat_mark *m = &f->form->begins[f->form->n_begins++];

    if (s.n >= sizeof(text)) {
        f->why = "what stands around its calls is too long";
        return;
    }
    memcpy(text, form->open, n);
    memcpy(text + n, form->head, head + 1);
    while (from < s.n && chat_tool_is_space(text[from]))
        from++;
    to = mark_end(f, &s, from);
    m->first = to == from;
    m->s = m->first ? "{" : chat_tool_keep(f, chat_tool_part(&s, from, to));
    m->n = strlen(m->s);
    add_tags(f);
}

static void
add_known(struct tool_form *f, const struct tool_known *k)
{
    f->name = k->name;
    if (k->suffix)
        f->n_begins = 0; /* they are in the table */
    for (int i = 0; i < 2 && k->begins[i]; i++)
        add_mark(f->begins, &f->n_begins, k->begins[i], false);
    if (k->ends)
        add_mark(f->ends, &f->n_ends, k->ends, false);
    if (k->open && !*f->open)
        f->open_too = k->open;
    for (size_t i = 1; k->suffix && i < f->n_pieces; i++)
        if (f->pieces[i - 1].slot == TOOL_NAME) {
            f->pieces[i].written = f->pieces[i].text;
            f->pieces[i].text = k->suffix;
        }
}

/* Objects of JSON, and lists of calls, may have no mark before them: then they
 * are all of an answer. */
static void
add_bare(struct tool_form *f)
{
    bool object = f->kind == TOOL_OBJECT;

    if (object)
        add_mark(f->begins, &f->n_begins, "{", true);
    if (object || strchr(f->open, '['))
        add_mark(f->begins, &f->n_begins, "[", true);
}

void
chat_tool_find_known(struct tool_finder *f)
{
    for (const struct tool_known *k = chat_tool_known; k->name; k++)
        if (chat_probe_shows(&f->one, k->signs[0]) &&
            (!k->signs[1] || chat_probe_shows(&f->one, k->signs[1]))) {
            add_known(f->form, k);
            break;
        }
    add_mark(f->form->begins, &f->form->n_begins, TOOL_COMMON_MARK, false);
    add_bare(f->form);
}

#endif
