/* alloc_test.h - what tests of allocators share: memory that comes in small
 * pieces, and a stand-in for computing
 *
 * A node checks that each source still holds that source's number, and fills
 * its own memory with its own. */
#ifndef ALLOC_TEST_H
#define ALLOC_TEST_H

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <stdlib.h>
#include <string.h>

#include "backend/impl.h"
#include "harness/tap.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

static inline struct ggml_context *
context(void)
{
    return ggml_init(
        (struct ggml_init_params){ .mem_size = 4 << 20, .no_alloc = true });
}

/* -- Memory that comes in pieces of at most `piece` bytes -- */
static size_t piece = 4096;
static int n_buffers;

static inline const char *
small_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "small";
}

static inline ggml_backend_buffer_t
small_alloc(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;

    if (size > piece)
        return NULL;
    buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
    if (buffer)
        buffer->buft = buft;
    n_buffers++;
    return buffer;
}

static inline size_t
small_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 64;
}

static inline size_t
small_max(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return piece;
}

static inline bool
small_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static const struct ggml_backend_buffer_type_i small_iface = {
    .get_name = small_name,
    .alloc_buffer = small_alloc,
    .get_alignment = small_alignment,
    .get_max_size = small_max,
    .is_host = small_host,
};
static struct ggml_backend_buffer_type small_type = { .iface = &small_iface };

/* -- Computing with numbers -- */

static inline const struct ggml_tensor *
root(const struct ggml_tensor *t)
{
    return t->view_src ? t->view_src : t;
}

static inline void
fill(const struct ggml_tensor *t)
{
    int32_t *p = root(t)->data;

    for (int64_t i = 0; i < ggml_nelements(root(t)); i++)
        p[i] = (int32_t)((intptr_t)root(t) >> 4);
}

static inline bool
holds(const struct ggml_tensor *t)
{
    const int32_t *p = root(t)->data;

    for (int64_t i = 0; i < ggml_nelements(root(t)); i++)
        if (p[i] != (int32_t)((intptr_t)root(t) >> 4))
            return false;
    return true;
}

static inline bool
is_source(const struct ggml_cgraph *g, const struct ggml_tensor *t)
{
    for (int i = 0; i < g->n_nodes; i++)
        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (g->nodes[i]->src[j] == t)
                return true;
    return false;
}

static inline bool
run(struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_leafs; i++)
        fill(g->leafs[i]);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->flags & GGML_TENSOR_FLAG_INPUT)
            fill(g->nodes[i]);
    for (int i = 0; i < g->n_nodes; i++) {
        struct ggml_tensor *t = g->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (t->src[j] && t->src[j] != t && !holds(t->src[j]))
                return false;
        if (!tensor_is_view_op(t->op))
            fill(t);
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const struct ggml_tensor *t = g->nodes[i];

        if ((t->flags & GGML_TENSOR_FLAG_OUTPUT || !is_source(g, t)) &&
            !holds(t))
            return false;
    }
    return true;
}

/* -- A graph -- */

/* Three tensors of 1024 floats; a square root of a square of x. */
static inline struct ggml_cgraph *
chain(struct ggml_context *ctx, int flag)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1024);
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    x->flags |= flag;
    ggml_build_forward_expand(g, ggml_sqrt(ctx, ggml_sqr(ctx, x)));
    return g;
}

#endif
