/* test_gallocr_plans.c - the allocator of graphs: where results lie, and
 * when that is planned anew */
#include "alloc/measure.h"
#include "alloc_test.h"

static void
in_place(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = chain(ctx, GGML_TENSOR_FLAG_INPUT);
    size_t size;

    ggml_gallocr_reserve_n_size(galloc, g, NULL, NULL, &size);
    ok(size == 4096 && ggml_gallocr_get_buffer_size(galloc, 0) == 0,
       "a size can be requested without memory");
    ok(ggml_gallocr_alloc_graph(galloc, g) &&
           ggml_gallocr_get_buffer_size(galloc, 0) == 4096 &&
           g->leafs[0]->data == g->nodes[1]->data,
       "a chain works in one tensor's memory");
    g = chain(ctx, GGML_TENSOR_FLAG_OUTPUT);
    ok(ggml_gallocr_alloc_graph(galloc, g) &&
           ggml_gallocr_get_buffer_size(galloc, 0) == 8192 &&
           g->leafs[0]->data != g->nodes[0]->data,
       "but not in an output's");
    is(ggml_backend_buffer_get_usage(g->nodes[0]->buffer),
       GGML_BACKEND_BUFFER_USAGE_COMPUTE,
       "the buffer is marked as one to compute in");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

/* As many nodes, leafs and bytes, other edges: `late` reads t[0] again at the
 * end, when the plan of the other has given it away. */
static struct ggml_cgraph *
ladder(struct ggml_context *ctx, bool late)
{
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 16, 16);
    struct ggml_tensor *t[5];
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    t[0] = ggml_mul_mat(ctx, x, x);
    for (int i = 1; i < 4; i++)
        t[i] = ggml_mul_mat(ctx, t[i - 1], t[i - 1]);
    t[4] = ggml_mul_mat(ctx, t[3], t[late ? 0 : 3]);
    ggml_build_forward_expand(g, t[4]);
    return g;
}

static void
other_edges(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = ladder(ctx, false);

    ok(ggml_gallocr_alloc_graph(galloc, g) && run(g), "one graph");
    g = ladder(ctx, true);
    ok(ggml_gallocr_alloc_graph(galloc, g) && run(g),
       "another of as many nodes and bytes is planned anew");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

/* A sum that was planned as one of equals may not write over its second source
 * when that is a row to be repeated. */
static struct ggml_cgraph *
sum(struct ggml_context *ctx, int64_t rows)
{
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 16, 8);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 16, rows);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    ggml_set_output(a);
    ggml_build_forward_expand(g, ggml_add(ctx, a, b));
    return g;
}

static void
other_shapes(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = sum(ctx, 8), *h = sum(ctx, 1);

    ok(ggml_gallocr_alloc_graph(galloc, g) &&
           g->nodes[0]->data == g->nodes[0]->src[1]->data,
       "a sum may write over its second source");
    ok(ggml_gallocr_alloc_graph(galloc, h) &&
           h->nodes[0]->data != h->nodes[0]->src[1]->data,
       "unless that is repeated");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

static void
two_buffers(void)
{
    ggml_backend_buffer_type_t bufts[] = { ggml_backend_cpu_buffer_type(),
                                           &small_type,
                                           ggml_backend_cpu_buffer_type() };
    ggml_gallocr_t galloc = ggml_gallocr_new_n(bufts, 3);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = ladder(ctx, true), *h = chain(ctx, 0);
    int node_ids[] = { 0, 1, 1, 2, 1 }, leaf_ids[] = { 1 };
    size_t sizes[3];

    ggml_gallocr_reserve_n_size(galloc, g, node_ids, leaf_ids, sizes);
    ok(ggml_gallocr_reserve_n(galloc, g, node_ids, leaf_ids) &&
           ggml_gallocr_alloc_graph(galloc, g) && run(g),
       "two types of memory");
    ok(g->nodes[1]->buffer->buft == &small_type &&
           g->leafs[0]->buffer->buft == &small_type &&
           g->nodes[0]->buffer->buft == bufts[0] &&
           g->nodes[3]->buffer == g->nodes[0]->buffer,
       "each tensor where it was sent; one type, one buffer");
    ok(sizes[0] == 2048 &&
           sizes[0] == ggml_gallocr_get_buffer_size(galloc, 0) &&
           sizes[1] == ggml_gallocr_get_buffer_size(galloc, 1) && !sizes[2] &&
           !ggml_gallocr_get_buffer_size(galloc, 2),
       "sizes are reported once a type");
    ok(!ggml_gallocr_alloc_graph(galloc, h),
       "another graph needs its ids, and so fails");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

/* x1 = 2 x0 in one type of memory, x2 = 2 x1 in another. */
static struct ggml_cgraph *
two_steps(struct ggml_context *ctx)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    ggml_set_input(x);
    ggml_build_forward_expand(
        g, ggml_scale(ctx, ggml_scale(ctx, ggml_scale(ctx, x, 2), 2), 2));
    return g;
}

static void
places(void)
{
    ggml_backend_buffer_type_t bufts[] = { ggml_backend_cpu_buffer_type(),
                                           &small_type };
    int node_ids[] = { 0, 1, 1 }, leaf_ids[] = { 0 };
    struct ggml_context *ctx = context();
    ggml_gallocr_t galloc;

    for (int stay = 0; stay < 2; stay++) {
        struct ggml_cgraph *g = two_steps(ctx);

        galloc = ggml_gallocr_new_n(bufts, 2);
        if (stay)
            alloc_gallocr_stay(galloc);
        ok(ggml_gallocr_reserve_n(galloc, g, node_ids, leaf_ids) &&
               ggml_gallocr_alloc_graph(galloc, g) &&
               (g->nodes[1]->data == g->nodes[0]->data) == !stay &&
               (g->nodes[1]->buffer->buft == bufts[stay]),
           stay ? "unless results are to stay where they were sent"
                : "a result may lie over a source in another type of memory");
        ggml_gallocr_free(galloc);
    }
    ggml_free(ctx);
}

/* Sums a float of x, which has n of them, and one of y, which has m. */
static struct ggml_cgraph *
pair_of(struct ggml_context *ctx, int64_t n, int64_t m)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n);
    struct ggml_tensor *y = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, m);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    ggml_set_input(x);
    ggml_set_input(y);
    ggml_build_forward_expand(g, ggml_add(ctx, ggml_view_1d(ctx, x, 1, 0),
                                          ggml_view_1d(ctx, y, 1, 0)));
    return g;
}

/* Memory that must grow anywhere is as large as it must be everywhere. */
static void
other_chunks(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(&small_type);
    struct ggml_context *ctx = context();
    size_t first, second;

    ok(ggml_gallocr_alloc_graph(galloc, pair_of(ctx, 960, 512)),
       "memory of two pieces");
    first = ggml_gallocr_get_buffer_size(galloc, 0);
    ok(ggml_gallocr_alloc_graph(galloc, pair_of(ctx, 736, 736)),
       "of two others");
    second = ggml_gallocr_get_buffer_size(galloc, 0);
    ok(second <= first, "there is no more of it");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

/* Nodes that a back end computes in another order. */
static void
keeping(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();

    for (int kept = 0; kept < 2; kept++) {
        struct ggml_cgraph *g = two_steps(ctx);

        if (kept)
            alloc_gallocr_keep(galloc, g->nodes[0], g->nodes[2]);
        ok(ggml_gallocr_alloc_graph(galloc, g) &&
               (g->nodes[0]->data == g->nodes[1]->data) == !kept &&
               (g->nodes[0]->data == g->nodes[2]->data) == !kept,
           kept ? "what is kept is written over by nobody before that"
                : "a result over its source");
    }
    alloc_gallocr_keep_none(galloc);
    ok(ggml_gallocr_alloc_graph(galloc, two_steps(ctx)), "and then no more");
    ggml_free(ctx);
    ggml_gallocr_free(galloc);
}

int
main(void)
{
    in_place();
    other_edges();
    other_shapes();
    two_buffers();
    places();
    other_chunks();
    keeping();
    return tap_done();
}
