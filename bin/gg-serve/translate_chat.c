/* translate_chat.c - /v1/chat/completions and /v1/completions: the engine's own
 * interfaces, but for streams, names and dates */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

enum {
    MOST_TEXTS = 1024, /* answers of a completion, of all prompts */
};

/* ---- requests ---- */

static void
read_usage(struct translation *t, const struct record_value *v)
{
    const json_t *options = v->json,
                 *usage = json_object_get(options, "include_usage");

    if (!json_is_object(options) || (usage && !json_is_boolean(usage)))
        translate_refuse(t, 400, "stream_options",
                         "stream_options: no object with include_usage");
    t->usage = json_is_true(usage);
}

/* Tools of other kinds run where the model's maker has them, not here. */
static void
read_functions(struct translation *t, const struct record_value *v)
{
    struct record_items items;
    struct record_value tool;

    translate_begin_tools(t, v, &items);
    while (record_items_next(&items, &tool)) {
        const char *type = translate_text(tool.json, "type");

        if (*type && strcmp(type, "function") != 0)
            translate_warn(t, "a tool of type %.60s is left out", type);
        else
            translate_put(&t->body, "%s%v",
                          t->body.p[t->body.len - 1] == '[' ? "" : ",", &tool);
    }
    buffer_char(&t->body, ']');
}

static const struct translate_member members[] = {
    { "stream_options", read_usage },
    { "tools", read_functions },
    { 0 },
};

void
translate_chat_read(struct translation *t, const struct record_object *body)
{
    translate_read_members(t, body, members);
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
    translate_put(out,
                  "data: {'id':'%s-%s','object':'%s','created':%n,"
                  "'model':",
                  t->api->row->id, t->with.unique,
                  is_chat(t) ? "chat.completion.chunk" : "text_completion",
                  (double)t->with.date);
    translate_add_model(t, out);
    if (t->sequence++ == 0)
        translate_add_warnings(t, out);
    translate_put(out, ",'choices':[");
}

/* A choice up to its delta, or its text. */
static void
begin_choice(struct translation *t, size_t index, struct buffer *out)
{
    begin_chunk(t, out);
    translate_put(out, "{'index':%z,'%s':", index,
                  is_chat(t) ? "delta" : "text");
}

/* `finish` is a string, or NULL; logprobs may be none. */
static void
end_choice(const struct translation *t, const struct record_value *logprobs,
           const char *finish, struct buffer *out)
{
    bool has = logprobs && logprobs->json;

    translate_put(out, has ? ",'logprobs':%v" : ",'logprobs':null", logprobs);
    translate_put(out,
                  finish ? ",'finish_reason':%q}]" : ",'finish_reason':null}]",
                  finish);
    translate_put(out, t->usage ? ",'usage':null}\n\n" : "}\n\n");
}

/* The first delta of an answer has the role. */
static void
send_role(struct translation *t, size_t index, struct buffer *out)
{
    if (!is_chat(t) || (t->roles >> index & 1))
        return;
    t->roles |= UINT32_C(1) << index;
    begin_choice(t, index, out);
    translate_put(out, "{'role':'assistant','content':''}");
    end_choice(t, NULL, NULL, out);
}

static void
send_roles(struct translation *t, struct buffer *out)
{
    for (size_t i = 0; i < t->n_answers; i++)
        send_role(t, i, out);
}

/* Which answer; false: none that was wanted. */
static bool
read_which(struct translation *t, const json_t *record, size_t *index)
{
    double i = translate_number(record, "index");
    double most = is_chat(t) ? (double)t->n_answers : MOST_TEXTS;

    if (!(i >= 0 && i < most)) {
        translate_refuse(t, 500, NULL, "the engine gave no such answer");
        return false;
    }
    *index = (size_t)i;
    return true;
}

/* A call begins with its name and no arguments, of which pieces follow. */
static void
send_call(struct translation *t, size_t index, const json_t *call,
          struct buffer *out)
{
    const json_t *function = json_object_get(call, "function");
    const json_t *from = function ? function : call;
    const json_t *arguments = json_object_get(from, "arguments");
    double n = translate_number(call, "index");
    size_t i = n >= 0 && n < TRANSLATE_MOST_CALLS ? (size_t)n : 0;

    if (json_object_get(call, "id")) {
        begin_choice(t, index, out);
        translate_put(out,
                      "{'tool_calls':[{'index':%z,'id':%j,'type':'function',"
                      "'function':{'name':%j,'arguments':''}}]}",
                      i, json_object_get(call, "id"),
                      json_object_get(from, "name"));
        end_choice(t, NULL, NULL, out);
    }
    if (json_string_length(arguments) == 0)
        return;
    begin_choice(t, index, out);
    translate_put(out,
                  "{'tool_calls':[{'index':%z,'function':{'arguments':%j}}]}",
                  i, arguments);
    end_choice(t, NULL, NULL, out);
}

static void
send_text(struct translation *t, size_t index, const json_t *delta,
          const char *name, const struct record_value *logprobs,
          struct buffer *out)
{
    const json_t *text = json_object_get(delta, name);

    if (json_string_length(text) == 0 && !logprobs)
        return;
    begin_choice(t, index, out);
    if (is_chat(t))
        translate_put(out, "{'%s':%j}", name, text);
    else
        translate_put(out, "%j", text);
    end_choice(t, logprobs, NULL, out);
}

static void
send_delta(struct translation *t, const struct record_value *record,
           struct buffer *out)
{
    const json_t *delta = json_object_get(record->json, "delta");
    const json_t *calls = json_object_get(delta, "tool_calls");
    struct record_value logprobs;
    bool has = record_value_find(record, "logprobs", &logprobs) &&
               !json_is_null(logprobs.json);
    size_t index;

    if (!read_which(t, record->json, &index))
        return;
    send_role(t, index, out);
    send_text(t, index, delta, "reasoning_content", NULL, out);
    send_text(t, index, delta, "content", has ? &logprobs : NULL, out);
    for (size_t i = 0; i < json_array_size(calls); i++)
        send_call(t, index, json_array_get(calls, i), out);
}

static void
send_finish(struct translation *t, const json_t *end, struct buffer *out)
{
    size_t index;

    if (!read_which(t, end, &index))
        return;
    send_role(t, index, out);
    begin_choice(t, index, out);
    translate_put(out, is_chat(t) ? "{}" : "''");
    end_choice(t, NULL, translate_text(end, "finish_reason"), out);
}

/* Clients look for choices[0], so that usage comes only if it is wanted. */
static void
send_end(struct translation *t, const struct record_value *record,
         struct buffer *out)
{
    const json_t *ends = json_object_get(record->json, "end");
    struct record_value usage;

    for (size_t i = 0; i < json_array_size(ends) && t->status == 200; i++)
        send_finish(t, json_array_get(ends, i), out);
    if (t->status != 200)
        return;
    if (t->usage && record_value_find(record, "usage", &usage)) {
        begin_chunk(t, out);
        translate_put(out, "],'usage':%v", &usage);
        translate_add_timings(t, record->json, out);
        translate_put(out, "}\n\n");
    }
    translate_put(out, "data: [DONE]\n\n");
}

const struct translate_row translate_chat_row = {
    .url = "/v1/chat/completions",
    .id = "chatcmpl",
    .read = translate_chat_read,
    .whole = translate_add_whole,
    .start = send_roles,
    .delta = send_delta,
    .end = send_end,
    .fail = translate_send_error,
};

const struct translate_row translate_prompt_row = {
    .url = "/v1/completions",
    .id = "cmpl",
    .read = translate_chat_read,
    .whole = translate_add_whole,
    .start = send_roles,
    .delta = send_delta,
    .end = send_end,
    .fail = translate_send_error,
};

#endif
