/* packed.h - weights that are quantised already: codes with scales
 *
 * packed.c has the table of the forms in which they are saved, packed_fit.c
 * their shapes, packed_codes.c codes and values, packed_holds.c the types that
 * hold the values exactly. A tensor that is packed has the name, the shape and
 * the number of values of the weight that it stands for. */
#ifndef CONVERT_HF_PACKED_H
#define CONVERT_HF_PACKED_H

#include "convert/hf/model.h"

struct hf_packed;

/* A form: which tensors make up a weight, and what their bits mean. */
struct hf_packed_form {
    const char *methods; /* quant_method: "a|b" */
    const char *suffix;  /* of the codes' name; the rest is the stem */
    const char *name;    /* of the weight, after the stem */
    const char *dtypes;  /* of the codes: "I32|U8" */
    /* Names of other parts, after the stem; NULL: there is none such. */
    const char *scales, *zeros, *order, *whole, *shape;
    bool optional; /* without scales the tensor is something else */
    int dims[2];   /* of the codes: from, to */
    void (*fit)(struct hf_packed *p, const struct safetensors_tensor *t);
    /* n codes of a row */
    void (*codes)(const struct hf_packed *p, size_t row, size_t column,
                  size_t n, int16_t *out);
    int (*zero)(const struct hf_packed *p, size_t row, size_t group);
};

enum {
    HF_PACKED_CHOICES = 16,
};

/* The configuration. */
struct hf_packing {
    struct hf *h;
    const char *method;
    size_t sizes[HF_PACKED_CHOICES][2]; /* of blocks: rows, columns */
    int n_sizes;
    int bits[HF_PACKED_CHOICES];
    int n_bits;
    bool less_one; /* zeros are saved less 1: GPTQ's first version */
};

struct hf_packed {
    const struct hf_packed_form *form;
    const struct hf_packing *how; /* while shapes are fitted */
    char *name; /* of the weight, where it is not that of the codes */
    const uint8_t *data;
    /* Parts; scales alone are always there. `order`: a column's group;
     * `whole`: a number for the tensor. */
    const struct safetensors_tensor *scales, *zeros, *order, *whole, *shape;
    int bits;
    bool less_one, divides;           /* `whole` divides */
    size_t n_matrices, rows, columns; /* of each */
    size_t block_rows, group;         /* rows, columns with one scale */
    size_t n_groups;                  /* across the columns */
    /* Steps in scales from one to the next. */
    size_t scale_matrix, scale_row, scale_group;
    float (*scale_at)(const uint8_t *data, size_t i);
    float (*open)(int code); /* what a code stands for; NULL: code - zero */
    bool is_signed;          /* codes of ints are */
    uint64_t holds;          /* types that hold all values: 1 << type */
    enum ggml_type floats;   /* the type of floats that they become else */
};

/* ---- packed.c ------------------------------------------------------------ */

/* Finds the weights of the folder that are packed. */
void
convert_hf_find_packed(struct hf *h, const json_t *how);

/* ---- packed_fit.c -------------------------------------------------------- */

/* Each sets what the shapes tell, or fails by p->how->h. */
void
convert_hf_fit_bytes(struct hf_packed *p, const struct safetensors_tensor *t);
void
convert_hf_fit_fp4(struct hf_packed *p, const struct safetensors_tensor *t);
void
convert_hf_fit_rows(struct hf_packed *p, const struct safetensors_tensor *t);
void
convert_hf_fit_gptq(struct hf_packed *p, const struct safetensors_tensor *t);
void
convert_hf_fit_awq(struct hf_packed *p, const struct safetensors_tensor *t);

/* ---- packed_codes.c ------------------------------------------------------ */

/* Codes of each form, and zeros. */
void
convert_hf_codes_bytes(const struct hf_packed *p, size_t row, size_t column,
                       size_t n, int16_t *out);
void
convert_hf_codes_fp4(const struct hf_packed *p, size_t row, size_t column,
                     size_t n, int16_t *out);
void
convert_hf_codes_rows(const struct hf_packed *p, size_t row, size_t column,
                      size_t n, int16_t *out);
void
convert_hf_codes_gptq(const struct hf_packed *p, size_t row, size_t column,
                      size_t n, int16_t *out);
void
convert_hf_codes_awq(const struct hf_packed *p, size_t row, size_t column,
                     size_t n, int16_t *out);
int
convert_hf_zero_bytes(const struct hf_packed *p, size_t row, size_t group);
int
convert_hf_zero_rows(const struct hf_packed *p, size_t row, size_t group);
int
convert_hf_zero_gptq(const struct hf_packed *p, size_t row, size_t group);
int
convert_hf_zero_awq(const struct hf_packed *p, size_t row, size_t group);

/* The reader of a tensor's numbers; NULL: they are no scales. */
typedef float (*hf_number_at)(const uint8_t *data, size_t i);
hf_number_at
convert_hf_number_at(const struct safetensors_tensor *t);
/* The values of byte codes of that type; NULL: the codes themselves. */
typedef float (*hf_open_code)(int code);
hf_open_code
convert_hf_open_code(const char *dtype);

size_t
convert_hf_packed_group(const struct hf_packed *p, size_t column);
float
convert_hf_packed_scale(const struct hf_packed *p, size_t row, size_t group);
int
convert_hf_packed_zero(const struct hf_packed *p, size_t row, size_t group);
/* The number for matrix i; 1 where there is none. */
double
convert_hf_packed_whole(const struct hf_packed *p, size_t i);

/* n values of the tensor from `at` on, `step` apart. */
void
convert_hf_packed_values(const struct safetensors_tensor *t, size_t at,
                         size_t step, size_t n, float *out);
/* n values of a row as blocks of a type that holds them, without `whole`. */
void
convert_hf_packed_blocks(const struct safetensors_tensor *t, size_t at,
                         size_t n, enum ggml_type type, uint8_t *out);

/* ---- packed_holds.c ------------------------------------------------------ */

/* Sets holds and floats. */
void
convert_hf_packed_judge(struct hf_packed *p);

static inline bool
convert_hf_packed_holds(const struct hf_packed *p, enum ggml_type type)
{
    return p->holds >> type & 1;
}

#endif
