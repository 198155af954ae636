/* translate_request.c - members of requests that mean the same in several
 * interfaces, and those that are left out
 *
 * What the engine knows is its own business (common/records/known.h): a member
 * that would change the answer is refused there. Here is what clients send that
 * changes no answer's meaning, or a little only. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/options.h"
#include "gg-serve/translate_impl.h"

/* Members that are left out, and a value of which nobody needs to be told;
 * after '=' it is any. */
static const struct {
    const char *key, *quiet;
} left_out[] = {
    { "store", "false" },
    { "metadata", "{}" },
    { "user", "" },
    { "service_tier", "\"auto\"" },
    { "safety_identifier", "" },
    { "verbosity", "\"medium\"" },
    { "parallel_tool_calls", "true" },
    { "web_search_options", "" },
    { "prediction", "" },
    { "prompt_cache_key", "=" },
    { "prompt_cache_retention", "=" },
    { "stream_options", "=" },
    { "timings_per_token", "=" },
    { "return_progress", "=" },
    { "verbose", "=" },
    { "sse_ping_interval", "=" },
    { "backend_sampling", "=" },
    { "response_fields", "[]" },
    { "min_keep", "0" },
    { "t_max_prompt_ms", "-1" },
};

/* -1 stands for none in these. */
static const char *const none_if_negative[] = {
    "seed",      "max_tokens", "max_output_tokens", "max_completion_tokens",
    "n_predict",
};

static void
read_model_name(struct translation *t, const struct record_value *v)
{
    const char *name = cli_json_text(v->json);

    if (!name || strlen(name) > 1000) {
        translate_refuse(t, 400, "model", "model: not a name");
        return;
    }
    free(t->model_name);
    t->model_name = cli_copy(name, strlen(name));
    t->model.len = 0;
    buffer_add(&t->model, v->text, v->len);
    translate_set(t, "model", v);
}

static void
read_wish(struct translation *t, const struct record_value *v)
{
    if (!json_is_boolean(v->json))
        translate_refuse(t, 400, "stream", "stream: neither true nor false");
    t->stream = t->api->streams && json_is_true(v->json);
}

static bool
is_quiet(const char *quiet, const struct record_value *v)
{
    return *quiet == '=' ||
           (strlen(quiet) == v->len && strncmp(quiet, v->text, v->len) == 0);
}

static bool
is_left_out(struct translation *t, const char *key,
            const struct record_value *v)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (strcmp(key, left_out[i].key) != 0)
            continue;
        if (!is_quiet(left_out[i].quiet, v))
            translate_warn(t, "%s is left out", key);
        return true;
    }
    return false;
}

bool
translate_common(struct translation *t, const char *key,
                 const struct record_value *v)
{
    if (strcmp(key, "model") == 0)
        read_model_name(t, v);
    else if (strcmp(key, "stream") == 0)
        read_wish(t, v);
    else
        return is_left_out(t, key, v);
    return true;
}

/* ---- members of the engine ---- */

static bool
is_none(const char *key, const json_t *value)
{
    size_t n = sizeof(none_if_negative) / sizeof(none_if_negative[0]);

    if (!json_is_number(value) || json_number_value(value) != -1)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(key, none_if_negative[i]) == 0)
            return true;
    return false;
}

static void
read_n(struct translation *t, const json_t *value)
{
    double n = json_number_value(value);

    if (!json_is_number(value) || !(n >= 1 && n <= TRANSLATE_MOST_ANSWERS))
        translate_refuse(t, 400, "n", "n: not a number from 1 to %d",
                         TRANSLATE_MOST_ANSWERS);
    else
        t->n_answers = (size_t)n;
}

void
translate_pass(struct translation *t, const char *key,
               const struct record_value *v)
{
    if (json_is_null(v->json))
        return;
    if (is_none(key, v->json)) {
        translate_warn(t, "%s: -1 is left out", key);
        return;
    }
    if (strcmp(key, "n") == 0)
        read_n(t, v->json);
    if (cli_has_word("stop|stop_sequences", key) &&
        json_array_size(v->json) > TRANSLATE_MOST_STOPS)
        translate_refuse(t, 400, key, "stop: more than %d strings",
                         TRANSLATE_MOST_STOPS);
    translate_set(t, key, v);
}

void
translate_tell(struct translation *t, const struct record_value *v)
{
    (void)t, (void)v; /* read_known() knows the name */
}

static void
read_known(struct translation *t, const struct translate_member *known,
           const char *key, const struct record_value *v)
{
    bool is_none = json_is_array(v->json) && json_array_size(v->json) == 0;

    while (known->keys && !cli_has_word(known->keys, key))
        known++;
    if (!known->keys && !translate_common(t, key, v))
        translate_pass(t, key, v);
    else if (known->read == translate_tell && !is_none)
        translate_warn(t, "%s is left out", key);
    else if (known->read)
        known->read(t, v);
}

void
translate_read_members(struct translation *t, const struct record_object *body,
                       const struct translate_member *known)
{
    for (size_t i = 0; i < body->n && t->status == 200; i++) {
        const struct record_member *m = &body->members[i];

        if (!json_is_null(m->value.json))
            read_known(t, known, m->key, &m->value);
    }
}

/* ---- tools ---- */

void
translate_begin_tools(struct translation *t, const struct record_value *v,
                      struct record_items *items)
{
    if (!json_is_array(v->json))
        translate_refuse(t, 400, "tools", "tools: not an array");
    record_items_open(v, items);
    translate_put(&t->body, ",'tools':[");
}

void
translate_add_tool(struct translation *t, const struct record_value *tool,
                   const char *name, const char *schema)
{
    struct record_value v;

    if (!*name)
        translate_refuse(t, 400, "tools", "tools: one without a name");
    translate_put(&t->body, "%s{'type':'function','function':{'name':%q",
                  t->body.p[t->body.len - 1] == '[' ? "" : ",", name);
    if (record_value_find(tool, "description", &v))
        translate_put(&t->body, ",'description':%v", &v);
    if (!schema)
        translate_put(
            &t->body,
            ",'parameters':{'type':'object','properties':{'" TRANSLATE_INPUT
            "':{'type':'string'}},'required':['" TRANSLATE_INPUT "']}");
    else if (record_value_find(tool, schema, &v))
        translate_put(&t->body, ",'parameters':%v", &v);
    translate_put(&t->body, "}}");
}

bool
translate_keep_tool(struct translation *t, const char *space, const char *name,
                    const char *flat, bool is_text)
{
    size_t i = 0;

    while (i < t->n_tools && strcmp(t->tools[i].flat, flat) != 0)
        i++;
    if (i < t->n_tools)
        translate_refuse(t, 400, "tools", "tools: two of the name '%.200s'",
                         flat);
    else if (i == TRANSLATE_MOST_TOOLS)
        translate_refuse(t, 400, "tools", "tools: more than %d", (int)i);
    if (t->status != 200)
        return false;
    t->tools = cli_alloc(t->tools, i + 1, sizeof(*t->tools));
    t->tools[t->n_tools++] = (struct translate_tool){
        .flat = cli_copy(flat, strlen(flat)),
        .name = cli_copy(name, strlen(name)),
        .space = *space ? cli_copy(space, strlen(space)) : NULL,
        .is_text = is_text,
    };
    return true;
}

/* ---- the engine's body ---- */

void
translate_add_whole(struct translation *t, const struct record_value *body,
                    struct buffer *out)
{
    const char *id = t->api->row->id;
    struct record_object o;

    record_object_open(body, &o);
    translate_put(out, id ? "{'id':'%s-%s'," : "{", id, t->with.unique);
    for (size_t i = 0; i < o.n; i++) {
        const char *key = o.members[i].key;

        if (strcmp(key, "id") == 0 || strcmp(key, "warnings") == 0)
            continue; /* they are written anew */
        translate_put(out, "%q:", key);
        if (strcmp(key, "created") == 0)
            translate_put(out, "%n", (double)t->with.date);
        else if (strcmp(key, "model") == 0 && (t->model.len || t->with.model))
            translate_add_model(t, out);
        else
            translate_add_value(out, &o.members[i].value);
        buffer_char(out, ',');
    }
    out->len -= out->p[out->len - 1] == ',';
    translate_add_warnings(t, out);
    buffer_char(out, '}');
    record_object_close(&o);
}

#endif
