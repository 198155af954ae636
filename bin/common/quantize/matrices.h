/* matrices.h - which tensors of a file are quantised, and their order */
#ifndef QUANTIZE_MATRICES_H
#define QUANTIZE_MATRICES_H

#include <gguf.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether it is a matrix that is quantised: neither a norm, a router, nor a
 * small one of those that llama.cpp keeps as they are. */
bool
matrices_has(const struct gguf_context *gguf, int64_t tensor);

/* Whether the file's general.architecture is that. */
bool
matrices_of_architecture(const struct gguf_context *gguf, const char *name);

/* Whether the file is a projector of images or sounds. */
bool
matrices_of_projector(const struct gguf_context *gguf);

/* For each tensor, its number among the matrices that the rules of mixtures
 * count together with it: by layers, then by names, whatever their order in the
 * file; 0 for others. Returns how many make values. */
int32_t
matrices_number(const struct gguf_context *gguf, int32_t *numbers);

#endif
