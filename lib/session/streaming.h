/* streaming.h - weights that are larger than memory */
#ifndef SESSION_STREAMING_H
#define SESSION_STREAMING_H

#include "session/cache.h"
#include "session/compute.h"

/* The variable of the environment that says how many bytes of weights memory
 * holds, "700M", in place of what is free. */
#define STREAMING_ROOM "GG_WEIGHT_MEMORY"

/* Has the CPU's back end read weights as it needs them, if these and the
 * buffers are larger than what is free, and no other device computes.
 * Otherwise the system reads them page by page. */
void
session_stream_weights(struct compute *c);

/* A number of bytes, "N", "NK", "NM" or "NG"; 0: it is none. */
uint64_t
session_streaming_room(const char *text);

#endif
