/* batch_write.c - answers in the form of OpenAI's output files */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/records/batch.h"
#include "common/records/jsonl.h"

/* ---- an answer ---- */

static void
add_message(const struct record_answer *a, struct buffer *out)
{
    buffer_format(out, "\"message\":{\"role\":\"assistant\",\"content\":");
    if (a->tool_calls.len && a->text.len == 0)
        buffer_format(out, "null");
    else
        cli_json_add(out, a->text.p, a->text.len);
    if (a->reasoning.len) {
        buffer_format(out, ",\"reasoning_content\":");
        cli_json_add(out, a->reasoning.p, a->reasoning.len);
    }
    if (a->tool_calls.len) {
        buffer_format(out, ",\"tool_calls\":");
        buffer_add(out, a->tool_calls.p, a->tool_calls.len);
    }
    buffer_format(out, ",\"refusal\":null}");
}

/* An end that was nobody's wish is a length. */
static const char *
finish_reason(const struct record_answer *a)
{
    if (a->tool_calls.len && a->finish == GG_FINISH_EOG)
        return "tool_calls";
    return a->finish == GG_FINISH_EOG || a->finish == GG_FINISH_STOP ? "stop"
                                                                     : "length";
}

static void
add_logprobs(const struct batch *b, const struct record_answer *a,
             struct buffer *out)
{
    struct logprobs_texts texts = a->texts;

    texts.echo = &a->echo;
    buffer_format(out, ",\"logprobs\":");
    if (!a->logprobs)
        buffer_format(out, "null");
    else if (b->kind == BATCH_CHAT)
        logprobs_add_chat(a->logprobs, &texts, out);
    else
        logprobs_add_text(a->logprobs, &texts, out);
}

void
batch_add_answer(const struct batch *b, size_t index,
                 const struct record_answer *a, struct buffer *out)
{
    buffer_format(out, "{\"index\":%zu,", index);
    if (b->kind == BATCH_CHAT) {
        add_message(a, out);
    } else {
        buffer_format(out, "\"text\":");
        record_answer_add_text(a, out);
    }
    add_logprobs(b, a, out);
    buffer_format(out, ",\"finish_reason\":\"%s\"", finish_reason(a));
    if (a->stop) {
        buffer_format(out, ",\"stop\":");
        cli_json_add(out, a->stop, a->n_stop);
    }
    buffer_char(out, '}');
}

/* ---- a record ---- */

static void
add_choices(const struct batch_response *r, struct buffer *out)
{
    buffer_format(out, ",\"choices\":[");
    for (size_t i = 0; i < r->n_answers; i++) {
        if (i)
            buffer_char(out, ',');
        buffer_add(out, r->answers[i].p, r->answers[i].len);
    }
    buffer_char(out, ']');
}

static void
add_usage(const struct batch_response *r, struct buffer *out)
{
    buffer_format(out,
                  ",\"usage\":{\"prompt_tokens\":%" PRIu64
                  ",\"completion_tokens\":%" PRIu64
                  ",\"total_tokens\":%" PRIu64,
                  r->n_prompt, r->n_made, r->n_prompt + r->n_made);
    if (r->n_cached)
        buffer_format(
            out, ",\"prompt_tokens_details\":{\"cached_tokens\":%" PRIu64 "}",
            *r->n_cached);
    buffer_char(out, '}');
}

/* As the request has it, else the file's name. */
static void
add_model(const struct batch *b, const char *path, struct buffer *out)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    buffer_format(out, ",\"model\":");
    if (b->model.len)
        buffer_add(out, b->model.p, b->model.len);
    else
        cli_json_add(out, name, strlen(name));
}

/* The line up to its body. */
static void
begin_line(const struct batch *b, uint64_t number, int status,
           struct buffer *out)
{
    const struct buffer *id = &b->custom_id;

    buffer_format(out,
                  "{\"id\":\"batch_req_%" PRIu64 "\",\"custom_id\":", number);
    buffer_add(out, id->len ? id->p : "null", id->len ? id->len : 4);
    buffer_format(out,
                  ",\"response\":{\"status_code\":%d,\"request_id\":"
                  "\"req_%" PRIu64 "\",\"body\":",
                  status, number);
}

static void
end_line(struct buffer *out)
{
    buffer_format(out, "},\"error\":null}\n");
}

/* ---- embeddings ---- */

/* Its values as floats in little-endian order, in base64. */
static void
add_base64(const struct batch_vector *v, struct buffer *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 4 * v->n;
    uint32_t bits = 0;

    buffer_char(out, '"');
    for (size_t i = 0; i < (n + 2) / 3 * 3; i++) {
        uint32_t word = 0;

        if (i < n)
            memcpy(&word, &v->values[i / 4], sizeof(word));
        bits = bits << 8 | (word >> 8 * (i % 4) & 0xff);
        if (i % 3 == 2)
            for (size_t k = 0; k < 4; k++)
                buffer_char(out, i - 2 + k <= n
                                     ? digits[bits >> (18 - 6 * k) & 63]
                                     : '=');
    }
    buffer_char(out, '"');
}

static void
add_floats(const struct batch_vector *v, struct buffer *out)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < v->n; i++)
        buffer_format(out, "%s%.9g", i ? "," : "", (double)v->values[i]);
    buffer_char(out, ']');
}

/* Adds what follows the list of a body, and ends the body. */
static void
end_list(const struct batch *b, const struct batch_response *r,
         struct buffer *out)
{
    buffer_char(out, ']');
    add_model(b, r->model, out);
    buffer_format(out,
                  ",\"usage\":{\"prompt_tokens\":%" PRIu64
                  ",\"total_tokens\":%" PRIu64 "}}",
                  r->n_prompt, r->n_prompt);
    end_line(out);
}

void
batch_add_embeddings(const struct batch *b, const struct batch_response *r,
                     const struct batch_vector *list, size_t n,
                     struct buffer *out)
{
    begin_line(b, r->number, 200, out);
    buffer_format(out, "{\"object\":\"list\",\"data\":[");
    for (size_t i = 0; i < n; i++) {
        buffer_format(out,
                      "%s{\"object\":\"embedding\",\"index\":%zu,"
                      "\"embedding\":",
                      i ? "," : "", i);
        if (b->is_base64)
            add_base64(&list[i], out);
        else
            add_floats(&list[i], out);
        buffer_char(out, '}');
    }
    end_list(b, r, out);
}

void
batch_add_ranks(const struct batch *b, const struct batch_response *r,
                const struct batch_ranked *list, size_t n, struct buffer *out)
{
    begin_line(b, r->number, 200, out);
    buffer_format(out, "{\"object\":\"list\",\"results\":[");
    for (size_t i = 0; i < n; i++) {
        buffer_format(out, "%s{\"index\":%zu", i ? "," : "", list[i].index);
        if (b->returns) {
            buffer_format(out, ",\"document\":{\"text\":");
            cli_json_add(out, list[i].text, list[i].len);
            buffer_char(out, '}');
        }
        buffer_format(out, ",\"relevance_score\":%.6f}", list[i].score);
    }
    end_list(b, r, out);
}

/* ---- a body of answers ---- */

void
batch_warn(struct batch *b, const char *text)
{
    if (b->warnings.len)
        buffer_char(&b->warnings, ',');
    cli_json_add(&b->warnings, text, strlen(text));
}

void
batch_put_warnings(const struct batch *b, struct buffer *out)
{
    if (!b->warnings.len)
        return;
    buffer_format(out, ",\"warnings\":[");
    buffer_add(out, b->warnings.p, b->warnings.len);
    buffer_char(out, ']');
}

static void
add_body(const struct batch *b, const struct batch_response *r,
         struct buffer *out)
{
    buffer_format(out,
                  "{\"id\":\"%s-%s%" PRIu64 "\",\"object\":\"%s\",\"created\":"
                  "%" PRId64,
                  b->kind == BATCH_CHAT ? "chatcmpl" : "cmpl",
                  r->run ? r->run : "", r->number,
                  b->kind == BATCH_CHAT ? "chat.completion" : "text_completion",
                  r->date);
    add_model(b, r->model, out);
    add_choices(r, out);
    add_usage(r, out);
    if (r->seed)
        buffer_format(out, ",\"seed\":%" PRIu64, *r->seed);
    if (r->sampling)
        jsonl_add_sampling(r->sampling, out);
    batch_put_warnings(b, out);
    buffer_char(out, '}');
}

void
batch_add_response(const struct batch *b, const struct batch_response *r,
                   struct buffer *out)
{
    begin_line(b, r->number, 200, out);
    add_body(b, r, out);
    end_line(out);
}

void
batch_add_error(const struct batch *b, uint64_t number,
                const struct batch_error *e, struct buffer *out)
{
    begin_line(b, number, e->status, out);
    buffer_format(out, "{\"error\":{\"message\":");
    cli_json_add(out, e->message, strlen(e->message));
    buffer_format(out, ",\"type\":\"%s\",\"param\":null,\"code\":",
                  e->status < 500 ? "invalid_request_error" : "server_error");
    buffer_format(out, e->code ? "\"%s\"" : "null", e->code);
    if (e->n_ctx)
        buffer_format(out, ",\"n_prompt_tokens\":%zu,\"n_ctx\":%zu",
                      e->n_prompt, e->n_ctx);
    buffer_format(out, "}}");
    end_line(out);
}
