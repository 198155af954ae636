/* repository.h - the files of a repository, or of a copy of one, and which of
 * them are a model */
#ifndef FETCH_REPOSITORY_H
#define FETCH_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By what a file is verified. */
enum sum_kind {
    SUM_NONE,
    SUM_SHA256,
    SUM_GIT, /* SHA-1 of Git's object: "blob SIZE", NUL, the bytes */
};

enum {
    SUM_HEX = 65, /* with the NUL */
};

struct checksum {
    enum sum_kind kind;
    char hex[SUM_HEX]; /* lower case */
};

struct repository_file {
    char *path; /* relative: no "..", no control characters */
    uint64_t size;
    bool has_size;
    struct checksum sum;
};

struct repository {
    struct repository_file *p;
    size_t n;
};

void
repository_add(struct repository *r, const struct repository_file *file);
void
repository_clear(struct repository *r);

/* True if it leads nowhere but below the folder that it is put in, and shows as
 * what it is. */
bool
repository_is_safe(const char *path);

/* Its bytes in hex, in lower case. False: it does not have `digits` digits. */
bool
repository_read_hex(const char *text, size_t digits, char out[SUM_HEX]);

/* The files of one model, in order: a GGUF file, all its shards, or a folder of
 * Hugging Face's. */
struct picked {
    size_t *files; /* numbers in the repository */
    size_t n;
    bool folder;
    bool has_projector; /* of images or sounds, which lies next to it: */
    size_t projector;
};

/* The path of the index that names the files with a folder's weights; NULL: the
 * model is no folder, or has none. */
const char *
repository_index(const struct repository *r);
/* Leaves out weights that are not named. */
void
repository_keep_weights(struct repository *r,
                        bool (*is_named)(const void *data, const char *path),
                        const void *data);

/* `want`: the path of a file, or how the name of one ends in front of ".gguf"
 * or a shard's number: "Q4_K_M"; NULL: the only one, or Q4_K_M. `name` is for
 * messages: if there is not just one, the tool ends. */
void
repository_pick(const struct repository *r, const char *name, const char *want,
                struct picked *out);
void
picked_clear(struct picked *p);

/* The length of a GGUF file's path in front of ".gguf" and a shard's number. */
size_t
repository_stem(const char *path);

/* Calls `show` for each model: what to write as `want`, bytes, its files. */
void
repository_list(const struct repository *r,
                void (*show)(const char *want, uint64_t bytes, size_t n_files,
                             const char *first));

#endif
