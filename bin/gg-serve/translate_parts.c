/* translate_parts.c - answers in parts: thoughts, text, calls
 *
 * A whole answer goes the way of a stream's, but sends no events. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

enum {
    MOST_TEXT = 64 << 20, /* bytes of an answer */
};

void
parts_close(struct translation *t, struct buffer *out)
{
    struct translate_part *p = &t->part;

    if (p->kind == PART_NONE)
        return;
    t->api->row->close(t, out);
    p->kind = PART_NONE;
    p->tool = NULL;
    p->id.len = p->name.len = p->text.len = p->logprobs.len = 0;
    t->n_items++;
}

void
parts_open(struct translation *t, int kind, struct buffer *out)
{
    parts_close(t, out);
    t->part.kind = kind;
    if (kind != PART_CALL && t->stream)
        t->api->row->open(t, out);
}

/* The list of a chat's choice goes on. */
static void
keep_logprobs(struct buffer *to, const struct record_value *logprobs)
{
    struct record_value list;

    if (!logprobs || !record_value_find(logprobs, "content", &list) ||
        json_array_size(list.json) == 0)
        return;
    if (to->len)
        buffer_char(to, ',');
    buffer_add(to, list.text + 1, list.len - 2);
}

static void
pass_piece(struct translation *t, const json_t *text,
           const struct record_value *logprobs, struct buffer *out)
{
    const char *s = json_string_value(text);
    size_t len = json_string_length(text);

    if (len == 0)
        return;
    if (t->part.text.len + t->items.len + len > MOST_TEXT) {
        translate_refuse(t, 500, NULL, "the answer is too long");
        return;
    }
    buffer_add(&t->part.text, s, len);
    keep_logprobs(&t->part.logprobs, logprobs);
    if (t->stream)
        t->api->row->piece(t, s, len, logprobs, out);
}

static void
continue_part(struct translation *t, int kind, const json_t *text,
              const struct record_value *logprobs, struct buffer *out)
{
    if (json_string_length(text) == 0)
        return;
    if ((int)t->part.kind != kind)
        parts_open(t, kind, out);
    pass_piece(t, text, logprobs, out);
}

/* ---- calls ---- */

static const struct translate_tool *
find_name(const struct translation *t, const char *flat)
{
    for (size_t i = 0; i < t->n_tools; i++)
        if (strcmp(t->tools[i].flat, flat) == 0)
            return &t->tools[i];
    return NULL;
}

static void
keep_string(struct buffer *to, const json_t *string)
{
    to->len = 0;
    buffer_add(to, json_string_value(string), json_string_length(string));
}

static void
open_call(struct translation *t, size_t index, const json_t *call,
          const json_t *from, struct buffer *out)
{
    struct translate_part *p = &t->part;
    const json_t *id = json_object_get(call, "id");
    const json_t *name = json_object_get(from, "name");

    if (!cli_json_text(id) || !cli_json_text(name) ||
        t->n_items >= TRANSLATE_MOST_CALLS) {
        translate_refuse(t, 500, NULL,
                         "the engine made a call without id and name, or too "
                         "many calls");
        return;
    }
    parts_open(t, PART_CALL, out);
    p->call = index;
    keep_string(&p->id, id);
    keep_string(&p->name, name);
    p->tool = find_name(t, cli_json_text(name));
    if (t->stream)
        t->api->row->open(t, out);
}

/* A piece of a call, of which the first has id and name. */
static void
take_call(struct translation *t, double index, const json_t *call,
          struct buffer *out)
{
    const json_t *function = json_object_get(call, "function");
    const json_t *from = function ? function : call;

    if (!(index >= 0 && index < TRANSLATE_MOST_CALLS)) {
        translate_refuse(t, 500, NULL, "the engine made too many calls");
        return;
    }
    if (t->part.kind != PART_CALL || t->part.call != (size_t)index)
        open_call(t, (size_t)index, call, from, out);
    if (t->status == 200)
        pass_piece(t, json_object_get(from, "arguments"), NULL, out);
}

/* In a whole answer a call's index is its place. */
static void
take_message(struct translation *t, const json_t *message,
             const struct record_value *logprobs, struct buffer *out)
{
    const json_t *calls = json_object_get(message, "tool_calls");

    if (!t->hides_thoughts)
        continue_part(t, PART_REASONING,
                      json_object_get(message, "reasoning_content"), NULL, out);
    continue_part(t, PART_TEXT, json_object_get(message, "content"), logprobs,
                  out);
    for (size_t i = 0; i < json_array_size(calls) && t->status == 200; i++) {
        const json_t *call = json_array_get(calls, i);
        const json_t *index = json_object_get(call, "index");

        take_call(t, index ? json_number_value(index) : (double)i, call, out);
    }
}

/* ---- answers ---- */

void
parts_delta(struct translation *t, const struct record_value *record,
            struct buffer *out)
{
    struct record_value logprobs;

    record_value_find(record, "logprobs", &logprobs);
    if (translate_number(record->json, "index") == 0)
        take_message(t, json_object_get(record->json, "delta"), &logprobs, out);
}

void
parts_whole(struct translation *t, const struct record_value *body,
            struct buffer *out)
{
    struct record_value choices, choice, logprobs;
    struct record_items items;

    record_value_find(body, "choices", &choices);
    record_items_open(&choices, &items);
    record_items_next(&items, &choice);
    record_value_find(&choice, "logprobs", &logprobs);
    take_message(t, json_object_get(choice.json, "message"), &logprobs, out);
    if (t->status == 200)
        t->api->row->end(t, body, out);
}

/* Numbers of ids that can be written. */
static double
count_of(const json_t *object, const char *name, double otherwise)
{
    const json_t *v = json_object_get(object, name);
    double n = v ? json_number_value(v) : otherwise;

    return n >= 0 && n <= 9007199254740991 ? n : 0;
}

struct translate_end
parts_end(const struct translation *t, const json_t *record)
{
    const json_t *ends = json_object_get(record, "end");
    const json_t *usage = json_object_get(record, "usage");
    const json_t *details = json_object_get(usage, "prompt_tokens_details");
    const json_t *end =
        json_array_get(ends ? ends : json_object_get(record, "choices"), 0);
    struct translate_end e = {
        .reason = translate_text(end, "finish_reason"),
        .stop = translate_text(end, "stop"),
        .prompt = count_of(usage, "prompt_tokens", t->prompt_ids),
        .made = count_of(usage, "completion_tokens", 0),
        .thought = count_of(json_object_get(usage, "completion_tokens_details"),
                            "reasoning_tokens", 0),
        .cached = count_of(details, "cached_tokens", t->cached_ids),
    };

    e.cached = e.cached < e.prompt ? e.cached : e.prompt;
    return e;
}

#endif
