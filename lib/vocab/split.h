/* split.h - split rules: where byte-level BPE cuts a text into words
 *
 * Each rule stands for a regular expression, or for several that are applied
 * one after the other, each to the pieces that the one before has left; it is
 * a hand-written scanner. What no expression matches is a word, too. */
#ifndef VOCAB_SPLIT_H
#define VOCAB_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the first word of p[0..len), len > 0; at least 1. What is seen is
 * the end of the text: a word may depend on what follows it, but not on what
 * came before. A text takes linear time.
 *
 * For those who cut texts (cut.c): an ASCII letter before a blank or a newline
 * ends a word in every rule, whatever stands around them. What a rule looks at
 * behind a word are the spaces, or the letters and marks, that stand there, and
 * less than SPLIT_AHEAD bytes after those. */
enum {
    SPLIT_AHEAD = 16
};
typedef size_t (*split_rule)(const uint8_t *p, size_t len);

/* What a name stands for: the rule, and what files that have it leave out. */
struct split_name {
    const char *name;
    split_rule rule;
    bool ignore_merges; /* a word that is a token is never merged */
    bool add_bos;       /* unless the metadata says something else */
};

/* What tokenizer.ggml.pre names, or NULL. */
const struct split_name *
split_find(const char *name, size_t len);

/* Name number i, or NULL. The first is the one for unknown names: "default". */
const struct split_name *
split_name(size_t i);

/* ---- the rules: split_gpt2.c, split_llama3.c, split_gpt4o.c,
 * split_deepseek.c. The comments there give the expressions. ---- */

size_t
split_default(const uint8_t *p, size_t len);
size_t
split_gpt2(const uint8_t *p, size_t len);
size_t
split_digits(const uint8_t *p, size_t len); /* starcoder, smollm, command-r */
size_t
split_falcon(const uint8_t *p, size_t len);
size_t
split_llama3(const uint8_t *p, size_t len);
size_t
split_qwen2(const uint8_t *p, size_t len);
size_t
split_qwen35(const uint8_t *p, size_t len);
size_t
split_seed_coder(const uint8_t *p, size_t len);
size_t
split_gpt4o(const uint8_t *p, size_t len);
size_t
split_tekken(const uint8_t *p, size_t len);
size_t
split_deepseek_llm(const uint8_t *p, size_t len);
size_t
split_deepseek_coder(const uint8_t *p, size_t len);
size_t
split_deepseek_v3(const uint8_t *p, size_t len);

#endif
