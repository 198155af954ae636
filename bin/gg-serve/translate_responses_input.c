/* translate_responses_input.c - items of /v1/responses as messages of a chat
 *
 * Thoughts, a text and calls of one turn are items of their own, but one
 * message of a chat. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/options.h"
#include "gg-serve/translate_responses.h"

/* ---- parts ---- */

static void
add_text(struct translation *t, struct translate_turn *m,
         const struct record_value *part, const char *name)
{
    struct record_value text;

    record_value_find(part, name, &text);
    if (json_is_string(text.json))
        turn_add_text(m, &text);
    else
        translate_refuse(t, 400, "input", "a part without a string '%s'", name);
}

static void
add_part(struct translation *t, struct translate_turn *m,
         const struct record_value *part)
{
    static const char texts[] = "input_text|output_text|text|summary_text";
    const char *type = translate_text(part->json, "type");
    struct record_value url;

    record_value_find(part, "image_url", &url);
    if (cli_has_word(texts, type))
        add_text(t, m, part, "text");
    else if (strcmp(type, "refusal") == 0)
        add_text(t, m, part, "refusal");
    else if (strcmp(type, "input_image") == 0)
        turn_add_url(t, m, &url);
    else if (strcmp(type, "input_audio") == 0)
        turn_add_medium(m, part);
    else
        translate_refuse(t, 400, "input",
                         "a part of type '%.60s' that cannot be read here",
                         type);
}

static void
add_content(struct translation *t, struct translate_turn *m,
            const struct record_value *content)
{
    struct record_items items;
    struct record_value part;

    if (json_is_string(content->json)) {
        turn_add_text(m, content);
        return;
    }
    if (!json_is_array(content->json))
        translate_refuse(t, 400, "input",
                         "neither a string nor an array of parts");
    record_items_open(content, &items);
    while (t->status == 200 && record_items_next(&items, &part))
        add_part(t, m, &part);
}

/* ---- items ---- */

/* Ends the message unless it is of that role. */
static void
turn_to(struct translation *t, struct translate_turn *m, const char *role)
{
    if (m->role && strcmp(m->role, role) == 0)
        return;
    if (m->role && !turn_is_empty(m))
        turn_end(t, m);
    m->role = role;
    m->between = strcmp(role, "user") == 0        ? NULL
                 : strcmp(role, "assistant") == 0 ? ""
                                                  : "\\n\\n";
}

static void
end_turn(struct translation *t, struct translate_turn *m)
{
    if (m->role && !turn_is_empty(m))
        turn_end(t, m);
    m->role = NULL;
}

/* What comes before the first turn is one message, since templates take no
 * other. */
static void
add_message(struct translation *t, struct translate_turn *m,
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
    if (i == 4) {
        translate_refuse(t, 400, "input",
                         "a role that is none of user, assistant, system, "
                         "developer");
        return;
    }
    if (i == 3 && begins && (!m->role || strcmp(m->role, "system") == 0))
        i = 2;
    if (i < 2 && m->role && strcmp(m->role, roles[i]) == 0 &&
        (i == 0 || m->n_parts || m->calls.len))
        end_turn(t, m);
    turn_to(t, m, roles[i]);
    record_value_find(item, "content", &content);
    add_content(t, m, &content);
}

/* Thoughts come before a turn's text and calls. */
static void
add_reasoning(struct translation *t, struct translate_turn *m,
              const struct record_value *item)
{
    struct record_value list, part, text;
    struct record_items items;

    if (m->n_parts || m->calls.len)
        end_turn(t, m);
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
add_call(struct translation *t, struct translate_turn *m,
         const struct record_value *item)
{
    bool is_text = translate_is(item->json, "type", "custom_tool_call");
    const char *name = translate_text(item->json, "name");
    struct record_value id, arguments;
    char *flat;

    record_value_find(item, "call_id", &id);
    record_value_find(item, is_text ? "input" : "arguments", &arguments);
    if (!*name || !json_is_string(id.json) || !json_is_string(arguments.json)) {
        translate_refuse(t, 400, "input",
                         "a call without call_id, name and arguments");
        return;
    }
    turn_to(t, m, "assistant");
    flat = responses_flat(translate_text(item->json, "namespace"), name);
    turn_add_call(m, &id, flat, &arguments,
                  is_text ? RESPONSES_ARGUMENT : NULL);
    free(flat);
}

static void
add_output(struct translation *t, struct translate_turn *m,
           const struct record_value *item)
{
    struct translate_turn result = { .role = "tool", .between = "\\n" };
    struct record_value id, output;

    end_turn(t, m);
    record_value_find(item, "call_id", &id);
    record_value_find(item, "output", &output);
    if (!json_is_string(id.json)) {
        translate_refuse(t, 400, "input", "an output without call_id");
        return;
    }
    translate_add_json_string(&result.id, id.json);
    add_content(t, &result, &output);
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
} items_by_type[] = {
    { "message", add_message },
    { "", add_message },
    { "reasoning", add_reasoning },
    { "function_call", add_call },
    { "custom_tool_call", add_call },
    { "function_call_output", add_output },
    { "custom_tool_call_output", add_output },
    { "item_reference", refuse_item },
};

static void
add_item(struct translation *t, struct translate_turn *m,
         const struct record_value *item)
{
    const char *type = translate_text(item->json, "type");

    for (size_t i = 0; i < sizeof(items_by_type) / sizeof(*items_by_type); i++)
        if (strcmp(type, items_by_type[i].type) == 0) {
            items_by_type[i].add(t, m, item);
            return;
        }
    translate_warn(t, "an item of type %.60s is left out", type);
}

void
responses_read_input(struct translation *t, const struct record_value *input,
                     const struct record_value *instructions)
{
    struct translate_turn m = { 0 };
    struct record_items items;
    struct record_value item;

    buffer_format(&t->body, ",\"messages\":[");
    if (instructions && json_is_string(instructions->json)) {
        turn_to(t, &m, "system");
        turn_add_text(&m, instructions);
    }
    if (input && json_is_string(input->json)) {
        turn_to(t, &m, "user");
        turn_add_text(&m, input);
    } else if (!input || json_array_size(input->json) == 0) {
        translate_refuse(t, 400, "input",
                         "input: neither a string nor an array with something "
                         "in it");
    } else {
        record_items_open(input, &items);
        while (t->status == 200 && record_items_next(&items, &item))
            add_item(t, &m, &item);
    }
    end_turn(t, &m);
    buffer_char(&t->body, ']');
}

#endif
