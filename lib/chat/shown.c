/* shown.c - which texts of a conversation a template shows */
#include <config.h>

#include "chat/shown.h"

#include <string.h>

#include "chat/thoughts.h"

static const struct chat_value absent = { .type = CHAT_ABSENT };

enum {
    MOST = UINT16_MAX - CHAT_LABELS
};

/* ---- labels -------------------------------------------------------------- */

static bool
is_blank(const struct chat_string *s, size_t from)
{
    while (from < s->n && strchr(" \t\r\n\v\f", s->s[from]) && s->s[from])
        from++;
    return from >= s->n;
}

/* The origin of a new label; CHAT_TEXT where none is left, -1 where there is no
 * memory. */
static int
add_label(struct chat_arena *a, struct chat_labels *l, size_t message,
          enum chat_label_kind kind, const struct chat_string *text)
{
    size_t size = sizeof(*l->v), more = l->cap ? 2 * l->cap : 16;
    void *p;

    if (l->n == MOST)
        return CHAT_TEXT;
    if (l->n == l->cap) {
        p = chat_arena_grow(a, l->v, l->cap * size, more * size);
        if (!p)
            return -1;
        l->v = p;
        l->cap = more;
    }
    l->v[l->n] = (struct chat_label){ message, kind, text, false };
    return CHAT_LABELS + (int)l->n++;
}

static struct chat_value
labelled(struct chat_arena *a, struct chat_labels *l, struct chat_value v,
         size_t message, enum chat_label_kind kind)
{
    int label;

    if (v.type != CHAT_STRING || is_blank(v.string, 0))
        return v;
    label = add_label(a, l, message, kind, v.string);
    return label < 0 ? absent
                     : chat_string(a, v.string->s, v.string->n,
                                   (enum chat_origin)label);
}

/* ---- values -------------------------------------------------------------- */

/* A copy of a value in which all strings have this origin. */
static struct chat_value
with_origin(struct chat_arena *a, struct chat_value v, enum chat_origin origin)
{
    struct chat_value out = v;
    bool ok = true;

    if (v.type == CHAT_STRING)
        return chat_string(a, v.string->s, v.string->n, origin);
    if (v.type == CHAT_LIST) {
        out = chat_list(a, CHAT_LIST);
        ok = out.type != CHAT_ABSENT;
        for (size_t i = 0; ok && i < v.list->n; i++) {
            struct chat_value item = with_origin(a, v.list->items[i], origin);

            ok = item.type != CHAT_ABSENT && chat_list_add(a, out.list, item);
        }
    } else if (v.type == CHAT_DICT) {
        out = chat_dict(a, CHAT_DICT);
        ok = out.type != CHAT_ABSENT;
        for (size_t i = 0; ok && i < v.dict->n; i++) {
            const struct chat_pair *p = &v.dict->pairs[i];
            struct chat_value key = with_origin(a, p->key, origin);
            struct chat_value value = with_origin(a, p->value, origin);

            ok = key.type != CHAT_ABSENT && value.type != CHAT_ABSENT &&
                 chat_dict_set(a, out.dict, key, value);
        }
    }
    return ok ? out : absent;
}

/* A whole value as one text. */
static struct chat_value
label_whole(struct chat_arena *a, struct chat_labels *l, struct chat_value v,
            size_t message, enum chat_label_kind kind)
{
    int label = add_label(a, l, message, kind, NULL);

    return label < 0 ? absent : with_origin(a, v, (enum chat_origin)label);
}

/* ---- contents ------------------------------------------------------------ */

static bool
is_part(struct chat_value v)
{
    const struct chat_value *type =
        v.type == CHAT_DICT ? chat_dict_find(v.dict, "type", 4) : NULL;

    return v.type == CHAT_STRING || (type && type->type == CHAT_STRING);
}

static bool
are_parts(const struct chat_list *list)
{
    bool are = true;

    for (size_t i = 0; are && i < list->n; i++)
        are = is_part(list->items[i]);
    return are;
}

/* A member of a part: `type` shows the form, `text` is what is said. */
static struct chat_value
label_member(struct chat_arena *a, struct chat_labels *l,
             const struct chat_pair *p, size_t message)
{
    if (p->key.type != CHAT_STRING)
        return p->value;
    if (chat_is(p->key.string, "type"))
        return labelled(a, l, p->value, message, CHAT_LABEL_FORM);
    if (chat_is(p->key.string, "text"))
        return labelled(a, l, p->value, message, CHAT_LABEL_TEXT);
    return p->value;
}

static struct chat_value
label_part(struct chat_arena *a, struct chat_labels *l, struct chat_value v,
           size_t message)
{
    struct chat_value out;
    bool ok;

    if (v.type == CHAT_STRING)
        return labelled(a, l, v, message, CHAT_LABEL_ITEM);
    out = chat_dict(a, CHAT_DICT);
    ok = out.type != CHAT_ABSENT;
    for (size_t i = 0; ok && i < v.dict->n; i++) {
        const struct chat_pair *p = &v.dict->pairs[i];
        struct chat_value key =
            labelled(a, l, p->key, message, CHAT_LABEL_FORM);
        struct chat_value value = label_member(a, l, p, message);

        ok = key.type != CHAT_ABSENT && value.type != CHAT_ABSENT &&
             chat_dict_set(a, out.dict, key, value);
    }
    return ok ? out : absent;
}

static struct chat_value
label_parts(struct chat_arena *a, struct chat_labels *l,
            const struct chat_list *parts, size_t message)
{
    struct chat_value out = chat_list(a, CHAT_LIST);
    bool ok = out.type != CHAT_ABSENT;

    for (size_t i = 0; ok && i < parts->n; i++) {
        struct chat_value part = label_part(a, l, parts->items[i], message);

        ok = part.type != CHAT_ABSENT && chat_list_add(a, out.list, part);
    }
    return ok ? out : absent;
}

struct chat_value
chat_label_content(struct chat_arena *a, struct chat_labels *l,
                   struct chat_value content, size_t i)
{
    int label;

    switch (content.type) {
    case CHAT_STRING:
        return labelled(a, l, content, i, CHAT_LABEL_TEXT);
    case CHAT_NONE:
        label = add_label(a, l, i, CHAT_LABEL_FORM, NULL);
        content.origin = (uint16_t)label;
        return label < 0 ? absent : content;
    case CHAT_LIST:
        if (are_parts(content.list))
            return label_parts(a, l, content.list, i);
        return label_whole(a, l, content, i, CHAT_LABEL_TEXT);
    case CHAT_DICT:
        return label_whole(a, l, content, i, CHAT_LABEL_TEXT);
    default:
        return content;
    }
}

struct chat_value
chat_label_calls(struct chat_arena *a, struct chat_labels *l,
                 struct chat_value calls, size_t message)
{
    struct chat_value out;
    bool ok;

    if (calls.type != CHAT_LIST)
        return calls;
    out = chat_list(a, CHAT_LIST);
    ok = out.type != CHAT_ABSENT;
    for (size_t i = 0; ok && i < calls.list->n; i++) {
        struct chat_value call =
            label_whole(a, l, calls.list->items[i], message, CHAT_LABEL_CALL);

        ok = call.type != CHAT_ABSENT && chat_list_add(a, out.list, call);
    }
    return ok ? out : absent;
}

/* ---- what came out ------------------------------------------------------- */

static uint16_t
origin_at(const struct chat_string *s, size_t at)
{
    return s->origins ? s->origins[at] : s->origin;
}

/* Whether an item that begins at `at` is printed in a list: ['item'. */
static bool
is_printed(const struct chat_string *s, size_t at)
{
    if (at < 2 || !strchr("'\"", s->s[at - 1]) ||
        origin_at(s, at - 1) != CHAT_TEXT)
        return false;
    for (at--; at > 0 && strchr(" \n", s->s[at - 1]) && s->s[at - 1]; at--)
        ;
    return at > 0 && (s->s[at - 1] == '[' || s->s[at - 1] == ',') &&
           origin_at(s, at - 1) == CHAT_TEXT;
}

void
chat_labels_see(struct chat_labels *l, const struct chat_string *out)
{
    uint16_t last = CHAT_TEXT;

    for (size_t at = 0; at < out->n; at++) {
        uint16_t origin = origin_at(out, at);
        struct chat_label *label;

        if (origin == last)
            continue;
        last = origin;
        if (origin < CHAT_LABELS)
            continue;
        label = &l->v[origin - CHAT_LABELS];
        label->seen = true;
        if (label->kind == CHAT_LABEL_ITEM && is_printed(out, at))
            label->kind = CHAT_LABEL_FORM;
    }
}

/* Whether templates leave a text of an answer out on purpose: reasoning. */
static bool
is_reasoning(const struct chat_string *s)
{
    size_t end = s ? chat_thoughts_end(s->s, s->n) : 0;

    return end > 0 && is_blank(s, end);
}

unsigned
chat_labels_lost(const struct chat_labels *l, size_t *at, size_t message,
                 bool answer)
{
    unsigned lost = 0;
    bool call = false;

    for (; *at < l->n && l->v[*at].message <= message; ++*at) {
        const struct chat_label *x = &l->v[*at];

        call = call || (x->kind == CHAT_LABEL_CALL && x->seen);
        if (x->kind == CHAT_LABEL_FORM)
            lost |= x->seen ? CHAT_LOST_FORM : 0;
        else if (x->kind == CHAT_LABEL_CALL)
            lost |= x->seen ? 0 : CHAT_LOST_CALL;
        else if (!x->seen && !(answer && is_reasoning(x->text)))
            lost |= CHAT_LOST_TEXT;
    }
    return call ? lost & ~(unsigned)CHAT_LOST_TEXT : lost;
}
