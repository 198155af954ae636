/* tokens.h - vocabularies of older files in the keys of GGUF */
#ifndef CONVERT_TOKENS_H
#define CONVERT_TOKENS_H

#include "convert/model.h"

/* GPT-2's: tokens are the bytes that they stand for, in the order in which
 * they were merged; so the merges, which the file does not have, follow. */
enum gg_status
convert_tokens_set_bpe(struct convert_model *m, const struct gguf_str *tokens,
                       size_t n, struct gg_error *err);

/* SentencePiece's: id 0 is unknown, 1 begins and 2 ends a text, 3 to 258 are
 * single bytes, written as such or as <0xHH>. Without scores (NULL) those of
 * LLaMA are made: a lower id is merged first. */
enum gg_status
convert_tokens_set_spm(struct convert_model *m, const struct gguf_str *tokens,
                       const float *scores, size_t n, struct gg_error *err);

/* merges.c: sets tokenizer.ggml.merges; `shown` are the tokens as GGUF has
 * them. Tokens that begin with "<|" are no product of a merge. */
enum gg_status
convert_merges_set(struct convert_model *m, const struct gguf_str *tokens,
                   const struct gguf_str *shown, size_t n,
                   struct gg_error *err);

/* Writes bytes as GPT-2's vocabularies do, as characters that can be seen: at
 * most two bytes for each. Returns how many. */
size_t
convert_tokens_show(const struct gguf_str *bytes, char *out);

#endif
