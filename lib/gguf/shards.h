/* shards.h - a model in several files; for this module only
 *
 * Its files are called name-00001-of-0000N.gguf and so on. Each has the keys
 * split.no (from 0), split.count and split.tensors.count (of all files); the
 * metadata is in the first. These are the names of llama.cpp's gguf-split. */
#ifndef GGUF_SHARDS_H
#define GGUF_SHARDS_H

#include "gguf/context.h"

enum {
    GGUF_MAX_SHARDS = 1024, /* each costs a mapping */
};

struct gguf_shards {
    uint32_t no;        /* of this file, below count */
    uint32_t count;     /* 1: the file was not split */
    uint64_t n_tensors; /* of all files; UINT64_MAX: it does not say */
};

/* Reads the keys of a shard: a count that makes sense, or 1. */
enum gg_status
gguf_get_shards(const struct gguf_context *ctx, struct gguf_shards *out,
                struct gg_error *err);

/* Fails for a later shard, with the name of the file to open instead. */
enum gg_status
gguf_check_first(const struct gguf_context *ctx, struct gg_error *err);

/* The name under which the others lie next to the first: the context's own, or,
 * where that is a symbolic link of another name, that of the file. The caller
 * frees it with mem_free(). */
enum gg_status
gguf_find_name(const struct gguf_context *first, const struct gguf_shards *of,
               char **out, struct gg_error *err);

/* The name of shard `no` next to that of the first, whose name was checked.
 * The caller frees it with mem_free(); NULL: no memory. */
char *
gguf_shard_path(const char *first, const struct gguf_shards *of, uint32_t no);

/* Moves the tensors of `next`, which must be shard `no`, to the first. Call it
 * for all of them in order, then gguf_join_end(): it checks that the names are
 * unique and that nothing is missing, and lays the tensors out as if they were
 * in one file. Until then, and after a failure, `first` can only be freed. */
enum gg_status
gguf_join(struct gguf_context *first, struct gguf_context *next, uint32_t no,
          const struct gguf_shards *of, struct gg_error *err);
enum gg_status
gguf_join_end(struct gguf_context *first, const struct gguf_shards *of,
              struct gg_error *err);

/* gguf_file_take()'s part in contexts; `first`: the number that the shards of
 * `from` begin with. */
enum gg_status
gguf_take_tensors(struct gguf_context *to, const struct gguf_context *from,
                  uint32_t first, gguf_take_fn named, const void *data,
                  struct gg_error *err);

#endif
