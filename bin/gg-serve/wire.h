/* wire.h - what the monitor and the front tell each other: structs of one size
 *
 * The monitor starts engines and reads the owner's files; the front meets the
 * network. Nothing that came from outside goes from the front to the monitor
 * but by its place in the monitor's own lists. */
#ifndef SERVE_WIRE_H
#define SERVE_WIRE_H

#include <stdint.h>

#include "gg-serve/keys.h"
#include "gg-serve/models.h"

enum wire_kind {
    /* ---- from the front ---- */
    WIRE_START, /* model, key: an engine is wanted */
    WIRE_BUSY,  /* engine: it has something to do; after WIRE_RELEASE: it stays
                 * for that */
    WIRE_IDLE,  /* engine: it has nothing to do */
    WIRE_ALIVE, /* engine: it has loaded its model */
    WIRE_STUCK, /* engine: it is silent, and is killed */
    /* ---- from the monitor ---- */
    WIRE_ENGINE,  /* engine, model, key, and a socket */
    WIRE_FAILED,  /* model, key: none will come; text says why */
    WIRE_RELEASE, /* engine: its socket is closed, if it is idle */
    WIRE_RETIRE,  /* engine: it gets nothing new, and is closed when idle */
    WIRE_LISTS,   /* new lists of keys and models begin */
    WIRE_KEY,     /* key: the hash and the name of one */
    WIRE_MODEL,   /* text: the name of one */
    WIRE_LISTED,  /* they are complete, and hold from now on; model: 1 where one
                   * has a projector */
    WIRE_DRAIN,   /* number: seconds that running answers have */
};

enum {
    WIRE_TEXT = 256,
};

struct wire {
    int32_t kind, engine, model, key;
    int64_t number;
    struct key name;
    char text[WIRE_TEXT];
};

#endif
