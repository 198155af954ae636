/* test_backend.c - buffers, data access, registry, back ends, graph copies */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fixtures/remote.h"
#include "harness/tap.h"
#include "tensor/graph.h"

static struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 1 << 20, .no_alloc = true });
}

static jmp_buf back;

static void
jump(const char *message)
{
    (void)message;
    longjmp(back, 1);
}

#define ABORTS(expression)                                                     \
    (ggml_set_abort_callback(jump),                                            \
     setjmp(back) ? true : ((void)(expression), false))

/* Everything below is for any memory. */
static void
access(ggml_backend_buffer_type_t buft)
{
    struct ggml_context *ctx = context();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 4, 3);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 4, 3);
    struct ggml_tensor *v = ggml_view_1d(ctx, a, 4, 16);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, buft);
    int32_t in[12], out[12] = { 0 }, column[3] = { 7, 8, 9 };

    for (int i = 0; i < 12; i++)
        in[i] = i;
    ok(buffer && ggml_backend_buffer_get_type(buffer) == buft &&
           a->buffer == buffer &&
           (uintptr_t)b->data % ggml_backend_buft_get_alignment(buft) == 0,
       ggml_backend_buft_name(buft));
    ggml_backend_tensor_set(a, in, 0, sizeof(in));
    ggml_backend_tensor_get(a, out, 0, sizeof(out));
    ok(memcmp(in, out, sizeof(in)) == 0, "what is set can be got");
    ggml_backend_tensor_get(a, out, 20, 4);
    is(out[0], 5, "from an offset");
    ggml_backend_tensor_get(v, out, 4, 8);
    ok(out[0] == 5 && out[1] == 6, "through a view");
    ggml_backend_tensor_set_2d(a, column, 8, 4, 3, a->nb[1], 4);
    ggml_backend_tensor_get_2d(a, out, 8, 4, 3, a->nb[1], 8);
    ok(out[0] == 7 && out[2] == 8 && out[4] == 9, "a column");
    ggml_backend_tensor_copy(a, b);
    ggml_backend_tensor_get(b, out, 0, sizeof(out));
    ok(out[2] == 7 && out[3] == 3 && out[11] == 11, "a copy");
    ggml_backend_tensor_memset(b, 1, 4, 8);
    ggml_backend_tensor_get(b, out, 0, sizeof(out));
    ok(out[0] == 0 && out[1] == 0x01010101 && out[2] == 0x01010101 &&
           out[3] == 3,
       "a part is set to one byte");
    ggml_set_zero(v);
    ggml_backend_tensor_get(a, out, 0, sizeof(out));
    ok(out[3] == 3 && out[4] == 0 && out[7] == 0 && out[8] == 8,
       "a view is set to zero");
    ok(ABORTS(ggml_backend_tensor_set(a, in, 4, sizeof(in))) &&
           ABORTS(ggml_backend_tensor_get(v, out, 0, 17)) &&
           ABORTS(ggml_backend_tensor_memset(a, 0, SIZE_MAX, 4)),
       "nobody reads or writes past the end");
    ggml_backend_tensor_set(a, NULL, 48, 0);
    ok(1, "nothing is set at the end");
    ggml_backend_buffer_clear(buffer, 0);
    ggml_backend_tensor_get(b, out, 0, sizeof(out));
    ok(out[3] == 0 && out[11] == 0, "a buffer is cleared");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
between(void)
{
    struct ggml_context *near = context(), *far = context();
    struct ggml_tensor *a = ggml_new_tensor_1d(near, GGML_TYPE_I32, 4);
    struct ggml_tensor *b = ggml_new_tensor_1d(far, GGML_TYPE_I32, 4);
    struct ggml_tensor *c = ggml_new_tensor_1d(far, GGML_TYPE_I32, 4);
    struct ggml_tensor *d = ggml_new_tensor_1d(near, GGML_TYPE_I32, 4);
    struct ggml_tensor *other = ggml_new_tensor_2d(far, GGML_TYPE_I32, 2, 2);
    ggml_backend_buffer_t n = ggml_backend_alloc_ctx_tensors_from_buft(
        near, ggml_backend_cpu_buffer_type());
    ggml_backend_buffer_t f =
        ggml_backend_alloc_ctx_tensors_from_buft(far, remote_buffer_type());
    int32_t in[] = { 1, -2, 3, -4 };
    int copies = remote.n_copy;

    ggml_backend_tensor_set(a, in, 0, sizeof(in));
    ggml_backend_tensor_copy(a, b);
    ggml_backend_tensor_copy(b, c);
    ggml_backend_tensor_copy(c, d);
    ok(memcmp(d->data, in, sizeof(in)) == 0 && remote.n_copy == copies + 1,
       "there, within, and back again");
    ok(ABORTS(ggml_backend_tensor_copy(a, other)),
       "but not into another shape");
    ok(ggml_backend_buffer_is_host(n) && !ggml_backend_buffer_is_host(f),
       "who can be read is known");
    ggml_backend_buffer_free(n);
    ggml_backend_buffer_free(f);
    ggml_free(near);
    ggml_free(far);
}

static void
buffers(void)
{
    static _Alignas(64) char memory[256];
    ggml_backend_buffer_type_t host = ggml_backend_cpu_buffer_type();
    ggml_backend_buffer_t b = ggml_backend_buft_alloc_buffer(host, 100);
    struct ggml_context *ctx = context();
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);

    ok((uintptr_t)ggml_backend_buffer_get_base(b) % 64 == 0 &&
           ggml_backend_buffer_get_size(b) >= 100 &&
           ggml_backend_buffer_get_alignment(b) == 64 &&
           ggml_backend_buffer_get_max_size(b) == SIZE_MAX &&
           ggml_backend_buffer_get_alloc_size(b, t) == 32,
       "memory of the host");
    ok(ABORTS(ggml_backend_tensor_alloc(
           b, t, (char *)ggml_backend_buffer_get_base(b) + 72)),
       "a tensor must fit into its buffer");
    ggml_backend_buffer_free(b);

    b = ggml_backend_cpu_buffer_from_ptr(memory, sizeof(memory));
    ok(ggml_backend_tensor_alloc(b, t, memory + 64) == GGML_STATUS_SUCCESS &&
           t->data == memory + 64 && ggml_backend_buffer_is_host(b),
       "memory of the caller");
    memory[64] = 3;
    ggml_backend_buffer_free(b);
    is(memory[64], 3, "which stays the caller's");

    b = ggml_backend_buft_alloc_buffer(host, 0);
    ok(b && ggml_backend_buffer_get_size(b) == 0 &&
           ggml_backend_buffer_get_base(b) == NULL,
       "no memory at all");
    ggml_backend_buffer_clear(b, 0);
    ggml_backend_buffer_free(b);
    ggml_backend_buffer_free(NULL);
    mem_fail_after(1);
    ok(!ggml_backend_buft_alloc_buffer(host, 100), "no memory left");
    mem_fail_after(-1);
    ggml_free(ctx);
}

static void
registry(void)
{
    ggml_backend_dev_t cpu = ggml_backend_dev_by_name("cpu"), far;
    struct ggml_backend_dev_props props;
    ggml_backend_t backend;
    size_t n;

    ok(cpu && strcmp(ggml_backend_dev_name(cpu), "CPU") == 0 &&
           ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == cpu,
       "the CPU is there without being loaded");
    ok(ggml_backend_reg_by_name("CPU") == ggml_backend_dev_backend_reg(cpu),
       "and who registered it");
    ggml_backend_load_all();
    n = ggml_backend_dev_count();
    ggml_backend_register(remote_reg());
    ggml_backend_register(remote_reg());
    is(ggml_backend_dev_count(), n + 1, "a device is registered once");
    far = ggml_backend_dev_get(n);
    ggml_backend_dev_get_props(far, &props);
    ok(strcmp(props.name, "Remote0") == 0 && props.memory_total == 2000 &&
           props.type == GGML_BACKEND_DEVICE_TYPE_ACCEL && !props.caps.async,
       "its properties");
    ok(!ggml_backend_dev_by_name("none") &&
           !ggml_backend_init_by_name("none", NULL) &&
           !ggml_backend_reg_by_name("none"),
       "what is not there");
    ok(!ggml_backend_dev_host_buffer_type(far) &&
           !ggml_backend_dev_buffer_from_host_ptr(far, NULL, 0, 0) &&
           !ggml_backend_event_new(far) &&
           !ggml_backend_reg_get_proc_address(remote_reg(), "x"),
       "what a device need not have");
    ok(!ggml_backend_load("/nonexistent/back-end.so"), "a module is missing");
    ggml_backend_unload(remote_reg());
    ok(ggml_backend_dev_count() == n && !ggml_backend_dev_by_name("Remote0") &&
           !ggml_backend_reg_by_name(ggml_backend_reg_name(remote_reg())),
       "who was unloaded is gone, with what it had");
    ggml_backend_unload(remote_reg());
    ggml_backend_load_all_from_path("/nonexistent");
    ggml_backend_load_all_from_path(NULL);
    is(ggml_backend_dev_count(), n, "a folder without modules");
    ggml_backend_register(remote_reg());
    backend = ggml_backend_init_best();
    ok(ggml_backend_is_cpu(backend),
       "the best is the CPU where there is no GPU");
    ggml_backend_free(backend);
    backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    ok(ggml_backend_is_cpu(backend) &&
           ggml_backend_get_device(backend) == cpu &&
           ggml_backend_supports_buft(backend,
                                      ggml_backend_cpu_buffer_type()) &&
           !ggml_backend_supports_buft(backend, remote_buffer_type()),
       "by type");
    ggml_backend_free(backend);
    ggml_backend_free(NULL);
}

/* y = (a * x)^2 + a */
static struct ggml_cgraph *
small_graph(struct ggml_context *ctx)
{
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *y;

    ggml_set_name(a, "a");
    ggml_set_name(x, "x");
    y = ggml_add(
        ctx, ggml_reshape_1d(ctx, ggml_sqr(ctx, ggml_mul(ctx, a, x)), 4), a);
    ggml_set_output(y);
    ggml_build_forward_expand(g, y);
    return g;
}

static void
set_inputs(struct ggml_cgraph *g)
{
    float a[] = { 1, 2, 3, 4 }, x[] = { 5, 6, -7, 0.5f };

    ggml_backend_tensor_set(ggml_graph_get_tensor(g, "a"), a, 0, sizeof(a));
    ggml_backend_tensor_set(ggml_graph_get_tensor(g, "x"), x, 0, sizeof(x));
}

static bool
right(struct ggml_cgraph *g)
{
    float y[4], expected[] = { 26, 146, 444, 8 };

    ggml_backend_tensor_get(ggml_graph_node(g, -1), y, 0, sizeof(y));
    return memcmp(y, expected, sizeof(y)) == 0;
}

static void
computing(ggml_backend_t backend)
{
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = small_graph(ctx);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);

    set_inputs(g);
    ok(ggml_backend_graph_compute(backend, g) == GGML_STATUS_SUCCESS &&
           right(g),
       ggml_backend_name(backend));
    ggml_backend_tensor_set_async(backend, ggml_graph_get_tensor(g, "x"),
                                  &(float){ 0 }, 0, 4);
    ok(ggml_backend_graph_compute(backend, g) == GGML_STATUS_SUCCESS &&
           !right(g),
       "set by the way, which is waited for");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static bool
compare(int i, struct ggml_tensor *t1, struct ggml_tensor *t2, void *data)
{
    float a[4], b[4];

    (void)i;
    ggml_backend_tensor_get(t1, a, 0, sizeof(a));
    ggml_backend_tensor_get(t2, b, 0, sizeof(b));
    *(int *)data += memcmp(a, b, sizeof(a)) == 0 ? 1 : 1000;
    return true;
}

static void
graph_copies(ggml_backend_t near, ggml_backend_t far)
{
    struct ggml_context *ctx = context();
    struct ggml_cgraph *g = small_graph(ctx);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(ctx, near);
    const struct ggml_tensor *last = ggml_graph_node(g, -1);
    struct ggml_backend_graph_copy copy;
    int seen = 0;

    set_inputs(g);
    copy = ggml_backend_graph_copy(far, g);
    ok(copy.graph && ggml_graph_n_nodes(copy.graph) == 4 &&
           ggml_graph_node(copy.graph, 2)->view_src ==
               ggml_graph_node(copy.graph, 1),
       "a graph once more on another back end");
    ok(ggml_backend_graph_compute(far, copy.graph) == GGML_STATUS_SUCCESS &&
           right(copy.graph),
       "with its data");
    ggml_backend_graph_copy_free(copy);
    ok(ggml_backend_compare_graph_backend(near, far, g, compare, &seen, NULL,
                                          0) &&
           seen == 3,
       "two back ends are compared node by node");
    seen = 0;
    ok(ggml_backend_compare_graph_backend(near, far, g, compare, &seen, &last,
                                          1) &&
           seen == 1,
       "or in listed nodes");
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
meta_devices(void)
{
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_dev_t both[] = { cpu, cpu };

    ok(ggml_backend_meta_device(both, 1, NULL, NULL) == cpu &&
           !ggml_backend_meta_device(both, 2, NULL, NULL) &&
           !ggml_backend_meta_device(both, 0, NULL, NULL),
       "a meta device is that of one");
    ok(strcmp(ggml_backend_meta_split_axis_name(GGML_BACKEND_SPLIT_AXIS_3),
              "3") == 0 &&
           strcmp(ggml_backend_meta_split_axis_name(
                      GGML_BACKEND_SPLIT_AXIS_PARTIAL),
                  "PARTIAL") == 0,
       "names of splits");
}

int
main(void)
{
    ggml_backend_t cpu, far;

    access(ggml_backend_cpu_buffer_type());
    access(remote_buffer_type());
    between();
    buffers();
    registry();
    meta_devices();
    cpu = ggml_backend_cpu_init();
    far = remote_init();
    computing(cpu);
    computing(far);
    graph_copies(cpu, far);
    ggml_backend_free(cpu);
    ggml_backend_free(far);
    ok(remote.n_buffers == 0 && remote.n_init > 0, "all buffers are freed");
    return tap_done();
}
