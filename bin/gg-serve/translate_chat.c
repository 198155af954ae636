/* translate_chat.c - /v1/chat/completions and /v1/completions: the engine's own
 * interfaces, but for streams, names and dates */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- requests ---- */

static void
read_usage(struct translation *t, const json_t *options)
{
    const json_t *usage = json_object_get(options, "include_usage");

    if (!json_is_object(options) || (usage && !json_is_boolean(usage)))
        translate_refuse(t, 400, "stream_options",
                         "stream_options: no object with include_usage");
    t->usage = json_is_true(usage);
}

/* Tools of other kinds run where the model's maker has them, not here. */
static void
read_tools(struct translation *t, const struct record_value *v)
{
    struct record_items items;
    struct record_value tool;
    size_t n = 0;

    if (!json_is_array(v->json)) {
        translate_refuse(t, 400, "tools", "tools: not an array");
        return;
    }
    record_items_open(v, &items);
    buffer_format(&t->body, ",\"tools\":[");
    while (record_items_next(&items, &tool)) {
        const char *type = translate_text(tool.json, "type");

        if (*type && strcmp(type, "function") != 0) {
            translate_warn(t, "a tool of type %.60s is left out", type);
            continue;
        }
        if (n++)
            buffer_char(&t->body, ',');
        translate_add_value(&t->body, &tool);
    }
    buffer_char(&t->body, ']');
}

static void
read_member(struct translation *t, const char *key,
            const struct record_value *v)
{
    if (strcmp(key, "stream_options") == 0 && !json_is_null(v->json))
        read_usage(t, v->json);
    else if (translate_common(t, key, v))
        return;
    else if (strcmp(key, "tools") == 0 && !json_is_null(v->json))
        read_tools(t, v);
    else
        translate_pass(t, key, v);
}

static void
read_request(struct translation *t, const struct record_object *body)
{
    for (size_t i = 0; i < body->n && t->status == 200; i++)
        read_member(t, body->members[i].key, &body->members[i].value);
}

/* ---- streams ---- */

static bool
is_chat(const struct translation *t)
{
    return t->api->row == &translate_chat_row;
}

static void
begin_chunk(struct translation *t, struct buffer *out)
{
    translate_begin_event(out, "");
    buffer_format(out,
                  "{\"id\":\"%s-%s\",\"object\":\"%s\",\"created\":%lld,"
                  "\"model\":",
                  t->api->row->id, t->with.unique,
                  is_chat(t) ? "chat.completion.chunk" : "text_completion",
                  (long long)t->with.date);
    translate_add_model(t, out);
    if (t->sequence++ == 0)
        translate_add_warnings(t, out);
    buffer_format(out, ",\"choices\":[");
}

/* `more` are members after the choices. */
static void
end_chunk(const struct translation *t, struct buffer *out)
{
    buffer_format(out, t->usage ? "],\"usage\":null}" : "]}");
    translate_end_event(out);
}

/* A choice up to its delta, or its text. */
static void
begin_choice(struct translation *t, unsigned index, struct buffer *out)
{
    begin_chunk(t, out);
    buffer_format(out, "{\"index\":%u,%s", index,
                  is_chat(t) ? "\"delta\":" : "\"text\":");
}

/* `finish` is JSON; logprobs may be none. */
static void
end_choice(const struct translation *t, const struct record_value *logprobs,
           const char *finish, struct buffer *out)
{
    buffer_format(out, ",\"logprobs\":");
    if (logprobs && logprobs->json)
        translate_add_value(out, logprobs);
    else
        buffer_format(out, "null");
    buffer_format(out, ",\"finish_reason\":%s}", finish);
    end_chunk(t, out);
}

/* The first delta of an answer has the role. */
static void
add_role(struct translation *t, unsigned index, struct buffer *out)
{
    if (!is_chat(t) || (t->roles >> index & 1))
        return;
    t->roles |= UINT32_C(1) << index;
    begin_choice(t, index, out);
    buffer_format(out, "{\"role\":\"assistant\",\"content\":\"\"}");
    end_choice(t, NULL, "null", out);
}

static void
start(struct translation *t, struct buffer *out)
{
    for (unsigned i = 0; i < t->n_answers; i++)
        add_role(t, i, out);
}

/* Which answer; false: none that was wanted. */
static bool
read_index(struct translation *t, const json_t *record, unsigned *index)
{
    double i = translate_number(record, "index");
    double most = is_chat(t) ? (double)t->n_answers : 1024;

    if (!(i >= 0 && i < most)) {
        translate_refuse(t, 500, NULL, "the engine gave no such answer");
        return false;
    }
    *index = (unsigned)i;
    return true;
}

static void
add_call(struct translation *t, unsigned index, const json_t *call, bool first,
         struct buffer *out)
{
    const json_t *function = json_object_get(call, "function");
    const json_t *from = function ? function : call;
    double i = translate_number(call, "index");

    begin_choice(t, index, out);
    buffer_format(out, "{\"tool_calls\":[{\"index\":%u",
                  i >= 0 && i < TRANSLATE_MOST_CALLS ? (unsigned)i : 0);
    if (first) {
        buffer_format(out, ",\"id\":");
        translate_add_json_string(out, json_object_get(call, "id"));
        buffer_format(out, ",\"type\":\"function\",\"function\":{\"name\":");
        translate_add_json_string(out, json_object_get(from, "name"));
        buffer_format(out, ",\"arguments\":\"\"}}]}");
    } else {
        buffer_format(out, ",\"function\":{\"arguments\":");
        translate_add_json_string(out, json_object_get(from, "arguments"));
        buffer_format(out, "}}]}");
    }
    end_choice(t, NULL, "null", out);
}

/* A call begins with its name and no arguments, of which pieces follow. */
static void
add_calls(struct translation *t, unsigned index, const json_t *calls,
          struct buffer *out)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i);
        const json_t *function = json_object_get(call, "function");
        const json_t *from = function ? function : call;

        if (json_object_get(call, "id"))
            add_call(t, index, call, true, out);
        if (json_string_length(json_object_get(from, "arguments")))
            add_call(t, index, call, false, out);
    }
}

static void
add_text(struct translation *t, unsigned index, const json_t *delta,
         const char *name, const struct record_value *logprobs,
         struct buffer *out)
{
    const json_t *text = json_object_get(delta, name);

    if (json_string_length(text) == 0 && !logprobs)
        return;
    begin_choice(t, index, out);
    if (is_chat(t))
        buffer_format(out, "{\"%s\":", name);
    translate_add_json_string(out, text);
    if (is_chat(t))
        buffer_char(out, '}');
    end_choice(t, logprobs, "null", out);
}

static void
add_delta(struct translation *t, const struct record_value *record,
          struct buffer *out)
{
    const json_t *delta = json_object_get(record->json, "delta");
    struct record_value logprobs;
    bool has = record_value_find(record, "logprobs", &logprobs) &&
               !json_is_null(logprobs.json);
    unsigned index;

    if (!read_index(t, record->json, &index))
        return;
    add_role(t, index, out);
    if (json_object_get(delta, "reasoning_content"))
        add_text(t, index, delta, "reasoning_content", NULL, out);
    if (json_object_get(delta, "content") || has)
        add_text(t, index, delta, "content", has ? &logprobs : NULL, out);
    add_calls(t, index, json_object_get(delta, "tool_calls"), out);
}

static void
add_finish(struct translation *t, const json_t *end, struct buffer *out)
{
    struct buffer reason = { 0 };
    unsigned index;

    if (!read_index(t, end, &index))
        return;
    translate_add_json_string(&reason, json_object_get(end, "finish_reason"));
    buffer_char(&reason, '\0');
    add_role(t, index, out);
    begin_choice(t, index, out);
    buffer_format(out, is_chat(t) ? "{}" : "\"\"");
    end_choice(t, NULL, reason.p, out);
    buffer_clear(&reason);
}

/* Clients look for choices[0], so that usage comes only if it is wanted. */
static void
add_end(struct translation *t, const struct record_value *record,
        struct buffer *out)
{
    const json_t *ends = json_object_get(record->json, "end");
    struct record_value usage;

    for (size_t i = 0; i < json_array_size(ends) && t->status == 200; i++)
        add_finish(t, json_array_get(ends, i), out);
    if (t->status != 200)
        return;
    if (t->usage && record_value_find(record, "usage", &usage)) {
        begin_chunk(t, out);
        buffer_format(out, "],\"usage\":");
        translate_add_value(out, &usage);
        buffer_char(out, '}');
        translate_end_event(out);
    }
    buffer_format(out, "data: [DONE]\n\n");
}

static void
add_failure(struct translation *t, struct buffer *out)
{
    translate_begin_event(out, "");
    translate_add_error(t, out);
    translate_end_event(out);
}

const struct translate_row translate_chat_row = {
    .url = "/v1/chat/completions",
    .id = "chatcmpl",
    .read = read_request,
    .whole = translate_add_whole,
    .start = start,
    .delta = add_delta,
    .end = add_end,
    .fail = add_failure,
};

const struct translate_row translate_prompt_row = {
    .url = "/v1/completions",
    .id = "cmpl",
    .read = read_request,
    .whole = translate_add_whole,
    .start = start,
    .delta = add_delta,
    .end = add_end,
    .fail = add_failure,
};

#endif
