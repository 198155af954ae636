/* model.h - the model that takes the rows, and its projector */
#ifndef GG_ENCODE_MODEL_H
#define GG_ENCODE_MODEL_H

#include <gg-media.h>

/* The file that is named, or mmproj*.gguf beside the model: ends the tool where
 * there is none, or more than one. A static string. */
const char *
encode_find_projector(const char *model, const char *mmproj);

/* Ends the tool where the model takes rows of another width. Without a name
 * nothing is looked at. */
void
encode_check_model(const char *model, const struct gg_projector *projector);

/* Positions that the model was made for; 0: no model is named. */
uint64_t
encode_positions(const char *model);

#endif
