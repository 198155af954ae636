/* tokens.c - the tokenizer of a folder in GGUF's keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/hf/families.h"
#include "convert/hf/tokens.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    MAX_PATH_LENGTH = 4096,
    LONGEST_MADE = 24, /* "[PAD16777215]" */
};

static void
fail(struct hf_tokens *t, const struct core_json_keys *k)
{
    if (k->status != GG_OK && convert_hf_good(t->h))
        t->h->here.status = k->status;
}

/* ---- tokens -------------------------------------------------------------- */

/* Ids without a token, up to the embedding's last row, get a name. */
static char *
fill_up(struct hf_tokens *t)
{
    char *made = mem_array((size_t)t->n, LONGEST_MADE), *to = made;

    for (int32_t i = 0; made && i < t->n; i++) {
        if (t->types[i])
            continue;
        t->text[i].s = to;
        t->text[i].n = (size_t)snprintf(to, LONGEST_MADE, "[PAD%d]", (int)i);
        t->types[i] = GG_TOKEN_UNUSED;
        to += t->text[i].n;
    }
    if (!made)
        t->h->here.status = error_nomem(t->h->here.err);
    return made;
}

static void
index_tokens(struct hf_tokens *t)
{
    if (!hash_map_init(&t->ids, (size_t)t->n)) {
        t->h->here.status = error_nomem(t->h->here.err);
        return;
    }
    for (int32_t i = 0; i < t->n; i++)
        hash_map_add(&t->ids, t->text[i].s, t->text[i].n, (uint32_t)i);
}

/* ---- all of it ----------------------------------------------------------- */

static const struct hf_tokenizer bpe = { "gpt2", convert_hf_bpe_tokens,
                                         convert_hf_bpe_keys, .scored = false };
static const struct hf_tokenizer bpe_of_characters = {
    "llama", convert_hf_bpe_tokens, convert_hf_bpe_keys, .scored = true
};
static const struct hf_tokenizer spm = { "llama", convert_hf_spm_tokens, NULL,
                                         .scored = true };
static const struct hf_tokenizer ranked = { "gemma4", convert_hf_bpe_tokens,
                                            convert_hf_ranked_keys,
                                            .scored = true };
static const struct hf_tokenizer characters = { "gpt2", convert_hf_bpe_tokens,
                                                convert_hf_characters_keys,
                                                .scored = true, .named = true };
static const struct hf_tokenizer whitespace = { "whitespace",
                                                convert_hf_bpe_tokens,
                                                convert_hf_characters_keys,
                                                .scored = true, .named = true };
static const struct hf_tokenizer unigram = { "t5", convert_hf_unigram_tokens,
                                             convert_hf_unigram_keys,
                                             .scored = true, .unigram = true };
static const struct hf_tokenizer unigram_spm = { "t5", convert_hf_spm_tokens,
                                                 convert_hf_unigram_keys,
                                                 .scored = true,
                                                 .unigram = true };
static const struct hf_tokenizer wordpiece = { "bert", convert_hf_bpe_tokens,
                                               convert_hf_wordpiece_keys,
                                               .words = true };
static const struct hf_tokenizer wordpiece_lines = {
    "bert", convert_hf_wordpiece_lines, convert_hf_wordpiece_keys, .words = true
};

static bool
start_tokens(struct hf_tokens *t)
{
    bool scored = t->kind->scored;

    t->n = t->h->n_vocab;
    t->text = mem_array((size_t)t->n, sizeof(*t->text));
    t->types = mem_array((size_t)t->n, sizeof(*t->types));
    t->strips = mem_array((size_t)t->n, sizeof(*t->strips));
    t->scores = scored ? mem_array((size_t)t->n, sizeof(*t->scores)) : NULL;
    if (t->text && t->types && t->strips && (t->scores || !scored))
        return true;
    t->h->here.status = error_nomem(t->h->here.err);
    return false;
}

/* The ids whose `strips` have the flag. */
static void
set_stripping(struct hf_tokens *t, const char *key, enum hf_strips flag)
{
    int32_t *ids = mem_array((size_t)t->n, sizeof(*ids));
    size_t n = 0;

    if (!ids) {
        t->h->here.status = error_nomem(t->h->here.err);
        return;
    }
    for (int32_t i = 0; i < t->n; i++)
        if (t->strips[i] & flag)
            ids[n++] = i;
    if (n)
        gguf_set_arr_data(t->h->gguf, key, GGUF_TYPE_INT32, ids, n);
    mem_free(ids);
}

static void
set_lists(struct hf_tokens *t)
{
    struct gguf_context *gguf = t->h->gguf;
    size_t n = (size_t)t->n;

    gguf_set_val_str(gguf, KEY("model"), t->kind->model);
    gguf_set_strings(gguf, KEY("tokens"), t->text, n);
    gguf_set_arr_data(gguf, KEY("token_type"), GGUF_TYPE_INT32, t->types, n);
    if (t->scores)
        gguf_set_arr_data(gguf, KEY("scores"), GGUF_TYPE_FLOAT32, t->scores, n);
    set_stripping(t, GGUF_LSTRIP, HF_STRIPS_LEFT);
    set_stripping(t, GGUF_RSTRIP, HF_STRIPS_RIGHT);
}

static void
read_tokenizer(struct hf_tokens *t)
{
    char *made = NULL;

    if (!start_tokens(t))
        return;
    t->kind->tokens(t);
    fail(t, &t->file);
    if (convert_hf_good(t->h))
        convert_hf_add_tokens(t);
    if (convert_hf_good(t->h))
        made = fill_up(t);
    if (convert_hf_good(t->h))
        index_tokens(t);
    if (convert_hf_good(t->h) && t->kind->keys)
        t->kind->keys(t);
    fail(t, &t->file);
    if (convert_hf_good(t->h)) {
        set_lists(t);
        convert_hf_set_specials(t);
        convert_hf_set_templates(t);
    }
    if (convert_hf_good(t->h) && t->h->answers && t->h->weighed)
        convert_hf_add_answers(t);
    fail(t, &t->config);
    mem_free(made);
}

static bool
open_json(struct hf *h, const char *name, char path[MAX_PATH_LENGTH],
          json_t **document, struct core_json_keys *k)
{
    snprintf(path, MAX_PATH_LENGTH, "%s/%s", h->path, name);
    *k = (struct core_json_keys){ path, NULL, GG_OK, h->here.err };
    k->status = core_json_read(path, false, document, k->err);
    k->object = *document;
    if (k->status != GG_OK)
        h->here.status = k->status;
    return k->status == GG_OK;
}

/* Maps a file with tokens that is no JSON. False: there is none. */
static bool
open_tokens(struct hf_tokens *t, const char *name)
{
    char path[MAX_PATH_LENGTH];

    snprintf(path, sizeof(path), "%s/%s", t->h->path, name);
    if (access(path, F_OK))
        return false;
    t->h->here.status = file_map(path, &t->map, t->h->here.err);
    return true;
}

/* A Llama's or Gemma's folder has the steps of lines, too; it stays of
 * SentencePiece's kind, whose scores follow from ranks. */
static const struct hf_tokenizer *
kind_of_characters(const struct hf_tokens *t, bool bytes)
{
    const char *name = convert_hf_characters_name(t->file.object);
    const json_t *model = json_object_get(t->file.object, "model");
    bool lines = name && strcmp(name, "mmbert") && strcmp(name, "whitespace");

    if (!name || (bytes && lines && !t->h->family->characters) ||
        (!bytes && json_is_true(json_object_get(model, "fuse_unk"))))
        return bytes ? &bpe_of_characters : &bpe;
    return strcmp(name, "whitespace") ? &characters : &whitespace;
}

static const struct hf_tokenizer *
kind_of_json(const struct hf_tokens *t)
{
    if (convert_hf_wordpiece_is(t))
        return &wordpiece;
    if (convert_hf_unigram_is(t))
        return &unigram;
    if (t->h->family->ranked && convert_hf_bpe_is_spm(t))
        return &ranked;
    return kind_of_characters(t, convert_hf_bpe_is_spm(t));
}

/* SentencePiece's file, by any of its names. */
static bool
open_spm(struct hf_tokens *t)
{
    static const char *const names[] = { "tokenizer.model", "spiece.model",
                                         "sentencepiece.bpe.model" };

    for (int i = 0; i < 3; i++)
        if (open_tokens(t, names[i])) {
            t->moved = i == 2;
            return true;
        }
    return false;
}

/* tokenizer.model is exact where tokenizer.json was made of it and has ranks in
 * place of scores. */
static void
choose_kind(struct hf_tokens *t)
{
    t->kind = t->file.object ? kind_of_json(t) : NULL;
    if ((!t->kind || t->kind == &bpe_of_characters) && open_spm(t))
        t->kind = convert_hf_spm_is_unigram(t) ? &unigram_spm : &spm;
    else if (!t->kind && open_tokens(t, "vocab.txt"))
        t->kind = &wordpiece_lines;
    if (!t->kind)
        core_json_bad(
            &t->h->here, GG_ERR_IO,
            "there is none of tokenizer.json, tokenizer.model, vocab.txt");
}

void
convert_hf_read_tokens(struct hf *h)
{
    char(*paths)[MAX_PATH_LENGTH] = mem_array(3, sizeof(*paths));
    struct core_json_keys added;
    struct hf_tokens t = { .h = h };
    json_t *file = NULL, *settings = NULL;

    if (!paths)
        h->here.status = error_nomem(h->here.err);
    else if (open_json(h, "tokenizer.json", paths[0], &file, &t.file) &&
             open_json(h, "tokenizer_config.json", paths[1], &settings,
                       &t.config) &&
             open_json(h, "added_tokens.json", paths[2], &t.added, &added))
        choose_kind(&t);
    if (convert_hf_good(h))
        read_tokenizer(&t);
    json_decref(file);
    json_decref(settings);
    json_decref(t.added);
    mem_free(paths);
    file_unmap(&t.map);
    mem_free(t.text);
    mem_free(t.types);
    mem_free(t.strips);
    mem_free(t.scores);
    mem_free(t.marked);
    hash_map_clear(&t.ids);
}

#endif
