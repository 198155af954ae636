/* tool_read.c - reading calls by their form */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_read.h"

#include <string.h>

#include "chat/tool_literal.h"
#include "chat/tool_types.h"

enum {
    KEY_MOST = 4096,
    TRIES = 16,    /* places where calls may begin */
    WORK = 16,     /* bytes looked at in vain, for each one of the text */
    ID_LENGTH = 9, /* of ids that are made: what Mistral's templates want */
};

#define NOWHERE SIZE_MAX

struct reader {
    const struct tool_form *f;
    const json_t *tools;
    const char *s;
    size_t n;
    struct tool_text *out;
    size_t count;
    size_t work;  /* that is left */
    bool lenient; /* values end as they should nowhere */
};

/* Of a call. */
struct call {
    const char *name, *id;
    size_t name_len, id_len;
    struct tool_text arguments;
};

/* ---- small things ---- */

static size_t
match(const struct reader *r, size_t at, const char *literal)
{
    return chat_tool_match(r->s, r->n, at, literal);
}

/* Bytes that were looked at in vain. */
static void
spend(struct reader *r, size_t bytes)
{
    r->work -= bytes < r->work ? bytes : r->work;
}

/* ---- values of arguments ---- */

/* A value that its surroundings part from the rest. */
static void
put_delimited(struct reader *r, struct call *c, unsigned types, size_t from,
              size_t to)
{
    size_t had = c->arguments.n, at = from, end = to;

    while (end > from && chat_tool_is_space(r->s[end - 1]))
        end--;
    at = chat_tool_space_end(r->s, end, from);
    if (types & chat_tool_type_by_look(r->s + at, end - at) &
            ~(unsigned)TOOL_STRING &&
        chat_tool_value(&c->arguments, r->s, end, &at) && at == end)
        return;
    at = chat_tool_space_end(r->s, end, from);
    chat_tool_text_cut(&c->arguments, had);
    if (!(types & TOOL_STRING) &&
        chat_tool_value(&c->arguments, r->s, end, &at) && at == end)
        return;
    chat_tool_text_cut(&c->arguments, had);
    chat_tool_put_string(&c->arguments, r->s + from, to - from);
}

/* Whether calls may go on, or end, at `at`. */
static bool
is_border(const struct reader *r, size_t at)
{
    const struct tool_form *f = r->f;
    const char *const goes[] = { f->end, f->separator, f->open,
                                 f->pieces[0].text };

    if (f->one || chat_tool_space_end(r->s, r->n, at) == r->n)
        return true;
    for (size_t i = 0; i < sizeof(goes) / sizeof(*goes); i++)
        if (goes[i] &&
            goes[i][chat_tool_space_end(goes[i], strlen(goes[i]), 0)] &&
            match(r, at, goes[i]) != NOWHERE)
            return true;
    for (size_t i = 0; i < f->n_ends; i++)
        if (match(r, at, f->ends[i].s) != NOWHERE)
            return true;
    return false;
}

/* Whether a value ends at `at`: before another key, where *more is set, or at
 * the end of the call. Returns where that begins, or the call has ended. */
static size_t
value_end(const struct reader *r, const struct tool_variant *v, size_t at,
          bool exactly, bool *more)
{
    size_t (*how)(const char *, size_t, size_t, const char *) =
        exactly ? chat_tool_match_exactly : chat_tool_match;
    size_t behind = how(r->s, r->n, at, v->after), to;

    if (behind == NOWHERE)
        return NOWHERE;
    to = how(r->s, r->n, behind, r->f->next);
    *more = to != NOWHERE;
    if (*more)
        return to;
    to = how(r->s, r->n, behind, r->f->close);
    return to != NOWHERE && (!exactly || is_border(r, to)) ? to : NOWHERE;
}

/* Where the value that begins at `at` ends; *to gets what value_end() gives. */
static size_t
find_end(struct reader *r, const struct tool_variant *v, size_t at, bool *more,
         size_t *to)
{
    for (size_t i = at; !r->lenient && i <= r->n; i++)
        if ((*to = value_end(r, v, i, true, more)) != NOWHERE)
            return i;
    r->lenient = true;
    for (size_t i = at; i <= r->n; i++)
        if ((i == r->n || !chat_tool_is_space(r->s[i])) &&
            (*to = value_end(r, v, i, false, more)) != NOWHERE)
            return i;
    return NOWHERE;
}

/* A value that ends where its notation does; NOWHERE: it is none. */
static size_t
value_of_notation(struct reader *r, struct call *c,
                  const struct tool_variant *v, size_t at, bool *more)
{
    size_t had = c->arguments.n, from = at, to = NOWHERE;

    if (v->types & TOOL_STRING)
        return NOWHERE;
    if (chat_tool_value(&c->arguments, r->s, r->n, &at))
        to = value_end(r, v, at, false, more);
    if (to == NOWHERE) {
        chat_tool_text_cut(&c->arguments, had);
        spend(r, at - from);
    }
    return to;
}

/* The longest that begins at `at` with what stands before its values. */
static const struct tool_variant *
variant_at(const struct reader *r, size_t at, size_t *to)
{
    const struct tool_variant *best = NULL;

    for (size_t i = 0; i < r->f->n_variants; i++) {
        const struct tool_variant *v = &r->f->variants[i];
        size_t end = chat_tool_match_before(r->s, r->n, at, v->before);

        if (end != NOWHERE && (!best || end > *to)) {
            best = v;
            *to = end;
        }
    }
    return best;
}

/* A key and its value; returns where the next key begins, or the call has
 * ended. */
static size_t
pair(struct reader *r, struct call *c, size_t at, bool *more)
{
    const struct tool_variant *v = NULL;
    size_t key = at, from = at, to, end;
    unsigned types;

    for (; at < r->n && at - key < KEY_MOST && !v; at += !v)
        v = variant_at(r, at, &from);
    if (!v)
        return NOWHERE;
    types = chat_tool_types_of(r->tools, c->name, c->name_len, r->s + key,
                               at - key);
    chat_tool_put_string(&c->arguments, r->s + key, at - key);
    chat_tool_puts(&c->arguments, ": ");
    to = value_of_notation(r, c, v, from, more);
    if (to != NOWHERE || r->work == 0)
        return to;
    end = find_end(r, v, from, more, &to);
    if (end == NOWHERE)
        return NOWHERE;
    put_delimited(r, c, types & v->types ? types & v->types : v->types, from,
                  end);
    return to;
}

/* Behind the name. */
static size_t
pairs(struct reader *r, struct call *c, size_t at)
{
    size_t to = *r->f->none ? match(r, at, r->f->none) : NOWHERE;
    bool more = to == NOWHERE;

    chat_tool_puts(&c->arguments, "{");
    if (more)
        to = match(r, at, r->f->first);
    for (bool first = true; more && to != NOWHERE; first = false) {
        if (!first)
            chat_tool_puts(&c->arguments, ", ");
        to = pair(r, c, to, &more);
    }
    chat_tool_puts(&c->arguments, "}");
    return to;
}

/* ---- pieces ---- */

/* Where a name or an id ends that begins at `at`. */
static size_t
slot_end(const struct reader *r, size_t at, const char *next, const char *other)
{
    size_t most = r->n - at > TOOL_NAME_MOST ? at + TOOL_NAME_MOST : r->n;

    if (*next == '\2') {
        while (at < most && r->s[at] != '<' && !chat_tool_is_space(r->s[at]))
            at++;
        return at;
    }
    for (size_t i = at; i <= most; i++)
        if (match(r, i, next) != NOWHERE ||
            (other && match(r, i, other) != NOWHERE))
            return i;
        else if (i < r->n && chat_tool_is_space(r->s[i]))
            break;
    return NOWHERE;
}

/* Where the object of JSON at `at` ends, by its brackets; 0: it is none. */
static size_t
object_end(struct reader *r, size_t at)
{
    bool begins = at < r->n && r->s[at] == '{';
    size_t to = begins ? chat_tool_extent(r->s, r->n, at) : 0;

    if (begins && !to)
        spend(r, r->n - at);
    return to;
}

/* The object of JSON at `at`. */
static size_t
object(struct reader *r, struct call *c, size_t at)
{
    size_t from = chat_tool_space_end(r->s, r->n, at), to = object_end(r, from);

    if (!to || !chat_tool_is_json(r->s + from, to - from))
        return NOWHERE;
    chat_tool_put(&c->arguments, r->s + from, to - from);
    return to;
}

/* A name or an id. */
static size_t
slot(const struct reader *r, struct call *c, size_t i, size_t at)
{
    const struct tool_piece *p = &r->f->pieces[i], *next = p + 1;
    bool last = i + 1 >= r->f->n_pieces || next->slot != TOOL_TEXT;
    size_t end = last ? slot_end(r, at, r->f->first, r->f->none)
                      : slot_end(r, at, next->text, NULL);

    if (end == NOWHERE || end == at)
        return NOWHERE;
    if (p->slot == TOOL_NAME) {
        c->name = r->s + at;
        c->name_len = end - at;
    } else {
        c->id = r->s + at;
        c->id_len = end - at;
    }
    return end;
}

/* The id that is made of the name and the number behind it. */
static void
find_id(const struct reader *r, struct call *c, size_t at)
{
    size_t before = r->f->id_prefix ? strlen(r->f->id_prefix) : 0;
    size_t end = at;

    if (!r->f->id_prefix || (size_t)(c->name - r->s) < before)
        return;
    while (end > (size_t)(c->name - r->s) &&
           !(r->s[end - 1] >= '0' && r->s[end - 1] <= '9'))
        end--;
    c->id = c->name - before;
    c->id_len = (size_t)(r->s + end - c->id);
}

static size_t
pieces(struct reader *r, struct call *c, size_t at)
{
    const struct tool_form *f = r->f;

    for (size_t i = 0; i < f->n_pieces && at != NOWHERE; i++) {
        const struct tool_piece *p = &f->pieces[i];
        bool last = i + 1 == f->n_pieces;

        if (p->slot == TOOL_TEXT) {
            size_t to = match(r, at, p->text);

            at = to == NOWHERE && last && i ? at : to;
        } else if (p->slot == TOOL_ARGUMENTS) {
            if (c->name)
                find_id(r, c, at);
            at = f->kind == TOOL_PAIRS ? pairs(r, c, at) : object(r, c, at);
        } else {
            at = slot(r, c, i, at);
        }
    }
    return at;
}

/* ---- calls that are objects ---- */

/* The end of a value in JSON that is right. */
static size_t
json_end(const char *s, size_t n, size_t at)
{
    if (at < n && (s[at] == '{' || s[at] == '['))
        return chat_tool_extent(s, n, at);
    if (at < n && s[at] == '"') {
        for (at++; at < n && s[at] != '"'; at++)
            at += s[at] == '\\';
        return at + 1;
    }
    while (at < n && s[at] != ',' && s[at] != '}' && !chat_tool_is_space(s[at]))
        at++;
    return at;
}

/* Where the value of a member stands in the text of an object that is right;
 * *end gets where it ends. NOWHERE: there is none, or its key has escapes. */
static size_t
member_at(const char *s, size_t n, const char *key, size_t *end)
{
    size_t len = strlen(key);

    for (size_t at = 1; at < n; at = chat_tool_space_end(s, n, *end) + 1) {
        size_t name = chat_tool_space_end(s, n, at), to = json_end(s, n, name);
        size_t value =
            chat_tool_space_end(s, n, chat_tool_space_end(s, n, to) + 1);

        if (value >= n)
            break;
        *end = json_end(s, n, value);
        if (to - name == len + 2 && memcmp(s + name + 1, key, len) == 0)
            return value;
    }
    return NOWHERE;
}

/* The arguments, as text: those of the object s[0..n). */
static bool
put_arguments(struct tool_text *to, const json_t *v, const char *s, size_t n,
              const char *key)
{
    size_t end = 0,
           at = json_is_object(v) ? member_at(s, n, key, &end) : NOWHERE;
    bool is = !v || at != NOWHERE ||
              (json_is_string(v) &&
               chat_tool_is_json(json_string_value(v), json_string_length(v)));

    if (at != NOWHERE)
        chat_tool_put(to, s + at, end - at);
    else if (is && v)
        chat_tool_put(to, json_string_value(v), json_string_length(v));
    else if (is)
        chat_tool_puts(to, "{}");
    return is;
}

/* ---- the array of calls ---- */

/* Nine letters and digits. */
static void
make_id(const struct reader *r, const struct call *c, char *id)
{
    static const char digits[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t h = 14695981039346656037u + r->count;

    for (size_t i = 0; i < c->name_len; i++)
        h = (h ^ (unsigned char)c->name[i]) * 1099511628211u;
    for (size_t i = 0; i < c->arguments.n; i++)
        h = (h ^ (unsigned char)c->arguments.s[i]) * 1099511628211u;
    h ^= h >> 29;
    for (int i = 0; i + 1 < ID_LENGTH; i++, h /= 62)
        id[i] = digits[h % 62];
    id[ID_LENGTH - 1] = digits[r->count % 62];
}

static void
put_call(struct reader *r, const struct call *c)
{
    char made[ID_LENGTH];
    const char *id = c->id ? c->id : made;

    make_id(r, c, made);
    chat_tool_puts(r->out, r->count++ ? ",{\"id\":" : "{\"id\":");
    chat_tool_put_string(r->out, id, c->id ? c->id_len : ID_LENGTH);
    chat_tool_puts(r->out, ",\"type\":\"function\",\"function\":"
                           "{\"name\":");
    chat_tool_put_string(r->out, c->name, c->name_len);
    chat_tool_puts(r->out, ",\"arguments\":");
    chat_tool_put_string(r->out, c->arguments.s, c->arguments.n);
    chat_tool_puts(r->out, "}}");
}

/* The first of two keys that the object has, or the first one. */
static const char *
key_of(const json_t *o, const char *key, const char *other)
{
    return json_object_get(o, key) || !json_object_get(o, other) ? key : other;
}

/* A call that is an object, of which s[0..n) is the text; false: it is none. */
static bool
put_object(struct reader *r, const json_t *o, const char *s, size_t n)
{
    const struct tool_form *f = r->f;
    void *first = json_object_iter((json_t *)o);
    const char *key = first ? json_object_iter_key(first) : "";
    const json_t *name = NULL;
    const json_t *id = f->id_key ? json_object_get(o, f->id_key) : NULL;
    struct call c = { .name = key, .name_len = strlen(key) };
    bool is;

    if (f->name_key) {
        name = json_object_get(o, key_of(o, f->name_key, "name"));
        c.name = json_string_value(name);
        c.name_len = name ? json_string_length(name) : 0;
        key = key_of(o, f->arguments_key, key_of(o, "arguments", "parameters"));
    }
    c.id = json_string_value(id);
    c.id_len = c.id ? json_string_length(id) : 0;
    is = c.name && c.name_len &&
         put_arguments(&c.arguments, json_object_get(o, key), s, n, key);
    if (is)
        put_call(r, &c);
    r->out->failed |= c.arguments.failed;
    chat_tool_text_clear(&c.arguments);
    return is;
}

/* Returns where the call at `at` ends. */
static size_t
object_call(struct reader *r, size_t at)
{
    size_t from = match(r, at, r->f->head), to;
    json_error_t e;
    json_t *o;
    bool is;

    if (from == NOWHERE)
        return NOWHERE;
    from = chat_tool_space_end(r->s, r->n, from);
    to = object_end(r, from);
    o = to ? core_json_load(r->s + from, to - from, JSON_ALLOW_NUL, &e) : NULL;
    is = json_is_object(o) && put_object(r, o, r->s + from, to - from);
    json_decref(o);
    if (!is)
        return NOWHERE;
    from = match(r, to, r->f->foot);
    return from == NOWHERE ? to : from;
}

static size_t
other_call(struct reader *r, size_t at)
{
    struct call c = { 0 };

    at = pieces(r, &c, at);
    if (at != NOWHERE && c.name)
        put_call(r, &c);
    r->out->failed |= c.arguments.failed;
    chat_tool_text_clear(&c.arguments);
    return c.name ? at : NOWHERE;
}

static size_t
call(struct reader *r, size_t at)
{
    if (r->work == 0 || r->out->failed)
        return NOWHERE;
    return r->f->kind == TOOL_OBJECT ? object_call(r, at) : other_call(r, at);
}

/* Another call, behind what may stand between two. */
static size_t
another_call(struct reader *r, size_t at)
{
    const char *const ways[][2] = {
        { r->f->separator, "" },  { "", "" },
        { r->f->open, "" },       { r->f->open_too, "" },
        { r->f->end, "" },        { r->f->end, r->f->separator },
        { r->f->end, r->f->open }
    };
    size_t to = NOWHERE;

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        size_t from = match(r, at, ways[i][0]);

        if (from != NOWHERE)
            from = match(r, from, ways[i][1]);
        to = from == NOWHERE ? NOWHERE : call(r, from);
        if (to != NOWHERE)
            break;
    }
    return to;
}

/* All calls, from where they may begin; whether there is one. */
static bool
calls(struct reader *r, size_t at)
{
    const char *const opens[] = { r->f->open, r->f->open_too, "" };
    size_t to = NOWHERE;

    for (int i = 0; i < 3 && to == NOWHERE; i++) {
        size_t from = match(r, at, opens[i]);

        to = from == NOWHERE ? NOWHERE : call(r, from);
    }
    while (to != NOWHERE && !r->f->one)
        to = another_call(r, to);
    return r->count > 0;
}

/* ---- where calls begin ---- */

/* The first place from `from` on where a mark stands, or NOWHERE. */
static size_t
find_begin(const struct reader *r, size_t from)
{
    size_t best = NOWHERE;

    for (size_t i = 0; i < r->f->n_begins; i++) {
        const struct chat_mark *m = &r->f->begins[i];
        size_t first = chat_tool_space_end(r->s, r->n, 0);
        const char *p = NULL;

        if (!m->first)
            p = memmem(r->s + from, r->n - from, m->s, m->n);
        else if (from <= first && m->n <= r->n - first &&
                 memcmp(r->s + first, m->s, m->n) == 0)
            p = r->s + first;
        if (p && (size_t)(p - r->s) < best)
            best = (size_t)(p - r->s);
    }
    return best;
}

size_t
chat_tool_read(const struct tool_form *f, const json_t *tools, const char *s,
               size_t n, struct tool_text *out, size_t *content)
{
    struct reader r = { .f = f, .tools = tools, .s = s, .n = n, .out = out };
    size_t had, at = n ? find_begin(&r, 0) : NOWHERE;

    r.work = WORK * n + 1;
    chat_tool_puts(out, "[");
    had = out->n;
    for (int i = 0; at != NOWHERE && i < TRIES && !calls(&r, at); i++) {
        chat_tool_text_cut(out, had);
        at = find_begin(&r, at + 1);
    }
    while (r.count && at && chat_tool_is_space(s[at - 1]))
        at--;
    *content = r.count ? at : n;
    chat_tool_puts(out, "]");
    return r.count;
}

#endif
