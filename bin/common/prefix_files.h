/* prefix_files.h - the folder of a prefix cache as the file system has it */
#ifndef COMMON_PREFIX_FILES_H
#define COMMON_PREFIX_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/buffer.h"

#define PREFIX_MODELS "models"

/* Hashes are written in hexadecimal digits. */
enum {
    PREFIX_DIGITS = 64,
};
void
prefix_hex(const uint8_t *hash, char hex[PREFIX_DIGITS + 1]);

/* "FOLDER/NAME" of the folder; for free(). */
char *
prefix_join(const char *folder, const char *name);

/* Makes a folder of mode 0700 where there is none. False: errno says why it
 * cannot be made; EPERM: it is another user's, or others may write to it. */
bool
prefix_make_folder(const char *path);

/* Files that were hashed, as they were then. */
struct prefix_files {
    struct prefix_file {
        char *path;
        struct stat st;
    } * list;
    size_t n;
};

/* Adds a line for each file of a model, with its hash, to `key`: the shards of
 * a file, or the files of a folder. What was hashed before is found in the
 * cache's folder. False: one is no regular file, or cannot be read, or has
 * changed meanwhile. */
bool
prefix_hash_model(const char *cache, const char *path,
                  struct prefix_files *files, struct buffer *key);

/* True if all of them are as they were. */
bool
prefix_files_same(const struct prefix_files *files);
void
prefix_files_clear(struct prefix_files *files);

/* Removes files that no process writes any more, and then those that were used
 * least recently, until an eighth is free, where there are more than `most`
 * bytes. Returns how many there are now. Takes any folder: of other names
 * nothing is removed. */
uint64_t
prefix_trim(const char *cache, uint64_t most);

#endif
