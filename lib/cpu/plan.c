/* plan.c - computing a graph: who does which node, and where threads meet
 *
 * Every thread walks through all nodes and finds by itself which are shared
 * and which are thread 0's. They meet only between two nodes that do not both
 * belong to thread 0. */
#include <config.h>

#include <stdatomic.h>
#include <string.h>

#include "core/mem.h"
#include "core/thread.h"
#include "cpu/task.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

/* A node that takes one thread less than this, in nanoseconds, is not worth
 * a meeting of all. */
#define WORTH_SHARING 4000

static const struct cpu_kernels *
plan_kernels(bool use_ref)
{
    return use_ref ? cpu_kernels_reference() : cpu_kernels();
}

/* 0: nothing to compute. */
static int
count_tasks(const struct ggml_tensor *node, int n_threads)
{
    const struct cpu_op *op = cpu_op(node);

    if (tensor_is_view_op(node->op) || ggml_is_empty(node))
        return 0;
    GGML_ASSERT(op && "the CPU has no such op");
    if (n_threads == 1 || !op->cost || op->cost(node) < WORTH_SHARING)
        return 1;
    return n_threads;
}

struct ggml_cplan
ggml_graph_plan(const struct ggml_cgraph *cgraph, int n_threads,
                struct ggml_threadpool *threadpool)
{
    struct ggml_cplan plan = { .threadpool = threadpool };
    int most = 1;

    if (n_threads <= 0)
        n_threads = threadpool ? ggml_threadpool_get_n_threads(threadpool)
                               : GGML_DEFAULT_N_THREADS;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        const struct cpu_op *op = cpu_op(node);
        int n = count_tasks(node, n_threads);
        size_t size = 0;

        if (n && op->work_size) {
            /* a plan is made before it is known which kernels will run it */
            size_t ref = op->work_size(node, n, cpu_kernels_reference());

            size = op->work_size(node, n, cpu_kernels());
            size = size > ref ? size : ref;
        }
        most = n > most ? n : most;
        plan.work_size = size > plan.work_size ? size : plan.work_size;
    }
    if (plan.work_size)
        plan.work_size += CPU_LINE; /* to begin on a line */
    plan.n_threads = most;
    return plan;
}

struct run {
    const struct ggml_cgraph *graph;
    const struct ggml_cplan *plan;
    const struct cpu_kernels *k;
    struct ggml_threadpool *pool;
    char *work;
    /* The meeting after which all stop, numbered from 1; 0: none. Each thread
     * counts meetings, so that none stops before the others. */
    atomic_int stop_after;
};

struct walk {
    struct cpu_task task;
    int meetings;
    bool aborted;
    enum {
        NOTHING,
        SINGLE,
        SHARED
    } last; /* since the last meeting */
};

static bool
must_abort(const struct run *run)
{
    const struct ggml_cplan *plan = run->plan;

    return plan->abort_callback &&
           plan->abort_callback(plan->abort_callback_data);
}

/* Thread 0 asks; the others learn of it at the next meeting. */
static void
ask_abort(struct run *run, struct walk *w)
{
    if (w->task.ith != 0 || w->aborted || !must_abort(run))
        return;
    w->aborted = true;
    atomic_store(&run->stop_after, w->meetings + 1);
}

/* Returns false if all stop here. */
static bool
meet(struct run *run, struct walk *w)
{
    int stop;

    cpu_task_barrier(&w->task);
    w->meetings++;
    w->last = NOTHING;
    stop = atomic_load_explicit(&run->stop_after, memory_order_relaxed);
    return !stop || stop > w->meetings;
}

static void
walk_graph(void *arg, int ith, int nth)
{
    struct run *run = arg;
    struct walk w = { .task = { .ith = ith,
                                .nth = nth,
                                .work = run->work,
                                .k = run->k,
                                .pool = run->pool } };

    for (int i = 0; i < run->graph->n_nodes; i++) {
        struct ggml_tensor *node = run->graph->nodes[i];
        int n = count_tasks(node, nth);
        struct cpu_task alone = w.task;

        if (n == 0)
            continue;
        ask_abort(run, &w);
        if (w.last == SHARED || (w.last == SINGLE && n > 1))
            if (!meet(run, &w))
                return;
        if (n > 1) {
            cpu_op(node)->compute(&w.task, node);
            w.last = SHARED;
            continue;
        }
        w.last = SINGLE;
        if (ith != 0 || w.aborted)
            continue;
        alone.nth = 1;
        cpu_task_barrier(&alone); /* for the counter's sake */
        cpu_op(node)->compute(&alone, node);
    }
}

static char *
align_line(uint8_t *p)
{
    return p ? (char *)(((uintptr_t)p + CPU_LINE - 1) &
                        ~(uintptr_t)(CPU_LINE - 1))
             : NULL;
}

enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan)
{
    struct ggml_threadpool *pool = cplan->threadpool, *own = NULL;
    struct run run = { .graph = cgraph, .plan = cplan };
    int n = cplan->n_threads;

    GGML_ASSERT(n > 0);
    GGML_ASSERT(cplan->work_size == 0 || cplan->work_data);
    if (!pool) {
        struct ggml_threadpool_params params =
            ggml_threadpool_params_default(n);

        pool = own = ggml_threadpool_new(&params);
        if (!pool)
            return GGML_STATUS_ALLOC_FAILED;
    }
    if (n > ggml_threadpool_get_n_threads(pool))
        n = ggml_threadpool_get_n_threads(pool);
    run.pool = pool;
    run.k = plan_kernels(cplan->use_ref);
    run.work = align_line(cplan->work_data);
    cpu_pool_run(pool, n, walk_graph, &run);
    ggml_threadpool_free(own);
    return run.stop_after ? GGML_STATUS_ABORTED : GGML_STATUS_SUCCESS;
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
