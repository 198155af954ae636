/* tool_calls.c - calls of tools in answers: the public functions */
#include <config.h>

#include <string.h>

#include "chat/known.h"
#include "chat/tool_form.h"
#include "core/error.h"
#include "core/mem.h"
#include "vocab/chat.h"

#ifdef HAVE_JANSSON

#include "chat/tool_find.h"
#include "chat/tool_read.h"

enum {
    MEMORY = 1 << 26, /* of renders */
};

enum gg_status
gg_chat_calls_open(const struct gg_vocab *v, const struct gg_chat_template *t,
                   struct gg_chat_calls **out, struct gg_error *err)
{
    const struct chat_template *jinja;
    struct chat_template *own;
    struct gg_chat_calls *c;
    enum gg_status st;

    if (!v || !t || !out)
        return error_null(err);
    st = chat_known_jinja(t, true, &own, &jinja, err);
    if (st != GG_OK)
        return st;
    c = mem_zalloc(sizeof(*c));
    if (!c) {
        chat_template_free(own);
        return error_nomem(err);
    }
    c->vocab = v;
    c->arena.limit = MEMORY;
    st = chat_tool_find(v, jinja, c, err);
    chat_template_free(own);
    if (st != GG_OK) {
        gg_chat_calls_free(c);
        return st;
    }
    c->marks = (struct chat_call_marks){ c->form.begins, c->form.ends,
                                         c->form.n_begins, c->form.n_ends };
    *out = c;
    return GG_OK;
}

/* NULL: no memory, or it is none, as *st tells. */
static json_t *
load_tools(const char *tools, enum gg_status *st, struct gg_error *err)
{
    json_error_t e;
    json_t *json = core_json_load(tools, strlen(tools), 0, &e);

    if (!json_is_array(json))
        *st = error_set(err, GG_ERR_ARG, "tools: no JSON array");
    return json;
}

enum gg_status
gg_chat_calls_read(const struct gg_chat_calls *c, const char *tools,
                   const char *text, size_t len, char *json, size_t cap,
                   struct gg_calls_read *result, struct gg_error *err)
{
    struct tool_text t = { 0 }, after = { 0 };
    enum gg_status st = GG_OK;
    json_t *known = NULL;

    if (!c || (!text && len) || (!json && cap) || !result)
        return error_null(err);
    if (tools)
        known = load_tools(tools, &st, err);
    if (st == GG_OK) {
        result->calls = chat_tool_read(&c->form, known, text, len, &t,
                                       &result->content, &after);
        result->n = t.n;
        result->after = after.n;
        chat_tool_put(&t, after.s, after.n);
        if (t.failed)
            st = error_nomem(err);
    }
    if (st == GG_OK && cap)
        memcpy(json, t.s, t.n < cap ? t.n : cap);
    json_decref(known);
    chat_tool_text_clear(&t);
    chat_tool_text_clear(&after);
    return st;
}

#else

static enum gg_status
unsupported(struct gg_error *err)
{
    return error_set(err, GG_ERR_UNSUPPORTED, "this build reads no JSON");
}

enum gg_status
gg_chat_calls_open(const struct gg_vocab *v, const struct gg_chat_template *t,
                   struct gg_chat_calls **out, struct gg_error *err)
{
    return v && t && out ? unsupported(err) : error_null(err);
}

enum gg_status
gg_chat_calls_read(const struct gg_chat_calls *c, const char *tools,
                   const char *text, size_t len, char *json, size_t cap,
                   struct gg_calls_read *result, struct gg_error *err)
{
    (void)c, (void)tools, (void)text, (void)len, (void)json, (void)cap;
    (void)result;
    return unsupported(err);
}

#endif

void
gg_chat_calls_free(struct gg_chat_calls *c)
{
    if (!c)
        return;
    chat_arena_clear(&c->arena);
    mem_free(c);
}

const char *
gg_chat_calls_name(const struct gg_chat_calls *c)
{
    return c ? c->form.name : "";
}

const struct chat_call_marks *
chat_calls_marks(const struct gg_chat_calls *c)
{
    return &c->marks;
}
