/* numa.c - how many nodes of memory the machine has */
#include <stdio.h>
#include <unistd.h>
#include <ggml-cpu.h>

#include "core/numa.h"

static int n_nodes;

/* Linux numbers them, with gaps where some are offline. */
static int
count_nodes(void)
{
    char path[64];
    int n = 0;

    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", i);
        n += access(path, F_OK) == 0;
    }
    return n;
}

void
ggml_numa_init(enum ggml_numa_strategy numa)
{
    bool on = numa != GGML_NUMA_STRATEGY_DISABLED;

    n_nodes = on ? count_nodes() : 0;
    /* Without hwloc it is only known how many there are. */
    (void)numa_init(!on                                  ? NUMA_OFF
                    : numa == GGML_NUMA_STRATEGY_ISOLATE ? NUMA_ISOLATE
                                                         : NUMA_DISTRIBUTE,
                    0, 1, NULL);
}

bool
ggml_is_numa(void)
{
    return n_nodes > 1;
}
