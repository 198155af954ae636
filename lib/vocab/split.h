/* split.h - split rules: where byte-level BPE cuts a text into words
 *
 * Each rule stands for a regular expression and is a hand-written scanner. */
#ifndef VOCAB_SPLIT_H
#define VOCAB_SPLIT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the first word of p[0..len), len > 0; at least 1. What is seen is
 * the end of the text: a word may depend on what follows it. */
typedef size_t (*split_rule)(const uint8_t *p, size_t len);

/* The rule that tokenizer.ggml.pre names, or NULL. */
split_rule
split_find(const char *name, size_t len);

/* The names that are known, parted by blanks. */
extern const char split_known[];

#endif
