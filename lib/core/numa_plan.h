/* numa_plan.h - which threads run on which node, and which rows lie there
 *
 * A machine's memory is in nodes, each near some processors. Threads of the CPU
 * back end have a share each of the rows of every matrix, in a row
 * (cpu_pool_first()): so the first threads run on the first node, and the first
 * rows lie there, as much of all as it has of all processors. What is computed
 * does not depend on it. Nothing here asks the system for anything. */
#ifndef CORE_NUMA_PLAN_H
#define CORE_NUMA_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numa_node {
    int index; /* the system's */
    int *cpus; /* the system's, those of a core one after the other */
    int n_cpus;
    int before; /* processors of the nodes before it */
};

/* The part of a machine that a process may use; all zero: it is not known. */
struct numa_machine {
    struct numa_node *nodes; /* with a processor at least */
    int n_nodes, n_cpus;
};

/* Takes a copy of the processors. False: no memory. */
bool
numa_plan_add(struct numa_machine *m, int index, const int *cpus, int n);
void
numa_plan_clear(struct numa_machine *m);

/* Leaves what the process `local` of n on this machine has: nodes of its own,
 * or where there are not as many, processors of one; or, where there are not as
 * many of these, a processor that others have, too. */
void
numa_plan_take_share(struct numa_machine *m, int local, int n);
/* Leaves the node which has the processor, or the first. */
void
numa_plan_take_node(struct numa_machine *m, int cpu);

/* The node, from 0, of thread i of n. */
int
numa_plan_node_of(const struct numa_machine *m, int i, int n);

/* The first of n rows that lies on the node; of n_nodes: n. */
int64_t
numa_plan_first_row(const struct numa_machine *m, int node, int64_t n);

/* Pages. */
struct numa_span {
    char *p;
    size_t size; /* 0: none */
};

/* The pages of the node's rows of a matrix of n rows, `size` bytes in all: a
 * page is of the node in which it begins. */
struct numa_span
numa_plan_pages(const struct numa_machine *m, int node, void *data, size_t size,
                int64_t n, size_t page);

#endif
