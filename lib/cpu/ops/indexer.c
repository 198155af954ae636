/* indexer.c - LIGHTNING_INDEXER: what tokens would give to keys, to choose
 * those that they attend to
 *
 * For a few tokens keys are multiplied row by row; for more, a block of keys is
 * transposed once for all of them: the same sums. A block of which a token sees
 * nothing is not multiplied. */
#include <math.h>
#include <string.h>

#include "core/half.h"
#include "cpu/ops/mask_summary.h"
#include "cpu/ops/op_table.h"
#include "quant/types.h"

enum {
    KEYS = 64,  /* that are multiplied together */
    LANES = 16, /* kernels take multiples of it */
    FEW = 4,    /* tokens for which keys are not transposed */
};

/* Keys [first, first + n) of a sequence, and a token's products with them. */
struct block {
    int64_t first, n, sequence;
    float *keys;   /* KEYS rows, as floats */
    float *lanes;  /* the same, transposed; NULL: they are not */
    float *scores; /* a row for each head */
};

static int64_t
blocks_of_sequence(const struct ggml_tensor *dst)
{
    return (dst->ne[0] + KEYS - 1) / KEYS;
}

static size_t
keys_size(const struct ggml_tensor *dst)
{
    return cpu_pad(sizeof(float) * KEYS * (size_t)dst->src[1]->ne[0]);
}

static size_t
scores_size(const struct ggml_tensor *dst)
{
    return cpu_pad(sizeof(float) * KEYS * (size_t)dst->src[0]->ne[1]);
}

static size_t
scratch_size(const struct ggml_tensor *dst)
{
    return 2 * keys_size(dst) + scores_size(dst);
}

/* Kernels read whole lanes of queries, too. */
static bool
is_transposed(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0];

    return q->ne[2] > FEW && q->ne[0] % LANES == 0;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    (void)k;
    return scratch_size(dst) * (size_t)n_threads;
}

static void
load_keys(const struct cpu_task *t, const struct ggml_tensor *k,
          const struct block *b)
{
    int64_t n = k->ne[0];

    for (int64_t i = 0; i < b->n; i++) {
        struct cpu_row r = { 0, b->first + i, b->sequence };
        float *to = b->keys + i * n;
        const float *row = cpu_load_row(t, k, r, to);

        for (int64_t j = 0; j < n && row != to; j++)
            to[j] = row[j];
    }
    if (!b->lanes)
        return;
    memset(b->keys + b->n * n, 0,
           (size_t)((KEYS - b->n) * n) * sizeof(*b->keys));
    t->k->transpose(KEYS, n, b->keys, (size_t)n, b->lanes, KEYS);
}

static void
multiply_transposed(const struct cpu_task *t, const struct ggml_tensor *q,
                    int64_t token, const struct block *b)
{
    struct cpu_row r = { 0, token, b->sequence };
    struct cpu_panel p = {
        .m = q->ne[1],
        .n = KEYS,
        .k = q->ne[0],
        .a = (const float *)(const void *)cpu_row_data(q, r),
        .b = b->lanes,
        .c = b->scores,
        .a_stride = q->nb[1] / sizeof(float),
        .b_stride = KEYS,
        .c_stride = KEYS,
    };

    t->k->multiply_lanes(&p);
}

/* scores[head][key] = q . k */
static void
multiply_keys(const struct cpu_task *t, const struct ggml_tensor *q,
              int64_t token, const struct block *b)
{
    struct cpu_row r = { 0, token, b->sequence };
    struct cpu_small_batch p = {
        .m = q->ne[1],
        .n = b->n,
        .k = q->ne[0],
        .a = (const float *)(const void *)cpu_row_data(q, r),
        .b = (const char *)b->keys,
        .c = b->scores,
        .a_stride = q->nb[1] / sizeof(float),
        .c_stride = KEYS,
        .b_stride = (size_t)q->ne[0] * sizeof(float),
    };

    if (b->lanes) {
        multiply_transposed(t, q, token, b);
        return;
    }
    if (b->n < KEYS)
        memset(b->scores, 0, (size_t)p.m * KEYS * sizeof(*b->scores));
    t->k->dot_rows[GGML_TYPE_F32](&p);
}

static float
nonnegative(float v)
{
    return v < 0 ? 0 : v;
}

/* NULL: there is none. */
static const uint16_t *
mask_of(const struct ggml_tensor *dst, int64_t token, const struct block *b)
{
    const struct ggml_tensor *m = dst->src[3];
    struct cpu_row r = { token, 0, m ? b->sequence % m->ne[3] : 0 };

    return m ? (const uint16_t *)(const void *)cpu_row_data(m, r) + b->first
             : NULL;
}

static bool
sees_any(const struct ggml_tensor *dst, int64_t token, const struct block *b)
{
    const uint16_t *mask = mask_of(dst, token, b);

    return !mask || cpu_mask_visible_keys(mask, b->n) > 0;
}

/* y[key] = sum over heads of weight * max(0, score), and the mask; NaN stays */
static void
sum_heads(struct ggml_tensor *dst, int64_t token, const struct block *b)
{
    const struct ggml_tensor *w = dst->src[2];
    struct cpu_row r = { token, 0, b->sequence };
    const float *weight = (const float *)(const void *)cpu_row_data(w, r);
    const uint16_t *mask = mask_of(dst, token, b);
    float *y = (float *)(void *)cpu_row_data(dst, r) + b->first;
    float sums[KEYS] = { 0 };

    for (int64_t head = 0; head < w->ne[0]; head++)
        for (int i = 0; i < KEYS; i++)
            sums[i] += weight[head] * nonnegative(b->scores[head * KEYS + i]);
    for (int64_t i = 0; i < b->n; i++)
        y[i] = mask ? sums[i] + half_to_float(mask[i]) : sums[i];
}

static void
hide_block(struct ggml_tensor *dst, int64_t token, const struct block *b)
{
    struct cpu_row r = { token, 0, b->sequence };
    float *y = (float *)(void *)cpu_row_data(dst, r) + b->first;

    for (int64_t i = 0; i < b->n; i++)
        y[i] = -INFINITY;
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    int64_t each = blocks_of_sequence(dst);
    struct cpu_range blocks = cpu_share(t, each * dst->ne[3]);
    char *scratch = cpu_scratch(t, scratch_size(dst));

    for (int64_t i = blocks.first; i < blocks.end; i++) {
        struct block b = {
            .first = i % each * KEYS,
            .sequence = i / each,
            .keys = (float *)(void *)scratch,
            .scores = (float *)(void *)(scratch + 2 * keys_size(dst)),
        };

        if (is_transposed(dst))
            b.lanes = (float *)(void *)(scratch + keys_size(dst));
        b.n = dst->ne[0] - b.first < KEYS ? dst->ne[0] - b.first : KEYS;
        load_keys(t, dst->src[1], &b);
        for (int64_t token = 0; token < dst->ne[1]; token++) {
            if (!sees_any(dst, token, &b)) {
                hide_block(dst, token, &b);
                continue;
            }
            multiply_keys(t, dst->src[0], token, &b);
            sum_heads(dst, token, &b);
        }
    }
}

static bool
supports(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0];

    return cpu_is_plain(q) && q->nb[1] % sizeof(float) == 0 &&
           cpu_can_load(dst->src[1]) && cpu_is_plain(dst->src[2]) &&
           (!dst->src[3] || dst->src[3]->nb[0] == sizeof(uint16_t));
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[0];

    return ggml_nelements(dst) * q->ne[0] * q->ne[1] / 16;
}

const struct cpu_op cpu_op_lightning_indexer = { .compute = compute,
                                                 .supports = supports,
                                                 .cost = cost,
                                                 .work_size = work_size };
