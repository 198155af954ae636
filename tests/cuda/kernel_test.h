/* kernel_test.h - a kernel that is emulated, or run by a device, against the
 * CPU's reference
 *
 * Each tensor has memory of its own on the heap, so that sanitizers see what
 * is read and written outside of it. */
#ifndef KERNEL_TEST_H
#define KERNEL_TEST_H

#include <stdbool.h>
#include <ggml.h>

/* First of all; where there is no device to run on, the program ends with a
 * line of TAP that says so. */
void
kt_start(void);

/* Kernels run on a device: what is asked of the kernels' own functions, and
 * not of a graph, is left out. */
bool
kt_on_device(void);

/* The device may have a hundred multiprocessors, which few rows do not occupy:
 * it is not emulated. */
bool
kt_large_device(void);

/* For one check: tensors and their memory. */
struct ggml_context *
kt_begin(void);
void
kt_end(struct ggml_context *ctx);

/* Uniform in [-1, 1). */
float
kt_draw(void);

/* Random values in a contiguous tensor: floats, or any type of blocks; what
 * has no quantiser gets random bits with scales that are sound. */
struct ggml_tensor *
kt_tensor(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
          int64_t ne1, int64_t ne2, int64_t ne3);
/* Integers from 0 to below `most`: I32 or I64. */
struct ggml_tensor *
kt_numbers(struct ggml_context *ctx, enum ggml_type type, int64_t most,
           int64_t ne0, int64_t ne1, int64_t ne2);

/* Runs the op of t by its kernel, with blocks and threads in three orders (a
 * device: three times), which must give the same bytes, and by the CPU's
 * reference kernels: the squared error, over the squares of what is right, is
 * at most `bound`. */
void
kt_check(struct ggml_context *ctx, struct ggml_tensor *t, double bound,
         const char *name, ...);

/* Like kt_check(), for an op that writes `also`, too. */
void
kt_check_both(struct ggml_context *ctx, struct ggml_tensor *t,
              struct ggml_tensor *also, double bound, const char *name);

/* Whether t's op is said to be supported. */
bool
kt_supports(const struct ggml_tensor *t);

/* Like kt_check(), but runs `run` in place of t's op alone: it writes t, and
 * `also` (or NULL), which is checked, too. */
void
kt_check_run(struct ggml_context *ctx, struct ggml_tensor *t,
             struct ggml_tensor *also, void (*run)(void *arg), void *arg,
             double bound, const char *name);

/* A line of TAP, as tap.h has it, and the last one. */
void
kt_ok(bool good, const char *name);
int
kt_done(void);

/* cuda_fuse() and cuda_run_norms(), for runs of kt_check_run(). */
int
kt_fuse(struct ggml_tensor *const *nodes, int n, const int *uses);
struct cuda_norm;
void
kt_norms(const struct cuda_norm *n);

/* How many kernels were launched so far; by emulation only. */
long
kt_launches(void);

/* Sets the bytes of shared memory that a block can have from now on, by
 * emulation; a device has what it has. */
void
kt_shared(size_t bytes);

/* cuda_best(), of memory of the program. */
void
kt_best(const float *logits, int n, int stride, int n_rows, int k, int32_t *ids,
        float *values, double *lse);

#endif
