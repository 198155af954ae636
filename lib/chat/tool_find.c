/* tool_find.c - the form of calls, found from what a template renders */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_find.h"

#include <stdio.h>
#include <string.h>

#include "chat/tool_cut.h"
#include "chat/tool_probe.h"
#include "chat/tool_read.h"

#define ARGUMENTS_2                                                            \
    "{\"" PROBE_KEY_1 "\": \"" PROBE_STRING_1 "\", \"" PROBE_KEY_2             \
    "\": \"" PROBE_STRING_2 "\"}"
#define ONE(value) "{\"" PROBE_KEY_1 "\": " value "}"

/* What is looked for in renders; all texts are in the arena. */
struct finder {
    struct probe probe;
    struct tool_form *form;
    /* Without a call; with a call that has none, one and two arguments; with
     * two calls that have one each. */
    struct chat_string plain, none, one, two, both;
    struct chat_string prompt; /* what stands before an answer */
    bool has_none, has_both;
    size_t begin;         /* of what is calls in those that have one */
    size_t from, to;      /* of the call in `one`, without literals around it */
    size_t args, args_to; /* of its arguments in JSON */
    struct chat_string post; /* what stands behind an answer, of any kind */
    const char *why;
    bool nomem;
};

#define NOWHERE SIZE_MAX

/* ---- small things ---- */

static size_t
find(const struct chat_string *s, size_t from, const char *what)
{
    const char *p = from < s->n
                        ? memmem(s->s + from, s->n - from, what, strlen(what))
                        : NULL;

    return p ? (size_t)(p - s->s) : NOWHERE;
}

static struct chat_string
part(const struct chat_string *s, size_t from, size_t to)
{
    return (struct chat_string){ .s = s->s + from, .n = to - from };
}

/* A NUL-ended copy; "" where there is no memory. */
static const char *
copy(struct finder *f, struct chat_string s)
{
    char *p = chat_arena_alloc(f->probe.arena, s.n + 1);

    f->nomem |= !p;
    if (!p)
        return "";
    if (s.n)
        memcpy(p, s.s, s.n);
    p[s.n] = '\0';
    return p;
}

/* The same of what becomes a literal. */
static const char *
keep(struct finder *f, struct chat_string s)
{
    if (s.n > TOOL_LITERAL)
        f->why = "what stands around its calls is too long";
    else if (!chat_tool_is_text(s.s, s.n))
        f->why = "what stands around its calls is no text";
    return copy(f, s);
}

static bool
fails(struct finder *f, const char *why)
{
    f->why = why;
    return false;
}

/* ---- renders ---- */

static bool
probe(struct finder *f, const char *first, const char *second,
      struct chat_string *out)
{
    return chat_probe(&f->probe, first, second, out, &f->nomem);
}

/* Renders calls, if the content stands before them or nowhere. */
static bool
render_calls(struct finder *f)
{
    size_t user, content;

    if (!probe(f, PROBE_ARGUMENTS_1, NULL, &f->one) ||
        !chat_probe_shows_call(&f->one) ||
        !probe(f, ARGUMENTS_2, NULL, &f->two))
        return false;
    user = find(&f->one, 0, PROBE_USER);
    user = user == NOWHERE ? 0 : user;
    content = find(&f->one, user, PROBE_CONTENT);
    return content == NOWHERE || content < find(&f->one, user, PROBE_NAME_1);
}

/* Renders what the rest is found from, with the first content that does. */
static bool
render_all(struct finder *f)
{
    static const char *const contents[] = { NULL, "\"" PROBE_CONTENT "\"",
                                            "\"\"", "null" };
    bool found = false;

    f->probe.content = contents[0];
    if (!probe(f, NULL, NULL, &f->prompt))
        return fails(f, "it refuses a question");
    f->probe.content = contents[1];
    if (!probe(f, NULL, NULL, &f->plain))
        return fails(f, "it refuses a question and an answer");
    for (int i = 1; i < 4 && !found && !f->nomem; i++) {
        f->probe.content = contents[i];
        found = render_calls(f);
    }
    if (!found)
        return fails(f, "it does not show calls in answers");
    f->has_none = probe(f, "{}", NULL, &f->none) &&
                  chat_probe_shows(&f->none, PROBE_NAME_1);
    f->has_both = probe(f, PROBE_ARGUMENTS_1, PROBE_ARGUMENTS_1, &f->both) &&
                  chat_probe_shows(&f->both, PROBE_NAME_1) &&
                  chat_probe_shows(&f->both, PROBE_NAME_2);
    return !f->nomem;
}

/* Where the answer begins in a render: behind the prompt, or where it goes
 * another way. */
static size_t
answer(const struct finder *f, const struct chat_string *s)
{
    return chat_tool_alike(s, &f->prompt);
}

/* Where what is calls begins: behind the content, or where a render without
 * calls goes another way. */
static void
find_begin(struct finder *f)
{
    size_t user = find(&f->one, 0, PROBE_USER);
    size_t from = user == NOWHERE ? 0 : user;
    size_t content = find(&f->one, from, PROBE_CONTENT);
    size_t name = find(&f->one, from, PROBE_NAME_1);

    f->begin = content == NOWHERE ? chat_tool_alike(&f->one, &f->plain)
                                  : content + strlen(PROBE_CONTENT);
    if (f->begin > name)
        f->begin = from;
}

/* The content may have a turn of its own: then calls begin as they do without
 * one, if that is shorter. */
static void
shorten_begin(struct finder *f)
{
    struct finder other = *f;
    struct chat_string s, a, b;
    size_t from, name, n;

    other.probe.content = "\"\"";
    if (!probe(&other, PROBE_ARGUMENTS_1, NULL, &s) ||
        !chat_probe_shows_call(&s))
        return;
    from = answer(f, &s);
    name = find(&s, from, PROBE_NAME_1);
    if (name == NOWHERE || from < find(&s, 0, PROBE_USER))
        return;
    a = part(&s, from, name);
    b = part(&f->one, f->begin, find(&f->one, f->begin, PROBE_NAME_1));
    n = chat_tool_alike_behind(&a, &b);
    if (n == a.n && n > 0)
        f->begin += b.n - n;
}

/* ---- objects of JSON ---- */

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
key_of(struct finder *f, json_t *object, const char *value)
{
    const char *key;
    json_t *v;

    json_object_foreach(object, key, v)
    {
        const char *s = json_is_object(v) ? NULL : json_string_value(v);

        if (s ? strcmp(s, value) == 0
              : json_is_object(v) && json_object_get(v, value))
            return keep(f, (struct chat_string){ .s = key, .n = strlen(key) });
    }
    return NULL;
}

/* Whether the call is an object with a name and arguments. */
static bool
is_call(struct finder *f, json_t *object)
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
    size_t n = find(s, from, name), i = find(s, from, id);

    return i < n ? i : n;
}

/* Kind of the form, and where the call stands. */
static void
find_kind(struct finder *f)
{
    size_t key = find(&f->one, f->begin, PROBE_KEY_1), from, to;
    json_t *args = object_around(&f->one, f->begin, key, &f->args, &f->args_to);
    bool json =
        json_object_size(args) == 1 && json_object_get(args, PROBE_KEY_1);
    size_t slot = first_slot(&f->one, f->begin, PROBE_NAME_1, PROBE_ID_1);
    json_t *o = json
                    ? object_around(&f->one, f->begin,
                                    slot < f->args ? slot : f->args, &from, &to)
                    : NULL;

    f->from = slot;
    f->to = find(&f->one, f->begin, PROBE_STRING_1) + strlen(PROBE_STRING_1);
    f->form->kind = json ? TOOL_JSON : TOOL_PAIRS;
    if (json)
        f->to = f->args_to;
    if (o && to >= f->args_to && is_call(f, o)) {
        f->form->kind = TOOL_OBJECT;
        f->from = from;
        f->to = to;
    }
    json_decref(args);
    json_decref(o);
}

/* ---- what stands around calls ---- */

/* What ends the turn: a token behind the calls. */
static void
find_ends(struct finder *f, struct chat_string *end)
{
    struct chat_string s = f->post.n ? f->post : *end;
    size_t last = chat_tool_last(end), to = 0, at = 0;

    if (!f->post.n && end->n && end->s[last] == '<') {
        s = part(end, last, end->n);
        end->n = last;
    }
    while (at < s.n && chat_tool_is_space(s.s[at]))
        at++;
    if (at < s.n && s.s[at] == '<')
        to = chat_tool_token(&s, at);
    if (to > at + 1) {
        f->form->ends[0].s = keep(f, part(&s, at, to));
        f->form->ends[0].n = to - at;
        f->form->n_ends = 1;
    }
}

/* Literals around the calls; *before and *after those around one. */
static bool
find_frame(struct finder *f, struct chat_string *before,
           struct chat_string *after)
{
    struct chat_string open = part(&f->one, f->begin, f->from);
    struct chat_string behind = part(&f->one, f->to, f->one.n);
    size_t content = find(&f->plain, 0, PROBE_CONTENT);
    struct chat_string plain = part(
        &f->plain, content == NOWHERE ? 0 : content + strlen(PROBE_CONTENT),
        f->plain.n);
    struct chat_string between = { 0 }, end;
    size_t n;

    n = chat_tool_alike_behind(&behind, &plain);
    f->post = part(&behind, behind.n - n, behind.n);
    behind.n -= n;
    f->form->one = !f->has_both;
    *before = open;
    *after = behind;
    open.n = 0;
    end = part(&behind, behind.n, behind.n);
    if (f->has_both) {
        size_t slot = first_slot(&f->both, f->begin + (f->to - f->begin),
                                 PROBE_NAME_2, PROBE_ID_2);
        size_t unused, cs = slot;

        if (f->both.n < f->to || slot == NOWHERE ||
            memcmp(f->both.s + f->begin, f->one.s + f->begin,
                   f->to - f->begin) != 0)
            return fails(f, "two calls are not written like one");
        if (f->form->kind == TOOL_OBJECT) {
            json_t *o = object_around(&f->both, f->to, slot, &cs, &unused);

            json_decref(o);
            if (!o)
                return fails(f, "two calls are not written like one");
        }
        between = part(&f->both, f->to, cs);
        n = chat_tool_alike_behind(before, &between);
        open = part(before, 0, before->n - n);
        *before = part(before, before->n - n, before->n);
        between.n -= n;
        n = chat_tool_alike(&between, &behind);
        end = part(&behind, n, behind.n);
        *after = part(&behind, 0, n);
        between = part(&between, n, between.n);
    }
    find_ends(f, f->has_both ? &end : after);
    f->form->open = keep(f, open);
    f->form->separator = keep(f, between);
    f->form->end = keep(f, end);
    return true;
}

/* ---- pieces ---- */

/* Adds what stands in `one` between two places. */
static void
add_text(struct finder *f, size_t from, size_t to)
{
    if (from < to)
        f->form->pieces[f->form->n_pieces++] = (struct tool_piece){
            .text = keep(f, part(&f->one, from, to)),
        };
}

static void
add_slot(struct finder *f, enum tool_slot slot)
{
    f->form->pieces[f->form->n_pieces++] = (struct tool_piece){ .slot = slot };
}

/* The pieces, from `from` to `to` in `one`. */
static void
find_pieces(struct finder *f, size_t from, size_t to)
{
    struct {
        size_t at, n;
        enum tool_slot slot;
    } slots[3] = {
        { find(&f->one, f->from, PROBE_NAME_1), strlen(PROBE_NAME_1),
          TOOL_NAME },
        { f->args, f->args_to - f->args, TOOL_ARGUMENTS },
        { find(&f->one, f->from, PROBE_ID_1), strlen(PROBE_ID_1), TOOL_ID },
    };

    if (f->form->kind == TOOL_PAIRS) {
        slots[1].at = find(&f->one, f->from, PROBE_KEY_1);
        slots[1].n = to - slots[1].at;
    }
    for (size_t at = from; at < to;) {
        int next = -1;

        for (int i = 0; i < 3; i++)
            if (slots[i].at >= at && slots[i].at < to &&
                (next < 0 || slots[i].at < slots[next].at))
                next = i;
        if (next < 0) {
            add_text(f, at, to);
            break;
        }
        if (f->form->kind != TOOL_PAIRS ||
            slots[next].slot != TOOL_ARGUMENTS) /* that is `first` */
            add_text(f, at, slots[next].at);
        add_slot(f, slots[next].slot);
        at = slots[next].at + slots[next].n;
    }
}

/* Digits that are other ones in the second call stand for any. */
static const char *
with_digits(struct finder *f, const char *one, const char *other)
{
    size_t at = 0, a, b;
    char *s;

    while (one[at] && one[at] == other[at])
        at++;
    if (!one[at] || one[at] < '0' || one[at] > '9')
        return one;
    a = strspn(one + at, "0123456789");
    b = strspn(other + at, "0123456789");
    if (!b || strcmp(one + at + a, other + at + b) != 0)
        return one;
    s = (char *)keep(f, (struct chat_string){ .s = one, .n = strlen(one) });
    if (!*s)
        return one;
    s[at] = '\1';
    memmove(s + at + 1, one + at + a, strlen(one + at + a) + 1);
    return s;
}

/* The text before arguments in the second call, from its name on. */
static const char *
second_text(struct finder *f, const char *text)
{
    size_t name = find(&f->both, f->to, PROBE_NAME_2), n = strlen(text);

    if (!f->has_both || name == NOWHERE)
        return text;
    name += strlen(PROBE_NAME_2);
    if (name + n > f->both.n)
        return text;
    return with_digits(f, text, copy(f, part(&f->both, name, name + n)));
}

/* The numbers of calls, behind their names. */
static void
find_numbers(struct finder *f)
{
    struct tool_form *form = f->form;

    for (size_t i = 1; i < form->n_pieces; i++) {
        struct tool_piece *p = &form->pieces[i];
        const char *text = i > 1 ? p[-2].text : NULL;
        size_t n = text ? strlen(text) : 0;

        if (p->slot != TOOL_TEXT || p[-1].slot != TOOL_NAME)
            continue;
        p->text = second_text(f, p->text);
        if (strncmp(p->text, ":\1", 2) == 0 && n >= 10 &&
            strcmp(text + n - 10, "functions.") == 0)
            form->id_prefix = "functions.";
    }
}

/* ---- keys and values ---- */

static void
add_variant(struct finder *f, unsigned types, struct chat_string before,
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
        .before = keep(f, before),
        .after = keep(f, after),
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
    return NOWHERE;
}

/* From the first of two characters on to the last of two others. */
static size_t
bracketed(const struct chat_string *s, size_t from, size_t to, char open,
          char close, size_t *n)
{
    const char *a = memchr(s->s + from, open, to - from);
    const char *b = memrchr(s->s + from, close, to - from);

    if (!a || !b || b < a)
        return NOWHERE;
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

/* How a value of another type stands behind its key. */
static void
find_variant(struct finder *f, unsigned type, const char *arguments)
{
    struct chat_string s;
    size_t behind = strlen(f->form->close) + strlen(f->form->end) + f->post.n;
    size_t from, to, at, n;

    if (f->form->n_ends && !f->post.n)
        behind += f->form->ends[0].n;
    if (!probe(f, arguments, NULL, &s))
        return;
    from = find(&s, f->begin, PROBE_KEY_1);
    if (from == NOWHERE || s.n < behind)
        return;
    from += strlen(PROBE_KEY_1);
    to = s.n - behind;
    at = from < to ? value_at(&s, from, to, type, &n) : NOWHERE;
    if (at == NOWHERE)
        return;
    add_variant(f, type, part(&s, from, at), part(&s, at + n, to));
}

static void
find_variants(struct finder *f)
{
    static const struct {
        unsigned type;
        const char *arguments;
    } probes[] = {
        { TOOL_NUMBER, ONE(PROBE_NUMBER) },
        { TOOL_BOOLEAN, ONE("true") },
        { TOOL_NULL, ONE("null") },
        { TOOL_ARRAY, ONE("[" PROBE_NUMBER "]") },
        { TOOL_DICT, ONE("{\"kk\": " PROBE_NUMBER "}") },
        { TOOL_STRING, ONE("\"<a&\\nb\"") },
    };

    for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
        find_variant(f, probes[i].type, probes[i].arguments);
}

/* What stands behind the name of a call without arguments. */
static void
find_none(struct finder *f)
{
    size_t name = find(&f->none, f->begin, PROBE_NAME_1);
    size_t behind = strlen(f->form->end) + f->post.n;
    const char *digits = strchr(f->form->first, '\1'), *none;
    size_t at;

    if (f->form->n_ends && !f->post.n)
        behind += f->form->ends[0].n;
    f->form->none = f->form->close;
    if (!f->has_none || name == NOWHERE)
        return;
    name += strlen(PROBE_NAME_1);
    if (f->none.n < name + behind)
        return;
    none = keep(f, part(&f->none, name, f->none.n - behind));
    at = digits ? (size_t)(digits - f->form->first) : 0;
    if (digits && strlen(none) > at && none[at] >= '0' && none[at] <= '9') {
        char *s = (char *)none;
        size_t n = strspn(none + at, "0123456789");

        s[at] = '\1';
        memmove(s + at + 1, none + at + n, strlen(none + at + n) + 1);
    }
    f->form->none = none;
}

/* Of a form of pairs: `after` is what stands behind its last value. */
static bool
find_pairs(struct finder *f, struct chat_string after)
{
    const struct chat_string *s = &f->two;
    size_t k1 = find(s, f->begin, PROBE_KEY_1);
    size_t v1 = find(s, k1, PROBE_STRING_1);
    size_t k2 = find(s, v1, PROBE_KEY_2), e1 = v1 + strlen(PROBE_STRING_1);
    size_t name = find(&f->one, f->from, PROBE_NAME_1);
    size_t key = find(&f->one, f->from, PROBE_KEY_1);
    struct chat_string before, between;
    size_t n;

    if (k1 == NOWHERE || v1 == NOWHERE || k2 == NOWHERE || key < name ||
        name == NOWHERE)
        return fails(f, "its arguments stand in no order that is known");
    before = part(s, k1 + strlen(PROBE_KEY_1), v1);
    between = part(s, e1, k2);
    n = chat_tool_alike(&between, &after);
    f->form->first = second_text(
        f, keep(f, part(&f->one, name + strlen(PROBE_NAME_1), key)));
    f->form->next = keep(f, part(&between, n, between.n));
    f->form->close = keep(f, part(&after, n, after.n));
    add_variant(f, TOOL_STRING, before, part(&between, 0, n));
    find_variants(f);
    find_none(f);
    if (!*f->form->first || !*f->form->next)
        return fails(f, "nothing stands before its arguments");
    return true;
}

/* ---- marks ---- */

/* What calls begin with: the first tokens that no answer without calls has. */
static void
find_mark(struct finder *f, const char *head)
{
    size_t a = strlen(f->form->open), b = strlen(head), from = 0, to = 0;
    char text[2 * TOOL_LITERAL + 2];
    struct chat_string s = { .s = text };
    struct chat_mark *m = &f->form->begins[f->form->n_begins++];

    if (a + b >= sizeof(text)) {
        f->why = "what stands around its calls is too long";
        return;
    }
    memcpy(text, f->form->open, a);
    memcpy(text + a, head, b + 1);
    s.n = a + b;
    while (from < s.n && chat_tool_is_space(text[from]))
        from++;
    for (to = from; to < s.n;) {
        struct chat_string tried;
        bool whole = text[to] == '<' || text[to] == '[';
        size_t end = chat_tool_token(&s, to);

        if (chat_tool_is_space(text[to]) && to > from)
            break;
        whole = whole && end > to + 1;
        to = end;
        tried = part(&s, from, to);
        if (whole && !memmem(f->plain.s, f->plain.n, tried.s, tried.n))
            break;
    }
    m->first = to == from;
    m->s = m->first ? "{" : keep(f, part(&s, from, to));
    m->n = strlen(m->s);
}

/* ---- what is known besides ---- */

static void
add_mark(struct chat_mark *marks, size_t *n, const char *s)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(marks[i].s, s) == 0)
            return;
    if (*n < TOOL_MARKS)
        marks[(*n)++] = (struct chat_mark){ .s = s, .n = strlen(s) };
}

static void
add_known(struct tool_form *f, const struct tool_known *k)
{
    f->name = k->name;
    if (k->behind)
        f->n_begins = 0; /* they are in the table */
    for (int i = 0; i < 2 && k->begins[i]; i++)
        add_mark(f->begins, &f->n_begins, k->begins[i]);
    if (k->ends)
        add_mark(f->ends, &f->n_ends, k->ends);
    if (k->open && !*f->open)
        f->open_too = k->open;
    for (size_t i = 1; k->behind && i < f->n_pieces; i++)
        if (f->pieces[i - 1].slot == TOOL_NAME) {
            f->pieces[i].written = f->pieces[i].text;
            f->pieces[i].text = k->behind;
        }
}

/* Adds what is known of the form, if it is one of the table. */
static void
find_known(struct finder *f)
{
    for (const struct tool_known *k = chat_tool_known; k->name; k++)
        if (chat_probe_shows(&f->one, k->signs[0]) &&
            (!k->signs[1] || chat_probe_shows(&f->one, k->signs[1]))) {
            add_known(f->form, k);
            return;
        }
}

/* ---- all of it ---- */

static bool
find_form(struct finder *f)
{
    struct chat_string before, after;
    struct tool_form *form = f->form;

    *form = (struct tool_form){ .name = "found", .open_too = "" };
    if (!render_all(f))
        return false;
    find_begin(f);
    shorten_begin(f);
    find_kind(f);
    if (!find_frame(f, &before, &after))
        return false;
    form->head = keep(f, before);
    form->foot = keep(f, after);
    if (form->kind == TOOL_PAIRS && !find_pairs(f, after))
        return false;
    find_pieces(f, f->from - before.n,
                form->kind == TOOL_PAIRS ? f->to : f->to + after.n);
    find_numbers(f);
    find_mark(f, form->head);
    find_known(f);
    return !f->why && !f->nomem;
}

/* ---- whether it reads its own renders ---- */

static const char *const samples[][2] = {
    { PROBE_ARGUMENTS_1, NULL },
    { ARGUMENTS_2, NULL },
    { "{}", NULL },
    { ONE(PROBE_NUMBER), NULL },
    { ONE("\"two\\nlines <a&b> \\\"quoted\\\"\""), NULL },
    { ONE("{\"kk\": [" PROBE_NUMBER ", \"a\", {\"kkk\": null}]}"), NULL },
    { PROBE_ARGUMENTS_1, PROBE_ARGUMENTS_1 },
    { ARGUMENTS_2, "{}" },
};

/* Whether call i of the array is this one. */
static bool
is_read(const json_t *calls, size_t i, const char *name, const char *arguments)
{
    json_t *f = json_object_get(json_array_get(calls, i), "function");
    const json_t *a = json_object_get(f, "arguments");
    const char *read = json_string_value(json_object_get(f, "name"));
    json_error_t e;
    json_t *x = core_json_load(arguments, strlen(arguments), 0, &e);
    json_t *y =
        a ? core_json_load(json_string_value(a), json_string_length(a), 0, &e)
          : NULL;
    bool same = read && strcmp(read, name) == 0 && x && y && json_equal(x, y);

    json_decref(x);
    json_decref(y);
    return same;
}

/* Whether a render is read as it was made; its content too, if there is one. */
static bool
reads(struct finder *f, const char *const sample[2], const json_t *tools)
{
    size_t n = sample[1] ? 2 : 1, content, from;
    struct tool_text t = { 0 };
    struct chat_string s;
    json_error_t e;
    json_t *calls = NULL;
    bool is;

    if (!probe(f, sample[0], sample[1], &s) || (n > 1 && f->form->one))
        return !f->nomem; /* it is not to be read */
    from = answer(f, &s);
    is = chat_tool_read(f->form, tools, s.s + from, s.n - from, &t, &content) ==
         n;
    if (is && !t.failed)
        calls = core_json_load(t.s, t.n, 0, &e);
    is = calls && is_read(calls, 0, PROBE_NAME_1, sample[0]) &&
         (n == 1 || is_read(calls, 1, PROBE_NAME_2, sample[1]));
    f->nomem |= t.failed;
    json_decref(calls);
    chat_tool_text_clear(&t);
    return is;
}

static bool
reads_all(struct finder *f)
{
    json_error_t e;
    json_t *tools =
        core_json_load(chat_probe_tools, strlen(chat_probe_tools), 0, &e);
    bool all = tools != NULL;

    f->nomem |= !all;
    for (size_t i = 0; all && i < sizeof(samples) / sizeof(*samples); i++)
        all = reads(f, samples[i], tools);
    json_decref(tools);
    return all || fails(f, "its calls are not read back as they were");
}

enum gg_status
chat_tool_find(const struct gg_vocab *v, const struct chat_template *t,
               struct gg_chat_calls *calls, struct gg_error *err)
{
    struct finder f = {
        .probe = { .vocab = v, .template = t, .arena = &calls->arena },
        .form = &calls->form,
    };
    const char *why = NULL;
    bool found = false;

    for (int i = 0; i < 2 && !found && !f.nomem; i++) {
        f.probe.strings = i;
        f.why = NULL;
        found = find_form(&f) && reads_all(&f);
        why = i && why ? why : f.why;
    }
    if (f.nomem)
        return error_nomem(err);
    if (!found)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the chat template has no form of calls that is "
                         "known: %s",
                         why);
    return GG_OK;
}

#endif
