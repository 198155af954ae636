/* render.c - a conversation as a template writes it out */
#include <config.h>

#include "chat/render.h"

#include <string.h>
#include <time.h>

#include "chat/json.h"
#include "core/json.h"
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

/* ---- messages ------------------------------------------------------------ */

static bool
is_role(const char *s, size_t n)
{
    bool is = n > 0;

    for (size_t i = 0; is && i < n; i++)
        is = (s[i] >= 'a' && s[i] <= 'z') || s[i] == '_';
    return is;
}

static struct chat_value
role_value(struct chat_arena *a, const char *s)
{
    size_t n = strlen(s);

    return chat_string(a, s, n, is_role(s, n) ? CHAT_ROLE : CHAT_TEXT);
}

enum marked {
    MARK_NONE,
    MARK_BEHIND,   /* the mark stands behind the content */
    MARK_IN_PLACE, /* ... in place of it */
};

static struct chat_value
content_value(struct chat_arena *a, const struct gg_message *m,
              enum marked marked)
{
    size_t n = marked == MARK_IN_PLACE ? 0 : m->len;
    char *s;

    if (marked == MARK_NONE)
        return chat_string(a, m->content, m->len, CHAT_TEXT);
    s = chat_arena_alloc(a, n + MARK);
    if (!s)
        return (struct chat_value){ .type = CHAT_ABSENT };
    if (n)
        memcpy(s, m->content, n);
    memcpy(s + n, mark, MARK);
    return chat_string(a, s, n + MARK, CHAT_TEXT);
}

static bool
add_message(struct chat_arena *a, struct chat_list *list, const char *role,
            struct chat_value content)
{
    struct chat_value m = chat_dict(a, CHAT_DICT);

    return m.type != CHAT_ABSENT &&
           chat_dict_put(a, m.dict, "role", role_value(a, role)) &&
           chat_dict_put(a, m.dict, "content", content) &&
           chat_list_add(a, list, m);
}

/* How the messages are given to the template. */
struct form {
    bool open;     /* the last one goes on */
    bool rest;     /* what stands behind the one before `first` is wanted */
    bool question; /* an empty one of a user stands before all */
    bool answer;   /* add_generation_prompt */
};

static enum marked
mark_of(const struct chat_request *q, const struct form *f, size_t i)
{
    if (f->rest && i + 1 == q->first)
        return MARK_IN_PLACE;
    return f->open && i + 1 == q->n ? MARK_BEHIND : MARK_NONE;
}

static struct chat_value
messages_value(struct chat_arena *a, const struct chat_request *q,
               const struct form *f)
{
    static const char *const roles[] = { "system", "user", "assistant",
                                         "tool" };
    struct chat_value list = chat_list(a, CHAT_LIST);
    bool ok = list.type != CHAT_ABSENT;

    if (ok && f->question)
        ok =
            add_message(a, list.list, "user", chat_string(a, "", 0, CHAT_TEXT));
    for (size_t i = 0; ok && i < q->n; i++) {
        const struct gg_message *m = &q->messages[i];

        ok = add_message(a, list.list, roles[m->role],
                         content_value(a, m, mark_of(q, f, i)));
    }
    return ok ? list : (struct chat_value){ .type = CHAT_ABSENT };
}

/* ---- arguments ----------------------------------------------------------- */

#ifdef HAVE_JANSSON

/* Adds the members of an object of JSON, or one under a name. */
static enum gg_status
put_json(struct chat_arena *a, struct chat_dict *d, const char *name,
         const char *text, struct gg_error *err)
{
    json_error_t e;
    json_t *json = core_json_load(text, strlen(text), 0, &e);
    struct chat_value v;
    bool ok;

    if (!json || (!name && !json_is_object(json))) {
        json_decref(json);
        return error_set(err, GG_ERR_ARG, "%s of a chat template: not JSON",
                         name ? name : "arguments");
    }
    v = chat_from_json(a, json);
    json_decref(json);
    ok = v.type != CHAT_ABSENT;
    if (ok && name)
        ok = chat_dict_put(a, d, name, v);
    for (size_t i = 0; ok && !name && i < v.dict->n; i++)
        ok = chat_dict_set(a, d, v.dict->pairs[i].key, v.dict->pairs[i].value);
    return ok ? GG_OK : error_nomem(err);
}

#else

static enum gg_status
put_json(struct chat_arena *a, struct chat_dict *d, const char *name,
         const char *text, struct gg_error *err)
{
    (void)a, (void)d, (void)name, (void)text;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "this was built without Jansson, which reads JSON");
}

#endif

/* ---- rendering ----------------------------------------------------------- */

static enum gg_status
put_variables(const struct chat_request *q, const struct form *f,
              struct chat_arena *a, struct chat_dict *d, struct gg_error *err)
{
    const struct gg_vocab *v = q->vocab;
    const struct gg_chat_params *p = q->params;
    enum gg_status st = GG_OK;
    bool ok =
        chat_dict_put(a, d, "messages", messages_value(a, q, f)) &&
        chat_dict_put(a, d, "add_generation_prompt", chat_bool(f->answer)) &&
        put_token(a, d, "bos_token", v, gg_vocab_bos(v)) &&
        put_token(a, d, "eos_token", v, gg_vocab_eos(v)) &&
        put_token(a, d, "unk_token", v, v->unk);

    if (!ok)
        return error_nomem(err);
    if (p->tools)
        st = put_json(a, d, "tools", p->tools, err);
    if (st == GG_OK && p->arguments)
        st = put_json(a, d, NULL, p->arguments, err);
    return st;
}

static enum gg_status
render_form(const struct chat_request *q, const struct form *f,
            struct chat_arena *a, struct chat_string *out, struct gg_error *err)
{
    struct chat_value d = chat_dict(a, CHAT_DICT);
    int64_t date = q->params->date ? q->params->date : (int64_t)time(NULL);
    enum gg_status st;

    if (d.type == CHAT_ABSENT)
        return error_nomem(err);
    st = put_variables(q, f, a, d.dict, err);
    if (st == GG_OK)
        st = chat_template_render(q->template, d, date, NULL, a, out, err);
    return st;
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
    bool answer = q->params->flags & GG_CHAT_ANSWER;
    struct form f = { .rest = q->first > 0 };
    enum gg_status st;

    f.open = answer && q->first < q->n &&
             q->messages[q->n - 1].role == GG_ROLE_ASSISTANT;
    f.answer = answer && !f.open;
    st = render_form(q, &f, arena, out, err);
    if (st == GG_ERR_FORMAT && f.rest && q->first == 1) {
        f.question = true; /* some templates want one first */
        st = render_form(q, &f, arena, out, err);
    }
    return st == GG_OK ? cut_at_marks(&f, out, err) : st;
}
