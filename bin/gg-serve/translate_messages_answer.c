/* translate_messages_answer.c - answers of /v1/messages, whole and in events */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_messages.h"

/* ---- parts ---- */

static const char *const block_types[] = {
    [PART_REASONING] = "thinking",
    [PART_TEXT] = "text",
    [PART_CALL] = "tool_use",
};

/* A call's id and name. */
static void
add_use(const struct translate_part *p, struct buffer *out)
{
    buffer_format(out, ",\"id\":");
    cli_json_add(out, p->id.p, p->id.len);
    buffer_format(out, ",\"name\":");
    cli_json_add(out, p->name.p, p->name.len);
}

static void
begin_block(struct translation *t, const char *event, struct buffer *out)
{
    translate_begin_event(out, event);
    buffer_format(out, "{\"type\":\"%s\",\"index\":%zu", event, t->n_items);
}

static void
end_block(struct buffer *out)
{
    buffer_char(out, '}');
    translate_end_event(out);
}

static void
open_block(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;

    begin_block(t, "content_block_start", out);
    buffer_format(out, ",\"content_block\":{\"type\":\"%s\"",
                  block_types[p->kind]);
    if (p->kind == PART_CALL)
        add_use(p, out);
    buffer_format(out, p->kind == PART_CALL ? ",\"input\":{}"
                       : p->kind == PART_TEXT
                           ? ",\"text\":\"\""
                           : ",\"thinking\":\"\",\"signature\":\"\"");
    buffer_char(out, '}');
    end_block(out);
}

static void
add_piece(struct translation *t, const char *text, size_t len,
          const struct record_value *logprobs, struct buffer *out)
{
    static const char *const deltas[] = {
        [PART_REASONING] = "\"thinking_delta\",\"thinking\"",
        [PART_TEXT] = "\"text_delta\",\"text\"",
        [PART_CALL] = "\"input_json_delta\",\"partial_json\"",
    };

    (void)logprobs;
    begin_block(t, "content_block_delta", out);
    buffer_format(out, ",\"delta\":{\"type\":%s:", deltas[t->part.kind]);
    cli_json_add(out, text, len);
    buffer_char(out, '}');
    end_block(out);
}

/* The arguments of a call, which a model may have written in a form that is no
 * object of JSON. */
static void
add_input(const struct buffer *text, struct buffer *out)
{
    struct record_value value;
    struct gg_error err;

    if (text->len &&
        record_value_read(text->p, text->len, &value, &err) == GG_OK) {
        translate_add_value(out, &value);
        record_value_clear(&value);
        return;
    }
    buffer_char(out, '{');
    if (text->len) {
        buffer_format(out, "\"input\":");
        cli_json_add(out, text->p, text->len);
    }
    buffer_char(out, '}');
}

static void
close_block(struct translation *t, struct buffer *out)
{
    const struct translate_part *p = &t->part;
    struct buffer *to = &t->items;

    if (t->stream) {
        begin_block(t, "content_block_stop", out);
        end_block(out);
        return; /* a stream has no whole */
    }
    buffer_format(to, "%s{\"type\":\"%s\"", to->len ? "," : "",
                  block_types[p->kind]);
    if (p->kind == PART_CALL) {
        add_use(p, to);
        buffer_format(to, ",\"input\":");
        add_input(&p->text, to);
    } else {
        buffer_format(to, p->kind == PART_TEXT
                              ? ",\"text\":"
                              : ",\"signature\":\"\",\"thinking\":");
        cli_json_add(to, p->text.p, p->text.len);
    }
    buffer_char(to, '}');
}

/* ---- the message ---- */

static void
add_usage(double prompt, double cached, double made, struct buffer *out)
{
    buffer_format(out,
                  "\"usage\":{\"input_tokens\":%.0f,"
                  "\"cache_creation_input_tokens\":0,"
                  "\"cache_read_input_tokens\":%.0f,\"output_tokens\":%.0f}",
                  prompt - cached, cached, made);
}

static void
add_stop(const struct translate_end *e, struct buffer *out)
{
    const char *reason = strcmp(e->reason, "length") == 0       ? "max_tokens"
                         : strcmp(e->reason, "tool_calls") == 0 ? "tool_use"
                         : *e->stop ? "stop_sequence"
                                    : "end_turn";

    buffer_format(out, "\"stop_reason\":\"%s\",\"stop_sequence\":", reason);
    if (*e->stop)
        translate_add_string(out, e->stop);
    else
        buffer_format(out, "null");
}

static void
begin_message(const struct translation *t, struct buffer *out)
{
    buffer_format(out,
                  "{\"id\":\"msg_%s\",\"type\":\"message\",\"role\":"
                  "\"assistant\",\"model\":",
                  t->with.unique);
    translate_add_model(t, out);
    translate_add_warnings(t, out);
    buffer_format(out, ",\"content\":[");
}

static void
start(struct translation *t, struct buffer *out)
{
    translate_begin_event(out, "message_start");
    buffer_format(out, "{\"type\":\"message_start\",\"message\":");
    begin_message(t, out);
    buffer_format(out, "],\"stop_reason\":null,\"stop_sequence\":null,");
    add_usage(t->prompt_ids, t->cached_ids, 0, out);
    buffer_format(out, "}}");
    translate_end_event(out);
}

static void
end_stream(struct translation *t, const struct translate_end *e,
           struct buffer *out)
{
    translate_begin_event(out, "message_delta");
    buffer_format(out, "{\"type\":\"message_delta\",\"delta\":{");
    add_stop(e, out);
    buffer_format(out, "},");
    add_usage(e->prompt, e->cached, e->made, out);
    buffer_char(out, '}');
    translate_end_event(out);
    translate_begin_event(out, "message_stop");
    buffer_format(out, "{\"type\":\"message_stop\"}");
    translate_end_event(out);
    (void)t;
}

/* Clients look at the first block, so that there is one. */
static void
end(struct translation *t, const struct record_value *record,
    struct buffer *out)
{
    struct translate_end e = parts_end(t, record->json);

    if (t->part.kind == PART_NONE && t->n_items == 0) {
        t->part.kind = PART_TEXT;
        if (t->stream)
            open_block(t, out);
    }
    parts_close(t, out);
    if (t->stream) {
        end_stream(t, &e, out);
        return;
    }
    begin_message(t, out);
    buffer_add(out, t->items.p, t->items.len);
    buffer_format(out, "],");
    add_stop(&e, out);
    buffer_char(out, ',');
    add_usage(e.prompt, e.cached, e.made, out);
    buffer_char(out, '}');
}

static void
fail(struct translation *t, struct buffer *out)
{
    translate_begin_event(out, "error");
    translate_add_error(t, out);
    translate_end_event(out);
}

const struct translate_row translate_messages_row = {
    .url = "/v1/chat/completions",
    .anthropic = true,
    .read = messages_read,
    .whole = parts_whole,
    .start = start,
    .delta = parts_delta,
    .end = end,
    .fail = fail,
    .ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n",
    .open = open_block,
    .piece = add_piece,
    .close = close_block,
};

/* ---- the length of a prompt ---- */

static void
add_count(struct translation *t, const struct record_value *record,
          struct buffer *out)
{
    const json_t *ids = json_object_get(record->json, "prompt_tokens");
    double n = json_number_value(ids);

    if (!json_is_number(ids) || !(n >= 0 && n < 1e15))
        translate_refuse(t, 500, NULL, "the engine gave no number");
    else
        buffer_format(out, "{\"input_tokens\":%.0f}", n);
}

const struct translate_row translate_count_row = {
    .verb = "count",
    .anthropic = true,
    .read = messages_read,
    .whole = add_count,
};

#endif
