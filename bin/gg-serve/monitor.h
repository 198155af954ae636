/* monitor.h - the process that starts engines, and the front */
#ifndef SERVE_MONITOR_H
#define SERVE_MONITOR_H

#include "gg-serve/front.h"
#include "gg-serve/listen.h"

struct monitor_params {
    struct front_params front;
    const char *keys, *models; /* files, or NULL */
    struct model only;         /* without a file of models */
    uint64_t memory_max;       /* bytes; 0: no bound */
    int keep_seconds;          /* an engine that is idle for so long ends; 0:
                                  none does */
    int grace_seconds;         /* running answers have them at the end */
    bool fetch;
};

/* Serves until a signal ends it; returns the status of the tool. */
int
monitor_run(const struct monitor_params *params, const struct listen *doors);

#endif
