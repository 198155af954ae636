/* request_prompt.c - the prompts of a request: texts, ids, or messages */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "common/records/request_parts.h"

enum {
    MOST_ANSWERS = 1024, /* to all prompts of a request */
};

static enum gg_status
read_id(const json_t *value, int32_t *out, struct gg_error *err)
{
    double x = json_number_value(value);

    if (!json_is_number(value) || !(x >= 0 && x <= INT32_MAX) || x != floor(x))
        return cli_error(err, GG_ERR_FORMAT,
                         "prompt: neither a string, nor an array of one, nor "
                         "of ids");
    *out = (int32_t)x;
    return GG_OK;
}

static enum gg_status
read_ids(const json_t *array, struct request_prompt *to, struct gg_error *err)
{
    size_t n = json_array_size(array);
    enum gg_status st = GG_OK;

    to->kind = REQUEST_IDS;
    to->ids = cli_alloc(NULL, n, sizeof(*to->ids));
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = read_id(json_array_get(array, i), &to->ids[i], err);
    to->n_ids = n;
    return st;
}

static enum gg_status
read_one(const json_t *prompt, struct request_prompt *to, struct gg_error *err)
{
    if (json_is_array(prompt) && json_array_size(prompt))
        return read_ids(prompt, to, err);
    if (!json_is_string(prompt))
        return cli_error(err, GG_ERR_FORMAT,
                         json_is_array(prompt)
                             ? "the prompt is empty"
                             : "no prompt that is a string, and no messages");
    to->kind = REQUEST_TEXT;
    to->text = json_string_value(prompt);
    to->len = json_string_length(prompt);
    return GG_OK;
}

static struct request_prompt *
make_prompts(struct request *r, size_t n)
{
    r->prompts = cli_alloc(NULL, n, sizeof(*r->prompts));
    for (size_t i = 0; i < n; i++)
        r->prompts[i] = (struct request_prompt){ 0 };
    r->n_prompts = n;
    return r->prompts;
}

/* Choices and echoes are those of one prompt. */
static enum gg_status
read_several(struct request *r, const json_t *array, struct gg_error *err)
{
    size_t n = json_array_size(array);
    enum gg_status st = GG_OK;

    if (!r->batch || r->choices.n || r->echo)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         r->batch ? "prompt: several, with echo or choice"
                                  : "prompt: a record has one, not several");
    if (r->n_answers * n > MOST_ANSWERS)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "prompt: more than %d answers to all", MOST_ANSWERS);
    make_prompts(r, n);
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = read_one(json_array_get(array, i), &r->prompts[i], err);
    return st;
}

/* In OpenAI's interface an array is several prompts, or ids. */
enum gg_status
request_read_list(struct request *r, const json_t *prompt, struct gg_error *err)
{
    const json_t *first = json_array_get(prompt, 0);

    if (!json_is_string(first) && !json_is_array(first))
        return read_one(prompt, make_prompts(r, 1), err);
    return json_array_size(prompt) > 1
               ? read_several(r, prompt, err)
               : read_one(first, make_prompts(r, 1), err);
}

enum gg_status
request_read_prompts(struct request *r, const struct record_object *object,
                     struct gg_error *err)
{
    const struct record_value *prompt = record_object_find(object, "prompt");
    const struct record_value *messages =
        record_object_find(object, "messages");

    if (!messages)
        return request_read_list(r, prompt ? prompt->json : NULL, err);
    if (prompt)
        return cli_error(err, GG_ERR_FORMAT, "both prompt and messages");
    if (!json_is_array(messages->json))
        return cli_error(err, GG_ERR_FORMAT, "messages that are not an array");
    *make_prompts(r, 1) = (struct request_prompt){ .kind = REQUEST_MESSAGES,
                                                   .text = messages->text,
                                                   .len = messages->len };
    return GG_OK;
}

#endif
