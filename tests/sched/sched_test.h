/* sched_test.h - a model over two back ends that cannot see each other's
 * memory; what is right is computed here, by hand */
#ifndef SCHED_TEST_H
#define SCHED_TEST_H

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <stdlib.h>
#include <string.h>

#include "backend/impl.h"
#include "fixtures/remote.h"
#include "harness/tap.h"

enum {
    N = 8,
    MAX_TOKENS = 6,
    LAYERS = 3
};

static ggml_backend_t far, near;

static inline struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 4 << 20, .no_alloc = true });
}

/* -- A model: x = relu(W[i] x) + x in each layer; W[i] in `buft[i]` -- */
struct model {
    struct ggml_context *ctx[LAYERS];
    struct ggml_tensor *w[LAYERS];
    ggml_backend_buffer_t buffer[LAYERS];
};

static inline float
weight(int layer, int row, int column)
{
    return (float)((row * 5 + column * 3 + layer * 7) % 11 - 5) / 8;
}

static inline void
load(struct model *m, const ggml_backend_buffer_type_t *bufts)
{
    for (int l = 0; l < LAYERS; l++) {
        float w[N * N];

        for (int i = 0; i < N * N; i++)
            w[i] = weight(l, i / N, i % N);
        m->ctx[l] = context();
        m->w[l] = ggml_new_tensor_2d(m->ctx[l], GGML_TYPE_F32, N, N);
        m->buffer[l] =
            ggml_backend_alloc_ctx_tensors_from_buft(m->ctx[l], bufts[l]);
        ggml_backend_buffer_set_usage(m->buffer[l],
                                      GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        ggml_backend_tensor_set(m->w[l], w, 0, sizeof(w));
    }
}

static inline void
unload(struct model *m)
{
    for (int l = 0; l < LAYERS; l++) {
        ggml_backend_buffer_free(m->buffer[l]);
        ggml_free(m->ctx[l]);
    }
}

static inline struct ggml_cgraph *
build(struct ggml_context *ctx, const struct model *m, int n_tokens)
{
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N, n_tokens);
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);

    ggml_set_name(x, "x");
    ggml_set_input(x);
    for (int l = 0; l < LAYERS; l++) {
        struct ggml_tensor *y = ggml_mul_mat(ctx, m->w[l], x);

        ggml_format_name(y, "product-%d", l);
        y = ggml_relu(ctx, y);
        /* A view between two nodes, as models have them. */
        y = ggml_reshape_2d(ctx, y, N, n_tokens);
        x = ggml_add(ctx, y, x);
        ggml_format_name(x, "layer-%d", l);
    }
    ggml_set_output(x);
    ggml_build_forward_expand(g, x);
    return g;
}

static inline float
input(int seed, int i)
{
    return (float)((i * 7 + seed * 3) % 13 - 6) / 4;
}

static inline void
set_input(struct ggml_cgraph *g, int n_tokens, int seed)
{
    float x[N * MAX_TOKENS];

    for (int i = 0; i < N * n_tokens; i++)
        x[i] = input(seed, i);
    ggml_backend_tensor_set(ggml_graph_get_tensor(g, "x"), x, 0,
                            (size_t)(N * n_tokens) * sizeof(*x));
}

/* All values are multiples of a power of two, and sums of them are exact. */
static inline bool
right(struct ggml_cgraph *g, int n_tokens, int seed)
{
    float y[N * MAX_TOKENS];
    bool same = true;

    ggml_backend_tensor_get(ggml_graph_node(g, -1), y, 0,
                            (size_t)(N * n_tokens) * sizeof(*y));
    for (int t = 0; t < n_tokens; t++) {
        double x[N], next[N];

        for (int i = 0; i < N; i++)
            x[i] = input(seed, t * N + i);
        for (int l = 0; l < LAYERS; l++) {
            for (int i = 0; i < N; i++) {
                double sum = 0;

                for (int j = 0; j < N; j++)
                    sum += weight(l, i, j) * x[j];
                next[i] = (sum > 0 ? sum : 0) + x[i];
            }
            memcpy(x, next, sizeof(x));
        }
        for (int i = 0; i < N; i++)
            same &= (double)y[t * N + i] == x[i];
    }
    return same;
}

static inline bool
products_only(const struct ggml_tensor *op)
{
    return op->op == GGML_OP_MUL_MAT;
}

static inline ggml_backend_sched_t
scheduler(int n)
{
    ggml_backend_t both[] = { far, near };

    return n == 1 ? ggml_backend_sched_new(&near, NULL, 1, 2048, false, true)
                  : ggml_backend_sched_new(both, NULL, 2, 2048, false, true);
}

static inline void
begin(void)
{
    near = ggml_backend_cpu_init();
    far = remote_init();
}

static inline void
end(void)
{
    ggml_backend_free(near);
    ggml_backend_free(far);
    is(remote.n_buffers, 0, "all buffers are freed");
}

#endif
