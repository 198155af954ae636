/* graph_profile.h - where the time of a graph goes, step by step of a node */
#ifndef CPU_EXEC_GRAPH_PROFILE_H
#define CPU_EXEC_GRAPH_PROFILE_H

#include <ggml-cpu.h>

#include "backend/profile.h"

struct cpu_jobs;
struct cpu_stream;

/* ggml_graph_compute(); counters may be NULL. `jobs` (or NULL) are those of the
 * last graph, and become those of this; `stream` (or NULL) reads weights. */
enum ggml_status
cpu_compute(struct ggml_cgraph *graph, struct ggml_cplan *plan,
            struct backend_profile *profile, struct cpu_jobs *jobs,
            struct cpu_stream *stream);

/* A step that is being counted, of a node of that kind. */
struct cpu_stopwatch {
    struct backend_profile *profile;
    struct profile_kind *kind;
    int n_threads;
    int64_t start;
};

/* Nobody is at work. */
void
cpu_stopwatch_start(struct cpu_stopwatch *w);

/* All pieces are done. Where they were shared, threads have waited for the
 * time that they were not busy. */
void
cpu_stopwatch_stop(const struct cpu_stopwatch *w, bool shared);

/* By the thread, after a piece that it began then. */
void
cpu_stopwatch_piece(const struct cpu_stopwatch *w, int thread, int64_t began);

#endif
