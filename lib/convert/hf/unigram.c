/* unigram.c - tokenizer.json of SentencePiece's Unigram: pieces with scores,
 * and what becomes of a text before */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    UNUSED_SCORE = -10000, /* as llama.cpp writes it */
    MAX_STEPS = 16,
};

static const json_t *
model_of(const struct hf_tokens *t)
{
    return json_object_get(t->file.object, "model");
}

bool
convert_hf_unigram_is(const struct hf_tokens *t)
{
    const char *type = json_string_value(json_object_get(model_of(t), "type"));

    return type ? !strcmp(type, "Unigram")
                : json_is_array(json_object_get(model_of(t), "vocab"));
}

/* ---- tokens -------------------------------------------------------------- */

static int32_t
type_of(const json_t *model, size_t id, const char *text, size_t n)
{
    const json_t *unknown = json_object_get(model, "unk_id");
    bool bytes = json_is_true(json_object_get(model, "byte_fallback"));

    if (json_is_integer(unknown) &&
        json_integer_value(unknown) == (json_int_t)id)
        return GG_TOKEN_UNKNOWN;
    return bytes && convert_hf_is_byte_name(text, n) ? GG_TOKEN_BYTE
                                                     : GG_TOKEN_NORMAL;
}

static void
put_piece(struct hf_tokens *t, size_t id, const json_t *piece)
{
    const json_t *text = json_array_get(piece, 0);
    const json_t *score = json_array_get(piece, 1);
    const char *s = json_string_value(text);
    size_t n = json_string_length(text);
    double x = json_number_value(score);

    if (!s || !json_is_number(score) || !isfinite((float)x)) {
        core_json_bad(&t->file, GG_ERR_FORMAT,
                      "model: number %zu of its vocab is no piece", id);
        return;
    }
    convert_hf_token_put(t, (int64_t)id, s, n, type_of(model_of(t), id, s, n));
    if (convert_hf_good(t->h))
        t->scores[id] = (float)x;
}

void
convert_hf_unigram_tokens(struct hf_tokens *t)
{
    const json_t *vocab = json_object_get(model_of(t), "vocab"), *piece;
    size_t i;

    if (!json_array_size(vocab))
        core_json_bad(&t->file, GG_ERR_FORMAT,
                      "model: has no vocab, or one that makes no sense");
    json_array_foreach(vocab, i, piece)
    {
        if (t->file.status != GG_OK || !convert_hf_good(t->h))
            return;
        put_piece(t, i, piece);
    }
}

/* ---- what becomes of a text before --------------------------------------- */

static int
digit_of_base64(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Bytes of a text in base 64 in `out`, which has 3 for each 4 of them; -1: it
 * is none. */
static int64_t
read_base64(const char *s, size_t n, uint8_t *out)
{
    uint32_t bits = 0;
    size_t made = 0;

    while (n > 0 && s[n - 1] == '=')
        n--;
    for (size_t i = 0; i < n; i++) {
        int d = digit_of_base64(s[i]);

        if (d < 0)
            return -1;
        bits = bits << 6 | (uint32_t)d;
        if (i % 4)
            out[made++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return (int64_t)made;
}

/* SentencePiece's map of characters, as it is in its own files. */
static void
set_charsmap(struct hf_tokens *t, const json_t *step)
{
    const json_t *v = json_object_get(step, "precompiled_charsmap");
    size_t n = json_string_length(v);
    uint8_t *map;
    int64_t size;

    if (!n)
        return;
    map = mem_alloc(n / 4 * 3 + 3);
    size = map ? read_base64(json_string_value(v), n, map) : 0;
    if (!map)
        t->file.status = error_nomem(t->file.err);
    else if (size < 0)
        core_json_bad(&t->file, GG_ERR_FORMAT,
                      "precompiled_charsmap: is not in base 64");
    else
        convert_hf_set_charsmap(t, map, (size_t)size);
    mem_free(map);
}

static const char *
regex_of(const json_t *step)
{
    const json_t *pattern = json_object_get(step, "pattern");
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));

    return regex ? regex : "";
}

/* Several blanks become one. */
static bool
squeezes(const json_t *step)
{
    const char *regex = regex_of(step);

    return !strcmp(regex, " {2,}") || !strcmp(regex, "\\s+");
}

/* A class with all punctuation of ASCII becomes nothing. */
static bool
drops_punctuation(const json_t *step)
{
    static const char all[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    const char *to = json_string_value(json_object_get(step, "content"));
    const char *regex = regex_of(step);
    bool drops = to && !*to && regex[0] == '[';

    for (const char *c = all; *c; c++)
        drops = drops && strchr(regex, *c);
    return drops;
}

static void
read_normalizer(struct hf_tokens *t, const json_t *step, bool *squeeze)
{
    const char *type = json_string_value(json_object_get(step, "type"));

    if (type && !strcmp(type, "Precompiled"))
        set_charsmap(t, step);
    else if (type && !strcmp(type, "Lowercase"))
        gguf_set_val_bool(t->h->gguf, KEY("normalizer.lowercase"), true);
    else if (type && !strcmp(type, "Replace") && drops_punctuation(step))
        gguf_set_val_bool(t->h->gguf, KEY("normalizer.remove_punctuation"),
                          true);
    else if (type && !strcmp(type, "Replace") && squeezes(step))
        *squeeze = true;
    else if (!type || strcmp(type, "Strip"))
        core_json_bad(&t->file, GG_ERR_UNSUPPORTED,
                      "normalizer: a step '%.40s' is not done here",
                      type ? type : "");
}

static void
read_pre_tokenizer(struct hf_tokens *t, const json_t *step, bool *squeeze)
{
    const char *type = json_string_value(json_object_get(step, "type"));

    if (type && !strcmp(type, "WhitespaceSplit"))
        *squeeze = true;
    else if (!type || strcmp(type, "Metaspace"))
        core_json_bad(&t->file, GG_ERR_UNSUPPORTED,
                      "pre_tokenizer: a step '%.40s' is not done here",
                      type ? type : "");
}

/* One step, or those of a sequence. */
static void
each_step(struct hf_tokens *t, const char *name, const char *list,
          void (*read)(struct hf_tokens *t, const json_t *step, bool *squeeze),
          bool *squeeze)
{
    const json_t *first = json_object_get(t->file.object, name), *step;
    const json_t *steps = json_object_get(first, list);
    size_t i;

    if (json_is_object(first) && !json_is_array(steps))
        read(t, first, squeeze);
    json_array_foreach(steps, i, step) if (i < MAX_STEPS)
        read(t, step, squeeze);
}

void
convert_hf_unigram_keys(struct hf_tokens *t)
{
    bool squeeze = false;

    for (int32_t i = 0; i < t->n; i++)
        if (t->types[i] == GG_TOKEN_UNUSED)
            t->scores[i] = UNUSED_SCORE;
    if (!t->file.object)
        return; /* tokenizer.model has said it */
    each_step(t, "normalizer", "normalizers", read_normalizer, &squeeze);
    each_step(t, "pre_tokenizer", "pretokenizers", read_pre_tokenizer,
              &squeeze);
    gguf_set_val_bool(t->h->gguf, KEY("add_space_prefix"),
                      convert_hf_blank_in_front(t));
    gguf_set_val_bool(t->h->gguf, KEY("remove_extra_whitespaces"), squeeze);
}

void
convert_hf_set_charsmap(struct hf_tokens *t, const void *map, size_t n)
{
    if (n)
        gguf_set_arr_data(t->h->gguf, KEY("precompiled_charsmap"),
                          GGUF_TYPE_UINT8, map, n);
}

#endif
