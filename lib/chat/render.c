/* render.c - a conversation as a template writes it out */
#include <config.h>

#include "chat/render.h"
#include "chat/switches.h"

#include <string.h>
#include <time.h>

#ifdef HAVE_JANSSON
#include "chat/json.h"
#include "chat/tool_arguments.h"
#include "core/json.h"
#endif
#include "vocab/chat.h"
#include "vocab/vocab.h"

/* Stands behind a content, to be found in what is rendered: no text has it, and
 * nothing takes it away. */
static const char mark[] = "\x02gg\x03";

enum {
    MARK = sizeof(mark) - 1
};

/* ---- special tokens ------------------------------------------------------ */

/* A variable with the text of a token, if there is one. */
static bool
put_token(struct chat_arena *a, struct chat_dict *d, const char *name,
          const struct gg_vocab *v, int32_t id)
{
    const uint8_t *p;
    size_t n;

    if (id < 0 || v->textless[0])
        return true;
    p = vocab_bytes(v, id, &n);
    return chat_dict_put(a, d, name,
                         chat_string(a, (const char *)p, n, CHAT_TRUSTED));
}

/* ---- arguments ----------------------------------------------------------- */

#ifdef HAVE_JANSSON

/* The value of a text in JSON, called `name`. The calls of messages, which `q`
 * is given with, are made what the template takes. */
static enum gg_status
read_json(struct chat_arena *a, const char *name, const char *text,
          const struct chat_request *q, struct chat_value *out,
          struct gg_error *err)
{
    json_error_t e;
    enum gg_status st = GG_OK;
    json_t *json = core_json_load(text, strlen(text),
                                  JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);

    if (!json)
        return error_set(err, GG_ERR_ARG, "%s of a chat template: not JSON",
                         name);
    if (q && !q->as_they_are && !chat_tool_arguments(q, json))
        st = error_nomem(err);
    if (st == GG_OK)
        *out = chat_from_json(a, json);
    json_decref(json);
    return st != GG_OK || out->type == CHAT_ABSENT ? error_nomem(err) : GG_OK;
}

#else

static enum gg_status
read_json(struct chat_arena *a, const char *name, const char *text,
          const struct chat_request *q, struct chat_value *out,
          struct gg_error *err)
{
    (void)a, (void)name, (void)text, (void)q, (void)out;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "this was built without Jansson, which reads JSON");
}

#endif

/* ---- messages ------------------------------------------------------------ */

/* How the messages are given to the template. */
struct form {
    bool open;     /* the last one goes on */
    bool rest;     /* what stands behind the one before `first` is wanted */
    bool question; /* an empty one of a user stands before all */
    bool answer;   /* add_generation_prompt */
    bool plain;    /* parts of a content are joined, null is empty */
    bool system;   /* a developer is the system */
};

static bool
is_role(const struct chat_string *s)
{
    bool is = s->n > 0;

    for (size_t i = 0; is && i < s->n; i++)
        is = (s->s[i] >= 'a' && s->s[i] <= 'z') || s->s[i] == '_';
    return is;
}

static struct chat_value
role_value(struct chat_arena *a, const struct chat_string *s,
           const struct form *f)
{
    if (f->system && chat_is(s, "developer"))
        return chat_string(a, "system", 6, CHAT_ROLE);
    return chat_string(a, s->s, s->n, is_role(s) ? CHAT_ROLE : CHAT_TEXT);
}

static bool
add_message(struct chat_arena *a, struct chat_list *list, const char *role,
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

static bool
add_messages(struct chat_arena *a, const struct chat_request *q,
             struct chat_list *list)
{
    bool ok = true;

    for (size_t i = 0; ok && i < q->n; i++)
        ok = add_message(a, list, vocab_chat_roles[q->messages[i].role],
                         q->messages[i].content, q->messages[i].len);
    return ok;
}

/* The text of a content of parts, with newlines between; not a string: one of
 * them is no text. */
static struct chat_value
join_parts(struct chat_arena *a, const struct chat_list *parts)
{
    struct chat_value none = CHAT_VALUE_NONE;
    size_t n = 0;
    char *s;

    for (int pass = 0; pass < 2; pass++) {
        s = pass ? chat_arena_alloc(a, n) : NULL;
        n = 0;
        for (size_t i = 0; i < parts->n; i++) {
            const struct chat_value *text =
                parts->items[i].type == CHAT_DICT
                    ? chat_dict_find(parts->items[i].dict, "text", 4)
                    : NULL;

            if (!text || text->type != CHAT_STRING)
                return none;
            if (i && s)
                s[n] = '\n';
            n += i > 0;
            if (s && text->string->n)
                memcpy(s + n, text->string->s, text->string->n);
            n += text->string->n;
        }
        if (pass && !s)
            return none;
    }
    return chat_string(a, s, n, CHAT_TEXT);
}

static struct chat_value
content_value(struct chat_arena *a, struct chat_value content,
              const struct form *f)
{
    struct chat_value joined;

    if (!f->plain)
        return content;
    if (content.type == CHAT_NONE)
        return chat_string(a, "", 0, CHAT_TEXT);
    if (content.type != CHAT_LIST)
        return content;
    joined = join_parts(a, content.list);
    return joined.type == CHAT_STRING ? joined : content;
}

enum marked {
    MARK_NONE,
    MARK_BEHIND,   /* the mark stands behind the content */
    MARK_IN_PLACE, /* ... in place of it */
};

static enum marked
mark_of(const struct chat_request *q, const struct form *f, size_t i, size_t n)
{
    if (f->rest && i + 1 == q->first)
        return MARK_IN_PLACE;
    return f->open && i + 1 == n ? MARK_BEHIND : MARK_NONE;
}

static struct chat_value
marked_value(struct chat_arena *a, struct chat_value content,
             enum marked marked)
{
    bool behind = marked == MARK_BEHIND && content.type == CHAT_STRING;
    size_t n = behind ? content.string->n : 0;
    char *s;

    if (marked == MARK_NONE)
        return content;
    s = chat_arena_alloc(a, n + MARK);
    if (!s)
        return (struct chat_value){ .type = CHAT_ABSENT };
    if (n)
        memcpy(s, content.string->s, n);
    memcpy(s + n, mark, MARK);
    return chat_string(a, s, n + MARK, CHAT_TEXT);
}

static bool
set_member(struct chat_arena *a, struct chat_dict *d, const char *name,
           struct chat_value v)
{
    const struct chat_value key = chat_string(a, name, strlen(name), CHAT_TEXT);

    return key.type != CHAT_ABSENT && v.type != CHAT_ABSENT &&
           chat_dict_set(a, d, key, v);
}

/* A member of a message as the form wants it. */
static struct chat_value
member_value(struct chat_arena *a, const struct chat_pair *member,
             const struct form *f, enum marked marked)
{
    struct chat_value v = member->value;

    if (member->key.type != CHAT_STRING)
        return v;
    if (chat_is(member->key.string, "role") && v.type == CHAT_STRING)
        return role_value(a, v.string, f);
    if (chat_is(member->key.string, "content"))
        return marked_value(a, content_value(a, v, f), marked);
    return v;
}

/* A copy of a message as the form wants it. */
static struct chat_value
form_message(struct chat_arena *a, const struct chat_dict *m,
             const struct form *f, enum marked marked)
{
    bool lacks = !chat_dict_find(m, "content", 7) && (marked || f->plain);
    const struct chat_value none = CHAT_VALUE_NONE;
    struct chat_value out = chat_dict(a, CHAT_DICT);
    bool ok = out.type != CHAT_ABSENT;

    for (size_t i = 0; ok && i < m->n; i++) {
        struct chat_value v = member_value(a, &m->pairs[i], f, marked);

        ok = v.type != CHAT_ABSENT &&
             chat_dict_set(a, out.dict, m->pairs[i].key, v);
    }
    if (ok && lacks)
        ok = set_member(a, out.dict, "content",
                        marked_value(a, content_value(a, none, f), marked));
    return ok ? out : (struct chat_value){ .type = CHAT_ABSENT };
}

/* The messages as they are, before a form. */
static enum gg_status
read_messages(struct chat_arena *a, const struct chat_request *q,
              struct chat_value *list, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool ok;

    if (q->params->messages) {
        st = read_json(a, "messages", q->params->messages, q, list, err);
        if (st == GG_OK && list->type != CHAT_LIST)
            st = error_set(err, GG_ERR_ARG, "messages: no JSON array");
    } else {
        *list = chat_list(a, CHAT_LIST);
        ok = list->type != CHAT_ABSENT && add_messages(a, q, list->list);
        st = ok ? GG_OK : error_nomem(err);
    }
    for (size_t i = 0; st == GG_OK && i < list->list->n; i++)
        if (list->list->items[i].type != CHAT_DICT)
            st = error_set(err, GG_ERR_ARG, "message %zu is no JSON object",
                           i + 1);
    if (st == GG_OK && !q->as_they_are &&
        !chat_place_thoughts(q->template, list->list, a))
        st = error_nomem(err);
    if (st == GG_OK && (list->list->n == 0 || q->first > list->list->n))
        st = error_set(err, GG_ERR_ARG, "a conversation without messages");
    return st;
}

static bool
is_assistant(struct chat_value message)
{
    const struct chat_value *role = chat_dict_find(message.dict, "role", 4);

    return role && role->type == CHAT_STRING &&
           chat_is(role->string, "assistant");
}

/* The form of the whole conversation. */
static struct form
form_of(const struct chat_request *q, const struct chat_list *list)
{
    bool answer = q->params->flags & GG_CHAT_ANSWER;
    struct form f = { .rest = q->first > 0 };

    f.open =
        answer && q->first < list->n && is_assistant(list->items[list->n - 1]);
    f.answer = answer && !f.open;
    return f;
}

static bool
form_messages(struct chat_arena *a, const struct chat_request *q,
              const struct form *f, struct chat_value *list)
{
    struct chat_value out = chat_list(a, CHAT_LIST);
    bool ok = out.type != CHAT_ABSENT;

    if (ok && f->question)
        ok = add_message(a, out.list, "user", "", 0);
    for (size_t i = 0; ok && i < list->list->n; i++) {
        struct chat_value m = form_message(a, list->list->items[i].dict, f,
                                           mark_of(q, f, i, list->list->n));

        ok = m.type != CHAT_ABSENT && chat_list_add(a, out.list, m);
    }
    if (ok)
        *list = out;
    return ok;
}

static enum gg_status
put_arguments(struct chat_arena *a, const struct gg_chat_params *p,
              struct chat_dict *d, struct gg_error *err)
{
    struct chat_value v;
    enum gg_status st = GG_OK;

    if (p->tools)
        st = read_json(a, "tools", p->tools, NULL, &v, err);
    if (st == GG_OK && p->tools && !set_member(a, d, "tools", v))
        st = error_nomem(err);
    if (st != GG_OK || !p->arguments)
        return st;
    st = read_json(a, "arguments", p->arguments, NULL, &v, err);
    if (st == GG_OK && v.type != CHAT_DICT)
        st = error_set(err, GG_ERR_ARG, "arguments: no JSON object");
    for (size_t i = 0; st == GG_OK && i < v.dict->n; i++)
        if (!chat_dict_set(a, d, v.dict->pairs[i].key, v.dict->pairs[i].value))
            st = error_nomem(err);
    return st;
}

/* ---- rendering ----------------------------------------------------------- */

static enum gg_status
put_variables(const struct chat_request *q, const struct form *f,
              struct chat_value messages, struct chat_arena *a,
              struct chat_dict *d, struct gg_error *err)
{
    const struct gg_vocab *v = q->vocab;
    bool ok =
        form_messages(a, q, f, &messages) &&
        chat_dict_put(a, d, "messages", messages) &&
        chat_dict_put(a, d, "add_generation_prompt", chat_bool(f->answer)) &&
        put_token(a, d, "bos_token", v, gg_vocab_bos(v)) &&
        put_token(a, d, "eos_token", v, gg_vocab_eos(v)) &&
        put_token(a, d, "unk_token", v, v->unk);

    return ok ? put_arguments(a, q->params, d, err) : error_nomem(err);
}

static enum gg_status
render_form(const struct chat_request *q, const struct form *f,
            struct chat_value messages, struct chat_arena *a,
            struct chat_string *out, struct gg_error *err)
{
    struct chat_value d = chat_dict(a, CHAT_DICT);
    int64_t date = q->params->date ? q->params->date : (int64_t)time(NULL);
    enum gg_status st;

    if (d.type == CHAT_ABSENT)
        return error_nomem(err);
    st = put_variables(q, f, messages, a, d.dict, err);
    if (st == GG_OK)
        st = chat_template_render(q->template, d, date, q->limits, a, out, err);
    return st;
}

/* Some templates do not look into a list of parts, and print it. */
static bool
prints_parts(const struct chat_string *s)
{
    static const char start[] = "[{'type': ";

    return s->n && memmem(s->s, s->n, start, sizeof(start) - 1);
}

static bool
has_parts(const struct chat_list *messages)
{
    for (size_t i = 0; i < messages->n; i++) {
        const struct chat_value *v =
            chat_dict_find(messages->items[i].dict, "content", 7);

        if (v && v->type == CHAT_LIST)
            return true;
    }
    return false;
}

/* GG_CHAT_JOINED ..., of the messages as they were. */
static unsigned
made_plainer(const struct form *f, const struct chat_list *messages)
{
    unsigned made = 0;

    for (size_t i = 0; i < messages->n; i++) {
        const struct chat_dict *m = messages->items[i].dict;
        const struct chat_value *role = chat_dict_find(m, "role", 4);
        const struct chat_value *v = chat_dict_find(m, "content", 7);

        if (!v || v->type == CHAT_NONE)
            made |= GG_CHAT_EMPTIED;
        else if (v->type == CHAT_LIST)
            made |= GG_CHAT_JOINED;
        if (f->system && role && role->type == CHAT_STRING &&
            chat_is(role->string, "developer"))
            made |= GG_CHAT_SYSTEMED;
    }
    return made;
}

/* What a template refuses is made plainer, step by step; the error is that of
 * the messages as they are. */
static enum gg_status
render_plainer(const struct chat_request *q, const struct form *first,
               struct chat_value messages, struct chat_arena *a,
               struct chat_string *out, struct gg_error *err)
{
    enum gg_status st = render_form(q, first, messages, a, out, err);
    bool parts = st == GG_OK && has_parts(messages.list) && prints_parts(out);
    struct form f = *first;
    struct chat_string plainer;
    struct gg_error unused;
    bool found = false;

    if (st != GG_ERR_FORMAT && !parts)
        return st;
    f.plain = true;
    for (int i = 0; i < 3 && !found; i++) {
        f.system = i > 0;
        f.question = i > 1 && f.rest && q->first == 1; /* some want one */
        found = render_form(q, &f, messages, a, &plainer, &unused) == GG_OK;
    }
    if (found)
        *out = plainer;
    if (found && q->params->plainer)
        *q->params->plainer |= made_plainer(&f, messages.list);
    return found ? GG_OK : st;
}

/* The part of a string that begins at `at`. */
static void
cut(struct chat_string *s, size_t at, size_t n)
{
    s->s += at;
    s->origins = s->origins ? s->origins + at : NULL;
    s->n = n;
}

/* Where the mark stands last; SIZE_MAX: nowhere. */
static size_t
find_mark(const struct chat_string *s)
{
    for (size_t at = s->n; at >= MARK; at--)
        if (memcmp(s->s + at - MARK, mark, MARK) == 0)
            return at - MARK;
    return SIZE_MAX;
}

static enum gg_status
lost(struct gg_error *err)
{
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "the chat template does not show the assistant's last "
                     "message, which the conversation is to go on from");
}

/* Leaves what is wanted of the text, which has a mark where it ends, or where
 * it begins, or both. */
static enum gg_status
cut_at_marks(const struct form *f, struct chat_string *s, struct gg_error *err)
{
    size_t at;

    if (f->open) {
        at = find_mark(s);
        if (at == SIZE_MAX)
            return lost(err);
        cut(s, 0, at);
    }
    if (f->rest) {
        at = find_mark(s);
        if (at == SIZE_MAX)
            return lost(err);
        cut(s, at + MARK, s->n - at - MARK);
    }
    return GG_OK;
}

enum gg_status
chat_render(const struct chat_request *q, struct chat_arena *arena,
            struct chat_string *out, struct gg_error *err)
{
    struct chat_value messages;
    struct form f;
    enum gg_status st = read_messages(arena, q, &messages, err);

    if (st != GG_OK)
        return st;
    f = form_of(q, messages.list);
    st = render_plainer(q, &f, messages, arena, out, err);
    return st == GG_OK ? cut_at_marks(&f, out, err) : st;
}
