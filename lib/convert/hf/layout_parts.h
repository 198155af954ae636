/* layout_parts.h - layouts that have files of their own, and parts that they
 * share
 */
#ifndef CONVERT_HF_LAYOUT_PARTS_H
#define CONVERT_HF_LAYOUT_PARTS_H

#include "convert/hf/layout.h"

/* ---- layout.c: parts ----------------------------------------------------- */

/* The layout, without its flags. */
enum hf_layout
convert_hf_layout_of(const struct hf_conversion *g);
/* Fails because of the tensor, by its name. */
void
convert_hf_bad_tensor(struct hf *h, const struct hf_conversion *g,
                      const char *what);
/* Rows become columns. */
void
convert_hf_transpose_rows(struct hf_conversion *g);
/* A vector becomes a matrix of one column, so that its values are rows. */
void
convert_hf_make_column(struct hf_conversion *g);
void
convert_hf_lay_out_column(struct hf_conversion *g);

/* ---- layout_delta.c: HF_LATENT_K to HF_MIXES ----------------------------- */

void
convert_hf_take_latent(struct hf *h, struct hf_conversion *g);
void
convert_hf_squeeze(struct hf *h, struct hf_conversion *g);
void
convert_hf_part_groups(struct hf *h, struct hf_conversion *g);
void
convert_hf_tile_rows(struct hf *h, struct hf_conversion *g);
void
convert_hf_squeeze_tiled(struct hf *h, struct hf_conversion *g);
void
convert_hf_tile_columns(struct hf *h, struct hf_conversion *g);
void
convert_hf_take_delta(struct hf *h, struct hf_conversion *g);
void
convert_hf_take_mixes(struct hf *h, struct hf_conversion *g);

#endif
