/* messages.c - the messages of a conversation as a template gets them */
#include <config.h>

#include "chat/messages.h"

#include <string.h>

static const struct chat_value absent = { .type = CHAT_ABSENT };

enum {
    MARK = sizeof(CHAT_MARK) - 1
};

bool
chat_set_member(struct chat_arena *a, struct chat_dict *d, const char *name,
                struct chat_value v)
{
    const struct chat_value key = chat_string(a, name, strlen(name), CHAT_TEXT);

    return key.type != CHAT_ABSENT && v.type != CHAT_ABSENT &&
           chat_dict_set(a, d, key, v);
}

static const struct chat_value *
member(const struct chat_dict *m, const char *name)
{
    return chat_dict_find(m, name, strlen(name));
}

/* ---- roles --------------------------------------------------------------- */

/* Roles that templates of the world write as the names of control tokens;
 * others are text: a role must not spell a token that is none of a role. */
static bool
is_role(const struct chat_string *s)
{
    static const char *const known[] = {
        "system",      "developer", "user",        "assistant", "tool",
        "function",    "ipython",   "model",       "human",     "bot",
        "observation", "context",   "environment", "documents",
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (chat_is(s, known[i]))
            return true;
    return false;
}

bool
chat_has_role(struct chat_value message, const char *role)
{
    const struct chat_value *v = member(message.dict, "role");

    return v && v->type == CHAT_STRING && chat_is(v->string, role);
}

/* Roles that few templates know, and others for the same. */
static const char *const plain_roles[][2] = {
    { "developer", "system" },
    { "function", "tool" },
};

static struct chat_value
role_value(struct chat_arena *a, const struct chat_string *s, unsigned plainer)
{
    for (size_t i = 0; plainer & GG_CHAT_SYSTEMED && i < 2; i++)
        if (chat_is(s, plain_roles[i][0]))
            return chat_string(a, plain_roles[i][1], strlen(plain_roles[i][1]),
                               CHAT_ROLE);
    return chat_string(a, s->s, s->n, is_role(s) ? CHAT_ROLE : CHAT_TEXT);
}

/* ---- contents ------------------------------------------------------------ */

bool
chat_add_message(struct chat_arena *a, struct chat_list *list, const char *role,
                 const char *content, size_t len)
{
    struct chat_value m = chat_dict(a, CHAT_DICT);

    return m.type != CHAT_ABSENT &&
           chat_dict_put(a, m.dict, "role",
                         chat_string(a, role, strlen(role), CHAT_TEXT)) &&
           chat_dict_put(a, m.dict, "content",
                         chat_string(a, content, len, CHAT_TEXT)) &&
           chat_list_add(a, list, m);
}

/* The text of a part, or NULL. */
static const struct chat_string *
text_of(struct chat_value part)
{
    const struct chat_value *v =
        part.type == CHAT_DICT ? member(part.dict, "text") : &part;

    return v && v->type == CHAT_STRING ? v->string : NULL;
}

/* The text of a content of parts, with newlines between; not a string: one of
 * them is no text. */
static struct chat_value
join_parts(struct chat_arena *a, const struct chat_list *parts)
{
    const struct chat_value none = CHAT_VALUE_NONE;
    size_t n = 0, at = 0;
    char *s;

    for (size_t i = 0; i < parts->n; i++)
        if (!text_of(parts->items[i]))
            return none;
        else
            n += text_of(parts->items[i])->n + 1;
    s = chat_arena_alloc(a, n);
    for (size_t i = 0; s && i < parts->n; i++) {
        const struct chat_string *text = text_of(parts->items[i]);

        if (i)
            s[at++] = '\n';
        if (text->n)
            memcpy(s + at, text->s, text->n);
        at += text->n;
    }
    return s ? chat_string(a, s, at, CHAT_TEXT) : absent;
}

static struct chat_value
plain_content(struct chat_arena *a, struct chat_value content, unsigned plainer)
{
    struct chat_value joined;

    if (content.type == CHAT_STRING && plainer & CHAT_NULLED)
        return CHAT_VALUE_NONE;
    if (content.type == CHAT_NONE && plainer & GG_CHAT_EMPTIED)
        return chat_string(a, "", 0, CHAT_TEXT);
    if (content.type != CHAT_LIST || !(plainer & GG_CHAT_JOINED))
        return content;
    joined = join_parts(a, content.list);
    return joined.type == CHAT_NONE ? content : joined;
}

enum marked {
    MARK_NONE,
    MARK_AFTER,    /* the mark stands after the content */
    MARK_IN_PLACE, /* ... in place of it */
};

static struct chat_value
marked_value(struct chat_arena *a, struct chat_value content,
             enum marked marked)
{
    bool after = marked == MARK_AFTER && content.type == CHAT_STRING;
    size_t n = after ? content.string->n : 0;
    char *s;

    if (marked == MARK_NONE || content.type == CHAT_ABSENT)
        return content;
    s = chat_arena_alloc(a, n + MARK);
    if (!s)
        return absent;
    if (n)
        memcpy(s, content.string->s, n);
    memcpy(s + n, CHAT_MARK, MARK);
    return chat_string(a, s, n + MARK,
                       n ? (enum chat_origin)content.string->origin
                         : CHAT_TEXT);
}

/* ---- messages ------------------------------------------------------------ */

/* How one message is given. */
struct given {
    size_t i; /* its number in the conversation */
    unsigned plainer;
    enum marked marked;
    struct chat_labels *labels; /* or NULL */
};

static struct given
given(const struct chat_request *q, const struct chat_form *f, size_t i,
      size_t n)
{
    bool own = i >= q->first;
    struct given g = { i, f->plainer[i], MARK_NONE, own ? f->labels : NULL };

    if (f->rest && i + 1 == q->first)
        g.marked = MARK_IN_PLACE;
    else if (f->open && i + 1 == n)
        g.marked = MARK_AFTER;
    return g;
}

static struct chat_value
content_value(struct chat_arena *a, struct chat_value content,
              const struct given *g)
{
    content = plain_content(a, content, g->plainer);
    if (g->labels && content.type != CHAT_ABSENT)
        content = chat_label_content(a, g->labels, content, g->i);
    return marked_value(a, content, g->marked);
}

static struct chat_value
member_value(struct chat_arena *a, const struct chat_pair *p,
             const struct given *g)
{
    struct chat_value v = p->value;

    if (p->key.type != CHAT_STRING)
        return v;
    if (chat_is(p->key.string, "role") && v.type == CHAT_STRING)
        return role_value(a, v.string, g->plainer);
    if (chat_is(p->key.string, "content"))
        return content_value(a, v, g);
    if (chat_is(p->key.string, "tool_calls") && g->labels)
        return chat_label_calls(a, g->labels, v, g->i);
    return v;
}

/* The value of get('content') is seen, too. */
static bool
label_missing(struct chat_arena *a, struct chat_dict *m, const struct given *g)
{
    struct chat_value none =
        chat_label_content(a, g->labels, CHAT_VALUE_NONE, g->i);

    m->origin = none.origin;
    return none.type != CHAT_ABSENT;
}

static struct chat_value
form_message(struct chat_arena *a, const struct chat_dict *m,
             const struct given *g)
{
    bool lacks =
        !member(m, "content") && (g->marked || g->plainer & GG_CHAT_EMPTIED);
    const struct chat_value none = CHAT_VALUE_NONE;
    struct chat_value out = chat_dict(a, CHAT_DICT);
    bool ok = out.type != CHAT_ABSENT;

    for (size_t i = 0; ok && i < m->n; i++) {
        struct chat_value v = member_value(a, &m->pairs[i], g);

        ok = v.type != CHAT_ABSENT &&
             chat_dict_set(a, out.dict, m->pairs[i].key, v);
    }
    if (ok && lacks)
        ok = chat_set_member(a, out.dict, "content", content_value(a, none, g));
    else if (ok && g->labels && !member(m, "content"))
        ok = label_missing(a, out.dict, g);
    return ok ? out : absent;
}

bool
chat_form_messages(struct chat_arena *a, const struct chat_request *q,
                   const struct chat_form *f, struct chat_value *list)
{
    struct chat_value out = chat_list(a, CHAT_LIST);
    bool ok = out.type != CHAT_ABSENT;

    if (ok && f->question)
        ok = chat_add_message(a, out.list, "user", "", 0);
    for (size_t i = 0; ok && i < list->list->n; i++) {
        struct given g = given(q, f, i, list->list->n);
        struct chat_value m = form_message(a, list->list->items[i].dict, &g);

        ok = m.type != CHAT_ABSENT && chat_list_add(a, out.list, m);
    }
    if (ok)
        *list = out;
    return ok;
}

unsigned
chat_made_plainer(struct chat_value message, unsigned plainer)
{
    const struct chat_value *v = member(message.dict, "content");
    unsigned made = 0;

    if (!v || v->type == CHAT_NONE)
        made |= GG_CHAT_EMPTIED;
    else if (v->type == CHAT_LIST)
        made |= GG_CHAT_JOINED;
    else if (v->type == CHAT_STRING && v->string->n == 0 &&
             member(message.dict, "tool_calls"))
        made |= CHAT_NULLED;
    for (size_t i = 0; i < 2; i++)
        if (chat_has_role(message, plain_roles[i][0]))
            made |= GG_CHAT_SYSTEMED;
    return made & plainer;
}
