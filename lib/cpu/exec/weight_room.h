/* weight_room.h - how much memory there is for weights */
#ifndef CPU_EXEC_WEIGHT_ROOM_H
#define CPU_EXEC_WEIGHT_ROOM_H

#include <ggml-backend.h>

#include "backend/streaming.h"

/* All zero: it is not known yet. */
struct weight_room {
    uint64_t bytes;
    int64_t measured; /* when, in us */
    /* Results of graphs lie there. Memory that has not been touched yet still
     * counts as free: a graph that needs it takes it from the weights. */
    ggml_backend_buffer_t buffer;
    size_t needed, touched; /* bytes of it from its begin on */
};

/* Before the graph is computed, which is another one than before or not:
 * measures what is free if that is due; `own` of it is taken by weights. What
 * earlier graphs needed of the buffer, and this one by far does not, goes back
 * to the system. Returns whether `bytes` is new. */
bool
cpu_room_measure(struct weight_room *r, const struct backend_streaming *of,
                 const struct ggml_cgraph *graph, bool other, size_t own);

#endif
