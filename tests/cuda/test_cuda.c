/* test_cuda.c - the CUDA back end over a run-time in the host's memory */
#include <stdlib.h>
#include <string.h>
#include <ggml-cpu.h>

#include "cuda/backend.h"
#include "cuda/fake.h"
#include "harness/tap.h"
#include "tensor/graph.h"

ggml_backend_reg_t
ggml_backend_init(void);

static ggml_backend_dev_t
device(size_t i)
{
    return ggml_backend_reg_dev_get(ggml_backend_reg_by_name("CUDA"), i);
}

static ggml_backend_t
start(size_t i)
{
    return ggml_backend_dev_init(device(i), NULL);
}

static struct ggml_context *
new_context(void)
{
    return ggml_init((struct ggml_init_params){
        .mem_size = 256 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    });
}

static void
test_devices(void)
{
    struct ggml_backend_dev_props props;
    ggml_backend_t backend = start(1);

    is(ggml_backend_reg_dev_count(ggml_backend_reg_by_name("cuda")), 2,
       "two devices are found");
    ggml_backend_dev_get_props(device(1), &props);
    ok(!strcmp(props.name, "CUDA1") &&
           props.type == GGML_BACKEND_DEVICE_TYPE_GPU && props.caps.async &&
           props.caps.events,
       "a device says what it is");
    ok(props.memory_total == 64u << 20 &&
           props.memory_free <= props.memory_total,
       "and how much memory it has");
    ok(!strcmp(ggml_backend_name(backend), "CUDA1"), "a back end of it starts");
    ok(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) == device(0),
       "the first is found by its type");
    ggml_backend_free(backend);
}

/* ---- buffers ------------------------------------------------------------ */

static bool
is_all(const char *p, size_t n, char value)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != value)
            return false;
    return true;
}

static void
test_buffers(void)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, 1000);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, 1000);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_dev_buffer_type(device(0)));
    char in[1000], out[1000];

    for (int i = 0; i < 1000; i++)
        in[i] = (char)(i * 7);
    ok(!ggml_backend_buffer_is_host(buffer), "the device's memory is its own");
    ok((uintptr_t)a->data % 256 == 0 && (uintptr_t)b->data % 256 == 0,
       "tensors are aligned");
    ggml_backend_buffer_clear(buffer, 3);
    ggml_backend_tensor_get(b, out, 0, 1000);
    ok(is_all(out, 1000, 3), "a buffer is cleared");
    ggml_backend_tensor_set(a, in, 0, 1000);
    ggml_backend_tensor_get(a, out, 100, 800);
    ok(!memcmp(out, in + 100, 800), "a part of a tensor comes back");
    ggml_backend_tensor_memset(a, 9, 10, 20);
    ggml_backend_tensor_copy(a, b);
    ggml_backend_tensor_get(b, out, 0, 1000);
    memset(in + 10, 9, 20);
    ok(!memcmp(out, in, 1000), "a tensor is filled in part, and copied");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
test_memory(void)
{
    ggml_backend_buffer_type_t buft = ggml_backend_dev_buffer_type(device(0));
    ggml_backend_buffer_type_t pinned =
        ggml_backend_dev_host_buffer_type(device(0));
    size_t before = fake.allocated;
    ggml_backend_buffer_t one = ggml_backend_buft_alloc_buffer(buft, 40 << 20);
    ggml_backend_buffer_t two = ggml_backend_buft_alloc_buffer(buft, 40 << 20);
    ggml_backend_buffer_t host = ggml_backend_buft_alloc_buffer(pinned, 1000);

    ok(one && !two, "a buffer that doesn't fit is not to be had");
    ok(!cuda_device_error((struct cuda_device *)device(0)),
       "and that is no failure of the device");
    ggml_backend_buffer_free(one);
    two = ggml_backend_buft_alloc_buffer(buft, 40 << 20);
    ok(two != NULL, "once there is room it is");
    ggml_backend_buffer_free(two);
    is(fake.allocated, before, "all memory is given back");
    ok(host && ggml_backend_buffer_is_host(host),
       "pinned memory is the host's");
    ggml_backend_buffer_clear(host, 5);
    ok(is_all(ggml_backend_buffer_get_base(host), 1000, 5),
       "and works as such");
    ggml_backend_buffer_free(host);
}

/* ---- streams ------------------------------------------------------------ */

struct pair {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *x, *y;
};

static struct pair
new_pair(size_t dev)
{
    struct pair p = { .ctx = new_context() };

    p.x = ggml_new_tensor_1d(p.ctx, GGML_TYPE_F32, 64);
    p.y = ggml_new_tensor_1d(p.ctx, GGML_TYPE_F32, 64);
    p.buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        p.ctx, ggml_backend_dev_buffer_type(device(dev)));
    return p;
}

static void
free_pair(struct pair *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_free(p->ctx);
}

static void
test_streams(void)
{
    ggml_backend_t one = start(0), two = start(0), other = start(1);
    struct pair p = new_pair(0), q = new_pair(1);
    ggml_backend_event_t event = ggml_backend_event_new(device(0));
    float in[64], out[64];

    for (int i = 0; i < 64; i++)
        in[i] = (float)i;
    ggml_backend_tensor_set_async(one, p.x, in, 0, sizeof(in));
    ggml_backend_event_record(event, one);
    ggml_backend_event_wait(two, event);
    ggml_backend_tensor_copy_async(two, two, p.x, p.y);
    ggml_backend_tensor_get_async(two, p.y, out, 0, sizeof(out));
    ggml_backend_synchronize(two);
    ok(!memcmp(in, out, sizeof(in)), "a stream waits for another's event");
    in[3] = -1;
    ggml_backend_tensor_set_async(one, p.x, in, 0, sizeof(in));
    ggml_backend_event_record(event, one);
    in[3] = -2; /* what is not pinned was taken at once */
    ggml_backend_event_synchronize(event);
    ggml_backend_tensor_get(p.x, out, 0, sizeof(out));
    is(out[3], -1, "the program waits for an event");
    ggml_backend_tensor_set_async(one, p.x, in, 0, sizeof(in));
    ggml_backend_tensor_copy_async(one, other, p.x, q.y);
    ggml_backend_tensor_get_async(other, q.y, out, 0, sizeof(out));
    ggml_backend_synchronize(other);
    ok(!memcmp(in, out, sizeof(in)), "a copy to another device comes after "
                                     "the work of the first");
    in[3] = 4;
    ggml_backend_tensor_set_async(one, p.x, in, 0, sizeof(in));
    ggml_backend_tensor_copy_async(one, other, p.x, q.y);
    in[3] = 5;
    ggml_backend_tensor_set_async(one, p.x, in, 0, sizeof(in));
    ggml_backend_synchronize(one);
    ggml_backend_tensor_get_async(other, q.y, out, 0, sizeof(out));
    ggml_backend_synchronize(other);
    is(out[3], 4, "and before what the first does next");
    ggml_backend_event_free(event);
    free_pair(&p);
    free_pair(&q);
    ggml_backend_free(one);
    ggml_backend_free(two);
    ggml_backend_free(other);
}

/* ---- graphs ------------------------------------------------------------- */

/* y = rms_norm(x + x) * 2, out = y * (x + x): something is read twice. */
struct small {
    struct ggml_context *ctx;
    struct ggml_tensor *x, *out;
    struct ggml_cgraph *graph;
};

static struct small
new_small(int n)
{
    struct small s = { .ctx = new_context() };
    struct ggml_tensor *twice, *y;

    s.x = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, n);
    ggml_set_input(s.x);
    twice = ggml_add(s.ctx, s.x, s.x);
    y = ggml_scale(s.ctx, ggml_rms_norm(s.ctx, twice, 1e-5f), 2);
    s.out = ggml_mul(s.ctx, ggml_reshape_2d(s.ctx, y, n / 2, 2),
                     ggml_reshape_2d(s.ctx, twice, n / 2, 2));
    ggml_set_output(s.out);
    s.graph = ggml_new_graph(s.ctx);
    ggml_build_forward_expand(s.graph, s.out);
    return s;
}

static void
compute(ggml_backend_sched_t sched, struct small *s, float first, float *out)
{
    float in[64];

    for (int i = 0; i < 64; i++)
        in[i] = first + (float)i;
    ggml_backend_tensor_set(s->x, in, 0, sizeof(in));
    ggml_backend_sched_graph_compute(sched, s->graph);
    ggml_backend_tensor_get(s->out, out, 0, sizeof(in));
}

static void
compute_on_cpu(float first, float *out)
{
    ggml_backend_t cpu = ggml_backend_cpu_init();
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(&cpu, NULL, 1, 64, false, false);
    struct small s = new_small(64);

    ggml_backend_sched_alloc_graph(sched, s.graph);
    compute(sched, &s, first, out);
    ggml_backend_sched_free(sched);
    ggml_backend_free(cpu);
    ggml_free(s.ctx);
}

static void
test_replay(void)
{
    ggml_backend_t backends[] = { start(0), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false, false);
    struct cuda *cuda = (struct cuda *)backends[0];
    float out[64], right[64];
    bool same = true;

    for (int graph = 0; graph < 3; graph++) {
        struct small s = new_small(64);

        ggml_backend_sched_reset(sched);
        ok(ggml_backend_sched_alloc_graph(sched, s.graph), "a graph has room");
        for (int i = 0; i < 4; i++) {
            compute(sched, &s, (float)(10 * graph + i), out);
            compute_on_cpu((float)(10 * graph + i), right);
            same &= !memcmp(out, right, sizeof(out));
        }
        ggml_free(s.ctx);
    }
    ok(same, "every computation gives what the CPU gives");
    ok(cuda->n_captures == 3 && cuda->n_replays == 9,
       "what comes again is captured once, and replayed");
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
}

/* Captures of products of `columns` columns: computed three times. */
static int
captures_of(int columns)
{
    ggml_backend_t backends[] = { start(0), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false, false);
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, columns);
    struct ggml_tensor *y = ggml_add(ctx, x, x);
    struct ggml_tensor *w = ggml_view_2d(ctx, y, 4, 2, y->nb[1], 0);
    struct ggml_tensor *out = ggml_mul_mat(ctx, w, y);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    int n;

    ggml_set_input(x);
    ggml_set_output(out);
    ggml_build_forward_expand(graph, out);
    ggml_backend_sched_set_tensor_backend(sched, y, backends[0]);
    ggml_backend_sched_set_tensor_backend(sched, out, backends[0]);
    ggml_backend_sched_alloc_graph(sched, graph);
    ggml_backend_tensor_memset(x, 0, 0, ggml_nbytes(x));
    for (int i = 0; i < 3; i++)
        ggml_backend_sched_graph_compute(sched, graph);
    n = (int)((struct cuda *)backends[0])->n_captures;
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(ctx);
    return n;
}

/* A graph that nobody scheduled has no serial number. */
static void
test_plain(void)
{
    ggml_backend_t backend = start(0);
    struct cuda *cuda = (struct cuda *)backend;
    struct small s = new_small(64);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(s.ctx, backend);
    float in[64], out[64], right[64];

    for (int i = 0; i < 64; i++)
        in[i] = (float)i;
    ggml_backend_tensor_set(s.x, in, 0, sizeof(in));
    for (int i = 0; i < 3; i++)
        ggml_backend_graph_compute(backend, s.graph);
    ggml_backend_tensor_get(s.out, out, 0, sizeof(out));
    compute_on_cpu(0, right);
    ok(!memcmp(out, right, sizeof(out)), "a graph is computed without a "
                                         "scheduler");
    is(cuda->n_captures, 0, "and is not captured");
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(s.ctx);
}

static const struct profile_kind *
kind_of(const struct backend_profile *p, const char *name)
{
    for (int i = 0; i < p->n_kinds; i++)
        if (!strcmp(p->kinds[i].name, name))
            return &p->kinds[i];
    return NULL;
}

/* The tests' device takes a microsecond for a launch. */
static void
test_profile(void)
{
    ggml_backend_t backends[] = { start(0), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false, false);
    struct cuda *cuda = (struct cuda *)backends[0];
    struct backend_profile *p = backend_profile_new(1);
    struct small s = new_small(64);
    const struct profile_kind *norm, *mul;
    float out[64], right[64];
    backend_set_profile_t set;
    void *address = ggml_backend_reg_get_proc_address(
        ggml_backend_reg_by_name("CUDA"), BACKEND_SET_PROFILE);

    memcpy(&set, &address, sizeof(address));
    set(backends[0], p);
    for (int i = 0; i < ggml_graph_n_nodes(s.graph); i++)
        ggml_backend_sched_set_tensor_backend(
            sched, ggml_graph_node(s.graph, i), backends[0]);
    ggml_backend_sched_alloc_graph(sched, s.graph);
    for (int i = 0; i < 3; i++)
        compute(sched, &s, 5, out);
    compute_on_cpu(5, right);
    norm = kind_of(p, "RMS_NORM");
    mul = kind_of(p, "MUL");
    ok(norm && norm->calls == 3 && norm->ns >= 3000 &&
           !strcmp(norm->device, "CUDA0"),
       "the time of each kind of node is counted");
    ok(mul && mul->calls == 3 && mul->bytes == 3 * 3 * 256 &&
           !memcmp(out, right, sizeof(out)),
       "of all of them, and results are as ever");
    is(cuda->n_captures, 0, "nothing is replayed meanwhile");
    set(backends[0], NULL);
    for (int i = 0; i < 3; i++)
        compute(sched, &s, 5, out);
    ok(norm->calls == 3 && cuda->n_replays == 2, "when it has ended it is");
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    backend_profile_free(p);
    ggml_free(s.ctx);
}

static void
test_splits(void)
{
    ggml_backend_t backends[] = { start(0), start(1), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 3, 64, false, false);
    float out[64], right[64];
    bool same = true;
    int most = 0;

    for (int pattern = 0; pattern < 81; pattern++) {
        struct small s = new_small(64);
        int n = pattern;

        ggml_backend_sched_reset(sched);
        for (int i = 0; i < ggml_graph_n_nodes(s.graph); i++) {
            struct ggml_tensor *t = ggml_graph_node(s.graph, i);

            if (t->op == GGML_OP_RESHAPE)
                continue;
            ggml_backend_sched_set_tensor_backend(sched, t, backends[n % 3]);
            n /= 3;
        }
        ggml_backend_sched_alloc_graph(sched, s.graph);
        for (int i = 0; i < 3; i++) {
            compute(sched, &s, (float)i, out);
            compute_on_cpu((float)i, right);
            same &= !memcmp(out, right, sizeof(out));
        }
        if (ggml_backend_sched_get_n_splits(sched) > most)
            most = ggml_backend_sched_get_n_splits(sched);
        ggml_free(s.ctx);
    }
    ok(most >= 4, "graphs were cut in pieces");
    ok(same, "however a graph is cut, it gives what the CPU gives");
    ggml_backend_sched_free(sched);
    for (int i = 0; i < 3; i++)
        ggml_backend_free(backends[i]);
}

/* ---- scratch memory ----------------------------------------------------- */

static void
test_pool(void)
{
    ggml_backend_t backend = start(0);
    struct cuda *cuda = (struct cuda *)backend;
    char *a = cuda_scratch(&cuda->ctx, 100), *b = cuda_scratch(&cuda->ctx, 1);
    char *c = cuda_scratch(&cuda->ctx, 8 << 20), *d;

    ok((uintptr_t)a % 256 == 0 && b == a + 256, "pieces follow one another");
    ok(c && (c + (8 << 20) <= a || c >= b + 256), "a large one lies elsewhere");
    cuda_pool_reset(&cuda->pool);
    d = cuda_scratch(&cuda->ctx, 8 << 20);
    ok(cuda->pool.grown == 2 && d, "the next node finds room for as much");
    ok(!cuda_scratch(&cuda->ctx, (size_t)1 << 40) && cuda->ctx.failed,
       "what is not to be had is NULL");
    ggml_backend_free(backend);
}

/* Products of one tensor; then it is written over, and multiplied again. */
struct shared {
    struct ggml_context *ctx;
    struct ggml_tensor *w[4], *x, *out;
    struct ggml_cgraph *graph;
};

static struct shared
new_shared(void)
{
    struct shared s = { .ctx = new_context() };
    struct ggml_tensor *twice, *sum;

    s.x = ggml_new_tensor_2d(s.ctx, GGML_TYPE_F32, 32, 2);
    for (int i = 0; i < 4; i++)
        s.w[i] = ggml_new_tensor_2d(s.ctx, GGML_TYPE_F32, 32, 8);
    sum = ggml_add(s.ctx, ggml_mul_mat(s.ctx, s.w[0], s.x),
                   ggml_mul_mat(s.ctx, s.w[1], s.x));
    s.graph = ggml_new_graph(s.ctx);
    ggml_build_forward_expand(s.graph, sum);
    twice = ggml_scale_inplace(s.ctx, s.x, 2);
    s.out = ggml_add(s.ctx, sum, ggml_mul_mat(s.ctx, s.w[2], twice));
    s.out = ggml_add(s.ctx, s.out, ggml_mul_mat(s.ctx, s.w[3], twice));
    ggml_build_forward_expand(s.graph, s.out);
    return s;
}

static void
compute_shared(ggml_backend_t backend, float *out)
{
    struct shared s = new_shared();
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(s.ctx, backend);
    float in[256];

    for (int i = 0; i < 256; i++)
        in[i] = (float)(i * 37 % 64) - 30;
    for (int i = 0; i < 4; i++)
        ggml_backend_tensor_set(s.w[i], in + i, 0, ggml_nbytes(s.w[i]) - 16);
    for (int i = 0; i < 4; i++)
        ggml_backend_tensor_set(s.w[i], in, ggml_nbytes(s.w[i]) - 16, 16);
    ggml_backend_tensor_set(s.x, in + 7, 0, ggml_nbytes(s.x));
    ggml_backend_graph_compute(backend, s.graph);
    ggml_backend_tensor_get(s.out, out, 0, ggml_nbytes(s.out));
    ggml_backend_buffer_free(buffer);
    ggml_free(s.ctx);
}

static void
test_prepared(void)
{
    ggml_backend_t backend = start(0), cpu = ggml_backend_cpu_init();
    struct cuda *cuda = (struct cuda *)backend;
    float out[16], right[16];

    compute_shared(backend, out);
    compute_shared(cpu, right);
    ok(cuda->activations.n_made == 2 && cuda->activations.n_shared == 3,
       "products share what was prepared of a tensor, or with it");
    ok(!memcmp(out, right, sizeof(out)), "till something is written over it");
    ggml_backend_free(backend);
    ggml_backend_free(cpu);
}

/* ---- the largest -------------------------------------------------------- */

static void
test_best(void)
{
    ggml_backend_t backend = start(0);
    struct pair p = new_pair(0);
    void *address = ggml_backend_reg_get_proc_address(
        ggml_backend_reg_by_name("CUDA"), BACKEND_BEST);
    float in[64], logits[3];
    int32_t ids[3];
    struct backend_best_row row = { ids, logits, 0 };
    backend_best_t best;

    memcpy(&best, &address, sizeof(address));
    for (int i = 0; i < 64; i++)
        in[i] = (float)(i * 37 % 64);
    in[5] = in[60] = 70;
    ggml_backend_tensor_set(p.x, in, 0, sizeof(in));
    ok(best(backend, p.x, 0, 1, 3, &row), "the largest are found");
    ok(ids[0] == 5 && ids[1] == 60 && logits[1] == 70 && logits[2] == 63,
       "in order, the lower id first");
    ok(row.log_sum_exp > 70.69 && row.log_sum_exp < 70.7,
       "with the sum of all");
    ok(!best(backend, p.x, 0, 1, 65, &row), "more than there are are refused");
    free_pair(&p);
    ggml_backend_free(backend);
}

/* ---- failures ----------------------------------------------------------- */

static void
test_lost(void)
{
    ggml_backend_t backends[] = { start(0), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false, false);
    struct small s = new_small(64);
    const char *error;

    ggml_backend_sched_alloc_graph(sched, s.graph);
    fake_lose(true);
    is(ggml_backend_sched_graph_compute(sched, s.graph), GGML_STATUS_FAILED,
       "a lost device fails");
    fake_lose(false);
    error = backends[0]->iface->get_error(backends[0]);
    ok(error && !strncmp(error, "CUDA0: ", 7) &&
           strstr(error, "illegal memory access"),
       "and says so in CUDA's words");
    is(ggml_backend_sched_graph_compute(sched, s.graph), GGML_STATUS_FAILED,
       "it is not used again");
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(s.ctx);
}

int
main(void)
{
    fake_machine("devices=2 memory=64");
    ggml_backend_register(ggml_backend_init());
    test_devices();
    test_buffers();
    test_memory();
    test_streams();
    test_replay();
    ok(captures_of(100) == 1 && captures_of(300) == 0,
       "a long prompt's graph is launched each time");
    test_plain();
    test_profile();
    test_splits();
    test_pool();
    test_prepared();
    test_best();
    test_lost();
    return tap_done();
}
