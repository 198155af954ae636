/* translate_messages.c - requests of /v1/messages, Anthropic's interface */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_messages.h"

static void
refuse_block(struct translation *t, const char *type)
{
    translate_refuse(t, 400, "messages",
                     "a block of type '%.60s' that cannot be read here", type);
}

/* ---- blocks ---- */

/* The member `name`, a string; else the request is refused. */
static bool
find_string(struct translation *t, const struct record_value *block,
            const char *name, struct record_value *out)
{
    record_value_find(block, name, out);
    if (json_is_string(out->json))
        return true;
    translate_refuse(t, 400, "messages",
                     "a block of type '%.60s' without a string '%s'",
                     translate_text(block->json, "type"), name);
    return false;
}

static void
add_text(struct translation *t, struct translate_turn *m,
         const struct record_value *block)
{
    struct record_value text;

    if (find_string(t, block, "text", &text))
        turn_add_text(m, &text);
}

static void
add_image(struct translation *t, struct translate_turn *m,
          const struct record_value *block)
{
    struct record_value source, url;

    record_value_find(block, "source", &source);
    record_value_find(&source, "url", &url);
    if (translate_is(source.json, "type", "url"))
        turn_add_url(t, m, &url);
    else
        turn_add_data(t, m, &source);
}

/* A document is read where it is text. */
static void
add_document(struct translation *t, struct translate_turn *m,
             const struct record_value *block)
{
    struct record_value source, data;

    record_value_find(block, "source", &source);
    if (!translate_is(source.json, "type", "text"))
        refuse_block(t, "document");
    else if (find_string(t, &source, "data", &data))
        turn_add_text(m, &data);
}

static void
add_thinking(struct translation *t, struct translate_turn *m,
             const struct record_value *block)
{
    struct record_value text;

    if (find_string(t, block, "thinking", &text))
        turn_add_reasoning(m, &text);
}

static void
add_use(struct translation *t, struct translate_turn *m,
        const struct record_value *block)
{
    struct record_value id, name, input;

    record_value_find(block, "input", &input);
    if (!find_string(t, block, "id", &id) ||
        !find_string(t, block, "name", &name))
        return;
    if (!cli_json_text(name.json) || !json_is_object(input.json))
        translate_refuse(t, 400, "messages",
                         "a block of type 'tool_use' without an object "
                         "'input', or with a NUL in its name");
    else
        turn_add_call(m, &id, cli_json_text(name.json), &input, NULL);
}

static void
add_result(struct translation *t, struct translate_turn *m,
           const struct record_value *block);

static void
leave_out(struct translation *t, struct translate_turn *m,
          const struct record_value *block)
{
    (void)m;
    translate_warn(t, "a block of type %.60s is left out",
                   translate_text(block->json, "type"));
}

enum {
    OF_USER = 1,
    OF_ASSISTANT = 2,
    OF_RESULT = 4,
    OF_SYSTEM = 8,
};

static const struct block_type {
    const char *type;
    int of;
    void (*add)(struct translation *t, struct translate_turn *m,
                const struct record_value *block);
} block_types[] = {
    { "text", OF_USER | OF_ASSISTANT | OF_RESULT | OF_SYSTEM, add_text },
    { "image", OF_USER | OF_RESULT, add_image },
    { "document", OF_USER | OF_RESULT, add_document },
    { "tool_result", OF_USER, add_result },
    { "tool_use", OF_ASSISTANT, add_use },
    { "thinking", OF_ASSISTANT, add_thinking },
    { "redacted_thinking", OF_ASSISTANT, leave_out },
    { "server_tool_use", OF_ASSISTANT, leave_out },
    { "web_search_tool_result", OF_ASSISTANT, leave_out },
    { "web_fetch_tool_result", OF_ASSISTANT, leave_out },
    { "code_execution_tool_result", OF_ASSISTANT, leave_out },
    { "tool_reference", OF_RESULT, leave_out },
    { "search_result", OF_USER | OF_RESULT, leave_out },
};

static void
add_block(struct translation *t, struct translate_turn *m, int of,
          const struct record_value *block)
{
    const char *type = translate_text(block->json, "type");

    for (size_t i = 0; i < sizeof(block_types) / sizeof(*block_types); i++)
        if ((block_types[i].of & of) &&
            strcmp(block_types[i].type, type) == 0) {
            block_types[i].add(t, m, block);
            return;
        }
    refuse_block(t, type);
}

/* Clients of Anthropic's put a line there that changes with each request: no
 * prefix would be found again. */
static bool
is_billing(const json_t *text)
{
    const char *s = json_string_value(text);
    static const char head[] = "x-anthropic-billing-header:";

    return s && strncmp(s, head, sizeof(head) - 1) == 0;
}

/* A string, or blocks. */
static void
add_content(struct translation *t, struct translate_turn *m, int of,
            const struct record_value *content)
{
    struct record_items items;
    struct record_value block;

    if (json_is_string(content->json)) {
        turn_add_text(m, content);
        return;
    }
    if (!json_is_array(content->json))
        translate_refuse(t, 400, "messages",
                         "content: neither a string nor an array of blocks");
    record_items_open(content, &items);
    while (t->status == 200 && record_items_next(&items, &block))
        if (of != OF_SYSTEM || !is_billing(json_object_get(block.json, "text")))
            add_block(t, m, of, &block);
}

/* It is a message of its own, and ends the user's that it interrupts. */
static void
add_result(struct translation *t, struct translate_turn *m,
           const struct record_value *block)
{
    static const struct record_value failed = { NULL, "\"Error:\"", 8 };
    struct translate_turn result = { .role = "tool", .between = "\\n" };
    struct record_value id, content;

    if (!find_string(t, block, "tool_use_id", &id))
        return;
    if (!turn_is_empty(m))
        turn_end(t, m);
    m->role = "user";
    translate_add_json_string(&result.id, id.json);
    if (json_is_true(json_object_get(block->json, "is_error")))
        turn_add_text(&result, &failed);
    if (record_value_find(block, "content", &content) &&
        !json_is_null(content.json))
        add_content(t, &result, OF_RESULT, &content);
    turn_end(t, &result);
}

/* ---- messages ---- */

static void
add_message(struct translation *t, const struct record_value *message)
{
    const char *role = translate_text(message->json, "role");
    struct translate_turn m = { 0 };
    struct record_value content;
    int of = strcmp(role, "user") == 0        ? OF_USER
             : strcmp(role, "assistant") == 0 ? OF_ASSISTANT
             : strcmp(role, "system") == 0    ? OF_SYSTEM
                                              : 0;

    if (!of) {
        translate_refuse(t, 400, "messages",
                         "a role that is neither user nor assistant");
        return;
    }
    m.role = of == OF_USER ? "user" : of == OF_SYSTEM ? "system" : "assistant";
    m.between = of == OF_USER ? NULL : of == OF_SYSTEM ? "\\n\\n" : "";
    record_value_find(message, "content", &content);
    add_content(t, &m, of, &content);
    if (!turn_is_empty(&m) || !json_array_size(content.json))
        turn_end(t, &m);
}

static void
add_system(struct translation *t, const struct record_object *body)
{
    struct translate_turn m = { .role = "system", .between = "\\n\\n" };
    const struct record_value *system = record_object_find(body, "system");

    if (!system || json_is_null(system->json))
        return;
    if (!is_billing(system->json))
        add_content(t, &m, OF_SYSTEM, system);
    if (!turn_is_empty(&m))
        turn_end(t, &m);
}

static void
add_messages(struct translation *t, const struct record_object *body)
{
    const struct record_value *list = record_object_find(body, "messages");
    struct record_items items;
    struct record_value message;

    if (!list || json_array_size(list->json) == 0) {
        translate_refuse(t, 400, "messages",
                         "messages: not an array with something in it");
        return;
    }
    buffer_format(&t->body, ",\"messages\":[");
    add_system(t, body);
    record_items_open(list, &items);
    while (t->status == 200 && record_items_next(&items, &message))
        add_message(t, &message);
    buffer_char(&t->body, ']');
}

/* ---- tools ---- */

static void
add_tool(struct translation *t, const struct record_value *tool)
{
    static const char *const from[] = { "name", "description", "input_schema" };
    static const char *const to[] = { "name", "description", "parameters" };
    struct record_value v;
    size_t n = 0;

    if (t->body.p[t->body.len - 1] != '[')
        buffer_char(&t->body, ',');
    buffer_format(&t->body, "{\"type\":\"function\",\"function\":{");
    for (size_t i = 0; i < 3; i++) {
        if (!record_value_find(tool, from[i], &v) || json_is_null(v.json))
            continue;
        buffer_format(&t->body, "%s\"%s\":", n++ ? "," : "", to[i]);
        translate_add_value(&t->body, &v);
    }
    buffer_format(&t->body, "}}");
}

/* Tools that a client describes; others are known to Anthropic's models alone,
 * or run there. */
static void
read_tools(struct translation *t, const struct record_value *v)
{
    struct record_items items;
    struct record_value tool;

    if (!json_is_array(v->json))
        translate_refuse(t, 400, "tools", "tools: not an array");
    record_items_open(v, &items);
    buffer_format(&t->body, ",\"tools\":[");
    while (record_items_next(&items, &tool)) {
        const char *type = translate_text(tool.json, "type");

        if (*type && strcmp(type, "custom") != 0)
            translate_warn(t, "a tool of type %.60s is left out", type);
        else
            add_tool(t, &tool);
    }
    buffer_char(&t->body, ']');
}

static void
read_choice(struct translation *t, const struct record_value *v)
{
    const char *type = translate_text(v->json, "type");
    const char *name = translate_text(v->json, "name");

    if (json_is_true(json_object_get(v->json, "disable_parallel_tool_use")))
        translate_warn(t, "disable_parallel_tool_use is left out");
    if (strcmp(type, "tool") == 0 && *name) {
        buffer_format(&t->body, ",\"tool_choice\":{\"type\":\"function\","
                                "\"function\":{\"name\":");
        translate_add_string(&t->body, name);
        buffer_format(&t->body, "}}");
    } else if (strcmp(type, "auto") == 0 || strcmp(type, "none") == 0) {
        buffer_format(&t->body, ",\"tool_choice\":\"%s\"", type);
    } else if (strcmp(type, "any") == 0) {
        buffer_format(&t->body, ",\"tool_choice\":\"required\"");
    } else {
        translate_refuse(t, 400, "tool_choice",
                         "tool_choice: none of auto, any, none, or a tool with "
                         "a name");
    }
}

/* ---- other members ---- */

static void
read_stops(struct translation *t, const struct record_value *v)
{
    translate_pass(t, "stop", v);
}

/* Where a model thinks as it likes, nothing needs to be said. */
static void
read_thinking(struct translation *t, const struct record_value *v)
{
    const char *type = translate_text(v->json, "type");
    const json_t *budget = json_object_get(v->json, "budget_tokens");
    double n = json_number_value(budget);

    t->hides_thoughts = strcmp(type, "disabled") == 0;
    if (strcmp(type, "adaptive") == 0)
        return;
    if (strcmp(type, "enabled") != 0 && strcmp(type, "disabled") != 0) {
        translate_refuse(t, 400, "thinking",
                         "thinking: none of enabled, disabled, adaptive");
        return;
    }
    buffer_format(&t->body, ",\"thinking\":{\"type\":\"%s\"", type);
    if (json_is_number(budget) && n >= 0 && n < 1e12)
        buffer_format(&t->body, ",\"budget_tokens\":%.0f", n);
    buffer_char(&t->body, '}');
}

static void
read_format(struct translation *t, const struct record_value *v)
{
    struct record_value schema;

    if (!translate_is(v->json, "type", "json_schema") ||
        !record_value_find(v, "schema", &schema)) {
        translate_refuse(t, 400, "output_config",
                         "a format that is no json_schema with a schema");
        return;
    }
    buffer_format(&t->body, ",\"response_format\":{\"type\":\"json_schema\","
                            "\"json_schema\":{\"name\":\"answer\",\"schema\":");
    translate_add_value(&t->body, &schema);
    buffer_format(&t->body, "}}");
}

static void
read_output(struct translation *t, const struct record_value *v)
{
    struct record_value part;

    if (record_value_find(v, "format", &part) && !json_is_null(part.json))
        read_format(t, &part);
    if (record_value_find(v, "effort", &part))
        translate_pass(t, "reasoning_effort", &part);
}

static void
ignore_member(struct translation *t, const struct record_value *v)
{
    (void)t, (void)v;
}

static const struct {
    const char *key;
    void (*read)(struct translation *t, const struct record_value *v);
} members[] = {
    { "system", ignore_member }, /* they are read before */
    { "messages", ignore_member },
    { "metadata", ignore_member },
    { "cache_control", ignore_member },
    { "anthropic_version", ignore_member },
    { "tools", read_tools },
    { "tool_choice", read_choice },
    { "stop_sequences", read_stops },
    { "thinking", read_thinking },
    { "output_config", read_output },
    { "output_format", read_format },
};

/* What servers of Anthropic's do. */
static const char *const hosted[] = {
    "container", "context_management", "mcp_servers",
    "betas",     "inference_geo",      "speed",
};

static void
read_member(struct translation *t, const char *key,
            const struct record_value *v)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strcmp(key, members[i].key) == 0) {
            if (!json_is_null(v->json))
                members[i].read(t, v);
            return;
        }
    for (size_t i = 0; i < sizeof(hosted) / sizeof(hosted[0]); i++)
        if (strcmp(key, hosted[i]) == 0) {
            if (json_is_null(v->json) ||
                (json_is_array(v->json) && json_array_size(v->json) == 0))
                return;
            translate_warn(t, "%s is left out", key);
            return;
        }
    if (!translate_common(t, key, v))
        translate_pass(t, key, v);
}

void
messages_read(struct translation *t, const struct record_object *body)
{
    t->hides_thoughts = true; /* clients take the first block for the text */
    add_messages(t, body);
    for (size_t i = 0; i < body->n && t->status == 200; i++)
        read_member(t, body->members[i].key, &body->members[i].value);
}

#endif
