/* translate_messages.c - requests of /v1/messages, Anthropic's interface */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- messages ---- */

static const struct {
    const char *role;
    unsigned of;
    const char *between;
} roles[] = {
    { "user", TURN_USER, NULL },
    { "assistant", TURN_ASSISTANT, "" },
    { "system", TURN_SYSTEM, "\\n\\n" },
};

static void
take_role(struct translation *t, const char *role,
          const struct record_value *content)
{
    struct translate_turn m = { 0 };
    size_t i = 0;

    while (i < 3 && strcmp(role, roles[i].role) != 0)
        i++;
    if (i == 3 || !content->json) {
        translate_refuse(t, 400, "messages",
                         "a message without content, or a role that is "
                         "neither user nor assistant");
        return;
    }
    m.role = roles[i].role;
    m.between = roles[i].between;
    turn_add_content(t, &m, roles[i].of, content);
    turn_end(t, &m);
}

static void
take_roles(struct translation *t, const struct record_object *body)
{
    const struct record_value *list = record_object_find(body, "messages");
    const struct record_value *system = record_object_find(body, "system");
    struct record_value message, content;
    struct record_items items;

    if (!list || json_array_size(list->json) == 0) {
        translate_refuse(t, 400, "messages",
                         "messages: not an array with something in it");
        return;
    }
    translate_put(&t->body, ",'messages':[");
    if (system && !json_is_null(system->json))
        take_role(t, "system", system);
    record_items_open(list, &items);
    while (t->status == 200 && record_items_next(&items, &message)) {
        record_value_find(&message, "content", &content);
        take_role(t, translate_text(message.json, "role"), &content);
    }
    buffer_char(&t->body, ']');
}

/* ---- other members ---- */

/* Tools that a client describes; others are known to Anthropic's models alone,
 * or run there. */
static void
read_described_tools(struct translation *t, const struct record_value *v)
{
    struct record_items items;
    struct record_value tool;

    translate_begin_tools(t, v, &items);
    while (t->status == 200 && record_items_next(&items, &tool)) {
        const char *type = translate_text(tool.json, "type");

        if (*type && strcmp(type, "custom") != 0)
            translate_warn(t, "a tool of type %.60s is left out", type);
        else
            translate_add_tool(t, &tool, translate_text(tool.json, "name"),
                               "input_schema");
    }
    buffer_char(&t->body, ']');
}

/* The engine reads it as it is. */
static void
read_choice(struct translation *t, const struct record_value *v)
{
    if (json_is_true(json_object_get(v->json, "disable_parallel_tool_use")))
        translate_warn(t, "disable_parallel_tool_use is left out");
    translate_pass(t, "tool_choice", v);
}

/* Where a model thinks as it likes, nothing needs to be said. */
static void
read_thinking(struct translation *t, const struct record_value *v)
{
    const char *type = translate_text(v->json, "type");
    double n = translate_number(v->json, "budget_tokens");

    t->hides_thoughts = strcmp(type, "disabled") == 0;
    if (strcmp(type, "adaptive") == 0)
        return;
    if (strcmp(type, "enabled") != 0 && strcmp(type, "disabled") != 0) {
        translate_refuse(t, 400, "thinking",
                         "thinking: none of enabled, disabled, adaptive");
        return;
    }
    translate_put(&t->body, ",'thinking':{'type':'%s'", type);
    if (n >= 1 && n < 1e12)
        translate_put(&t->body, ",'budget_tokens':%n", n);
    buffer_char(&t->body, '}');
}

static void
read_format(struct translation *t, const struct record_value *v)
{
    translate_pass(t, "response_format", v);
}

static void
read_output(struct translation *t, const struct record_value *v)
{
    struct record_value part;

    if (record_value_find(v, "format", &part))
        translate_pass(t, "response_format", &part);
    if (record_value_find(v, "effort", &part))
        translate_pass(t, "reasoning_effort", &part);
}

static const struct translate_member members[] = {
    { "system|messages", NULL }, /* they are read before */
    { "metadata|cache_control|anthropic_version|betas", NULL },
    { "tools", read_described_tools },
    { "tool_choice", read_choice },
    { "thinking", read_thinking },
    { "output_config", read_output },
    { "output_format", read_format },
    { "container|context_management|mcp_servers|inference_geo|speed",
      translate_tell },
    { 0 },
};

/* Clients take the first block for the text, unless they want reasoning. */
void
translate_messages_read(struct translation *t, const struct record_object *body)
{
    t->hides_thoughts = true;
    take_roles(t, body);
    translate_read_members(t, body, members);
}

#endif
