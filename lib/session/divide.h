/* divide.h - which device gets which layers
 *
 * The devices take the last layers of a model and its output, the CPU those in
 * front of them. A mixture's experts are what its weights are most of, and few
 * of them are read for a token: where not all of it fits, the experts of the
 * first layers are the CPU's, too. */
#ifndef SESSION_DIVIDE_H
#define SESSION_DIVIDE_H

#include "session/needs.h"

enum {
    MODEL_AS_FITS = -1,
};

/* Layers to be divided, and the devices that get them. */
struct model_division {
    const struct model_needs *needs;
    int n; /* devices, the last layers for the last */
    uint64_t room[MODEL_MAX_HOMES];
    int32_t most;         /* layers for all of them together, whether or not
                             they fit; or MODEL_AS_FITS */
    int32_t experts_from; /* the first layer with its experts: above the number
                             of layers: none; or MODEL_AS_FITS */
};

/* How it was divided. */
struct model_parts {
    int32_t layers[MODEL_MAX_HOMES]; /* of each device; the last that has any
                                        has the output, too */
    int32_t n;                       /* of all of them */
    int32_t experts_from;
};

/* Each gets as much of its room as others of theirs. */
void
session_divide(const struct model_division *d, struct model_parts *out);

/* Where parts->layers says how many each device has: the first layer whose
 * experts are there, too, so that these fit. */
int32_t
session_divide_experts(const struct model_division *d,
                       const struct model_parts *parts);

#endif
