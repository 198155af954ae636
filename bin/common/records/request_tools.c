/* request_tools.c - what the answer to a request may call */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdlib.h>
#include <string.h>

#include "common/records/request_parts.h"

/* The array as it stands in the text: the order of members counts. */
enum gg_status
request_set_tools(const struct request_member *m, struct gg_error *err)
{
    struct request_tools *tools = &m->r->tools;

    if (!json_is_array(m->value.json))
        return cli_error(err, GG_ERR_FORMAT, "tools: not an array");
    if (json_array_size(m->value.json) == 0)
        return GG_OK;
    free(tools->list);
    tools->list = cli_copy(m->value.text, m->value.len);
    return GG_OK;
}

/* A word, or {"type": "function", "function": {"name": ...}}; the words of
 * another interface, "any", and {"type": "any"}, mean what required does. */
enum gg_status
request_set_tool_choice(const struct request_member *m, struct gg_error *err)
{
    const json_t *function = json_object_get(m->value.json, "function");
    const char *word = cli_json_text(m->value.json);
    const char *name = cli_json_text(json_object_get(function, "name"));
    const char *type = cli_json_text(json_object_get(m->value.json, "type"));

    if (!word && !function && type && strcmp(type, "any") == 0)
        word = type;
    if (word && strcmp(word, "any") == 0)
        word = "required";
    if (word && strcmp(word, "none") && strcmp(word, "auto") &&
        strcmp(word, "required"))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: none of none, auto, required");
    if (!word && (!name || !*name))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: neither a word nor a function with a "
                         "name");
    name = word ? word : name;
    free(m->r->tools.choice);
    m->r->tools.choice = cli_copy(name, strlen(name));
    return GG_OK;
}

#endif
