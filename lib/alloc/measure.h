/* measure.h - a graph allocator as the scheduler needs it: what a graph would
 * need, for callers that may be short of memory themselves; what must lie
 * where, and for how long */
#ifndef ALLOC_MEASURE_H
#define ALLOC_MEASURE_H

#include <ggml-alloc.h>

/* ggml_gallocr_reserve_n_size(); false: no memory for the plan. */
bool
alloc_gallocr_measure(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                      const int *node_buffer_ids, const int *leaf_buffer_ids,
                      size_t *sizes);

/* Every result is where its buffer id says, also where it could be written over
 * a source. */
void
alloc_gallocr_stay(ggml_gallocr_t galloc);

/* In graphs from now on a tensor of theirs is kept until a node has been
 * computed. False: no memory. */
bool
alloc_gallocr_keep(ggml_gallocr_t galloc, struct ggml_tensor *tensor,
                   struct ggml_tensor *until);
/* Forgets these. */
void
alloc_gallocr_keep_none(ggml_gallocr_t galloc);

#endif
