/* workers.h - engines, as the monitor that starts them knows them */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include <sys/types.h>

#include "gg-serve/monitor.h"

enum {
    MAX_WORKERS = 64,
    LAST_SECONDS = 5, /* an engine has to end, once its socket is closed */
};

enum worker_state {
    WORKER_FETCHING, /* gg-fetch brings its model */
    WORKER_RUNNING,
    WORKER_ENDING, /* it was asked to end */
};

struct worker {
    enum worker_state state;
    pid_t pid;
    int number;
    struct model model; /* a copy */
    char key[KEY_MAX_NAME];
    bool is_busy, is_retired, was_alive;
    int64_t started, idle_since, ended_since;
    uint64_t bytes;
    int fetched; /* a pipe with the path; -1: none */
};

/* How a model did until now. */
struct record {
    char name[MODEL_MAX_NAME];
    uint64_t bytes; /* 0: not known */
    int pause;      /* seconds until the next try */
    int64_t until;
};

struct monitor {
    struct monitor_params params;
    const struct listen *doors;
    struct keys keys;
    struct models models;
    int64_t generation;
    struct worker *workers[MAX_WORKERS];
    int n_workers, last_number;
    struct record *records;
    int n_records;
    pid_t front_pid;
    int front; /* the socket; -1: there is no front */
    int64_t front_started, drain_end;
    bool is_draining;
};

/* Sends the front a message, with a descriptor unless fd is -1. */
void
monitor_tell(struct monitor *m, struct wire *w, int fd);
void
monitor_tell_engine(struct monitor *m, enum wire_kind kind,
                    const struct worker *k);

/* The front wants an engine: one is started, unless there is one, or no room
 * for it. */
void
worker_want(struct monitor *m, const struct wire *w);

/* NULL: it has ended. */
struct worker *
worker_find(struct monitor *m, int number);

/* The process of m->workers[i] has ended. */
void
worker_ended(struct monitor *m, int i, int status);

/* Each second: engines that nobody wants any more end. */
void
workers_tick(struct monitor *m);

#endif
