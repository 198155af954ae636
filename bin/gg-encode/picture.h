/* picture.h - --png: what the encoder sees of an image */
#ifndef GG_ENCODE_PICTURE_H
#define GG_ENCODE_PICTURE_H

#include <gg-media.h>

/* Writes the inputs of all runs of rows to standard output, below each other,
 * or, if `run` is not 0, of that one, counted from 1. Ends the tool where there
 * is none, or it is no image. */
void
picture_write(const char *name, struct gg_media_plan *plan, size_t run);

#endif
