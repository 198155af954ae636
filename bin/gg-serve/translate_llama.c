/* translate_llama.c - /completion and /infill, llama.cpp's own interfaces: its
 * names for members of /v1/completions, and its form of answers */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "gg-serve/translate_impl.h"

/* ---- requests ---- */

/* An object in the place of a prompt has it, and media, which are none here. */
static void
read_llama_prompt(struct translation *t, const struct record_value *v)
{
    const json_t *media = json_object_get(v->json, "multimodal_data");
    struct record_value text;

    if (json_is_string(media) || json_array_size(media))
        translate_refuse(t, 400, "prompt",
                         "multimodal_data: a chat alone has media");
    else if (record_value_find(v, "prompt_string", &text))
        translate_set(t, "prompt", &text);
    else
        translate_set(t, "prompt", v);
}

static void
read_probabilities(struct translation *t, const struct record_value *v)
{
    t->logprobs = json_number_value(v->json) > 0;
    if (t->logprobs)
        translate_set(t, "logprobs", v);
}

static const struct translate_member members[] = {
    { "prompt", read_llama_prompt },
    { "n_probs", read_probabilities },
    { 0 },
};

static void
read_completion(struct translation *t, const struct record_object *body)
{
    translate_read_members(t, body, members);
}

/* ---- a gap between two texts ---- */

static const struct translate_member gap_members[] = {
    { "prompt|input_prefix|input_suffix|input_extra", NULL }, /* read before */
    { "n_probs", read_probabilities },
    { 0 },
};

/* Adds a string of JSON without its quotes. */
static void
add_inside(struct translation *t, const struct record_value *of,
           const char *name)
{
    struct record_value v;

    if (!record_value_find(of, name, &v) || json_is_null(v.json))
        return;
    if (!json_is_string(v.json))
        translate_refuse(t, 400, name, "%s: not a string", name);
    else
        buffer_add(&t->body, v.text + 1, v.len - 2);
}

/* Files that a client shows first. */
static void
add_shown_files(struct translation *t, const struct record_value *extra)
{
    struct record_items items;
    struct record_value file, text;

    if (!json_is_array(extra->json))
        translate_refuse(t, 400, "input_extra", "input_extra: not an array");
    record_items_open(extra, &items);
    while (t->status == 200 && record_items_next(&items, &file)) {
        if (!record_value_find(&file, "text", &text))
            translate_refuse(t, 400, "input_extra",
                             "input_extra: one without a text");
        translate_put(&t->body, "--- ");
        add_inside(t, &file, "filename");
        translate_put(&t->body, "\\n");
        add_inside(t, &file, "text");
        translate_put(&t->body, "\\n");
    }
}

static void
read_gap(struct translation *t, const struct record_object *body)
{
    const struct record_value *extra = record_object_find(body, "input_extra");

    translate_put(&t->body, ",'prompt':'");
    if (extra && !json_is_null(extra->json))
        add_shown_files(t, extra);
    add_inside(t, &body->value, "input_prefix");
    add_inside(t, &body->value, "prompt");
    translate_put(&t->body, "','suffix':'");
    add_inside(t, &body->value, "input_suffix");
    translate_put(&t->body, "'");
    translate_read_members(t, body, gap_members);
}

/* ---- answers ---- */

/* Milliseconds that `n` ids took; none where nobody measured. */
static void
add_llama_speed(const char *what, double n, const json_t *ms,
                struct buffer *out)
{
    double all = json_number_value(ms);

    translate_put(out, ",'%s_n':%n", what, n);
    if (!json_is_number(ms) || !(all >= 0 && all < 1e15))
        return;
    translate_put(out, ",'%s_ms':", what);
    buffer_format(out, "%.3f", all);
    translate_put(out, ",'%s_per_token_ms':", what);
    buffer_format(out, "%.3f", n > 0 ? all / n : 0);
    translate_put(out, ",'%s_per_second':", what);
    buffer_format(out, "%.3f", all > 0 ? n * 1000 / all : 0);
}

void
translate_add_timings(const struct translation *t, const json_t *record,
                      struct buffer *out)
{
    const json_t *timings = json_object_get(record, "timings");
    struct translate_end e = parts_end(t, record);

    translate_put(out, ",'timings':{'cache_n':%n", e.cached);
    add_llama_speed("prompt", e.prompt - e.cached,
                    json_object_get(timings, "prompt_ms"), out);
    add_llama_speed("predicted", e.made, json_object_get(timings, "decode_ms"),
                    out);
    buffer_char(out, '}');
}

/* Probabilities of the ids that a piece of text has. */
static void
add_probabilities(const struct record_value *from, struct buffer *out)
{
    const json_t *all = json_object_get(from->json, "logprobs");
    const json_t *texts = json_object_get(all, "tokens");
    const json_t *logs = json_object_get(all, "token_logprobs");
    const json_t *tops = json_object_get(all, "top_logprobs");

    translate_put(out, ",'completion_probabilities':[");
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *sign = "", *name;
        json_t *x;

        translate_put(out, "%s{'token':%j,'logprob':", i ? "," : "",
                      json_array_get(texts, i));
        buffer_format(out, "%.6f", json_number_value(json_array_get(logs, i)));
        translate_put(out, ",'top_logprobs':[");
        json_object_foreach(json_array_get(tops, i), name, x)
        {
            translate_put(out, "%s{'token':%q,'logprob':", sign, name);
            buffer_format(out, "%.6f}", json_number_value(x));
            sign = ",";
        }
        translate_put(out, "]}");
    }
    buffer_char(out, ']');
}

/* Members of an answer that has ended but for its text; `record` is NULL where
 * it is one of several, whose ids are not counted apart. */
static void
add_llama_end(struct translation *t, const json_t *choice, const json_t *record,
              struct buffer *out)
{
    const char *reason = translate_text(choice, "finish_reason");
    const char *stop = translate_text(choice, "stop");
    struct translate_end e = parts_end(t, record);

    translate_put(out, ",'tokens':[],'stop':true,'id_slot':-1,'model':");
    translate_add_model(t, out);
    translate_put(out, ",'truncated':false,'stop_type':'%s','stopping_word':%q",
                  strcmp(reason, "length") == 0 ? "limit"
                  : *stop                       ? "word"
                                                : "eos",
                  stop);
    if (!record)
        return;
    translate_put(out,
                  ",'tokens_predicted':%n,'tokens_evaluated':%n,"
                  "'tokens_cached':%n",
                  e.made, e.prompt, e.prompt + e.made);
    translate_add_timings(t, record, out);
}

static void
add_llama_answer(struct translation *t, const struct record_value *choice,
                 const json_t *record, struct buffer *out)
{
    const json_t *text = json_object_get(choice->json, "text");

    translate_put(out, "{'index':%n,'content':%j,'has_new_line':%s",
                  translate_number(choice->json, "index"), text,
                  memchr(json_is_string(text) ? json_string_value(text) : "",
                         '\n', json_string_length(text))
                      ? "true"
                      : "false");
    add_llama_end(t, choice->json, record, out);
    if (t->logprobs)
        add_probabilities(choice, out);
    buffer_char(out, '}');
}

/* Several prompts have a list of answers. */
static void
put_completion(struct translation *t, const struct record_value *body,
               struct buffer *out)
{
    struct record_value choices, choice;
    struct record_items items;
    size_t n, i = 0;

    record_value_find(body, "choices", &choices);
    n = json_array_size(choices.json);
    if (n == 0) {
        translate_refuse(t, 500, NULL, "the engine gave no answer");
        return;
    }
    record_items_open(&choices, &items);
    translate_put(out, n > 1 ? "[" : "");
    while (record_items_next(&items, &choice)) {
        translate_put(out, i++ ? "," : "");
        add_llama_answer(t, &choice, n > 1 ? NULL : body->json, out);
    }
    translate_put(out, n > 1 ? "]" : "");
}

/* ---- streams ---- */

static void
begin_completion(struct translation *t, struct buffer *out)
{
    (void)t, (void)out; /* there is no event for it */
}

static void
send_completion(struct translation *t, const struct record_value *record,
                struct buffer *out)
{
    const json_t *delta = json_object_get(record->json, "delta");
    const json_t *text = json_object_get(delta, "content");

    if (json_string_length(text) == 0)
        return;
    translate_put(out,
                  "data: {'index':%n,'content':%j,'tokens':[],'stop':false,"
                  "'id_slot':-1",
                  translate_number(record->json, "index"), text);
    if (t->logprobs)
        add_probabilities(record, out);
    translate_put(out, "}\n\n");
}

static void
send_completed(struct translation *t, const struct record_value *record,
               struct buffer *out)
{
    const json_t *ends = json_object_get(record->json, "end");
    size_t n = json_array_size(ends);

    for (size_t i = 0; i < n; i++) {
        const json_t *end = json_array_get(ends, i);

        translate_put(out, "data: {'index':%n,'content':''",
                      translate_number(end, "index"));
        add_llama_end(t, end, n > 1 ? NULL : record->json, out);
        translate_put(out, "}\n\n");
    }
}

#define ANSWERS                                                                \
    .url = "/v1/completions", .whole = put_completion,                         \
    .start = begin_completion, .delta = send_completion,                       \
    .end = send_completed, .fail = translate_send_error

const struct translate_row translate_llama_row = {
    .read = read_completion,
    ANSWERS,
};

const struct translate_row translate_infill_row = {
    .read = read_gap,
    ANSWERS,
};

#endif
