/* bpe.c - tokenizer.json: tokens, merges, and what goes before them */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name
#define BLANK     "\xe2\x96\x81" /* U+2581 stands for it */

static const json_t *
model_of(const struct hf_tokens *t)
{
    return json_object_get(t->file.object, "model");
}

static bool
is_string(const json_t *v, const char *text)
{
    const char *s = json_string_value(v);

    return s && strcmp(s, text) == 0;
}

bool
convert_hf_bpe_is_spm(const struct hf_tokens *t)
{
    return json_is_true(json_object_get(model_of(t), "byte_fallback"));
}

/* ---- tokens -------------------------------------------------------------- */

bool
convert_hf_is_byte_name(const char *s, size_t n)
{
    return n == 6 && !memcmp(s, "<0x", 3) && s[5] == '>';
}

void
convert_hf_bpe_tokens(struct hf_tokens *t)
{
    struct core_json_keys model = t->file;
    const json_t *vocab;
    const char *text, *unknown;
    json_t *id;

    model.object = model_of(t);
    unknown = core_json_text(&model, "unk_token", "");
    vocab = core_json_object_of(&model, "vocab");
    if (model.object && !t->kind->words &&
        !is_string(json_object_get(model.object, "type"), "BPE"))
        core_json_bad(
            &t->file, GG_ERR_UNSUPPORTED,
            "model: is none of BPE, WordPiece and Unigram, which these "
            "models have");
    else if (!vocab || model.status != GG_OK)
        core_json_bad(&t->file, GG_ERR_FORMAT,
                      "model: has no vocab, or one that "
                      "makes no sense");
    json_object_foreach((json_t *)(uintptr_t)vocab, text, id)
    {
        size_t n = strlen(text);
        int32_t type = GG_TOKEN_NORMAL;

        if (t->file.status != GG_OK || !convert_hf_good(t->h))
            return;
        if (t->scores && convert_hf_bpe_is_spm(t) &&
            convert_hf_is_byte_name(text, n))
            type = GG_TOKEN_BYTE;
        else if (*unknown && !t->kind->words && strcmp(text, unknown) == 0)
            type = GG_TOKEN_UNKNOWN;
        convert_hf_token_put(t,
                             json_is_integer(id) ? json_integer_value(id) : -1,
                             text, n, type);
    }
}

/* ---- merges -------------------------------------------------------------- */

/* A merge, "left right" or ["left", "right"], as a single text with one blank
 * between the two. */
static bool
read_merge(const json_t *v, struct gguf_str *left, struct gguf_str *right)
{
    const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);
    const char *s = json_string_value(v), *blank = s ? strchr(s, ' ') : NULL;

    if (blank) {
        *left = (struct gguf_str){ s, (size_t)(blank - s) };
        *right = (struct gguf_str){ blank + 1, strlen(blank + 1) };
        return !strchr(blank + 1, ' ') && left->n && right->n;
    }
    if (json_array_size(v) != 2 || !json_is_string(a) || !json_is_string(b))
        return false;
    *left = (struct gguf_str){ json_string_value(a), json_string_length(a) };
    *right = (struct gguf_str){ json_string_value(b), json_string_length(b) };
    return left->n && right->n;
}

/* Calls back with each merge in order of its rank. */
typedef bool (*merge_fn)(struct hf_tokens *t, size_t rank,
                         const struct gguf_str *left,
                         const struct gguf_str *right, void *data);

static void
each_merge(struct hf_tokens *t, merge_fn call, void *data)
{
    const json_t *list = json_object_get(model_of(t), "merges"), *v;
    size_t i;

    json_array_foreach(list, i, v)
    {
        struct gguf_str left, right;

        if (!read_merge(v, &left, &right) || !call(t, i, &left, &right, data)) {
            core_json_bad(&t->file, GG_ERR_FORMAT, "merges: number %zu is none",
                          i);
            return;
        }
    }
}

struct joined {
    char *bytes;
    size_t used;
    struct gguf_str *list;
};

static bool
count_merge(struct hf_tokens *t, size_t rank, const struct gguf_str *left,
            const struct gguf_str *right, void *data)
{
    size_t *total = data;

    (void)rank;
    *total += left->n + right->n + 1;
    return convert_hf_token_find(t, left->s, left->n) >= 0 &&
           convert_hf_token_find(t, right->s, right->n) >= 0;
}

static bool
join_merge(struct hf_tokens *t, size_t rank, const struct gguf_str *left,
           const struct gguf_str *right, void *data)
{
    struct joined *j = data;
    char *to = j->bytes + j->used;

    (void)t;
    memcpy(to, left->s, left->n);
    to[left->n] = ' ';
    memcpy(to + left->n + 1, right->s, right->n);
    j->list[rank] = (struct gguf_str){ to, left->n + 1 + right->n };
    j->used += j->list[rank].n;
    return true;
}

static void
set_merges(struct hf_tokens *t)
{
    size_t n = json_array_size(json_object_get(model_of(t), "merges"));
    size_t total = 0;
    struct joined j = { 0 };

    each_merge(t, count_merge, &total);
    if (t->file.status != GG_OK)
        return;
    j.bytes = mem_alloc(total + 1);
    j.list = mem_array(n + 1, sizeof(*j.list));
    if (j.bytes && j.list) {
        each_merge(t, join_merge, &j);
        gguf_set_strings(t->h->gguf, KEY("merges"), j.list, n);
    } else {
        t->file.status = error_nomem(t->file.err);
    }
    mem_free(j.bytes);
    mem_free(j.list);
}

/* SentencePiece merges by the scores of what is made: those follow from the
 * first merge that makes it. What no merge makes comes last. */
static bool
score_merge(struct hf_tokens *t, size_t rank, const struct gguf_str *left,
            const struct gguf_str *right, void *data)
{
    char made[1024];
    int32_t id;

    (void)data;
    if (left->n + right->n > sizeof(made))
        return false;
    memcpy(made, left->s, left->n);
    memcpy(made + left->n, right->s, right->n);
    id = convert_hf_token_find(t, made, left->n + right->n);
    if (id >= 0 && t->scores[id] < -1e8f)
        t->scores[id] = -(float)(rank + 1);
    return id >= 0;
}

static size_t
characters(const struct gguf_str *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += ((uint8_t)s->s[i] & 0xc0) != 0x80;
    return n;
}

static void
set_scores(struct hf_tokens *t)
{
    for (int32_t i = 0; i < t->n; i++)
        t->scores[i] =
            t->types[i] == GG_TOKEN_NORMAL && characters(&t->text[i]) > 1
                ? -1e9f
                : 0;
    each_merge(t, score_merge, NULL);
}

/* ---- what goes before and after ------------------------------------------ */

/* A step of that type, which may be one of several; or NULL. */
static const json_t *
step_of(const json_t *first, const char *list, const char *type)
{
    const json_t *steps = json_object_get(first, list), *step;
    size_t i;

    if (is_string(json_object_get(first, "type"), type))
        return first;
    json_array_foreach(
        steps, i,
        step) if (is_string(json_object_get(step, "type"), type)) return step;
    return NULL;
}

bool
convert_hf_blank_in_front(const struct hf_tokens *t)
{
    const json_t *normalizer = json_object_get(t->file.object, "normalizer");
    const json_t *pre = json_object_get(t->file.object, "pre_tokenizer");
    const json_t *meta = step_of(pre, "pretokenizers", "Metaspace");
    const json_t *scheme = json_object_get(meta, "prepend_scheme");

    if (scheme)
        return !is_string(scheme, "never");
    if (meta)
        return !json_is_false(json_object_get(meta, "add_prefix_space"));
    return step_of(normalizer, "normalizers", "Prepend") != NULL;
}

/* Falcon's steps part a blank from the number after it; the kit's rule leaves
 * that to a vocabulary that has no token of the two. */
static bool
has_blank_and_digit(const struct hf_tokens *t)
{
    char token[] = "\xc4\xa0"
                   "0"; /* U+0120 stands for the blank */

    for (; token[2] <= '9'; token[2]++)
        if (convert_hf_token_find(t, token, 3) >= 0)
            return true;
    return false;
}

/* CLIP's tokens have a mark where a word ends, and no others do here. */
static void
check_ends(struct hf_tokens *t, const char *split)
{
    const char *end =
        json_string_value(json_object_get(model_of(t), "end_of_word_suffix"));
    bool clip = split && !strcmp(split, "clip");

    if (strcmp(end ? end : "", clip ? "</w>" : "") != 0)
        core_json_bad(&t->file, GG_ERR_UNSUPPORTED,
                      "end_of_word_suffix: goes with CLIP's pre_tokenizer");
}

static void
set_split(struct hf_tokens *t)
{
    const json_t *pre = json_object_get(t->file.object, "pre_tokenizer");
    bool whole = json_is_true(json_object_get(model_of(t), "ignore_merges"));
    bool begins = convert_hf_special_find(t, HF_BOS) >= 0 ||
                  convert_hf_post_read(t).before >= 0;
    const char *name = convert_hf_pre_name(pre, whole, begins);

    if (name && !strcmp(name, "falcon") && has_blank_and_digit(t))
        name = NULL;
    check_ends(t, name);
    if (!step_of(pre, "pretokenizers", "ByteLevel"))
        core_json_bad(&t->file, GG_ERR_UNSUPPORTED,
                      "pre_tokenizer: makes no bytes of a text");
    else if (name)
        gguf_set_val_str(t->h->gguf, KEY("pre"), name);
}

void
convert_hf_bpe_keys(struct hf_tokens *t)
{
    if (t->scores) {
        set_scores(t);
        gguf_set_val_bool(t->h->gguf, KEY("add_space_prefix"),
                          convert_hf_blank_in_front(t));
    } else {
        set_split(t);
        set_merges(t);
    }
}

/* Tokens of a chat's form that a reader shall see. */
static const char *const visible[] = {
    "<|channel>",       "<channel|>",       "<|tool_call>", "<tool_call|>",
    "<|tool_response>", "<tool_response|>", "<|\"|>",
};

static void
set_ranks(struct hf_tokens *t)
{
    enum {
        SCORE = -1000 /* of all, as llama.cpp writes it: they tell nothing */
    };

    for (int32_t i = 0; i < t->n; i++)
        t->scores[i] = SCORE;
    set_merges(t);
}

void
convert_hf_characters_keys(struct hf_tokens *t)
{
    const json_t *normalizer = json_object_get(t->file.object, "normalizer");
    const char *unknown;
    int32_t id;

    gguf_set_val_str(t->h->gguf, KEY("pre"),
                     convert_hf_characters_name(t->file.object));
    unknown = json_string_value(json_object_get(model_of(t), "unk_token"));
    id = unknown ? convert_hf_token_find(t, unknown, strlen(unknown)) : -1;
    if (id >= 0)
        gguf_set_val_u32(t->h->gguf, KEY("unknown_token_id"), (uint32_t)id);
    if (step_of(normalizer, "normalizers", "Lowercase"))
        gguf_set_val_bool(t->h->gguf, KEY("normalizer.lowercase"), true);
    set_ranks(t);
}

void
convert_hf_ranked_keys(struct hf_tokens *t)
{
    for (size_t i = 0; i < sizeof(visible) / sizeof(visible[0]); i++) {
        int32_t id = convert_hf_token_find(t, visible[i], strlen(visible[i]));

        if (id >= 0)
            t->types[id] = GG_TOKEN_USER_DEFINED;
    }
    set_ranks(t);
    gguf_set_val_bool(t->h->gguf, KEY("add_space_prefix"), false);
}

#endif
