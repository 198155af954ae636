/* split.h - writes a GGUF file as shards, as gguf-split does */
#ifndef TESTS_SPLIT_H
#define TESTS_SPLIT_H

#include <gguf.h>

/* What shard `no` (from 0) gets may be spoiled before it is written. */
typedef void (*split_spoil_fn)(struct gguf_context *shard, int no);

/* Writes STEM-00001-of-0000N.gguf and so on: the metadata and the keys split.*
 * in the first, the tensors in even parts in all of them, or with `bare_first`
 * in all but the first. False: something failed. */
bool
split_file(const char *path, const char *stem, int n, bool bare_first,
           split_spoil_fn spoil);

/* The name of shard `no`. Returns buf. */
char *
vocab_split_name(char *buf, size_t size, const char *stem, int no, int n);

#endif
