/* tool_probe.c - conversations with calls, rendered to see how calls look */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_probe.h"

#include <string.h>

#include "chat/tool_text.h"

#define TOOL(name)                                                             \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name                    \
    "\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","            \
    "\"properties\":{\"" PROBE_KEY_1                                           \
    "\":{\"description\":\"d\"},\"" PROBE_KEY_2                                \
    "\":{\"type\":\"string\",\"description\":\"d\"}},"                         \
    "\"required\":[]}}}"

const char chat_probe_tools[] =
    "[" TOOL(PROBE_NAME_1) "," TOOL(PROBE_NAME_2) "]";

static void
put_call(struct tool_text *t, const struct probe *p, const char *id,
         const char *name, const char *arguments)
{
    chat_tool_puts(t, "{\"id\":\"");
    chat_tool_puts(t, id);
    chat_tool_puts(t, "\",\"type\":\"function\",\"function\":{\"name\":\"");
    chat_tool_puts(t, name);
    chat_tool_puts(t, "\",\"arguments\":");
    if (p->strings)
        chat_tool_put_string(t, arguments, strlen(arguments));
    else
        chat_tool_puts(t, arguments);
    chat_tool_puts(t, "}}");
}

static void
put_messages(struct tool_text *t, const struct probe *p, const char *first,
             const char *second)
{
    chat_tool_puts(t, "[{\"role\":\"user\",\"content\":\"" PROBE_USER "\"}");
    if (p->content) {
        chat_tool_puts(t, ",{\"role\":\"assistant\",\"content\":");
        chat_tool_puts(t, p->content);
    }
    if (first) {
        chat_tool_puts(t, ",\"tool_calls\":[");
        put_call(t, p, PROBE_ID_1, PROBE_NAME_1, first);
        if (second) {
            chat_tool_puts(t, ",");
            put_call(t, p, PROBE_ID_2, PROBE_NAME_2, second);
        }
        chat_tool_puts(t, "]");
    }
    chat_tool_puts(t, p->content ? "}]" : "]");
    chat_tool_put(t, "", 1);
}

bool
chat_probe(const struct probe *p, const char *first, const char *second,
           struct chat_string *out, bool *nomem)
{
    struct tool_text t = { 0 };
    struct gg_chat_params params = { .tools = chat_probe_tools, .date = 1 };
    struct chat_limits limits = { .memory = 1 << 24, .steps = 1 << 20 };
    struct chat_request q = { .limits = &limits,
                              .vocab = p->vocab,
                              .template = p->template,
                              .params = &params,
                              .as_they_are = true,
                              .loses = true };
    struct gg_error unused;
    enum gg_status st = GG_ERR_NOMEM;

    params.flags = p->content ? 0 : GG_CHAT_ANSWER;
    put_messages(&t, p, first, second);
    params.messages = t.s;
    if (!t.failed)
        st = chat_render(&q, p->arena, out, &unused);
    *nomem = *nomem || st == GG_ERR_NOMEM;
    chat_tool_text_clear(&t);
    return st == GG_OK;
}

bool
chat_probe_shows(const struct chat_string *s, const char *what)
{
    static const char user[] = PROBE_USER;
    const char *from = s->n ? memmem(s->s, s->n, user, sizeof(user) - 1) : NULL;
    size_t n = from ? s->n - (size_t)(from - s->s) : s->n;

    return n && memmem(from ? from : s->s, n, what, strlen(what));
}

bool
chat_probe_shows_call(const struct chat_string *s)
{
    return chat_probe_shows(s, PROBE_NAME_1) &&
           chat_probe_shows(s, PROBE_KEY_1) &&
           chat_probe_shows(s, PROBE_STRING_1) &&
           !chat_probe_shows(s, "{'" PROBE_KEY_1) &&
           !chat_probe_shows(s, "\\\"" PROBE_KEY_1);
}

#endif
