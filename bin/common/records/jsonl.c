/* jsonl.c - lines of JSON: a record's members, and those of its answer */
#include <config.h>

#include "common/records/jsonl.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/json.h"

#define DATE     "template_date"
#define SAMPLING "file_sampling"
#define WHOSE    "sampling_whose"

static const char *const written[] = {
    "text",    "ids",         "logprob", "stop_reason",       "error",
    "choices", "probability", DATE,      "reasoning_content", "tool_calls",
    SAMPLING,  WHOSE
};

/* ---- a record ---- */

bool
jsonl_number(const struct record_value *object, uint64_t *number)
{
    const json_t *member = json_object_get(object->json, JSONL_NUMBER);
    double x = json_number_value(member);

    if (!json_is_number(member) || !(x >= 0 && x < 0x1p53) || x != floor(x))
        return false;
    *number = (uint64_t)x;
    return true;
}

bool
jsonl_is_written(const char *name)
{
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
        if (strcmp(name, written[i]) == 0)
            return true;
    return false;
}

/* True for what is written anew; a seed stays where it is. */
static bool
is_ours(const struct record_member *m)
{
    return jsonl_is_written(m->key) ||
           (strcmp(m->key, "seed") == 0 && json_is_null(m->value.json)) ||
           (strcmp(m->key, "logprobs") == 0 && !json_is_null(m->value.json) &&
            !json_is_false(m->value.json));
}

void
jsonl_pass_through(const struct record_object *object, struct buffer *out)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct record_member *m = &object->members[i];

        if (is_ours(m))
            continue;
        buffer_char(out, out->len ? ',' : '{');
        buffer_add(out, m->begin,
                   (size_t)(m->value.text + m->value.len - m->begin));
    }
}

/* ---- an answer ---- */

static void
add_key(struct buffer *out, const char *key)
{
    buffer_char(out, out->len ? ',' : '{');
    buffer_format(out, "\"%s\":", key);
}

static void
add_string(struct buffer *out, const char *key, const char *text, size_t len)
{
    add_key(out, key);
    cli_json_add(out, text, len);
}

static void
add_ids(struct buffer *out, const int32_t *ids, size_t n)
{
    add_key(out, "ids");
    buffer_char(out, '[');
    for (size_t i = 0; i < n; i++)
        buffer_format(out, "%s%" PRId32, i ? "," : "", ids[i]);
    buffer_char(out, ']');
}

static void
add_logprobs(const struct record_answer *a, struct buffer *line)
{
    struct logprobs_texts texts = a->texts;

    if (!a->logprobs || !a->logprobs->wanted)
        return;
    texts.echo = &a->echo;
    add_key(line, "logprobs");
    logprobs_add_text(a->logprobs, &texts, line);
}

void
jsonl_add_answer(const struct record_answer *a, struct buffer *line)
{
    static const char *const endings[] = { "", "eog", "length", "context",
                                           "string" };

    add_key(line, "text");
    record_answer_add_text(a, line);
    if (a->reasoning.len)
        add_string(line, "reasoning_content", a->reasoning.p, a->reasoning.len);
    if (a->tool_calls.len) {
        add_key(line, "tool_calls");
        buffer_add(line, a->tool_calls.p, a->tool_calls.len);
    }
    add_ids(line, a->ids, a->n_ids);
    add_key(line, "logprob");
    buffer_format(line, "%.6f", a->logprob);
    add_logprobs(a, line);
    add_key(line, "stop_reason");
    buffer_format(line, "\"%s\"", endings[a->finish]);
    if (!a->seed)
        return;
    add_key(line, "seed");
    buffer_format(line, "%" PRIu64, *a->seed);
}

/* Members of a choice: of the likeliest one, and of each in turn. */
static void
add_scored(struct buffer *out, const struct gg_choice *s)
{
    const struct choice *text = choices_text(s);

    add_string(out, "text", text->text, text->len);
    add_ids(out, s->ids + s->n - s->n_scored, s->n_scored);
    add_key(out, "logprob");
    buffer_format(out, "%.6f", s->logprob);
    add_key(out, "probability");
    buffer_format(out, "%.6f", s->probability);
}

void
jsonl_add_choices(const struct gg_choices *c, struct buffer *line)
{
    add_scored(line, c->list);
    add_key(line, "stop_reason");
    buffer_format(line, "\"choice\"");
    add_key(line, "choices");
    buffer_char(line, '[');
    for (size_t i = 0; i < c->n; i++) {
        struct buffer one = { 0 };

        add_scored(&one, &c->list[i]);
        if (i)
            buffer_char(line, ',');
        buffer_add(line, one.p, one.len);
        buffer_char(line, '}');
        buffer_clear(&one);
    }
    buffer_char(line, ']');
}

void
jsonl_add_error(const char *message, struct buffer *line)
{
    add_string(line, "error", message, strlen(message));
}

void
jsonl_add_date(int64_t date, struct buffer *line)
{
    add_key(line, DATE);
    buffer_format(line, "%" PRId64, date);
}

static void
add_whose(void *data, const char *key, const char *value, const char *whose)
{
    struct buffer *out = data;
    bool first = out->p[out->len - 1] == '{';

    (void)value;
    buffer_format(out, "%s\"%s\":\"%s\"", first ? "" : ",", key, whose);
}

void
jsonl_add_sampling(const struct sampling_options *o, struct buffer *line)
{
    if (!o->file.line)
        return;
    add_string(line, SAMPLING, o->file.line, strlen(o->file.line));
    add_key(line, WHOSE);
    buffer_char(line, '{');
    file_sampling_list(o, add_whose, line);
    buffer_char(line, '}');
}

void
jsonl_end(struct buffer *line)
{
    buffer_add(line, "}\n", 2);
}

/* ---- an answer of an earlier run ---- */

bool
jsonl_is_answer(const struct buffer *passed, const char *line, size_t len)
{
    static const char *const next[] = { "\"text\":", "\"error\":" };
    size_t n = passed->len;

    if (n == 0 ? len == 0 || *line != '{'
               : len <= n || memcmp(passed->p, line, n) || line[n] != ',')
        return false;
    n = n ? n + 1 : 1;
    for (size_t i = 0; i < 2; i++)
        if (len - n >= strlen(next[i]) &&
            memcmp(line + n, next[i], strlen(next[i])) == 0)
            return true;
    return false;
}

bool
jsonl_has_error(const struct record_value *answer)
{
    return json_object_get(answer->json, "error") != NULL;
}

/* The body of an answer to a request of a batch file; else NULL. */
static const json_t *
batch_body(const struct record_value *answer)
{
    return json_object_get(answer->json, "custom_id")
               ? json_object_get(json_object_get(answer->json, "response"),
                                 "body")
               : NULL;
}

bool
jsonl_is_drawn(const struct record_value *answer)
{
    return batch_body(answer)
               ? json_object_get(batch_body(answer), "choices") != NULL
               : json_object_get(answer->json, "text") &&
                     json_object_get(answer->json, "ids") &&
                     !json_object_get(answer->json, "choices");
}

const char *
jsonl_sampling(const struct record_value *answer)
{
    const json_t *body = batch_body(answer);

    return json_string_value(
        json_object_get(body ? body : answer->json, SAMPLING));
}

int64_t
jsonl_date(const struct record_value *answer)
{
    return record_value_date(answer, DATE);
}

#endif
