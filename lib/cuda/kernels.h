/* kernels.h - the interface between the back end, in C, and kernels, in CUDA
 *
 * The .c files own streams, memory, graphs and decisions; the .cu files own
 * kernels, and a function for each op that launches them. Three rules hold for
 * those functions, so that their work can be captured as a CUDA graph once and
 * replayed for each token:
 *
 *   - the node, and all its sources, have their ->data in the device's memory:
 *     it is passed on to kernels and never dereferenced here;
 *   - work goes to c->stream, and nothing waits for it or copies to the host;
 *   - what is launched depends on types, shapes, strides, parameters and
 *     addresses, never on data.
 *
 * A launch that fails leaves its error with CUDA's run-time; the back end
 * checks it when the graph is done. The headers that all of lib/cuda may
 * include: public ones, backend/impl.h, tensor/tensor.h (its inline functions).
 *
 * The same .cu files are compiled by nvcc, into the module, and by a C++
 * compiler, into the tests, where "emulate.h" runs blocks as loops. There a
 * launch goes through cuda_emulate() below, so that streams and captures behave
 * in tests as on a device: work given to a stream is done as late as the order
 * of streams allows. */
#ifndef CUDA_KERNELS_H
#define CUDA_KERNELS_H

#include <ggml.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The part of the back end that an op's function sees. */
struct cuda_ctx {
    void *stream;              /* cudaStream_t */
    int device;                /* CUDA's number */
    int arch;                  /* compute capability: 80, 90, 100 ... */
    int n_sm;                  /* multiprocessors */
    size_t max_shared;         /* bytes of shared memory a block, at most */
    int64_t dequantized_bytes; /* of weights at a time, for cuBLAS */
    bool failed;               /* there was no scratch memory, or no cuBLAS */
};

/* Scratch memory of the device, the node's own until its work is done: size
 * bytes, aligned to 256, uninitialised. Several calls for a node give distinct
 * allocations. NULL: out of memory; c->failed is set, and the function returns
 * without launching anything more. */
void *
cuda_scratch(struct cuda_ctx *c, size_t size);

/* Memory for x converted to type `how`, cached so that several nodes share it:
 * the products for q, k and v of a layer, say. *made: a hit, converted for a
 * previous node; otherwise the caller converts it now. Valid until the next
 * miss; `size` bytes, aligned to 256. NULL as above. */
void *
cuda_cached_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                        int how, size_t size, bool *made);

/* Memory for x that the next launch computes, and converts in its epilogue.
 * NULL: out of memory; the launch then does not convert. */
void *
cuda_cache_next_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                            int how, size_t size);

/* c[i][j] = sum over x of a[j][x] * b[i][x], for i < n and j < m: rows of a
 * weight times rows of activations, as GGML_OP_MUL_MAT has them. An operand
 * may lie by k instead, as a[x][j] or b[x][i]; the sums may be added to what c
 * holds. Distances of rows (ld_) and of the matrices of a batch (stride_) are
 * in elements. a and b are of one type, F32 (computed in TF32), F16 or BF16; c
 * is F32. Sums are F32. By cuBLAS, on c->stream. */
struct cuda_gemm {
    int m, n, k;
    bool a_by_k, b_by_k, add;
    enum ggml_type type;
    const void *a, *b;
    float *c;
    int64_t ld_a, ld_b, ld_c;
    int64_t stride_a, stride_b, stride_c;
    int n_batch;
};
void
cuda_gemm(struct cuda_ctx *c, const struct cuda_gemm *g);

/* Where element x of row i of an operand is. */
static inline int64_t
cuda_gemm_at(bool by_k, int64_t ld, int64_t i, int64_t x)
{
    return by_k ? x * ld + i : i * ld + x;
}

/* Whether two tensors have memory in common; whether they are the same elements
 * at the same places. */
static inline bool
cuda_overlap(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *p = (const char *)a->data, *q = (const char *)b->data;

    return p < q + ggml_nbytes(b) && q < p + ggml_nbytes(a);
}

static inline bool
cuda_is_same_place(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->data == b->data && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

/* ---- what the kernels implement ----------------------------------------- */

struct cuda_op {
    /* Whether `run` can compute it: types, shapes, strides, parameters. It has
     * no data yet. NULL: whenever there is a `run`. */
    bool (*supports)(const struct ggml_tensor *op);
    void (*run)(struct cuda_ctx *c, struct ggml_tensor *dst);
};

/* By op, in ops.c; an empty slot means "not supported". Views need none. */
extern const struct cuda_op cuda_ops[GGML_OP_COUNT];

/* Fuses several nodes into one launch: nodes[0..n) are in this order in a
 * graph, no views among them, and uses[i] is how many nodes and others read
 * nodes[i] (itself, or a view of it): a node may go unwritten only where that
 * is 1 and its reader is in the launch. Returns how many of the first nodes
 * were fused, or 0: the first is to be run by its op. Decides by the same
 * things as the functions above. */
int
cuda_fuse(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses);

/* The k largest of each row's n logits (rows lie `stride` elements apart): in
 * falling order, the lower id first among equals, NaN last, to ids and values
 * (k for each row), and the logarithm of the sum of exp() over the row to lse.
 * All pointers are the device's; 1 <= k <= CUDA_BEST_MAX, k <= n. */
enum {
    CUDA_BEST_MAX = 1024
};
void
cuda_best(struct cuda_ctx *c, const float *logits, int64_t n, int64_t stride,
          int n_rows, int k, int32_t *ids, float *values, double *lse);

/* ---- tests only: what "emulate.h" calls where there is no nvcc ----------- */

/* Puts run(arg) on the stream; arg[0..size) is copied. `stream` is c->stream:
 * the work is done, or recorded in a capture, by the tests' run-time. */
void
cuda_emulate(void *stream, void (*run)(void *arg), const void *arg,
             size_t size);

#ifdef __cplusplus
}
#endif

#endif
