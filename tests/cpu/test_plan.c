/* test_plan.c - the thread plan: how many threads and pieces, how much work
 * memory, and that no two threads write to one cache line of it */
#include "cpu_test.h"

#include "cpu/ops/op_table.h"
#include "cpu/exec/task.h"

enum {
    THREADS = 3,
    GUARD = 4 * CPU_LINE
};

static struct ggml_cplan
plan_of(struct ggml_context *ctx, struct ggml_tensor **nodes, int n,
        int n_threads)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    for (int i = 0; i < n; i++)
        ggml_build_forward_expand(graph, nodes[i]);
    return ggml_graph_plan(graph, n_threads, NULL);
}

static void
test_counts(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_Q4_0, 256, 512, 1, 1);
    struct ggml_tensor *v = test_tensor(ctx, GGML_TYPE_Q8_0, 256, 512, 1, 1);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 256, 40, 1, 1);
    struct ggml_tensor *few = test_tensor(ctx, GGML_TYPE_F32, 4, 4, 1, 1);
    struct ggml_tensor *n[] = { ggml_mul_mat(ctx, w, x),
                                ggml_mul_mat(ctx, v, x), ggml_sqr(ctx, few) };
    struct ggml_threadpool_params params = ggml_threadpool_params_default(5);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);
    size_t sizes[2];

    ok(plan_of(ctx, n, 1, 7).n_threads == 7 &&
           plan_of(ctx, n, 3, 7).n_threads == 7,
       "large nodes get the threads that were asked for");
    is(plan_of(ctx, n + 2, 1, 7).n_threads, 1, "small ones wake nobody");
    is(plan_of(ctx, n, 1, 0).n_threads, GGML_DEFAULT_N_THREADS, "a default");
    ok(plan_of(ctx, n + 2, 1, 7).work_size == 0 &&
           !plan_of(ctx, n, 1, 7).work_data,
       "no more work memory than needed, and the caller's");
    sizes[0] = plan_of(ctx, n, 1, 4).work_size;
    sizes[1] = plan_of(ctx, n + 1, 1, 4).work_size;
    ok(sizes[0] > 0 && plan_of(ctx, n, 3, 4).work_size ==
                           (sizes[0] > sizes[1] ? sizes[0] : sizes[1]),
       "one work buffer serves all nodes, one after another");
    ok(ggml_graph_plan(ggml_new_graph(ctx), 3, pool).threadpool == pool,
       "a plan remembers its pool");
    ggml_threadpool_free(pool);
    ggml_free(ctx);
}

/* Who wrote to each line of the work memory: 0, or a piece's number + 1. */
struct lines {
    char *work;
    struct cpu_angles *angles; /* for ROPE */
    unsigned char *owner;
    size_t n;
    bool clash;
};

static void
note_lines(struct lines *l, int piece)
{
    for (size_t i = 0; i < l->n; i++) {
        bool written = false;

        for (size_t j = 0; j < CPU_LINE; j++)
            written = written || l->work[i * CPU_LINE + j] != '\xa5';
        if (!written)
            continue;
        if (l->owner[i] && l->owner[i] != piece + 1)
            l->clash = true;
        l->owner[i] = (unsigned char)(piece + 1);
    }
}

/* Runs each piece, and sees what of the work memory it wrote. */
static void
run_pieces(struct lines *l, const struct cpu_kernels *k,
           struct ggml_tensor *node,
           void (*step)(const struct cpu_task *t, struct ggml_tensor *dst),
           int n)
{
    memset(l->owner, 0, l->n);
    if (l->angles)
        cpu_op(node)->begin(&(struct cpu_task){ .angles = l->angles }, node);
    for (int i = 0; i < n; i++) {
        struct cpu_task task = { .ith = i,
                                 .count = 1,
                                 .nth = n,
                                 .thread = i % THREADS,
                                 .n_threads = THREADS,
                                 .work = l->work,
                                 .angles = l->angles,
                                 .k = k };

        memset(l->work, 0xa5, l->n * CPU_LINE);
        step(&task, node);
        note_lines(l, task.thread);
    }
}

/* All threads keep to lines of their own, and to what was requested. */
static void
check_step(struct ggml_tensor *node,
           void (*step)(const struct cpu_task *t, struct ggml_tensor *dst),
           const char *name)
{
    const struct cpu_kernels *k = cpu_kernels();
    const struct cpu_op *op = cpu_op(node);
    size_t size = op->work_size(node, THREADS, k);
    struct lines l = { .n = (size + GUARD) / CPU_LINE };
    size_t used = 0;

    l.work = aligned_alloc(CPU_LINE, l.n * CPU_LINE);
    l.owner = malloc(l.n);
    if (cpu_angles_size(node) > 0) {
        l.angles = aligned_alloc(CPU_LINE, cpu_angles_size(node));
        cpu_angles_clear(l.angles);
    }
    run_pieces(&l, k, node, step, THREADS);
    for (size_t i = 0; i < l.n; i++)
        used = l.owner[i] ? i + 1 : used;
    ok(size > 0 && size % CPU_LINE == 0 && !l.clash && used > 0 &&
           used * CPU_LINE <= size,
       name);
    free(l.angles);
    free(l.work);
    free(l.owner);
}

static void
check_node(struct ggml_tensor *node, const char *name)
{
    const struct cpu_op *op = cpu_op(node);

    check_step(node, op->prepare ? op->prepare : op->compute, name);
}

static void
test_lines(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 37, 9, 3, 2);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 37, 9, 3, 2);
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_Q4_0, 96, 70, 1, 1);
    struct ggml_tensor *y = test_tensor(ctx, GGML_TYPE_F32, 96, 11, 1, 1);
    struct ggml_tensor *yh = test_tensor(ctx, GGML_TYPE_F16, 37, 11, 3, 2);
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 40, 50, 2, 1);
    struct ggml_tensor *kv = test_tensor(ctx, GGML_TYPE_F16, 40, 71, 2, 1);
    struct ggml_tensor *mask = test_tensor(ctx, GGML_TYPE_F16, 71, 50, 1, 1);
    struct ggml_tensor *pos = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3), *flash;
    struct ggml_tensor *k1 = test_tensor(ctx, GGML_TYPE_F16, 3, 9, 9, 1);
    struct ggml_tensor *k2 = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 1, 37);
    struct ggml_tensor *x1 = test_tensor(ctx, GGML_TYPE_F32, 37, 9, 1, 1);

    ggml_set_i32(pos, 5);
    check_node(ggml_add(ctx, h, x), "add to F16");
    check_node(ggml_norm(ctx, h, 1e-5f), "norm of F16");
    check_node(ggml_cast(ctx, ggml_transpose(ctx, y), GGML_TYPE_F16),
               "cast of a transposed");
    check_node(ggml_cast(ctx, w, GGML_TYPE_F16), "cast of blocks");
    check_node(ggml_rope(ctx, h, pos, 30, 0), "rope of F16");
    check_node(ggml_mul_mat(ctx, w, y), "mul_mat's columns");
    check_node(ggml_mul_mat(ctx, x, yh), "mul_mat's columns as floats");
    flash = ggml_flash_attn_ext(ctx, q, kv, kv, NULL, 1, 0, 0);
    check_step(flash, cpu_op(flash)->compute, "flash_attn");
    check_node(ggml_flash_attn_ext(ctx, q, kv, kv, mask, 1, 0, 0),
               "flash_attn's looks at its mask");
    check_node(ggml_im2col(ctx, h, x, 1, 1, 1, 1, 1, 1, true, GGML_TYPE_F16),
               "im2col");
    check_node(ggml_conv_transpose_1d(ctx, k1, x1, 2, 0, 1),
               "conv_transpose_1d");
    check_node(ggml_conv_2d_dw_direct(ctx, k2, ggml_permute(ctx, x, 2, 0, 1, 3),
                                      1, 1, 1, 1, 1, 1),
               "conv_2d_dw, channels innermost");
    ggml_free(ctx);
}

/* Work memory may start anywhere. */
static void
test_alignment(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_Q8_0, 256, 64, 1, 1);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 256, 8, 1, 1);
    struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;
    float first[64 * 8];
    bool same = true;
    uint8_t *memory;

    ggml_build_forward_expand(graph, y);
    plan = ggml_graph_plan(graph, 2, NULL);
    memory = malloc(plan.work_size + CPU_LINE + GUARD);
    for (size_t i = 0; i < CPU_LINE; i++) {
        memset(memory, 0x5a, plan.work_size + CPU_LINE + GUARD);
        plan.work_data = memory + i;
        ggml_graph_compute(graph, &plan);
        if (i == 0)
            memcpy(first, y->data, sizeof(first));
        same = same && memcmp(first, y->data, sizeof(first)) == 0;
        for (size_t j = 0; j < GUARD; j++)
            same = same && memory[i + plan.work_size + j] == 0x5a;
    }
    ok(same, "work memory at any address, and nothing behind it is touched");
    free(memory);
    ggml_free(ctx);
}

int
main(void)
{
    test_counts();
    test_lines();
    test_alignment();
    return tap_done();
}
