/* node_prefetch.h - what is read between two jobs, prefetched by idle threads
 *
 * Weights that stream by push everything else out of a processor's caches:
 * nodes and their small constants, as those of norms, would be waited for one
 * after the other. The thread that computes what comes between jobs prefetches
 * all of them at once, as soon as it has nothing left to do of the job before.
 */
#ifndef CPU_EXEC_NODE_PREFETCH_H
#define CPU_EXEC_NODE_PREFETCH_H

#include "cpu/exec/graph_jobs.h"

/* Finds it for the jobs of the graph. False: no memory. */
bool
cpu_node_prefetch_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph);

/* Prefetches what is read before job i, and as it begins. */
void
cpu_node_prefetch(const struct cpu_jobs *jobs, int i);

#endif
