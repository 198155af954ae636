/* graph_job_pieces.c - computes pieces of a job */
#include "cpu/exec/graph_jobs.h"
#include "cpu/gemm/gemm.h"
#include "cpu/exec/threadpool.h"
#include "cpu/prefetch.h"

/* The first of the pair that m is of; NULL: of none. */
static const struct job_member *
pair_of(const struct cpu_job *job, const struct job_member *m)
{
    if (m->both.n)
        return m;
    return m > job->members && m[-1].both.n ? m - 1 : NULL;
}

/* Prefetches biases and other sources of the nodes after the product, which are
 * in memory: they come while the product is computed. */
static void
prefetch_sources(const struct job_member *m, const struct cpu_part *part)
{
    size_t n = (size_t)(part->elements.end - part->elements.first);

    for (int i = 0; i < m->after.n; i++)
        for (int j = 0; j < 2 && m->after.nodes[i]->src[j]; j++) {
            const float *p = m->after.nodes[i]->src[j]->data;

            p += part->elements.first;
            for (size_t at = 0; at < n; at += CPU_LINE / sizeof(*p))
                PREFETCH_L1(p + at);
        }
}

static void
compute_after(const struct cpu_task *t, const struct job_after *after,
              const struct cpu_part *part)
{
    for (int i = 0; i < after->n; i++)
        cpu_op(after->nodes[i])
            ->compute_part(t, after->nodes[i], part->elements, part->rows);
}

/* Computes the nodes after both of a pair, where the other has been computed.
 */
static void
end_pair(const struct cpu_task *t, const struct job_member *pair)
{
    struct cpu_task of = *t;
    struct cpu_part part;

    of.count = 1;
    for (of.ith = t->ith; of.ith < t->ith + t->count; of.ith++) {
        if (!atomic_fetch_xor(&pair->pair_done[of.ith], 1))
            continue;
        part = cpu_product_part(&of, pair->node);
        compute_after(&of, &pair->both, &part);
    }
}

/* Pieces of a member. */
static void
compute_pieces(const struct cpu_job *job, const struct job_member *m,
               const struct cpu_task *t)
{
    const struct job_member *pair = pair_of(job, m);
    struct cpu_part part;

    if (m->after.n) {
        part = cpu_product_part(t, m->node);
        if (m->node->ne[1] == 1)
            prefetch_sources(m, &part);
    }
    if (m->state) {
        struct cpu_task to = *t;

        to.state = m->state;
        m->op->compute(&to, m->node);
        return;
    }
    m->op->compute(t, m->node);
    if (m->after.n)
        compute_after(t, &m->after, &part);
    if (pair)
        end_pair(t, pair);
}

void
cpu_job_compute(const struct cpu_job *job, const struct cpu_task *t)
{
    struct cpu_task left = *t, of;

    while (left.count > 0) {
        const struct job_member *m = cpu_job_member(job, &left, &of);

        compute_pieces(job, m, &of);
        left.ith += of.count;
        left.count -= of.count;
    }
}
