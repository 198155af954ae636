/* numa.c - where threads run and memory lies */
#include "core/numa.h"
#include "session/pipeline.h"

enum gg_status
gg_numa_init(enum gg_numa how, const struct gg_pipeline *pipeline,
             struct gg_error *err)
{
    static const enum numa_mode modes[] = { [GG_NUMA_OFF] = NUMA_OFF,
                                            [GG_NUMA_DISTRIBUTE] =
                                                NUMA_DISTRIBUTE,
                                            [GG_NUMA_ISOLATE] = NUMA_ISOLATE };

    if ((unsigned)how >= sizeof(modes) / sizeof(modes[0]))
        return error_set(err, GG_ERR_ARG, "%d is no way of NUMA", (int)how);
    return numa_init(modes[how], pipeline ? pipeline->local : 0,
                     pipeline ? pipeline->n_local : 1, err);
}

int32_t
gg_numa_nodes(int32_t i, int32_t *index, int32_t *n_cpus)
{
    const struct numa_machine *m = numa_chosen();
    bool there = m && i >= 0 && i < m->n_nodes;

    if (index)
        *index = there ? m->nodes[i].index : -1;
    if (n_cpus)
        *n_cpus = there ? m->nodes[i].n_cpus : 0;
    return m ? m->n_nodes : 0;
}
