/* gguf.h - metadata of GGUF files, with the reason where there is none */
#ifndef COMMON_GGUF_H
#define COMMON_GGUF_H

#include <gg.h>
#include <gguf.h>

/* gguf_init_from_file() without the data of tensors, or gguf_init_from_shards()
 * where `shards` says so. NULL: err says why. */
struct gguf_context *
gguf_metadata(const char *path, bool shards, struct gg_error *err);

/* Adds a tensor with the name and the shape of another; `data` may be NULL
 * where only metadata is written. */
void
gguf_add_like(struct gguf_context *to, const struct gguf_context *from,
              int64_t tensor, enum ggml_type type, const void *data);

/* To standard output: all before the data; what fills tensor i up to its
 * alignment. Errors stay with the stream. */
void
gguf_write_metadata(const struct gguf_context *gguf);
void
gguf_write_padding(const struct gguf_context *gguf, int64_t tensor);

#endif
