/* target.h - the model that a folder's drafter drafts for */
#ifndef CONVERT_HF_TARGET_H
#define CONVERT_HF_TARGET_H

#include "convert/hf/model.h"

/* Opens it without its weights: a folder, or a GGUF file. */
void
convert_hf_open_target(struct hf *h, const char *path);

/* How many layers it has; 0: it was not opened. */
int32_t
convert_hf_target_layers(struct hf *h);

/* Its tokens become the drafter's, but for keys that this has. */
void
convert_hf_take_target_tokens(struct hf *h);

#endif
