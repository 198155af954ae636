/* ids.c - ids with a meaning: what begins, ends, fills a text */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    MAX_PATH_LENGTH = 4096,
};

/* The settings that name tokens. Those of BERT have customary names, and what
 * stands in front of a text and after it begins and ends it. */
static const struct {
    const char *setting, *key;
    const char *instead; /* encoders: the setting that may stand for it */
    const char *usual;   /* BERT: where none is there */
    bool encoder;        /* encoders only */
} specials[HF_SPECIALS] = {
    { "bos_token", KEY("bos_token_id"), "cls_token", "[CLS]", false },
    { "eos_token", KEY("eos_token_id"), "sep_token", "[SEP]", false },
    { "unk_token", KEY("unknown_token_id"), NULL, "[UNK]", false },
    { "pad_token", KEY("padding_token_id"), NULL, "[PAD]", false },
    { "mask_token", KEY("mask_token_id"), NULL, "[MASK]", true },
    /* as files write it */
    { "sep_token", KEY("seperator_token_id"), NULL, "[SEP]", true },
};

/* The id of the token that a setting names, by its text or as an object; -1. */
static int32_t
id_of_text(const struct hf_tokens *t, const char *setting)
{
    const json_t *v = json_object_get(t->config.object, setting);
    const json_t *inner = json_object_get(v, "content");

    if (inner)
        v = inner;
    return json_is_string(v) ? convert_hf_token_find(t, json_string_value(v),
                                                     json_string_length(v))
                             : -1;
}

/* The i-th of a number or a list of numbers; -1. */
static int64_t
id_at(const json_t *v, size_t i)
{
    if (json_is_array(v))
        v = json_array_get(v, i);
    else if (i > 0)
        v = NULL;
    return json_is_integer(v) ? json_integer_value(v) : -1;
}

int32_t
convert_hf_special_find(const struct hf_tokens *t, int i)
{
    const char *usual = specials[i].usual;
    char setting[32];
    int64_t id = id_of_text(t, specials[i].setting);

    if (id < 0 && t->h->family->encoder && specials[i].instead)
        id = id_of_text(t, specials[i].instead);
    snprintf(setting, sizeof(setting), "%s_id", specials[i].setting);
    if (id < 0)
        id = id_at(core_json_find(&t->h->config, setting), 0);
    if (id < 0 && t->kind->words)
        id = convert_hf_token_find(t, usual, strlen(usual));
    return id < t->n ? (int32_t)id : -1;
}

/* Ids that are never drawn. */
static void
set_suppressed(struct hf_tokens *t, const json_t *list)
{
    size_t n = 0, size = json_array_size(list);
    int32_t *ids = size ? mem_array(size, sizeof(*ids)) : NULL;

    if (size && !ids)
        t->h->here.status = error_nomem(t->h->here.err);
    for (size_t i = 0; ids && i < size; i++) {
        int64_t id = id_at(list, i);

        if (id >= 0 && id < t->n)
            ids[n++] = (int32_t)id;
    }
    if (n)
        gguf_set_arr_data(t->h->gguf, KEY("suppress_tokens"), GGUF_TYPE_INT32,
                          ids, n);
    mem_free(ids);
}

/* What generation_config.json says: generation ends at others, too, of which
 * files can name two. */
static void
set_generation(struct hf_tokens *t, int32_t eos)
{
    static const char *const keys[] = { KEY("eot_token_id"),
                                        KEY("eom_token_id") };
    char path[MAX_PATH_LENGTH];
    json_t *document = NULL;
    const json_t *list;
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/generation_config.json", t->h->path);
    if (core_json_read(path, false, &document, t->h->here.err) != GG_OK) {
        t->h->here.status = GG_ERR_FORMAT;
        return;
    }
    list = json_object_get(document, "eos_token_id");
    for (size_t i = 0; i < json_array_size(list) && n < 2; i++) {
        int64_t id = id_at(list, i);

        if (id >= 0 && id < t->n && id != eos)
            gguf_set_val_u32(t->h->gguf, keys[n++], (uint32_t)id);
    }
    set_suppressed(t, json_object_get(document, "suppress_tokens"));
    json_decref(document);
}

/* Steps that always put one in front and one after. */
static bool
adds_both(const json_t *post)
{
    const char *type = json_string_value(json_object_get(post, "type"));

    return type && (!strcmp(type, "BertProcessing") ||
                    !strcmp(type, "RobertaProcessing"));
}

/* Whether the post_processor puts a token in front of a text, or after it:
 * 1 or 0; -1: it does not say. */
static int
template_adds(const struct hf_tokens *t, bool after)
{
    const json_t *post = json_object_get(t->file.object, "post_processor");
    const json_t *list = json_object_get(post, "processors"), *single;
    size_t n, i;

    for (i = 0; i < json_array_size(list); i++)
        if (json_object_get(json_array_get(list, i), "single") ||
            adds_both(json_array_get(list, i)))
            post = json_array_get(list, i);
    if (adds_both(post))
        return 1;
    single = json_object_get(post, "single");
    n = json_array_size(single);
    if (!n)
        return json_is_object(post) ? 0 : -1;
    return json_object_get(json_array_get(single, after ? n - 1 : 0),
                           "SpecialToken") != NULL;
}

/* Where nothing says it. */
static bool
usually_adds(const struct hf_tokens *t, bool after)
{
    if (t->kind->unigram) /* T5 has nothing in front */
        return after || t->moved;
    return t->kind->words || (t->scores && !after);
}

static void
set_adding(struct hf_tokens *t, const char *setting, const char *key,
           bool after)
{
    int adds = template_adds(t, after);

    if (adds < 0)
        adds = core_json_bool(&t->config, setting, usually_adds(t, after));
    gguf_set_val_bool(t->h->gguf, key, adds > 0);
}

void
convert_hf_set_specials(struct hf_tokens *t)
{
    int32_t eos = -1;

    for (int i = 0; i < HF_SPECIALS; i++) {
        int32_t id = -1;

        if (t->h->family->encoder || !specials[i].encoder)
            id = convert_hf_special_find(t, i);
        if (id >= 0)
            gguf_set_val_u32(t->h->gguf, specials[i].key, (uint32_t)id);
        if (!strcmp(specials[i].setting, "eos_token"))
            eos = id;
    }
    set_adding(t, "add_bos_token", KEY("add_bos_token"), false);
    set_adding(t, "add_eos_token", KEY("add_eos_token"), true);
    set_generation(t, eos);
}

#endif
