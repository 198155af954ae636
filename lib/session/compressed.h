/* compressed.h - inputs of a graph that writes and reads rows for blocks */
#ifndef SESSION_COMPRESSED_H
#define SESSION_COMPRESSED_H

#include "session/compute.h"

/* Sets what the graph's layers read of hp.compressions[i]. False: no memory. */
bool
session_compressed_set(struct compute *c, struct batch *b, int i);

#endif
