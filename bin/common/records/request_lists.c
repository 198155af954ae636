/* request_lists.c - members of a request that are lists */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/records/request_parts.h"

#define MAX_BIAS 1e6 /* as on the command line */

/* Takes the value, or each of an array. */
static enum gg_status
take_each(struct request *r, const json_t *value,
          enum gg_status (*take)(struct request *r, const json_t *value,
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
add_stop(struct request *r, const json_t *value, struct gg_error *err)
{
    if (!json_is_string(value) || json_string_length(value) == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "stop: not a string with something in it, nor an "
                         "array of such");
    return gg_stop_add(r->stop, json_string_value(value),
                       json_string_length(value), err);
}

enum gg_status
request_set_stop(const struct request_member *m, struct gg_error *err)
{
    struct request *r = m->r;
    enum gg_status st = r->stop ? GG_OK : gg_stop_new(&r->stop, err);

    return st == GG_OK ? take_each(r, m->value.json, add_stop, err) : st;
}

static enum gg_status
add_ban(struct request *r, const json_t *value, struct gg_error *err)
{
    if (!json_is_string(value) || json_string_length(value) == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "ban: not a string with something in it, nor an "
                         "array of such");
    return gg_stop_add(r->owned.ban, json_string_value(value),
                       json_string_length(value), err);
}

/* An empty array: nothing is banned. */
enum gg_status
request_set_ban(const struct request_member *m, struct gg_error *err)
{
    struct request *r = m->r;
    enum gg_status st = r->owned.ban ? GG_OK : gg_stop_new(&r->owned.ban, err);

    r->sampling.ban = r->owned.ban;
    return st == GG_OK ? take_each(r, m->value.json, add_ban, err) : st;
}

/* ---- samplers ---- */

static enum gg_status
join_names(const json_t *value, struct buffer *out, struct gg_error *err)
{
    size_t n = json_is_array(value) ? json_array_size(value) : 1;

    for (size_t i = 0; i < n; i++) {
        const char *name = cli_json_text(
            json_is_array(value) ? json_array_get(value, i) : value);

        if (!name)
            return cli_error(err, GG_ERR_FORMAT,
                             "samplers: neither a string nor an array of "
                             "such");
        buffer_add(out, name, strlen(name));
        buffer_char(out, ';');
    }
    buffer_char(out, '\0');
    return GG_OK;
}

enum gg_status
request_set_samplers(const struct request_member *m, struct gg_error *err)
{
    const struct cli_option *row =
        cli_option_of_member(sampling_rows, "samplers");
    struct request *r = m->r;
    struct buffer names = { 0 };
    enum gg_status st = join_names(m->value.json, &names, err);

    free(r->owned.samplers);
    r->owned.samplers = st == GG_OK ? cli_copy(names.p, names.len) : NULL;
    buffer_clear(&names);
    return st == GG_OK
               ? cli_option_set(row, &r->sampling, r->owned.samplers, err)
               : st;
}

/* ---- choices ---- */

static enum gg_status
add_choice(struct request *r, const json_t *value, struct gg_error *err)
{
    if (json_is_string(value))
        return choices_add(&r->choices, json_string_value(value),
                           json_string_length(value), err);
    return cli_error(err, GG_ERR_FORMAT,
                     "choice: an array that has not strings only");
}

/* A string is a list as on the command line. */
enum gg_status
request_set_choice(const struct request_member *m, struct gg_error *err)
{
    const json_t *value = m->value.json;

    if (json_is_string(value))
        return choices_add_list(&m->r->choices, json_string_value(value), err);
    if (!json_is_array(value) || json_array_size(value) == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         "choice: neither a string nor an array of such");
    return take_each(m->r, value, add_choice, err);
}

/* ---- biases ---- */

static enum gg_status
add_bias(struct request *r, double id, const json_t *x, struct gg_error *err)
{
    double add = json_is_false(x) ? -INFINITY : json_number_value(x);

    if (!(id >= 0 && id <= INT32_MAX) || id != floor(id))
        return cli_error(err, GG_ERR_FORMAT, "logit_bias: what is no id");
    if (!json_is_false(x) && !(json_is_number(x) && fabs(add) <= MAX_BIAS))
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: neither false nor a number from %g to %g",
                         -MAX_BIAS, MAX_BIAS);
    r->owned.bias[r->sampling.n_bias++] =
        (struct gg_bias){ (int32_t)id, (float)add };
    return GG_OK;
}

static enum gg_status
add_named(struct request *r, json_t *object, struct gg_error *err)
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
add_pair(struct request *r, const json_t *pair, struct gg_error *err)
{
    const json_t *id = json_array_get(pair, 0);

    if (json_array_size(pair) != 2)
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: what is no pair of id and number");
    return add_bias(r, json_is_number(id) ? json_number_value(id) : -1,
                    json_array_get(pair, 1), err);
}

enum gg_status
request_set_bias(const struct request_member *m, struct gg_error *err)
{
    struct request *r = m->r;
    size_t n = json_is_object(m->value.json) ? json_object_size(m->value.json)
                                             : json_array_size(m->value.json);

    free(r->owned.bias);
    r->sampling.bias = r->owned.bias =
        cli_alloc(NULL, n, sizeof(*r->owned.bias));
    r->sampling.n_bias = 0;
    if (json_is_object(m->value.json))
        return add_named(r, m->value.json, err);
    if (!json_is_array(m->value.json))
        return cli_error(err, GG_ERR_FORMAT,
                         "logit_bias: neither an object nor an array");
    return take_each(r, m->value.json, add_pair, err);
}

/* ---- strings at which DRY begins anew ---- */

static enum gg_status
add_breaker(struct request *r, const json_t *value, struct gg_error *err)
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
    copy = cli_copy(text, strlen(text));
    r->owned.breakers[r->sampling.n_breakers++] = copy;
    return GG_OK;
}

enum gg_status
request_set_breakers(const struct request_member *m, struct gg_error *err)
{
    struct request *r = m->r;
    size_t n =
        json_is_array(m->value.json) ? json_array_size(m->value.json) : 1;

    if (r->owned.breakers)
        return cli_error(err, GG_ERR_FORMAT,
                         "dry_sequence_breaker: there twice");
    r->owned.breakers = cli_alloc(NULL, n, sizeof(*r->owned.breakers));
    r->sampling.breakers = (const char **)r->owned.breakers;
    r->sampling.n_breakers = 0;
    r->sampling.no_breakers = r->sampling.breakers_are_own = true;
    return take_each(r, m->value.json, add_breaker, err);
}

#endif
