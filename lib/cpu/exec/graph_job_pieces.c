/* graph_job_pieces.c - a piece's part of a job, and what is done for it */
#include "cpu/exec/graph_jobs.h"
#include "cpu/gemm/gemm.h"
#include "cpu/exec/threadpool.h"
#include "cpu/prefetch.h"

/* The threads' tiles of a pair, of n each: thread by thread, all of the first
 * product's, then all of the second's, as they lie in a row. Piece `at` is tile
 * *tile of product 0 or 1, and *rest more follow it. */
static int
of_pair(const struct cpu_task *t, int n, int at, int *tile, int *rest)
{
    int thread = (int)((int64_t)at * t->n_threads / (2 * n)), first, end;

    while (at >= 2 * cpu_pool_first(n, t->n_threads, thread + 1))
        thread++;
    while (at < 2 * cpu_pool_first(n, t->n_threads, thread))
        thread--;
    first = cpu_pool_first(n, t->n_threads, thread);
    end = cpu_pool_first(n, t->n_threads, thread + 1);
    at -= 2 * first;
    *tile = first + at % (end - first);
    *rest = end - *tile - 1;
    return at / (end - first);
}

/* The member that the piece is of; `of` is for its op, with as many of the
 * pieces as can be done together. */
static const struct job_member *
member_of(const struct cpu_job *job, const struct cpu_task *t,
          struct cpu_task *of)
{
    const struct job_member *m = job->members;
    int each = m->both.n ? 2 : 1, rest; /* one, or the pair */

    for (; t->ith >= m->first_piece + each * m->n_pieces;
         each = m->both.n ? 2 : 1)
        m += each;
    *of = *t;
    of->ith = t->ith - m->first_piece;
    of->nth = m->n_pieces;
    of->tile = m->tile;
    rest = of->nth - of->ith - 1;
    if (each == 2)
        m += of_pair(t, of->nth, of->ith, &of->ith, &rest);
    of->more = t->more && rest > 0;
    if (of->count > rest + 1)
        of->count = rest + 1;
    return m;
}

/* The first of the pair that m is of; NULL: of none. */
static const struct job_member *
pair_of(const struct cpu_job *job, const struct job_member *m)
{
    if (m->both.n)
        return m;
    return m > job->members && m[-1].both.n ? m - 1 : NULL;
}

/* What follows reads, beside the product, biases and such, which are in memory:
 * they come while the product is computed. */
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

/* What follows both of a pair, where the other has been computed. */
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
session_compute_run(const struct cpu_job *job, const struct job_member *m,
                    const struct cpu_task *t)
{
    const struct job_member *pair = pair_of(job, m);
    struct cpu_part part;

    if (m->after.n) {
        part = cpu_product_part(t, m->node);
        if (m->node->ne[1] == 1)
            prefetch_sources(m, &part);
    }
    cpu_op(m->node)->compute(t, m->node);
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
        const struct job_member *m = member_of(job, &left, &of);

        session_compute_run(job, m, &of);
        left.ith += of.count;
        left.count -= of.count;
    }
}

void
cpu_job_prefetch(const struct cpu_job *job, const struct cpu_task *t)
{
    struct cpu_task of;
    const struct job_member *m = member_of(job, t, &of);

    if (cpu_op(m->node)->prefetch)
        cpu_op(m->node)->prefetch(&of, m->node);
}

const char *
cpu_job_reads(const struct cpu_job *job, struct cpu_task *t, size_t *n)
{
    struct cpu_task of;
    const struct job_member *m = member_of(job, t, &of);
    const struct cpu_op *op = cpu_op(m->node);
    const char *p;

    *n = 0;
    p = op->reads ? op->reads(&of, m->node, n) : NULL;
    t->count = of.count;
    return p;
}
