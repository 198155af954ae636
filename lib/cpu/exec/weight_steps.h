/* weight_steps.h - the nodes of a graph that multiply weights which are read
 * from a file, and the units that each needs */
#ifndef CPU_EXEC_WEIGHT_STEPS_H
#define CPU_EXEC_WEIGHT_STEPS_H

#include <ggml.h>

#include "backend/streaming.h"
#include "cpu/exec/weight_units.h"

struct weight_step {
    int node;
    const struct ggml_tensor *product;
    int first, n; /* units that it may need */
    bool experts; /* it needs those that its ids choose, */
    bool chosen;  /* and these are few */
};

/* In turn. All zero: none. */
struct weight_steps {
    struct weight_step *list;
    size_t n, cap;
    size_t largest; /* bytes of an expert; 0: there are none */
};

/* Pieces [first, end) of the n that a node has. */
struct weight_part {
    int first, end, n;
};

/* Finds the graph's steps, and their units. False: no memory. */
bool
cpu_steps_find(struct weight_steps *steps, struct weight_units *u,
               const struct backend_streaming *of,
               const struct ggml_cgraph *graph);

/* In how many parts the step's pieces had better be computed. */
int
cpu_step_parts(const struct weight_step *step);

/* Calls for each unit that the part of the step needs, once. */
void
cpu_step_units(const struct weight_step *step, struct weight_units *u,
               const struct weight_part *part, void (*call)(void *arg, int i),
               void *arg);

#endif
