/* rotations.h - the matrices by which keys and values are rotated */
#ifndef SESSION_ROTATIONS_H
#define SESSION_ROTATIONS_H

#include "graph/cache.h"

/* Tensors for the heads of the layers, in their homes; no memory. */
void
session_rotations_new(struct cache *cache);

/* Writes a home's, which has memory. False: no memory for that. */
bool
session_rotations_fill(const struct cache_home *home);

#endif
