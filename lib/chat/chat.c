/* chat.c - chat templates: a model's own, a file's, the known ones */
#include <config.h>

#include <string.h>

#include "chat/encode.h"
#include "chat/known.h"
#include "chat/render.h"
#include "chat/thoughts.h"
#include "core/mem.h"
#include "vocab/chat.h"
#include "vocab/vocab.h"

enum {
    MEMORY = 1 << 30
}; /* of a conversation's variables and text */

enum gg_status
gg_chat_parse(const char *source, size_t len, struct gg_chat_template **out,
              struct gg_error *err)
{
    static const char date[] = "strftime_now";
    struct gg_chat_template *t;
    enum gg_status st;

    if (!out || (!source && len))
        return error_null(err);
    t = mem_zalloc(sizeof(*t));
    if (!t)
        return error_nomem(err);
    st = chat_template_parse(source, len, &t->jinja, err);
    if (st != GG_OK) {
        mem_free(t);
        return error_prefix(err, st, "chat template");
    }
    t->name = "jinja";
    t->takes_date = len && memmem(source, len, date, strlen(date));
    t->thoughts = len ? chat_thoughts_find(source, len) : NULL;
    *out = t;
    return GG_OK;
}

bool
gg_chat_takes_date(const struct gg_chat_template *t)
{
    return t && t->takes_date;
}

void
gg_chat_free(struct gg_chat_template *t)
{
    if (!t || !t->jinja)
        return;
    chat_template_free(t->jinja);
    chat_template_free(t->for_tools);
    mem_free(t);
}

/* The template that transformers takes where there are tools, if there is one.
 */
static enum gg_status
open_for_tools(const struct gg_vocab *v, struct gg_chat_template *t,
               struct gg_error *err)
{
    struct gg_chat_template *tools = NULL;
    struct gguf_str s = vocab_chat_source(v, "tool_use");
    enum gg_status st = s.n ? gg_chat_parse(s.s, s.n, &tools, err) : GG_OK;

    if (st != GG_OK)
        return error_prefix(err, st, "tool_use");
    if (!tools)
        return GG_OK;
    t->for_tools = tools->jinja;
    t->takes_date = t->takes_date || tools->takes_date;
    mem_free(tools);
    return GG_OK;
}

enum gg_status
gg_chat_open(const struct gg_vocab *v, const char *name,
             struct gg_chat_template **out, struct gg_error *err)
{
    struct gg_chat_template *t = NULL;
    struct gguf_str source;
    enum gg_status st;

    if (!v || !out)
        return error_null(err);
    source = vocab_chat_source(v, name);
    if (!source.n)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         name ? "the model has no chat template of the name %s"
                              : "the model has no chat template",
                         name);
    st = gg_chat_parse(source.s, source.n, &t, err);
    if (st == GG_OK && !name)
        st = open_for_tools(v, t, err);
    if (st == GG_OK)
        *out = t;
    else
        gg_chat_free(t);
    return st;
}

/* Messages that are arguments. */
static enum gg_status
check_messages(const struct gg_message *messages, size_t n, size_t first,
               struct gg_error *err)
{
    if (n == 0 || first > n)
        return error_set(err, GG_ERR_ARG, "a conversation without messages");
    if (!messages)
        return error_null(err);
    for (size_t i = 0; i < n; i++)
        if (!messages[i].content && messages[i].len)
            return error_null(err);
        else if ((unsigned)messages[i].role >= CHAT_ROLES)
            return error_set(err, GG_ERR_ARG, "message %zu has no known role",
                             i + 1);
    if (first && messages[first - 1].role != GG_ROLE_ASSISTANT)
        return error_set(
            err, GG_ERR_ARG,
            "a conversation can be continued after an answer only");
    return GG_OK;
}

/* Checks arguments of both functions below; *params is never NULL after it. */
static enum gg_status
check_request(const struct gg_vocab *v, const struct gg_chat_template *t,
              const struct gg_message *messages, size_t n,
              const struct gg_chat_params **params, struct gg_error *err)
{
    static const struct gg_chat_params none = { 0 };
    const struct gg_chat_params *p = *params ? *params : &none;
    enum gg_status st;

    *params = p;
    if (!v || !t)
        return error_null(err);
    st = ERROR_RESERVED(p, err);
    if (st != GG_OK)
        return st;
    if (p->messages)
        return GG_OK; /* read later */
    return check_messages(messages, n, p->first, err);
}

/* Whether a conversation goes by a template in Jinja: a built-in form does
 * where it has more than texts and roles. */
static bool
wants_jinja(const struct gg_chat_template *t, const struct gg_chat_params *p)
{
    return t->jinja || p->messages || p->tools || p->arguments;
}

/* Renders to the arena, which is to be cleared in any case. */
static enum gg_status
render(const struct gg_vocab *v, const struct gg_chat_template *t,
       const struct gg_message *messages, size_t n,
       const struct gg_chat_params *params, struct chat_arena *arena,
       struct chat_string *out, struct gg_error *err)
{
    struct chat_request q = {
        .vocab = v,
        .messages = messages,
        .n = n,
        .first = params->first,
        .params = params,
    };
    struct chat_template *own;
    enum gg_status st =
        chat_known_jinja(t, params->tools != NULL, &own, &q.template, err);

    if (st != GG_OK)
        return st;
    st = chat_render(&q, arena, out, err);
    chat_template_free(own);
    return st == GG_OK ? st : error_prefix(err, st, "chat template");
}

enum gg_status
gg_chat_encode(const struct gg_vocab *v, const struct gg_chat_template *t,
               const struct gg_message *messages, size_t n,
               const struct gg_chat_params *params, int32_t *ids, size_t cap,
               struct gg_encoded *result, struct gg_error *err)
{
    struct chat_arena arena = { .limit = MEMORY };
    struct chat_string text;
    enum gg_status st = check_request(v, t, messages, n, &params, err);

    if (st != GG_OK)
        return st;
    if (!result || (!ids && cap))
        return error_null(err);
    if (!wants_jinja(t, params))
        return vocab_chat_encode(v, t, messages, n, params->first,
                                 params->flags, ids, cap, result, err);
    st = render(v, t, messages, n, params, &arena, &text, err);
    if (st == GG_OK)
        st = chat_encode_string(v, &text, params->flags, params->first > 0, ids,
                                cap, result, err);
    chat_arena_clear(&arena);
    return st;
}

enum gg_status
gg_chat_render(const struct gg_vocab *v, const struct gg_chat_template *t,
               const struct gg_message *messages, size_t n,
               const struct gg_chat_params *params, char *text, size_t cap,
               size_t *len, struct gg_error *err)
{
    struct chat_arena arena = { .limit = MEMORY };
    struct chat_string out;
    enum gg_status st = check_request(v, t, messages, n, &params, err);

    if (st == GG_OK && (!len || (!text && cap)))
        st = error_null(err);
    if (st == GG_OK && !wants_jinja(t, params))
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "chat template %s is known by its tokens, and has no "
                       "text",
                       t->name);
    if (st == GG_OK)
        st = render(v, t, messages, n, params, &arena, &out, err);
    if (st == GG_OK && out.n && cap)
        memcpy(text, out.s, out.n < cap ? out.n : cap);
    if (st == GG_OK)
        *len = out.n;
    chat_arena_clear(&arena);
    return st;
}
