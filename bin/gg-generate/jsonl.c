/* jsonl.c - records that are objects in JSON, a line each
 *
 * What is passed through is passed on byte by byte: numbers keep their digits
 * and strings their escapes. Jansson says first that the line is JSON, so that
 * members can be found in it by little. */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/json.h"

enum {
    FLAGS = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL,
};
#define MAX_INTEGER 9007199254740991 /* what every reader of JSON can hold */

__attribute__((format(printf, 2, 3))) static enum gg_status
bad(struct gg_error *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(err->message, sizeof(err->message), fmt, ap);
    va_end(ap);
    return GG_ERR_FORMAT;
}

/* ---- members, as they stand there ---- */

struct member {
    const char *begin; /* behind the brace or comma before it */
    const char *key, *value, *end;
    size_t key_len; /* with its quotes */
};

static const char *
skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    return p;
}

static const char *
skip_string(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static const char *
skip_value(const char *p)
{
    size_t depth = 0;

    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';
        p++;
    } while (depth || !strchr(",]} \t\r\n", *p));
    return p;
}

/* The member of an object that begins at p, behind a brace or a comma. False:
 * there is none. */
static bool
next_member(const char *p, struct member *m)
{
    m->begin = p;
    m->key = skip_space(p);
    if (*m->key != '"')
        return false;
    p = skip_string(m->key);
    m->key_len = (size_t)(p - m->key);
    m->value = skip_space(skip_space(p) + 1);
    m->end = skip_value(m->value);
    return true;
}

static bool
is_key(const struct member *m, const char *name)
{
    json_t *key = json_loadb(m->key, m->key_len, JSON_DECODE_ANY, NULL);
    bool same = key && strcmp(json_string_value(key), name) == 0;

    json_decref(key);
    return same;
}

/* True for what is written anew. */
static bool
is_ours(const struct member *m)
{
    static const char *const names[] = { "text",        "ids",   "logprob",
                                         "stop_reason", "error", "choices",
                                         "seed" };
    size_t n = sizeof(names) / sizeof(names[0]);

    if (strncmp(m->value, "null", 4) != 0)
        n--; /* a seed stays where it is */
    for (size_t i = 0; i < n; i++)
        if (is_key(m, names[i]))
            return true;
    return false;
}

/* An object up to its closing brace, without members that are written anew.
 * `text` is one, and NUL-ended or followed by what ends its line. */
static void
pass_through(const char *text, struct buffer *out)
{
    struct member m = { .end = skip_space(text) };

    do {
        if (!next_member(m.end + 1, &m))
            break;
        if (is_ours(&m))
            continue;
        buffer_char(out, out->len ? ',' : '{');
        buffer_add(out, m.begin, (size_t)(m.end - m.begin));
    } while (*(m.end = skip_space(m.end)) == ',');
}

/* ---- reading ---- */

/* '-' is like '_'. */
static bool
same_name(const char *a, const char *b)
{
    for (; *a && (*a == *b || (*a == '-' && *b == '_')); a++)
        b++;
    return *a == *b;
}

/* What a member is called as an option. */
static const char *
option_of(const char *key)
{
    static const char *const aliases[][2] = {
        { "n", "count" },
        { "max_tokens", "count" },
        { "temperature", "temp" },
    };

    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (same_name(key, aliases[i][0]))
            return aliases[i][1];
    return key;
}

static enum gg_status
add_stop(struct record *r, const json_t *value, struct gg_error *err)
{
    if (!json_is_string(value) || json_string_length(value) == 0)
        return bad(err, "stop: not a string with something in it, nor an "
                        "array of such");
    stop_strings_add(&r->own, json_string_value(value),
                     json_string_length(value));
    return GG_OK;
}

static enum gg_status
set_stop(struct record *r, const json_t *value, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    r->has_own = true;
    if (!json_is_array(value))
        return add_stop(r, value, err);
    for (size_t i = 0; st == GG_OK && i < json_array_size(value); i++)
        st = add_stop(r, json_array_get(value, i), err);
    return st;
}

static enum gg_status
add_choice(struct record *r, const json_t *value, struct gg_error *err)
{
    if (json_is_string(value))
        return choices_add(&r->choices, json_string_value(value),
                           json_string_length(value), err);
    return bad(err, "choice: an array that has not strings only");
}

/* A string is a list as on the command line. */
static enum gg_status
set_choice(struct record *r, const json_t *value, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (json_is_string(value))
        return choices_add_list(&r->choices, json_string_value(value), err);
    if (!json_is_array(value) || json_array_size(value) == 0)
        return bad(err, "choice: neither a string nor an array of such");
    for (size_t i = 0; st == GG_OK && i < json_array_size(value); i++)
        st = add_choice(r, json_array_get(value, i), err);
    return st;
}

/* As on the command line. What is no number that every reader of JSON can
 * hold is no integer there. */
static void
show(char *text, size_t size, const json_t *value)
{
    double v = json_number_value(value);

    if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_number(value))
        snprintf(text, size, fabs(v) > MAX_INTEGER ? "%.16e" : "%.17g", v);
    else
        snprintf(text, size, "%s",
                 json_is_string(value)  ? "a string"
                 : json_is_array(value) ? "an array"
                                        : "an object");
}

static enum gg_status
set_option(struct record *r, const char *key, const json_t *value,
           struct gg_error *err)
{
    char text[32];
    enum gg_status st;

    if (json_is_null(value))
        return GG_OK;
    if (strcmp(key, "stop") == 0)
        return set_stop(r, value, err);
    if (strcmp(key, "choice") == 0)
        return set_choice(r, value, err);
    if (same_name(key, "logit_bias") || same_name(key, "dry_sequence_breaker"))
        return bad(err, "%s: cannot be set for one record", key);
    show(text, sizeof(text), value);
    st = sampling_set(&r->sampling, option_of(key), text, err);
    return st == GG_ERR_UNSUPPORTED ? GG_OK : st;
}

static enum gg_status
set_options(struct record *r, json_t *object, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    void *at = json_object_iter(object);

    r->sampling.has_seed = false;
    for (; at && st == GG_OK; at = json_object_iter_next(object, at))
        st = set_option(r, json_object_iter_key(at), json_object_iter_value(at),
                        err);
    r->has_seed = r->sampling.has_seed;
    return st;
}

static const struct choices *
choices_of(const struct generate *g, const struct record *r)
{
    return r->choices.n ? &r->choices : &g->o->choices;
}

/* The array as it stands in the line. */
static enum gg_status
encode_messages(struct generate *g, struct record *r, const char *text,
                struct gg_error *err)
{
    struct member m = { .end = skip_space(text) };

    while (next_member(m.end + 1, &m) && !is_key(&m, "messages"))
        m.end = skip_space(m.end);
    return generate_messages_ids(g, m.value, (size_t)(m.end - m.value),
                                 choices_of(g, r), &r->prompt, err);
}

static enum gg_status
encode(struct generate *g, struct record *r, json_t *object, const char *text,
       struct gg_error *err)
{
    const json_t *prompt = json_object_get(object, "prompt");
    const json_t *messages = json_object_get(object, "messages");
    size_t len = json_string_length(prompt);
    enum gg_status st;

    if (prompt && messages)
        return bad(err, "both prompt and messages");
    if (messages && !json_is_array(messages))
        return bad(err, "messages that are not an array");
    if (messages)
        return encode_messages(g, r, text, err);
    if (!json_is_string(prompt))
        return bad(err, "no prompt that is a string, and no messages");
    st = generate_record_ids(g, json_string_value(prompt), len,
                             choices_of(g, r), &r->prompt, err);
    if (st == GG_OK && !r->prompt.goes_on &&
        (r->prompt.n == 0 || (len == 0 && g->o->bos != OPT_BOS)))
        st = bad(err, "the prompt is empty");
    return st;
}

/* What Jansson says; it quotes the text, which may hold anything. */
static json_t *
load(const char *text, size_t len, struct gg_error *err)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH + 1];
    json_error_t e;
    json_t *value = json_loadb(text, len, FLAGS, &e);

    if (value && json_is_object(value))
        return value;
    if (value)
        bad(err, "not an object in JSON");
    else
        bad(err, "not JSON: %s",
            gg_escape(shown, sizeof(shown), e.text, strlen(e.text)));
    json_decref(value);
    return NULL;
}

/* Of a record that has none: made of --seed and its place by the finaliser of
 * SplitMix64 (Steele, Lea, Flood 2014); 32 bits are easy to type again. */
static uint64_t
seed_of(uint64_t seed, uint64_t number)
{
    for (int i = 0; i < 2; i++) {
        seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
        seed ^= seed >> 31;
        seed += i ? 0 : number * UINT64_C(0x9e3779b97f4a7c15);
    }
    return seed >> 32;
}

static enum gg_status
read_jsonl(struct generate *g, struct record *r, const char *text, size_t len,
           struct gg_error *err)
{
    json_t *object = load(text, len, err);
    enum gg_status st;

    if (!object)
        return GG_ERR_FORMAT;
    pass_through(text, &r->text);
    r->sampling.params.seed = seed_of(r->sampling.params.seed, r->number);
    st = set_options(r, object, err);
    if (st == GG_OK)
        st = encode(g, r, object, text, err);
    json_decref(object);
    return st;
}

/* ---- writing ---- */

static void
add_format(struct buffer *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
add_format(struct buffer *out, const char *fmt, ...)
{
    char text[64];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buffer_add(out, text, (size_t)n);
}

static void
add_key(struct buffer *out, const char *key)
{
    buffer_char(out, out->len ? ',' : '{');
    add_format(out, "\"%s\":", key);
}

static void
add_ids(struct buffer *out, const int32_t *ids, size_t n)
{
    add_key(out, "ids");
    buffer_char(out, '[');
    for (size_t i = 0; i < n; i++)
        add_format(out, "%s%" PRId32, i ? "," : "", ids[i]);
    buffer_char(out, ']');
}

/* The same members for the likeliest one, and for each in turn. */
static void
add_scored(struct buffer *out, const struct contest *c, const struct scored *s)
{
    add_key(out, "text");
    json_add_string(out, s->choice->text, s->choice->len);
    add_ids(out, s->ids + c->head, s->n - c->head);
    add_key(out, "logprob");
    add_format(out, "%.6f", s->sum);
}

static void
add_contest(struct buffer *out, const struct contest *c)
{
    add_scored(out, c, c->list);
    add_key(out, "stop_reason");
    add_format(out, "\"choice\"");
    add_key(out, "choices");
    buffer_char(out, '[');
    for (size_t i = 0; i < c->n; i++) {
        struct buffer one = { 0 };

        add_scored(&one, c, &c->list[i]);
        if (i)
            buffer_char(out, ',');
        buffer_add(out, one.p, one.len);
        buffer_char(out, '}');
        buffer_clear(&one);
    }
    buffer_char(out, ']');
}

static void
add_answer(struct buffer *out, const struct record *r, const struct answer *a)
{
    static const char *const endings[] = { "", "eog", "length", "context",
                                           "string" };

    add_key(out, "text");
    json_add_string(out, a->text.p, a->text.len);
    add_ids(out, a->made, a->n_made);
    add_key(out, "logprob");
    add_format(out, "%.6f", a->logprob);
    add_key(out, "stop_reason");
    add_format(out, "\"%s\"", endings[a->ending]);
    if (r->has_seed)
        return;
    add_key(out, "seed");
    add_format(out, "%" PRIu64, r->sampling.params.seed);
}

static void
write_jsonl(const struct generate *g, struct record *r, const struct answer *a,
            const char *message)
{
    (void)g;
    buffer_clear(&r->out);
    buffer_add(&r->out, r->text.p, r->text.len);
    if (message) {
        add_key(&r->out, "error");
        json_add_string(&r->out, message, strlen(message));
    } else if (r->prompt.contest.n) {
        add_contest(&r->out, &r->prompt.contest);
    } else {
        add_answer(&r->out, r, a);
    }
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

/* Without a seed in the record it was made of --seed, if that was given. */
static bool
matches_seed(const struct generate *g, const struct record *r,
             const json_t *answer)
{
    const struct sampling_options *s = &g->o->sampling;
    double seed = json_number_value(json_object_get(answer, "seed"));

    return !s->has_seed || json_object_get(answer, "error") || r->has_seed ||
           json_object_get(answer, "choices") ||
           seed == (double)seed_of(s->params.seed, r->number);
}

static bool
matches_jsonl(const struct generate *g, struct record *r, const char *text,
              size_t len, const char *out, size_t out_len, bool *failed)
{
    struct gg_error err;
    json_t *object = load(text, len, &err);
    json_t *answer = load(out, out_len, &err);
    bool same;

    if (object)
        pass_through(text, &r->text);
    r->has_seed = json_is_number(json_object_get(object, "seed"));
    same = answer && is_prefix(&r->text, out, out_len) &&
           matches_seed(g, r, answer);
    *failed = json_object_get(answer, "error") != NULL;
    json_decref(object);
    json_decref(answer);
    return same;
}

static const struct form form = { read_jsonl, write_jsonl, matches_jsonl };
const struct form *const jsonl_form = &form;

#else

const struct form *const jsonl_form = NULL;

#endif
