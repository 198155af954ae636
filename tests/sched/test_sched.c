/* test_sched.c - one graph over two back ends that cannot see each other's
 * memory; what is right is computed here, by hand */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "backend/impl.h"
#include "core/mem.h"
#include "fixtures/remote.h"
#include "harness/tap.h"

enum {
    N = 8,
    MAX_TOKENS = 6,
    LAYERS = 3
};

static ggml_backend_t far, near;

static struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 4 << 20, .no_alloc = true });
}

/* -- A model: x = relu(W[i] x) + x in each layer; W[i] in `buft[i]` -- */
struct model {
    struct ggml_context *ctx[LAYERS];
    struct ggml_tensor *w[LAYERS];
    ggml_backend_buffer_t buffer[LAYERS];
};

static float
weight(int layer, int row, int column)
{
    return (float)((row * 5 + column * 3 + layer * 7) % 11 - 5) / 8;
}

static void
load(struct model *m, const ggml_backend_buffer_type_t *bufts)
{
    for (int l = 0; l < LAYERS; l++) {
        float w[N * N];

        for (int i = 0; i < N * N; i++)
            w[i] = weight(l, i / N, i % N);
        m->ctx[l] = context();
        m->w[l] = ggml_new_tensor_2d(m->ctx[l], GGML_TYPE_F32, N, N);
        m->buffer[l] =
            ggml_backend_alloc_ctx_tensors_from_buft(m->ctx[l], bufts[l]);
        ggml_backend_buffer_set_usage(m->buffer[l],
                                      GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        ggml_backend_tensor_set(m->w[l], w, 0, sizeof(w));
    }
}

static void
unload(struct model *m)
{
    for (int l = 0; l < LAYERS; l++) {
        ggml_backend_buffer_free(m->buffer[l]);
        ggml_free(m->ctx[l]);
    }
}

static struct ggml_cgraph *
build(struct ggml_context *ctx, const struct model *m, int n_tokens)
{
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N, n_tokens);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);

    ggml_set_name(x, "x");
    ggml_set_input(x);
    for (int l = 0; l < LAYERS; l++) {
        struct ggml_tensor *y = ggml_mul_mat(ctx, m->w[l], x);

        ggml_format_name(y, "product-%d", l);
        y = ggml_relu(ctx, y);
        /* A view between two nodes, as models have them. */
        y = ggml_reshape_2d(ctx, y, N, n_tokens);
        x = ggml_add(ctx, y, x);
        ggml_format_name(x, "layer-%d", l);
    }
    ggml_set_output(x);
    ggml_build_forward_expand(g, x);
    return g;
}

static float
input(int seed, int i)
{
    return (float)((i * 7 + seed * 3) % 13 - 6) / 4;
}

static void
set_input(struct ggml_cgraph *g, int n_tokens, int seed)
{
    float x[N * MAX_TOKENS];

    for (int i = 0; i < N * n_tokens; i++)
        x[i] = input(seed, i);
    ggml_backend_tensor_set(ggml_graph_get_tensor(g, "x"), x, 0,
                            (size_t)(N * n_tokens) * sizeof(*x));
}

/* All values are multiples of a power of two, and sums of them are exact. */
static bool
right(struct ggml_cgraph *g, int n_tokens, int seed)
{
    float y[N * MAX_TOKENS];
    bool same = true;

    ggml_backend_tensor_get(ggml_graph_node(g, -1), y, 0,
                            (size_t)(N * n_tokens) * sizeof(*y));
    for (int t = 0; t < n_tokens; t++) {
        double x[N], next[N];

        for (int i = 0; i < N; i++)
            x[i] = input(seed, t * N + i);
        for (int l = 0; l < LAYERS; l++) {
            for (int i = 0; i < N; i++) {
                double sum = 0;

                for (int j = 0; j < N; j++)
                    sum += weight(l, i, j) * x[j];
                next[i] = (sum > 0 ? sum : 0) + x[i];
            }
            memcpy(x, next, sizeof(x));
        }
        for (int i = 0; i < N; i++)
            same &= (double)y[t * N + i] == x[i];
    }
    return same;
}

static bool
products_only(const struct ggml_tensor *op)
{
    return op->op == GGML_OP_MUL_MAT;
}

static ggml_backend_sched_t
scheduler(int n)
{
    ggml_backend_t both[] = { far, near };

    return n == 1 ? ggml_backend_sched_new(&near, NULL, 1, 2048, false, true)
                  : ggml_backend_sched_new(both, NULL, 2, 2048, false, true);
}

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

/* What works in place goes where its memory is, whatever was asked for. */
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

static jmp_buf back;

static void
jump(const char *message)
{
    (void)message;
    longjmp(back, 1);
}

static void
impossible(void)
{
    struct ggml_context *ctx = context();
    ggml_backend_sched_t s = scheduler(2);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y = ggml_sqr(ctx, x);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);

    y->op = GGML_OP_FLASH_ATTN_BACK; /* which nobody implements */
    ggml_build_forward_expand(g, y);
    ggml_set_abort_callback(jump);
    if (setjmp(back)) {
        ok(1, "what nobody can compute is said to be so");
    } else {
        ggml_backend_sched_alloc_graph(s, g);
        ok(0, "what nobody can compute is said to be so");
    }
    ggml_set_abort_callback(NULL);
    ggml_backend_sched_free(s);
    ggml_free(ctx);
}

static void
no_memory(void)
{
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    struct ggml_context *ctx = context();
    struct model m;
    struct ggml_cgraph *g;
    bool done = false;
    int n = 0;

    remote.supports = products_only;
    load(&m,
         (ggml_backend_buffer_type_t[]){ host, remote_buffer_type(), host });
    g = build(ctx, &m, 2);
    for (; !done && n < 1000; n++) {
        ggml_backend_sched_t s;

        mem_fail_after(n);
        s = scheduler(2);
        done = s && ggml_backend_sched_alloc_graph(s, g);
        mem_fail_after(-1);
        if (done) {
            set_input(g, 2, 1);
            ok(ggml_backend_sched_graph_compute(s, g) == GGML_STATUS_SUCCESS &&
                   right(g, 2, 1),
               "a graph after all that failed");
        } else {
            g = build(ctx, &m, 2);
        }
        ggml_backend_sched_free(s);
    }
    ok(done && n > 10, "each failing allocation is survived");
    remote.supports = NULL;
    unload(&m);
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
    near = ggml_backend_cpu_init();
    far = remote_init();
    alone();
    seams();
    neighbours();
    offload();
    reserved();
    watched();
    cache();
    in_place();
    impossible();
    no_memory();
    optimised();
    ggml_backend_free(near);
    ggml_backend_free(far);
    is(remote.n_buffers, 0, "all buffers are freed");
    return tap_done();
}
