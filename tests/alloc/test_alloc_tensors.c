/* test_alloc_tensors.c - tensors in one buffer, or in several */
#include "alloc_test.h"
#include "core/mem.h"

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

int
main(void)
{
    one_after_another();
    whole_context();
    lists();
    return tap_done();
}
