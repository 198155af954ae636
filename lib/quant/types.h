/* types.h - what is known of every data type
 *
 * A type is one line of the table in table.c. Its block format lives in a
 * file of its family, bit for bit as GGUF files hold it. */
#ifndef QUANT_TYPES_H
#define QUANT_TYPES_H

#include <stdbool.h>
#include <ggml.h>

#include "quant/values.h"

struct quant_type {
    struct ggml_type_traits traits;
    /* Quantises n values (whole blocks of one row) with care for the columns
     * that `weights`, n of them, say matter. NULL: weights change nothing. */
    void (*quantize_weighted)(const float *x, void *y, int64_t n,
                              const float *weights);
    /* Weights of large values are made larger: the best choice for a type was
     * found by the divergence of models. */
    bool large_matter;
    quant_unpack_fn unpack; /* NULL: not a type of blocks that is read */
    /* Where a block holds its F16 scales, in bytes; the first n_scales. */
    uint8_t n_scales, scale_at[2];
    /* Whether a block's other scales are finite; NULL: it has none. */
    bool (*is_sound)(const void *block);
};

/* The line of a type; NULL for a number that is no type, or was removed. */
const struct quant_type *
quant_type(enum ggml_type type);

/* The public part of it; NULL as above. May be asked with any number that
 * was found in a file. */
const struct ggml_type_traits *
quant_traits(enum ggml_type type);

/* Rows to floats and back; NULL: there is no such function. Those of the
 * public part, but also for F32, where programs expect none. */
ggml_to_float_t
quant_reader(enum ggml_type type);
ggml_from_float_t
quant_writer(enum ggml_type type);

/* The type's name, or "unknown": for messages about numbers from files. */
const char *
quant_name(enum ggml_type type);

#endif
