/* tokens.h - the tokenizer of a folder */
#ifndef CONVERT_HF_TOKENS_H
#define CONVERT_HF_TOKENS_H

#include "convert/hf/model.h"

struct hf_tokens;

/* A kind of tokenizer, and where its tokens are. */
struct hf_tokenizer {
    const char *model; /* tokenizer.ggml.model */
    void (*tokens)(struct hf_tokens *t);
    /* Sets the keys once all tokens are there; or NULL. */
    void (*keys)(struct hf_tokens *t);
    bool scored;  /* SentencePiece's */
    bool words;   /* BERT's */
    bool unigram; /* SentencePiece's, too */
    bool named;   /* characters that tokenizer.ggml.pre cuts */
};

/* White space that an added token takes. */
enum hf_strips {
    HF_STRIPS_LEFT = 1,
    HF_STRIPS_RIGHT = 2,
};

/* The vocabulary in the making. */
struct hf_tokens {
    struct hf *h;
    const struct hf_tokenizer *kind;
    struct file_map map;          /* tokenizer.model, vocab.txt; or empty */
    struct core_json_keys file;   /* tokenizer.json; or empty */
    struct core_json_keys config; /* tokenizer_config.json; or empty */
    json_t *added;                /* added_tokens.json; or NULL */
    struct gguf_str *text;        /* points into the documents, or the file */
    int32_t *types;               /* 0: there is no token of that id */
    uint8_t *strips;              /* enum hf_strips */
    float *scores;                /* of SentencePiece; else NULL */
    char *marked;                 /* what `text` may point into */
    bool moved; /* tokenizer.model of XLM-R: ids are others than there */
    int32_t n;
    int64_t next;        /* the id of the next token that is added */
    struct hash_map ids; /* of `text`, once all are there */
};

/* The token of that text, or -1. */
int32_t
convert_hf_token_find(const struct hf_tokens *t, const char *text, size_t len);

/* Takes the token; complains where the id is taken or too large. */
void
convert_hf_token_put(struct hf_tokens *t, int64_t id, const char *text,
                     size_t len, int32_t type);

/* added.c: the tokens that were added to those that `text` has. */
void
convert_hf_add_tokens(struct hf_tokens *t);

/* ids.c: the token that begins a text, and others, by their number; -1. */
enum {
    HF_BOS,
    HF_EOS,
    HF_SPECIALS = 6
};
int32_t
convert_hf_special_find(const struct hf_tokens *t, int i);
/* Their keys. */
void
convert_hf_set_specials(struct hf_tokens *t);

/* post.c: what a post_processor puts in front of a text, and after it. */
struct hf_post {
    bool said; /* there is one */
    bool adds_before, adds_after;
    int32_t before, after; /* the outermost ids; -1: none is known */
};
struct hf_post
convert_hf_post_read(const struct hf_tokens *t);

/* templates.c: the chat template, and those with names, tool_use and others. */
void
convert_hf_set_templates(struct hf_tokens *t);

/* unigram.c: whether tokenizer.json is of this kind; its tokens. */
bool
convert_hf_unigram_is(const struct hf_tokens *t);
void
convert_hf_unigram_tokens(struct hf_tokens *t);
void
convert_hf_unigram_keys(struct hf_tokens *t);
/* The key of SentencePiece's map of characters; of no bytes there is none. */
void
convert_hf_set_charsmap(struct hf_tokens *t, const void *map, size_t n);

/* bpe.c: the tokens of tokenizer.json, also those of WordPiece. */
void
convert_hf_bpe_tokens(struct hf_tokens *t);
void
convert_hf_bpe_keys(struct hf_tokens *t);
/* Whether its tokens are SentencePiece's: characters, and bytes as <0xHH>. */
bool
convert_hf_bpe_is_spm(const struct hf_tokens *t);
/* Keys of such tokens that are merged by rank: Gemma 4's, and those that
 * tokenizer.ggml.pre names. */
void
convert_hf_ranked_keys(struct hf_tokens *t);
void
convert_hf_characters_keys(struct hf_tokens *t);
bool
convert_hf_is_byte_name(const char *s, size_t n);
/* Whether a blank comes in front of a text. */
bool
convert_hf_blank_in_front(const struct hf_tokens *t);

/* spm.c: the tokens and scores of tokenizer.model; and the key that only it
 * knows. */
void
convert_hf_spm_tokens(struct hf_tokens *t);
/* Whether it is Unigram's. */
bool
convert_hf_spm_is_unigram(const struct hf_tokens *t);

/* wordpiece.c: whether tokenizer.json is of this kind; the tokens of
 * vocab.txt. */
bool
convert_hf_wordpiece_is(const struct hf_tokens *t);
void
convert_hf_wordpiece_lines(struct hf_tokens *t);
void
convert_hf_wordpiece_keys(struct hf_tokens *t);

/* rerank.c: adds the rows of the output by which yes and no are told. */
void
convert_hf_add_answers(struct hf_tokens *t);

/* pre.c: tokenizer.ggml.pre by the steps of a pre_tokenizer; NULL: no rule
 * is known that does the same. `begins`: a token is known that begins a text.
 */
const char *
convert_hf_pre_name(const json_t *pre, bool ignore_merges, bool begins);
/* tokenizer.ggml.pre of a tokenizer.json whose BPE merges characters, not
 * bytes; NULL: no rule is known. */
const char *
convert_hf_characters_name(const json_t *file);

void
convert_hf_read_tokens(struct hf *h);

/* Sets the keys of sampling by generation_config.json, `document`. */
void
convert_hf_sampling_set(struct hf *h, const json_t *document);

#endif
