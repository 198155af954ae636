/* graph_jobs.c - which nodes of a graph a job of the thread pool computes */
#include "cpu/exec/graph_jobs.h"

#include "core/mem.h"
#include "cpu/exec/weight_prefetch.h"
#include "cpu/exec/node_prefetch.h"
#include "cpu/ops/op_table.h"
#include "cpu/gemm/gemm.h"
#include "tensor/tensor.h"

/* Memory that a job reads or writes while pieces are at work. */
struct use {
    const struct ggml_tensor *tensor;
    const char *begin, *end;
    int member; /* that has its elements in the same pieces only; -1: any */
    bool written;
};

/* A job that is being found. */
struct finder {
    struct cpu_job *job;
    const struct cpu_kernels *k;
    struct use uses[JOB_MEMBERS * (1 + JOB_AFTER) * 3];
    int n_uses;
    int first[JOB_MEMBERS]; /* the member itself, or the first of its pair */
};

int64_t
cpu_cost(const struct ggml_tensor *node)
{
    const struct cpu_op *op = cpu_op(node);

    return op->cost ? op->cost(node) : 0;
}

/* ---- who reads and writes what ------------------------------------------ */

/* Pieces run in any order, at the same time: what one writes no other may read
 * or write. The same elements in the same places meet in one piece only, or in
 * one of each of a pair. */
static bool
may_meet(const struct finder *f, const struct use *a, const struct use *b)
{
    if ((!a->written && !b->written) || a->end <= b->begin ||
        b->end <= a->begin)
        return true;
    return a->member >= 0 && b->member >= 0 &&
           f->first[a->member] == f->first[b->member] && a->begin == b->begin &&
           ggml_are_same_shape(a->tensor, b->tensor);
}

/* Notes a use if it is possible together with the others. */
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
        if (!may_meet(f, &use, &f->uses[i]))
            return false;
    f->uses[f->n_uses++] = use;
    return true;
}

/* Columns that a matrix is multiplied with, at most. */
static int64_t
n_columns(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_MUL_MAT_ID ? t->ne[2] : t->ne[1];
}

/* Whether the weights stream: no other node makes them, and they have a small
 * batch of columns: of MUL_MAT_ID one, as it is not known before which have
 * more. */
static bool
streams(const struct ggml_tensor *t, const struct cpu_kernels *k)
{
    struct cpu_product_plan p;

    if (!cpu_op(t)->reads || t->src[0]->op != GGML_OP_NONE)
        return false;
    p = cpu_plan_product(t, k);
    return n_columns(t) == 1 ||
           (t->op == GGML_OP_MUL_MAT && n_columns(t) <= p.kernel->small_batch);
}

/* Whether two products that stream both have their weights prefetched, or none.
 */
static bool
prefetch_alike(const struct ggml_tensor *a, const struct ggml_tensor *b,
               const struct cpu_kernels *k)
{
    return !cpu_plan_product(a, k).kernel->prefetch_distance ==
           !cpu_plan_product(b, k).kernel->prefetch_distance;
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

static struct ggml_tensor *
last_of(const struct job_after *after, struct ggml_tensor *node)
{
    return after->n ? after->nodes[after->n - 1] : node;
}

static bool
is_source(const struct ggml_tensor *s, const struct ggml_tensor *t)
{
    return (t->src[0] == s || t->src[1] == s) && ggml_are_same_shape(s, t);
}

/* The list that t can follow, of member, or pair, *m. Nothing follows one of a
 * pair any more, as it would be computed before what the pair has. */
static struct job_after *
find_before(struct finder *f, const struct ggml_tensor *t, int *m)
{
    for (*m = 0; *m < f->job->n_members; ++*m) {
        struct job_member *member = &f->job->members[*m];
        bool paired = member->both.n || f->first[*m] != *m;

        if (!paired && is_source(last_of(&member->after, member->node), t))
            return &member->after;
        if (member->both.n && is_source(last_of(&member->both, NULL), t))
            return &member->both;
    }
    return NULL;
}

/* Adds t to those after a member, or pair. */
static bool
add_to(struct finder *f, struct ggml_tensor *t, struct job_after *after, int m)
{
    bool fits = after->n < JOB_AFTER;
    int uses = f->n_uses;

    for (int i = 0; i < GGML_MAX_SRC && t->src[i] && fits; i++) {
        bool same = ggml_are_same_shape(t->src[i], t);

        fits = add_use(f, t->src[i], same ? m : -1, false);
    }
    fits = fits && add_use(f, t, m, true);
    if (fits)
        after->nodes[after->n++] = t;
    else
        f->n_uses = uses;
    return fits;
}

static bool
add_after(struct finder *f, struct ggml_tensor *t)
{
    struct job_after *after = NULL;
    int m;

    if (is_pointwise(t))
        after = find_before(f, t, &m);
    return after && add_to(f, t, after, m);
}

/* Two products that take turns: of weights alike, that come in a stream, and
 * with nothing after them yet that needs both. */
static bool
can_pair(const struct finder *f, int m)
{
    const struct job_member *a = &f->job->members[m], *b = a + 1;

    return f->first[m] == m && !a->both.n && !b->both.n &&
           ggml_are_same_shape(a->node, b->node) &&
           a->node->src[0]->nb[1] == b->node->src[0]->nb[1] &&
           streams(a->node, f->k) && streams(b->node, f->k);
}

/* Adds t if it needs a member and the one after it, which become a pair. */
static bool
add_both(struct finder *f, struct ggml_tensor *t)
{
    for (int m = 0; m + 1 < f->job->n_members && is_pointwise(t); m++) {
        struct job_member *a = &f->job->members[m], *b = a + 1;

        if (!is_source(last_of(&a->after, a->node), t) ||
            !is_source(last_of(&b->after, b->node), t) || !can_pair(f, m))
            continue;
        f->first[m + 1] = m;
        if (add_to(f, t, &a->both, m))
            return true;
        f->first[m + 1] = m + 1;
    }
    return false;
}

/* ---- products ----------------------------------------------------------- */

/* Whether t may be in a job of several: it is a product of one matrix. */
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
    int uses = f->n_uses, m = job->n_members;

    if (!can_join(t) || m == JOB_MEMBERS ||
        (m > 0 && !cpu_products_alike(job->members[0].node, t, f->k)))
        return false;
    f->first[m] = m;
    if (!add_use(f, t->src[0], -1, false) ||
        (cpu_product_reads_columns(t, f->k) &&
         !add_use(f, t->src[1], -1, false)) ||
        !add_use(f, t, m, true)) {
        f->n_uses = uses;
        return false;
    }
    job->members[job->n_members++] =
        (struct job_member){ .node = t, .op = cpu_op(t) };
    return true;
}

/* The nodes from job->first on that belong to the product there. */
static void
add_others(struct finder *f, const struct ggml_cgraph *graph)
{
    for (int i = f->job->end; i < graph->n_nodes; i++) {
        struct ggml_tensor *t = graph->nodes[i];

        if (tensor_is_idle(t))
            continue;
        if (!add_product(f, t) && !add_after(f, t) && !add_both(f, t))
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
    if (can_join(m->node)) {
        m->tile = cpu_product_piece_shape(m->node, n_threads, bytes);
        return cpu_product_pieces(m->node, m->tile);
    }
    return m->op->pieces ? m->op->pieces(m->node, n_threads) : 2 * n_threads;
}

static void
count_all_pieces(struct cpu_job *job, int n_threads,
                 const struct cpu_kernels *k)
{
    int64_t bytes = job->n_members > 1 ? weight_bytes(job) : 0;

    for (int i = 0; i < job->n_members; i++) {
        struct job_member *m = &job->members[i];
        bool second = i > 0 && m[-1].both.n;

        m->n_pieces = count_pieces(m, n_threads, bytes);
        m->first_piece = second ? m[-1].first_piece : job->n_pieces;
        job->n_pieces += m->n_pieces;
        job->streams = (i == 0 || job->streams) && streams(m->node, k) &&
                       prefetch_alike(job->members[0].node, m->node, k);
        job->contiguous = job->streams && (can_join(m->node) ||
                                           m->node->op == GGML_OP_MUL_MAT_ID);
    }
}

void
cpu_job_find(struct cpu_job *job, const struct ggml_cgraph *graph, int first,
             bool alone, int n_threads, const struct cpu_kernels *k)
{
    struct ggml_tensor *node = graph->nodes[first];
    const struct cpu_op *op = cpu_op(node);
    struct finder f = { .job = job, .k = k };

    *job = (struct cpu_job){ .first = first,
                             .end = first + 1,
                             .cost = cpu_cost(node),
                             .prepared_here =
                                 !op->prepare ||
                                 op->prepare_pieces(node, n_threads) == 1 };
    if (!alone && add_product(&f, node))
        add_others(&f, graph);
    else
        job->members[job->n_members++] =
            (struct job_member){ .node = node, .op = op };
    if (!alone)
        cpu_job_join_state(job, graph);
    count_all_pieces(job, n_threads, k);
}

/* Gives pairs their marks, from `at` on (NULL: none); returns how many. */
static size_t
place_pair_done(struct cpu_jobs *jobs, atomic_uint *at)
{
    size_t n = 0;

    for (int i = 0; i < jobs->n; i++)
        for (int j = 0; j < jobs->list[i].n_members; j++) {
            struct job_member *m = &jobs->list[i].members[j];

            if (!m->both.n)
                continue;
            m->pair_done = at ? at + n : NULL;
            n += (size_t)m->n_pieces;
        }
    return n;
}

static bool
make_pair_done(struct cpu_jobs *jobs)
{
    size_t n = place_pair_done(jobs, NULL);

    mem_free(jobs->pair_done);
    jobs->pair_done = mem_array(n, sizeof(*jobs->pair_done));
    place_pair_done(jobs, jobs->pair_done);
    return jobs->pair_done != NULL;
}

/* The ids that say which weights MUL_MAT_ID reads may be computed before: by a
 * job, or by the thread that begins with the next one. Weights that are being
 * read from disk are there when the job has begun. */
static void
find_needs(struct cpu_jobs *jobs, const struct ggml_cgraph *graph)
{
    for (int i = 0; i < jobs->n && jobs->streamed; i++)
        jobs->list[i].needs = i + 1;
    for (int i = 0; i < jobs->n && !jobs->streamed; i++) {
        struct cpu_job *job = &jobs->list[i];
        const struct ggml_tensor *node = graph->nodes[job->first];
        const struct ggml_tensor *ids = node->src[2];
        int at = job->first;

        if (node->op != GGML_OP_MUL_MAT_ID)
            continue;
        while (ids->view_src)
            ids = ids->view_src;
        while (--at >= 0 && graph->nodes[at] != ids)
            ;
        while (jobs->list[job->needs].first <= at)
            job->needs++;
        job->needs += at >= 0;
    }
}

static bool
find_all(struct cpu_jobs *jobs, const struct ggml_cgraph *graph)
{
    jobs->n = 0;
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *node = graph->nodes[i];

        if (tensor_is_idle(node) || cpu_cost(node) < CPU_WORTH_SHARING)
            continue;
        if (!mem_grow(&jobs->list, &jobs->cap, (size_t)jobs->n + 1,
                      sizeof(*jobs->list)))
            return false;
        cpu_job_find(&jobs->list[jobs->n], graph, i, jobs->alone,
                     jobs->n_threads, jobs->k);
        i = jobs->list[jobs->n++].end - 1;
    }
    find_needs(jobs, graph);
    return make_pair_done(jobs) && cpu_node_prefetch_find(jobs, graph);
}

/* As far as the job needs it that needs most: who has got there once stays. */
static size_t
max_prefetch_distance(const struct cpu_jobs *jobs)
{
    size_t most = 0;

    for (int i = 0; i < jobs->n; i++)
        for (int m = 0; jobs->list[i].streams && m < jobs->list[i].n_members;
             m++) {
            const struct ggml_tensor *t = jobs->list[i].members[m].node;
            struct cpu_product_plan p = cpu_plan_product(t, jobs->k);
            size_t distance =
                cpu_prefetch_distance(&p, t->src[0]->nb[1], n_columns(t));

            most = distance > most ? distance : most;
        }
    return most;
}

static bool
make_weight_prefetch(struct cpu_jobs *jobs)
{
    size_t n = (size_t)jobs->n_threads, distance = max_prefetch_distance(jobs);

    mem_free(jobs->prefetch);
    jobs->prefetch = mem_aligned(CPU_LINE, n * sizeof(*jobs->prefetch));
    for (size_t i = 0; i < n && jobs->prefetch; i++)
        jobs->prefetch[i] =
            (struct cpu_weight_prefetch){ .jobs = jobs->list,
                                          .n_jobs = jobs->n,
                                          .thread = (int)i,
                                          .n_threads = jobs->n_threads,
                                          .distance = distance };
    return jobs->prefetch != NULL;
}

size_t
cpu_most_angles(const struct ggml_cgraph *graph)
{
    size_t most = 0;

    for (int i = 0; i < graph->n_nodes; i++) {
        size_t size = cpu_angles_size(graph->nodes[i]);

        most = size > most ? size : most;
    }
    return most;
}

bool
cpu_jobs_find(struct cpu_jobs *jobs, const struct ggml_cgraph *graph,
              bool alone, bool streamed, int n_threads,
              const struct cpu_kernels *k)
{
    bool found;

    if (jobs->serial && jobs->serial == graph->serial &&
        jobs->n_threads == n_threads && jobs->alone == alone &&
        jobs->streamed == streamed && jobs->k == k)
        return true;
    jobs->n_threads = n_threads;
    jobs->streamed = streamed;
    jobs->alone = alone;
    jobs->k = k;
    jobs->angles = cpu_most_angles(graph);
    found = find_all(jobs, graph) && make_weight_prefetch(jobs);
    jobs->serial = found ? graph->serial : 0;
    return found;
}

void
cpu_jobs_clear(struct cpu_jobs *jobs)
{
    mem_free(jobs->list);
    mem_free(jobs->prefetch);
    mem_free(jobs->pair_done);
    mem_free(jobs->spans);
    *jobs = (struct cpu_jobs){ 0 };
}
