/* tiles.h - how many tiles an image becomes */
#ifndef MEDIA_TILES_H
#define MEDIA_TILES_H

#include "media/plan.h"

enum {
    MEDIA_MAX_TILES = 256,
};

/* Tiles of image_size, as width x height of them; 0 x 0: the image is no larger
 * than one. Of min_tiles to max_tiles those that keep most of the image, and
 * add least to it (LLaVA 1.6). */
struct media_size
media_tiles_pinpoints(struct media_planner *p);

/* Adds tiles, row by row, if there are any, of the image as it is shaped, and
 * then the whole, which is stretched into one. */
void
media_tiles_plan(struct media_planner *p);

/* Slices of an image of more than one tile's area: the grid whose shape is
 * nearest to the image's, of about as many as the area needs, at most 9
 * (MiniCPM-V); 0 x 0: none. */
struct media_size
media_tiles_slices(struct media_planner *p);
/* The size of one such slice, or, of the whole, of an image of that size. Sides
 * are multiples of patches; `grows`: also where it is less than a tile. */
struct media_size
media_tiles_fit(struct media_planner *p, uint32_t width, uint32_t height,
                bool grows);

/* Finds the grid of min_tiles to max_tiles tiles of `side` pixels with the
 * nearest shape (InternVL, LFM2-VL). */
struct media_size
media_tiles_nearest(struct media_planner *p, uint32_t side);

#endif
