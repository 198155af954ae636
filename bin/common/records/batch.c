/* batch.c - records of OpenAI's batch files: a request each, by its id */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/json.h"
#include "common/records/batch.h"
#include "common/records/request_parts.h"

/* ---- the envelope ---- */

bool
batch_is(const struct record_value *object)
{
    return json_object_get(object->json, "custom_id") &&
           json_object_get(object->json, "body");
}

/* The value of the member as it was written, if it is a string. */
static void
keep_string(const struct record_object *object, const char *name,
            struct buffer *out)
{
    const struct record_value *value = record_object_find(object, name);

    if (value && json_is_string(value->json))
        buffer_add(out, value->text, value->len);
}

/* Absent is what the body says itself. */
static enum gg_status
read_url(struct batch *b, const json_t *url, const json_t *body,
         struct gg_error *err)
{
    const char *text = cli_json_text(url);
    char shown[100];

    b->is_chat = url ? text && strcmp(text, "/v1/chat/completions") == 0
                     : json_object_get(body, "messages") != NULL;
    b->embeds = text && strcmp(text, "/v1/embeddings") == 0;
    if (!url || b->is_chat || b->embeds || (text && strcmp(text, "/v1/completions") == 0))
        return GG_OK;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "url: %s is neither /v1/chat/completions, nor "
                     "/v1/completions, nor /v1/embeddings",
                     text ? gg_escape(shown, sizeof(shown), text, strlen(text))
                          : "what is no string");
}

static enum gg_status
check_envelope(const json_t *object, struct gg_error *err)
{
    const char *post = cli_json_text(json_object_get(object, "method"));

    if (!json_is_string(json_object_get(object, "custom_id")))
        return cli_error(err, GG_ERR_FORMAT, "custom_id: not a string");
    if (json_object_get(object, "method") && (!post || strcmp(post, "POST")))
        return cli_error(err, GG_ERR_FORMAT, "method: not POST");
    if (!json_is_object(json_object_get(object, "body")))
        return cli_error(err, GG_ERR_FORMAT, "body: not an object");
    return GG_OK;
}

enum gg_status
batch_open(struct request *r, const struct record_object *object,
           struct record_object *body, struct gg_error *err)
{
    struct batch *b = cli_alloc(NULL, 1, sizeof(*b));
    const json_t *json = object->value.json;
    enum gg_status st;

    *b = (struct batch){ 0 };
    r->batch = b;
    keep_string(object, "custom_id", &b->custom_id);
    record_object_open(record_object_find(object, "body"), body);
    keep_string(body, "model", &b->model);
    st = check_envelope(json, err);
    return st == GG_OK ? read_url(b, json_object_get(json, "url"),
                                  body->value.json, err)
                       : st;
}

/* ---- members of the body ---- */

static enum gg_status
set_top(struct request *r, const json_t *value, struct gg_error *err)
{
    if (!r->batch->is_chat)
        return cli_error(err, GG_ERR_FORMAT,
                         "top_logprobs: a completion has logprobs alone");
    r->batch->has_top = true;
    return request_read_count(value, "top_logprobs", 0, LOGPROBS_MOST,
                              &r->logprobs.n_top, err);
}

static enum gg_status
set_n(struct request *r, const json_t *value, struct gg_error *err)
{
    return request_read_count(value, "n", 1, BATCH_MOST, &r->n_answers, err);
}

static enum gg_status
set_best_of(struct request *r, const json_t *value, struct gg_error *err)
{
    return request_read_count(value, "best_of", 1, BATCH_MOST,
                              &r->batch->best_of, err);
}

static const struct {
    const char *key;
    enum gg_status (*set)(struct request *r, const json_t *value,
                          struct gg_error *err);
} setters[] = {
    { "n", set_n },
    { "best_of", set_best_of },
    { "top_logprobs", set_top },
};

enum gg_status
batch_set(struct request *r, const char *key, const json_t *value, bool *taken,
          struct gg_error *err)
{
    for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++) {
        *taken = strcmp(key, setters[i].key) == 0;
        if (*taken)
            return setters[i].set(r, value, err);
    }
    return GG_OK;
}

enum gg_status
batch_check(struct request *r, const struct record_value *body,
            struct gg_error *err)
{
    bool messages = json_object_get(body->json, "messages") != NULL;

    if (r->batch->is_chat != messages)
        return cli_error(err, GG_ERR_FORMAT,
                         messages ? "messages: a completion has a prompt"
                                  : "a chat without messages");
    if (r->batch->has_top && !r->logprobs.wanted)
        return cli_error(err, GG_ERR_FORMAT, "top_logprobs without logprobs");
    if (r->choices.n && r->n_answers > 1)
        return cli_error(err, GG_ERR_FORMAT,
                         "n: of choices there is one likeliest");
    if (r->batch->best_of && r->batch->best_of != r->n_answers)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "best_of: other than n, it would change the answer, "
                         "and is not supported");
    r->batch->ready = true;
    return GG_OK;
}

/* ---- embeddings ---- */

static enum gg_status
read_input(struct request *r, const json_t *value, struct gg_error *err)
{
    return request_read_list(r, value, err);
}

static enum gg_status
set_format(struct request *r, const json_t *value, struct gg_error *err)
{
    const char *text = cli_json_text(value);

    r->batch->is_base64 = text && strcmp(text, "base64") == 0;
    if (!text || (!r->batch->is_base64 && strcmp(text, "float") != 0))
        return cli_error(err, GG_ERR_FORMAT,
                         "encoding_format: neither float nor base64");
    return GG_OK;
}

static enum gg_status
set_dimensions(struct request *r, const json_t *value, struct gg_error *err)
{
    return request_read_count(value, "dimensions", 1, 1 << 20, &r->batch->dims,
                              err);
}

/* NULL: it changes nothing. */
static const struct {
    const char *key;
    enum gg_status (*set)(struct request *r, const json_t *value,
                          struct gg_error *err);
} embedding_setters[] = {
    { "input", read_input },
    { "encoding_format", set_format },
    { "dimensions", set_dimensions },
    { "model", NULL },
    { "user", NULL },
};

static enum gg_status
set_embedding(struct request *r, const struct record_member *m,
              struct gg_error *err)
{
    size_t i = 0, n = sizeof(embedding_setters) / sizeof(*embedding_setters);
    char shown[100];

    while (i < n && strcmp(m->key, embedding_setters[i].key) != 0)
        i++;
    if (i == n)
        return cli_error(
            err, GG_ERR_UNSUPPORTED, "%s: no member of /v1/embeddings",
            gg_escape(shown, sizeof(shown), m->key, strlen(m->key)));
    return embedding_setters[i].set
               ? embedding_setters[i].set(r, m->value.json, err)
               : GG_OK;
}

enum gg_status
batch_read_embeddings(struct request *r, const struct record_object *body,
                      struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < body->n && st == GG_OK; i++)
        if (!json_is_null(body->members[i].value.json))
            st = set_embedding(r, &body->members[i], err);
    if (st == GG_OK && r->n_prompts == 0)
        st = cli_error(err, GG_ERR_FORMAT, "no input to embed");
    r->batch->ready = st == GG_OK;
    return st;
}

/* ---- an earlier run's ---- */

bool
batch_is_answer(const struct record_value *object,
                const struct record_value *answer, struct record_value *asked,
                struct record_value *answered, bool *failed)
{
    const json_t *id = json_object_get(object->json, "custom_id");
    struct record_value response;

    record_value_find(object, "body", asked);
    record_value_find(answer, "response", &response);
    record_value_find(&response, "body", answered);
    *failed =
        json_number_value(json_object_get(response.json, "status_code")) != 200;
    return json_is_object(answered->json) &&
           (!json_is_string(id) ||
            json_equal(id, json_object_get(answer->json, "custom_id")));
}

int64_t
batch_date(const struct record_value *answered)
{
    return record_value_date(answered, "created");
}

#endif
