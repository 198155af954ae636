/* numa.c - how many nodes of memory the machine has */
#include <stdio.h>
#include <unistd.h>
#include <ggml-cpu.h>

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
    n_nodes = numa == GGML_NUMA_STRATEGY_DISABLED ? 0 : count_nodes();
}

bool
ggml_is_numa(void)
{
    return n_nodes > 1;
}
