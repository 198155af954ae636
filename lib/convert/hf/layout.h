/* layout.h - which rows of a folder's tensors make up one of ours */
#ifndef CONVERT_HF_LAYOUT_H
#define CONVERT_HF_LAYOUT_H

#include "convert/hf/families.h"

/* A tensor: where its values come from, and what it becomes. */
struct hf_conversion {
    const struct safetensors_tensor
        *first; /* of the experts, or the only one */
    const char *name;
    unsigned how; /* bits HF_... of families.h */
    int64_t ne[GGML_MAX_DIMS];
    struct hf_rows rows;
};

/* Sets ne and rows by `how`, from the shape of the first tensor; h fails where
 * that does not fit. */
void
convert_hf_lay_out(struct hf *h, struct hf_conversion *g);

#endif
