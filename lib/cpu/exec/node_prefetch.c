/* node_prefetch.c - reads between two jobs, prefetched by idle threads */
#include "cpu/exec/node_prefetch.h"

#include "core/mem.h"
#include "cpu/ops/op_table.h"
#include "cpu/prefetch.h"
#include "tensor/tensor.h"

/* Constants of more bytes come as they are used, and so does all that is read
 * after this many spans. */
#define MOST       (16 * 1024)
#define MOST_SPANS 64

static bool
add_span(struct cpu_jobs *jobs, int first, const void *p, size_t n)
{
    if (jobs->n_spans - first == MOST_SPANS)
        return true;
    for (int i = first; i < jobs->n_spans; i++)
        if (jobs->spans[i].at == p && jobs->spans[i].n == n)
            return true;
    if (!mem_grow(&jobs->spans, &jobs->spans_cap, (size_t)jobs->n_spans + 1,
                  sizeof(*jobs->spans)))
        return false;
    jobs->spans[jobs->n_spans++] = (struct cpu_span){ p, n };
    return true;
}

/* A node and its sources; of one that one thread computes the constants, too,
 * and, as a span of no bytes, what its op prefetches. */
static bool
add_node(struct cpu_jobs *jobs, int first, const struct ggml_tensor *t,
         bool small)
{
    bool good = add_span(jobs, first, t, sizeof(*t));

    for (int i = 0; i < GGML_MAX_SRC && t->src[i] && good; i++) {
        const struct ggml_tensor *s = t->src[i];

        good = add_span(jobs, first, s, sizeof(*s));
        if (good && small && s->op == GGML_OP_NONE && ggml_nbytes(s) <= MOST)
            good = add_span(jobs, first, s->data, ggml_nbytes(s));
    }
    if (good && small && !tensor_is_idle(t) && cpu_op(t)->prefetch)
        good = add_span(jobs, first, t, 0);
    return good;
}

bool
cpu_node_prefetch_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph)
{
    int node = 0;

    jobs->n_spans = 0;
    for (int i = 0; i < jobs->n; i++) {
        struct cpu_job *job = &jobs->list[i];

        job->first_span = jobs->n_spans;
        for (; node < job->end; node++)
            if (!add_node(jobs, job->first_span, graph->nodes[node],
                          node < job->first))
                return false;
    }
    return true;
}

static void
prefetch_node(const struct ggml_tensor *node)
{
    cpu_op(node)->prefetch(&(struct cpu_task){ .nth = 1, .n_threads = 1 },
                           node);
}

void
cpu_node_prefetch(const struct cpu_jobs *jobs, int i)
{
    int end = i + 1 < jobs->n ? jobs->list[i + 1].first_span : jobs->n_spans;

    for (int s = i < jobs->n ? jobs->list[i].first_span : end; s < end; s++) {
        const struct cpu_span *span = &jobs->spans[s];

        for (size_t at = 0; at < span->n; at += CPU_LINE)
            PREFETCH_L1(span->at + at);
        if (span->n == 0)
            prefetch_node((const void *)span->at);
    }
}
