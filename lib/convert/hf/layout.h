/* layout.h - which rows of a folder's tensors make up one of ours */
#ifndef CONVERT_HF_LAYOUT_H
#define CONVERT_HF_LAYOUT_H

#include "convert/hf/families.h"

/* A tensor: where its values come from, and what it becomes. */
struct hf_conversion {
    const struct safetensors_tensor
        *first; /* of the experts, or the only one */
    const char *name;
    unsigned how; /* as of struct hf_name */
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS];
    struct hf_rows rows;
};

/* Sets ne and rows by `how`, from the shape of the first tensor; h fails where
 * that does not fit. */
void
convert_hf_lay_out(struct hf *h, struct hf_conversion *g);

/* filters.c: the same of the layouts of pictures' and sounds' encoders. */
void
convert_hf_lay_out_filters(struct hf *h, struct hf_conversion *g);

/* Which of a matrix's sides a layout orders: adapters of it have it in B, in A,
 * or in neither; HF_OF_ALL: they cannot be converted. */
enum hf_side {
    HF_OF_ALL,
    HF_OF_ROWS,
    HF_OF_COLUMNS,
    HF_OF_NEITHER,
};

enum hf_side
convert_hf_layout_side(unsigned how);
/* HF_GATES, HF_UPS, HF_EVEN or HF_ODD: which rows, of each block, become the
 * tensor's; HF_AS_FOUND: all, or it is none of these. */
enum hf_layout
convert_hf_layout_half(unsigned how);
bool
convert_hf_is_mxfp4(unsigned how);

/* packed_types.c: the type of blocks that hold exactly what the rows become, of
 * weights that are quantised already; GGML_TYPE_COUNT: there is none. */
enum ggml_type
convert_hf_blocks_of(const struct hf_conversion *g);
/* Remembers that the type rounds values of such weights, where it does. */
void
convert_hf_note_rounding(struct hf *h, const struct hf_conversion *g);
/* Adds the numbers by which products with blocks of NVFP4 are multiplied. */
void
convert_hf_add_whole(struct hf *h, const struct hf_conversion *g);
/* A sentence about what was rounded or left out, to be freed by mem_free(); or
 * NULL, where there is nothing to say. */
char *
convert_hf_packed_note(struct hf *h);

#endif
