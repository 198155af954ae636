/* test_gallocr.c - the allocators: nobody's memory is taken while it is needed
 *
 * Random graphs are allocated and then run with a stand-in for computing: a
 * node checks that each source still holds that source's number, and fills
 * its own memory with its own. */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/measure.h"
#include "backend/impl.h"
#include "core/mem.h"
#include "harness/tap.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

static struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 4 << 20, .no_alloc = true });
}

/* -- Memory that comes in pieces of at most `piece` bytes -- */
static size_t piece = 4096;
static int n_buffers;

static const char *
small_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "small";
}

static ggml_backend_buffer_t
small_alloc(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;

    if (size > piece)
        return NULL;
    buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
    if (buffer)
        buffer->buft = buft;
    n_buffers++;
    return buffer;
}

static size_t
small_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 64;
}

static size_t
small_max(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return piece;
}

static bool
small_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static const struct ggml_backend_buffer_type_i small_iface = {
    .get_name = small_name,
    .alloc_buffer = small_alloc,
    .get_alignment = small_alignment,
    .get_max_size = small_max,
    .is_host = small_host,
};
static struct ggml_backend_buffer_type small_type = { .iface = &small_iface };

/* -- Computing with numbers -- */

static const struct ggml_tensor *
root(const struct ggml_tensor *t)
{
    return t->view_src ? t->view_src : t;
}

static void
fill(const struct ggml_tensor *t)
{
    int32_t *p = root(t)->data;

    for (int64_t i = 0; i < ggml_nelements(root(t)); i++)
        p[i] = (int32_t)((intptr_t)root(t) >> 4);
}

static bool
holds(const struct ggml_tensor *t)
{
    const int32_t *p = root(t)->data;

    for (int64_t i = 0; i < ggml_nelements(root(t)); i++)
        if (p[i] != (int32_t)((intptr_t)root(t) >> 4))
            return false;
    return true;
}

static bool
is_source(const struct ggml_cgraph *g, const struct ggml_tensor *t)
{
    for (int i = 0; i < g->n_nodes; i++)
        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (g->nodes[i]->src[j] == t)
                return true;
    return false;
}

static bool
run(struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_leafs; i++)
        fill(g->leafs[i]);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->flags & GGML_TENSOR_FLAG_INPUT)
            fill(g->nodes[i]);
    for (int i = 0; i < g->n_nodes; i++) {
        struct ggml_tensor *t = g->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (t->src[j] && t->src[j] != t && !holds(t->src[j]))
                return false;
        if (!tensor_is_view_op(t->op))
            fill(t);
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const struct ggml_tensor *t = g->nodes[i];

        if ((t->flags & GGML_TENSOR_FLAG_OUTPUT || !is_source(g, t)) &&
            !holds(t))
            return false;
    }
    return true;
}

/* -- Random graphs -- */

static struct ggml_tensor *
grow(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
     int kind)
{
    switch (kind) {
    case 0:
        return ggml_can_repeat(b, a) ? ggml_add(ctx, a, b) : ggml_sqr(ctx, a);
    case 1:
        return ggml_sqrt(ctx, a);
    case 2:
        return ggml_reshape_1d(ctx, ggml_cont(ctx, a), ggml_nelements(a));
    case 3:
        return ggml_view_1d(ctx, a, (a->ne[0] + 1) / 2, 0);
    case 4:
        return tensor_has_even_rows(a) ? ggml_scale_inplace(ctx, a, 2)
                                       : ggml_cont(ctx, a);
    case 5:
        return ggml_cast(ctx, a, GGML_TYPE_I32);
    case 6:
        return ggml_cont(ctx, ggml_transpose(ctx, a));
    default:
        return ggml_can_repeat(a, b) ? ggml_mul(ctx, b, a)
                                     : ggml_concat(ctx, a, a, 1);
    }
}

static struct ggml_cgraph *
random_graph(struct ggml_context *ctx, unsigned seed, int n, int scale)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 400, false);
    struct ggml_tensor *t[200];

    srand(seed);
    for (int i = 0; i < n; i++) {
        if (i < 4) {
            t[i] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32,
                                      (1 + rand() % 3) * 8 * scale,
                                      1 + rand() % 2);
        } else {
            int from = i > 12 ? i - 12 : 0;
            struct ggml_tensor *a = t[from + rand() % (i - from)];

            if (ggml_nelements(a) > 100 * scale)
                a = t[rand() % 4];
            t[i] = grow(ctx, a, t[from + rand() % (i - from)], rand() % 8);
        }
        if (t[i]->type == GGML_TYPE_I32)
            t[i] = ggml_cast(ctx, t[i], GGML_TYPE_F32);
        if (rand() % 12 == 0)
            ggml_set_output(t[i]);
        if (rand() % 12 == 0 && !t[i]->view_src)
            ggml_set_input(t[i]);
        if (i > n - 5)
            ggml_build_forward_expand(g, t[i]);
    }
    return g;
}

static void
random_graphs(ggml_backend_buffer_type_t buft, const char *name)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(buft);
    int good = 0, saved = 0;

    for (unsigned seed = 0; seed < 300; seed++) {
        struct ggml_context *ctx = context();
        struct ggml_cgraph *g = random_graph(ctx, seed, 40 + seed % 100, 1);
        ggml_gallocr_t own = ggml_gallocr_new(buft);
        size_t total = 0;

        for (int i = 0; i < g->n_nodes; i++)
            total += ggml_is_view(g->nodes[i]) ? 0 : ggml_nbytes(g->nodes[i]);
        good += ggml_gallocr_alloc_graph(own, g) && run(g);
        saved += ggml_gallocr_get_buffer_size(own, 0) < total;
        ggml_gallocr_free(own);
        ggml_free(ctx);

        ctx = context();
        g = random_graph(ctx, seed, 40 + seed % 100, 1);
        good += ggml_gallocr_alloc_graph(galloc, g) && run(g);
        ggml_free(ctx);
    }
    is(good, 600, name);
    ok(saved > 200, "and share memory");
    ggml_gallocr_free(galloc);
}

/* A plan for large tensors serves small ones of the same graph. */
static void
worst_case(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    int good = 0, n = 0;

    for (unsigned seed = 0; seed < 40; seed++) {
        struct ggml_context *ctx = context();
        struct ggml_cgraph *g = random_graph(ctx, seed, 60, 5);
        size_t size;
        char *base;

        good += ggml_gallocr_reserve(galloc, g);
        size = ggml_gallocr_get_buffer_size(galloc, 0);
        for (int scale = 1; scale <= 5; scale++) {
            struct ggml_cgraph *h = random_graph(ctx, seed, 60, scale);
            ggml_backend_buffer_t buffer;

            good += ggml_gallocr_alloc_graph(galloc, h) && run(h);
            buffer = root(h->nodes[0])->buffer;
            base = ggml_backend_buffer_get_base(buffer);
            good += ggml_gallocr_get_buffer_size(galloc, 0) == size &&
                    (char *)h->nodes[0]->data >= base &&
                    (char *)h->nodes[0]->data < base + size;
            good += ggml_gallocr_alloc_graph(galloc, h); /* once more */
            n += 3;
        }
        n++;
        ggml_free(ctx);
    }
    is(good, n, "a worst case that was reserved serves smaller graphs");
    ggml_gallocr_free(galloc);
}

/* Three tensors of 1024 floats; a square root of a square of x. */
static struct ggml_cgraph *
chain(struct ggml_context *ctx, int flag)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1024);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    x->flags |= flag;
    ggml_build_forward_expand(g, ggml_sqrt(ctx, ggml_sqr(ctx, x)));
    return g;
}

static void
in_place(void)
{
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = chain(ctx, GGML_TENSOR_FLAG_INPUT);
    size_t size;

    ggml_gallocr_reserve_n_size(galloc, g, NULL, NULL, &size);
    ok(size == 4096 && ggml_gallocr_get_buffer_size(galloc, 0) == 0,
       "a size can be asked for without memory");
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

/* What was planned as a sum of equals may not write over its second source
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

static void
no_memory(void)
{
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = random_graph(ctx, 3, 60, 1);
    ggml_gallocr_t galloc;
    bool done = false;
    int n = 0;

    for (; !done && n < 1000; n++) {
        mem_fail_after(n);
        galloc = ggml_gallocr_new(&small_type);
        done = galloc && ggml_gallocr_alloc_graph(galloc, g);
        mem_fail_after(-1);
        if (done)
            ok(run(g), "a graph after n allocations that failed");
        ggml_gallocr_free(galloc);
    }
    ok(done && n > 5, "each failing allocation is survived");
    ggml_free(ctx);

    ctx = context();
    piece = 1024;
    galloc = ggml_gallocr_new(&small_type);
    ok(!ggml_gallocr_alloc_graph(galloc, chain(ctx, 0)),
       "a tensor that no buffer can hold is refused");
    piece = 4096;
    ok(ggml_gallocr_alloc_graph(galloc, chain(ctx, 0)), "and then not");
    ggml_gallocr_free(galloc);
    ggml_free(ctx);
}

static void
one_after_another(void)
{
    static _Alignas(64) char memory[4096];
    ggml_backend_buffer_t buffer =
        ggml_backend_cpu_buffer_from_ptr(memory + 32, sizeof(memory) - 32);
    struct ggml_tallocr talloc = ggml_tallocr_new(buffer);
    struct ggml_context *ctx = context();
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);

    ggml_tallocr_alloc(&talloc, a);
    ggml_tallocr_alloc(&talloc, b);
    ok((uintptr_t)a->data % talloc.alignment == 0 &&
           (char *)a->data >= memory + 32 &&
           (char *)b->data == (char *)a->data + talloc.alignment &&
           a->buffer == buffer,
       "tensors lie one after another, aligned");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
whole_context(void)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *t[10], *v;
    ggml_backend_buffer_t buffer;
    size_t total;
    bool apart = true;
    int n;

    for (int i = 0; i < 10; i++)
        t[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 300);
    v = ggml_view_1d(ctx, t[7], 10, 40);
    for (n = 0;; n++) {
        mem_fail_after(n);
        buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, &small_type);
        mem_fail_after(-1);
        if (buffer)
            break;
        apart &= !t[0]->buffer && !t[9]->data;
    }
    ok(n > 3 && apart, "when there is no memory, nothing is left behind");
    n_buffers = 0;
    total = ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, &small_type);
    is(total, 0, "what is allocated needs nothing");
    for (int i = 0; i < 10; i++)
        fill(t[i]);
    for (int i = 0; i < 10; i++)
        apart &= holds(t[i]) && t[i]->buffer;
    ok(apart && t[0]->buffer == t[2]->buffer && t[2]->buffer != t[3]->buffer,
       "a context is spread over buffers of the largest size");
    ok(v->data == (char *)t[7]->data + 40 && v->buffer == t[7]->buffer,
       "views find their source");
    is(ggml_backend_buffer_get_size(buffer), 10 * 1216,
       "together they are one");
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    is(ggml_backend_buffer_get_usage(t[9]->buffer),
       GGML_BACKEND_BUFFER_USAGE_WEIGHTS, "marked as one");
    ggml_backend_buffer_clear(buffer, 0);
    ok(((float *)t[0]->data)[7] == 0 && ((float *)t[9]->data)[7] == 0,
       "cleared as one");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);

    ctx = context();
    ok(!ggml_backend_alloc_ctx_tensors_from_buft(ctx, &small_type),
       "an empty context has no buffer");
    ggml_free(ctx);
}

static ggml_backend_buffer_t
alloc_all(ggml_backend_buffer_type_t buft, struct ggml_tensor **tensors, int n)
{
    (void)tensors;
    return ggml_backend_buft_alloc_buffer(buft, (size_t)n * 1000);
}

static size_t
size_of_all(ggml_backend_buffer_type_t buft, struct ggml_tensor **tensors,
            int n)
{
    (void)buft;
    (void)tensors;
    return (size_t)n * 1000;
}

/* Some tensors of a context; a type of memory may do as it likes. */
static void
lists(void)
{
    ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
    struct ggml_backend_buffer_type_i iface = *cpu->iface;
    struct ggml_backend_buffer_type own = { &iface, cpu->device, cpu->context };
    struct ggml_context *ctx = context();
    struct ggml_tensor *t[3];
    ggml_backend_buffer_t buffer;

    for (int i = 0; i < 3; i++)
        t[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    is(ggml_backend_buft_get_alloc_size_n(cpu, t, 2), 128,
       "what two tensors take");
    buffer = ggml_backend_buft_alloc_buffer_n(cpu, t, 2);
    ok(buffer && t[0]->buffer == buffer && t[1]->buffer == buffer &&
           t[0]->data != t[1]->data && !t[2]->buffer,
       "these two lie in a buffer, the third does not");
    ok(!ggml_backend_buft_alloc_buffer_n(cpu, t, 2),
       "for those that have memory there is none to allocate");
    ggml_backend_buffer_free(buffer);
    iface.alloc_buffer_n = alloc_all;
    iface.get_alloc_size_n = size_of_all;
    buffer = ggml_backend_buft_alloc_buffer_n(&own, t, 3);
    ok(ggml_backend_buft_get_alloc_size_n(&own, t, 3) == 3000 &&
           ggml_backend_buffer_get_size(buffer) >= 3000,
       "a type's own ways come first");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
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

/* x of so many floats, y, and what is as large as x. */
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

/* What a back end computes in another order. */
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

/* A graph as large as a model's is put into its memory for each token. */
static void
speed(void)
{
    enum {
        ROUNDS = 200
    };
    ggml_gallocr_t galloc = ggml_gallocr_new(ggml_backend_cpu_buffer_type());
    struct ggml_context *ctx = context();
    int64_t spent = 0, start;
    struct ggml_cgraph *g = NULL;

    for (int i = 0; i < ROUNDS; i++) {
        ggml_reset(ctx);
        g = random_graph(ctx, 1, 200, 1);
        start = ggml_time_us();
        ggml_gallocr_alloc_graph(galloc, g);
        spent += ggml_time_us() - start;
    }
    printf("# %d nodes and leafs: %.1f us a graph\n", g->n_nodes + g->n_leafs,
           (double)spent / ROUNDS);
    ok(spent / ROUNDS < 2000, "allocating again is quick");
    ggml_gallocr_free(galloc);
    ggml_free(ctx);
}

int
main(void)
{
    random_graphs(ggml_backend_cpu_buffer_type(), "random graphs in one piece");
    piece = 832;
    random_graphs(&small_type, "random graphs in small pieces");
    ok(n_buffers > 400, "more than one a graph");
    piece = 4096;
    worst_case();
    in_place();
    other_edges();
    other_shapes();
    two_buffers();
    no_memory();
    one_after_another();
    whole_context();
    lists();
    places();
    other_chunks();
    keeping();
    speed();
    ggml_gallocr_free(NULL);
    return tap_done();
}
