/* measure.h - what a graph would need, for callers that may be short of memory
 * themselves */
#ifndef ALLOC_MEASURE_H
#define ALLOC_MEASURE_H

#include <ggml-alloc.h>

/* ggml_gallocr_reserve_n_size(); false: no memory for the plan. */
bool
alloc_gallocr_measure(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                      const int *node_buffer_ids, const int *leaf_buffer_ids,
                      size_t *sizes);

#endif
