/* test_weight_prefetch.c - weights that threads fetch before they read them:
 * all of their own, in their order, and as far ahead as they are wanted */
#include "cpu_test.h"

#include "cpu/exec/weight_prefetch.h"
#include "cpu/exec/graph_jobs.h"
#include "cpu/exec/threadpool.h"
#include "cpu/gemm/gemm.h"

enum {
    K = 256,
    THREADS = 3,
    STEP = 32 * 1024,
    MANY = 9, /* more columns than kernels take for few */
};

/* Three products in turn: two of them one job, then one that is no stream, as
 * it has many columns, then one. */
static struct ggml_cgraph *
products(struct ggml_context *ctx)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1), *y;

    y = ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q4_0, K, 1000, 1, 1), x);
    ggml_build_forward_expand(graph, y);
    y = ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q8_0, K, MANY * K, 1, 1),
                     x);
    ggml_build_forward_expand(graph, y);
    y = ggml_reshape_2d(ctx, y, K, MANY);
    y = ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q4_0, K, 4000, 1, 1), y);
    y = ggml_view_1d(ctx, y, K, 0);
    y = ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q6_K, K, 3000, 1, 1), y);
    ggml_build_forward_expand(graph, y);
    return graph;
}

/* A thread's way through its pieces. */
struct way {
    struct cpu_weight_prefetch *a;
    size_t used;     /* bytes of pieces so far */
    bool far_enough; /* all that was wanted was prefetched */
    bool own;        /* nothing but the thread's own */
};

static const char *
reads(const struct cpu_jobs *jobs, int job, int piece, size_t *n)
{
    struct cpu_task t = { .ith = piece,
                          .count = 1,
                          .nth = jobs->list[job].n_pieces,
                          .n_threads = THREADS };

    return cpu_job_reads(&jobs->list[job], &t, n);
}

/* True if the bytes are in one of the thread's pieces, or in some in a row. */
static bool
is_own(const struct cpu_weight_prefetch *a, const struct cpu_jobs *jobs,
       const char *p, size_t n)
{
    for (int j = 0; j < jobs->n; j++) {
        int all = jobs->list[j].n_pieces;
        int end = cpu_pool_first(all, THREADS, a->thread + 1);

        for (int i = cpu_pool_first(all, THREADS, a->thread); i < end; i++) {
            size_t size;
            const char *from = reads(jobs, j, i, &size);
            size_t rest =
                p >= from && p < from + size ? size - (size_t)(p - from) : 0;

            if (jobs->list[j].streams && rest) {
                if (n <= rest)
                    return true;
                p += rest;
                n -= rest;
            }
        }
    }
    return false;
}

/* Multiplies a piece; rows are as long as its bytes allow. */
static void
use_piece(struct way *w, const struct cpu_jobs *jobs, int job, int piece)
{
    size_t n, stride;

    reads(jobs, job, piece, &n);
    stride = jobs->list[job].members[0].node->src[0]->nb[1];
    if (piece >= jobs->list[job].members[0].n_pieces &&
        jobs->list[job].n_members > 1)
        stride = jobs->list[job].members[1].node->src[0]->nb[1];
    w->own = w->own && cpu_weight_prefetch_piece(w->a, &jobs->list[job], piece);
    for (int64_t rest = (int64_t)(n / stride), rows; rest > 0; rest -= rows) {
        const char *from;

        rows = rest;
        from = cpu_weight_prefetch_take(w->a, stride, 16, &rows);
        w->own = w->own && rows > 0 && rows <= rest &&
                 (rows == rest || rows % 16 == 0) &&
                 (!from || is_own(w->a, jobs, from, (size_t)rows * stride));
        w->used += (size_t)rows * stride;
        w->far_enough = w->far_enough && (w->a->outstanding >= w->a->distance ||
                                          w->a->left == 0);
    }
}

static size_t
bytes_of(const struct cpu_jobs *jobs, int thread)
{
    size_t sum = 0, n;

    for (int j = 0; j < jobs->n; j++) {
        int all = jobs->list[j].n_pieces;

        for (int i = cpu_pool_first(all, THREADS, thread);
             i < cpu_pool_first(all, THREADS, thread + 1); i++) {
            reads(jobs, j, i, &n);
            sum += jobs->list[j].streams ? n : 0;
        }
    }
    return sum;
}

static void
test_way(const struct cpu_jobs *jobs, int thread, size_t want, bool waits)
{
    struct way w = { .a = &jobs->prefetch[thread],
                     .far_enough = true,
                     .own = true };
    char name[100];

    w.a->distance = want;
    cpu_weight_prefetch_start(w.a);
    for (int j = 0; j < jobs->n; j++) {
        int all = jobs->list[j].n_pieces;
        int first = cpu_pool_first(all, THREADS, thread);

        if (waits && jobs->list[j].streams) {
            cpu_weight_prefetch_piece(w.a, &jobs->list[j], first);
            while (w.a->outstanding < 100000 &&
                   cpu_weight_prefetch_more(w.a, 512) > 0)
                ;
        }
        for (int i = first; i < cpu_pool_first(all, THREADS, thread + 1); i++)
            if (jobs->list[j].streams)
                use_piece(&w, jobs, j, i);
    }
    snprintf(name, sizeof(name), "thread %d, %zu bytes ahead%s", thread, want,
             waits ? ", more while it waits" : "");
    ok(w.own && w.far_enough && w.used == bytes_of(jobs, thread) &&
           w.a->outstanding == 0 && w.a->left == 0 &&
           cpu_weight_prefetch_more(w.a, STEP) == 0,
       name);
}

/* Others have done a job, or some of its pieces. */
static void
test_skip(const struct cpu_jobs *jobs)
{
    struct cpu_weight_prefetch *a = &jobs->prefetch[1];
    int last = jobs->n - 1;
    size_t n;
    const char *p = reads(
        jobs, last, cpu_pool_first(jobs->list[last].n_pieces, THREADS, 1), &n);

    cpu_weight_prefetch_start(a);
    cpu_weight_prefetch_more(a, 1000);
    ok(!cpu_weight_prefetch_piece(a, &jobs->list[0],
                                  jobs->list[0].n_pieces - 1) &&
           cpu_weight_prefetch_more(a, 64) == 64 && a->at == p + 64 &&
           a->outstanding == 64,
       "nothing of a job that others did");
    cpu_weight_prefetch_start(a);
    ok(cpu_weight_prefetch_piece(
           a, &jobs->list[last],
           cpu_pool_first(jobs->list[last].n_pieces, THREADS, 1)) &&
           a->outstanding == 0 && cpu_weight_prefetch_more(a, 64) == 64 &&
           a->at == p + 64,
       "nor of one that is over");
}

static void
test_rows(void)
{
    static char bytes[1000 * 64];
    struct cpu_weight_prefetch a =
        cpu_weight_prefetch_of(bytes, sizeof(bytes), 10 * 64);
    int64_t n = 500;

    ok(cpu_weight_prefetch_take(&a, 64, 16, &n) == bytes + 10 * 64 && n == 500,
       "some rows: what comes after those that were fetched first");
    n = 500;
    ok(cpu_weight_prefetch_take(&a, 64, 16, &n) == bytes + 510 * 64 && n == 480,
       "then as many whole tiles as are left");
    n = 20;
    ok(!cpu_weight_prefetch_take(&a, 64, 16, &n) && n == 20 &&
           a.outstanding == 0,
       "then nothing");
    n = 3;
    a = cpu_weight_prefetch_of(bytes, 0, 100);
    cpu_weight_prefetch_take(&a, 0, 16, &n);
    ok(n == 3 && a.left == 0, "rows without bytes");
}

/* As many columns as the kernel says meet weights as one does. */
static void
test_few(void)
{
    const struct cpu_kernels *k = cpu_kernels();
    int64_t few = k->mul_mat[GGML_TYPE_Q4_0].small_batch;
    bool good = true;

    for (int64_t n = 1; n <= MANY; n++) {
        struct ggml_context *ctx = test_context();
        struct ggml_cgraph *graph = ggml_new_graph(ctx);
        struct cpu_jobs jobs = { 0 };

        ggml_build_forward_expand(
            graph,
            ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q4_0, K, 4000, 1, 1),
                         test_tensor(ctx, GGML_TYPE_F32, K, n, 1, 1)));
        good = good && cpu_jobs_find(&jobs, graph, false, false, THREADS, k) &&
               jobs.n == 1 && jobs.list[0].streams == (n == 1 || n <= few);
        cpu_jobs_clear(&jobs);
        ggml_free(ctx);
    }
    ok(good && few < MANY, "so do a few columns");
}

static size_t
fetch_all(struct cpu_weight_prefetch *a)
{
    size_t sum = 0, n;

    while ((n = cpu_weight_prefetch_more(a, STEP)) > 0)
        sum += n;
    return sum;
}

/* Which matrices are read is not known before it has been computed. */
static void
test_matrices(void)
{
    static const int32_t which[] = { 6, 2, 7, 2 };
    struct ggml_context *ctx = test_context();
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1), *y;
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_Q4_0, K, 800, 8, 1);
    struct ggml_tensor *ids;
    struct cpu_jobs jobs = { 0 };
    struct cpu_weight_prefetch *a;
    size_t n = 0, before;

    y = ggml_mul_mat(ctx, test_tensor(ctx, GGML_TYPE_Q4_0, K, 1000, 1, 1), x);
    ids = ggml_argsort(ctx, ggml_view_1d(ctx, y, 8, 0), GGML_SORT_ORDER_DESC);
    y = ggml_mul_mat_id(ctx, w, x, ggml_view_1d(ctx, ids, 4, 0));
    ggml_build_forward_expand(graph, y);
    memcpy(ids->data, which, sizeof(which));
    ok(cpu_jobs_find(&jobs, graph, false, false, THREADS, cpu_kernels()) &&
           jobs.n == 2 && jobs.list[1].streams && jobs.list[1].contiguous,
       "matrices that are chosen come in a stream");
    for (int i = 0; i < THREADS && jobs.n == 2; i++) {
        int first = cpu_pool_first(jobs.list[1].n_pieces, THREADS, i);

        a = &jobs.prefetch[i];
        cpu_weight_prefetch_start(a);
        before = fetch_all(a);
        cpu_weight_prefetch_piece(a, &jobs.list[1], first);
        n += fetch_all(a) == 0 && before > 0 ? 0 : ggml_nbytes(w);
        cpu_weight_prefetch_begin(a);
        n += fetch_all(a);
        if (i == 0)
            ok(a->at <= (char *)w->data + 3 * w->nb[2] &&
                   a->at > (char *)w->data + 2 * w->nb[2],
               "one after the other");
    }
    is(n, 4 * w->nb[2], "once it is known which they are");
    cpu_jobs_clear(&jobs);
    ggml_free(ctx);
}

int
main(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_cgraph *graph = products(ctx);
    struct cpu_jobs jobs = { 0 };

    ok(cpu_jobs_find(&jobs, graph, false, false, THREADS, cpu_kernels()) &&
           jobs.n == 3 && jobs.list[0].n_members == 2 && jobs.list[0].streams &&
           !jobs.list[1].streams && jobs.list[2].streams,
       "two jobs of three read weights for one column");
    ok(!jobs.prefetch[2].distance ==
           !cpu_plan_product(jobs.list[0].members[0].node, cpu_kernels())
                .kernel->prefetch_distance,
       "which are prefetched where kernels want it");
    for (int i = 0; i < THREADS; i++) {
        test_way(&jobs, i, 1, false);
        test_way(&jobs, i, 5000, false);
        test_way(&jobs, i, 5000, true);
        test_way(&jobs, i, 1000000, false);
    }
    test_skip(&jobs);
    test_rows();
    test_few();
    test_matrices();
    cpu_jobs_clear(&jobs);
    ggml_free(ctx);
    return tap_done();
}
