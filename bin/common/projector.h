/* projector.h - the model that takes the rows, and its projector */
#ifndef COMMON_PROJECTOR_H
#define COMMON_PROJECTOR_H

#include <stdbool.h>

#include <gg-media.h>

/* The file that is named, or, next to MODEL.gguf, mmproj-MODEL.gguf, or else
 * the mmproj*.gguf that is no other model's: ends the tool where there is none,
 * or more than one. A static string. */
const char *
projector_find(const char *model, const char *mmproj);
/* As projector_find(); NULL where that would end the tool. */
const char *
projector_look_for(const char *model, const char *mmproj);

/* A sentence, after one that has found none; or NULL. A static string. */
const char *
projector_why_missing(void);

/* Whether an option or the variable GG_MODEL names a model. */
bool
projector_model_named(const char *model);

/* Ends the tool where the model takes rows of another width. */
void
projector_check_model(const char *model, const struct gg_projector *projector);

/* Positions that the model was made for; 0: its file does not say. */
uint64_t
projector_positions(const char *model);

/* The id of the first row: as many as the model has tokens. Ends the tool where
 * no model is named. */
int32_t
projector_first_id(const char *model);

#endif
