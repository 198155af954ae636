/* token_row.c - a projector's own row: that of a token in the model's table of
 * embeddings */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/projector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- the token's id ------------------------------------------------------ */

/* Files may be missing. */
static json_t *
read_file(struct hf *h, const char *name)
{
    char path[4096];
    json_t *file = NULL;

    if (snprintf(path, sizeof(path), "%s/%s", h->path, name) >=
        (int)sizeof(path))
        core_json_bad(&h->here, GG_ERR_IO, "the name is too long");
    else if (convert_hf_good(h))
        h->here.status = core_json_read(path, false, &file, h->here.err);
    return file;
}

static bool
is_token(const json_t *token, const char *text)
{
    const char *s = json_string_value(json_object_get(token, "content"));

    return s && !strcmp(s, text);
}

/* Below 0: it has none such. */
static int64_t
find_in_tokenizer(const json_t *file, const char *text)
{
    const json_t *list = json_object_get(file, "added_tokens"), *v;
    size_t i;

    json_array_foreach(list, i, v)
    {
        const json_t *id = json_object_get(v, "id");

        if (is_token(v, text) && json_is_integer(id))
            return json_integer_value(id);
    }
    return -1;
}

static int64_t
find_in_config(json_t *file, const char *text)
{
    json_t *map = json_object_get(file, "added_tokens_decoder"), *v;
    const char *id;
    char *end;

    json_object_foreach(map, id, v)
    {
        long long n = strtoll(id, &end, 10);

        if (is_token(v, text) && !*end)
            return n;
    }
    return -1;
}

static int64_t
find_token(struct hf *h, const char *text)
{
    json_t *file = read_file(h, "tokenizer.json");
    int64_t id = find_in_tokenizer(file, text);

    json_decref(file);
    if (id >= 0)
        return id;
    file = read_file(h, "tokenizer_config.json");
    id = find_in_config(file, text);
    json_decref(file);
    if (id < 0)
        core_json_bad(&h->here, GG_ERR_FORMAT,
                      "tokenizer.json lists no added token %s", text);
    return id;
}

/* ---- its row ------------------------------------------------------------- */

static const struct safetensors_tensor *
find_table(struct hf *h)
{
    static const char *const names[] = {
        "model.language_model.embed_tokens.weight",
        "language_model.model.embed_tokens.weight",
    };
    const struct safetensors_tensor *t = NULL;

    for (size_t i = 0; !t && i < sizeof(names) / sizeof(*names); i++)
        t = convert_hf_weights_exact(&h->weights, names[i]);
    if (!t)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is missing", names[0]);
    else if (t->n_dims != 2 || t->n == 0)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is no table", t->name);
    return t;
}

void
convert_hf_take_token_row(struct hf *h, const char *text, const char *to)
{
    int64_t id = find_token(h, text), ne[GGML_MAX_DIMS] = { 1, 1, 1, 1 };
    const struct safetensors_tensor *t = find_table(h);
    const struct safetensors_tensor **from;
    struct hf_rows r = { .n_from = 1, .n_blocks = 1, .n_rows = 1, .step = 1 };

    if (convert_hf_good(h) && id >= t->shape[0])
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: has no row of %s, %lld",
                      t->name, text, (long long)id);
    if (!convert_hf_good(h))
        return;
    from = mem_array(1, sizeof(const struct safetensors_tensor *));
    if (!from) {
        h->here.status = error_nomem(h->here.err);
        return;
    }
    from[0] = t;
    r.from = from;
    r.length = ne[0] = t->shape[1];
    r.row = r.block = (size_t)r.length;
    r.first = (size_t)id * r.row;
    convert_hf_add(h, to, GGML_TYPE_F32, ne, &r);
}

#endif
