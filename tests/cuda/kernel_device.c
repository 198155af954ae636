/* kernel_device.c - runs the kernels of tests on a device, by the public face
 *
 * The CUDA module that GG_CUDA_MODULE names; each check is a graph of its own,
 * copied there and back. The last of the runs is a replay of a capture, where
 * the result may be computed twice. */
#include "cuda/kernel_runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-cuda.h>

#include "api/modules.h"
#include "backend/best.h"
#include "tensor/graph.h"

static ggml_backend_t backend;

void
kt_start(void)
{
    const char *why = "it cannot be started";

    api_module_load(api_module_named("cuda", 4), &why);
    backend = ggml_backend_cuda_init(0);
    if (backend)
        return;
    printf("1..0 # SKIP no CUDA device: %s\n", why);
    exit(0);
}

bool
kt_on_device(void)
{
    return true;
}

bool
kt_large_device(void)
{
    return !getenv("CUDA_TEST_EMULATED");
}

/* Blocks and threads have one order there if they are emulated. */
int
kt_orders(void)
{
    return kt_large_device() ? 3 : 2;
}

/* Sums and products may be one instruction there, and exp() and its kin end
 * in other bits. */
double
kt_bound(const struct ggml_tensor *t, double bound)
{
    return t->type == GGML_TYPE_F32 ? fmax(bound, 1e-12) : bound;
}

bool
kt_supports(const struct ggml_tensor *t)
{
    return ggml_backend_supports_op(backend, t);
}

void
kt_run_op(void *arg)
{
    (void)arg;
}

static void
must(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static struct ggml_tensor *
copy_of(const struct ggml_tensor *t, struct ggml_cgraph *graph,
        struct ggml_cgraph *copy)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++)
        if (ggml_graph_node(graph, i) == t)
            return ggml_graph_node(copy, i);
    return NULL;
}

static void
compute(struct ggml_cgraph *graph)
{
    must(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS,
         "a graph is not computed");
}

/* Launched, captured, replayed. */
static void
compute_thrice(struct ggml_cgraph *graph)
{
    static uint64_t serial;

    graph->serial = ++serial;
    for (int i = 0; i < 3; i++)
        compute(graph);
}

static void
fetch(const struct ggml_tensor *from, struct ggml_tensor *to)
{
    ggml_backend_tensor_get(from, to->data, 0, ggml_nbytes(to));
}

void
kt_run(const struct kt_run *r, int order)
{
    enum {
        NODES = 512
    };
    struct ggml_init_params params = {
        .mem_size = 2 * ggml_graph_overhead_custom(NODES, false),
    };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, NODES, false);
    struct ggml_cgraph *there = ggml_new_graph_custom(ctx, NODES, false);
    struct ggml_backend_graph_copy copy;
    struct ggml_tensor *t, *also;

    ggml_build_forward_expand(graph, r->t);
    copy = ggml_backend_graph_copy(backend, graph);
    must(copy.graph, "no memory on the device");
    t = copy_of(r->t, graph, copy.graph);
    also = r->also ? copy_of(r->also, graph, copy.graph) : NULL;
    if (also)
        ggml_set_output(also);
    ggml_build_forward_expand(there, t); /* with the count of readers */
    if (order == kt_orders() - 1 && !t->view_src)
        compute_thrice(there);
    else
        compute(there);
    fetch(t, r->t);
    if (also)
        fetch(also, r->also);
    ggml_backend_graph_copy_free(copy);
    ggml_free(ctx);
}

int
kt_fuse(struct ggml_tensor *const *nodes, int n, const int *uses)
{
    (void)nodes;
    (void)n;
    (void)uses;
    abort(); /* a graph's nodes are the back end's */
}

long
kt_launches(void)
{
    abort();
}

void
kt_shared(size_t bytes)
{
    (void)bytes;
}

void
kt_norms(const struct cuda_norm *n)
{
    (void)n;
    abort();
}

void
kt_best(const float *logits, int n, int stride, int n_rows, int k, int32_t *ids,
        float *values, double *lse)
{
    struct ggml_init_params params = { .mem_size = 4 * ggml_tensor_overhead(),
                                       .no_alloc = true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *all =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, stride, n_rows);
    struct ggml_tensor *x = ggml_view_2d(ctx, all, n, n_rows, all->nb[1], 0);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    void *p = ggml_backend_reg_get_proc_address(ggml_backend_cuda_reg(),
                                                BACKEND_BEST);
    struct backend_best_row *rows = calloc((size_t)n_rows, sizeof(*rows));
    backend_best_t best;

    memcpy(&best, &p, sizeof(p));
    must(buffer && rows && best, "nothing that finds the best");
    ggml_backend_tensor_set(all, logits, 0, ggml_nbytes(all));
    for (int i = 0; i < n_rows; i++)
        rows[i] =
            (struct backend_best_row){ ids + (size_t)i * (size_t)k,
                                       values + (size_t)i * (size_t)k, 0 };
    must(best(backend, x, 0, n_rows, k, rows), "the best are not found");
    for (int i = 0; i < n_rows; i++)
        lse[i] = rows[i].log_sum_exp;
    free(rows);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}
