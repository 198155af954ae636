/* test_cuda_face.c - ggml-cuda.h on a device: see cuda/kernel_test.h */
#include <stdlib.h>
#include <string.h>
#include <ggml-alloc.h>
#include <ggml-cpu.h>
#include <ggml-cuda.h>

#include "cuda/kernel_test.h"

static void
test_devices(ggml_backend_t cuda, ggml_backend_t cpu)
{
    int n = ggml_backend_cuda_get_device_count();
    size_t available = 1, total = 0;
    char words[128] = "";

    kt_ok(n > 0 && n <= GGML_CUDA_MAX_DEVICES, "there are devices");
    kt_ok(cuda && ggml_backend_is_cuda(cuda), "a back end of the first starts");
    kt_ok(!ggml_backend_is_cuda(cpu) && !ggml_backend_is_cuda(NULL),
          "the CPU's is another");
    kt_ok(!ggml_backend_cuda_init(-1) && !ggml_backend_cuda_init(n),
          "a number that no device has is refused");
    ggml_backend_cuda_get_device_description(0, words, sizeof(words));
    kt_ok(words[0] != '\0', "a device has a name");
    ggml_backend_cuda_get_device_description(n, words, sizeof(words));
    kt_ok(words[0] == '\0', "what is none has not");
    ggml_backend_cuda_get_device_memory(0, &available, &total);
    kt_ok(total > 0 && available <= total, "a device has memory");
    ggml_backend_cuda_get_device_memory(n, &available, &total);
    kt_ok(total == 0 && available == 0, "what is none has not");
    kt_ok(ggml_backend_reg_dev_count(ggml_backend_cuda_reg()) == (size_t)n,
          "the registry has as many");
}

static void
test_memory(ggml_backend_t cuda)
{
    ggml_backend_buffer_type_t pinned = ggml_backend_cuda_host_buffer_type();
    ggml_backend_buffer_type_t memory = ggml_backend_cuda_buffer_type(0);
    struct ggml_init_params params = { .mem_size = 4 * ggml_tensor_overhead(),
                                       .no_alloc = true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 4096);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(ctx, memory);
    int32_t *in = aligned_alloc(4096, ggml_nbytes(t)), out[4096];

    kt_ok(memory && !ggml_backend_buft_is_host(memory) &&
              !ggml_backend_cuda_buffer_type(-1),
          "a device's memory is its own");
    kt_ok(pinned && ggml_backend_buft_is_host(pinned),
          "pinned memory is the host's");
    for (int i = 0; i < 4096; i++)
        in[i] = i * 7919;
    kt_ok(ggml_backend_cuda_register_host_buffer(in, ggml_nbytes(t)),
          "memory of the program is pinned");
    ggml_backend_tensor_set_async(cuda, t, in, 0, ggml_nbytes(t));
    ggml_backend_tensor_get_async(cuda, t, out, 0, ggml_nbytes(t));
    ggml_backend_synchronize(cuda);
    kt_ok(memcmp(in, out, sizeof(out)) == 0, "and goes there and back");
    ggml_backend_cuda_unregister_host_buffer(in);
    free(in);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* y = w x + b, b added by the CPU, three times: launches, a capture, a
 * replay. */
static void
test_scheduler(ggml_backend_t cuda, ggml_backend_t cpu)
{
    ggml_backend_t both[] = { cuda, cpu };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(both, NULL, 2, 64, false, false);
    struct ggml_init_params params = { .mem_size = 16 * ggml_tensor_overhead() +
                                                   ggml_graph_overhead(),
                                       .no_alloc = true };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 8);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 1);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 8, 1);
    struct ggml_tensor *product = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *y = ggml_add(ctx, product, b);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float in[64 * 8], out[8];
    bool right = true;

    ggml_set_input(w);
    ggml_set_input(x);
    ggml_set_input(b);
    ggml_build_forward_expand(graph, y);
    ggml_backend_sched_set_tensor_backend(sched, product, cuda);
    ggml_backend_sched_set_tensor_backend(sched, y, cpu);
    ggml_backend_sched_alloc_graph(sched, graph);
    for (int i = 0; i < 64 * 8; i++)
        in[i] = (float)(i % 5);
    for (int run = 0; run < 3; run++) {
        ggml_backend_tensor_set(w, in, 0, ggml_nbytes(w));
        ggml_backend_tensor_set(x, in + run, 0, ggml_nbytes(x));
        ggml_backend_tensor_set(b, in, 0, ggml_nbytes(b));
        right &= ggml_backend_sched_graph_compute(sched, graph) ==
                 GGML_STATUS_SUCCESS;
        ggml_backend_tensor_get(y, out, 0, sizeof(out));
        for (int row = 0; row < 8; row++) {
            float sum = in[row];

            for (int i = 0; i < 64; i++)
                sum += in[row * 64 + i] * in[run + i];
            right &= sum == out[row];
        }
    }
    kt_ok(ggml_backend_sched_get_n_splits(sched) == 2, "a graph is cut in two");
    kt_ok(right, "and gives what it should, again and again");
    ggml_backend_sched_free(sched);
    ggml_free(ctx);
}

int
main(void)
{
    ggml_backend_t cuda, cpu;

    kt_start();
    cuda = ggml_backend_cuda_init(0);
    cpu = ggml_backend_cpu_init();
    test_devices(cuda, cpu);
    test_memory(cuda);
    test_scheduler(cuda, cpu);
    ggml_backend_free(cuda);
    ggml_backend_free(cpu);
    return kt_done();
}
