/* kernel_emulate.c - runs the kernels of tests by emulation */
#include "cuda/kernel_runner.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/kernels.h"
#include "cuda/norm.h"

/* Variables of emulate.h, which is C++. */
extern int emulate_order;
extern long emulate_launches;
extern size_t emulate_most_shared;

#define MOST_SCRATCH 256

static void *scratch[MOST_SCRATCH];
static int n_scratch;

/* -- What the back end gives to kernels -- */
static struct cuda_ctx cuda = {
    .arch = 90, .n_sm = 3, .max_shared = 227 << 10, .dequantized_bytes = 1
}; /* 64 rows */

void *
cuda_scratch(struct cuda_ctx *c, size_t size)
{
    (void)c;
    if (n_scratch == MOST_SCRATCH)
        abort();
    return scratch[n_scratch++] = kt_noise(size, 16);
}

/* Each product by itself, but for what the launch before made of its result. */
static struct {
    const void *x;
    int how;
    size_t size;
    void *p;
} ahead;

void *
cuda_cached_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                        int how, size_t size, bool *made)
{
    *made =
        ahead.p && ahead.x == x->data && ahead.how == how && ahead.size == size;
    return *made ? ahead.p : cuda_scratch(c, size);
}

void *
cuda_cache_next_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                            int how, size_t size)
{
    ahead.x = x->data;
    ahead.how = how;
    ahead.size = size;
    ahead.p = cuda_scratch(c, size);
    return ahead.p;
}

void
cuda_emulate(void *stream, void (*run)(void *arg), const void *arg, size_t size)
{
    void *copy = kt_noise(size, 16);

    (void)stream;
    memcpy(copy, arg, size);
    run(copy);
    free(copy);
}

static float
gemm_value(const void *p, enum ggml_type type, int64_t i)
{
    if (type == GGML_TYPE_F32)
        return ((const float *)p)[i];
    if (type == GGML_TYPE_F16)
        return ggml_fp16_to_fp32(((const ggml_fp16_t *)p)[i]);
    return ggml_bf16_to_fp32(((const ggml_bf16_t *)p)[i]);
}

/* cuBLAS's place: plain sums. */
void
cuda_gemm(struct cuda_ctx *c, const struct cuda_gemm *g)
{
    (void)c;
    for (int64_t batch = 0; batch < g->n_batch; batch++)
        for (int64_t i = 0; i < g->n; i++)
            for (int64_t j = 0; j < g->m; j++) {
                float *to = g->c + batch * g->stride_c + i * g->ld_c + j;
                int64_t a = batch * g->stride_a, b = batch * g->stride_b;
                double sum = g->add ? (double)*to : 0;

                for (int64_t k = 0; k < g->k; k++)
                    sum += (double)gemm_value(
                               g->a, g->type,
                               a + cuda_gemm_at(g->a_by_k, g->ld_a, j, k)) *
                           (double)gemm_value(
                               g->b, g->type,
                               b + cuda_gemm_at(g->b_by_k, g->ld_b, i, k));
                *to = (float)sum;
            }
}

/* -- What tests ask for -- */
void
kt_start(void)
{
}

bool
kt_on_device(void)
{
    return false;
}

bool
kt_large_device(void)
{
    return false;
}

int
kt_orders(void)
{
    return 3;
}

double
kt_bound(const struct ggml_tensor *t, double bound)
{
    (void)t;
    return bound;
}

bool
kt_supports(const struct ggml_tensor *t)
{
    return cuda_ops[t->op].run && cuda_ops[t->op].supports(t);
}

void
kt_run_op(void *arg)
{
    struct ggml_tensor *t = arg;

    cuda_ops[t->op].run(&cuda, t);
}

static void
free_scratch(void)
{
    ahead.p = NULL;
    while (n_scratch > 0)
        free(scratch[--n_scratch]);
}

void
kt_run(const struct kt_run *r, int order)
{
    emulate_order = order;
    r->run(r->arg);
    free_scratch();
}

int
kt_fuse(struct ggml_tensor *const *nodes, int n, const int *uses)
{
    return cuda_fuse(&cuda, nodes, n, uses);
}

long
kt_launches(void)
{
    return emulate_launches;
}

void
kt_shared(size_t bytes)
{
    cuda.max_shared = emulate_most_shared = bytes;
}

void
kt_norms(const struct cuda_norm *n)
{
    cuda_run_norms(&cuda, n);
}

void
kt_best(const float *logits, int n, int stride, int n_rows, int k, int32_t *ids,
        float *values, double *lse)
{
    cuda_best(&cuda, logits, n, stride, n_rows, k, ids, values, lse);
    free_scratch();
}
