/* metadata.h - values of keys, whatever their type is
 *
 * Nothing here fails: what a key does not say, or says by a value of a strange
 * type, is 0 or NULL. */
#ifndef INSPECT_METADATA_H
#define INSPECT_METADATA_H

#include "gg-inspect/inspect.h"

/* Bytes of a string value; s is NULL where there is none. */
struct text {
    const char *s;
    size_t len;
};

/* A number, or the least and the largest of an array with one for each layer;
 * `max` is 0 where there is none, or nonsense. */
struct range {
    uint64_t min, max;
};

/* The value of a key as far as it is numbers. */
struct range
meta_range(const struct gguf_context *ctx, const char *key);

/* A finite number. */
double
meta_float(const struct gguf_context *ctx, const char *key);

struct text
meta_text(const struct gguf_context *ctx, const char *key);

/* Elements of an array. */
size_t
meta_count(const struct gguf_context *ctx, const char *key);

#endif
