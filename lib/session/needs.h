/* needs.h - bytes that each layer of a model takes where it is */
#ifndef SESSION_NEEDS_H
#define SESSION_NEEDS_H

#include "graph/model.h"

/* A part is what a home may have of a layer: enum model_part. Keys, values and
 * recurrent states are of the rest. */
struct model_needs {
    int32_t n;                     /* layers */
    uint64_t *layers[MODEL_PARTS]; /* n each */
    uint64_t *kept;                /* n: of the rest, what is not weights */
    uint64_t front;                /* the embeddings */
    uint64_t back[MODEL_PARTS];    /* the output, and MTP layers */
    bool tied; /* the output's matrix is that of the embeddings */
};

/* With keys and values of n_ctx positions, of F16. Layers of other processes
 * take nothing. False: no memory. */
bool
session_needs_count(struct model_needs *needs, const struct model *m,
                    int64_t n_ctx);
void
session_needs_clear(struct model_needs *needs);

/* Positions that keys and values are counted for; 0: a usual number. */
int64_t
session_needs_positions(const struct model *m, int32_t n_ctx);

/* Bytes of one layer, from experts_from on with its experts; of all n. */
uint64_t
session_needs_layer(const struct model_needs *needs, int32_t layer,
                    int32_t experts_from);
uint64_t
session_needs_all(const struct model_needs *needs);

#endif
