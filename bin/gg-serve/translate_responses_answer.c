/* translate_responses_answer.c - answers of /v1/responses */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- items ---- */

static bool
is_text_call(const struct translate_part *p)
{
    return p->kind == PART_CALL && p->tool && p->tool->is_text;
}

static void
put_item_id(const struct translation *t, struct buffer *out)
{
    static const char *const names[] = {
        [PART_REASONING] = "rs", [PART_TEXT] = "msg", [PART_CALL] = "fc"
    };

    translate_put(out, "'%s_%s_%z'",
                  is_text_call(&t->part) ? "ctc" : names[t->part.kind],
                  t->with.unique, t->n_items);
}

/* The text of a tool of text, which a model may have written without its
 * object. */
static void
put_input(const struct buffer *arguments, struct buffer *out)
{
    struct record_value value = { 0 };
    const json_t *text = NULL;
    struct gg_error err;

    if (arguments->len &&
        record_value_read(arguments->p, arguments->len, &value, &err) == GG_OK)
        text = json_object_get(value.json, TRANSLATE_INPUT);
    if (json_is_string(text))
        translate_add_json_string(out, text);
    else
        translate_put(out, "%b", arguments);
    record_value_clear(&value);
}

/* The part of a message, or of reasoning. */
static void
put_content(const struct translate_part *p, struct buffer *out)
{
    if (p->kind == PART_TEXT)
        translate_put(out,
                      "{'type':'output_text','text':%b,'annotations':[],"
                      "'logprobs':[%r]}",
                      &p->text, &p->logprobs);
    else
        translate_put(out, "{'type':'reasoning_text','text':%b}", &p->text);
}

static void
item_call(const struct translate_part *p, bool done, struct buffer *out)
{
    const struct translate_tool *tool = p->tool;
    bool is_text = is_text_call(p);

    translate_put(out, ",'type':'%s','call_id':%b,'name':",
                  is_text ? "custom_tool_call" : "function_call", &p->id);
    if (tool)
        translate_put(out, tool->space ? "%q,'namespace':%q" : "%q", tool->name,
                      tool->space);
    else
        translate_put(out, "%b", &p->name);
    translate_put(out, is_text ? ",'input':" : ",'arguments':");
    if (is_text && done)
        put_input(&p->text, out);
    else
        translate_put(out, "%b", &p->text);
}

/* Where it begins, its texts are empty, and a message has no part yet. */
static void
put_item(const struct translation *t, bool done, struct buffer *out)
{
    const struct translate_part *p = &t->part;

    translate_put(out, "{'id':");
    put_item_id(t, out);
    if (p->kind == PART_CALL) {
        item_call(p, done, out);
    } else {
        translate_put(out, p->kind == PART_TEXT
                               ? ",'type':'message','role':'assistant',"
                                 "'content':["
                               : ",'type':'reasoning','summary':[],"
                                 "'content':[");
        if (done)
            put_content(p, out);
        buffer_char(out, ']');
    }
    translate_put(out, ",'status':'%s'}", done ? "completed" : "in_progress");
}

/* ---- events ---- */

static void
begin_event(struct translation *t, const char *name, const char *what,
            struct buffer *out)
{
    translate_put(out,
                  "event: response.%s%s\ndata: {'type':'response.%s%s',"
                  "'sequence_number':%z",
                  name, what, name, what, t->sequence++);
}

/* An event about a part of the item. */
static void
begin_about(struct translation *t, const char *name, const char *what,
            struct buffer *out)
{
    begin_event(t, name, what, out);
    translate_put(out, ",'output_index':%z,'item_id':", t->n_items);
    put_item_id(t, out);
    translate_put(out, t->part.kind == PART_CALL ? "" : ",'content_index':0");
}

static void
send_item(struct translation *t, bool done, struct buffer *out)
{
    begin_event(t, "output_item.", done ? "done" : "added", out);
    translate_put(out, ",'output_index':%z,'item':", t->n_items);
    put_item(t, done, out);
    translate_put(out, "}\n\n");
}

static void
send_content(struct translation *t, const char *what, struct buffer *out)
{
    if (t->part.kind == PART_CALL)
        return;
    begin_about(t, "content_part.", what, out);
    translate_put(out, ",'part':");
    put_content(&t->part, out);
    translate_put(out, "}\n\n");
}

static void
open_item(struct translation *t, struct buffer *out)
{
    send_item(t, false, out);
    send_content(t, "added", out);
}

static void
begin_text(struct translation *t, const char *what, struct buffer *out)
{
    static const char *const names[] = {
        [PART_REASONING] = "reasoning_text.",
        [PART_TEXT] = "output_text.",
        [PART_CALL] = "function_call_arguments.",
    };

    begin_about(t,
                is_text_call(&t->part) ? "custom_tool_call_input."
                                       : names[t->part.kind],
                what, out);
}

/* A text in an object is told when it is whole. */
static void
send_text_piece(struct translation *t, const char *text, size_t len,
                const struct record_value *logprobs, struct buffer *out)
{
    struct record_value list = { 0 };

    if (is_text_call(&t->part))
        return;
    begin_text(t, "delta", out);
    translate_put(out, ",'delta':");
    cli_json_add(out, text, len);
    if (logprobs)
        record_value_find(logprobs, "content", &list);
    if (t->part.kind == PART_TEXT)
        translate_put(
            out, json_is_array(list.json) ? ",'logprobs':%v" : ",'logprobs':[]",
            &list);
    translate_put(out, "}\n\n");
}

static void
send_done(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;

    if (is_text_call(p)) {
        begin_text(t, "delta", out);
        translate_put(out, ",'delta':");
        put_input(&p->text, out);
        translate_put(out, "}\n\n");
    }
    begin_text(t, "done", out);
    if (is_text_call(p)) {
        translate_put(out, ",'input':");
        put_input(&p->text, out);
    } else if (p->kind == PART_CALL) {
        translate_put(out, p->tool ? ",'name':%q" : ",'name':%b",
                      p->tool ? (const void *)p->tool->name : &p->name);
        translate_put(out, ",'arguments':%b", &p->text);
    } else {
        translate_put(out, ",'text':%b", &p->text);
    }
    if (p->kind == PART_TEXT)
        translate_put(out, ",'logprobs':[%r]", &p->logprobs);
    translate_put(out, "}\n\n");
}

static void
close_item(struct translation *t, struct buffer *out)
{
    translate_put(&t->items, t->items.len ? "," : "");
    put_item(t, true, &t->items);
    if (!t->stream)
        return;
    send_done(t, out);
    send_content(t, "done", out);
    send_item(t, true, out);
}

/* ---- the response ---- */

/* Clients know a few codes. */
static const char *
error_code(const struct translation *t)
{
    static const char full[] = "context_length_exceeded";

    if (strcmp(t->code, full) == 0)
        return full;
    return t->status == 429 ? "rate_limit_exceeded" : "server_error";
}

static bool
is_cut(const struct translate_end *e)
{
    return e && strcmp(e->reason, "length") == 0;
}

/* `e` is how it ended; NULL: it has not, or badly. */
static void
put_response(const struct translation *t, const char *status,
             const struct translate_end *e, struct buffer *out)
{
    translate_put(out,
                  "{'id':'resp_%s','object':'response','created_at':%n,"
                  "'status':'%s','background':false,'error':",
                  t->with.unique, (double)t->with.date, status);
    translate_put(out, t->status == 200 ? "null" : "{'code':%q,'message':%q}",
                  error_code(t), t->message);
    translate_put(out, ",'incomplete_details':");
    translate_put(out, is_cut(e) ? "{'reason':'max_output_tokens'}" : "null");
    translate_put(out, ",'model':");
    translate_add_model(t, out);
    translate_add_warnings(t, out);
    translate_put(out,
                  ",'previous_response_id':null,'store':false,'truncation':"
                  "'disabled','output':[%r]%r,'usage':",
                  &t->items, &t->echo);
    if (e)
        translate_put(out,
                      "{'input_tokens':%n,'input_tokens_details':{"
                      "'cached_tokens':%n,'cache_write_tokens':0},"
                      "'output_tokens':%n,'output_tokens_details':{"
                      "'reasoning_tokens':%n},'total_tokens':%n}}",
                      e->prompt, e->cached, e->made, e->thought,
                      e->prompt + e->made);
    else
        translate_put(out, "null}");
}

/* An event with the response; its status is the event's name. */
static void
send_response(struct translation *t, const char *name, const char *status,
              const struct translate_end *e, struct buffer *out)
{
    begin_event(t, name, "", out);
    translate_put(out, ",'response':");
    put_response(t, status, e, out);
    translate_put(out, "}\n\n");
}

static void
send_start(struct translation *t, struct buffer *out)
{
    send_response(t, "created", "in_progress", NULL, out);
    send_response(t, "in_progress", "in_progress", NULL, out);
}

static void
send_response_end(struct translation *t, const struct record_value *record,
                  struct buffer *out)
{
    struct translate_end e = parts_end(t, record->json);
    const char *status = is_cut(&e) ? "incomplete" : "completed";

    parts_close(t, out);
    if (t->stream)
        send_response(t, status, status, &e, out);
    else
        put_response(t, status, &e, out);
}

/* The response ends as a failed one; libraries raise what an event "error"
 * says. */
static void
send_failure(struct translation *t, struct buffer *out)
{
    struct buffer error = { 0 };

    send_response(t, "failed", "failed", NULL, out);
    translate_add_error(t, &error);
    error.len--; /* its brace */
    translate_put(out,
                  "event: error\ndata: %r,'type':'error','sequence_number':%z,"
                  "'code':%q,'message':%q,'param':null}\n\n",
                  &error, t->sequence++, error_code(t), t->message);
    buffer_clear(&error);
}

const struct translate_row translate_responses_row = {
    .url = "/v1/chat/completions",
    .read = translate_responses_read,
    .whole = parts_whole,
    .start = send_start,
    .delta = parts_delta,
    .end = send_response_end,
    .fail = send_failure,
    .open = open_item,
    .piece = send_text_piece,
    .close = close_item,
};

#endif
