/* gguf.h - metadata of GGUF files that are written */
#ifndef COMMON_GGUF_H
#define COMMON_GGUF_H

#include <gg.h>
#include <gguf.h>

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

/* To standard output: whole blocks of a tensor, as this machine has them, in
 * the byte order of the file. */
void
gguf_write_blocks(const struct gguf_context *gguf, enum ggml_type type,
                  const void *data, size_t size);

/* To standard output: the same; what fills tensor i up to its alignment. Errors
 * stay with the stream. */
void
gguf_write_metadata(const struct gguf_context *gguf);
void
gguf_write_padding(const struct gguf_context *gguf, int64_t tensor);

#endif
