/* plan.c - computing a graph: one thread walks through the nodes; where one is
 * worth it, the others help with its pieces */
#include <config.h>

#include <string.h>

#include "cpu/profile.h"
#include "cpu/task.h"
#include "cpu/threadpool.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

/* A node that takes one thread less than this, in nanoseconds, is its. */
#define WORTH_SHARING 5000
/* One that is worth calling threads that went to sleep. */
#define WORTH_WAKING 20000

static const struct cpu_kernels *
plan_kernels(bool use_ref)
{
    return use_ref ? cpu_kernels_reference() : cpu_kernels();
}

static bool
is_idle(const struct ggml_tensor *node)
{
    return tensor_is_view_op(node->op) || ggml_is_empty(node);
}

static int64_t
cost_of(const struct cpu_op *op, const struct ggml_tensor *node)
{
    return op->cost ? op->cost(node) : 0;
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

        if (is_idle(node))
            continue;
        GGML_ASSERT(cpu_supports(node) && "see ggml_backend_supports_op()");
        most = cost_of(op, node) > most ? cost_of(op, node) : most;
        if (op->work_size) {
            /* a plan is made before it is known which kernels will run it */
            size_t ref =
                op->work_size(node, n_threads, cpu_kernels_reference());

            size = op->work_size(node, n_threads, cpu_kernels());
            size = size > ref ? size : ref;
        }
        plan.work_size = size > plan.work_size ? size : plan.work_size;
    }
    if (plan.work_size)
        plan.work_size += CPU_LINE; /* to begin on a line */
    plan.n_threads = most < WORTH_SHARING ? 1 : n_threads;
    return plan;
}

/* A node at work. */
struct run {
    struct cpu_task task; /* of any piece, but for its number */
    struct ggml_threadpool *pool;
    struct ggml_tensor *node;
    void (*step)(const struct cpu_task *t, struct ggml_tensor *dst);
    struct cpu_stopwatch watch; /* without counters: nobody looks */
};

static void
run_piece(void *arg, int piece, int n, int thread)
{
    const struct run *run = arg;
    struct cpu_task task = run->task;

    task.ith = piece;
    task.nth = n;
    task.thread = thread;
    run->step(&task, run->node);
}

static void
run_watched(void *arg, int piece, int n, int thread)
{
    const struct run *run = arg;
    int64_t began = ggml_cycles();

    run_piece(arg, piece, n, thread);
    cpu_stopwatch_piece(&run->watch, thread, began);
}

static void
run_pieces(struct run *run, int n, bool shared, cpu_job_fn piece)
{
    if (shared) {
        cpu_pool_share(run->pool, n, piece, run);
        return;
    }
    for (int i = 0; i < n; i++)
        piece(run, i, n, 0);
}

static void
run_step(struct run *run, int n, bool shared)
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
watch_node(struct run *run, const struct ggml_tensor *node)
{
    struct cpu_stopwatch *w = &run->watch;

    if (!w->profile)
        return;
    w->kind = backend_profile_kind(w->profile, node);
    backend_profile_count(w->kind, node);
}

static void
run_node(struct run *run, struct ggml_tensor *node)
{
    const struct cpu_op *op = cpu_op(node);
    int n_threads = run->task.n_threads;
    int64_t cost = n_threads > 1 ? cost_of(op, node) : 0;
    bool shared = cost >= WORTH_SHARING;

    run->node = node;
    watch_node(run, node);
    if (cost >= WORTH_WAKING)
        cpu_pool_wake(run->pool);
    if (op->begin) {
        run->step = op->begin;
        run_step(run, 1, false);
    }
    if (op->prepare) {
        run->step = op->prepare;
        run_step(run, op->prepare_pieces(node, n_threads), shared);
    }
    run->step = op->compute;
    run_step(run,
             op->pieces ? op->pieces(node, n_threads)
             : shared   ? 2 * n_threads
                        : 1,
             shared);
}

static enum ggml_status
run_graph(struct run *run, const struct ggml_cgraph *graph,
          const struct ggml_cplan *plan)
{
    for (int i = 0; i < graph->n_nodes; i++) {
        if (is_idle(graph->nodes[i]))
            continue;
        if (plan->abort_callback &&
            plan->abort_callback(plan->abort_callback_data))
            return GGML_STATUS_ABORTED;
        run_node(run, graph->nodes[i]);
    }
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
            struct backend_profile *profile)
{
    struct ggml_threadpool *pool = cplan->threadpool, *own = NULL;
    struct run run = { .task = { .n_threads = cplan->n_threads,
                                 .work = align_line(cplan->work_data),
                                 .k = plan_kernels(cplan->use_ref) },
                       .watch = { .profile = profile } };
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
    status = run_graph(&run, cgraph, cplan);
    ggml_threadpool_free(own);
    return status;
}

enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan)
{
    return cpu_compute(cgraph, cplan, NULL);
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
