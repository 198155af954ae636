/* translate_responses_answer.c - answers of /v1/responses, whole and in events
 */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_responses.h"

/* ---- items ---- */

static bool
is_text_call(const struct translate_part *p)
{
    return p->kind == PART_CALL && p->tool && p->tool->is_text;
}

static void
add_id(const struct translation *t, struct buffer *out)
{
    static const char *const names[] = {
        [PART_REASONING] = "rs", [PART_TEXT] = "msg", [PART_CALL] = "fc"
    };

    buffer_format(out, "\"%s_%s_%zu\"",
                  is_text_call(&t->part) ? "ctc" : names[t->part.kind],
                  t->with.unique, t->n_items);
}

/* The text of a tool of text, which a model may have written without its
 * object. */
static void
add_input(const struct buffer *arguments, struct buffer *out)
{
    struct record_value value = { 0 };
    const json_t *text = NULL;
    struct gg_error err;

    if (arguments->len &&
        record_value_read(arguments->p, arguments->len, &value, &err) == GG_OK)
        text = json_object_get(value.json, RESPONSES_ARGUMENT);
    if (json_is_string(text))
        translate_add_json_string(out, text);
    else
        cli_json_add(out, arguments->p ? arguments->p : "", arguments->len);
    record_value_clear(&value);
}

/* The part of a message, or of thoughts; empty, where it begins. */
static void
add_content(const struct translate_part *p, bool done, struct buffer *out)
{
    bool is_text = p->kind == PART_TEXT;

    buffer_format(out, "{\"type\":\"%s\",\"text\":",
                  is_text ? "output_text" : "reasoning_text");
    cli_json_add(out, done && p->text.p ? p->text.p : "",
                 done ? p->text.len : 0);
    if (is_text) {
        buffer_format(out, ",\"annotations\":[],\"logprobs\":[");
        buffer_add(out, p->logprobs.p, done ? p->logprobs.len : 0);
        buffer_char(out, ']');
    }
    buffer_char(out, '}');
}

static void
add_message(const struct translate_part *p, bool done, struct buffer *out)
{
    buffer_format(out, p->kind == PART_TEXT
                           ? ",\"type\":\"message\",\"role\":\"assistant\","
                             "\"content\":["
                           : ",\"type\":\"reasoning\",\"summary\":[],"
                             "\"content\":[");
    if (done)
        add_content(p, true, out);
    buffer_char(out, ']');
}

static void
add_call(const struct translate_part *p, bool done, struct buffer *out)
{
    bool is_text = is_text_call(p);

    buffer_format(out, ",\"type\":\"%s\",\"call_id\":",
                  is_text ? "custom_tool_call" : "function_call");
    cli_json_add(out, p->id.p, p->id.len);
    buffer_format(out, ",\"name\":");
    if (p->tool)
        translate_add_string(out, p->tool->name);
    else
        cli_json_add(out, p->name.p, p->name.len);
    if (p->tool && p->tool->space) {
        buffer_format(out, ",\"namespace\":");
        translate_add_string(out, p->tool->space);
    }
    buffer_format(out, is_text ? ",\"input\":" : ",\"arguments\":");
    if (!done)
        buffer_format(out, "\"\"");
    else if (is_text)
        add_input(&p->text, out);
    else
        cli_json_add(out, p->text.p ? p->text.p : "", p->text.len);
}

static void
add_item(const struct translation *t, bool done, struct buffer *out)
{
    buffer_format(out, "{\"id\":");
    add_id(t, out);
    if (t->part.kind == PART_CALL)
        add_call(&t->part, done, out);
    else
        add_message(&t->part, done, out);
    buffer_format(out, ",\"status\":\"%s\"}",
                  done ? "completed" : "in_progress");
}

/* ---- events ---- */

static void
begin_event(struct translation *t, const char *name, struct buffer *out)
{
    translate_begin_event(out, name);
    buffer_format(out, "{\"type\":\"%s\",\"sequence_number\":%llu", name,
                  (unsigned long long)t->sequence++);
}

static void
end_event(struct buffer *out)
{
    buffer_char(out, '}');
    translate_end_event(out);
}

/* An event about the item, or a part of it. */
static void
begin_about(struct translation *t, const char *name, struct buffer *out)
{
    begin_event(t, name, out);
    buffer_format(out, ",\"output_index\":%zu,\"item_id\":", t->n_items);
    add_id(t, out);
    if (t->part.kind != PART_CALL)
        buffer_format(out, ",\"content_index\":0");
}

static void
send_item(struct translation *t, bool done, struct buffer *out)
{
    begin_event(
        t, done ? "response.output_item.done" : "response.output_item.added",
        out);
    buffer_format(out, ",\"output_index\":%zu,\"item\":", t->n_items);
    add_item(t, done, out);
    end_event(out);
}

static void
send_content(struct translation *t, bool done, struct buffer *out)
{
    begin_about(
        t, done ? "response.content_part.done" : "response.content_part.added",
        out);
    buffer_format(out, ",\"part\":");
    add_content(&t->part, done, out);
    end_event(out);
}

static void
open_item(struct translation *t, struct buffer *out)
{
    send_item(t, false, out);
    if (t->part.kind != PART_CALL)
        send_content(t, false, out);
}

static void
begin_text(struct translation *t, const char *what, struct buffer *out)
{
    static const char *const names[] = {
        [PART_REASONING] = "response.reasoning_text",
        [PART_TEXT] = "response.output_text",
        [PART_CALL] = "response.function_call_arguments",
    };
    char name[80];

    snprintf(name, sizeof(name), "%s.%s",
             is_text_call(&t->part) ? "response.custom_tool_call_input"
                                    : names[t->part.kind],
             what);
    begin_about(t, name, out);
}

/* A text in an object is told when it is whole. */
static void
send_piece(struct translation *t, const char *text, size_t len,
           const struct record_value *logprobs, struct buffer *out)
{
    struct record_value list = { 0 };

    if (is_text_call(&t->part))
        return;
    begin_text(t, "delta", out);
    buffer_format(out, ",\"delta\":");
    cli_json_add(out, text, len);
    if (logprobs)
        record_value_find(logprobs, "content", &list);
    if (t->part.kind == PART_TEXT)
        buffer_format(out, ",\"logprobs\":");
    if (t->part.kind == PART_TEXT && json_is_array(list.json))
        translate_add_value(out, &list);
    else if (t->part.kind == PART_TEXT)
        buffer_format(out, "[]");
    end_event(out);
}

static void
send_text_call(struct translation *t, struct buffer *out)
{
    begin_text(t, "delta", out);
    buffer_format(out, ",\"delta\":");
    add_input(&t->part.text, out);
    end_event(out);
    begin_text(t, "done", out);
    buffer_format(out, ",\"input\":");
    add_input(&t->part.text, out);
    end_event(out);
}

static void
send_done(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;

    begin_text(t, "done", out);
    if (p->kind == PART_CALL && p->tool)
        translate_put(out, ",'name':%q", p->tool->name);
    else if (p->kind == PART_CALL)
        translate_put(out, ",'name':%b", &p->name);
    buffer_format(out, p->kind == PART_CALL ? ",\"arguments\":" : ",\"text\":");
    cli_json_add(out, p->text.p ? p->text.p : "", p->text.len);
    if (p->kind == PART_TEXT) {
        buffer_format(out, ",\"logprobs\":[");
        buffer_add(out, p->logprobs.p, p->logprobs.len);
        buffer_char(out, ']');
    }
    end_event(out);
}

static void
close_item(struct translation *t, struct buffer *out)
{
    if (t->items.len)
        buffer_char(&t->items, ',');
    add_item(t, true, &t->items);
    if (!t->stream)
        return;
    if (is_text_call(&t->part))
        send_text_call(t, out);
    else
        send_done(t, out);
    if (t->part.kind != PART_CALL)
        send_content(t, true, out);
    send_item(t, true, out);
}

/* ---- the response ---- */

static void
add_usage(const struct translate_end *e, struct buffer *out)
{
    buffer_format(out,
                  "{\"input_tokens\":%.0f,\"input_tokens_details\":{"
                  "\"cached_tokens\":%.0f,\"cache_write_tokens\":0},"
                  "\"output_tokens\":%.0f,\"output_tokens_details\":{"
                  "\"reasoning_tokens\":0},\"total_tokens\":%.0f}",
                  e->prompt, e->cached, e->made, e->prompt + e->made);
}

/* Clients know a few codes. */
static const char *
error_code(const struct translation *t)
{
    static const char full[] = "context_length_exceeded";

    if (strcmp(t->code, full) == 0)
        return full;
    return t->status == 429 ? "rate_limit_exceeded" : "server_error";
}

/* `e` is how it ended; NULL: it has not, or badly. */
static void
add_response(const struct translation *t, const char *status,
             const struct translate_end *e, struct buffer *out)
{
    buffer_format(out,
                  "{\"id\":\"resp_%s\",\"object\":\"response\","
                  "\"created_at\":%lld,\"status\":\"%s\",\"background\":false,"
                  "\"error\":",
                  t->with.unique, (long long)t->with.date, status);
    if (t->status == 200) {
        buffer_format(out, "null");
    } else {
        translate_put(out, "{'code':%q,'message':%q}", error_code(t),
                      t->message);
    }
    buffer_format(out, ",\"incomplete_details\":%s,\"model\":",
                  e && strcmp(e->reason, "length") == 0
                      ? "{\"reason\":\"max_output_tokens\"}"
                      : "null");
    translate_add_model(t, out);
    translate_add_warnings(t, out);
    buffer_format(out, ",\"previous_response_id\":null,\"store\":false,"
                       "\"truncation\":\"disabled\",\"output\":[");
    buffer_add(out, t->items.p, t->items.len);
    buffer_char(out, ']');
    buffer_add(out, t->echo.p, t->echo.len);
    buffer_format(out, ",\"usage\":");
    if (e)
        add_usage(e, out);
    else
        buffer_format(out, "null");
    buffer_char(out, '}');
}

/* An event with the response; its status is the event's name. */
static void
send_response(struct translation *t, const char *status,
              const struct translate_end *e, struct buffer *out)
{
    char name[40];

    snprintf(name, sizeof(name), "response.%s", status);
    begin_event(t, name, out);
    buffer_format(out, ",\"response\":");
    add_response(t, status, e, out);
    end_event(out);
}

static void
start(struct translation *t, struct buffer *out)
{
    begin_event(t, "response.created", out);
    buffer_format(out, ",\"response\":");
    add_response(t, "in_progress", NULL, out);
    end_event(out);
    send_response(t, "in_progress", NULL, out);
}

static void
end(struct translation *t, const struct record_value *record,
    struct buffer *out)
{
    struct translate_end e = parts_end(t, record->json);
    const char *status =
        strcmp(e.reason, "length") == 0 ? "incomplete" : "completed";

    parts_close(t, out);
    if (t->stream)
        send_response(t, status, &e, out);
    else
        add_response(t, status, &e, out);
}

/* The response ends as a failed one; libraries raise what an event "error"
 * says. */
static void
fail(struct translation *t, struct buffer *out)
{
    struct buffer error = { 0 };

    send_response(t, "failed", NULL, out);
    begin_event(t, "error", out);
    translate_add_error(t, &error);
    buffer_format(out, ",\"code\":");
    translate_add_string(out, *t->code ? t->code : "server_error");
    buffer_format(out, ",\"message\":");
    translate_add_string(out, t->message);
    buffer_format(out, ",\"param\":null,");
    buffer_add(out, error.p + 1, error.len - 2);
    end_event(out);
    buffer_clear(&error);
}

const struct translate_row translate_responses_row = {
    .url = "/v1/chat/completions",
    .read = responses_read,
    .whole = parts_whole,
    .start = start,
    .delta = parts_delta,
    .end = end,
    .fail = fail,
    .open = open_item,
    .piece = send_piece,
    .close = close_item,
};

#endif
