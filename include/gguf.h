/* gguf.h - reading and writing GGUF files
 *
 * A file is a header, pairs of key and value, a table of tensors, and their
 * data, each at an offset that is a multiple of the file's alignment. Ids count
 * from 0 in the order of the file; an id or a type that is wrong is a mistake
 * of the calling program and ends in ggml_abort(): ask for the type first where
 * the file is not one's own. What getters return belongs to the context and
 * lives until it is changed or freed; strings are NUL-ended. */
#ifndef GGUF_H
#define GGUF_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GGUF_MAGIC                 "GGUF"
#define GGUF_VERSION               3
#define GGUF_KEY_GENERAL_ALIGNMENT "general.alignment"
#define GGUF_DEFAULT_ALIGNMENT     32

enum gguf_type {
    GGUF_TYPE_UINT8 = 0,
    GGUF_TYPE_INT8 = 1,
    GGUF_TYPE_UINT16 = 2,
    GGUF_TYPE_INT16 = 3,
    GGUF_TYPE_UINT32 = 4,
    GGUF_TYPE_INT32 = 5,
    GGUF_TYPE_FLOAT32 = 6,
    GGUF_TYPE_BOOL = 7,
    GGUF_TYPE_STRING = 8,
    GGUF_TYPE_ARRAY = 9,
    GGUF_TYPE_UINT64 = 10,
    GGUF_TYPE_INT64 = 11,
    GGUF_TYPE_FLOAT64 = 12,
    GGUF_TYPE_COUNT,
};

/* Not upstream's: of the numbers in a file. */
enum gguf_byte_order {
    GGUF_LITTLE_ENDIAN = 0,
    GGUF_BIG_ENDIAN = 1,
};
/* Byte order of numbers in the memory of this machine. */
#define GGUF_MACHINE_ORDER                                                     \
    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? GGUF_BIG_ENDIAN                  \
                                            : GGUF_LITTLE_ENDIAN)

struct gguf_context;

/* ctx: NULL, or gets a ggml_context with a tensor for each of the file's, which
 * the caller frees with ggml_free(); they outlive the gguf_context. With
 * no_alloc they have no data; without it the data is read, too, to a tensor
 * of bytes in front of them, "GGUF tensor data binary blob". */
struct gguf_init_params {
    bool no_alloc;
    struct ggml_context **ctx;
};

/* Reads up to len bytes that begin at `offset` of the file to `output`; returns
 * their number. Fewer than len: the file ends there. */
typedef size_t (*gguf_reader_callback_t)(void *userdata, void *output,
                                         uint64_t offset, size_t len);

/* For writing: version 3, default alignment. NULL: no memory. */
GGML_API struct gguf_context *
gguf_init_empty(void);

/* Each reads a whole file, checks all of it, and returns NULL where it cannot
 * be read or is not sound; the reason goes to the log. Unless the data is
 * wanted, a file may end with its table of tensors. Of a stream, from where it
 * stands, and by a callback no more is read than is wanted: the metadata, and
 * the data where that is; by the callback in order, at most max_chunk_read
 * bytes (0: any number) at a time, and none beyond max_expected_size. */
GGML_API struct gguf_context *
gguf_init_from_file_ptr(FILE *file, struct gguf_init_params params);
GGML_API struct gguf_context *
gguf_init_from_file(const char *fname, struct gguf_init_params params);
GGML_API struct gguf_context *
gguf_init_from_buffer(const void *data, size_t size,
                      struct gguf_init_params params);
GGML_API struct gguf_context *
gguf_init_from_callback(gguf_reader_callback_t callback, void *userdata,
                        size_t max_chunk_read, uint64_t max_expected_size,
                        struct gguf_init_params params);

/* Not upstream's: a model that was split into several files, opened by the
 * first (name-00001-of-0000N.gguf): its pairs and the tensors of all files,
 * without data. Any other file is opened as by gguf_init_from_file(). */
GGML_API struct gguf_context *
gguf_init_from_shards(const char *fname);

/* Takes NULL. */
GGML_API void
gguf_free(struct gguf_context *ctx);

/* "u32", "str"; NULL for a number that is no type. */
GGML_API const char *
gguf_type_name(enum gguf_type type);

/* The file's version, the alignment of data, and where the data section
 * begins, in bytes from the file's first. */
GGML_API uint32_t
gguf_get_version(const struct gguf_context *ctx);
GGML_API size_t
gguf_get_alignment(const struct gguf_context *ctx);
GGML_API size_t
gguf_get_data_offset(const struct gguf_context *ctx);

/* Not upstream's: the byte order that the file has. Files of either order are
 * read, and what is read has the machine's order; version 3 knows both. */
GGML_API enum gguf_byte_order
gguf_get_byte_order(const struct gguf_context *ctx);

/* Keys: their number; the id of one, or -1; the name of an id. */
GGML_API int64_t
gguf_get_n_kv(const struct gguf_context *ctx);
GGML_API int64_t
gguf_find_key(const struct gguf_context *ctx, const char *key);
GGML_API const char *
gguf_get_key(const struct gguf_context *ctx, int64_t key_id);

/* The type of a value: GGUF_TYPE_ARRAY for an array, whose elements have the
 * type that the second tells. */
GGML_API enum gguf_type
gguf_get_kv_type(const struct gguf_context *ctx, int64_t key_id);
GGML_API enum gguf_type
gguf_get_arr_type(const struct gguf_context *ctx, int64_t key_id);

/* The value of exactly that type. */
GGML_API uint8_t
gguf_get_val_u8(const struct gguf_context *ctx, int64_t key_id);
GGML_API int8_t
gguf_get_val_i8(const struct gguf_context *ctx, int64_t key_id);
GGML_API uint16_t
gguf_get_val_u16(const struct gguf_context *ctx, int64_t key_id);
GGML_API int16_t
gguf_get_val_i16(const struct gguf_context *ctx, int64_t key_id);
GGML_API uint32_t
gguf_get_val_u32(const struct gguf_context *ctx, int64_t key_id);
GGML_API int32_t
gguf_get_val_i32(const struct gguf_context *ctx, int64_t key_id);
GGML_API float
gguf_get_val_f32(const struct gguf_context *ctx, int64_t key_id);
GGML_API uint64_t
gguf_get_val_u64(const struct gguf_context *ctx, int64_t key_id);
GGML_API int64_t
gguf_get_val_i64(const struct gguf_context *ctx, int64_t key_id);
GGML_API double
gguf_get_val_f64(const struct gguf_context *ctx, int64_t key_id);
GGML_API bool
gguf_get_val_bool(const struct gguf_context *ctx, int64_t key_id);
GGML_API const char *
gguf_get_val_str(const struct gguf_context *ctx, int64_t key_id);
/* Not upstream's: the bytes of it, which may include NUL. */
GGML_API size_t
gguf_get_val_str_len(const struct gguf_context *ctx, int64_t key_id);
/* The bytes of a number. */
GGML_API const void *
gguf_get_val_data(const struct gguf_context *ctx, int64_t key_id);

/* An array: the number of its elements; the elements themselves, where they are
 * numbers (bools are bytes); string i of an array of strings. */
GGML_API size_t
gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id);
GGML_API const void *
gguf_get_arr_data(const struct gguf_context *ctx, int64_t key_id);
GGML_API const char *
gguf_get_arr_str(const struct gguf_context *ctx, int64_t key_id, size_t i);
/* Not upstream's: the bytes of it, which may include NUL. */
GGML_API size_t
gguf_get_arr_str_len(const struct gguf_context *ctx, int64_t key_id, size_t i);

/* Tensors: their number; the id of one, or -1. */
GGML_API int64_t
gguf_get_n_tensors(const struct gguf_context *ctx);
GGML_API int64_t
gguf_find_tensor(const struct gguf_context *ctx, const char *name);

/* Where its data begins in the data section; its name; its GGML_MAX_DIMS
 * dimensions, 1 where it has fewer; its type; the bytes of its data. */
GGML_API size_t
gguf_get_tensor_offset(const struct gguf_context *ctx, int64_t tensor_id);
GGML_API const char *
gguf_get_tensor_name(const struct gguf_context *ctx, int64_t tensor_id);
GGML_API const int64_t *
gguf_get_tensor_ne(const struct gguf_context *ctx, int64_t tensor_id);
GGML_API enum ggml_type
gguf_get_tensor_type(const struct gguf_context *ctx, int64_t tensor_id);
GGML_API size_t
gguf_get_tensor_size(const struct gguf_context *ctx, int64_t tensor_id);

/* Not upstream's: the files that the context was read from, 1 but for
 * gguf_init_from_shards(); the name of one, NULL where there is only one; the
 * one with a tensor's data; where that begins, in bytes from the file's first.
 * (A tensor's offset is that in one file with the tensors of all.) */
GGML_API int64_t
gguf_get_n_shards(const struct gguf_context *ctx);
GGML_API const char *
gguf_get_shard_name(const struct gguf_context *ctx, int64_t shard_id);
GGML_API int64_t
gguf_get_tensor_shard(const struct gguf_context *ctx, int64_t tensor_id);
GGML_API size_t
gguf_get_tensor_place(const struct gguf_context *ctx, int64_t tensor_id);

/* Returns the id that the key had, or -1. */
GGML_API int64_t
gguf_remove_key(struct gguf_context *ctx, const char *key);

/* Not upstream's: true once one of the functions below had no memory. The
 * context lacks what it was given then, and cannot be written. */
GGML_API bool
gguf_out_of_memory(const struct gguf_context *ctx);

/* Sets the value of a key, which moves to the back; the value is copied.
 * GGUF_KEY_GENERAL_ALIGNMENT must be a u32, a power of two from 8 to 65536; it
 * moves the tensors' data. */
GGML_API void
gguf_set_val_u8(struct gguf_context *ctx, const char *key, uint8_t val);
GGML_API void
gguf_set_val_i8(struct gguf_context *ctx, const char *key, int8_t val);
GGML_API void
gguf_set_val_u16(struct gguf_context *ctx, const char *key, uint16_t val);
GGML_API void
gguf_set_val_i16(struct gguf_context *ctx, const char *key, int16_t val);
GGML_API void
gguf_set_val_u32(struct gguf_context *ctx, const char *key, uint32_t val);
GGML_API void
gguf_set_val_i32(struct gguf_context *ctx, const char *key, int32_t val);
GGML_API void
gguf_set_val_f32(struct gguf_context *ctx, const char *key, float val);
GGML_API void
gguf_set_val_u64(struct gguf_context *ctx, const char *key, uint64_t val);
GGML_API void
gguf_set_val_i64(struct gguf_context *ctx, const char *key, int64_t val);
GGML_API void
gguf_set_val_f64(struct gguf_context *ctx, const char *key, double val);
GGML_API void
gguf_set_val_bool(struct gguf_context *ctx, const char *key, bool val);
GGML_API void
gguf_set_val_str(struct gguf_context *ctx, const char *key, const char *val);

/* n elements of `type`, which is neither string nor array; n strings; all pairs
 * of another context. */
GGML_API void
gguf_set_arr_data(struct gguf_context *ctx, const char *key,
                  enum gguf_type type, const void *data, size_t n);
GGML_API void
gguf_set_arr_str(struct gguf_context *ctx, const char *key, const char **data,
                 size_t n);
GGML_API void
gguf_set_kv(struct gguf_context *ctx, const struct gguf_context *src);
/* One pair of another context, 0 <= key_id < gguf_get_n_kv(src). */
GGML_API void
gguf_copy_kv(struct gguf_context *ctx, const struct gguf_context *src,
             int64_t key_id);

/* Adds a contiguous tensor with a name that is new. Its data is not copied: it
 * must be there, in host memory, when the context is written. */
GGML_API void
gguf_add_tensor(struct gguf_context *ctx, const struct ggml_tensor *tensor);

/* Another type for a tensor, which moves the data of those after it; other
 * data, of its size. */
GGML_API void
gguf_set_tensor_type(struct gguf_context *ctx, const char *name,
                     enum ggml_type type);
GGML_API void
gguf_set_tensor_data(struct gguf_context *ctx, const char *name,
                     const void *data);

/* Writes header, pairs and table, padded to the alignment, and, unless
 * only_meta, the data. False: it failed, the reason goes to the log. A file
 * appears under its name whole or not at all. */
GGML_API bool
gguf_write_to_file_ptr(const struct gguf_context *ctx, FILE *file,
                       bool only_meta);
GGML_API bool
gguf_write_to_file(const struct gguf_context *ctx, const char *fname,
                   bool only_meta);

/* Not upstream's: what is written has that byte order, not the machine's. Data
 * that the program itself writes after the metadata becomes that of the file
 * in place: `size` bytes, a multiple of ggml_type_size(). */
GGML_API void
gguf_set_byte_order(struct gguf_context *ctx, enum gguf_byte_order order);
GGML_API void
gguf_order_data(const struct gguf_context *ctx, enum ggml_type type, void *data,
                size_t size);

/* Size in bytes of what only_meta writes; writes it to memory of that size. Out
 * of memory: 0, and nothing. */
GGML_API size_t
gguf_get_meta_size(const struct gguf_context *ctx);
GGML_API void
gguf_get_meta_data(const struct gguf_context *ctx, void *data);

#ifdef __cplusplus
}
#endif

#endif
