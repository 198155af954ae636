/* unigram_load.c - what Unigram needs of its vocabulary */
#include <float.h>

#include "vocab/unigram.h"

#define NORMALIZER "tokenizer.ggml.normalizer."

enum {
    UNKNOWN_PENALTY = 10, /* below the lowest score: SentencePiece's */
};

static enum gg_status
find_unknown_score(struct gg_vocab *v, const struct gguf_context *gguf,
                   struct gg_error *err)
{
    float lowest = FLT_MAX;
    size_t n;

    for (int32_t id = 0; id < v->n; id++) {
        float score = gguf_array_f32(&v->scores, (size_t)id);
        bool piece = vocab_type(v, id) == GG_TOKEN_NORMAL;

        if (piece && score < lowest)
            lowest = score;
        vocab_bytes(v, id, &n);
        if ((piece || vocab_unigram_has_blank(v, id)) && n > PIECES_MAX_BYTES)
            return gguf_bad_value(gguf, "tokenizer.ggml.tokens", err,
                                  "token %d stands for %zu bytes, more than %d",
                                  (int)id, n, PIECES_MAX_BYTES);
    }
    v->unk_score = lowest - UNKNOWN_PENALTY;
    return GG_OK;
}

bool
vocab_unigram_drops(const struct gg_vocab *v, uint8_t b)
{
    return v->no_punctuation && b > ' ' && b < 0x7f &&
           !((b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') ||
             (b >= 'a' && b <= 'z'));
}

/* Whether a byte of ASCII is dropped, or becomes another in lower case. */
static bool
is_changed(const struct gg_vocab *v, uint8_t b)
{
    return vocab_unigram_drops(v, b) || (v->lower && b >= 'A' && b <= 'Z');
}

/* The kind of a byte of ASCII that another follows, by the character map. */
static enum unigram_byte
look_up_byte(const struct charsmap *map, uint8_t b)
{
    uint8_t two[2] = { b, 0 };
    size_t key, n;
    const uint8_t *text = vocab_charsmap_find(map, two, 1, &key, &n);

    if (b == 0 || (text && (n != 1 || *text != ' ')))
        return UNIGRAM_OTHER;
    for (two[1] = 1; two[1] < 0x80; two[1]++)
        if (vocab_charsmap_goes_on(map, two, 2))
            return UNIGRAM_OTHER;
    return text || b == ' ' ? UNIGRAM_BLANK : UNIGRAM_PLAIN;
}

bool
vocab_unigram_known(const struct gg_vocab *v, uint8_t byte)
{
    struct pieces_at at = { .p = (uint8_t[8]){ byte } };

    return v->byte_ids[byte] >= 0 || vocab_pieces_find(v, &at, 1);
}

/* Whether all ways pass each place between a character and a blank, and the
 * blank is never an unknown character. */
static bool
has_words(const struct gg_vocab *v)
{
    bool words = vocab_unigram_known(v, ' ');

    for (unsigned b = 0; b <= 0x80; b++)
        words = words && (b == ' ' || !vocab_joined(v, (uint8_t)b, ' '));
    return words;
}

enum gg_status
vocab_load_unigram(struct gg_vocab *v, const struct gguf_context *gguf,
                   struct gg_error *err)
{
    enum gg_status st = vocab_load_scores(v, gguf, err);

    if (st == GG_OK)
        st = find_unknown_score(v, gguf, err);
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, "tokenizer.ggml.remove_extra_whitespaces",
                           &v->squeeze, err);
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, NORMALIZER "lowercase", &v->lower, err);
    if (st == GG_OK)
        st = gguf_opt_bool(gguf, NORMALIZER "remove_punctuation",
                           &v->no_punctuation, err);
    if (st == GG_OK)
        st = vocab_charsmap_load(&v->charsmap, gguf, err);
    if (st == GG_OK)
        st = vocab_load_pieces(v, err);
    if (st == GG_OK) {
        v->words = has_words(v);
        for (unsigned b = 0; b < 0x80; b++)
            v->plain[b] = is_changed(v, (uint8_t)b)
                              ? UNIGRAM_OTHER
                              : (uint8_t)look_up_byte(&v->charsmap, (uint8_t)b);
    }
    return st;
}
