/* job.c - which nodes of a graph a job of the thread pool computes */
#include "cpu/job.h"

#include "core/mem.h"
#include "cpu/ahead.h"
#include "cpu/product.h"
#include "tensor/tensor.h"

/* What a job reads or writes while pieces are at work. */
struct use {
    const struct ggml_tensor *tensor;
    const char *begin, *end;
    int member; /* that meets its elements in its pieces only; -1: any */
    bool written;
};

/* A job that is being found. */
struct finder {
    struct cpu_job *job;
    const struct cpu_kernels *k;
    struct use uses[JOB_MEMBERS * (1 + JOB_AFTER) * 3];
    int n_uses;
};

bool
cpu_is_idle(const struct ggml_tensor *node)
{
    return tensor_is_view_op(node->op) || ggml_is_empty(node);
}

int64_t
cpu_cost(const struct ggml_tensor *node)
{
    const struct cpu_op *op = cpu_op(node);

    return op->cost ? op->cost(node) : 0;
}

/* ---- who reads and writes what ------------------------------------------ */

/* Pieces run in any order, at the same time: what one writes no other may read
 * or write. The same elements in the same places meet in one piece only. */
static bool
may_meet(const struct use *a, const struct use *b)
{
    if ((!a->written && !b->written) || a->end <= b->begin ||
        b->end <= a->begin)
        return true;
    return a->member >= 0 && a->member == b->member && a->begin == b->begin &&
           ggml_are_same_shape(a->tensor, b->tensor);
}

/* Notes a use if it is possible beside the others. */
static bool
add_use(struct finder *f, const struct ggml_tensor *t, int member, bool written)
{
    struct use use = { .tensor = t,
                       .begin = t->data,
                       .end = (const char *)t->data + ggml_nbytes(t),
                       .member = member,
                       .written = written };

    if ((size_t)f->n_uses == sizeof(f->uses) / sizeof(f->uses[0]))
        return false;
    for (int i = 0; i < f->n_uses; i++)
        if (!may_meet(&use, &f->uses[i]))
            return false;
    f->uses[f->n_uses++] = use;
    return true;
}

/* ---- what follows a product --------------------------------------------- */

static bool
is_one_piece(const struct ggml_tensor *t)
{
    return cpu_is_plain(t) && ggml_is_contiguous(t);
}

/* True if elements of t need but those in their place, or of one row. */
static bool
is_pointwise(const struct ggml_tensor *t)
{
    if (!cpu_op(t)->compute_part || !is_one_piece(t))
        return false;
    for (int i = 0; i < GGML_MAX_SRC && t->src[i]; i++) {
        const struct ggml_tensor *s = t->src[i];
        bool row = i > 0 && s->ne[0] == t->ne[0] && ggml_nrows(s) == 1;

        if (!is_one_piece(s) || (!row && !ggml_are_same_shape(s, t)))
            return false;
    }
    return true;
}

/* The member whose result so far is a source of t, or -1. */
static int
member_before(const struct cpu_job *job, const struct ggml_tensor *t)
{
    for (int m = 0; m < job->n_members; m++) {
        const struct job_member *member = &job->members[m];
        int n = member->n_after;
        const struct ggml_tensor *last =
            n ? member->after[n - 1] : member->node;

        if ((t->src[0] == last || t->src[1] == last) &&
            ggml_are_same_shape(last, t))
            return m;
    }
    return -1;
}

static bool
add_after(struct finder *f, struct ggml_tensor *t)
{
    int m = is_pointwise(t) ? member_before(f->job, t) : -1, uses = f->n_uses;
    struct job_member *member = m >= 0 ? &f->job->members[m] : NULL;
    bool fits = member && member->n_after < JOB_AFTER;

    for (int i = 0; i < GGML_MAX_SRC && t->src[i] && fits; i++) {
        bool same = ggml_are_same_shape(t->src[i], t);

        fits = add_use(f, t->src[i], same ? m : -1, false);
    }
    fits = fits && add_use(f, t, m, true);
    if (fits)
        member->after[member->n_after++] = t;
    else
        f->n_uses = uses;
    return fits;
}

/* ---- products ----------------------------------------------------------- */

/* Of a job of several: a product of one matrix. */
static bool
can_join(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_MUL_MAT && t->ne[2] * t->ne[3] == 1 &&
           is_one_piece(t);
}

static bool
add_product(struct finder *f, struct ggml_tensor *t)
{
    struct cpu_job *job = f->job;
    int uses = f->n_uses;
    bool fits = can_join(t) && job->n_members < JOB_MEMBERS &&
                (job->n_members == 0 ||
                 cpu_products_alike(job->members[0].node, t, f->k)) &&
                add_use(f, t->src[0], -1, false) &&
                (!cpu_product_reads_columns(t, f->k) ||
                 add_use(f, t->src[1], -1, false)) &&
                add_use(f, t, job->n_members, true);

    if (fits)
        job->members[job->n_members++] = (struct job_member){ .node = t };
    else
        f->n_uses = uses;
    return fits;
}

/* The nodes from job->first on that belong to the product there. */
static void
add_others(struct finder *f, const struct ggml_cgraph *graph)
{
    for (int i = f->job->end; i < graph->n_nodes; i++) {
        struct ggml_tensor *t = graph->nodes[i];

        if (cpu_is_idle(t))
            continue;
        if (!add_product(f, t) && !add_after(f, t))
            break;
        f->job->end = i + 1;
    }
}

/* ---- jobs --------------------------------------------------------------- */

static int64_t
weight_bytes(const struct cpu_job *job)
{
    int64_t bytes = 0;

    for (int m = 0; m < job->n_members; m++) {
        const struct ggml_tensor *node = job->members[m].node;

        bytes += node->ne[0] * (int64_t)node->src[0]->nb[1];
    }
    return bytes;
}

static int
count_pieces(struct job_member *m, int n_threads, int64_t bytes)
{
    const struct cpu_op *op = cpu_op(m->node);

    if (can_join(m->node)) {
        m->tile = cpu_product_tile(m->node, n_threads, bytes);
        return cpu_product_pieces(m->node, m->tile);
    }
    return op->pieces ? op->pieces(m->node, n_threads) : 2 * n_threads;
}

/* Of weights that no other node makes, and that meet few columns. */
static bool
streams(const struct ggml_tensor *t, const struct cpu_kernels *k)
{
    struct cpu_product_plan p;

    if (!cpu_op(t)->reads || t->src[0]->op != GGML_OP_NONE)
        return false;
    p = cpu_plan_product(t, k);
    return t->ne[1] == 1 || t->ne[1] <= p.kernel->few;
}

static void
count_all_pieces(struct cpu_job *job, int n_threads,
                 const struct cpu_kernels *k)
{
    int64_t bytes = job->n_members > 1 ? weight_bytes(job) : 0;

    for (int i = 0; i < job->n_members; i++) {
        struct job_member *m = &job->members[i];

        m->first_piece = job->n_pieces;
        m->n_pieces = count_pieces(m, n_threads, bytes);
        job->n_pieces += m->n_pieces;
        job->streams = (i == 0 || job->streams) && streams(m->node, k);
    }
}

void
cpu_job_find(struct cpu_job *job, const struct ggml_cgraph *graph, int first,
             bool alone, int n_threads, const struct cpu_kernels *k)
{
    struct ggml_tensor *node = graph->nodes[first];
    const struct cpu_op *op = cpu_op(node);
    struct finder f = { .job = job, .k = k, .n_uses = 0 };

    *job = (struct cpu_job){ .first = first,
                             .end = first + 1,
                             .cost = cpu_cost(node),
                             .prepared_here =
                                 !op->prepare ||
                                 op->prepare_pieces(node, n_threads) == 1 };
    if (!alone && add_product(&f, node))
        add_others(&f, graph);
    else
        job->members[job->n_members++] = (struct job_member){ .node = node };
    count_all_pieces(job, n_threads, k);
}

static bool
find_all(struct cpu_jobs *jobs, const struct ggml_cgraph *graph)
{
    jobs->n = 0;
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *node = graph->nodes[i];

        if (cpu_is_idle(node) || cpu_cost(node) < CPU_WORTH_SHARING)
            continue;
        if (!mem_grow(&jobs->list, &jobs->cap, (size_t)jobs->n + 1,
                      sizeof(*jobs->list)))
            return false;
        cpu_job_find(&jobs->list[jobs->n], graph, i, jobs->alone,
                     jobs->n_threads, jobs->k);
        i = jobs->list[jobs->n++].end - 1;
    }
    return true;
}

/* As far as the job needs it that needs most: who has got there once stays. */
static size_t
most_lead(const struct cpu_jobs *jobs)
{
    size_t most = 0;

    for (int i = 0; i < jobs->n; i++)
        for (int m = 0; jobs->list[i].streams && m < jobs->list[i].n_members;
             m++) {
            const struct ggml_tensor *t = jobs->list[i].members[m].node;
            struct cpu_product_plan p = cpu_plan_product(t, jobs->k);
            size_t lead = cpu_lead_of(&p, t->src[0]->nb[1], t->ne[1]);

            most = lead > most ? lead : most;
        }
    return most;
}

static bool
make_ahead(struct cpu_jobs *jobs)
{
    size_t n = (size_t)jobs->n_threads, lead = most_lead(jobs);

    mem_free(jobs->ahead);
    jobs->ahead = mem_aligned(CPU_LINE, n * sizeof(*jobs->ahead));
    for (size_t i = 0; i < n && jobs->ahead; i++)
        jobs->ahead[i] = (struct cpu_ahead){ .jobs = jobs->list,
                                             .n_jobs = jobs->n,
                                             .thread = (int)i,
                                             .n_threads = jobs->n_threads,
                                             .want = lead };
    return jobs->ahead != NULL;
}

bool
cpu_jobs_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph,
              bool alone, int n_threads, const struct cpu_kernels *k)
{
    bool found;

    if (jobs->serial && jobs->serial == graph->serial &&
        jobs->n_threads == n_threads && jobs->alone == alone && jobs->k == k)
        return true;
    jobs->n_threads = n_threads;
    jobs->alone = alone;
    jobs->k = k;
    found = n_threads == 1 || find_all(jobs, graph);
    if (n_threads == 1)
        jobs->n = 0;
    found = found && make_ahead(jobs);
    jobs->serial = found ? graph->serial : 0;
    return found;
}

void
cpu_jobs_clear(struct cpu_jobs *jobs)
{
    mem_free(jobs->list);
    mem_free(jobs->ahead);
    *jobs = (struct cpu_jobs){ 0 };
}

/* ---- pieces ------------------------------------------------------------- */

/* The member that the piece is of; `of` is for its op. */
static const struct job_member *
member_of(const struct cpu_job *job, const struct cpu_task *t,
          struct cpu_task *of)
{
    const struct job_member *m = job->members;

    while (t->ith >= m->first_piece + m->n_pieces)
        m++;
    *of = *t;
    of->ith -= m->first_piece;
    of->nth = m->n_pieces;
    of->more = t->more && of->ith + 1 < of->nth;
    of->tile = m->tile;
    return m;
}

/* What follows reads, beside the product, biases and such, which are far away:
 * they come while the product is computed. */
static void
fetch_sources(const struct job_member *m, const struct cpu_part *part)
{
    size_t n = (size_t)(part->elements.end - part->elements.first);

    for (int i = 0; i < m->n_after; i++)
        for (int j = 0; j < 2 && m->after[i]->src[j]; j++) {
            const float *p = m->after[i]->src[j]->data;

            p += part->elements.first;
            for (size_t at = 0; at < n; at += CPU_LINE / sizeof(*p))
                __builtin_prefetch(p + at, 0, 3);
        }
}

void
cpu_job_compute(const struct cpu_job *job, const struct cpu_task *t)
{
    struct cpu_task of;
    const struct job_member *m = member_of(job, t, &of);
    struct cpu_part part;

    if (m->n_after == 0) {
        cpu_op(m->node)->compute(&of, m->node);
        return;
    }
    part = cpu_product_part(&of, m->node);
    if (m->node->ne[1] == 1)
        fetch_sources(m, &part);
    cpu_op(m->node)->compute(&of, m->node);
    for (int i = 0; i < m->n_after; i++)
        cpu_op(m->after[i])
            ->compute_part(&of, m->after[i], part.elements, part.rows);
}

const char *
cpu_job_reads(const struct cpu_job *job, const struct cpu_task *t, size_t *n)
{
    struct cpu_task of;
    const struct job_member *m = member_of(job, t, &of);
    const struct cpu_op *op = cpu_op(m->node);

    *n = 0;
    return op->reads ? op->reads(&of, m->node, n) : NULL;
}
