/* test_threadpool.c - any number of threads gives the same bytes; plans, pools
 * and the abort callback */
#include <config.h>

#include "cpu_test.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cpu/exec/threadpool.h"
#include "tensor/graph.h"

enum {
    MAX_THREADS = 8
};

/* A graph with shared nodes and small ones in turn. */
static struct ggml_tensor *
build(struct ggml_context *ctx, int layers)
{
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 256, 9, 1, 1);

    test_state = 7;
    for (int i = 0; i < layers; i++) {
        struct ggml_tensor *up = test_tensor(
            ctx, i % 2 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16, 256, 512, 1, 1);
        struct ggml_tensor *down =
            test_tensor(ctx, GGML_TYPE_Q4_0, 512, 256, 1, 1);
        struct ggml_tensor *cur = ggml_rms_norm(ctx, x, 1e-5f);

        cur = ggml_silu(ctx, ggml_mul_mat(ctx, up, cur));
        x = ggml_add(ctx, x, ggml_mul_mat(ctx, down, cur));
    }
    return x;
}

static struct ggml_threadpool *
new_pool(int n)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(n);

    return ggml_threadpool_new(&params);
}

static enum ggml_status
compute(struct ggml_cgraph *graph, struct ggml_threadpool *pool, int n,
        ggml_abort_callback callback, void *data)
{
    struct ggml_cplan plan = ggml_graph_plan(graph, n, pool);
    enum ggml_status status;

    plan.work_data = malloc(plan.work_size + 1);
    plan.abort_callback = callback;
    plan.abort_callback_data = data;
    status = ggml_graph_compute(graph, &plan);
    free(plan.work_data);
    return status;
}

static void
test_same_bytes(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *out = build(ctx, 4);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    void *first = malloc(ggml_nbytes(out));
    char name[60];

    ggml_build_forward_expand(graph, out);
    compute(graph, NULL, 1, NULL, NULL);
    memcpy(first, out->data, ggml_nbytes(out));
    for (int n = 1; n <= MAX_THREADS; n++) {
        struct ggml_threadpool *pool = new_pool(n);
        bool same = true;

        for (int i = 0; i < 20 && same; i++) {
            memset(out->data, 0, ggml_nbytes(out));
            same = compute(graph, pool, 1 + i % n, NULL, NULL) ==
                       GGML_STATUS_SUCCESS &&
                   memcmp(first, out->data, ggml_nbytes(out)) == 0;
            if (i == 10)
                ggml_threadpool_pause(pool);
        }
        snprintf(name, sizeof(name), "a pool of %d threads: the same bytes", n);
        ok(same && ggml_threadpool_get_n_threads(pool) == n, name);
        ggml_threadpool_free(pool);
    }
    free(first);
    ggml_free(ctx);
}

/* Counts its calls; says "stop" from one on. */
struct countdown {
    int calls, stop_at;
};

static bool
count(void *data)
{
    struct countdown *c = data;

    return ++c->calls >= c->stop_at;
}

static void
test_abort(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *out = build(ctx, 4);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    bool stopped = true, finished = true;

    ggml_build_forward_expand(graph, out);
    for (int n = 1; n <= 4; n++) {
        struct ggml_threadpool *pool = new_pool(n);

        for (int at = 1; at < 20; at++) {
            struct countdown c = { 0, at };

            memset(out->data, 0x11, ggml_nbytes(out));
            stopped =
                stopped &&
                compute(graph, pool, n, count, &c) == GGML_STATUS_ABORTED &&
                c.calls == at && *(char *)out->data == 0x11;
        }
        for (int i = 0; i < 3; i++) {
            struct countdown c = { 0, 1000 };

            finished = finished && compute(graph, pool, n, count, &c) ==
                                       GGML_STATUS_SUCCESS;
        }
        ggml_threadpool_free(pool);
    }
    ok(stopped, "a graph stops between nodes when told to");
    ok(finished, "and the pool runs the next one");
    ggml_free(ctx);
}

enum {
    PIECES = 37
};

struct job {
    int64_t done[PIECES], by[MAX_THREADS];
    int64_t round;
    int most; /* pieces together */
    bool runs, good;
};

static void
do_pieces(void *arg, int piece, int count, int n, int thread)
{
    struct job *job = arg;

    job->good = job->good && n == PIECES && count > 0 &&
                (job->runs || count == 1) && piece + count <= n;
    job->most = count > job->most ? count : job->most;
    for (int i = piece; i < piece + count; i++) {
        if (job->done[i] != job->round)
            job->good = false;
        job->done[i]++;
        job->by[thread]++; /* a thread's own */
    }
}

/* Every piece is done once a round, and what was done is seen in the next. */
static void
test_pieces(void)
{
    bool good = true;

    for (int n = 1; n <= MAX_THREADS; n++) {
        struct ggml_threadpool *pool = new_pool(n);
        struct job job = { .good = true };
        int64_t total = 0;

        for (job.round = 0; job.round < 2000; job.round++) {
            if (job.round % 500 == 0)
                cpu_pool_wake(pool);
            job.runs = job.round % 3 == 0;
            cpu_pool_share(pool, &(struct cpu_offer){ .n = PIECES,
                                                      .fn = do_pieces,
                                                      .arg = &job,
                                                      .wake = job.round % 2,
                                                      .contiguous = job.runs });
            for (int i = 0; i < PIECES; i++)
                good = good && job.done[i] == job.round + 1;
        }
        for (int i = 0; i < n; i++)
            total += job.by[i];
        good = good && job.good && total == 2000 * PIECES &&
               job.most >= PIECES / n / 4;
        ggml_threadpool_free(pool);
    }
    ok(good, "each piece is done once, whoever does it");
}

static void
meet(void *arg, int piece, int count, int n, int thread)
{
    atomic_int *there = arg;

    (void)piece, (void)count, (void)thread;
    for (atomic_fetch_add(there, 1); atomic_load(there) < n;)
        sched_yield();
}

/* Pieces that wait for each other: on a thread each, whenever it had gone to
 * sleep, or was about to. */
static void
test_wake(void)
{
    for (int n = 2; n <= 3; n++) {
        struct ggml_threadpool_params params =
            ggml_threadpool_params_default(n);
        struct ggml_threadpool *pool;

        params.poll = 0;
        pool = ggml_threadpool_new(&params);
        for (int round = 0; round < 300; round++) {
            atomic_int there = 0;

            if (round % 3)
                cpu_pool_wake(pool);
            usleep((unsigned)(round % 7 * 20));
            cpu_pool_share(
                pool, &(struct cpu_offer){
                          .n = n, .fn = meet, .arg = &there, .wake = true });
        }
        ggml_threadpool_free(pool);
    }
    ok(true, "who sleeps is called for a job");
}

#ifdef __linux__

struct meeting {
    atomic_int there;
    cpu_set_t set; /* of thread 1 */
};

static void
meet_pinned(void *arg, int piece, int count, int n, int thread)
{
    struct meeting *m = arg;

    if (thread == 1)
        sched_getaffinity(0, sizeof(m->set), &m->set);
    meet(&m->there, piece, count, n, thread);
}

/* A thread of the pool has bound itself before it works. */
static void
test_pinned(void)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(2);
    struct ggml_threadpool *pool;
    struct meeting m = { .there = 0 };
    cpu_set_t all;
    int cpu = 0;

    sched_getaffinity(0, sizeof(all), &all);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    params.cpumask[cpu] = true;
    pool = ggml_threadpool_new(&params);
    cpu_pool_share(pool,
                   &(struct cpu_offer){
                       .n = 2, .fn = meet_pinned, .arg = &m, .wake = true });
    ok(CPU_COUNT(&m.set) == 1 && CPU_ISSET(cpu, &m.set),
       "a thread runs where the mask says");
    ggml_threadpool_free(pool);
}

#else

static void
test_pinned(void)
{
}

#endif

/* Graphs that come again, by their serials: with more threads than before, and
 * one that needs more memory than the one before. */
static void
test_serials(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_Q8_0, 256, 512, 1, 1);
    struct ggml_tensor *x[] = { test_tensor(ctx, GGML_TYPE_F32, 256, 1, 1, 1),
                                test_tensor(ctx, GGML_TYPE_F32, 256, 99, 1,
                                            1) };
    ggml_backend_t cpu = ggml_backend_cpu_init();
    bool same = true;

    for (uint64_t i = 0; i < 12; i++) {
        struct ggml_tensor *out = ggml_mul_mat(ctx, w, x[i / 6]);
        struct ggml_cgraph *graph = ggml_new_graph(ctx);
        float *first = malloc(ggml_nbytes(out));

        ggml_build_forward_expand(graph, out);
        compute(graph, NULL, 1, NULL, NULL);
        memcpy(first, out->data, ggml_nbytes(out));
        graph->serial = 1 + i / 3;
        ggml_backend_cpu_set_n_threads(cpu, 1 + (int)i % 3);
        ggml_backend_graph_compute(cpu, graph);
        same = same && memcmp(first, out->data, ggml_nbytes(out)) == 0;
        free(first);
    }
    ok(same, "a plan serves the graph that it was made for");
    ggml_backend_free(cpu);
    ggml_free(ctx);
}

static void
test_backend(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *out = build(ctx, 2);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t cpu = ggml_backend_cpu_init();
    void *first = malloc(ggml_nbytes(out));
    bool same = true;
    struct countdown c = { 0, 3 };
    ggml_backend_graph_plan_t plan;

    ggml_build_forward_expand(graph, out);
    ggml_backend_cpu_set_n_threads(cpu, 1);
    ggml_backend_graph_compute(cpu, graph);
    memcpy(first, out->data, ggml_nbytes(out));
    for (int n = 2; n <= 4; n++) {
        ggml_backend_cpu_set_n_threads(cpu, n);
        ggml_backend_graph_compute(cpu, graph);
        same = same && memcmp(first, out->data, ggml_nbytes(out)) == 0;
    }
    ok(same && ggml_backend_is_cpu(cpu), "the back end changes its threads");
    ggml_backend_cpu_set_abort_callback(cpu, count, &c);
    is(ggml_backend_graph_compute(cpu, graph), GGML_STATUS_ABORTED,
       "the back end passes the abort callback on");
    ggml_backend_cpu_set_abort_callback(cpu, NULL, NULL);
    plan = ggml_backend_graph_plan_create(cpu, graph);
    memset(out->data, 0, ggml_nbytes(out));
    ok(ggml_backend_graph_plan_compute(cpu, plan) == GGML_STATUS_SUCCESS &&
           memcmp(first, out->data, ggml_nbytes(out)) == 0,
       "a plan that is kept computes the same");
    ggml_backend_graph_plan_free(cpu, plan);
    ggml_backend_free(cpu);
    free(first);
    ggml_free(ctx);
}

int
main(void)
{
    alarm(300); /* who is not called would be waited for */
    test_pieces();
    test_wake();
    test_pinned();
    test_same_bytes();
    test_abort();
    test_backend();
    test_serials();
    return tap_done();
}
