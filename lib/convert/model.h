/* model.h - a model of another format that becomes GGUF */
#ifndef CONVERT_MODEL_H
#define CONVERT_MODEL_H

#include "convert/blocks.h"
#include "gguf/reader.h"

/* Where the data of a tensor comes from. */
struct convert_tensor {
    struct blocks blocks;
    const uint8_t *data; /* n_blocks of them, in the file; or */
    /* the groups of llama2.c: int8 in `data`, and a scale for each `group` */
    const uint8_t *scales;
    uint32_t group;
};

struct convert_model {
    const char *path;
    const struct file_map *map;
    struct gguf_context *gguf; /* names and shapes of all tensors, and keys */
    struct convert_tensor *tensors; /* one for each */
    size_t cap_tensors;
    bool rewrites; /* the blocks of a tensor change */
};

/* "path: sentence", GG_ERR_FORMAT. */
__attribute__((format(printf, 3, 4))) enum gg_status
convert_bad(const struct convert_model *m, struct gg_error *err,
            const char *fmt, ...);

/* Adds a tensor whose data lies in the file. The caller has checked that it
 * does: rows of whole blocks, dimensions of at least 1. */
enum gg_status
convert_add(struct convert_model *m, const char *name, const int64_t ne[2],
            const struct convert_tensor *from, struct gg_error *err);

/* `name` with its %d, if it has one, replaced by the layer. */
void
convert_name(char out[GGML_MAX_NAME], const char *name, uint32_t layer);

/* Adds the keys that both kinds of model have. */
struct convert_shape {
    const char *architecture;
    uint32_t n_ctx, n_embd, n_head, n_head_kv, n_layer, n_ff;
    const char *eps_key; /* after "architecture." */
    float eps;
};
void
convert_set_shape(struct convert_model *m, const struct convert_shape *shape);

/* Data of all tensors, in memory, where the blocks of any are rewritten; *map
 * gets that memory. Elsewhere tensors stay in the file. */
enum gg_status
convert_rewrite(struct convert_model *m, struct file_map *map,
                struct gg_error *err);

/* ---- the formats -------------------------------------------------------- */

/* True if the file is of a format that this reader takes; *name gets its
 * name. */
bool
convert_is_old(const struct file_map *map, const char **name);
bool
convert_is_llama2c(const struct file_map *map, const char **name);

enum gg_status
convert_read_old(struct convert_model *m, struct gg_error *err);
enum gg_status
convert_read_llama2c(struct convert_model *m, struct gg_error *err);

#endif
