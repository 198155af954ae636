/* graph_job_members.c - the member of a job that a piece is of, and what the
 * piece reads */
#include "cpu/exec/graph_jobs.h"
#include "cpu/exec/threadpool.h"

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

const struct job_member *
cpu_job_member(const struct cpu_job *job, const struct cpu_task *t,
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

void
cpu_job_prefetch(const struct cpu_job *job, const struct cpu_task *t)
{
    struct cpu_task of;
    const struct job_member *m = cpu_job_member(job, t, &of);

    if (m->op->prefetch)
        m->op->prefetch(&of, m->node);
}

const char *
cpu_job_reads(const struct cpu_job *job, struct cpu_task *t, size_t *n)
{
    struct cpu_task of;
    const struct job_member *m = cpu_job_member(job, t, &of);
    const char *p;

    *n = 0;
    p = m->op->reads ? m->op->reads(&of, m->node, n) : NULL;
    t->count = of.count;
    return p;
}
