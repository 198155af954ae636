/* models_parts.h - what the files that make models share */
#ifndef TESTS_MODELS_PARTS_H
#define TESTS_MODELS_PARTS_H

#include "models.h"

/* Writes n tokens: 256 bytes, pairs of letters, unused ones, <|control|>. */
void
models_add_vocab(struct gguf_context *gguf, int n);

/* Writes the keys of `s`, in which nothing is left to custom; those of rotary
 * positions where an architecture has them or they were `given`. */
void
models_set_keys(struct gguf_context *gguf, const struct model_spec *s,
                const struct model_spec *given);

/* What all models of an architecture have; 0: it is none that is known. */
unsigned
models_traits(const char *arch);

#endif
