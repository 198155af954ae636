/* translate_messages_answer.c - answers of /v1/messages, whole and in events */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- blocks ---- */

/* An event about the block, up to its own members. */
static void
begin_block(struct translation *t, const char *event, struct buffer *out)
{
    translate_put(out, "event: %s\ndata: {'type':'%s','index':%z", event, event,
                  t->n_items);
}

static void
open_block(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;

    begin_block(t, "content_block_start", out);
    if (p->kind == PART_CALL)
        translate_put(out,
                      ",'content_block':{'type':'tool_use','id':%b,'name':%b,"
                      "'input':{}}}\n\n",
                      &p->id, &p->name);
    else
        translate_put(out, p->kind == PART_TEXT
                               ? ",'content_block':{'type':'text','text':''}}"
                                 "\n\n"
                               : ",'content_block':{'type':'thinking',"
                                 "'thinking':'','signature':''}}\n\n");
}

static void
send_block_piece(struct translation *t, const char *text, size_t len,
                 const struct record_value *logprobs, struct buffer *out)
{
    static const char *const deltas[] = {
        [PART_REASONING] = "'thinking_delta','thinking'",
        [PART_TEXT] = "'text_delta','text'",
        [PART_CALL] = "'input_json_delta','partial_json'",
    };

    (void)logprobs;
    begin_block(t, "content_block_delta", out);
    translate_put(out, ",'delta':{'type':");
    translate_put(out, deltas[t->part.kind]);
    buffer_char(out, ':');
    cli_json_add(out, text, len);
    translate_put(out, "}}\n\n");
}

/* The arguments of a call, which a model may have written in a form that is no
 * object of JSON. */
static void
put_use_input(const struct buffer *text, struct buffer *out)
{
    struct record_value value;
    struct gg_error err;

    if (text->len == 0) {
        translate_put(out, "{}");
    } else if (record_value_read(text->p, text->len, &value, &err) == GG_OK) {
        translate_add_value(out, &value);
        record_value_clear(&value);
    } else {
        translate_put(out, "{'" TRANSLATE_INPUT "':%b}", text);
    }
}

static void
close_block(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;
    struct buffer *to = &t->items;

    if (t->stream) {
        begin_block(t, "content_block_stop", out);
        translate_put(out, "}\n\n");
        return; /* a stream has no whole */
    }
    translate_put(to, to->len ? "," : "");
    if (p->kind == PART_CALL) {
        translate_put(to,
                      "{'type':'tool_use','id':%b,'name':%b,'input':", &p->id,
                      &p->name);
        put_use_input(&p->text, to);
        buffer_char(to, '}');
    } else {
        translate_put(to,
                      p->kind == PART_TEXT
                          ? "{'type':'text','text':%b}"
                          : "{'type':'thinking','signature':'',"
                            "'thinking':%b}",
                      &p->text);
    }
}

/* ---- the message ---- */

static void
put_usage(double prompt, double cached, double made, struct buffer *out)
{
    translate_put(out,
                  "'usage':{'input_tokens':%n,'cache_creation_input_tokens':0,"
                  "'cache_read_input_tokens':%n,'output_tokens':%n}",
                  prompt - cached, cached, made);
}

static void
put_stop(const struct translate_end *e, struct buffer *out)
{
    const char *reason = strcmp(e->reason, "length") == 0       ? "max_tokens"
                         : strcmp(e->reason, "tool_calls") == 0 ? "tool_use"
                         : *e->stop ? "stop_sequence"
                                    : "end_turn";

    translate_put(out, "'stop_reason':'%s',", reason);
    translate_put(out, *e->stop ? "'stop_sequence':%q" : "'stop_sequence':null",
                  e->stop);
}

static void
begin_message(const struct translation *t, struct buffer *out)
{
    translate_put(out,
                  "{'id':'msg_%s','type':'message','role':'assistant',"
                  "'model':",
                  t->with.unique);
    translate_add_model(t, out);
    translate_add_warnings(t, out);
    translate_put(out, ",'content':[");
}

static void
send_message_start(struct translation *t, struct buffer *out)
{
    translate_put(out, "event: message_start\ndata: {'type':'message_start',"
                       "'message':");
    begin_message(t, out);
    translate_put(out, "],'stop_reason':null,'stop_sequence':null,");
    put_usage(t->prompt_ids, t->cached_ids, 0, out);
    translate_put(out, "}}\n\n");
}

/* Clients look at the first block, so that there is one. */
static void
put_message_end(struct translation *t, const struct record_value *record,
                struct buffer *out)
{
    struct translate_end e = parts_end(t, record->json);

    if (t->part.kind == PART_NONE && t->n_items == 0)
        parts_open(t, PART_TEXT, out);
    parts_close(t, out);
    if (t->stream) {
        translate_put(out, "event: message_delta\ndata: {'type':"
                           "'message_delta','delta':{");
        put_stop(&e, out);
        translate_put(out, "},");
    } else {
        begin_message(t, out);
        translate_put(out, "%r],", &t->items);
        put_stop(&e, out);
        buffer_char(out, ',');
    }
    put_usage(e.prompt, e.cached, e.made, out);
    translate_put(out, t->stream ? "}\n\nevent: message_stop\ndata: {'type':"
                                   "'message_stop'}\n\n"
                                 : "}");
}

static void
send_error_event(struct translation *t, struct buffer *out)
{
    translate_put(out, "event: error\ndata: ");
    translate_add_error(t, out);
    translate_put(out, "\n\n");
}

const struct translate_row translate_messages_row = {
    .url = "/v1/chat/completions",
    .anthropic = true,
    .read = translate_messages_read,
    .whole = parts_whole,
    .start = send_message_start,
    .delta = parts_delta,
    .end = put_message_end,
    .fail = send_error_event,
    .ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    .open = open_block,
    .piece = send_block_piece,
    .close = close_block,
};

#endif
