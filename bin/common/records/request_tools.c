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

static void
set_text(char **to, const char *text)
{
    free(*to);
    *to = cli_copy(text, strlen(text));
}

/* A word; those of another interface mean what required does. */
static enum gg_status
set_choice_word(struct request_tools *tools, const char *word,
                struct gg_error *err)
{
    if (strcmp(word, "any") == 0)
        word = "required";
    if (strcmp(word, "none") && strcmp(word, "auto") &&
        strcmp(word, "required"))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: none of none, auto, required");
    set_text(&tools->choice, word);
    return GG_OK;
}

/* {"mode": ..., "tools": [...]}, by itself or in a member. */
static enum gg_status
set_allowed_tools(struct request_tools *to, const json_t *value,
                  struct gg_error *err)
{
    const json_t *inner = json_object_get(value, "allowed_tools");
    const json_t *mode = json_object_get(inner ? inner : value, "mode");
    const json_t *tools = json_object_get(inner ? inner : value, "tools");

    if (!json_array_size(tools))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: allowed_tools without tools");
    free(to->allowed);
    to->allowed = cli_json_dump(tools, JSON_COMPACT);
    if (mode && !cli_json_text(mode))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: a mode that is no word");
    return set_choice_word(to, mode ? cli_json_text(mode) : "auto", err);
}

/* A word; an object with one, as {"type": "any"}; {"type": "function",
 * "function": {"name": ...}}, or with a name by itself; allowed_tools. */
enum gg_status
request_set_tool_choice(const struct request_member *m, struct gg_error *err)
{
    struct request_tools *tools = &m->r->tools;
    const json_t *value = m->value.json;
    const json_t *function = json_object_get(value, "function");
    const char *word = cli_json_text(value), *name;
    const char *type = cli_json_text(json_object_get(value, "type"));

    name = cli_json_text(json_object_get(function ? function : value, "name"));
    if (type && strcmp(type, "allowed_tools") == 0)
        return set_allowed_tools(tools, value, err);
    if (!word && !function && !name)
        word = type;
    if (word)
        return set_choice_word(tools, word, err);
    if (!name || !*name)
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: neither a word nor a function with a "
                         "name");
    set_text(&tools->choice, name);
    return GG_OK;
}

#endif
