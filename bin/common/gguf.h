/* gguf.h - metadata of GGUF files, with the reason where there is none */
#ifndef COMMON_GGUF_H
#define COMMON_GGUF_H

#include <gg.h>
#include <gguf.h>

/* gguf_init_from_file() without the data of tensors, or gguf_init_from_shards()
 * where `shards` says so. NULL: err says why. */
struct gguf_context *
gguf_metadata(const char *path, bool shards, struct gg_error *err);

#endif
