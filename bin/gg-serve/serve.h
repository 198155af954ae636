/* serve.h - options of a server, and the server */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"

enum {
    SERVE_MOST_NAMES = 32, /* of one option that comes several times */
};

/* An option that comes several times; NULL ends it. */
struct serve_names {
    const char *of[SERVE_MOST_NAMES + 1];
    int n;
};

struct serve_options {
    const char *model, *name, *models, *keys;
    struct serve_names listen, hosts, origins;
    int32_t n_batch, n_context;
    int64_t memory_max; /* MiB */
    int32_t keep, grace;
    int32_t head, body, idle, queue_time, answer_time, ping, silent;
    int32_t max_body, max_connections, queue, queue_of_key; /* MiB, numbers */
    bool fetch, share_prefix, engine_per_key, quiet;
    char *const *args; /* of gg-generate; ends with NULL */
};

extern const struct cli_option serve_options[];

void
serve_defaults(struct serve_options *o);

/* Serves until a signal ends it; returns the tool's status. */
int
serve_run(const struct serve_options *o);

#endif
