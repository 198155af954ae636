/* graph_compute.c - computing a graph: one thread walks through the nodes;
 * where one is worth it, the others help with its pieces */
#include <config.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/numa.h"
#include "cpu/exec/weight_prefetch.h"
#include "cpu/exec/weight_stream.h"
#include "cpu/exec/graph_jobs.h"
#include "cpu/exec/node_prefetch.h"
#include "cpu/ops/op_table.h"
#include "cpu/exec/graph_profile.h"
#include "cpu/exec/task.h"
#include "cpu/exec/threadpool.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

/* One that is worth calling threads that went to sleep. */
#define WORTH_WAKING 20000
/* Bytes that a waiting thread prefetches of what it reads next, at most: a part
 * of its cache; and between two looks whether it need not wait any more. */
#define PREFETCH_BYTES (192 * 1024)
#define PREFETCH_STEP  512
#define SPIN_YIELD     1024 /* pauses, before others may have the processor */

static const struct cpu_kernels *
plan_kernels(bool use_ref)
{
    return use_ref ? cpu_kernels_reference() : cpu_kernels();
}

struct ggml_cplan
ggml_graph_plan(const struct ggml_cgraph *cgraph, int n_threads,
                struct ggml_threadpool *threadpool)
{
    struct ggml_cplan plan = { .threadpool = threadpool };
    int64_t most = 0;

    if (n_threads <= 0)
        n_threads = threadpool ? ggml_threadpool_get_n_threads(threadpool)
                               : GGML_DEFAULT_N_THREADS;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        const struct cpu_op *op = cpu_op(node);
        size_t size = 0;

        if (tensor_is_idle(node))
            continue;
        GGML_ASSERT(cpu_supports(node) && "see ggml_backend_supports_op()");
        most = cpu_cost(node) > most ? cpu_cost(node) : most;
        if (op->work_size) {
            /* a plan is made before it is known which kernels will run it */
            size_t ref =
                op->work_size(node, n_threads, cpu_kernels_reference());

            size = op->work_size(node, n_threads, cpu_kernels());
            size = size > ref ? size : ref;
        }
        plan.work_size = size > plan.work_size ? size : plan.work_size;
    }
    plan.work_size += cpu_most_angles(cgraph);
    if (plan.work_size)
        plan.work_size += CPU_LINE; /* to begin on a line */
    plan.n_threads = most < CPU_WORTH_SHARING ? 1 : n_threads;
    return plan;
}

/* A node at work. */
struct graph_run {
    struct cpu_task task; /* of any piece, but for its number */
    struct ggml_threadpool *pool;
    struct ggml_tensor *node;
    /* NULL: the job */
    void (*step)(const struct cpu_task *t, struct ggml_tensor *dst);
    const struct cpu_jobs *jobs; /* in turn */
    const struct cpu_job *job;   /* one of those */
    int shares;                  /* of its pieces: a thread each */
    /* Nodes [first, end) of the graph are to be run by whoever begins with
     * the job; then `ready` is set. */
    const struct ggml_cgraph *graph;
    int first, end;
    bool wake; /* who went to sleep: node `end` is worth it */
    atomic_int ready;
    struct cpu_stopwatch watch; /* without counters: nobody looks */
    struct cpu_stream *stream;  /* of weights; NULL: all are in memory */
    struct weight_part part;    /* of the job's pieces; n 0: all */
};

static void
set_piece(struct cpu_task *t, int piece, int n, int thread, int shares)
{
    int first = cpu_pool_first(n, shares, thread);
    int end = cpu_pool_first(n, shares, thread + 1);

    t->ith = piece;
    t->count = 1;
    t->nth = n;
    t->thread = thread;
    t->more = piece >= first && piece + 1 < end;
}

/* Computes a piece of the job. */
static void
compute_piece(const struct graph_run *run, struct cpu_task *t)
{
    struct cpu_weight_prefetch *a = &run->jobs->prefetch[t->thread];

    t->prefetch = cpu_weight_prefetch_piece(a, run->job, t->ith) ? a : NULL;
    cpu_weight_prefetch_begin(a);
    cpu_job_compute(run->job, t);
}

static void
run_piece(void *arg, int piece, int count, int n, int thread)
{
    const struct graph_run *run = arg;
    struct cpu_task task = run->task;

    for (int i = piece; i < piece + count; i++) {
        set_piece(&task, i, n, thread, run->shares);
        if (run->part.n) {
            task.ith += run->part.first;
            task.nth = run->part.n;
        }
        if (run->step)
            run->step(&task, run->node);
        else
            compute_piece(run, &task);
    }
}

static void
run_watched(void *arg, int piece, int count, int n, int thread)
{
    const struct graph_run *run = arg;
    int64_t began = ggml_cycles();

    run_piece(arg, piece, count, n, thread);
    cpu_stopwatch_piece(&run->watch, thread, began);
}

static void
run_pieces(struct graph_run *run, int n, bool shared, cpu_job_fn piece)
{
    run->shares = shared ? run->task.n_threads : 1;
    if (shared) {
        cpu_pool_share(run->pool, &(struct cpu_offer){ .n = n,
                                                       .fn = piece,
                                                       .arg = run,
                                                       .wake = run->wake });
        return;
    }
    for (int i = 0; i < n; i++)
        piece(run, i, 1, n, 0);
}

static void
run_step(struct graph_run *run, int n, bool shared)
{
    shared = shared && n > 1;
    if (!run->watch.profile) {
        run_pieces(run, n, shared, run_piece);
        return;
    }
    cpu_stopwatch_start(&run->watch);
    run_pieces(run, n, shared, run_watched);
    cpu_stopwatch_stop(&run->watch, shared);
}

static void
watch_node(struct graph_run *run, const struct ggml_tensor *node)
{
    struct cpu_stopwatch *w = &run->watch;

    if (!w->profile)
        return;
    w->kind = backend_profile_kind(w->profile, node);
    backend_profile_count(w->kind, node);
}

static int
pieces_of(const struct graph_run *run, const struct ggml_tensor *node)
{
    const struct cpu_op *op = cpu_op(node);

    return op->pieces ? op->pieces(node, run->task.n_threads) : 1;
}

/* Does what an op needs before compute(). */
static void
begin_node(struct graph_run *run, struct ggml_tensor *node, bool shared)
{
    const struct cpu_op *op = cpu_op(node);

    run->node = node;
    watch_node(run, node);
    if (op->begin) {
        run->step = op->begin;
        run_step(run, 1, false);
    }
    if (op->prepare) {
        run->step = op->prepare;
        run_step(run, op->prepare_pieces(node, run->task.n_threads), shared);
    }
}

static void
run_node(struct graph_run *run, struct ggml_tensor *node)
{
    begin_node(run, node, false);
    run->step = cpu_op(node)->compute;
    run_step(run, pieces_of(run, node), false);
}

/* ---- one thread, then all ------------------------------------------------ */

/* One thread does the small nodes before a large one, when that has been
 * offered already; the others, which have to wait, prefetch what they
 * will read then, so that memory does not rest meanwhile. */

static void
pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool
is_ready(const struct graph_run *run)
{
    return atomic_load_explicit(&run->ready, memory_order_acquire) != 0;
}

/* Prefetches what the thread will read: for its first pieces, then weights. */
static void
prefetch_weights(const struct graph_run *run, const struct cpu_task *t)
{
    struct cpu_weight_prefetch *prefetch = &run->jobs->prefetch[t->thread];
    int end = cpu_pool_first(t->nth, t->n_threads, t->thread + 1);

    for (struct cpu_task of = *t; of.ith < end && !is_ready(run); of.ith++)
        cpu_job_prefetch(run->job, &of);
    while (!is_ready(run) && prefetch->outstanding < PREFETCH_BYTES &&
           cpu_weight_prefetch_more(prefetch, PREFETCH_STEP) > 0)
        ;
}

static void
wait_ready(const struct graph_run *run)
{
    for (int i = 1; !is_ready(run); i++)
        if (i % SPIN_YIELD)
            pause_cpu();
        else
            sched_yield();
}

static void
run_small(struct graph_run *run)
{
    for (int i = run->first; i < run->end; i++)
        if (!tensor_is_idle(run->graph->nodes[i]))
            run_node(run, run->graph->nodes[i]);
}

static void
run_after(void *arg, int piece, int count, int n, int thread)
{
    const struct graph_run *run = arg;
    struct cpu_task task = run->task;

    set_piece(&task, piece, n, thread, task.n_threads);
    task.count = count;
    cpu_weight_prefetch_piece(&run->jobs->prefetch[thread], run->job, piece);
    prefetch_weights(run, &task);
    wait_ready(run);
    compute_piece(run, &task);
}

/* For the first piece of who begins with the job. */
static void
prefetch_first(const struct graph_run *run)
{
    struct cpu_task task = run->task;

    set_piece(&task, 0, run->job->n_pieces, 0, task.n_threads);
    cpu_job_prefetch(run->job, &task);
}

/* The job, of weights that are read meanwhile, in parts. */
static void
run_streamed(struct graph_run *run, struct ggml_tensor *node, bool shared)
{
    const struct cpu_job *job = run->job;
    int n = cpu_stream_parts(run->stream, job->first, job->end);
    struct weight_part part = { .n = job->n_pieces };

    for (int i = 0; i < n; i++, part.first = part.end) {
        part.end = cpu_pool_first(part.n, n, i + 1);
        cpu_stream_need(run->stream, job->first, job->end, &part);
        if (i == 0)
            begin_node(run, node, shared);
        run->step = NULL;
        run->part = part;
        run_step(run, part.end - part.first, shared);
        run->part.n = 0;
        cpu_stream_done(run->stream, i == n - 1);
    }
}

/* The job, and the small nodes before it. Steps are counted one by one. */
static void
run_shared(struct graph_run *run)
{
    const struct cpu_job *job = run->job;
    struct ggml_tensor *node = run->graph->nodes[job->first];
    bool shared = run->task.n_threads > 1;

    run->wake = shared && job->cost >= WORTH_WAKING;
    if (shared && !run->watch.profile && !run->stream && job->prepared_here &&
        job->n_pieces > 1) {
        atomic_store_explicit(&run->ready, 0, memory_order_relaxed);
        cpu_pool_offer(run->pool,
                       &(struct cpu_offer){ .n = job->n_pieces,
                                            .fn = run_after,
                                            .arg = run,
                                            .wake = run->wake,
                                            .contiguous = job->contiguous });
        prefetch_first(run);
        run_small(run);
        begin_node(run, node, false);
        atomic_store_explicit(&run->ready, 1, memory_order_release);
        cpu_pool_help(run->pool);
        cpu_node_prefetch(run->jobs, (int)(job - run->jobs->list) + 1);
        cpu_pool_finish(run->pool);
        return;
    }
    /* now, as it takes a while, and once there is work: who woke up early may
     * be asleep again */
    if (run->wake && !run->stream)
        cpu_pool_wake(run->pool);
    run_small(run);
    if (run->stream) {
        run_streamed(run, node, shared);
        return;
    }
    begin_node(run, node, shared);
    run->step = NULL;
    run_step(run, job->n_pieces, shared);
}

/* True if the caller has had enough before one of the nodes [first, end). */
static bool
is_stopped(const struct graph_run *run, int first, int end,
           const struct ggml_cplan *plan)
{
    for (int i = first; i < end && plan->abort_callback; i++)
        if (!tensor_is_idle(run->graph->nodes[i]) &&
            plan->abort_callback(plan->abort_callback_data))
            return true;
    return false;
}

/* Profiles tell of every node: none are joined then. */
static enum ggml_status
run_graph(struct graph_run *run, const struct ggml_cgraph *graph,
          const struct ggml_cplan *plan, struct cpu_jobs *jobs)
{
    if (!cpu_jobs_find(jobs, graph, run->watch.profile != NULL,
                       run->stream != NULL, run->task.n_threads, run->task.k))
        return GGML_STATUS_ALLOC_FAILED;
    if (jobs->angles) {
        run->task.angles = (struct cpu_angles *)(void *)run->task.work;
        run->task.work += jobs->angles;
        cpu_angles_clear(run->task.angles);
    }
    run->graph = graph;
    run->first = 0;
    run->jobs = jobs;
    cpu_node_prefetch(jobs, 0);
    for (int i = 0; i < run->task.n_threads; i++)
        cpu_weight_prefetch_start(&jobs->prefetch[i]);
    for (int i = 0; i < jobs->n; i++) {
        run->job = &jobs->list[i];
        run->end = run->job->first;
        if (is_stopped(run, run->first, run->job->end, plan))
            return GGML_STATUS_ABORTED;
        run_shared(run);
        run->first = run->job->end;
    }
    run->end = graph->n_nodes;
    if (is_stopped(run, run->first, run->end, plan))
        return GGML_STATUS_ABORTED;
    run_small(run);
    return GGML_STATUS_SUCCESS;
}

static char *
align_line(uint8_t *p)
{
    return p ? (char *)(((uintptr_t)p + CPU_LINE - 1) &
                        ~(uintptr_t)(CPU_LINE - 1))
             : NULL;
}

enum ggml_status
cpu_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan,
            struct backend_profile *profile, struct cpu_jobs *jobs,
            struct cpu_stream *stream)
{
    struct ggml_threadpool *pool = cplan->threadpool, *own = NULL;
    struct graph_run run = { .task = { .n_threads = cplan->n_threads,
                                       .work = align_line(cplan->work_data),
                                       .k = plan_kernels(cplan->use_ref) },
                             .watch = { .profile = profile } };
    struct cpu_jobs own_jobs = { 0 };
    enum ggml_status status;

    GGML_ASSERT(cplan->n_threads > 0);
    GGML_ASSERT(cplan->work_size == 0 || cplan->work_data);
    if (!pool && cplan->n_threads > 1) {
        struct ggml_threadpool_params params =
            ggml_threadpool_params_default(cplan->n_threads);

        pool = own = ggml_threadpool_new(&params);
        if (!pool)
            return GGML_STATUS_ALLOC_FAILED;
    }
    if (pool && run.task.n_threads > ggml_threadpool_get_n_threads(pool))
        run.task.n_threads = ggml_threadpool_get_n_threads(pool);
    run.pool = pool;
    run.watch.n_threads = run.task.n_threads;
    if (run.task.n_threads > 1)
        cpu_pool_begin(pool, run.task.n_threads);
    numa_enter(0, run.task.n_threads);
    if (stream && cpu_stream_begin(stream, cgraph))
        run.task.stream = run.stream = stream;
    status = run_graph(&run, cgraph, cplan, jobs ? jobs : &own_jobs);
    if (run.stream)
        cpu_stream_end(stream);
    numa_leave();
    cpu_jobs_clear(&own_jobs);
    ggml_threadpool_free(own);
    return status;
}

enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan)
{
    return cpu_compute(cgraph, cplan, NULL, NULL, NULL);
}

enum ggml_status
ggml_graph_compute_with_ctx(struct ggml_context *ctx,
                            struct ggml_cgraph *cgraph, int n_threads)
{
    struct ggml_cplan plan = ggml_graph_plan(cgraph, n_threads, NULL);

    if (plan.work_size)
        plan.work_data = ggml_new_buffer(ctx, plan.work_size);
    return ggml_graph_compute(cgraph, &plan);
}
