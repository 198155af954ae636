/* model.h - the model that takes the rows, and its projector */
#ifndef GG_ENCODE_MODEL_H
#define GG_ENCODE_MODEL_H

#include <stdbool.h>

#include <gg-media.h>

/* The file that is named, or mmproj*.gguf beside the model: ends the tool where
 * there is none, or more than one. A static string. */
const char *
encode_find_projector(const char *model, const char *mmproj);
/* As encode_find_projector(); NULL where that would end the tool. */
const char *
encode_look_for_projector(const char *model, const char *mmproj);

/* Whether an option or the variable GG_MODEL names a model. */
bool
encode_names_model(const char *model);

/* Ends the tool where the model takes rows of another width. */
void
encode_check_model(const char *model, const struct gg_projector *projector);

/* Positions that the model was made for; 0: its file does not say. */
uint64_t
encode_positions(const char *model);

/* The id of the first row: as many as the model has tokens. Ends the tool where
 * no model is named. */
int32_t
encode_first_id(const char *model);

#endif
