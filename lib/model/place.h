/* place.h - weights go where their devices want them */
#ifndef MODEL_PLACE_H
#define MODEL_PLACE_H

#include "gguf/reader.h"
#include "model/model.h"

/* Gives the tensors of all homes, which are named as in the file, their data:
 * in the mappings, where the device can compute there, else copied to it. */
enum gg_status
model_place_weights(const struct gguf_file *file,
                    const struct gg_model_params *params, struct model *m,
                    struct gg_error *err);

/* Takes a model without any. */
void
model_free_weights(struct model *m);

#endif
