/* translate_responses.c - requests of /v1/responses, without state
 *
 * Thoughts, a text and calls of one turn are items of their own, but one
 * message of a chat. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- tools ---- */

/* The engine's name of a tool in a namespace; "": in none. For free(). */
static char *
flat_name(const char *space, const char *name)
{
    struct buffer flat = { 0 };
    size_t n = strlen(space);
    bool parted = n == 0 || (n >= 2 && strcmp(space + n - 2, "__") == 0);

    buffer_format(&flat, "%s%s%s", space, parted ? "" : "__", name);
    buffer_char(&flat, '\0');
    return flat.p;
}

/* Tools of other kinds run where OpenAI's models do. A tool of text is a
 * function of one string. */
static void
take_tool(struct translation *t, const char *space,
          const struct record_value *tool)
{
    const char *type = translate_text(tool->json, "type");
    const char *name = translate_text(tool->json, "name");
    bool is_text = strcmp(type, "custom") == 0;
    char *flat;

    if (!is_text && strcmp(type, "function") != 0) {
        translate_warn(t, "a tool of type %.60s is left out", type);
        return;
    }
    if (is_text &&
        translate_is(json_object_get(tool->json, "format"), "type", "grammar"))
        translate_warn(t, "the grammar of a custom tool is left out");
    flat = flat_name(space, name);
    if (translate_keep_tool(t, space, name, flat, is_text))
        translate_add_tool(t, tool, flat, is_text ? NULL : "parameters");
    free(flat);
}

static void
read_spaces(struct translation *t, const struct record_value *v)
{
    struct record_items items, inner;
    struct record_value tool, list, one;

    translate_begin_tools(t, v, &items);
    while (t->status == 200 && record_items_next(&items, &tool)) {
        if (!translate_is(tool.json, "type", "namespace")) {
            take_tool(t, "", &tool);
            continue;
        }
        record_value_find(&tool, "tools", &list);
        record_items_open(&list, &inner);
        while (t->status == 200 && record_items_next(&inner, &one))
            take_tool(t, translate_text(tool.json, "name"), &one);
    }
    buffer_char(&t->body, ']');
}

/* The engine reads it as it is, but for namespaces. */
static void
read_spaced_choice(struct translation *t, const struct record_value *v)
{
    const char *space = translate_text(v->json, "namespace");
    char *flat;

    if (!*space) {
        translate_pass(t, "tool_choice", v);
        return;
    }
    flat = flat_name(space, translate_text(v->json, "name"));
    translate_put(&t->body, ",'tool_choice':{'type':'function','name':%q}",
                  flat);
    free(flat);
}

/* ---- items ---- */

/* The message has that role from now on; another one ends. */
static void
turn_to(struct translation *t, struct translate_turn *m, const char *role)
{
    if (m->role && strcmp(m->role, role) != 0)
        turn_end(t, m);
    m->role = role;
    m->between = strcmp(role, "user") == 0        ? NULL
                 : strcmp(role, "assistant") == 0 ? ""
                                                  : "\\n\\n";
}

/* All before the first turn is one message, since templates take no
 * other. */
static void
take_message_item(struct translation *t, struct translate_turn *m,
                  const struct record_value *item)
{
    static const char *const roles[] = { "user", "assistant", "system",
                                         "developer" };
    const char *role = translate_text(item->json, "role");
    bool begins = t->body.p[t->body.len - 1] == '[';
    struct record_value content;
    size_t i = 0;

    while (i < 4 && strcmp(role, roles[i]) != 0)
        i++;
    if (!record_value_find(item, "content", &content) || i == 4) {
        translate_refuse(t, 400, "input",
                         "a message without content, or a role that is none "
                         "of user, assistant, system, developer");
        return;
    }
    if (i == 3 && begins && (!m->role || strcmp(m->role, "system") == 0))
        i = 2;
    if (i == 0 || m->n_parts || m->calls.len)
        turn_to(t, m, i < 2 ? "" : roles[i]);
    turn_to(t, m, roles[i]);
    turn_add_content(t, m, TURN_PART, &content);
}

/* Thoughts come before a turn's text and calls. */
static void
take_reasoning_item(struct translation *t, struct translate_turn *m,
                    const struct record_value *item)
{
    struct record_value list, part, text;
    struct record_items items;

    if (m->n_parts || m->calls.len)
        turn_end(t, m);
    turn_to(t, m, "assistant");
    if (!record_value_find(item, "content", &list) ||
        json_array_size(list.json) == 0)
        record_value_find(item, "summary", &list);
    record_items_open(&list, &items);
    while (record_items_next(&items, &part))
        if (record_value_find(&part, "text", &text) &&
            json_is_string(text.json))
            turn_add_reasoning(m, &text);
}

static void
take_call_item(struct translation *t, struct translate_turn *m,
               const struct record_value *item)
{
    bool is_text = translate_is(item->json, "type", "custom_tool_call");
    struct record_value id, name, arguments;
    char *flat;

    record_value_find(item, is_text ? "input" : "arguments", &arguments);
    if (!translate_find_string(t, item, "call_id", &id) ||
        !translate_find_string(t, item, "name", &name))
        return;
    if (!json_is_string(arguments.json)) {
        translate_refuse(t, 400, "input", "a call without arguments");
        return;
    }
    turn_to(t, m, "assistant");
    flat = flat_name(translate_text(item->json, "namespace"),
                     cli_json_text(name.json));
    turn_add_call(m, &id, flat, &arguments, is_text ? TRANSLATE_INPUT : NULL);
    free(flat);
}

static void
take_output_item(struct translation *t, struct translate_turn *m,
                 const struct record_value *item)
{
    struct translate_turn result = { .role = "tool", .between = "\\n" };
    struct record_value id, output;

    turn_end(t, m);
    if (!translate_find_string(t, item, "call_id", &id))
        return;
    translate_add_value(&result.id, &id);
    record_value_find(item, "output", &output);
    turn_add_content(t, &result, TURN_PART, &output);
    turn_end(t, &result);
}

static void
refuse_item(struct translation *t, struct translate_turn *m,
            const struct record_value *item)
{
    (void)m, (void)item;
    translate_refuse(t, 400, "input",
                     "a reference to an item: nothing is stored here");
}

static const struct {
    const char *type;
    void (*add)(struct translation *t, struct translate_turn *m,
                const struct record_value *item);
} item_types[] = {
    { "message", take_message_item },
    { "", take_message_item },
    { "reasoning", take_reasoning_item },
    { "function_call", take_call_item },
    { "custom_tool_call", take_call_item },
    { "function_call_output", take_output_item },
    { "custom_tool_call_output", take_output_item },
    { "item_reference", refuse_item },
};

static void
take_item(struct translation *t, struct translate_turn *m,
          const struct record_value *item)
{
    const char *type = translate_text(item->json, "type");

    for (size_t i = 0; i < sizeof(item_types) / sizeof(*item_types); i++)
        if (strcmp(type, item_types[i].type) == 0) {
            item_types[i].add(t, m, item);
            return;
        }
    translate_warn(t, "an item of type %.60s is left out", type);
}

static void
take_input(struct translation *t, const struct record_object *body)
{
    const struct record_value *input = record_object_find(body, "input");
    const struct record_value *first = record_object_find(body, "instructions");
    struct translate_turn m = { 0 };
    struct record_items items;
    struct record_value item;

    translate_put(&t->body, ",'messages':[");
    if (first && json_is_string(first->json)) {
        turn_to(t, &m, "system");
        turn_add_text(&m, first);
    }
    if (input && json_is_string(input->json)) {
        turn_to(t, &m, "user");
        turn_add_text(&m, input);
    } else if (input && json_array_size(input->json)) {
        record_items_open(input, &items);
        while (t->status == 200 && record_items_next(&items, &item))
            take_item(t, &m, &item);
    } else {
        translate_refuse(t, 400, "input",
                         "input: neither a string nor an array with something "
                         "in it");
    }
    turn_end(t, &m);
    buffer_char(&t->body, ']');
}

/* ---- other members ---- */

/* Members that the answer repeats, and what they are where they are not said.
 */
static const struct {
    const char *key, *otherwise;
} repeated[] = {
    { "instructions", "null" },
    { "max_output_tokens", "null" },
    { "metadata", "{}" },
    { "parallel_tool_calls", "true" },
    { "reasoning", "null" },
    { "temperature", "null" },
    { "text", "{'format':{'type':'text'}}" },
    { "tool_choice", "'auto'" },
    { "tools", "[]" },
    { "top_p", "null" },
};

static void
repeat_members(struct translation *t, const struct record_object *body)
{
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++) {
        const struct record_value *v =
            record_object_find(body, repeated[i].key);
        bool said = v && !json_is_null(v->json);

        translate_put(&t->echo, ",'%s':", repeated[i].key);
        translate_put(&t->echo, said ? "%v" : repeated[i].otherwise, v);
    }
}

static void
refuse_state(struct translation *t, const struct record_value *v)
{
    if (!json_is_false(v->json))
        translate_refuse(t, 400, NULL,
                         "previous_response_id, conversation, prompt, "
                         "background: nothing is stored here; the input has "
                         "all of a conversation");
}

static void
read_reasoning(struct translation *t, const struct record_value *v)
{
    struct record_value effort;

    if (record_value_find(v, "effort", &effort))
        translate_pass(t, "reasoning_effort", &effort);
}

static void
ask_logprobs(struct translation *t)
{
    translate_put(&t->body, t->logprobs ? "" : ",'logprobs':true");
    t->logprobs = true;
}

static void
read_top(struct translation *t, const struct record_value *v)
{
    if (json_number_value(v->json) == 0)
        return;
    ask_logprobs(t);
    translate_set(t, "top_logprobs", v);
}

static void
read_include(struct translation *t, const struct record_value *v)
{
    for (size_t i = 0; i < json_array_size(v->json); i++) {
        const char *s = cli_json_text(json_array_get(v->json, i));

        if (s && strcmp(s, "message.output_text.logprobs") == 0)
            ask_logprobs(t);
    }
}

static void
read_text_format(struct translation *t, const struct record_value *v)
{
    struct record_value part;

    if (record_value_find(v, "verbosity", &part))
        (void)translate_common(t, "verbosity", &part);
    if (record_value_find(v, "format", &part))
        translate_pass(t, "response_format", &part);
}

static void
read_truncation(struct translation *t, const struct record_value *v)
{
    (void)v;
    if (v->len != 10) /* "disabled" */
        translate_warn(t, "truncation is left out: a prompt is never cut");
}

static const struct translate_member members[] = {
    { "input|instructions", NULL }, /* they are read before */
    { "client_metadata|metadata", NULL },
    { "tools", read_spaces },
    { "tool_choice", read_spaced_choice },
    { "previous_response_id|background|conversation|prompt", refuse_state },
    { "max_tool_calls", translate_tell },
    { "reasoning", read_reasoning },
    { "text", read_text_format },
    { "include", read_include },
    { "top_logprobs", read_top },
    { "truncation", read_truncation },
    { 0 },
};

void
translate_responses_read(struct translation *t,
                         const struct record_object *body)
{
    take_input(t, body);
    translate_read_members(t, body, members);
    repeat_members(t, body);
}

#endif
