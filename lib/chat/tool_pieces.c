/* tool_pieces.c - a call in pieces: literals, its name, arguments and id */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_finder.h"

#include <string.h>

/* ---- pieces ---- */

struct place {
    size_t at, n;
    enum tool_slot slot;
};

/* Adds what stands in `one` between two places. */
static void
add_piece_text(struct tool_finder *f, size_t from, size_t to)
{
    if (from < to)
        f->form->pieces[f->form->n_pieces++] = (struct tool_piece){
            .text = chat_tool_keep(f, chat_tool_part(&f->one, from, to)),
        };
}

static void
add_slot(struct tool_finder *f, enum tool_slot slot)
{
    f->form->pieces[f->form->n_pieces++] = (struct tool_piece){ .slot = slot };
}

/* The first of three in from..to, or NULL. */
static const struct place *
next_place(const struct place *places, size_t from, size_t to)
{
    const struct place *next = NULL;

    for (const struct place *p = places; p < places + 3; p++)
        if (p->at >= from && p->at < to && (!next || p->at < next->at))
            next = p;
    return next;
}

void
chat_tool_find_pieces(struct tool_finder *f, size_t from, size_t to)
{
    const struct chat_string *s = &f->one;
    bool pairs = f->form->kind == TOOL_PAIRS;
    size_t args = pairs ? chat_tool_where(s, f->from, PROBE_KEY_1) : f->args;
    const struct place places[3] = {
        { chat_tool_where(s, f->from, PROBE_NAME_1), strlen(PROBE_NAME_1),
          TOOL_NAME },
        { args, (pairs ? to : f->args_to) - args, TOOL_ARGUMENTS },
        { chat_tool_where(s, f->from, PROBE_ID_1), strlen(PROBE_ID_1),
          TOOL_ID },
    };
    const struct place *p;
    size_t at = from;

    for (; (p = next_place(places, at, to)) != NULL; at = p->at + p->n) {
        if (!pairs || p->slot != TOOL_ARGUMENTS) /* that is `first` */
            add_piece_text(f, at, p->at);
        add_slot(f, p->slot);
    }
    add_piece_text(f, at, to);
}

/* ---- numbers ---- */

const char *
chat_tool_any_digits(struct tool_finder *f, const char *text, size_t at)
{
    size_t n = strlen(text), to = at + strspn(text + at, "0123456789");
    char *s;

    if (to == at)
        return text;
    s = chat_tool_copy(f, (struct chat_string){ .s = text, .n = n });
    if (!s)
        return text;
    s[at] = '\1';
    memcpy(s + at + 1, text + to, n - to + 1);
    return s;
}

/* Digits that are other ones in the second call stand for any. */
static const char *
with_digits(struct tool_finder *f, const char *one, const char *other)
{
    size_t at = 0, n, m;

    while (one[at] && one[at] == other[at])
        at++;
    n = strspn(one + at, "0123456789");
    m = strspn(other + at, "0123456789");
    if (!n || !m || strcmp(one + at + n, other + at + m) != 0)
        return one;
    return chat_tool_any_digits(f, one, at);
}

const char *
chat_tool_second_text(struct tool_finder *f, const char *text)
{
    size_t name = chat_tool_where(&f->both, f->to, PROBE_NAME_2);
    size_t n = strlen(text);
    const char *other;

    if (!f->has_both || name == TOOL_NOWHERE)
        return text;
    name += strlen(PROBE_NAME_2);
    if (name + n > f->both.n)
        return text;
    other = chat_tool_copy(f, chat_tool_part(&f->both, name, name + n));
    return other ? with_digits(f, text, other) : text;
}

void
chat_tool_find_numbers(struct tool_finder *f)
{
    struct tool_form *form = f->form;

    for (size_t i = 1; i < form->n_pieces; i++) {
        struct tool_piece *p = &form->pieces[i];
        const char *text = i > 1 ? p[-2].text : NULL;
        size_t n = text ? strlen(text) : 0;

        if (p->slot != TOOL_TEXT || p[-1].slot != TOOL_NAME)
            continue;
        p->text = chat_tool_second_text(f, p->text);
        if (strncmp(p->text, ":\1", 2) == 0 && n >= 10 &&
            strcmp(text + n - 10, "functions.") == 0)
            form->id_prefix = "functions.";
    }
}

#endif
