/* fuse_test.h - tests of nodes that CUDA computes in one launch, by emulation
 * or a device: see cuda/kernel_test.h */
#ifndef CUDA_FUSE_TEST_H
#define CUDA_FUSE_TEST_H

#include <stdio.h>
#include <string.h>

#include "cuda/kernel_runner.h"

#define F32 GGML_TYPE_F32

/* Nodes that cuda_fuse() is given, and the number that it should take. */
struct nodes {
    struct ggml_tensor *node[80];
    int n, uses[80], taken;
    long launches;
};

static inline void
run(void *arg)
{
    struct nodes *g = arg;

    g->taken = kt_fuse(g->node, g->n, g->uses);
}

/* All nodes, one after the other or together. */
static inline void
run_all(void *arg)
{
    struct nodes *g = arg;
    long before = kt_on_device() ? 0 : kt_launches();

    g->taken = 0;
    for (int i = 0, n; i < g->n; i += n) {
        n = kt_fuse(g->node + i, g->n - i, g->uses + i);
        if (n == 0)
            kt_run_op(g->node[i]);
        else
            g->taken += n;
        n = n ? n : 1;
    }
    g->launches = kt_on_device() ? 0 : kt_launches() - before;
}

static inline void
fuse(struct ggml_context *ctx, struct nodes *g, int want, double bound,
     struct ggml_tensor *also, const char *name)
{
    char text[200];

    for (int i = 0; i < g->n; i++)
        if (!g->uses[i])
            g->uses[i] = 1;
    kt_check_run(ctx, g->node[want - 1], also, run, g, bound, name);
    if (kt_on_device())
        return;
    snprintf(text, sizeof(text), "%s: %d nodes of %d", name, g->taken, g->n);
    kt_ok(g->taken == want, text);
}

/* Nothing may be done. */
static inline void
refuse(struct nodes *g, const char *name)
{
    for (int i = 0; i < g->n; i++)
        if (!g->uses[i])
            g->uses[i] = 1;
    if (kt_on_device())
        return;
    run(g);
    kt_ok(g->taken == 0, name);
}

/* The last of the nodes, all of which are computed, `want` of them together. */
static inline void
compute_all(struct ggml_context *ctx, struct nodes *g, int want, double bound,
            const char *name)
{
    char text[200];

    for (int i = 0; i < g->n; i++)
        g->uses[i] = 1;
    kt_check_run(ctx, g->node[g->n - 1], NULL, run_all, g, bound, name);
    if (kt_on_device())
        return;
    snprintf(text, sizeof(text), "%s: %d nodes of %d", name, g->taken, g->n);
    kt_ok(g->taken == want, text);
}

#endif
