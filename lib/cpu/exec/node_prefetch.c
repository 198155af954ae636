/* node_prefetch.c - what is read between two jobs, fetched while nothing else
 * is done */
#include "cpu/exec/node_prefetch.h"

#include "core/mem.h"
#include "tensor/tensor.h"

/* Constants of more bytes come as they are used, and so does all that is read
 * after so many others. */
#define MOST       (16 * 1024)
#define MOST_SPANS 64

static bool
add(struct cpu_jobs *jobs, int first, const void *p, size_t n)
{
    if (jobs->n_near - first == MOST_SPANS)
        return true;
    for (int i = first; i < jobs->n_near; i++)
        if (jobs->near[i].at == p)
            return true;
    if (!mem_grow(&jobs->near, &jobs->near_cap, (size_t)jobs->n_near + 1,
                  sizeof(*jobs->near)))
        return false;
    jobs->near[jobs->n_near++] = (struct cpu_span){ p, n };
    return true;
}

/* A node and its sources; of one that one thread computes the constants, too.
 */
static bool
add_node(struct cpu_jobs *jobs, int first, const struct ggml_tensor *t,
         bool small)
{
    bool good = add(jobs, first, t, sizeof(*t));

    for (int i = 0; i < GGML_MAX_SRC && t->src[i] && good; i++) {
        const struct ggml_tensor *s = t->src[i];

        good = add(jobs, first, s, sizeof(*s));
        if (good && small && s->op == GGML_OP_NONE && ggml_nbytes(s) <= MOST)
            good = add(jobs, first, s->data, ggml_nbytes(s));
    }
    return good;
}

bool
cpu_near_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph)
{
    int node = 0;

    jobs->n_near = 0;
    for (int i = 0; i < jobs->n; i++) {
        struct cpu_job *job = &jobs->list[i];

        job->first_near = jobs->n_near;
        for (; node < job->end; node++)
            if (!add_node(jobs, job->first_near, graph->nodes[node],
                          node < job->first))
                return false;
    }
    return true;
}

void
cpu_near_fetch(const struct cpu_jobs *jobs, int i)
{
    int end = i + 1 < jobs->n ? jobs->list[i + 1].first_near : jobs->n_near;

    for (int s = i < jobs->n ? jobs->list[i].first_near : end; s < end; s++)
        for (size_t at = 0; at < jobs->near[s].n; at += CPU_LINE)
            __builtin_prefetch(jobs->near[s].at + at, 0, 3);
}
