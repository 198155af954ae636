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

/* Addresses of the kinds of requests: with "/v1" in front, or without, as
 * Azure, Jina, Cohere and llama.cpp's server have them. */
static const struct {
    const char *path;
    enum batch_kind kind;
} urls[] = {
    { "/chat/completions", BATCH_CHAT }, { "/completions", BATCH_TEXT },
    { "/embeddings", BATCH_EMBEDS },     { "/rerank", BATCH_RANKS },
    { "/reranking", BATCH_RANKS },
};

/* Cohere's second version has ranks only. */
static bool
kind_of_url(const char *url, enum batch_kind *kind)
{
    bool second = strncmp(url, "/v2/", 4) == 0;
    const char *path = url + (second || strncmp(url, "/v1/", 4) == 0 ? 3 : 0);

    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
        if (strcmp(path, urls[i].path) == 0) {
            *kind = urls[i].kind;
            return !second || *kind == BATCH_RANKS;
        }
    return false;
}

/* Absent is what the body says itself. */
static enum gg_status
read_url(struct batch *b, const json_t *url, const json_t *body,
         struct gg_error *err)
{
    const char *text = cli_json_text(url);
    char shown[100];

    b->kind = json_object_get(body, "messages") ? BATCH_CHAT : BATCH_TEXT;
    if (!url || (text && kind_of_url(text, &b->kind)))
        return GG_OK;
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "url: %s is neither /v1/chat/completions, nor "
                     "/v1/completions, nor /v1/embeddings, nor /v1/rerank",
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
    b->lenient = json_is_true(json_object_get(json, "lenient"));
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
    if (r->batch->kind != BATCH_CHAT)
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

    if ((r->batch->kind == BATCH_CHAT) != messages)
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

/* ---- scores of documents ---- */

static enum gg_status
set_query(struct request *r, const json_t *value, struct gg_error *err)
{
    (void)r; /* it is read with the documents */
    return json_is_string(value)
               ? GG_OK
               : cli_error(err, GG_ERR_FORMAT, "query: not a string");
}

static enum gg_status
set_best(struct request *r, const json_t *value, struct gg_error *err)
{
    return request_read_count(value, "top_n", 1, 1 << 20, &r->batch->n_best,
                              err);
}

static enum gg_status
set_returns(struct request *r, const json_t *value, struct gg_error *err)
{
    r->batch->returns = json_is_true(value);
    return json_is_boolean(value)
               ? GG_OK
               : cli_error(err, GG_ERR_FORMAT,
                           "return_documents: neither true nor false");
}

/* A text, or an object with one. */
static const json_t *
text_of(const json_t *document)
{
    return json_is_object(document) ? json_object_get(document, "text")
                                    : document;
}

/* The query, and the documents after it. */
static enum gg_status
read_documents(struct request *r, const json_t *body, struct gg_error *err)
{
    const json_t *list = json_object_get(body, "documents");
    size_t n = json_array_size(list);

    if (!json_object_get(body, "query") || n == 0)
        return cli_error(err, GG_ERR_FORMAT,
                         n ? "no query" : "documents: not a list of texts");
    r->prompts = cli_alloc(NULL, n + 1, sizeof(*r->prompts));
    r->n_prompts = n + 1;
    for (size_t i = 0; i <= n; i++) {
        const json_t *text = i ? text_of(json_array_get(list, i - 1))
                               : json_object_get(body, "query");

        r->prompts[i] = (struct request_prompt){ .kind = REQUEST_TEXT };
        if (!json_is_string(text))
            return cli_error(err, GG_ERR_FORMAT,
                             "documents: not a list of texts");
        r->prompts[i].text = json_string_value(text);
        r->prompts[i].len = json_string_length(text);
    }
    return GG_OK;
}

/* ---- members of both ---- */

enum {
    OF_EMBEDDINGS = 1,
    OF_RANKS = 2,
};

static enum gg_status
ignore(struct request *r, const json_t *value, struct gg_error *err)
{
    (void)r, (void)value, (void)err;
    return GG_OK;
}

static const struct vector_member {
    const char *key;
    int of;
    enum gg_status (*set)(struct request *r, const json_t *value,
                          struct gg_error *err);
} vector_members[] = {
    { "input", OF_EMBEDDINGS, read_input },
    { "encoding_format", OF_EMBEDDINGS, set_format },
    { "dimensions", OF_EMBEDDINGS, set_dimensions },
    { "query", OF_RANKS, set_query },
    { "documents", OF_RANKS, ignore },
    { "top_n", OF_RANKS, set_best },
    { "return_documents", OF_RANKS, set_returns },
    { "model", OF_EMBEDDINGS | OF_RANKS, ignore },
    { "user", OF_EMBEDDINGS | OF_RANKS, ignore },
};

static enum gg_status
set_vector_member(struct request *r, const struct record_member *m,
                  struct gg_error *err)
{
    size_t i = 0, n = sizeof(vector_members) / sizeof(*vector_members);
    int of = r->batch->kind == BATCH_RANKS ? OF_RANKS : OF_EMBEDDINGS;
    char shown[100];

    while (i < n && (!(vector_members[i].of & of) ||
                     strcmp(m->key, vector_members[i].key) != 0))
        i++;
    if (i < n)
        return vector_members[i].set(r, m->value.json, err);
    return cli_error(err, GG_ERR_UNSUPPORTED, "%s: no member of %s",
                     gg_escape(shown, sizeof(shown), m->key, strlen(m->key)),
                     r->batch->kind == BATCH_RANKS ? "/v1/rerank"
                                                   : "/v1/embeddings");
}

enum gg_status
batch_read_vectors(struct request *r, const struct record_object *body,
                   struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < body->n && st == GG_OK; i++)
        if (!json_is_null(body->members[i].value.json))
            st = set_vector_member(r, &body->members[i], err);
    if (st == GG_OK && r->batch->kind == BATCH_RANKS)
        st = read_documents(r, body->value.json, err);
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
