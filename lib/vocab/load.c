/* load.c - opens a vocabulary, and frees it */
#include <config.h>

#include "vocab/vocab.h"

#include <string.h>

#include "core/escape.h"
#include "core/mem.h"
#include "core/plant.h"
#include "vocab/cache.h"

#define MODEL "tokenizer.ggml.model"
#define PRE   "tokenizer.ggml.pre"
#define LOWER "tokenizer.ggml.normalizer.lowercase"

static enum gg_status
load_ranked(struct gg_vocab *v, const struct gguf_context *gguf,
            struct gg_error *err)
{
    enum gg_status st = vocab_load_merges(v, gguf, err);

    if (st == GG_OK && v->cuts == VOCAB_CUTS_WORDS)
        st = gguf_opt_bool(gguf, LOWER, &v->lower, err);
    return st == GG_OK ? vocab_load_joints(v, err) : st;
}

static enum gg_status
load_clip(struct gg_vocab *v, const struct gguf_context *gguf,
          struct gg_error *err)
{
    v->lower = true;
    return vocab_load_merges(v, gguf, err);
}

/* Gemma's, of models whose texts have no capital letters. */
static enum gg_status
load_scored(struct gg_vocab *v, const struct gguf_context *gguf,
            struct gg_error *err)
{
    enum gg_status st = gguf_opt_bool(gguf, LOWER, &v->lower, err);

    return st == GG_OK ? vocab_load_scores(v, gguf, err) : st;
}

static const struct kind {
    const char *name;
    enum vocab_kind kind;
    bool ranked;
    enum vocab_cuts cuts;
    const char *pre; /* what tokenizer.ggml.pre must name; or NULL */
    /* Loads the parts that only this kind has. */
    enum gg_status (*load)(struct gg_vocab *v, const struct gguf_context *gguf,
                           struct gg_error *err);
} kinds[] = {
#define CHARACTERS(model, pre, cuts)                                           \
    {                                                                          \
        model, VOCAB_SPM, true, cuts, pre, load_ranked                         \
    }
    CHARACTERS("gpt2", "gemma4", VOCAB_CUTS_LINES),
    CHARACTERS("gpt2", "granite-embed-multi-311m", VOCAB_CUTS_LINES),
    CHARACTERS("gpt2", "sarvam-moe", VOCAB_CUTS_MERGED_LINES),
    CHARACTERS("gpt2", "mmbert", VOCAB_CUTS_BLANKS),
    CHARACTERS("gpt2", "whitespace", VOCAB_CUTS_WORDS),
    CHARACTERS("whitespace", NULL, VOCAB_CUTS_WORDS),
    CHARACTERS("gemma4", NULL, VOCAB_CUTS_LINES),
    { "gpt2", VOCAB_BPE, false, VOCAB_CUTS_WORDS, "clip", load_clip },
    { "gpt2", VOCAB_BPE, false, 0, NULL, vocab_load_merges },
    { "llama", VOCAB_SPM, false, 0, NULL, load_scored },
    { "bert", VOCAB_WPM, false, 0, NULL, vocab_load_wordpiece },
    { "t5", VOCAB_UGM, false, 0, NULL, vocab_load_unigram },
    { "rwkv", VOCAB_WORLD, false, 0, NULL, vocab_load_world },
};

enum {
    N_KINDS = sizeof(kinds) / sizeof(kinds[0])
};

static bool
is(const struct gguf_str *s, const char *text)
{
    return s->n == strlen(text) && memcmp(s->s, text, s->n) == 0;
}

static enum gg_status
unknown(const struct gguf_context *gguf, const char *key, const char *what,
        const struct gguf_str *value, const char *known, struct gg_error *err)
{
    char shown[64];

    escape_bytes(shown, sizeof(shown), value->s, value->n);
    (void)gguf_bad_value(gguf, key, err, "%s '%s' is not known; known: %s",
                         what, shown, known);
    return GG_ERR_UNSUPPORTED;
}

static enum gg_status
load_kind(struct gg_vocab *v, const struct gguf_context *gguf,
          const struct kind **kind, struct gg_error *err)
{
    struct gguf_str s, pre = { 0 };
    enum gg_status st = gguf_get_str(gguf, MODEL, &s, err);

    if (st == GG_OK)
        st = gguf_opt_str(gguf, PRE, &pre, err);
    if (st != GG_OK)
        return st;
    for (size_t i = 0; i < N_KINDS; i++)
        if (is(&s, kinds[i].name) &&
            (!kinds[i].pre || is(&pre, kinds[i].pre))) {
            *kind = &kinds[i];
            v->name = kinds[i].name;
            v->kind = kinds[i].kind;
            v->ranked = kinds[i].ranked;
            v->cuts = kinds[i].cuts;
            return GG_OK;
        }
    return unknown(gguf, MODEL, "the kind", &s,
                   "gpt2 llama bert t5 gemma4 rwkv whitespace", err);
}

/* A rule that is not known is no reason to refuse a model: its ids will be
 * nearly right. */
static enum gg_status
load_split(struct gg_vocab *v, const struct gguf_context *gguf,
           const struct vocab_split_name **name, struct gg_error *err)
{
    struct gguf_str s = { 0 };
    char shown[64];
    enum gg_status st = gguf_opt_str(gguf, PRE, &s, err);

    if (st != GG_OK)
        return st;
    *name = vocab_split_find(s.s, s.n);
    if (!*name) {
        *name = vocab_split_name(0);
        escape_bytes(shown, sizeof(shown), s.s, s.n);
        snprintf(v->note, sizeof(v->note),
                 PRE "%s%s%s; ids can be wrong where '%s' cuts a text "
                     "differently",
                 s.n ? ": the split rule '" : " names no split rule",
                 s.n ? shown : "", s.n ? "' is not known" : "", (*name)->name);
    }
    vocab_set_split(v, *name);
    v->ignore_merges = (*name)->ignore_merges;
    return GG_OK;
}

static enum gg_status
load_from(struct gg_vocab *v, const struct gguf_context *gguf,
          struct gg_error *err)
{
    const struct vocab_split_name *name = NULL;
    const struct kind *kind;
    enum gg_status st = load_kind(v, gguf, &kind, err);

    if (st == GG_OK && v->kind == VOCAB_BPE)
        st = load_split(v, gguf, &name, err);
    if (st == GG_OK)
        st = vocab_load_tokens(v, gguf, err);
    if (st == GG_OK)
        st = vocab_index(v, err);
    if (st == GG_OK)
        st = vocab_load_ids(v, gguf, name, err);
    if (st == GG_OK)
        st = kind->load(v, gguf, err);
    if (st == GG_OK && (!vocab_special_init(&v->user, v, false) ||
                        !vocab_special_init(&v->all, v, true) ||
                        !vocab_special_contents(&v->contents, v)))
        st = error_nomem(err);
    if (st == GG_OK)
        st = gguf_opt_str(gguf, VOCAB_CHAT, &v->chat, err);
    v->gguf = gguf;
    return st;
}

static enum gg_status
finish_load(enum gg_status st, struct gg_vocab *v,
            const struct gguf_context *gguf, struct gg_vocab **out,
            struct gg_error *err)
{
    if (st == GG_OK)
        st = vocab_load_sampling(v, gguf, err);
    if (st == GG_OK)
        *out = v;
    else
        gg_vocab_free(v);
    return st;
}

enum gg_status
vocab_load(const struct gguf_context *gguf, struct gg_vocab **out,
           struct gg_error *err)
{
    struct gg_vocab *v = mem_zalloc(sizeof(*v));

    gg_plant("vocabulary");
    return finish_load(v ? load_from(v, gguf, err) : error_nomem(err), v, gguf,
                       out, err);
}

/* A kind that is none of ours is no reason to refuse a model. */
static bool
names_kind(const struct gguf_context *gguf, struct gg_error *err)
{
    struct gg_vocab v;
    const struct kind *kind;

    return load_kind(&v, gguf, &kind, err) != GG_ERR_UNSUPPORTED &&
           gguf_find_key(gguf, MODEL) >= 0;
}

enum gg_status
vocab_load_or_textless(const struct gguf_context *gguf, int32_t n,
                       struct gg_vocab **out, struct gg_error *err)
{
    struct gg_error why;
    struct gg_vocab *v;

    if (names_kind(gguf, &why))
        return vocab_load(gguf, out, err);
    v = mem_zalloc(sizeof(*v));
    if (!v)
        return error_nomem(err);
    snprintf(v->textless, sizeof(v->textless), "%.255s", why.message);
    return finish_load(vocab_load_textless(v, gguf, n, err), v, gguf, out, err);
}

void
gg_vocab_free(struct gg_vocab *v)
{
    if (!v)
        return;
    mem_free(v->empty);
    mem_free(v->types);
    mem_free(v->bytes);
    mem_free(v->at);
    mem_free(v->slots);
    mem_free(v->whole);
    vocab_cache_store_free(v->caches);
    mem_free(v->merges);
    mem_free(v->merge_bits);
    mem_free(v->joined);
    vocab_trie_clear(&v->trie);
    vocab_clear_pieces(v);
    mem_free(v->eog);
    mem_free(v->suppressed);
    mem_free(v->sampling);
    vocab_special_clear(&v->user);
    vocab_special_clear(&v->all);
    vocab_special_clear(&v->contents);
    gguf_file_close(&v->file);
    mem_free(v);
}
