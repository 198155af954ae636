/* cpu_ops.c - the kernels' place taken by the CPU's
 *
 * What the back end launches is computed by the CPU back end when the stream
 * comes to it, in the memory that the fake device has. Results are the CPU's
 * to the bit, whatever lies between: what differs is the back end's fault. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-cpu.h>

#include "cuda/kernels.h"

/* A node as it was when it was launched. */
struct call {
    struct ggml_tensor node, src[GGML_MAX_SRC], viewed;
};

static void
compute(void *arg)
{
    struct call *call = arg;
    struct ggml_init_params params = {
        .mem_size =
            ggml_graph_overhead_custom(8, false) + ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 8, false);
    ggml_backend_t cpu = ggml_backend_cpu_init();

    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (call->node.src[i])
            call->node.src[i] = &call->src[i];
    ggml_backend_cpu_set_n_threads(cpu, 1);
    ggml_graph_add_node(g, &call->node);
    if (ggml_backend_graph_compute(cpu, g) != GGML_STATUS_SUCCESS)
        abort();
    ggml_backend_free(cpu);
    ggml_free(ctx);
}

struct copy {
    void *to;
    const void *from;
    size_t size;
};

static void
copy(void *arg)
{
    struct copy *c = arg;

    memcpy(c->to, c->from, c->size);
}

/* Products read their columns where they were prepared, for this product or
 * for one before: whoever keeps them for too long gets what was there. */
static void *
prepare_columns(struct cuda_ctx *c, struct ggml_tensor *x)
{
    struct copy call = { NULL, x->data, ggml_nbytes(x) };
    bool made;

    call.to = cuda_cached_activations(c, x, x->type, call.size, &made);
    if (call.to && !made)
        cuda_emulate(c->stream, copy, &call, sizeof(call));
    return call.to;
}

static void
run(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct call *call = calloc(1, sizeof(*call));

    assert(call);
    call->node = *dst;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (dst->src[i])
            call->src[i] = *dst->src[i];
    if (dst->op == GGML_OP_MUL_MAT)
        call->src[1].data = prepare_columns(c, dst->src[1]);
    cuda_emulate(c->stream, compute, call, sizeof(*call));
    free(call);
}

static bool
supports(const struct ggml_tensor *op)
{
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    return ggml_backend_dev_supports_op(cpu, op);
}

#define OP(name) [GGML_OP_##name] = { supports, run }

const struct cuda_op cuda_ops[GGML_OP_COUNT] = {
    OP(DUP),      OP(ADD),        OP(ADD_ID),   OP(SUB),
    OP(MUL),      OP(DIV),        OP(SUM_ROWS), OP(ARGMAX),
    OP(REPEAT),   OP(CONCAT),     OP(NORM),     OP(RMS_NORM),
    OP(MUL_MAT),  OP(MUL_MAT_ID), OP(SCALE),    OP(CPY),
    OP(CONT),     OP(GET_ROWS),   OP(SET_ROWS), OP(DIAG_MASK_INF),
    OP(SOFT_MAX), OP(ROPE),       OP(CLAMP),    OP(ARGSORT),
    OP(TOP_K),    OP(UNARY),      OP(GLU),      OP(FLASH_ATTN_EXT),
};

/* ---- two in one --------------------------------------------------------- */

struct spoil {
    void *p;
    size_t size;
};

static void
spoil(void *arg)
{
    struct spoil *s = arg;

    memset(s->p, 0xff, s->size); /* a float of that is NaN */
}

static bool
reads(const struct ggml_tensor *t, const struct ggml_tensor *src)
{
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i] && (t->src[i] == src || t->src[i]->view_src == src))
            return true;
    return false;
}

static bool
overlap(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *x = a->data, *y = b->data;

    return x < y + ggml_nbytes(b) && y < x + ggml_nbytes(a);
}

/* A node whose result is also stored as the columns of the next product. */
static int
run_ahead(struct cuda_ctx *c, struct ggml_tensor *node,
          const struct ggml_tensor *columns)
{
    struct copy call = { NULL, columns->data, ggml_nbytes(columns) };

    call.to = cuda_cache_next_activations(c, columns, columns->type, call.size);
    run(c, node);
    if (call.to)
        cuda_emulate(c->stream, copy, &call, sizeof(call));
    return 1;
}

/* The result that a fused kernel would leave out is overwritten: whoever reads
 * it against the count of its readers gets noise. */
int
cuda_fuse(struct cuda_ctx *c, struct ggml_tensor *const *nodes, int n,
          const int *uses)
{
    struct spoil left_out = { nodes[0]->data, ggml_nbytes(nodes[0]) };

    if (n > 1 && nodes[0]->op != GGML_OP_MUL_MAT &&
        nodes[1]->op == GGML_OP_MUL_MAT &&
        nodes[1]->src[1]->data == nodes[0]->data)
        return run_ahead(c, nodes[0], nodes[1]->src[1]);
    if (n < 2 || uses[0] != 1 || !reads(nodes[1], nodes[0]) ||
        overlap(nodes[0], nodes[1]))
        return 0;
    run(c, nodes[0]);
    run(c, nodes[1]);
    cuda_emulate(c->stream, spoil, &left_out, sizeof(left_out));
    return 2;
}

/* ---- the k largest ------------------------------------------------------ */

struct best {
    const float *logits;
    int64_t n, stride;
    int n_rows, k;
    int32_t *ids;
    float *values;
    double *lse;
};

static bool
is_before(const float *row, int32_t a, int32_t b)
{
    if (isnan(row[a]) || isnan(row[b]))
        return isnan(row[a]) && (!isnan(row[b]) || a < b);
    return row[a] != row[b] ? row[a] > row[b] : a < b;
}

static void
best_of_row(const float *row, const struct best *b, int32_t *ids)
{
    int found = 0;

    for (int32_t i = 0; i < b->n; i++) {
        int at = found;

        while (at > 0 && is_before(row, i, ids[at - 1]))
            at--;
        if (at == b->k)
            continue;
        if (found < b->k)
            found++;
        memmove(ids + at + 1, ids + at,
                (size_t)(found - at - 1) * sizeof(*ids));
        ids[at] = i;
    }
}

static double
log_sum_exp(const float *row, int64_t n)
{
    double max = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i++)
        max = row[i] > max ? row[i] : max;
    for (int64_t i = 0; i < n; i++)
        sum += exp(row[i] - max);
    return max + log(sum);
}

static void
find_best(void *arg)
{
    const struct best *b = arg;

    for (int i = 0; i < b->n_rows; i++) {
        const float *row = b->logits + i * b->stride;
        int32_t *ids = b->ids + i * b->k;

        best_of_row(row, b, ids);
        for (int j = 0; j < b->k; j++)
            b->values[i * b->k + j] = row[ids[j]];
        b->lse[i] = log_sum_exp(row, b->n);
    }
}

void
cuda_best(struct cuda_ctx *c, const float *logits, int64_t n, int64_t stride,
          int n_rows, int k, int32_t *ids, float *values, double *lse)
{
    struct best b = { logits, n, stride, n_rows, k, ids, values, lse };

    cuda_emulate(c->stream, find_best, &b, sizeof(b));
}
