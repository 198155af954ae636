/* post.c - what a post_processor of tokenizer.json puts around a text
 *
 * TemplateProcessing lists tokens and the text, A; BertProcessing and
 * RobertaProcessing put one token in front and one after; a Sequence has
 * several steps, of which a later one's tokens are the outer ones. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/tokens.h"

enum {
    MAX_DEPTH = 8, /* of a Sequence in a Sequence */
};

static bool
is_type(const json_t *step, const char *type)
{
    const char *s = json_string_value(json_object_get(step, "type"));

    return s && !strcmp(s, type);
}

/* The token of the id, or else of the text; -1: there is none. */
static int32_t
token_of(const struct hf_tokens *t, const json_t *id, const json_t *text)
{
    if (json_is_integer(id) && json_integer_value(id) >= 0 &&
        json_integer_value(id) < t->n)
        return (int32_t)json_integer_value(id);
    return json_is_string(text)
               ? convert_hf_token_find(t, json_string_value(text),
                                       json_string_length(text))
               : -1;
}

/* The outermost token of a side stays. */
static void
add_outer(struct hf_post *p, bool after, int32_t id)
{
    int32_t *outer = after ? &p->after : &p->before;

    *(after ? &p->adds_after : &p->adds_before) = true;
    if (id >= 0)
        *outer = id;
}

/* A special token of a template stands for a list of ids. */
static void
add_special(const struct hf_tokens *t, const json_t *step, const json_t *name,
            bool after, struct hf_post *p)
{
    const json_t *map = json_object_get(step, "special_tokens"), *ids;
    const char *key = json_string_value(name);

    ids = key ? json_object_get(json_object_get(map, key), "ids") : NULL;
    add_outer(
        p, after,
        token_of(t, json_array_get(ids, after ? json_array_size(ids) - 1 : 0),
                 name));
}

static const json_t *
special_at(const json_t *single, size_t i)
{
    return json_object_get(json_array_get(single, i), "SpecialToken");
}

/* The first piece and the last one are the outer ones; a token with no text
 * before it stands in front. */
static void
read_template(const struct hf_tokens *t, const json_t *step, struct hf_post *p)
{
    const json_t *single = json_object_get(step, "single");
    size_t n = json_array_size(single);

    for (int after = 0; after < 2 && n > 0; after++) {
        const json_t *s = special_at(single, after ? n - 1 : 0);

        if (s && (n > 1 || !after))
            add_special(t, step, json_object_get(s, "id"), after, p);
    }
}

/* ["[CLS]", 101] */
static void
add_pair(const struct hf_tokens *t, const json_t *pair, bool after,
         struct hf_post *p)
{
    add_outer(p, after,
              token_of(t, json_array_get(pair, 1), json_array_get(pair, 0)));
}

static void
read_step(const struct hf_tokens *t, const json_t *step, int depth,
          struct hf_post *p)
{
    const json_t *list = json_object_get(step, "processors");

    p->said = p->said || json_is_object(step);
    if (is_type(step, "BertProcessing") || is_type(step, "RobertaProcessing")) {
        add_pair(t, json_object_get(step, "cls"), false, p);
        add_pair(t, json_object_get(step, "sep"), true, p);
    }
    read_template(t, step, p);
    for (size_t i = 0; i < json_array_size(list) && depth < MAX_DEPTH; i++)
        read_step(t, json_array_get(list, i), depth + 1, p);
}

struct hf_post
convert_hf_post_read(const struct hf_tokens *t)
{
    struct hf_post p = { .before = -1, .after = -1 };

    read_step(t, json_object_get(t->file.object, "post_processor"), 0, &p);
    return p;
}

#endif
