/* kernel_runner.h - between tests of kernels and what runs these: an emulation
 * (kernel_emulate.c) or, by the public interface, a device (kernel_device.c) */
#ifndef KERNEL_RUNNER_H
#define KERNEL_RUNNER_H

#include <ggml-backend.h>

#include "cuda/kernel_test.h"

/* How many times each is run, which must give the same bytes. */
int
kt_orders(void);

struct kt_run {
    struct ggml_tensor *t, *also; /* what is compared; `also` may be NULL */
    void (*run)(void *arg);       /* writes both; a device computes t's graph */
    void *arg;
};

/* Results lie in the tensors' memory. */
void
kt_run(const struct kt_run *r, int order);

/* A kt_run.run of a tensor's op. */
void
kt_run_op(void *tensor);

/* The bound that holds there instead of `bound`. */
double
kt_bound(const struct ggml_tensor *t, double bound);

/* Memory that is full of noise; free() it. */
void *
kt_noise(size_t size, size_t alignment);

#endif
