/* test_cuda_sequences.c - attention of sequences, each with keys of its own,
 * whose results are concatenated: CUDA computes them in some launches */
#include <math.h>

#include "cuda/fuse_test.h"
#include "cuda/launch_config.h"

enum place {
    APART,
    OVER_QUERIES,   /* each result over its query */
    BEHIND_QUERIES, /* over the next token's */
    OVER_SINKS
};

struct batch {
    const char *name;
    int n, tokens[4], keys[4]; /* repeated */
    bool tree, open, sinks;
    enum place place;
    enum ggml_type type;
    int d;
    float softcap, max_bias;
    long launches;
    double bound;
};

#define HEADS 4
#define ROWS  200 /* of the cache, a sequence */

/* The last keys are the tokens' own; some after them are hidden from all. */
static struct ggml_tensor *
new_mask(struct ggml_context *ctx, int keys, int tokens, int unused)
{
    struct ggml_tensor *mask =
        kt_tensor(ctx, GGML_TYPE_F16, keys, tokens, 1, 1);
    ggml_fp16_t *m = mask->data;

    for (int t = 0; t < tokens; t++)
        for (int k = 0; k < keys; k++)
            m[t * keys + k] = ggml_fp32_to_fp16(
                k > keys - unused - tokens + t ? -INFINITY : 0);
    return mask;
}

struct caches {
    struct ggml_tensor *q, *k, *v, *sinks;
};

/* Sequence i, whose queries begin at token `first`. */
static struct ggml_tensor *
new_sequence(struct ggml_context *ctx, const struct batch *b,
             const struct caches *c, int i, int first)
{
    int tokens = b->tokens[i % 4], keys = b->keys[i % 4];
    struct ggml_tensor *q = c->q, *k = c->k, *v = c->v, *t;

    q = ggml_view_3d(ctx, q, b->d, HEADS, tokens, q->nb[1], q->nb[2],
                     (size_t)first * q->nb[2]);
    k = ggml_view_3d(ctx, k, b->d, keys, 2, k->nb[1], k->nb[2],
                     (size_t)(ROWS * i) * k->nb[1]);
    v = ggml_view_3d(ctx, v, b->d, keys, 2, v->nb[1], v->nb[2],
                     (size_t)(ROWS * i) * v->nb[1]);
    t = ggml_flash_attn_ext(
        ctx, ggml_permute(ctx, q, 0, 2, 1, 3), k, v,
        b->open ? NULL : new_mask(ctx, keys, tokens, keys / 3 + i % 5), 0.2f,
        b->max_bias, b->softcap);
    if (c->sinks)
        ggml_flash_attn_ext_add_sinks(t, c->sinks);
    return t;
}

/* Sequences from `from` to before `end`, and what puts them together, as nodes
 * of g; *first: tokens before. Returns the result. */
static struct ggml_tensor *
add_sequences(struct ggml_context *ctx, const struct batch *b,
              const struct caches *c, struct nodes *g, int from, int end,
              int *first)
{
    int middle = b->tree ? (from + end) / 2 : end - 1;
    struct ggml_tensor *x, *y;

    if (end - from == 1) {
        x = g->node[g->n++] = new_sequence(ctx, b, c, from, *first);
        *first += b->tokens[from % 4];
        return x;
    }
    x = add_sequences(ctx, b, c, g, from, middle, first);
    y = add_sequences(ctx, b, c, g, middle, end, first);
    return g->node[g->n++] = ggml_concat(ctx, x, y, 2);
}

/* All of a batch; the result's place is given where a test may choose it. */
static struct ggml_tensor *
add_batch(struct ggml_context *ctx, const struct batch *b, struct nodes *g)
{
    int all = 0, first = 0;
    struct ggml_tensor *sinks, *t;
    struct caches c = { 0 };

    for (int i = 0; i < b->n; i++)
        all += b->tokens[i % 4];
    c.q = kt_tensor(ctx, F32, b->d, HEADS, all + 1, 1);
    c.k = kt_tensor(ctx, b->type, b->d, ROWS * b->n, 2, 1);
    c.v = kt_tensor(ctx, b->type, b->d, ROWS * b->n, 2, 1);
    sinks = kt_tensor(ctx, F32, b->d * HEADS * (all + 1), 1, 1, 1);
    if (b->sinks)
        c.sinks = ggml_view_1d(ctx, sinks, HEADS, 0);
    t = add_sequences(ctx, b, &c, g, 0, b->n, &first);
    if (b->place == APART || kt_on_device()) /* who allocates decides there */
        return t;
    t->data = b->place == OVER_SINKS ? sinks->data : c.q->data;
    if (b->place == BEHIND_QUERIES)
        t->data = (char *)t->data + c.q->nb[2];
    return t;
}

static void
check_launches(const struct nodes *g, long want, const char *name)
{
    char text[200];

    if (kt_on_device())
        return;
    snprintf(text, sizeof(text), "%s: %ld launches of %ld", name, g->launches,
             want);
    kt_ok(g->launches == want, text);
}

static void
test_sequences(const struct batch *b)
{
    struct ggml_context *ctx = kt_begin();
    struct nodes g = { .n = 0 };

    add_batch(ctx, b, &g);
    compute_all(ctx, &g, g.n, b->bound, b->name);
    check_launches(&g, b->launches, b->name);
    kt_end(ctx);
}

#define F16   GGML_TYPE_F16
#define TILES 3e-6 /* products of F16s */
#define PARTS 1e-11

static const struct batch batches[] = {
    { "a chain of tokens",
      3,
      { 1, 1, 1, 1 },
      { 64, 200, 128, 64 },
      .type = F16,
      .d = 64,
      .launches = 2,
      .bound = PARTS },
    { "a tree of some tokens, sinks",
      5,
      { 3, 3, 3, 3 },
      { 64, 200, 128, 70 },
      .tree = true,
      .sinks = true,
      .type = F16,
      .d = 64,
      .launches = 2,
      .bound = PARTS },
    { "many tokens over queries",
      37,
      { 1, 1, 1, 1 },
      { 64, 200, 128, 64 },
      .tree = true,
      .place = BEHIND_QUERIES,
      .type = F16,
      .d = 64,
      .launches = 4,
      .bound = PARTS },
    { "tokens over sinks",
      3,
      { 2, 2, 2, 2 },
      { 64, 200, 128, 64 },
      .sinks = true,
      .place = OVER_SINKS,
      .type = F16,
      .d = 64,
      .launches = 3,
      .bound = PARTS },
    { "a chain of prompts",
      3,
      { 70, 16, 33, 0 },
      { 150, 64, 200, 0 },
      .type = F16,
      .d = 64,
      .launches = 2,
      .bound = TILES },
    { "a tree of prompts, sinks, soft cap, ALiBi",
      4,
      { 20, 66, 16, 64 },
      { 170, 140, 60, 128 },
      .tree = true,
      .sinks = true,
      .type = F16,
      .d = 64,
      .softcap = 10,
      .max_bias = 8,
      .launches = 2,
      .bound = TILES },
    { "prompts without masks",
      3,
      { 20, 30, 65, 0 },
      { 70, 128, 31, 0 },
      .tree = true,
      .open = true,
      .type = F16,
      .d = 128,
      .launches = 2,
      .bound = TILES },
    { "wide prompts",
      2,
      { 20, 68, 0, 0 },
      { 200, 90, 0, 0 },
      .type = F16,
      .d = 256,
      .launches = 2,
      .bound = TILES },
    { "prompts over queries",
      3,
      { 20, 16, 65, 0 },
      { 70, 128, 190, 0 },
      .tree = true,
      .place = OVER_QUERIES,
      .type = F16,
      .d = 64,
      .launches = 3,
      .bound = TILES },
    { "prompts over others' queries",
      3,
      { 20, 16, 65, 0 },
      { 70, 128, 190, 0 },
      .place = BEHIND_QUERIES,
      .type = F16,
      .d = 64,
      .launches = 3,
      .bound = TILES },
    { "many prompts",
      35,
      { 16, 17, 16, 20 },
      { 50, 64, 90, 40 },
      .tree = true,
      .type = F16,
      .d = 64,
      .launches = 4,
      .bound = TILES },
    { "prompts between tokens",
      11,
      { 1, 17, 40, 1 },
      { 150, 40, 200, 90 },
      .tree = true,
      .sinks = true,
      .type = F16,
      .d = 64,
      .launches = 12,
      .bound = TILES },
    { "the same over queries",
      5,
      { 17, 20, 1, 1 },
      { 150, 40, 200, 90 },
      .place = BEHIND_QUERIES,
      .type = F16,
      .d = 64,
      .launches = 7,
      .bound = TILES },
    { "a prompt and some tokens",
      3,
      { 20, 2, 2, 0 },
      { 150, 40, 200, 0 },
      .type = F16,
      .d = 64,
      .launches = 4,
      .bound = PARTS },
    { "tokens and more tokens",
      4,
      { 2, 3, 3, 1 },
      { 150, 40, 200, 64 },
      .tree = true,
      .type = GGML_TYPE_BF16,
      .d = 64,
      .launches = 6,
      .bound = PARTS },
    { "tokens without masks",
      4,
      { 2, 2, 1, 1 },
      { 150, 40, 200, 64 },
      .open = true,
      .type = F16,
      .d = 64,
      .launches = 4,
      .bound = PARTS },
    { "caches of Q8_0",
      4,
      { 20, 1, 66, 1 },
      { 40, 90, 150, 40 },
      .tree = true,
      .place = BEHIND_QUERIES,
      .type = GGML_TYPE_Q8_0,
      .d = 64,
      .launches = 13,
      .bound = TILES },
    { "a width without tiles",
      2,
      { 20, 20, 0, 0 },
      { 40, 90, 0, 0 },
      .type = F16,
      .d = 80,
      .launches = 4,
      .bound = PARTS },
};

/* Whether results are stored in the next product's type: each kernel can, but
 * the tensor-core one does not quantise to 8 bits, as small batches need. */
static bool
has_fused_output(const struct batch *b, int64_t columns)
{
    bool tiles = false;

    for (int i = 0; i < b->n; i++)
        tiles = tiles || b->tokens[i % 4] >= 16;
    return b->d % 32 == 0 &&
           (columns > cuda_small_batch_columns(true) || !tiles);
}

static void
test_sequences_ready(const struct batch *b)
{
    struct ggml_context *ctx = kt_begin();
    struct nodes g = { .n = 0 };
    struct ggml_tensor *x = add_batch(ctx, b, &g), *w;
    int64_t columns = x->ne[2];

    w = kt_tensor(ctx, GGML_TYPE_Q4_0, b->d * HEADS, 21, 1, 1);
    g.node[g.n++] =
        ggml_mul_mat(ctx, w, ggml_reshape_2d(ctx, x, w->ne[0], columns));
    for (int i = 0; i < g.n; i++)
        g.uses[i] = 1;
    /* a byte may be another where a sum ends in other bits */
    kt_check_run(ctx, g.node[g.n - 1], x, run_all, &g,
                 columns > cuda_small_batch_columns(true) ? 1e-4 : 1e-5,
                 b->name);
    check_launches(&g, b->launches + (has_fused_output(b, columns) ? 1 : 2),
                   "and a product");
    kt_end(ctx);
}

/* Results that are read elsewhere, or lie in another order, are written. */
static void
test_apart(void)
{
    struct batch b = {
        "", 3, { 1, 20, 20, 0 }, { 64, 90, 128, 0 }, .type = F16, .d = 64
    };
    struct ggml_context *ctx = kt_begin();
    struct nodes g = { .n = 0 };

    add_batch(ctx, &b, &g);
    g.uses[0] = 2;
    fuse(ctx, &g, 1, PARTS, NULL, "a sequence that others read");
    g.uses[0] = 1;
    g.uses[1] = 2;
    fuse(ctx, &g, 1, PARTS, NULL, "a sequence before such a one");
    g.uses[1] = 1;
    g.uses[2] = 2;
    fuse(ctx, &g, 3, PARTS, NULL, "sequences that others read together");
    g.n = 3;
    g.uses[2] = 1;
    g.node[2] = ggml_concat(ctx, g.node[1], g.node[0], 2);
    fuse(ctx, &g, 1, PARTS, NULL, "sequences in another order");
    kt_end(ctx);
}

int
main(void)
{
    kt_start();
    for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++)
        test_sequences(&batches[i]);
    for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++)
        test_sequences_ready(&batches[i]);
    test_apart();
    return kt_done();
}
