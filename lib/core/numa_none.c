/* numa_none.c - NUMA, where this is built without hwloc: nothing is known */
#include "core/numa.h"

enum gg_status
numa_init(enum numa_mode mode, int local, int n_local, struct gg_error *err)
{
    (void)local, (void)n_local;
    if (mode == NUMA_OFF)
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "this library was built without hwloc, which knows the "
                     "nodes of a machine");
}

const struct numa_machine *
numa_chosen(void)
{
    return NULL;
}

enum gg_status
numa_read(struct numa_machine *m, bool *bound, struct gg_error *err)
{
    *m = (struct numa_machine){ 0 };
    *bound = false;
    return numa_init(NUMA_DISTRIBUTE, 0, 1, err);
}

void
numa_enter(int i, int n)
{
    (void)i, (void)n;
}

void
numa_leave(void)
{
}

void
numa_interleave(void *p, size_t size)
{
    (void)p, (void)size;
}

void
numa_place(const struct numa_matrix *list, size_t n)
{
    (void)list, (void)n;
}
