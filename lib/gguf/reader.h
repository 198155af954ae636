/* reader.h - GGUF files as the other modules see them
 *
 * A file is hostile until gguf_parse() has accepted it. What holds then:
 * - keys and tensor names are unique, at least one byte, without NUL;
 * - every tensor has up to 4 dimensions, rows of whole blocks, a type with a
 *   known block, and data that lies inside the file, aligned, not shared with
 *   another tensor; one with a dimension of 0 has no bytes;
 * - products of dimensions that are not 0, and their bytes, fit in an int64_t;
 * - bools are 0 or 1;
 * - arrays have one element type, are not nested, and lie inside the file.
 * Nothing is said about the meaning of a value: a key that is read must be
 * checked by who reads it. Strings may hold any bytes.
 *
 * The functions of <gguf.h> work on these contexts as well, but for
 * gguf_get_arr_str() and gguf_get_arr_data(): arrays are not copied. */
#ifndef GGUF_READER_H
#define GGUF_READER_H

#include <gguf.h>
#include <string.h>

#include "core/error.h"
#include "core/file.h"

/* Keys of this project alone, which others pass over: ids of tokens that take
 * the white space before them, or after them. */
#define GGUF_LSTRIP "gg.tokenizer.lstrip"
#define GGUF_RSTRIP "gg.tokenizer.rstrip"

/* Reads data[0..size), all of a GGUF file, in time linear in its metadata. On
 * GG_OK *out is the caller's: gguf_free() it. It points into `data`, which
 * must outlive it and not change. `name` (or NULL) begins the messages, also
 * those of the getters below. A file of the other byte order, whose data would
 * have to change, is GG_ERR_UNSUPPORTED. */
enum gg_status
gguf_parse(const void *data, size_t size, const char *name,
           struct gguf_context **out, struct gg_error *err);

/* A file that is mapped for as long as it is used; or the shards of a model
 * that was split. One of the other byte order is read into memory, and becomes
 * one of this machine's. */
struct gguf_file {
    struct file_map *maps; /* n_maps; a tensor's is the one of its shard */
    size_t n_maps;
    struct gguf_context *gguf;
    bool locked; /* in memory */
    char *note;  /* a sentence about what it was made of; or NULL */
};

enum {
    GGUF_OPEN_READ = 1, /* read into memory instead of mapped */
    GGUF_OPEN_LOCK = 2, /* never swapped out */
    GGUF_OPEN_ALL = 4,  /* with the other shards, next to the first */
    GGUF_OPEN_KEYS = 8, /* data are not read, and may lie out of line; else such
                         * are copied */
};

/* `path` is a file or the first shard of a model; a later one is refused with
 * the name of the first. The context has the metadata of that file, and its
 * tensors, or those of all shards. On failure *out is empty. Closing takes an
 * empty one. */
enum gg_status
gguf_file_open(const char *path, unsigned flags, struct gguf_file *out,
               struct gg_error *err);
void
gguf_file_close(struct gguf_file *file);

/* The name of a tensor where it is taken to, maybe in buf, of GGML_MAX_NAME
 * bytes; NULL: it is not wanted. */
typedef const char *(*gguf_take_fn)(const char *name, const void *data,
                                    char *buf);

/* Copies of the other file's tensors that are wanted go to the first one's
 * context, as of a further shard, and with them its mappings: `from` keeps its
 * context, which needs `to` open. A fingerprint does not count them. A name
 * that `to` has fails. */
enum gg_status
gguf_file_take(struct gguf_file *to, struct gguf_file *from, gguf_take_fn named,
               const void *data, struct gg_error *err);

/* Keys and the table of tensors alone, without a mapping: the data, which may
 * be missing, is at no place. `all`: of all shards, where `path` is the first.
 */
enum gg_status
gguf_read_metadata(const char *path, bool all, struct gguf_context **out,
                   struct gg_error *err);

/* ---- Tensors ---------------------------------------------------------- */

struct gguf_tensor {
    const char *name; /* NUL-ended, shorter than GGML_MAX_NAME */
    enum ggml_type type;
    int n_dims;
    int64_t ne[GGML_MAX_DIMS]; /* 1 from n_dims on */
    /* Offset of the data in the data section; of shards, in the one that they
     * would have as a single file. */
    uint64_t offset;
    size_t size;      /* of the data, in bytes */
    const void *data; /* in the mapping; NULL in one being written */
    bool taken;       /* gguf_file_take() */
    uint32_t shard;   /* the file that it is in: 0 is the first */
    uint64_t place;   /* of shards: of the data, from its file's first byte */
};

/* The i-th, 0 <= i < gguf_get_n_tensors(). Owned by the context. */
const struct gguf_tensor *
gguf_tensor(const struct gguf_context *ctx, int64_t i);

/* NULL where the file has none of that name. */
const struct gguf_tensor *
gguf_tensor_named(const struct gguf_context *ctx, const char *name);

/* ---- Values: what does not fit is GG_ERR_FORMAT, and names the key ------ */

/* Not NUL-ended. Lives as long as the context and its data. */
struct gguf_str {
    const char *s;
    size_t n;
};

struct gguf_array {
    enum gguf_type type; /* of the elements */
    size_t n;
    const void *data;               /* n elements, of no alignment; or */
    const struct gguf_str *strings; /* n strings */
};

/* gguf_get_x(): the key must be there. gguf_opt_x(): where it is not, *out
 * stays as it was; a value that does not fit fails all the same. On failure
 * *out stays, too.
 *
 * An integer may have any integer type that the file likes, as long as its
 * value fits. A float may be f32 or f64; it must be finite. */
#define GGUF_GETTER(name, type)                                                \
    enum gg_status gguf_get_##name(const struct gguf_context *ctx,             \
                                   const char *key, type *out,                 \
                                   struct gg_error *err);                      \
    enum gg_status gguf_opt_##name(const struct gguf_context *ctx,             \
                                   const char *key, type *out,                 \
                                   struct gg_error *err)
GGUF_GETTER(u32, uint32_t);
GGUF_GETTER(i32, int32_t);
GGUF_GETTER(u64, uint64_t);
GGUF_GETTER(f32, float);
GGUF_GETTER(f64, double);
GGUF_GETTER(bool, bool);
GGUF_GETTER(str, struct gguf_str);
#undef GGUF_GETTER

/* An array whose elements have exactly that type. */
enum gg_status
gguf_get_array(const struct gguf_context *ctx, const char *key,
               enum gguf_type type, struct gguf_array *out,
               struct gg_error *err);
enum gg_status
gguf_opt_array(const struct gguf_context *ctx, const char *key,
               enum gguf_type type, struct gguf_array *out,
               struct gg_error *err);

/* An array of that type with exactly n elements. */
enum gg_status
gguf_get_array_n(const struct gguf_context *ctx, const char *key,
                 enum gguf_type type, size_t n, struct gguf_array *out,
                 struct gg_error *err);

/* Element i of an array of that type; i must be below its count. */
static inline int32_t
gguf_array_i32(const struct gguf_array *a, size_t i)
{
    int32_t v;

    memcpy(&v, (const char *)a->data + i * sizeof(v), sizeof(v));
    return v;
}

static inline uint32_t
gguf_array_u32(const struct gguf_array *a, size_t i)
{
    return (uint32_t)gguf_array_i32(a, i);
}

static inline float
gguf_array_f32(const struct gguf_array *a, size_t i)
{
    float v;

    memcpy(&v, (const char *)a->data + i * sizeof(v), sizeof(v));
    return v;
}

/* For a reader's own complaint about the value of a key: writes "file: key:
 * sentence" and returns GG_ERR_FORMAT. */
__attribute__((format(printf, 4, 5))) enum gg_status
gguf_bad_value(const struct gguf_context *ctx, const char *key,
               struct gg_error *err, const char *fmt, ...);

/* A hash of what a model is: the keys of its architecture and of its tokens,
 * names, types and shapes of its tensors, and bytes sampled from each. Neither
 * order, nor other keys, nor shards count. */
uint64_t
gguf_fingerprint(const struct gguf_context *ctx);

/* ---- Writing ------------------------------------------------------------ */

/* As gguf_write_to_file(), with a word about what went wrong. */
enum gg_status
gguf_save(const struct gguf_context *ctx, const char *path, bool only_meta,
          struct gg_error *err);

/* As gguf_set_val_str() and gguf_set_arr_str(), for bytes of any value. */
void
gguf_set_bytes(struct gguf_context *ctx, const char *key, const char *s,
               size_t n);
void
gguf_set_strings(struct gguf_context *ctx, const char *key,
                 const struct gguf_str *strings, size_t n);

/* After the last setter, a context that was filled can be used as one that was
 * read: names are found by hash, and the getters' messages begin with `name`.
 * GG_ERR_NOMEM where a setter had no memory. */
enum gg_status
gguf_finish(struct gguf_context *ctx, const char *name, struct gg_error *err);

#endif
