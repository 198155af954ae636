/* wordpiece.c - BERT's tokens: tokenizer.json, or vocab.txt with a token a
 * line
 *
 * There, a piece that goes on within a word begins with ##. In GGUF it is the
 * others that are marked, by U+2581 in front, but for control tokens. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name
#define INNER     "##"

static const char mark[] = "\xe2\x96\x81";

enum {
    MARK = sizeof(mark) - 1,
    WORD = 100, /* characters of a word; a longer one is unknown */
};

static const json_t *
model_of(const struct hf_tokens *t)
{
    return json_object_get(t->file.object, "model");
}

bool
convert_hf_wordpiece_is(const struct hf_tokens *t)
{
    const char *type = json_string_value(json_object_get(model_of(t), "type"));

    if (type) /* the first of such files say nothing */
        return strcmp(type, "WordPiece") == 0;
    return json_object_get(model_of(t), "max_input_chars_per_word") != NULL;
}

void
convert_hf_wordpiece_lines(struct hf_tokens *t)
{
    const char *at = (const char *)t->map.data, *end = at + t->map.size;

    for (int64_t id = 0; at < end && convert_hf_good(t->h); id++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at), whole = n;

        n -= n > 0 && at[n - 1] == '\r';
        if (n > 0)
            convert_hf_token_put(t, id, at, n, GG_TOKEN_NORMAL);
        at += whole + (stop != NULL);
    }
}

/* ---- what is done to a text before --------------------------------------- */

/* A setting of the normalizer, which one of the configuration overrides. */
static bool
setting(struct hf_tokens *t, struct core_json_keys *normalizer,
        const char *config, const char *name, bool other)
{
    return core_json_bool(&t->config, config,
                          core_json_bool(normalizer, name, other));
}

/* Names the steps that this kit does. */
static void
check_steps(struct hf_tokens *t)
{
    static const char *const steps[][2] = {
        { "normalizer", "BertNormalizer" },
        { "pre_tokenizer", "BertPreTokenizer" },
    };

    for (int i = 0; t->file.object && i < 2; i++) {
        struct core_json_keys k = t->file;

        k.object = core_json_object_of(&t->file, steps[i][0]);
        if (strcmp(core_json_text(&k, "type", ""), steps[i][1]) != 0)
            core_json_bad(&t->file, GG_ERR_UNSUPPORTED, "%s: is no %s",
                          steps[i][0], steps[i][1]);
    }
}

static void
set_normalizer(struct hf_tokens *t)
{
    struct core_json_keys k = t->file.object ? t->file : t->config;
    bool lower, strip;

    k.object = json_object_get(t->file.object, "normalizer");
    lower = setting(t, &k, "do_lower_case", "lowercase", true);
    strip = setting(t, &k, "strip_accents", "strip_accents", lower);
    if (!core_json_bool(&k, "clean_text", true) ||
        !setting(t, &k, "tokenize_chinese_chars", "handle_chinese_chars", true))
        core_json_bad(
            &k, GG_ERR_UNSUPPORTED,
            "normalizer: must clean texts and part Chinese characters");
    if (strip != lower)
        core_json_bad(
            &k, GG_ERR_UNSUPPORTED,
            "normalizer: capital letters and accents go together here");
    if (k.status != GG_OK)
        t->file.status = k.status;
    gguf_set_val_bool(t->h->gguf, KEY("normalizer.lowercase"), lower);
    gguf_set_val_bool(t->h->gguf, KEY("normalizer.strip_accents"), strip);
}

static void
check_model(struct hf_tokens *t)
{
    struct core_json_keys k = t->file;

    k.object = model_of(t);
    if (strcmp(core_json_text(&k, "continuing_subword_prefix", INNER), INNER) ||
        core_json_int(&k, "max_input_chars_per_word", 1, 1 << 20, WORD) != WORD)
        core_json_bad(
            &k, GG_ERR_UNSUPPORTED,
            "model: pieces begin with '##', words have %d characters here",
            WORD);
    if (k.status != GG_OK)
        t->file.status = k.status;
}

/* ---- the tokens as GGUF has them ----------------------------------------- */

/* Where no list of added tokens says it. */
static void
set_controls(struct hf_tokens *t)
{
    for (int i = 0; i < HF_SPECIALS; i++) {
        int32_t id = convert_hf_special_find(t, i);

        if (id >= 0 && t->types[id] == GG_TOKEN_NORMAL)
            t->types[id] = GG_TOKEN_CONTROL;
    }
}

static size_t
write_marked(struct gguf_str *s, char *to)
{
    if (s->n >= 2 && !memcmp(s->s, INNER, 2)) {
        *s = (struct gguf_str){ s->s + 2, s->n - 2 };
        return 0;
    }
    memcpy(to, mark, MARK);
    memcpy(to + MARK, s->s, s->n);
    *s = (struct gguf_str){ to, MARK + s->n };
    return s->n;
}

/* Added tokens are no pieces: a text is searched for them as they are. */
static bool
is_piece(const struct hf_tokens *t, int32_t id)
{
    return t->types[id] == GG_TOKEN_NORMAL || t->types[id] == GG_TOKEN_UNUSED;
}

static void
mark_words(struct hf_tokens *t)
{
    size_t total = 0, used = 0;

    for (int32_t i = 0; i < t->n; i++)
        total += t->text[i].n + MARK;
    t->marked = mem_alloc(total + 1);
    if (!t->marked) {
        t->file.status = error_nomem(t->h->here.err);
        return;
    }
    for (int32_t i = 0; i < t->n; i++)
        if (is_piece(t, i))
            used += write_marked(&t->text[i], t->marked + used);
}

void
convert_hf_wordpiece_keys(struct hf_tokens *t)
{
    check_steps(t);
    check_model(t);
    set_normalizer(t);
    set_controls(t);
    mark_words(t);
}

#endif
