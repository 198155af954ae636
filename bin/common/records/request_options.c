/* request_options.c - options of one record in JSON, for the command line's */
#include <config.h>

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/records/batch.h"
#include "common/records/known.h"
#include "common/records/request_parts.h"

#define MAX_INTEGER 9007199254740991 /* what every reader of JSON can hold */

/* The name of a member as an option. */
static const char *
option_of(const struct requests *all, const char *key)
{
    const struct cli_option *row = cli_option_of_member(all->rows, key);

    return row ? row->name : key;
}

static enum gg_status
set_suffix(const struct request_member *m, struct gg_error *err)
{
    size_t len = json_string_length(m->value.json);

    if (!json_is_string(m->value.json))
        return cli_error(err, GG_ERR_FORMAT, "suffix: not a string");
    m->r->suffix.len = 0; /* what other programs say for none */
    buffer_add(&m->r->suffix, json_string_value(m->value.json), len);
    return GG_OK;
}

/* Anything but a number as it stands in the record, so that "5" is seen to be a
 * string; its end where it is long. */
static void
show_json(char *text, size_t size, const json_t *value)
{
    char *json =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    const char *shown = cli_json_large(value);

    shown = shown ? shown : json ? json : "";
    snprintf(text, size, "%.40s%s", shown, strlen(shown) > 40 ? "..." : "");
    free(json);
}

/* As on the command line. What is no number that every reader of JSON can
 * hold is no integer there. */
static void
show_value(char *text, size_t size, const json_t *value)
{
    double v = json_number_value(value);

    if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_number(value))
        snprintf(text, size, fabs(v) > MAX_INTEGER ? "%.16e" : "%.17g", v);
    else
        show_json(text, size, value);
}

/* OpenAI's number of answers: where another member says how long they may be.
 */
static bool
is_number_of_answers(const struct request_member *m, const char *key)
{
    json_t *object = m->object->value.json;
    void *at = strcmp(key, "n") == 0 ? json_object_iter(object) : NULL;

    for (; at; at = json_object_iter_next(object, at)) {
        const char *other = json_object_iter_key(at);

        if (strcmp(other, key) != 0 &&
            strcmp(option_of(m->all, other), "count") == 0 &&
            !json_is_null(json_object_iter_value(at)))
            return true;
    }
    return false;
}

/* Two members that are the same option, and say different things. */
static enum gg_status
check_twice(const struct request_member *m, struct gg_error *err)
{
    json_t *object = m->object->value.json;
    void *at = json_object_iter(object);

    for (; at; at = json_object_iter_next(object, at)) {
        const char *other = json_object_iter_key(at);

        if (strcmp(other, m->key) != 0 &&
            !json_is_null(json_object_iter_value(at)) &&
            !is_number_of_answers(m, other) &&
            strcmp(option_of(m->all, other), option_of(m->all, m->key)) == 0 &&
            !json_equal(m->value.json, json_object_iter_value(at)))
            return cli_error(err, GG_ERR_FORMAT,
                             "%s and %s say different things", m->key, other);
    }
    return GG_OK;
}

/* Each is named once, as far as there is room for names. */
static void
warn_of_unknown(struct requests *all, const struct request *r, const char *key)
{
    char shown[200];
    size_t i = 0;

    while (i < all->n_unknown && strcmp(all->unknown[i], key) != 0)
        i++;
    if (i < all->n_unknown || i == REQUESTS_UNKNOWN || all->quiet)
        return;
    all->unknown[all->n_unknown++] = cli_copy(key, strlen(key));
    cli_warn("record %" PRIu64 ": %s is no option: it %schanges nothing",
             r->number, gg_escape(shown, sizeof(shown), key, strlen(key)),
             r->batch ? "" : "is passed through, and ");
}

static enum gg_status
set_other(const struct request_member *m, struct gg_error *err)
{
    enum known known = known_member(m->key, m->value.json);

    if (known == KNOWN_REFUSED)
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: it would change the answer, and is not "
                         "supported",
                         m->key);
    if (known == KNOWN_NOT)
        warn_of_unknown(m->all, m->r, m->key);
    return GG_OK;
}

static enum gg_status
set_sampling(const struct request_member *m, struct gg_error *err)
{
    char shown[32];
    const struct cli_option *row = cli_option_of_member(sampling_rows, m->key);
    enum gg_status st;

    if (!row)
        return set_other(m, err);
    show_value(shown, sizeof(shown), m->value.json);
    st = cli_option_set(row, &m->r->sampling, shown, err);
    file_sampling_said(&m->r->sampling, row->name);
    return st == GG_OK ? check_twice(m, err) : st;
}

/* Options whose values are not as on the command line. */
static const struct {
    const char *option;
    enum gg_status (*set)(const struct request_member *m, struct gg_error *err);
} setters[] = {
    { "stop", request_set_stop },
    { "lora", request_set_adapters },
    { "control-vector", request_set_adapters },
    { "choice", request_set_choice },
    { "logit-bias", request_set_bias },
    { "dry-sequence-breaker", request_set_breakers },
    { "ban", request_set_ban },
    { "samplers", request_set_samplers },
    { "grammar", request_set_grammar },
    { "json-schema", request_set_grammar },
    { "suffix", set_suffix },
    { "echo", request_set_echo },
    { "logprobs", request_set_logprobs },
    { "tools", request_set_tools },
    { "tool-choice", request_set_tool_choice },
    { "tool_choice", request_set_tool_choice },
    { "reasoning", request_set_reasoning },
    { "reasoning-budget", request_set_budget },
    { "reasoning-budget-message", request_set_message },
    { "template-arg", request_set_arguments },
};

static enum gg_status
set_option(const struct request_member *m, struct gg_error *err)
{
    const char *option = option_of(m->all, m->key);
    bool taken = false;
    enum gg_status st = GG_OK;

    if (json_is_null(m->value.json))
        return GG_OK;
    if (m->r->batch)
        st = batch_set(m->r, m->key, m->value.json, &taken, err);
    if (st != GG_OK || taken)
        return st;
    for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++)
        if (strcmp(option, setters[i].option) == 0)
            return setters[i].set(m, err);
    if (!is_number_of_answers(m, m->key))
        return set_sampling(m, err);
    return json_number_value(m->value.json) == 1
               ? GG_OK
               : cli_error(err, GG_ERR_FORMAT,
                           "n: one answer is made, no more");
}

enum gg_status
request_read_options(struct requests *all, struct request *r,
                     const struct record_object *object, struct gg_error *err)
{
    struct request_member m = { .all = all, .r = r, .object = object };
    enum gg_status st = GG_OK;

    r->sampling.has_seed = false;
    r->sampling.takes_none =
        (r->batch && r->batch->kind != BATCH_CHAT) ||
        json_is_true(json_object_get(object->value.json, "echo"));
    for (size_t i = 0; st == GG_OK && i < object->n; i++) {
        m.key = object->members[i].key;
        m.value = object->members[i].value;
        st = set_option(&m, err);
    }
    r->has_seed = r->sampling.has_seed;
    return st;
}

#endif
