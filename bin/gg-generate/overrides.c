/* overrides.c - options of one record in JSON, for the command line's */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/batch.h"
#include "gg-generate/known.h"
#include "gg-generate/members.h"
#include "gg-generate/options.h"
#include "gg-generate/overrides.h"

#define MAX_INTEGER 9007199254740991 /* what every reader of JSON can hold */
#define MAX_BIAS    1e6              /* as on the command line */

/* What a member is called as an option. */
static const char *
option_of(const char *key)
{
    const struct cli_option *o = cli_option_of_member(generate_rows, key);

    return o ? o->name : key;
}

/* Takes the value, or each of an array. */
static enum gg_status
take_each(struct record *r, const json_t *value,
          enum gg_status (*take)(struct record *r, const json_t *value,
                                 struct gg_error *err),
          struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!json_is_array(value))
        return take(r, value, err);
    for (size_t i = 0; st == GG_OK && i < json_array_size(value); i++)
        st = take(r, json_array_get(value, i), err);
    return st;
}

static enum gg_status
add_stop(struct record *r, const json_t *value, struct gg_error *err)
{
    if (!json_is_string(value) || json_string_length(value) == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "stop: not a string with something in it, nor an "
                         "array of such");
    return gg_stop_add(r->stop, json_string_value(value),
                       json_string_length(value), err);
}

static enum gg_status
set_stop(const struct override *o, struct gg_error *err)
{
    struct record *r = o->r;
    enum gg_status st = r->stop ? GG_OK : gg_stop_new(&r->stop, err);

    return st == GG_OK ? take_each(r, o->value, add_stop, err) : st;
}

static enum gg_status
add_choice(struct record *r, const json_t *value, struct gg_error *err)
{
    if (json_is_string(value))
        return choices_add(&r->choices, json_string_value(value),
                           json_string_length(value), err);
    return cli_error(err, GG_ERR_FORMAT,
                     "choice: an array that has not strings only");
}

/* A string is a list as on the command line. */
static enum gg_status
set_choice(const struct override *o, struct gg_error *err)
{
    const json_t *value = o->value;

    if (json_is_string(value))
        return choices_add_list(&o->r->choices, json_string_value(value), err);
    if (!json_is_array(value) || json_array_size(value) == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "choice: neither a string nor an array of such");
    return take_each(o->r, value, add_choice, err);
}

static enum gg_status
set_suffix(const struct override *o, struct gg_error *err)
{
    size_t len = json_string_length(o->value);
    struct record *r = o->r;

    if (!json_is_string(o->value))
        return cli_error(err, GG_ERR_FORMAT, "suffix: not a string");
    if (len == 0) /* what other programs say for none */
        return GG_OK;
    r->suffix = cli_alloc(NULL, len + 1, 1);
    memcpy(r->suffix, json_string_value(o->value), len + 1);
    r->n_suffix = len;
    return GG_OK;
}

static char *
copied(const char *text)
{
    return strcpy(cli_alloc(NULL, strlen(text) + 1, 1), text);
}

/* The array as it stands in the text: the order of members counts. */
static enum gg_status
set_tools(const struct override *o, struct gg_error *err)
{
    struct record *r = o->r;
    struct member m;
    size_t n;

    if (!json_is_array(o->value) || !member_find(o->text, o->key, &m))
        return cli_error(err, GG_ERR_FORMAT, "tools: not an array");
    if (json_array_size(o->value) == 0)
        return GG_OK;
    n = (size_t)(m.end - m.value);
    free(r->tools);
    r->tools = cli_alloc(NULL, n + 1, 1);
    memcpy(r->tools, m.value, n);
    r->tools[n] = '\0';
    return GG_OK;
}

/* A word; those of another interface mean what required does. */
static enum gg_status
set_choice_word(struct record *r, const char *word, struct gg_error *err)
{
    if (strcmp(word, "any") == 0)
        word = "required";
    if (strcmp(word, "none") && strcmp(word, "auto") &&
        strcmp(word, "required"))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: none of none, auto, required");
    free(r->tool_choice);
    r->tool_choice = copied(word);
    return GG_OK;
}

/* {"mode": ..., "tools": [...]}, by itself or in a member. */
static enum gg_status
set_allowed_tools(struct record *r, json_t *value, struct gg_error *err)
{
    json_t *inner = json_object_get(value, "allowed_tools");
    json_t *mode = json_object_get(inner ? inner : value, "mode");
    json_t *tools = json_object_get(inner ? inner : value, "tools");

    if (!json_array_size(tools))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: allowed_tools without tools");
    free(r->allowed_tools);
    r->allowed_tools = cli_json_dump(tools, JSON_COMPACT);
    if (mode && !cli_json_text(mode))
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: a mode that is no word");
    return set_choice_word(r, mode ? cli_json_text(mode) : "auto", err);
}

/* A word; an object with one, as {"type": "any"}; {"type": "function",
 * "function": {"name": ...}}, or with a name by itself; allowed_tools. */
static enum gg_status
set_tool_choice(const struct override *o, struct gg_error *err)
{
    const json_t *function = json_object_get(o->value, "function");
    const char *word = cli_json_text(o->value), *name;
    const char *type = cli_json_text(json_object_get(o->value, "type"));

    name = cli_json_text(
        json_object_get(function ? function : o->value, "name"));
    if (type && strcmp(type, "allowed_tools") == 0)
        return set_allowed_tools(o->r, o->value, err);
    if (!word && !function && !name)
        word = type;
    if (word)
        return set_choice_word(o->r, word, err);
    if (!name || !*name)
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: neither a word nor a function with a "
                         "name");
    free(o->r->tool_choice);
    o->r->tool_choice = copied(name);
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

/* ---- biases: {"ID": x} or [[ID, x]], where x may be false: never ---- */

static enum gg_status
add_bias(struct record *r, double id, const json_t *x, struct gg_error *err)
{
    double add = json_is_false(x) ? -INFINITY : json_number_value(x);

    if (!(id >= 0 && id <= INT32_MAX) || id != floor(id))
        return cli_error(err, GG_ERR_FORMAT, "logit_bias: what is no id");
    if (!json_is_false(x) && !(json_is_number(x) && fabs(add) <= MAX_BIAS))
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: neither false nor a number from %g to %g",
                         -MAX_BIAS, MAX_BIAS);
    r->bias[r->sampling.n_bias++] = (struct gg_bias){ (int32_t)id, (float)add };
    return GG_OK;
}

static enum gg_status
add_named(struct record *r, json_t *object, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    void *at = json_object_iter(object);

    for (; at && st == GG_OK; at = json_object_iter_next(object, at)) {
        int64_t id = -1;

        st = cli_read_int("logit_bias", json_object_iter_key(at), 0, INT32_MAX,
                          &id, err);
        if (st == GG_OK)
            st = add_bias(r, (double)id, json_object_iter_value(at), err);
    }
    return st;
}

static enum gg_status
add_pair(struct record *r, const json_t *pair, struct gg_error *err)
{
    const json_t *id = json_array_get(pair, 0);

    if (json_array_size(pair) != 2)
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: what is no pair of id and number");
    return add_bias(r, json_is_number(id) ? json_number_value(id) : -1,
                    json_array_get(pair, 1), err);
}

static enum gg_status
set_biases(const struct override *o, struct gg_error *err)
{
    struct record *r = o->r;
    size_t n = json_is_object(o->value) ? json_object_size(o->value)
                                        : json_array_size(o->value);

    free(r->bias);
    r->sampling.bias = r->bias = cli_alloc(NULL, n, sizeof(*r->bias));
    r->sampling.n_bias = 0;
    if (json_is_object(o->value))
        return add_named(r, o->value, err);
    if (!json_is_array(o->value))
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: neither an object nor an array");
    return take_each(r, o->value, add_pair, err);
}

/* ---- strings at which DRY begins anew ---- */

static enum gg_status
add_breaker(struct record *r, const json_t *value, struct gg_error *err)
{
    const char *text = cli_json_text(value);
    char *copy;

    if (!text || !*text)
        return cli_error(
            err, GG_ERR_FORMAT,
            "dry_sequence_breaker: neither a string with something "
            "in it, and no NUL, nor an array of such");
    if (strcmp(text, "none") == 0)
        return GG_OK;
    copy = strcpy(cli_alloc(NULL, strlen(text) + 1, 1), text);
    r->breakers[r->sampling.n_breakers++] = copy;
    return GG_OK;
}

static enum gg_status
set_breakers(const struct override *o, struct gg_error *err)
{
    struct record *r = o->r;
    size_t n = json_is_array(o->value) ? json_array_size(o->value) : 1;

    if (r->breakers)
        return cli_error(err, GG_ERR_FORMAT,
                         "dry_sequence_breaker: there twice");
    r->breakers = cli_alloc(NULL, n, sizeof(*r->breakers));
    r->sampling.breakers = (const char **)r->breakers;
    r->sampling.n_breakers = 0;
    r->sampling.no_breakers = r->sampling.breakers_are_own = true;
    return take_each(r, o->value, add_breaker, err);
}

/* ---- all ---- */

/* OpenAI's number of answers: where another member says how long they may be.
 */
static bool
is_number_of_answers(const char *key, json_t *object)
{
    void *at = strcmp(key, "n") == 0 ? json_object_iter(object) : NULL;

    for (; at; at = json_object_iter_next(object, at)) {
        const char *other = json_object_iter_key(at);

        if (strcmp(other, key) != 0 && strcmp(option_of(other), "count") == 0 &&
            !json_is_null(json_object_iter_value(at)))
            return true;
    }
    return false;
}

/* Two members that are the same option, and say different things. */
static enum gg_status
check_twice(const struct override *o, struct gg_error *err)
{
    void *at = json_object_iter(o->object);

    for (; at; at = json_object_iter_next(o->object, at)) {
        const char *other = json_object_iter_key(at);

        if (strcmp(other, o->key) != 0 &&
            !json_is_null(json_object_iter_value(at)) &&
            !is_number_of_answers(other, o->object) &&
            strcmp(option_of(other), option_of(o->key)) == 0 &&
            !json_equal(o->value, json_object_iter_value(at)))
            return cli_error(err, GG_ERR_FORMAT,
                             "%s and %s say different things", o->key, other);
    }
    return GG_OK;
}

/* Each is named once, as far as there is room for names. */
static void
warn_of_unknown(struct generate *g, const struct record *r, const char *key)
{
    char shown[200];
    size_t i = 0;

    while (i < g->n_unknown && strcmp(g->unknown[i], key) != 0)
        i++;
    if (i < g->n_unknown || i == MAX_UNKNOWN || g->o->engine.quiet)
        return;
    g->unknown[g->n_unknown++] =
        strcpy(cli_alloc(NULL, strlen(key) + 1, 1), key);
    cli_warn("record %" PRIu64 ": %s is no option: it %schanges nothing",
             r->number, gg_escape(shown, sizeof(shown), key, strlen(key)),
             r->batch ? "" : "is passed through, and ");
}

static enum gg_status
set_other(const struct override *o, struct gg_error *err)
{
    enum known known = known_member(o->key, o->value);

    if (known == KNOWN_REFUSED)
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: it would change the answer, and is not "
                         "supported",
                         o->key);
    if (known == KNOWN_NOT)
        warn_of_unknown(o->g, o->r, o->key);
    return GG_OK;
}

static enum gg_status
set_sampling(const struct override *o, struct gg_error *err)
{
    char shown[32];
    const struct cli_option *row = cli_option_of_member(sampling_rows, o->key);
    enum gg_status st;

    if (!row)
        return set_other(o, err);
    show_value(shown, sizeof(shown), o->value);
    st = cli_option_set(row, &o->r->sampling, shown, err);
    return st == GG_OK ? check_twice(o, err) : st;
}

/* Those whose values are not as on the command line. */
static const struct {
    const char *option;
    enum gg_status (*set)(const struct override *o, struct gg_error *err);
} setters[] = {
    { "stop", set_stop },
    { "lora", override_adapters },
    { "control-vector", override_adapters },
    { "choice", set_choice },
    { "logit-bias", set_biases },
    { "dry-sequence-breaker", set_breakers },
    { "grammar", override_constraint },
    { "json-schema", override_constraint },
    { "suffix", set_suffix },
    { "tools", set_tools },
    { "tool-choice", set_tool_choice },
    { "tool_choice", set_tool_choice },
    { "reasoning", override_reasoning },
    { "reasoning-budget", override_budget },
    { "template-arg", override_arguments },
};

static enum gg_status
set_option(const struct override *o, struct gg_error *err)
{
    const char *option = option_of(o->key);

    bool taken = false;
    enum gg_status st = GG_OK;

    if (json_is_null(o->value))
        return GG_OK;
    if (o->r->batch)
        st = batch_set(o->r, o->key, o->value, &taken, err);
    if (st != GG_OK || taken)
        return st;
    for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++)
        if (strcmp(option, setters[i].option) == 0)
            return setters[i].set(o, err);
    if (!is_number_of_answers(o->key, o->object))
        return set_sampling(o, err);
    return json_number_value(o->value) == 1
               ? GG_OK
               : cli_error(err, GG_ERR_FORMAT,
                           "n: one answer is made, no more");
}

enum gg_status
overrides_read(struct generate *g, struct record *r, json_t *object,
               const char *text, struct gg_error *err)
{
    struct override o = { .g = g, .r = r, .object = object, .text = text };
    enum gg_status st = GG_OK;
    void *at = json_object_iter(object);

    r->sampling.has_seed = r->sampling.takes_none = false;
    for (; at && st == GG_OK; at = json_object_iter_next(object, at)) {
        o.key = json_object_iter_key(at);
        o.value = json_object_iter_value(at);
        st = set_option(&o, err);
    }
    r->has_seed = r->sampling.has_seed;
    return st;
}

#endif
