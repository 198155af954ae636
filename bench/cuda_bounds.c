/* cuda_bounds.c - what a GPU could do: its memory, its matrix units, the bus
 *
 * Prints a line for each: name, value, unit. The best of several runs, timed
 * on the device. Operands are random: zeros are multiplied faster.
 *
 *   copy   GB/s of copying within its memory, read and written bytes together
 *   bf16   TFLOP/s of a product of matrices of 8,192, by cuBLAS
 *   int8   TOP/s of the same in int8
 *   bus    GB/s from pinned memory of the host */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RUNS = 10,
    SIDE = 8192,
};

static void
must(cudaError_t e)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "cuda_bounds: %s\n", cudaGetErrorString(e));
    exit(1);
}

static void *
device_memory(size_t size)
{
    void *p;

    must(cudaMalloc(&p, size));
    must(cudaMemset(p, 0, size));
    return p;
}

/* Memory of the device with numbers of two bytes between 0.5 and 2, of either
 * sign; as bytes every second one is any. */
static void *
random_memory(size_t size)
{
    uint16_t *from = malloc(size);
    void *p = device_memory(size);
    uint32_t state = 1;

    if (!from) {
        fputs("cuda_bounds: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < size / sizeof(*from); i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (uint16_t)(state >> 16 & 0x80ff) | 0x3f00;
    }
    must(cudaMemcpy(p, from, size, cudaMemcpyHostToDevice));
    free(from);
    return p;
}

/* The seconds of the fastest of several calls. */
static double
fastest(void (*work)(void *), void *arg)
{
    cudaEvent_t from, to;
    float best = 0;

    must(cudaEventCreate(&from));
    must(cudaEventCreate(&to));
    work(arg);
    for (int i = 0; i < RUNS; i++) {
        float ms;

        must(cudaEventRecord(from, NULL));
        work(arg);
        must(cudaEventRecord(to, NULL));
        must(cudaEventSynchronize(to));
        must(cudaEventElapsedTime(&ms, from, to));
        if (i == 0 || ms < best)
            best = ms;
    }
    return best * 1e-3;
}

struct copy {
    void *to, *from;
    size_t size;
};

static void
copy(void *arg)
{
    const struct copy *c = arg;

    must(cudaMemcpyAsync(c->to, c->from, c->size, cudaMemcpyDefault, NULL));
}

static void
print_copy(void)
{
    struct copy c = { .size = (size_t)2 << 30 };

    c.to = device_memory(c.size);
    c.from = device_memory(c.size);
    printf("copy\t%.0f\tGB/s\n", 2 * (double)c.size / fastest(copy, &c) * 1e-9);
    must(cudaFree(c.from));
    c.size = (size_t)256 << 20;
    must(cudaMallocHost(&c.from, c.size));
    printf("bus\t%.1f\tGB/s\n", (double)c.size / fastest(copy, &c) * 1e-9);
    must(cudaFreeHost(c.from));
    must(cudaFree(c.to));
}

struct product {
    cublasHandle_t blas;
    void *a, *b, *c;
    bool int8;
};

static void
multiply(void *arg)
{
    static const float one = 1, zero = 0;
    static const int one_i = 1, zero_i = 0;
    const struct product *p = arg;
    cudaDataType_t in = p->int8 ? CUDA_R_8I : CUDA_R_16BF;
    cublasStatus_t st = cublasGemmEx(
        p->blas, CUBLAS_OP_T, CUBLAS_OP_N, SIDE, SIDE, SIDE,
        p->int8 ? (const void *)&one_i : &one, p->a, in, SIDE, p->b, in, SIDE,
        p->int8 ? (const void *)&zero_i : &zero, p->c,
        p->int8 ? CUDA_R_32I : CUDA_R_32F, SIDE,
        p->int8 ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);

    if (st == CUBLAS_STATUS_SUCCESS)
        return;
    fprintf(stderr, "cuda_bounds: cuBLAS: %d\n", (int)st);
    exit(1);
}

static void
print_products(void)
{
    size_t n = (size_t)SIDE * SIDE;
    struct product p = { .a = random_memory(2 * n),
                         .b = random_memory(2 * n),
                         .c = device_memory(4 * n) };
    double ops = 2.0 * SIDE * SIDE * SIDE;

    if (cublasCreate(&p.blas) != CUBLAS_STATUS_SUCCESS) {
        fputs("cuda_bounds: no cuBLAS\n", stderr);
        exit(1);
    }
    printf("bf16\t%.1f\tTFLOP/s\n", ops / fastest(multiply, &p) * 1e-12);
    p.int8 = true;
    printf("int8\t%.1f\tTOP/s\n", ops / fastest(multiply, &p) * 1e-12);
    cublasDestroy(p.blas);
}

int
main(void)
{
    struct cudaDeviceProp device;
    int driver, runtime;

    must(cudaGetDeviceProperties(&device, 0));
    must(cudaDriverGetVersion(&driver));
    must(cudaRuntimeGetVersion(&runtime));
    printf("device\t%s\tdriver %d, CUDA %d\n", device.name, driver, runtime);
    print_copy();
    print_products();
    return fclose(stdout) != 0;
}
