/* context.h - what a struct gguf_context is made of; for this module only */
#ifndef GGUF_CONTEXT_H
#define GGUF_CONTEXT_H

#include "core/hash.h"
#include "core/order.h"
#include "gguf/reader.h"

struct gguf_kv {
    char *key; /* NUL-ended */
    size_t key_len;
    enum gguf_type type; /* of the elements, where it is an array */
    bool is_array;
    size_t n;                 /* elements; 1 where it is not an array */
    uint64_t scalar;          /* the bytes of a single number come first */
    const void *data;         /* elements of an array of numbers */
    struct gguf_str *strings; /* of a string, or of an array of strings */
    void *owned;              /* memory of data or strings; or NULL */
};

/* One of several files that became one context. */
struct gguf_shard {
    char *name; /* or NULL */
    size_t data_offset;
};

struct gguf_context {
    char *name; /* of the file, for messages; or NULL */
    uint32_t version;
    enum gguf_byte_order order; /* of the file that was read, or is written */
    struct gguf_kv *kv;
    size_t n_kv, cap_kv;
    struct gguf_tensor *tensors;
    size_t n_tensors, cap_tensors;
    struct gguf_shard *shards; /* none where it is a single file */
    size_t n_shards, cap_shards;
    size_t alignment;
    size_t data_offset;  /* of the data section, from the file's first byte */
    bool self_contained; /* arrays are copied, aligned and NUL-ended */
    bool no_memory;      /* a setter failed: what would be written is wrong */
    bool indexed;        /* the maps below hold all keys and names */
    struct hash_map keys, names;
};

enum {
    GGUF_MIN_ALIGNMENT = 8,
    GGUF_MAX_ALIGNMENT = 65536,
    GGUF_MAX_KEY = 65535,
};

/* Bytes of an element; 0 for strings, arrays and what is no type. */
size_t
gguf_type_bytes(enum gguf_type type);

/* True for what an element of an array, or a single value, may be. */
bool
gguf_type_is_value(uint32_t type);

enum {
    /* A file that ends with its metadata may describe tensors; their data
     * pointers are NULL then. */
    GGUF_PARSE_BARE = 1,
    /* It may have the other byte order, in which the data of tensors stays
     * until gguf_swap_data(). */
    GGUF_PARSE_SWAPPED = 2,
    /* A file may be cut anywhere in the data; a tensor whose data is not whole
     * has none. */
    GGUF_PARSE_CUT = 4,
};

/* Like gguf_parse(). */
enum gg_status
gguf_parse_some(const void *data, size_t size, const char *name, unsigned flags,
                struct gguf_context **out, struct gg_error *err);

/* Whether what follows a file's magic is a version of the other byte order. */
bool
gguf_is_swapped(uint32_t version);

/* The data of all tensors, which lies in writable memory, becomes that of this
 * machine where the file has the other byte order. */
void
gguf_swap_data(const struct gguf_context *ctx);

/* Reads what follows the key/value pairs: parse_tensors.c. */
struct cursor;
enum gg_status
gguf_parse_tensors(struct gguf_context *ctx, struct cursor *c, size_t n,
                   struct gg_error *err);
/* Finds out where each tensor's data lies in data[0..size). */
enum gg_status
gguf_place_tensors(struct gguf_context *ctx, const void *data, size_t size,
                   unsigned flags, struct gg_error *err);

/* The tensors in the order of their data. The caller frees the array with
 * mem_free(); NULL: no memory. */
const struct gguf_tensor **
gguf_tensors_by_offset(const struct gguf_context *ctx);

/* Copies all arrays into the context. */
enum gg_status
gguf_make_self_contained(struct gguf_context *ctx, struct gg_error *err);

/* A string, or n of them, NUL-ended, in one piece of memory that begins with
 * the table of them. NULL: no memory. */
struct gguf_str *
gguf_copy_strings(const struct gguf_str *from, size_t n);

/* The bytes of a number, or of an array of numbers. */
static inline const void *
gguf_kv_data(const struct gguf_kv *kv)
{
    return kv->is_array ? kv->data : &kv->scalar;
}

/* A single number's bits, the last of them the lowest. */
static inline uint64_t
gguf_kv_bits(const struct gguf_kv *kv)
{
    return CORE_BIG_ENDIAN ? kv->scalar >> (64 - 8 * gguf_type_bytes(kv->type))
                           : kv->scalar;
}

/* Puts "file: " in front of the message; returns `status`. */
enum gg_status
gguf_in_file(const struct gguf_context *ctx, enum gg_status status,
             struct gg_error *err);

/* Where each tensor's data goes: one after the other, on boundaries. False:
 * there are more bytes than can be counted. */
bool
gguf_lay_out(struct gguf_context *ctx);

#endif
