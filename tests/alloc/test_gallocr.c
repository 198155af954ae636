/* test_gallocr.c - the allocator of graphs: in random ones nobody's memory is
 * taken while it is needed */
#include "alloc_test.h"
#include "core/mem.h"

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
    no_memory();
    speed();
    ggml_gallocr_free(NULL);
    return tap_done();
}
