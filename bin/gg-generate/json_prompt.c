/* json_prompt.c - the prompt of a record in JSON */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "gg-generate/json_prompt.h"
#include "gg-generate/members.h"

enum {
    MOST_ANSWERS = 1024, /* to all prompts of a record */
};

/* The array as it stands in the line. */
static enum gg_status
encode_messages(struct generate *g, struct record *r, const char *text,
                struct gg_error *err)
{
    struct member m;

    if (!member_find(text, "messages", &m))
        return cli_error(err, GG_ERR_FORMAT, "no messages");
    return record_encode(g, r, true, m.value, (size_t)(m.end - m.value), err);
}

static enum gg_status
encode_text(struct generate *g, struct record *r, const json_t *prompt,
            struct gg_error *err)
{
    size_t len = json_string_length(prompt);
    bool empty = len == 0 && (!g->o->prompt || !*g->o->prompt) && !r->suffix &&
                 !g->o->suffix;
    enum gg_status st =
        record_take_prompt(g, r, json_string_value(prompt), len, err);

    if (st == GG_OK && !r->prompt.goes_on &&
        (r->prompt.n == 0 || (empty && g->o->bos != BOS_FIRST)))
        st = cli_error(err, GG_ERR_FORMAT, "the prompt is empty");
    return st;
}

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
encode_ids(struct generate *g, struct record *r, const json_t *array,
           struct gg_error *err)
{
    size_t n = json_array_size(array);
    int32_t *ids = cli_alloc(NULL, n + 1, sizeof(*ids));
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = read_id(json_array_get(array, i), &ids[i], err);
    if (st == GG_OK)
        st = record_take_ids(g, r, ids, n, err);
    free(ids);
    return st;
}

static enum gg_status
encode_one(struct generate *g, struct record *r, const json_t *prompt,
           struct gg_error *err)
{
    if (json_is_string(prompt))
        return encode_text(g, r, prompt, err);
    if (json_is_array(prompt) && json_array_size(prompt))
        return encode_ids(g, r, prompt, err);
    return cli_error(err, GG_ERR_FORMAT,
                     json_is_array(prompt)
                         ? "the prompt is empty"
                         : "no prompt that is a string, and no messages");
}

/* Choices and echoes are those of one prompt. */
static enum gg_status
encode_several(struct generate *g, struct record *r, const json_t *array,
               struct gg_error *err)
{
    size_t n = json_array_size(array);
    enum gg_status st = GG_OK;

    if (!r->batch || g->o->choices.n || r->choices.n || g->o->echo || r->echo)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         r->batch ? "prompt: several, with echo or choice"
                                  : "prompt: a record has one, not several");
    if (r->n_answers * n > MOST_ANSWERS)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "prompt: more than %d answers to all", MOST_ANSWERS);
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        st = encode_one(g, r, json_array_get(array, i), err);
        record_next_prompt(r);
    }
    record_end_prompts(r);
    return st;
}

/* In OpenAI's interface an array is several prompts, or ids. */
static enum gg_status
encode_array(struct generate *g, struct record *r, const json_t *array,
             struct gg_error *err)
{
    const json_t *first = json_array_get(array, 0);

    if (!json_is_string(first) && !json_is_array(first))
        return encode_one(g, r, array, err);
    return json_array_size(array) > 1 ? encode_several(g, r, array, err)
                                      : encode_one(g, r, first, err);
}

enum gg_status
json_prompt_encode(struct generate *g, struct record *r, json_t *object,
                   const char *text, struct gg_error *err)
{
    const json_t *prompt = json_object_get(object, "prompt");
    const json_t *messages = json_object_get(object, "messages");

    if (prompt && messages)
        return cli_error(err, GG_ERR_FORMAT, "both prompt and messages");
    if (messages && !json_is_array(messages))
        return cli_error(err, GG_ERR_FORMAT, "messages that are not an array");
    if (messages)
        return encode_messages(g, r, text, err);
    return json_is_array(prompt) ? encode_array(g, r, prompt, err)
                                 : encode_one(g, r, prompt, err);
}

#endif
