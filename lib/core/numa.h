/* numa.h - NUMA: threads on the processors, and memory on the nodes, that a
 * plan says
 *
 * Built without hwloc, or where no option requests it, nothing of this does
 * anything. */
#ifndef CORE_NUMA_H
#define CORE_NUMA_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/numa_plan.h"

enum numa_mode {
    NUMA_OFF,
    NUMA_DISTRIBUTE, /* over all nodes that the process may use */
    NUMA_ISOLATE,    /* on the one where it runs */
};

/* Once in a process, before it has threads and before the sandbox, which hides
 * the machine: from then on threads and memory go where they should. The
 * process is one of n_local on this machine, `local`, which share it unless a
 * launcher has bound this one to some processors; then these are its own. */
enum gg_status
numa_init(enum numa_mode mode, int local, int n_local, struct gg_error *err);

/* The machine that numa_init() found and chose; NULL: it has chosen none. */
const struct numa_machine *
numa_chosen(void);

/* For tests and numa_init(): reads the machine, or, of a hwloc that is given
 * another one, that; *bound: the process may not use all of it. */
enum gg_status
numa_read(struct numa_machine *m, bool *bound, struct gg_error *err);

/* The calling thread is thread i of n that compute together, until
 * numa_leave(). */
void
numa_enter(int i, int n);
void
numa_leave(void);

/* Memory that any thread may use, and nobody has touched: pages go to the nodes
 * in turn. */
void
numa_interleave(void *p, size_t size);

/* A matrix of which threads have a share of the rows each. */
struct numa_matrix {
    void *data;
    size_t size;
    int64_t n_rows;
};

/* Moves rows, which are there or in a file that is mapped, to the nodes of the
 * threads that read them; which reads the file. */
void
numa_place(const struct numa_matrix *list, size_t n);

#endif
