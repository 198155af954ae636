/* request_reasoning.c - what a request says of thoughts, in the words of
 * several interfaces */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/records/request_parts.h"

static enum gg_status
refuse(const struct request_member *m, const char *what, struct gg_error *err)
{
    return cli_error(err, GG_ERR_FORMAT, "%s: %s", m->key, what);
}

static enum gg_status
set_mode(const struct request_member *m, bool on, struct gg_error *err)
{
    struct reasoning_options *r = &m->r->reasoning.options;
    int32_t mode = on ? REASONING_ON : REASONING_OFF;

    if (m->r->reasoning.said && r->mode && r->mode != mode)
        return refuse(m, "another member says otherwise", err);
    r->mode = mode;
    m->r->reasoning.said = true;
    return GG_OK;
}

/* OpenAI's: none, low, medium, high ... */
static enum gg_status
set_effort(const struct request_member *m, const char *effort,
           struct gg_error *err)
{
    json_t *object;
    char *text;
    enum gg_status st;

    if (strcmp(effort, "none") == 0)
        return set_mode(m, false, err);
    object = json_pack("{s:s}", "reasoning_effort", effort);
    text = cli_json_dump(object, JSON_COMPACT);
    json_decref(object);
    st = reasoning_add_arguments(&m->r->reasoning.options.arguments, text, err);
    free(text);
    m->r->reasoning.has_effort = m->r->reasoning.said = true;
    return st;
}

static enum gg_status
set_word(const struct request_member *m, const char *word, struct gg_error *err)
{
    if (!*word || strcmp(word, "auto") == 0)
        return GG_OK;
    if (strcmp(word, "on") == 0 || strcmp(word, "enabled") == 0)
        return set_mode(m, true, err);
    if (strcmp(word, "off") == 0 || strcmp(word, "disabled") == 0)
        return set_mode(m, false, err);
    return set_effort(m, word, err);
}

static enum gg_status
set_budget(const struct request_member *m, const json_t *value,
           struct gg_error *err)
{
    double n = json_number_value(value);

    if (!json_is_number(value) || n < -1 || n > 1e12 || n != floor(n))
        return refuse(m, "a limit that is no number of tokens, nor -1", err);
    m->r->reasoning.options.is_limited = n >= 0;
    m->r->reasoning.options.budget = n >= 0 ? (uint64_t)n : 0;
    return GG_OK;
}

/* A member of {"type": "enabled", "budget_tokens": N}, as of {"effort": ...}.
 */
static enum gg_status
set_member(const struct request_member *m, const char *key, const json_t *value,
           struct gg_error *err)
{
    const char *text = cli_json_text(value);

    if (json_is_null(value))
        return GG_OK;
    if (strcmp(key, "budget_tokens") == 0 || strcmp(key, "max_tokens") == 0)
        return set_budget(m, value, err);
    if (strcmp(key, "enabled") == 0 && json_is_boolean(value))
        return set_mode(m, json_is_true(value), err);
    if ((strcmp(key, "effort") == 0 || strcmp(key, "type") == 0) && text)
        return set_word(m, text, err);
    return refuse(m, "a member that is not supported", err);
}

enum gg_status
request_set_reasoning(const struct request_member *m, struct gg_error *err)
{
    json_t *value = m->value.json;
    const char *text = cli_json_text(value);
    enum gg_status st = GG_OK;

    if (json_is_boolean(value))
        return set_mode(m, json_is_true(value), err);
    if (text)
        return set_word(m, text, err);
    if (!json_is_object(value))
        return refuse(m, "neither true nor false, nor a word", err);
    for (void *at = json_object_iter(value); at && st == GG_OK;
         at = json_object_iter_next(value, at))
        st = set_member(m, json_object_iter_key(at), json_object_iter_value(at),
                        err);
    return st;
}

enum gg_status
request_set_budget(const struct request_member *m, struct gg_error *err)
{
    return set_budget(m, m->value.json, err);
}

enum gg_status
request_set_message(const struct request_member *m, struct gg_error *err)
{
    const char *text = cli_json_text(m->value.json);

    if (!text)
        return refuse(m, "not a string without NUL", err);
    free(m->r->owned.message);
    m->r->owned.message = cli_copy(text, strlen(text));
    m->r->reasoning.options.message = m->r->owned.message;
    return GG_OK;
}

enum gg_status
request_set_arguments(const struct request_member *m, struct gg_error *err)
{
    struct buffer text = { 0 };
    enum gg_status st;

    if (!json_is_object(m->value.json))
        return refuse(m, "not an object", err);
    if (json_object_size(m->value.json) == 0)
        return GG_OK;
    buffer_add(&text, m->value.text, m->value.len); /* numbers as is */
    buffer_char(&text, '\0');
    st = reasoning_add_arguments(&m->r->reasoning.options.arguments, text.p,
                                 err);
    buffer_clear(&text);
    m->r->reasoning.said = true;
    return st;
}

#endif
