/* transport.h - what carries bytes between the processes of a pipeline
 *
 * The engine opens no sockets: MPI does it, in a module (lib/mpi/), or, in
 * tests, memory that threads share. */
#ifndef PIPELINE_TRANSPORT_H
#define PIPELINE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between two ranks messages of one tag come in the order in which they were
 * sent. */
enum transport_tag {
    TRANSPORT_COMMAND = 1, /* from rank 0 */
    TRANSPORT_REPLY,       /* to rank 0 */
    TRANSPORT_LAYER,       /* what leaves a rank's layers, to the next one's */
};

enum {
    TRANSPORT_VERSION = 2,
};

struct pipeline_transport {
    uint32_t version;
    int32_t rank, size;
    int32_t n_local; /* ranks on this machine, */
    int32_t local;   /* and which of them this is */
    void *data;      /* the functions' own */

    /* Takes the bytes and returns before they have arrived; false: it failed,
     * and so will all that follows. */
    bool (*send)(struct pipeline_transport *t, int32_t to,
                 enum transport_tag tag, const void *bytes, size_t n);
    /* Waits for exactly n bytes. */
    bool (*receive)(struct pipeline_transport *t, int32_t from,
                    enum transport_tag tag, void *bytes, size_t n);
    /* Ends it, once what was sent has arrived; after a failure, all processes
     * with it. */
    void (*leave)(struct pipeline_transport *t, bool failed);
    char error[256]; /* why it failed */
};

/* A function that a module exports as "gg_mpi_join": returns NULL, with a
 * sentence in `why`, or the transport of this process, once. */
typedef struct pipeline_transport *
transport_join_t(char *why, size_t size);

#endif
