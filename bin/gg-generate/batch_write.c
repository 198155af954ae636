/* batch_write.c - answers in the form of OpenAI's output files */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <string.h>

#include "gg-generate/batch.h"

/* ---- an answer ---- */

static void
add_message(const struct answer *a, struct buffer *out)
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

/* The prompt comes first, if that is wanted. */
static void
add_text(const struct record *r, const char *p, size_t len, struct buffer *out)
{
    struct buffer text = { 0 };

    buffer_add(&text, r->out.p, r->out.len);
    buffer_add(&text, p, len);
    buffer_format(out, "\"text\":");
    cli_json_add(out, text.p, text.len);
    buffer_clear(&text);
}

static const char *
finish_reason(const struct answer *a)
{
    enum gg_finish finish = gg_text_finish(a->made);

    if (a->tool_calls.len && finish == GG_FINISH_EOG)
        return "tool_calls";
    return finish == GG_FINISH_EOG || finish == GG_FINISH_STOP ? "stop"
                                                               : "length";
}

static void
add_logprobs(const struct generate *g, const struct record *r, size_t which,
             const struct answer *a, struct buffer *out)
{
    bool stop = gg_text_finish(a->made) == GG_FINISH_STOP;
    const struct logprobs_texts texts = {
        .vocab = g->engine.vocab,
        .flags = g->o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0,
        .goes_on = record_prompt(r, which)->goes_on,
        .echo = &r->out,
        .text = stop || a->is_parted ? &a->text : NULL,
    };

    buffer_format(out, ",\"logprobs\":");
    if (r->batch->is_chat)
        logprobs_add_chat(&a->logprobs, &texts, out);
    else
        logprobs_add_text(&a->logprobs, &texts, out);
}

/* A choice, as OpenAI calls it. */
static void
add_batch(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct buffer *out)
{
    if (gg_text_error(a->made))
        return;
    buffer_format(out, "{\"index\":%zu,", which);
    if (r->batch->is_chat)
        add_message(a, out);
    else
        add_text(r, a->text.p, a->text.len, out);
    add_logprobs(g, r, which, a, out);
    buffer_format(out, ",\"finish_reason\":\"%s\"}", finish_reason(a));
}

/* ---- a record ---- */

/* Where one of several texts was likeliest. */
static void
add_chosen(const struct record *r, struct buffer *out)
{
    const struct choice *best = contest_text(r->prompt.contest.list);
    struct answer a = { .text = { best->text, best->len, 0 } };

    buffer_format(out, "{\"index\":0,");
    if (r->batch->is_chat)
        add_message(&a, out);
    else
        add_text(r, best->text, best->len, out);
    buffer_format(out, ",\"logprobs\":null,\"finish_reason\":\"stop\"}");
}

static void
add_choices(const struct record *r, struct buffer *out)
{
    buffer_format(out, ",\"choices\":[");
    if (r->prompt.contest.n)
        add_chosen(r, out);
    for (size_t i = 0; r->written && i < r->n_answers; i++) {
        if (i)
            buffer_char(out, ',');
        buffer_add(out, r->written[i].p, r->written[i].len);
    }
    buffer_char(out, ']');
}

static void
add_usage(const struct record *r, struct buffer *out)
{
    uint64_t n = r->prompt.n, made = r->n_made;

    for (size_t i = 0; i < r->n_others; i++)
        n += r->others[i].n;
    if (r->prompt.contest.n)
        made = r->prompt.contest.list->n_scored;
    buffer_format(out,
                  ",\"usage\":{\"prompt_tokens\":%" PRIu64
                  ",\"completion_tokens\":%" PRIu64 ",\"total_tokens\":%" PRIu64
                  "}",
                  n, made, n + made);
}

/* As the request has it, else the file's name. */
static void
add_model(const struct generate *g, const struct record *r, struct buffer *out)
{
    const char *path = g->engine.path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    buffer_format(out, ",\"model\":");
    if (r->batch->model.len)
        buffer_add(out, r->batch->model.p, r->batch->model.len);
    else
        cli_json_add(out, name, strlen(name));
}

static void
add_body(const struct generate *g, const struct record *r, struct buffer *out)
{
    bool chat = r->batch->is_chat;

    buffer_format(out,
                  "{\"id\":\"%s-%" PRIu64 "\",\"object\":\"%s\",\"created\":"
                  "%" PRId64,
                  chat ? "chatcmpl" : "cmpl", r->number,
                  chat ? "chat.completion" : "text_completion", g->date);
    add_model(g, r, out);
    add_choices(r, out);
    add_usage(r, out);
    if (!r->has_seed && r->sampling.params.temperature != 0 &&
        !r->prompt.contest.n)
        buffer_format(out, ",\"seed\":%" PRIu64, r->sampling.params.seed);
    buffer_char(out, '}');
}

/* What a request says wrong is 400. */
static int
status_of(const struct record *r, const char *message)
{
    bool began = r->n_ended || (r->batch->ready && r->prompt.contest.n);

    return !message ? 200 : began && r->status != GG_ERR_CONTEXT ? 500 : 400;
}

static void
add_error(const struct record *r, const char *message, struct buffer *out)
{
    bool own = status_of(r, message) == 400;

    buffer_format(out, "{\"error\":{\"message\":");
    cli_json_add(out, message, strlen(message));
    buffer_format(out, ",\"type\":\"%s\",\"param\":null,\"code\":%s}}",
                  own ? "invalid_request_error" : "server_error",
                  r->status == GG_ERR_CONTEXT ? "\"context_length_exceeded\""
                                              : "null");
}

static void
write_batch(const struct generate *g, struct record *r, const char *message)
{
    const struct buffer *id = &r->batch->custom_id;
    struct buffer out = { 0 };

    buffer_format(
        &out, "{\"id\":\"batch_req_%" PRIu64 "\",\"custom_id\":", r->number);
    buffer_add(&out, id->len ? id->p : "null", id->len ? id->len : 4);
    buffer_format(&out,
                  ",\"response\":{\"status_code\":%d,\"request_id\":"
                  "\"req_%" PRIu64 "\",\"body\":",
                  status_of(r, message), r->number);
    if (message)
        add_error(r, message, &out);
    else
        add_body(g, r, &out);
    buffer_format(&out, "},\"error\":null}\n");
    buffer_clear(&r->out);
    r->out = out;
}

const struct writer batch_writer = { add_batch, write_batch };

#endif
