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
 * ends a word in every rule that does not name other ends, whatever stands
 * around them. What a rule looks at after a word are the spaces, or the
 * letters and marks, that stand there, the numbers after those, and less than
 * SPLIT_AHEAD bytes more. */
enum {
    SPLIT_AHEAD = 16
};
typedef size_t (*split_rule)(const uint8_t *p, size_t len);

/* Some rules cut a run of digits or spaces by how long it is, which would take
 * more than linear time if each word looked at the rest of the run. They give
 * the run as one word, and this cuts it: bytes of the first part of p[0..n),
 * what is left of the run, after which len - n bytes follow. *count is 0 at
 * the begin of a run, and the function's own. */
typedef size_t (*split_group)(const uint8_t *p, size_t n, size_t len,
                              size_t *count);

/* Meaning of a name: the rule, and what files that have it leave out. */
struct vocab_split_name {
    const char *name;
    split_rule rule;
    bool ignore_merges; /* a word that is a token is never merged */
    bool add_bos;       /* unless the metadata says something else */
    split_group group;  /* or NULL */
    const char *ends;   /* what a letter must precede to end a word; or NULL */
};

/* Where one is in a text: all zero at its begin. */
struct split_at {
    size_t left, count; /* of a run that a group cuts */
};

/* The next word or, with a group, the next part of one. */
static inline size_t
vocab_split_next(split_rule rule, split_group group, struct split_at *at,
                 const uint8_t *p, size_t len)
{
    size_t n;

    if (!group)
        return rule(p, len);
    if (at->left == 0)
        *at = (struct split_at){ rule(p, len), 0 };
    n = group(p, at->left, len, &at->count);
    at->left -= n;
    return n;
}

/* The entry of a name that tokenizer.ggml.pre has, or NULL. */
const struct vocab_split_name *
vocab_split_find(const char *name, size_t len);

/* Name number i, or NULL. The first is the one for unknown names: "default". */
const struct vocab_split_name *
vocab_split_name(size_t i);

/* ---- the rules: split_gpt2.c, split_llama3.c,
 * split_gpt4o.c, split_deepseek.c, split_bloom.c,
 * split_chameleon.c, split_group.c. The comments there give the
 * expressions. ---- */

size_t
vocab_split_default(const uint8_t *p, size_t len);
size_t
vocab_split_gpt2(const uint8_t *p, size_t len);
size_t
vocab_split_digits(const uint8_t *p,
                   size_t len); /* starcoder, smollm, command-r */
size_t
vocab_split_clip(const uint8_t *p, size_t len);
size_t
vocab_split_falcon(const uint8_t *p, size_t len);
size_t
vocab_split_llama3(const uint8_t *p, size_t len);
size_t
vocab_split_qwen2(const uint8_t *p, size_t len);
size_t
vocab_split_ufakzeka(const uint8_t *p, size_t len);
size_t
vocab_split_qwen35(const uint8_t *p, size_t len);
size_t
vocab_split_seed_coder(const uint8_t *p, size_t len);
size_t
vocab_split_minicpm5(const uint8_t *p, size_t len);
size_t
vocab_split_laguna(const uint8_t *p, size_t len);
size_t
vocab_split_exaone_moe(const uint8_t *p, size_t len);
size_t
vocab_split_gpt4o(const uint8_t *p, size_t len);
size_t
vocab_split_tekken(const uint8_t *p, size_t len);
size_t
vocab_split_kimi(const uint8_t *p, size_t len);
size_t
vocab_split_youtu(const uint8_t *p, size_t len);
size_t
vocab_split_tiny_aya(const uint8_t *p, size_t len);
size_t
vocab_split_deepseek_llm(const uint8_t *p, size_t len);
size_t
vocab_split_deepseek_coder(const uint8_t *p, size_t len);
size_t
vocab_split_deepseek_v3(const uint8_t *p, size_t len);
size_t
vocab_split_spark(const uint8_t *p, size_t len);
size_t
vocab_split_afmoe(const uint8_t *p, size_t len);
size_t
vocab_split_bloom(const uint8_t *p, size_t len);
size_t
vocab_split_viking(const uint8_t *p, size_t len);
size_t
vocab_split_chameleon(const uint8_t *p, size_t len);
size_t
vocab_split_superbpe(const uint8_t *p, size_t len);

/* Rules that cut runs: split_group.c. */
size_t
vocab_split_thousands(const uint8_t *p, size_t n, size_t len, size_t *count);
size_t
vocab_split_afmoe_group(const uint8_t *p, size_t n, size_t len, size_t *count);
size_t
vocab_split_tiny_aya_group(const uint8_t *p, size_t n, size_t len,
                           size_t *count);
size_t
vocab_split_jais2_group(const uint8_t *p, size_t n, size_t len, size_t *count);

#endif
