/* models_parts.h - what the files that make models share */
#ifndef TESTS_MODELS_PARTS_H
#define TESTS_MODELS_PARTS_H

#include "models.h"

/* Writes n tokens: 256 bytes, pairs of letters, unused ones, <|control|>. */
void
models_add_vocab(struct gguf_context *gguf, int n);

/* What all models of an architecture have; 0: it is none that is known. */
unsigned
models_traits(const char *arch);

#endif
