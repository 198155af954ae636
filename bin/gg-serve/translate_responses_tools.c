/* translate_responses_tools.c - tools of /v1/responses as functions of a chat
 */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_responses.h"

char *
responses_flat(const char *space, const char *name)
{
    struct buffer flat = { 0 };
    size_t n = strlen(space);
    bool parted = n >= 2 && strcmp(space + n - 2, "__") == 0;

    buffer_format(&flat, "%s%s%s", space, n && !parted ? "__" : "", name);
    buffer_char(&flat, '\0');
    return flat.p;
}

/* Its names are kept; false: another one has the same. */
static bool
keep_tool(struct translation *t, const char *space, const char *name,
          bool is_text)
{
    struct translate_tool tool = { .flat = responses_flat(space, name),
                                   .is_text = is_text };
    size_t i = 0;

    while (i < t->n_tools && strcmp(t->tools[i].flat, tool.flat) != 0)
        i++;
    if (i < t->n_tools || i == TRANSLATE_MOST_TOOLS) {
        translate_refuse(t, 400, "tools",
                         i < t->n_tools
                             ? "tools: two of the name '%.200s'"
                             : "tools: '%.200s' is one more than are taken",
                         tool.flat);
        free(tool.flat);
        return false;
    }
    tool.name = cli_copy(name, strlen(name));
    tool.space = *space ? cli_copy(space, strlen(space)) : NULL;
    t->tools = cli_alloc(t->tools, t->n_tools + 1, sizeof(*t->tools));
    t->tools[t->n_tools++] = tool;
    return true;
}

static void
add_member(struct translation *t, const struct record_value *tool,
           const char *name)
{
    struct record_value v;

    if (!record_value_find(tool, name, &v) || json_is_null(v.json))
        return;
    buffer_format(&t->body, ",\"%s\":", name);
    translate_add_value(&t->body, &v);
}

/* A tool of text is a function of one string. */
static void
add_function(struct translation *t, const char *space,
             const struct record_value *tool, bool is_text)
{
    const char *name = translate_text(tool->json, "name");

    if (!*name)
        translate_refuse(t, 400, "tools", "tools: one without a name");
    if (!*name || !keep_tool(t, space, name, is_text))
        return;
    if (t->body.p[t->body.len - 1] != '[')
        buffer_char(&t->body, ',');
    buffer_format(&t->body, "{\"type\":\"function\",\"function\":{\"name\":");
    translate_add_string(&t->body, t->tools[t->n_tools - 1].flat);
    add_member(t, tool, "description");
    if (is_text)
        buffer_format(&t->body,
                      ",\"parameters\":{\"type\":\"object\",\"properties\":{"
                      "\"" RESPONSES_ARGUMENT "\":{\"type\":\"string\"}},"
                      "\"required\":[\"" RESPONSES_ARGUMENT "\"]}");
    else
        add_member(t, tool, "parameters");
    buffer_format(&t->body, "}}");
}

/* Tools of other kinds run where OpenAI's models do. */
static void
add_tool(struct translation *t, const char *space,
         const struct record_value *tool)
{
    const char *type = translate_text(tool->json, "type");

    if (strcmp(type, "function") == 0)
        add_function(t, space, tool, false);
    else if (strcmp(type, "custom") == 0)
        add_function(t, space, tool, true);
    else
        translate_warn(t, "a tool of type %.60s is left out", type);
    if (strcmp(type, "custom") == 0 &&
        translate_is(json_object_get(tool->json, "format"), "type", "grammar"))
        translate_warn(t, "the grammar of a custom tool is left out");
}

static void
add_space(struct translation *t, const struct record_value *space)
{
    const char *name = translate_text(space->json, "name");
    struct record_value list, tool;
    struct record_items items;

    record_value_find(space, "tools", &list);
    record_items_open(&list, &items);
    while (t->status == 200 && record_items_next(&items, &tool))
        add_tool(t, name, &tool);
}

void
responses_read_tools(struct translation *t, const struct record_value *v)
{
    struct record_items items;
    struct record_value tool;

    if (!json_is_array(v->json))
        translate_refuse(t, 400, "tools", "tools: not an array");
    record_items_open(v, &items);
    buffer_format(&t->body, ",\"tools\":[");
    while (t->status == 200 && record_items_next(&items, &tool))
        if (translate_is(tool.json, "type", "namespace"))
            add_space(t, &tool);
        else
            add_tool(t, "", &tool);
    buffer_char(&t->body, ']');
}

/* ---- tool_choice ---- */

/* {"type": "function", "name": ...}, custom ones alike. */
static void
add_choice(struct translation *t, const json_t *choice)
{
    const char *type = translate_text(choice, "type");
    char *flat = responses_flat(translate_text(choice, "namespace"),
                                translate_text(choice, "name"));

    if (!*flat || (strcmp(type, "function") && strcmp(type, "custom")))
        translate_refuse(t, 400, "tool_choice",
                         "tool_choice: neither a word nor a function or a "
                         "custom tool with a name");
    buffer_format(&t->body, "{\"type\":\"function\",\"function\":{\"name\":");
    translate_add_string(&t->body, flat);
    buffer_format(&t->body, "}}");
    free(flat);
}

static void
add_allowed(struct translation *t, const json_t *choice)
{
    const json_t *tools = json_object_get(choice, "tools");

    buffer_format(&t->body, "{\"type\":\"allowed_tools\",\"allowed_tools\":{"
                            "\"mode\":");
    translate_add_string(&t->body, translate_is(choice, "mode", "required")
                                       ? "required"
                                       : "auto");
    buffer_format(&t->body, ",\"tools\":[");
    for (size_t i = 0; i < json_array_size(tools); i++) {
        if (i)
            buffer_char(&t->body, ',');
        add_choice(t, json_array_get(tools, i));
    }
    buffer_format(&t->body, "]}}");
}

void
responses_read_choice(struct translation *t, const struct record_value *v)
{
    if (json_is_string(v->json)) {
        translate_set(t, "tool_choice", v);
        return;
    }
    buffer_format(&t->body, ",\"tool_choice\":");
    if (translate_is(v->json, "type", "allowed_tools"))
        add_allowed(t, v->json);
    else
        add_choice(t, v->json);
}

#endif
