/* jsonl.c - records that are objects in JSON, a line each */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/batch.h"
#include "gg-generate/json_prompt.h"
#include "gg-generate/members.h"
#include "gg-generate/overrides.h"

enum {
    FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL,
};

/* ---- reading ---- */

static json_t *
load_json(const char *text, size_t len, struct gg_error *err)
{
    char why[CLI_JSON_WHY];
    json_error_t e;
    json_t *value = cli_json_load(text, len, FLAGS, &e);

    if (value && json_is_object(value))
        return value;
    if (value)
        cli_error(err, GG_ERR_FORMAT, "not an object in JSON");
    else
        cli_error(err, GG_ERR_FORMAT, "not JSON: %s", cli_json_why(why, &e));
    json_decref(value);
    return NULL;
}

/* The member by which --numbered tells its place in the whole job. */
static bool
read_number(const json_t *object, uint64_t *number)
{
    const json_t *member = json_object_get(object, MEMBER_NUMBER);
    double x = json_number_value(member);

    if (!json_is_number(member) || !(x >= 0 && x < 0x1p53) || x != floor(x))
        return false;
    *number = (uint64_t)x;
    return true;
}

static bool
number_of_jsonl(const char *text, size_t len, uint64_t *number)
{
    struct gg_error err;
    json_t *object = load_json(text, len, &err);
    bool found = read_number(object, number);

    json_decref(object);
    return found;
}

/* The object is a request, or in one of OpenAI's batch file. */
static enum gg_status
read_object(struct generate *g, struct record *r, json_t *object,
            const char *text, struct gg_error *err)
{
    json_t *request = object;
    enum gg_status st = GG_OK;

    if (batch_is(object))
        st = batch_open(g, r, object, text, &request, &text, err);
    else
        member_pass_through(text, &r->text);
    r->sampling.params.seed = record_seed(r->sampling.params.seed, r->number);
    if (st == GG_OK)
        st = overrides_read(g, r, request, text, err);
    if (st == GG_OK && r->batch)
        st = batch_check(r, request, err);
    return st == GG_OK ? json_prompt_encode(g, r, request, text, err) : st;
}

static enum gg_status
read_jsonl(struct generate *g, struct record *r, const char *text, size_t len,
           struct gg_error *err)
{
    json_t *object = load_json(text, len, err);
    enum gg_status st = GG_ERR_FORMAT;
    uint64_t number;

    if (object && g->o->numbered && !read_number(object, &number))
        cli_error(err, st, MEMBER_NUMBER ": not a whole number");
    else if (object)
        st = read_object(g, r, object, text, err);
    json_decref(object);
    return st;
}

/* ---- writing ---- */

static void
add_key(struct buffer *out, const char *key)
{
    buffer_char(out, out->len ? ',' : '{');
    buffer_format(out, "\"%s\":", key);
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

/* The same members for the likeliest one, and for each in turn. */
static void
add_scored(struct buffer *out, const struct gg_choice *s)
{
    add_key(out, "text");
    cli_json_add(out, contest_text(s)->text, contest_text(s)->len);
    add_ids(out, s->ids + s->n - s->n_scored, s->n_scored);
    add_key(out, "logprob");
    buffer_format(out, "%.6f", s->logprob);
    add_key(out, "probability");
    buffer_format(out, "%.6f", s->probability);
}

static void
add_contest(struct buffer *out, const struct gg_choices *c)
{
    add_scored(out, c->list);
    add_key(out, "stop_reason");
    buffer_format(out, "\"choice\"");
    add_key(out, "choices");
    buffer_char(out, '[');
    for (size_t i = 0; i < c->n; i++) {
        struct buffer one = { 0 };

        add_scored(&one, &c->list[i]);
        if (i)
            buffer_char(out, ',');
        buffer_add(out, one.p, one.len);
        buffer_char(out, '}');
        buffer_clear(&one);
    }
    buffer_char(out, ']');
}

/* The prompt comes first, if that is wanted. */
static void
add_text(struct buffer *out, const struct record *r, const struct answer *a)
{
    struct buffer text = { 0 };

    buffer_add(&text, r->out.p, r->out.len);
    buffer_add(&text, a->text.p, a->text.len);
    add_key(out, "text");
    cli_json_add(out, text.p, text.len);
    buffer_clear(&text);
}

static void
add_jsonl(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct buffer *out)
{
    static const char *const endings[] = { "", "eog", "length", "context",
                                           "string" };
    enum gg_finish finish = gg_text_finish(a->made);
    size_t n;
    const int32_t *ids = gg_text_ids(a->made, &n);

    (void)which;
    if (gg_text_error(a->made))
        return;
    buffer_add(out, r->text.p, r->text.len);
    add_text(out, r, a);
    if (a->reasoning.len && g->o->show_reasoning == SHOW_REASONING) {
        add_key(out, "reasoning_content");
        cli_json_add(out, a->reasoning.p, a->reasoning.len);
    }
    if (a->tool_calls.len) {
        add_key(out, "tool_calls");
        buffer_add(out, a->tool_calls.p, a->tool_calls.len);
    }
    add_ids(out, ids, n);
    add_key(out, "logprob");
    buffer_format(out, "%.6f", a->logprob);
    add_key(out, "stop_reason");
    buffer_format(out, "\"%s\"", endings[finish]);
    if (r->has_seed || r->sampling.params.temperature == 0)
        return;
    add_key(out, "seed");
    buffer_format(out, "%" PRIu64, r->sampling.params.seed);
}

/* For a run that resumes this one. */
static void
add_date(struct buffer *out, int64_t date)
{
    add_key(out, MEMBER_DATE);
    buffer_format(out, "%" PRId64, date);
}

static void
write_jsonl(const struct generate *g, struct record *r, const char *message)
{
    r->out.len = 0;
    if (!message && r->written) {
        buffer_add(&r->out, r->written->p, r->written->len);
    } else {
        buffer_add(&r->out, r->text.p, r->text.len);
        if (message) {
            add_key(&r->out, "error");
            cli_json_add(&r->out, message, strlen(message));
        } else {
            add_contest(&r->out, &r->prompt.contest);
        }
    }
    if (!message && r->takes_date)
        add_date(&r->out, g->date);
    buffer_add(&r->out, "}\n", 2);
}

/* ---- an earlier run's ---- */

/* True where `out` begins with what is passed through, and then with a member
 * that was added. */
static bool
is_prefix(const struct buffer *head, const char *out, size_t len)
{
    static const char *const next[] = { "\"text\":", "\"error\":" };
    size_t n = head->len;

    if (n == 0 ? len == 0 || *out != '{'
               : len <= n || memcmp(head->p, out, n) || out[n] != ',')
        return false;
    n = n ? n + 1 : 1;
    for (size_t i = 0; i < 2; i++)
        if (len - n >= strlen(next[i]) &&
            memcmp(out + n, next[i], strlen(next[i])) == 0)
            return true;
    return false;
}

static bool
matches_seed(const struct generate *g, const struct record *r,
             const json_t *answer)
{
    const json_t *seed = json_object_get(answer, "seed");

    return !seed || record_matches_seed(g, r, json_number_value(seed));
}

static bool
matches_date(struct generate *g, const struct record *r, const json_t *answer)
{
    const json_t *member = json_object_get(answer, MEMBER_DATE);
    double date = json_number_value(member);

    if (!member)
        return true;
    if (!(date >= 1 && date < 1e15))
        return false;
    generate_resume_date(g, r->number, (int64_t)date);
    return true;
}

/* The answer has the members that were passed through. */
static bool
matches_plain(struct generate *g, struct record *r, const json_t *object,
              const char *text, const json_t *answer, const char *out,
              size_t out_len)
{
    if (object)
        member_pass_through(text, &r->text);
    r->has_seed = json_is_number(json_object_get(object, "seed"));
    return is_prefix(&r->text, out, out_len) && matches_seed(g, r, answer) &&
           matches_date(g, r, answer);
}

static bool
matches_jsonl(struct generate *g, struct record *r, const char *text,
              size_t len, const char *out, size_t out_len, bool *failed)
{
    struct gg_error err;
    json_t *object = load_json(text, len, &err);
    json_t *answer = load_json(out, out_len, &err);
    bool same = answer != NULL;

    *failed = json_object_get(answer, "error") != NULL;
    if (same && batch_is(object))
        same = batch_matches(g, r, object, answer, failed);
    else if (same)
        same = matches_plain(g, r, object, text, answer, out, out_len);
    json_decref(object);
    json_decref(answer);
    return same;
}

static const struct writer writer = { add_jsonl, write_jsonl };
static const struct form form = { read_jsonl, &writer, number_of_jsonl,
                                  matches_jsonl };
const struct form *const jsonl_form = &form;

#else

const struct form *const jsonl_form = NULL;

#endif
