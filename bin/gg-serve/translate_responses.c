/* translate_responses.c - requests of /v1/responses, without state */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_responses.h"

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
    { "text", "{\"format\":{\"type\":\"text\"}}" },
    { "tool_choice", "\"auto\"" },
    { "tools", "[]" },
    { "top_p", "null" },
};

static void
repeat_members(struct translation *t, const struct record_object *body)
{
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++) {
        const struct record_value *v =
            record_object_find(body, repeated[i].key);

        buffer_format(&t->echo, ",\"%s\":", repeated[i].key);
        if (v && !json_is_null(v->json))
            translate_add_value(&t->echo, v);
        else
            buffer_format(&t->echo, "%s", repeated[i].otherwise);
    }
}

static void
ignore_member(struct translation *t, const struct record_value *v)
{
    (void)t, (void)v;
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
read_length(struct translation *t, const struct record_value *v)
{
    translate_pass(t, "max_tokens", v);
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
    if (!t->logprobs)
        buffer_format(&t->body, ",\"logprobs\":true");
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
add_schema(struct translation *t, const struct record_value *format)
{
    static const char *const names[] = { "name", "schema", "strict" };
    struct record_value v;
    size_t n = 0;

    buffer_format(&t->body, ",\"response_format\":{\"type\":\"json_schema\","
                            "\"json_schema\":{");
    for (size_t i = 0; i < 3; i++) {
        if (!record_value_find(format, names[i], &v) || json_is_null(v.json))
            continue;
        buffer_format(&t->body, "%s\"%s\":", n++ ? "," : "", names[i]);
        translate_add_value(&t->body, &v);
    }
    buffer_format(&t->body, "}}");
}

static void
read_text(struct translation *t, const struct record_value *v)
{
    struct record_value format, verbosity;

    if (record_value_find(v, "verbosity", &verbosity))
        (void)translate_common(t, "verbosity", &verbosity);
    if (!record_value_find(v, "format", &format) || json_is_null(format.json) ||
        translate_is(format.json, "type", "text"))
        return;
    if (translate_is(format.json, "type", "json_schema"))
        add_schema(t, &format);
    else if (translate_is(format.json, "type", "json_object"))
        translate_set(t, "response_format", &format);
    else
        translate_refuse(t, 400, "text",
                         "text: a format that is none of text, json_object, "
                         "json_schema");
}

static void
read_truncation(struct translation *t, const struct record_value *v)
{
    if (!json_is_string(v->json) ||
        strcmp(json_string_value(v->json), "disabled") != 0)
        translate_warn(t, "truncation is left out: a prompt is never cut");
}

static void
read_most_calls(struct translation *t, const struct record_value *v)
{
    (void)v;
    translate_warn(t, "max_tool_calls is left out");
}

static const struct {
    const char *key;
    void (*read)(struct translation *t, const struct record_value *v);
} members[] = {
    { "input", ignore_member }, /* they are read before */
    { "instructions", ignore_member },
    { "tools", responses_read_tools },
    { "tool_choice", responses_read_choice },
    { "previous_response_id", refuse_state },
    { "background", refuse_state },
    { "conversation", refuse_state },
    { "prompt", refuse_state },
    { "max_output_tokens", read_length },
    { "max_tool_calls", read_most_calls },
    { "reasoning", read_reasoning },
    { "text", read_text },
    { "include", read_include },
    { "top_logprobs", read_top },
    { "truncation", read_truncation },
    { "client_metadata", ignore_member },
    { "metadata", ignore_member }, /* it is repeated */
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
    if (!translate_common(t, key, v))
        translate_pass(t, key, v);
}

void
responses_read(struct translation *t, const struct record_object *body)
{
    responses_read_input(t, record_object_find(body, "input"),
                         record_object_find(body, "instructions"));
    for (size_t i = 0; i < body->n && t->status == 200; i++)
        read_member(t, body->members[i].key, &body->members[i].value);
    repeat_members(t, body);
}

#endif
