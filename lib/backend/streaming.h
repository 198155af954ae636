/* streaming.h - weights that are larger than memory
 *
 * A back end that computes with weights where files are mapped reads them ahead
 * of what it computes, and says which of them stay in memory. It offers, by the
 * name BACKEND_SET_STREAMING, a backend_set_streaming_t. Results are the same
 * bytes as without. */
#ifndef BACKEND_STREAMING_H
#define BACKEND_STREAMING_H

#include <stdint.h>
#include <ggml-backend.h>

#include "core/file.h"

#define BACKEND_SET_STREAMING "gg_backend_set_streaming"

struct backend_streaming {
    const struct file_map *maps; /* that weights lie in; they outlive it */
    size_t n_maps;
    uint64_t weights; /* bytes of all weights */
    uint64_t room;    /* bytes of them that memory holds; 0: what is free */
    int n_sharers;    /* processes that share what is free; at least 1 */
    size_t least;     /* bytes; smaller tensors are left to the system */
};

/* Begins with the next graph; `s` is copied; NULL: ends. False: it cannot. */
typedef bool (*backend_set_streaming_t)(ggml_backend_t backend,
                                        const struct backend_streaming *s);

#endif
