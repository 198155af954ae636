/* graph_profile.c - where the time of a graph goes, step by step of a node */
#include "cpu/exec/graph_profile.h"

static struct profile_thread *
threads_of(const struct cpu_stopwatch *w)
{
    return w->profile->threads[w->profile->phase];
}

void
cpu_stopwatch_start(struct cpu_stopwatch *w)
{
    struct profile_thread *threads = threads_of(w);

    for (int i = 0; i < w->n_threads; i++)
        threads[i].before = threads[i].busy;
    w->start = ggml_cycles(); /* nanoseconds */
}

void
cpu_stopwatch_stop(const struct cpu_stopwatch *w, bool shared)
{
    struct profile_thread *threads = threads_of(w);
    uint64_t ns = (uint64_t)(ggml_cycles() - w->start);

    w->kind->ns += ns;
    for (int i = 0; i < w->n_threads; i++) {
        uint64_t busy = threads[i].busy - threads[i].before;
        uint64_t waiting = shared && ns > busy ? ns - busy : 0;

        w->kind->busy += busy;
        w->kind->waiting += waiting;
        threads[i].waiting += waiting;
    }
}

void
cpu_stopwatch_piece(const struct cpu_stopwatch *w, int thread, int64_t began)
{
    struct profile_thread *t = &threads_of(w)[thread];

    t->busy += (uint64_t)(ggml_cycles() - began);
    t->pieces++;
}
