/* gguf.h - metadata of GGUF files, with the reason where there is none */
#ifndef COMMON_GGUF_H
#define COMMON_GGUF_H

#include <gg.h>
#include <gguf.h>

/* gguf_init_from_file() without the data of tensors, or gguf_init_from_shards()
 * where `shards` says so. NULL: err says why. */
struct gguf_context *
gguf_metadata(const char *path, bool shards, struct gg_error *err);

/* The same of a whole file in memory, whose name err lacks. */
struct gguf_context *
gguf_metadata_of(const void *data, size_t size, struct gg_error *err);

/* Adds a tensor with the name and the shape of another; `data` may be NULL
 * where only metadata is written. Ends the tool where there is no memory. */
void
gguf_add_like(struct gguf_context *to, const struct gguf_context *from,
              int64_t tensor, enum ggml_type type, const void *data);

/* Ends the tool where there was no memory for a context, which is NULL then, or
 * for what was set in it. */
void
gguf_check_memory(const struct gguf_context *gguf);

/* All before the data, as it is written; the caller frees it. Ends the tool
 * where there is no memory. */
void *
gguf_metadata_bytes(const struct gguf_context *gguf, size_t *size);

/* To standard output: the same; what fills tensor i up to its alignment. Errors
 * stay with the stream. */
void
gguf_write_metadata(const struct gguf_context *gguf);
void
gguf_write_padding(const struct gguf_context *gguf, int64_t tensor);

#endif
