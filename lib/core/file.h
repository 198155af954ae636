/* file.h - mapped input, and output that appears whole or not at all */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/error.h"

struct file_map {
    void *data;
    size_t size;
    bool filed; /* pages can come back from a file, */
    int fd;     /* which stays open; -1: it does not */
};

/* The callback for each file that is opened for reading, with its path. Set
 * before threads start. */
typedef void (*file_opened)(const char *path, int fd, void *data);
void
file_on_open(file_opened call, void *data);

/* The function that opens such files in place of open(), with its flags; NULL:
 * open(). Set before threads start. */
typedef int (*file_opener)(const char *path, int flags, void *data);
void
file_set_opener(file_opener call, void *data);

/* Maps a regular file for reading. Messages name `path`. */
enum gg_status
file_map(const char *path, struct file_map *out, struct gg_error *err);
/* Maps an open file, which stays the caller's. */
enum gg_status
file_map_fd(int fd, const char *path, struct file_map *out,
            struct gg_error *err);

/* The first bytes of such a file, as many as it has up to n. */
enum gg_status
file_peek(const char *path, void *out, size_t n, size_t *got,
          struct gg_error *err);

/* Reads a file that may change later into memory. */
enum gg_status
file_read(const char *path, struct file_map *out, struct gg_error *err);

/* Memory of zeros that file_unmap() takes like any mapping. */
enum gg_status
file_map_memory(size_t size, struct file_map *out, struct gg_error *err);

/* Keeps all of it in memory, never swapped out. */
enum gg_status
file_lock(const struct file_map *map, const char *path, struct gg_error *err);

/* Keeps the pages of some memory from being swapped out. */
enum gg_status
file_lock_part(const void *data, size_t size, struct gg_error *err);

/* Gives memory back that the data, part of a mapping with `filed`, took: it
 * will not be requested again soon. */
void
file_forget(const void *data, size_t size);

void
file_unmap(struct file_map *map); /* takes an empty one */

/* A file that is written under a temporary name next to `path`, with the owner,
 * as far as the process may give it away, and the mode of the one that was
 * there; a device, which cannot be replaced, is written itself. */
struct file_out {
    FILE *stream;
    char *path, *temporary;
};

enum gg_status
file_create(const char *path, struct file_out *out, struct gg_error *err);
/* Flushes to the disk and renames; on failure no file is left. */
enum gg_status
file_commit(struct file_out *out, struct gg_error *err);
void
file_discard(struct file_out *out); /* takes one that is done */

/* Writes all of it, however often write() returns early. */
enum gg_status
file_write_all(int fd, const void *data, size_t size, struct gg_error *err);

/* For tests: the process is killed at the step after `n` further ones, each a
 * file created, in the midst of a write, or before or after a rename. -1: it is
 * not. */
void
file_die_after(long n);

#endif
