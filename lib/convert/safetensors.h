/* safetensors.h - tensors as the safetensors library stores them
 *
 * Eight bytes with the length of a header; the header, an object of JSON that
 * has a type, a shape and a place for each name; the data, without gaps
 * (https://github.com/huggingface/safetensors, "Format"). */
#ifndef CONVERT_SAFETENSORS_H
#define CONVERT_SAFETENSORS_H

#include <ggml.h>

#include "core/error.h"
#include "core/file.h"

enum {
    SAFETENSORS_MAX_DIMS = 8,
};

struct safetensors_tensor {
    const char *name;    /* NUL-ended */
    const char *dtype;   /* "BF16"; static */
    enum ggml_type type; /* or GGML_TYPE_COUNT: ggml has none like it */
    int n_dims;
    int64_t shape[SAFETENSORS_MAX_DIMS]; /* the last one is contiguous */
    size_t n;                            /* the product, which may be 0 */
    const uint8_t *data;                 /* of no alignment */
    size_t size;                         /* in bytes */

    /* Facts, not read but set later, of a weight that is quantised already:
     * convert/hf/packed.h; then n, name and shape are those of its values. */
    const struct hf_packed *packed;
};

struct safetensors {
    struct file_map map;
    void *header; /* owns the names */
    struct safetensors_tensor *tensors;
    size_t n;
};

/* Maps a file and checks its header: names are unique, types are known, data
 * has the size of its shape, and all of the file is somebody's, once. On
 * failure *out is empty; closing takes that. */
enum gg_status
convert_safetensors_open(const char *path, struct safetensors *out,
                         struct gg_error *err);
void
convert_safetensors_close(struct safetensors *s);

#endif
