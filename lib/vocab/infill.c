/* infill.c - fill in the middle: the ids after which a model writes what stands
 * between a prefix and a suffix */
#include <string.h>

#include "vocab/vocab.h"

#define KEY(name) "tokenizer.ggml." name

/* The bar is U+FF5C, the blank U+2581. */
#define BAR   "\xef\xbd\x9c"
#define BLANK "\xe2\x96\x81"

/* Names of the families' marks, and whether the suffix comes first.
 * Without `middle` the model goes on after the prefix at once. */
static const struct form {
    const char *prefix, *suffix, *middle;
    bool suffix_first;
} forms[] = {
    { "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", false },
    { "<fim_prefix>", "<fim_suffix>", "<fim_middle>", false },
    { "<fim-prefix>", "<fim-suffix>", "<fim-middle>", false },
    { "<" BAR "fim" BLANK "begin" BAR ">", "<" BAR "fim" BLANK "hole" BAR ">",
      "<" BAR "fim" BLANK "end" BAR ">", false },
    { BLANK "<PRE>", BLANK "<SUF>", BLANK "<MID>", false },
    { "<PRE>", "<SUF>", "<MID>", false },
    { "<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>", false },
    { "<|prefix|>", "<|suffix|>", "<|middle|>", false },
    { "<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>", true },
    { "[PREFIX]", "[SUFFIX]", NULL, true },
};

enum {
    N_FORMS = sizeof(forms) / sizeof(forms[0])
};

static int32_t
find(const struct gg_vocab *v, const char *name)
{
    return name ? gg_vocab_find(v, name, strlen(name)) : -1;
}

/* A mark is no text: what only looks like one does not count. */
static bool
is_mark(const struct gg_vocab *v, int32_t id, bool control)
{
    enum gg_token_type type = id >= 0 ? vocab_type(v, id) : GG_TOKEN_UNUSED;

    return type == GG_TOKEN_CONTROL ||
           (!control &&
            (type == GG_TOKEN_USER_DEFINED || type == GG_TOKEN_NORMAL));
}

/* Sets *infill to the marks of the form, if the vocabulary has all of them. */
static bool
take_form(const struct gg_vocab *v, const struct form *f,
          struct vocab_infill *infill)
{
    struct vocab_infill made = { find(v, f->prefix), find(v, f->suffix),
                                 find(v, f->middle), f->suffix_first };

    if (!is_mark(v, made.prefix, !f->middle) ||
        !is_mark(v, made.suffix, !f->middle) ||
        (f->middle && !is_mark(v, made.middle, false)))
        return false;
    *infill = made;
    return true;
}

static bool
is_token(const struct gg_vocab *v, int32_t id, const char *name)
{
    const struct gguf_str *s = &v->tokens[id];

    return s->n == strlen(name) && memcmp(s->s, name, s->n) == 0;
}

/* The file says which the marks are; their names, in which order. */
static void
settle_order(const struct gg_vocab *v, struct vocab_infill *infill)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (is_token(v, infill->prefix, forms[i].prefix)) {
            infill->suffix_first = forms[i].suffix_first;
            if (infill->middle < 0)
                infill->middle = find(v, forms[i].middle);
            if (infill->middle < 0 && forms[i].middle)
                infill->prefix = -1;
            return;
        }
    if (infill->middle < 0)
        infill->prefix = -1;
}

enum gg_status
vocab_load_infill(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err)
{
    struct vocab_infill made = { -1, -1, -1, false };
    const struct {
        const char *key;
        int32_t *id;
    } keys[] = {
        { KEY("prefix_token_id"), &made.prefix },
        { KEY("suffix_token_id"), &made.suffix },
        { KEY("middle_token_id"), &made.middle },
        { KEY("fim_pre_token_id"), &made.prefix },
        { KEY("fim_suf_token_id"), &made.suffix },
        { KEY("fim_mid_token_id"), &made.middle },
    };
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < sizeof(keys) / sizeof(keys[0]); i++)
        st = vocab_read_id(v, gguf, keys[i].key, keys[i].id, err);
    if (st != GG_OK)
        return st;
    if (made.prefix >= 0 && made.suffix >= 0)
        settle_order(v, &made);
    else
        made.prefix = -1;
    for (size_t i = 0; made.prefix < 0 && i < N_FORMS; i++)
        (void)take_form(v, &forms[i], &made);
    v->infill = made;
    return GG_OK;
}

/* A mark and the text after it. A prefix is encoded as a text of its own. */
static enum gg_status
put_part(const struct gg_vocab *v, int32_t mark, const char *text, size_t len,
         unsigned flags, bool first, struct vocab_out *out,
         struct gg_error *err)
{
    const struct special_set *set =
        flags & GG_ENCODE_SPECIAL ? &v->all : &v->user;

    vocab_emit(out, mark);
    return vocab_encode_part(v, text, len, set, first, out, err);
}

static enum gg_status
check(const struct gg_vocab *v, unsigned flags, struct gg_error *err)
{
    const unsigned known = GG_ENCODE_BOS | GG_ENCODE_SPECIAL |
                           GG_ENCODE_CONTINUE | GG_ENCODE_STRICT;

    if (flags & ~known)
        return error_set(err, GG_ERR_ARG,
                         "a text around a gap is encoded neither greedily nor "
                         "with EOS");
    if (v->infill.prefix < 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no tokens for filling in the "
                         "middle");
    if (flags & GG_ENCODE_BOS && v->bos < 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the vocabulary has no BOS token");
    return GG_OK;
}

enum gg_status
gg_vocab_encode_infill(const struct gg_vocab *v, const char *prefix,
                       size_t n_prefix, const char *suffix, size_t n_suffix,
                       unsigned flags, int32_t *ids, size_t cap,
                       struct gg_encoded *result, struct gg_error *err)
{
    struct vocab_out out = { .ids = ids, .cap = cap };
    bool first = !(flags & GG_ENCODE_CONTINUE);
    enum gg_status st;

    if (!v || !result || (!prefix && n_prefix) || (!suffix && n_suffix) ||
        (!ids && cap))
        return error_null(err);
    st = check(v, flags, err);
    if (st != GG_OK)
        return st;
    if (flags & GG_ENCODE_BOS)
        vocab_emit(&out, v->bos);
    if (v->infill.suffix_first)
        st = put_part(v, v->infill.suffix, suffix, n_suffix, flags, false, &out,
                      err);
    if (st == GG_OK)
        st = put_part(v, v->infill.prefix, prefix, n_prefix, flags, first, &out,
                      err);
    if (st == GG_OK && !v->infill.suffix_first)
        st = put_part(v, v->infill.suffix, suffix, n_suffix, flags, false, &out,
                      err);
    if (st == GG_OK && v->infill.middle >= 0)
        vocab_emit(&out, v->infill.middle);
    return st == GG_OK
               ? vocab_encoded(&out, flags & GG_ENCODE_STRICT, result, err)
               : st;
}
