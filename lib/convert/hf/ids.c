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

/* Generation ends at others, too, of which files can name two. */
struct ends {
    struct hf_tokens *t;
    int32_t eos;
    int32_t more[2];
    size_t n;
};

static void
add_end(struct ends *e, int64_t id)
{
    static const char *const keys[] = { KEY("eot_token_id"),
                                        KEY("eom_token_id") };

    if (e->n == 2 || id < 0 || id >= e->t->n || id == e->eos ||
        (e->n == 1 && id == e->more[0]))
        return;
    gguf_set_val_u32(e->t->h->gguf, keys[e->n], (uint32_t)id);
    e->more[e->n++] = (int32_t)id;
}

/* Ends of generation, and ids that are never drawn, that generation_config.json
 * lists. */
static void
add_generation(struct ends *e)
{
    struct hf *h = e->t->h;
    char path[MAX_PATH_LENGTH];
    json_t *document = NULL;
    const json_t *list;

    snprintf(path, sizeof(path), "%s/generation_config.json", h->path);
    if (core_json_read(path, false, &document, h->here.err) != GG_OK) {
        h->here.status = GG_ERR_FORMAT;
        return;
    }
    list = json_object_get(document, "eos_token_id");
    for (size_t i = 0; i < json_array_size(list); i++)
        add_end(e, id_at(list, i));
    set_suppressed(e->t, json_object_get(document, "suppress_tokens"));
    convert_hf_sampling_set(h, document);
    json_decref(document);
}

/* Where nothing says it. */
static bool
usually_adds(const struct hf_tokens *t, bool after)
{
    if (t->kind->unigram) /* T5 has nothing in front */
        return after || t->moved;
    return t->kind->words || (t->scores && !t->kind->named && !after);
}

static void
set_adding(struct hf_tokens *t, const struct hf_post *post, bool after)
{
    const char *setting = after ? "add_eos_token" : "add_bos_token";
    const char *key = after ? KEY("add_eos_token") : KEY("add_bos_token");
    bool adds = after ? post->adds_after : post->adds_before;

    if (!post->said)
        adds = core_json_bool(&t->config, setting, usually_adds(t, after));
    gguf_set_val_bool(t->h->gguf, key, adds);
}

/* A text begins and ends as the post_processor has it, whatever the settings
 * name; generation still ends at what they name. */
void
convert_hf_set_specials(struct hf_tokens *t)
{
    struct hf_post post = convert_hf_post_read(t);
    int32_t named[HF_SPECIALS], ids[HF_SPECIALS];
    struct ends ends = { .t = t };

    for (int i = 0; i < HF_SPECIALS; i++)
        named[i] = t->h->family->encoder || !specials[i].encoder
                       ? convert_hf_special_find(t, i)
                       : -1;
    memcpy(ids, named, sizeof(ids));
    ids[HF_BOS] = post.before >= 0 ? post.before : named[HF_BOS];
    ids[HF_EOS] = post.after >= 0 ? post.after : named[HF_EOS];
    for (int i = 0; i < HF_SPECIALS; i++)
        if (ids[i] >= 0)
            gguf_set_val_u32(t->h->gguf, specials[i].key, (uint32_t)ids[i]);
    set_adding(t, &post, false);
    set_adding(t, &post, true);
    ends.eos = ids[HF_EOS];
    add_end(&ends, named[HF_EOS]);
    add_generation(&ends);
}

#endif
