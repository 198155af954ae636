/* blas.c - GEMM by cuBLAS
 *
 * cuBLAS is loaded on first use: half a gigabyte of libraries that decoding
 * does not need, and without which the rest runs. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/runtime.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#define LIBRARY    "libcublas.so." TEXT(CUBLAS_VER_MAJOR)

enum {
    WORKSPACE = 32 << 20 /* cuBLAS's own advice for Hopper */
};

static struct {
    void *library;
    char why[200]; /* why it cannot be loaded */
    __typeof__(cublasCreate_v2) *create;
    __typeof__(cublasDestroy_v2) *destroy;
    __typeof__(cublasSetStream_v2) *set_stream;
    __typeof__(cublasSetWorkspace_v2) *set_workspace;
    __typeof__(cublasGemmStridedBatchedEx) *gemm;
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
load_cublas(void)
{
    api.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!api.library) {
        const char *why = dlerror();

        snprintf(api.why, sizeof(api.why), "%s", why ? why : LIBRARY);
        return;
    }
    snprintf(api.why, sizeof(api.why), LIBRARY ": lacks a function");
    *(void **)&api.create = dlsym(api.library, "cublasCreate_v2");
    *(void **)&api.destroy = dlsym(api.library, "cublasDestroy_v2");
    *(void **)&api.set_stream = dlsym(api.library, "cublasSetStream_v2");
    *(void **)&api.set_workspace = dlsym(api.library, "cublasSetWorkspace_v2");
    *(void **)&api.gemm = dlsym(api.library, "cublasGemmStridedBatchedEx");
}

static bool
is_there(void)
{
    pthread_once(&once, load_cublas);
    return api.library && api.create && api.destroy && api.set_stream &&
           api.set_workspace && api.gemm;
}

struct blas {
    cublasHandle_t handle;
    void *workspace;
};

enum cuda_status
cuda_blas_new(void **out)
{
    struct blas *b;

    if (!is_there()) {
        cuda_set_error(api.why);
        return CUDA_FAILED;
    }
    b = calloc(1, sizeof(*b));
    if (!b)
        return CUDA_NOMEM;
    if (cuda_malloc(WORKSPACE, &b->workspace) != CUDA_OK) {
        free(b);
        return CUDA_NOMEM;
    }
    if (api.create(&b->handle) != CUBLAS_STATUS_SUCCESS) {
        cuda_free(b->workspace);
        free(b);
        cuda_set_error("it cannot be started");
        return CUDA_FAILED;
    }
    *out = b;
    return CUDA_OK;
}

void
cuda_blas_free(void *blas)
{
    struct blas *b = blas;

    if (!b)
        return;
    api.destroy(b->handle);
    cuda_free(b->workspace);
    free(b);
}

static cudaDataType_t
blas_type(enum ggml_type type)
{
    return type == GGML_TYPE_F32   ? CUDA_R_32F
           : type == GGML_TYPE_F16 ? CUDA_R_16F
                                   : CUDA_R_16BF;
}

/* cuBLAS is column-major: our rows are its columns, and row-major matrices are
 * transposed. */
static cublasStatus_t
multiply(struct blas *b, const struct cuda_gemm *g)
{
    static const float one = 1, zero = 0;
    cudaDataType_t type = blas_type(g->type);

    return api.gemm(b->handle, g->a_by_k ? CUBLAS_OP_N : CUBLAS_OP_T,
                    g->b_by_k ? CUBLAS_OP_T : CUBLAS_OP_N, g->m, g->n, g->k,
                    &one, g->a, type, (int)g->ld_a, g->stride_a, g->b, type,
                    (int)g->ld_b, g->stride_b, g->add ? &one : &zero, g->c,
                    CUDA_R_32F, (int)g->ld_c, g->stride_c, g->n_batch,
                    g->type == GGML_TYPE_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                             : CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT);
}

/* With a workspace of its own it gives the same sums every time, and can be
 * captured. */
enum cuda_status
cuda_blas_gemm(void *blas, void *stream, const struct cuda_gemm *g)
{
    struct blas *b = blas;

    if (api.set_stream(b->handle, stream) != CUBLAS_STATUS_SUCCESS ||
        api.set_workspace(b->handle, b->workspace, WORKSPACE) !=
            CUBLAS_STATUS_SUCCESS ||
        multiply(b, g) != CUBLAS_STATUS_SUCCESS) {
        cuda_set_error("a product of matrices failed");
        return CUDA_FAILED;
    }
    return CUDA_OK;
}
