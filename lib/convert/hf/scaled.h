/* scaled.h - weights that are quantised already: bytes with scales */
#ifndef CONVERT_HF_SCALED_H
#define CONVERT_HF_SCALED_H

#include "convert/hf/model.h"

/* Finds the scales of weights that are quantised already. */
void
convert_hf_link_scales(struct hf *h, const json_t *how);
/* The scale of a value. */
float
convert_hf_scale_at(const struct safetensors_tensor *t, size_t at);
/* n values from `at` on as blocks of MXFP4; both are whole blocks. */
void
convert_hf_pack_mxfp4(const struct safetensors_tensor *t, size_t at, size_t n,
                      uint8_t *out);

#endif
