/* thoughts_override.c - what one record in JSON says of thoughts, in the words
 * of several interfaces */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/members.h"
#include "gg-generate/overrides.h"

static enum gg_status
refuse(const struct override *o, const char *what, struct gg_error *err)
{
    return cli_error(err, GG_ERR_FORMAT, "%s: %s", o->key, what);
}

static enum gg_status
set_mode(const struct override *o, bool on, struct gg_error *err)
{
    struct reasoning_options *r = &o->r->reasoning;
    int32_t mode = on ? REASONING_ON : REASONING_OFF;

    if (o->r->says_thoughts && r->mode && r->mode != mode)
        return refuse(o, "another member says otherwise", err);
    r->mode = mode;
    o->r->says_thoughts = true;
    return GG_OK;
}

/* OpenAI's: none, low, medium, high ... */
static enum gg_status
set_effort(const struct override *o, const char *effort, struct gg_error *err)
{
    json_t *object;
    char *text;
    enum gg_status st;

    if (strcmp(effort, "none") == 0)
        return set_mode(o, false, err);
    object = json_pack("{s:s}", "reasoning_effort", effort);
    text = cli_json_dump(object, JSON_COMPACT);
    json_decref(object);
    st = reasoning_add_arguments(&o->r->reasoning.arguments, text, err);
    free(text);
    o->r->has_effort = o->r->says_thoughts = true;
    return st;
}

static enum gg_status
set_word(const struct override *o, const char *word, struct gg_error *err)
{
    if (!*word || strcmp(word, "auto") == 0)
        return GG_OK;
    if (strcmp(word, "on") == 0 || strcmp(word, "enabled") == 0)
        return set_mode(o, true, err);
    if (strcmp(word, "off") == 0 || strcmp(word, "disabled") == 0)
        return set_mode(o, false, err);
    return set_effort(o, word, err);
}

static enum gg_status
set_budget(const struct override *o, const json_t *value, struct gg_error *err)
{
    double n = json_number_value(value);

    if (!json_is_number(value) || n < -1 || n > 1e12 || n != floor(n))
        return refuse(o, "a limit that is no number of tokens, nor -1", err);
    o->r->reasoning.is_limited = n >= 0;
    o->r->reasoning.budget = n >= 0 ? (uint64_t)n : 0;
    return GG_OK;
}

/* A member of {"type": "enabled", "budget_tokens": N}, as of {"effort": ...}.
 */
static enum gg_status
set_member(const struct override *o, const char *key, const json_t *value,
           struct gg_error *err)
{
    const char *text = cli_json_text(value);

    if (json_is_null(value))
        return GG_OK;
    if (strcmp(key, "budget_tokens") == 0 || strcmp(key, "max_tokens") == 0)
        return set_budget(o, value, err);
    if (strcmp(key, "enabled") == 0 && json_is_boolean(value))
        return set_mode(o, json_is_true(value), err);
    if ((strcmp(key, "effort") == 0 || strcmp(key, "type") == 0) && text)
        return set_word(o, text, err);
    return refuse(o, "a member that is not supported", err);
}

enum gg_status
override_reasoning(const struct override *o, struct gg_error *err)
{
    json_t *value = o->value;
    const char *text = cli_json_text(value);
    enum gg_status st = GG_OK;

    if (json_is_boolean(value))
        return set_mode(o, json_is_true(value), err);
    if (text)
        return set_word(o, text, err);
    if (!json_is_object(value))
        return refuse(o, "neither true nor false, nor a word", err);
    for (void *at = json_object_iter(value); at && st == GG_OK;
         at = json_object_iter_next(value, at))
        st = set_member(o, json_object_iter_key(at), json_object_iter_value(at),
                        err);
    return st;
}

enum gg_status
override_budget(const struct override *o, struct gg_error *err)
{
    return set_budget(o, o->value, err);
}

enum gg_status
override_arguments(const struct override *o, struct gg_error *err)
{
    struct buffer text = { 0 };
    struct member m;
    enum gg_status st;

    if (!json_is_object(o->value))
        return refuse(o, "not an object", err);
    if (json_object_size(o->value) == 0 || !member_find(o->text, o->key, &m))
        return GG_OK;
    buffer_add(&text, m.value, (size_t)(m.end - m.value)); /* numbers as is */
    buffer_char(&text, '\0');
    st = reasoning_add_arguments(&o->r->reasoning.arguments, text.p, err);
    buffer_clear(&text);
    o->r->says_thoughts = true;
    return st;
}

#endif
