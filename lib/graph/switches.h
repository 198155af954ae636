/* switches.h - adapters in a model's file that ids switch on */
#ifndef GRAPH_SWITCHES_H
#define GRAPH_SWITCHES_H

#include "graph/hparams.h"

/* Switches of a sequence so far. */
struct graph_switched {
    int32_t n;   /* ids that were looked at */
    int32_t on;  /* how many of them switch */
    int64_t sum; /* of the numbers of their adapters */
};

/* Goes on with the id; returns the number of the adapter by which it is
 * evaluated, 0: none. */
int32_t
graph_switch(const struct model_switches *w, struct graph_switched *s,
             int32_t id);

/* The id that is embedded in its place. */
int32_t
graph_switch_embedded(const struct model_switches *w, int32_t id);

#endif
