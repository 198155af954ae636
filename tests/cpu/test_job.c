/* test_job.c - products that one job computes together, with what follows
 * them: which do, which must not, and the same bytes as one by one */
#include "cpu_test.h"

#include "cpu/exec/graph_jobs.h"

enum {
    K = 256
};

/* ---- which -------------------------------------------------------------- */

static struct ggml_cgraph *
graph_of(struct ggml_context *ctx, struct ggml_tensor **t, int n)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    for (int i = 0; i < n; i++)
        ggml_build_forward_expand(graph, t[i]);
    return graph;
}

/* The job of the first product of a graph. */
static struct cpu_job
job_of(struct ggml_context *ctx, struct ggml_tensor **t, int n)
{
    struct ggml_cgraph *graph = graph_of(ctx, t, n);
    struct cpu_job j;
    int first = 0;

    while (graph->nodes[first]->op != GGML_OP_MUL_MAT)
        first++;
    cpu_job_find(&j, graph, first, false, 3, cpu_kernels());
    return j;
}

static struct ggml_tensor *
product(struct ggml_context *ctx, enum ggml_type type, int n_rows,
        struct ggml_tensor *x)
{
    return ggml_mul_mat(ctx, test_tensor(ctx, type, x->ne[0], n_rows, 1, 1), x);
}

static struct ggml_tensor *
row(struct ggml_context *ctx, int n)
{
    return test_tensor(ctx, GGML_TYPE_F32, n, 1, 1, 1);
}

static void
test_products(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1);
    struct ggml_tensor *other = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1);
    struct ggml_tensor *t[] = { product(ctx, GGML_TYPE_Q4_0, 300, x),
                                product(ctx, GGML_TYPE_Q8_0, 70, x),
                                product(ctx, GGML_TYPE_Q4_0, 70, other) };
    struct ggml_tensor *chain[2];
    struct cpu_job j = job_of(ctx, t, 3);
    int pieces = 0;

    ok(j.n_members == 2 && j.end == 2, "products of the same columns");
    for (int i = 0; i < j.n_members; i++) {
        pieces += j.members[i].n_pieces;
        if (j.members[i].n_pieces < 1)
            pieces = -1000;
    }
    ok(pieces == j.n_pieces && j.members[1].first_piece > 0,
       "each piece belongs to one");
    t[1] = product(ctx, GGML_TYPE_F32, 70, x);
    is(job_of(ctx, t, 2).n_members, 1,
       "not where one reads floats, the other blocks");
    t[0] = product(ctx, GGML_TYPE_Q4_0, K, x);
    chain[0] = product(ctx, GGML_TYPE_Q4_0, 70, t[0]);
    is(job_of(ctx, chain, 1).n_members, 1, "nor where one reads the other");
    ggml_free(ctx);
}

static void
test_after(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 2, 1, 1);
    struct ggml_tensor *a = product(ctx, GGML_TYPE_Q4_0, 64, x), *sum, *t[2];
    struct cpu_job j;

    sum = ggml_add(ctx, a, row(ctx, 64));
    sum = ggml_gelu(ctx, ggml_reshape_2d(ctx, sum, 64, 2));
    t[0] = sum;
    j = job_of(ctx, t, 1);
    is(j.members[0].after.n, 1, "a view of a sum is another tensor");
    t[0] = ggml_gelu(ctx, ggml_add(ctx, a, row(ctx, 64)));
    j = job_of(ctx, t, 1);
    ok(j.members[0].after.n == 2 && j.end == 3, "sum and function follow");
    t[1] = product(ctx, GGML_TYPE_Q4_0, 64, x);
    t[1] = ggml_add(ctx, t[1], ggml_add(ctx, t[1], row(ctx, 64)));
    j = job_of(ctx, t, 2);
    ok(j.n_members == 2 && j.members[0].after.n == 2 &&
           j.members[1].after.n == 2 && j.end == 6,
       "each has its own");
    t[0] = ggml_rms_norm(ctx, a, 1e-5f);
    is(job_of(ctx, t, 1).members[0].after.n, 0, "a norm needs whole rows");
    ggml_free(ctx);
}

static struct ggml_tensor *
gate(struct ggml_context *ctx, enum ggml_type type, enum ggml_type other,
     struct ggml_tensor *x)
{
    struct ggml_tensor *a = product(ctx, type, 700, x);

    return ggml_swiglu_split(ctx, a, product(ctx, other, 700, x));
}

/* All pieces of the job for n_threads threads: each row of both products once,
 * whether pieces are requested one by one or some at a time. */
static bool
covers(const struct cpu_job *j, int n_threads, int together)
{
    static unsigned char times[2][4000];
    bool good = true;

    memset(times, 0, sizeof(times));
    for (int i = 0; i < j->n_pieces;) {
        struct cpu_task t = { .ith = i,
                              .nth = j->n_pieces,
                              .n_threads = n_threads,
                              .count = together };
        size_t n;
        const char *p;

        if (t.count > j->n_pieces - i)
            t.count = j->n_pieces - i;
        p = cpu_job_reads(j, &t, &n);
        for (int m = 0; m < 2; m++) {
            const struct ggml_tensor *w = j->members[m].node->src[0];
            const char *data = w->data;

            for (size_t r = 0; r < n / w->nb[1]; r++)
                if (p >= data && p < data + ggml_nbytes(w))
                    times[m][(size_t)(p - data) / w->nb[1] + r]++;
        }
        good = good && t.count > 0 && t.count <= together;
        i += t.count;
    }
    for (int m = 0; m < 2; m++)
        for (int64_t r = 0; r < j->members[m].node->ne[0]; r++)
            good = good && times[m][r] == 1;
    return good;
}

/* Gate and up. */
static void
test_pairs(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1);
    struct ggml_tensor *many = test_tensor(ctx, GGML_TYPE_F32, K, 40, 1, 1);
    struct ggml_tensor *t[2] = { gate(ctx, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0, x),
                                 NULL };
    struct cpu_job j = job_of(ctx, t, 1);
    bool good = true;

    ok(j.n_members == 2 && j.end == 3 && j.members[0].both.n == 1 &&
           j.members[0].after.n + j.members[1].after.n == 0 &&
           j.members[0].first_piece == j.members[1].first_piece &&
           j.n_pieces == 2 * j.members[0].n_pieces,
       "two products meet in what follows: a pair");
    for (int n = 1; n <= 40; n += n < 5 ? 1 : 7)
        good =
            good && covers(&j, n, 1) && covers(&j, n, 5) && covers(&j, n, 1000);
    ok(good, "its pieces are all rows of both");
    t[0] = ggml_scale(ctx, t[0], 2);
    is(job_of(ctx, t, 1).members[0].both.n, 2, "more follows that");
    t[0] = gate(ctx, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0, x);
    t[0]->data = t[0]->src[1]->data;
    is(job_of(ctx, t, 1).members[0].both.n, 1, "in the place of either");
    t[0]->data = (char *)t[0]->src[1]->data + 64;
    is(job_of(ctx, t, 1).members[0].both.n, 0, "not beside it");
    t[0] = gate(ctx, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0, x);
    t[1] = ggml_scale(ctx, t[0]->src[0], 2);
    j = job_of(ctx, t, 2);
    ok(j.end == 3 && j.members[0].both.n == 1 && j.members[0].after.n == 0,
       "what follows one of them after that waits");
    t[0] = gate(ctx, GGML_TYPE_Q4_0, GGML_TYPE_Q8_0, x);
    is(job_of(ctx, t, 1).members[0].both.n, 0, "nor of rows unlike");
    t[0] = gate(ctx, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0, many);
    j = job_of(ctx, t, 1);
    ok(j.n_members == 2 && j.end == 2 && j.members[0].both.n == 0,
       "nor of many columns");
    ggml_free(ctx);
}

/* An allocator gives a result the place of what is not needed any more. */
static void
test_places(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1);
    struct ggml_tensor *a = product(ctx, GGML_TYPE_Q4_0, K, x);
    struct ggml_tensor *f = product(ctx, GGML_TYPE_F32, K, x), *t[2];
    struct ggml_tensor *res = row(ctx, K);

    t[0] = ggml_add(ctx, res, a);
    t[0]->data = a->data;
    is(job_of(ctx, t, 1).members[0].after.n, 1, "in the product's place");
    t[0]->data = res->data;
    is(job_of(ctx, t, 1).members[0].after.n, 1, "in the other's place");
    t[0]->data = (char *)res->data + 64;
    is(job_of(ctx, t, 1).members[0].after.n, 0, "not beside it");
    t[0] = ggml_add(ctx, res, f);
    t[0]->data = x->data;
    is(job_of(ctx, t, 1).members[0].after.n, 0,
       "not in that of columns that pieces read");
    t[0] = a;
    t[1] = product(ctx, GGML_TYPE_Q4_0, 64, x);
    t[1]->data = (char *)a->data + 128;
    is(job_of(ctx, t, 2).n_members, 1, "nor one product in another's");
    t[1] = product(ctx, GGML_TYPE_Q4_0, K, x);
    t[1]->data = a->data;
    is(job_of(ctx, t, 2).n_members, 1, "though they be of a size");
    ggml_free(ctx);
}

/* ---- what is near ------------------------------------------------------- */

static bool
is_near(const struct cpu_jobs *jobs, const void *p)
{
    for (int i = 0; i < jobs->n_spans; i++)
        if (jobs->spans[i].at == p)
            return true;
    return false;
}

static void
test_near(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, 1, 1, 1);
    struct ggml_tensor *gain = row(ctx, K), *norm, *t[1];
    struct ggml_cgraph *graph;
    struct cpu_jobs jobs = { 0 };

    norm = ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), gain);
    t[0] = product(ctx, GGML_TYPE_Q4_0, 3000, norm);
    graph = graph_of(ctx, t, 1);
    ok(cpu_jobs_find(&jobs, graph, false, false, 2, cpu_kernels()) &&
           jobs.n == 1 && jobs.list[0].first_span == 0 &&
           is_near(&jobs, norm) && is_near(&jobs, norm->src[0]) &&
           is_near(&jobs, gain->data),
       "nodes before a job, and their constants");
    ok(is_near(&jobs, t[0]->src[0]) && !is_near(&jobs, t[0]->src[0]->data),
       "of a job what it is, not its weights");
    for (int i = 0; i < 100; i++)
        norm = ggml_scale(ctx, norm, 1.01f);
    t[0] = product(ctx, GGML_TYPE_Q4_0, 3000, norm);
    graph = graph_of(ctx, t, 1);
    ok(cpu_jobs_find(&jobs, graph, false, false, 2, cpu_kernels()) &&
           jobs.n == 1 && jobs.n_spans > 10 && jobs.n_spans < 100,
       "not all of very many");
    cpu_jobs_clear(&jobs);
    ggml_free(ctx);
}

/* ---- the same bytes ----------------------------------------------------- */

/* Queries, keys and values with biases, then a block with a residual sum. */
static struct ggml_tensor *
layer(struct ggml_context *ctx, const enum ggml_type *types,
      struct ggml_tensor *x, struct ggml_cgraph *graph)
{
    static const int rows[] = { 530, 96, 531 };
    struct ggml_tensor *t[3], *all = NULL;

    for (int i = 0; i < 3; i++) {
        t[i] = product(ctx, types[i], rows[i], x);
        t[i] = ggml_add(ctx, t[i], row(ctx, rows[i]));
        ggml_build_forward_expand(graph, t[i]);
    }
    for (int i = 0; i < 3; i++)
        all = all ? ggml_concat(ctx, all, t[i], 0) : t[i];
    all = ggml_view_2d(ctx, all, 1024, x->ne[1], all->nb[1], 0);
    all = product(ctx, types[0], 1024, ggml_cont(ctx, all));
    all = ggml_gelu_inplace(ctx, ggml_add_inplace(ctx, all, row(ctx, 1024)));
    all = ggml_swiglu_split(
        ctx, ggml_add(ctx, product(ctx, types[1], 512, all), row(ctx, 512)),
        product(ctx, types[1], 512, all));
    all = product(ctx, types[1], K, all);
    all = ggml_scale(ctx, all, 0.25f);
    return ggml_add(ctx, x, ggml_mul(ctx, all, row(ctx, K)));
}

static bool
same_bytes(struct ggml_cgraph *graph, struct ggml_tensor *out)
{
    size_t size = ggml_nbytes(out);
    void *first = malloc(size);
    bool same = true;

    for (int n = 1; n <= 6; n++) {
        struct ggml_cplan plan = ggml_graph_plan(graph, n, NULL);

        plan.work_data = malloc(plan.work_size + 1);
        memset(plan.work_data, 0xa5, plan.work_size);
        memset(out->data, 0xa5, size);
        same = same && ggml_graph_compute(graph, &plan) == GGML_STATUS_SUCCESS;
        if (n == 1) /* alone, nothing is joined */
            memcpy(first, out->data, size);
        same = same && !memcmp(first, out->data, size);
        free(plan.work_data);
    }
    free(first);
    return same;
}

static void
test_bytes(const enum ggml_type *types, int n_columns)
{
    struct ggml_context *ctx = test_context();
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, K, n_columns, 1, 1);
    char name[100];

    for (int i = 0; i < 3; i++)
        x = layer(ctx, types, x, graph);
    ggml_build_forward_expand(graph, x);
    snprintf(name, sizeof(name), "%s, %s, %s, %d columns: the same bytes",
             ggml_type_name(types[0]), ggml_type_name(types[1]),
             ggml_type_name(types[2]), n_columns);
    ok(same_bytes(graph, x), name);
    ggml_free(ctx);
}

int
main(void)
{
    static const enum ggml_type types[][3] = {
        { GGML_TYPE_Q4_0, GGML_TYPE_Q4_0, GGML_TYPE_Q8_0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, GGML_TYPE_F16 },
        { GGML_TYPE_Q8_0, GGML_TYPE_BF16, GGML_TYPE_Q4_0 },
    };

    test_products();
    test_after();
    test_pairs();
    test_places();
    test_near();
    for (int i = 0; i < 3; i++) {
        test_bytes(types[i], 1);
        test_bytes(types[i], 3);
        test_bytes(types[i], 130);
    }
    return tap_done();
}
