/* test_sched.c - one graph over two back ends */
#include "sched_test.h"

static void
alone(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(1);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g;

    load(&m, (ggml_backend_buffer_type_t[]){ host, host, host });
    g = build(ctx, &m, 5);
    ok(ggml_backend_sched_get_n_backends(s) == 1 &&
           ggml_backend_sched_get_backend(s, 0) == near &&
           ggml_backend_sched_get_n_copies(s) == 1 &&
           ggml_backend_sched_get_buffer_type(s, near) == host,
       "a scheduler of one back end");
    ok(ggml_backend_sched_alloc_graph(s, g) &&
           ggml_backend_sched_get_n_splits(s) == 1,
       "does not cut");
    set_input(g, 5, 1);
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 5, 1),
       "and is right");
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_backend_sched_free(NULL);
    ggml_free(ctx);
}

/* The middle layer's weights are far away, and so its product is. */
static void
seams(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g;
    int sets, seeds = 0, computed;

    load(&m,
         (ggml_backend_buffer_type_t[]){ host, remote_buffer_type(), host });
    remote.supports = products_only;
    g = build(ctx, &m, 5);
    ok(ggml_backend_sched_alloc_graph(s, g) &&
           ggml_backend_sched_get_n_splits(s) == 3,
       "a graph is cut where the back end changes");
    ok(ggml_backend_sched_get_tensor_backend(
           s, ggml_graph_get_tensor(g, "product-1")) == far &&
           ggml_backend_sched_get_tensor_backend(
               s, ggml_graph_get_tensor(g, "product-0")) == near &&
           ggml_backend_sched_get_tensor_backend(
               s, ggml_graph_get_tensor(g, "layer-1")) == near,
       "products go where their weights are");
    ok(ggml_backend_sched_get_buffer_size(s, far) > 0 &&
           ggml_backend_sched_get_buffer_size(s, near) > 0,
       "both have memory to compute in");
    sets = remote.n_set;
    computed = remote.n_computed;
    for (int seed = 0; seed < 5; seed++) {
        set_input(g, 5, seed);
        seeds +=
            ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
            right(g, 5, seed);
    }
    is(seeds, 5, "an allocated graph is computed again and again");
    ok(remote.n_set == sets + 5 && remote.n_computed == computed + 5,
       "with one copy to the far side and one node there each time");
    ggml_backend_sched_reset(s);
    ok(!ggml_backend_sched_get_tensor_backend(
           s, ggml_graph_get_tensor(g, "product-1")),
       "a reset forgets");
    g = build(ctx, &m, 2);
    is(ggml_backend_sched_graph_compute(s, g), GGML_STATUS_SUCCESS,
       "a graph is allocated when it is computed");
    set_input(g, 2, 3);
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 2, 3),
       "and is right");
    remote.supports = NULL;
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

/* The far side can do all, and so does what touches its weights. */
static void
neighbours(void)
{
    ggml_backend_buffer_type_t there = remote_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g;

    load(&m, (ggml_backend_buffer_type_t[]){ there, there, there });
    g = build(ctx, &m, 3);
    ok(ggml_backend_sched_alloc_graph(s, g) &&
           ggml_backend_sched_get_n_splits(s) == 1 &&
           ggml_backend_sched_get_tensor_backend(
               s, ggml_graph_get_tensor(g, "layer-0")) == far,
       "neighbours of the far side go there");
    set_input(g, 3, 2);
    ok(ggml_backend_buffer_is_host(ggml_graph_get_tensor(g, "x")->buffer),
       "an input is where the program can write it");
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 3, 2),
       "the input is copied there");

    ggml_backend_sched_reset(s);
    g = build(ctx, &m, 3);
    for (int l = 0; l < LAYERS; l++) {
        char name[20];

        snprintf(name, sizeof(name), "layer-%d", l);
        ggml_backend_sched_set_tensor_backend(s, ggml_graph_get_tensor(g, name),
                                              near);
    }
    ok(ggml_backend_sched_alloc_graph(s, g) &&
           ggml_backend_sched_get_n_splits(s) == 6 &&
           ggml_backend_sched_get_tensor_backend(
               s, ggml_graph_get_tensor(g, "layer-0")) == near,
       "unless they are pinned");
    set_input(g, 3, 4);
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 3, 4),
       "which changes nothing else");
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

static void
offload(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g;

    load(&m, (ggml_backend_buffer_type_t[]){ host, host, host });
    remote.supports = products_only;
    remote.wants_offload = true;
    g = build(ctx, &m, 4);
    ok(ggml_backend_sched_alloc_graph(s, g) &&
           ggml_backend_sched_get_tensor_backend(
               s, ggml_graph_get_tensor(g, "product-2")) == far,
       "a back end may offer to take weights from the CPU");
    set_input(g, 4, 2);
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 4, 2),
       "they are copied");
    remote.supports = NULL;
    remote.wants_offload = false;
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

static void
reserved(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g;
    size_t sizes[2], nears, fars;
    int good = 0;

    remote.supports = products_only;
    load(&m,
         (ggml_backend_buffer_type_t[]){ host, remote_buffer_type(), host });
    g = build(ctx, &m, MAX_TOKENS);
    ggml_backend_sched_reserve_size(s, g, sizes);
    ok(ggml_backend_sched_reserve(s, g), "a worst case is reserved");
    nears = ggml_backend_sched_get_buffer_size(s, near);
    fars = ggml_backend_sched_get_buffer_size(s, far);
    ok(sizes[0] == fars && sizes[1] == nears && fars && nears,
       "with sizes that could be asked for before");
    /* The measured graph itself, and smaller ones. */
    for (int n = MAX_TOKENS; n > 0; n--) {
        if (n < MAX_TOKENS)
            g = build(ctx, &m, n);
        ggml_backend_sched_reset(s);
        good += ggml_backend_sched_alloc_graph(s, g);
        set_input(g, n, n);
        good += ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
                right(g, n, n);
    }
    is(good, 2 * MAX_TOKENS, "graphs within it are right");
    ok(nears == ggml_backend_sched_get_buffer_size(s, near) &&
           fars == ggml_backend_sched_get_buffer_size(s, far),
       "and need no other memory");
    remote.supports = NULL;
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

struct watch {
    int asked, seen, stop_at;
    char last[GGML_MAX_NAME];
};

static bool
on_node(struct ggml_tensor *t, bool ask, void *data)
{
    struct watch *w = data;

    if (ask) {
        w->asked++;
        return strncmp(t->name, "layer-", 6) == 0;
    }
    strcpy(w->last, t->name);
    return ++w->seen != w->stop_at;
}

static void
watched(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct watch w = { .stop_at = -1 };
    struct ggml_cgraph *g;

    remote.supports = products_only;
    load(&m,
         (ggml_backend_buffer_type_t[]){ host, remote_buffer_type(), host });
    g = build(ctx, &m, 2);
    ggml_backend_sched_alloc_graph(s, g);
    set_input(g, 2, 1);
    ggml_backend_sched_set_eval_callback(s, on_node, &w);
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
           right(g, 2, 1),
       "a watched graph is right");
    ok(w.asked == ggml_graph_n_nodes(g) && w.seen == 3 &&
           strcmp(w.last, "layer-2") == 0,
       "each node is asked about, what was wanted is shown");
    w.seen = 0;
    w.stop_at = 2;
    ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_ABORTED &&
           strcmp(w.last, "layer-1") == 0,
       "who watches may stop it");
    remote.supports = NULL;
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

/* A cache that lives far away is written by one node and read by the next. */
static void
cache(void)
{
    struct ggml_context *held = context(), *ctx = context();
    struct ggml_tensor *k = ggml_new_tensor_2d(held, GGML_TYPE_F32, N, 4);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(held, remote_buffer_type());
    ggml_backend_sched_t s = scheduler(2);
    int good = 0;

    ggml_backend_buffer_clear(buffer, 0);
    for (int i = 0; i < 4; i++) {
        struct ggml_cgraph *g;
        struct ggml_tensor *x, *sum;
        float row[N], out[4];

        ggml_reset(ctx);
        g = ggml_new_graph_custom(ctx, 64, false);
        x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
        ggml_set_input(x);
        ggml_build_forward_expand(
            g, ggml_cpy(ctx, x, ggml_view_1d(ctx, k, N, (size_t)i * k->nb[1])));
        sum = ggml_sum_rows(ctx, k);
        ggml_set_output(sum);
        ggml_backend_sched_set_tensor_backend(s, sum, near);
        ggml_build_forward_expand(g, sum);
        good += ggml_backend_sched_alloc_graph(s, g);
        for (int j = 0; j < N; j++)
            row[j] = (float)(i + 1);
        ggml_backend_tensor_set(x, row, 0, sizeof(row));
        good += ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS;
        ggml_backend_tensor_get(sum, out, 0, sizeof(out));
        for (int j = 0; j < 4; j++)
            good += out[j] == (float)(j <= i ? (j + 1) * N : 0);
        ggml_backend_sched_reset(s);
    }
    is(good, 4 * 6, "a cache is written before it is read");
    ggml_backend_sched_free(s);
    ggml_backend_buffer_free(buffer);
    ggml_free(held);
    ggml_free(ctx);
}

/* An op in place goes where its memory is, whatever was requested. */
static void
in_place(void)
{
    ggml_backend_buffer_type_t there = remote_buffer_type();
    struct model m;
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N), *y, *z;
    float ones[N], out[N];
    bool same = true;

    load(&m, (ggml_backend_buffer_type_t[]){ there, there, there });
    ggml_set_input(x);
    y = ggml_scale_inplace(ctx, ggml_mul_mat(ctx, m.w[0], x), 2);
    z = ggml_sqr(ctx, y);
    ggml_set_output(z);
    ggml_build_forward_expand(g, z);
    ggml_backend_sched_set_tensor_backend(s, y, near);
    ggml_backend_sched_set_tensor_backend(s, z, near);
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    same &= ggml_backend_sched_alloc_graph(s, g);
    ggml_backend_tensor_set(x, ones, 0, sizeof(ones));
    same &= ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS;
    ggml_backend_tensor_get(z, out, 0, sizeof(out));
    for (int i = 0; i < N; i++) {
        float sum = 0;

        for (int j = 0; j < N; j++)
            sum += weight(0, i, j);
        same &= out[i] == 4 * sum * sum;
    }
    ok(same && ggml_backend_sched_get_tensor_backend(s, y) == far &&
           ggml_backend_sched_get_tensor_backend(s, z) == near,
       "what works in place goes where its memory is");
    unload(&m);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

static int n_seen;

/* The first of a graph's results is kept to the end. */
static void
keep_first(ggml_backend_t backend, struct ggml_cgraph *graph,
           struct ggml_backend_graph_optimize_params *params)
{
    (void)backend;
    n_seen += ggml_graph_n_nodes(graph);
    params->add_alloc_dep(params->user_data, ggml_graph_node(graph, 0),
                          ggml_graph_node(graph, -1));
}

/* A back end sees what it will compute, and says what must not be given away
 * meanwhile. */
static void
optimised(void)
{
    const struct ggml_backend_i *own = near->iface;
    struct ggml_backend_i iface = *own;
    struct ggml_context *ctx = context();

    iface.graph_optimize = keep_first;
    for (int kept = 0; kept < 2; kept++) {
        ggml_backend_sched_t s =
            ggml_backend_sched_new(&near, NULL, 1, 16, false, false);
        struct ggml_cgraph *g = ggml_new_graph(ctx);
        struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N), *y;

        near->iface = kept ? &iface : own;
        ggml_set_input(x);
        y = ggml_scale(ctx, x, 2);
        ggml_build_forward_expand(g, ggml_scale(ctx, ggml_scale(ctx, y, 2), 2));
        ok(ggml_backend_sched_alloc_graph(s, g) &&
               (y->data == ggml_graph_node(g, 1)->data) == !kept,
           kept ? "a back end keeps a result" : "results over results");
        ggml_backend_sched_free(s);
    }
    is(n_seen, 3, "all nodes were shown once");
    near->iface = own;
    ggml_free(ctx);
}

int
main(void)
{
    begin();
    alone();
    seams();
    neighbours();
    offload();
    reserved();
    watched();
    cache();
    in_place();
    optimised();
    end();
    return tap_done();
}
