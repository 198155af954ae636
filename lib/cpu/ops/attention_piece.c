/* attention_piece.c - one piece of attention: softmax(q k^T * scale + mask) v
 *
 * A small batch of rows, as in decoding, reads keys and values where they lie
 * in the KV cache. For more, a block of keys is made floats and transposed,
 * once for all rows, so that scores need no shuffles; they are the same sums.
 */
#include "cpu/ops/attention_piece.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "cpu/prefetch.h"
#include "tensor/tensor.h"

/* The most rows of a small batch, which reads keys and values where they lie.
 */
#define SMALL_BATCH_ROWS 16
/* More rows are multiplied some at a time, with the keys visible to any. */
#define STRIPE 24
/* A head's rows lie too far apart for the hardware prefetcher: they are
 * prefetched this many rows before they are read or written, keys and values
 * one step. */
#define PREFETCH_ROWS 8

/* Where rows of the queries are in q, one after the other, and so in the mask.
 */
static struct cpu_row
first_row(const struct queries *qs)
{
    return (struct cpu_row){ qs->first, qs->head, qs->batch };
}

static struct cpu_row
row_after(const struct queries *qs, struct cpu_row r)
{
    bool last = r.i2 == qs->head + qs->n_heads - 1;

    return (struct cpu_row){ r.i1 + last, last ? qs->head : r.i2 + 1, r.i3 };
}

static struct cpu_row
prefetched_row(const struct queries *qs)
{
    struct cpu_row r = first_row(qs);

    for (int i = 0; i < PREFETCH_ROWS; i++)
        r = row_after(qs, r);
    return r;
}

/* The result has heads before tokens. */
static struct cpu_row
of_dst(struct cpu_row of_q)
{
    return (struct cpu_row){ of_q.i2, of_q.i1, of_q.i3 };
}

static const mask_block *
summaries_of(const struct attention *a, struct cpu_row r)
{
    const int64_t *n = a->mask->ne;
    int64_t i = (r.i3 * n[2] + r.i2) * n[1] + r.i1;

    return a->summaries ? a->summaries + (size_t)i * a->summaries_row : NULL;
}

/* The summary of the n keys at `key` for row i. */
static mask_block
summary_of(const struct attention *a, const struct attention_scratch *scratch,
           int64_t i, int64_t key, int64_t n)
{
    if (!a->mask)
        return (mask_block)(n | MASK_BLOCK_UNMASKED);
    if (a->summaries)
        return scratch->summaries[i][key / KEYS];
    return cpu_mask_block_summary(scratch->masks[i] + key, n);
}

/* Whether any of them is visible to it, which is mostly the last one. */
static bool
any_visible(const struct attention *a, const struct attention_scratch *scratch,
            int64_t i, int64_t key, int64_t n)
{
    if (!a->mask || a->summaries)
        return summary_of(a, scratch, i, key, n) != 0;
    return cpu_mask_visible_keys(scratch->masks[i] + key, n) > 0;
}

/* The summary for each row, and between which rows any of the keys is visible;
 * false if none is. A mask that is the same for all heads is summarised once a
 * token. */
static bool
summarise_block(const struct attention *a, struct queries *qs, int64_t key,
                int64_t n, struct attention_scratch *scratch)
{
    qs->begin = qs->rows;
    qs->end = 0;
    for (int64_t i = 0; i < qs->rows; i++) {
        if (i > 0 && scratch->masks[i] == scratch->masks[i - 1])
            scratch->mask_block[i] = scratch->mask_block[i - 1];
        else
            scratch->mask_block[i] = summary_of(a, scratch, i, key, n);
        if (scratch->mask_block[i] == 0)
            continue;
        qs->begin = i < qs->begin ? i : qs->begin;
        qs->end = i + 1;
    }
    return qs->begin < qs->end;
}

/* Without a mask all rows have the same. */
static void
find_mask(const struct attention *a, struct cpu_row of_q, int64_t i,
          struct attention_scratch *scratch)
{
    scratch->masks[i] = NULL;
    scratch->summaries[i] = NULL;
    if (a->mask) {
        struct cpu_row r = cpu_row_wrap(a->mask, of_q);

        scratch->masks[i] = cpu_attention_mask(a, r);
        scratch->summaries[i] = summaries_of(a, r);
    }
}

/* The sums of row i begin with none, or go on from a part before. */
static void
begin_sums(const struct attention *a, struct cpu_row of_q, int64_t i,
           struct attention_scratch *scratch)
{
    float *sums = scratch->sums + (size_t)i * a->e;
    int64_t n = a->v->ne[0];
    const float *before;

    memset(sums, 0, a->e * sizeof(float));
    scratch->max[i] = -INFINITY;
    scratch->total[i] = 0;
    if (!a->before)
        return;
    before = (const float *)(const void *)cpu_row_data(a->before, of_dst(of_q));
    memcpy(sums, before, (size_t)n * sizeof(float));
    scratch->max[i] = before[n];
    scratch->total[i] = before[n + 1];
}

static void
load_queries(const struct cpu_task *t, const struct attention *a,
             const struct queries *qs, struct attention_scratch *scratch)
{
    struct cpu_row r = first_row(qs), prefetched = prefetched_row(qs);

    for (int64_t i = 0; i < qs->rows; i++, r = row_after(qs, r)) {
        float *y = scratch->queries + (size_t)i * a->d;
        const float *row = cpu_load_row(t, a->q, r, y);

        if (i + PREFETCH_ROWS < qs->rows)
            cpu_prefetch_row(a->q, prefetched, false);
        prefetched = row_after(qs, prefetched);
        t->k->scale(a->q->ne[0], y, row, a->scale, 0);
        memset(y + a->q->ne[0], 0, (a->d - (size_t)a->q->ne[0]) * sizeof(*y));
        find_mask(a, r, i, scratch);
        begin_sums(a, r, i, scratch);
        scratch->slope[i] = cpu_alibi_slope(r.i2, a->q->ne[2], a->max_bias);
    }
}

/* Rows of k or v; `prefetch`: those that are prefetched while they are read, or
 * NULL.
 */
struct rows {
    const char *at, *prefetch;
    size_t stride;
    enum ggml_type type;
};

static void
prefetch_bytes(const char *row, size_t size)
{
    for (size_t at = 0; at < size; at += CPU_LINE)
        PREFETCH_L2(row + at);
}

/* n rows of k or v as floats, with zeros after their ends. */
static struct rows
load_rows(const struct cpu_task *t, const struct ggml_tensor *x,
          const struct rows *rows, int64_t n, float *y, size_t stride)
{
    size_t used = (size_t)x->ne[0], size = ggml_row_size(x->type, x->ne[0]);
    struct rows floats = { .at = (const char *)y,
                           .stride = stride * sizeof(*y),
                           .type = GGML_TYPE_F32 };

    for (int64_t i = 0; i < n; i++, y += stride) {
        if (rows->prefetch)
            prefetch_bytes(rows->prefetch + (size_t)i * rows->stride, size);
        t->k->to_float[x->type](rows->at + (size_t)i * rows->stride, y,
                                x->ne[0]);
        if (used < stride)
            memset(y + used, 0, (stride - used) * sizeof(*y));
    }
    return floats;
}

static const char *
block_of(const struct ggml_tensor *x, const struct attention *a,
         const struct queries *qs, int64_t key)
{
    struct cpu_row r = { key, qs->head / (a->q->ne[2] / x->ne[2]),
                         qs->batch / (a->q->ne[3] / x->ne[3]) };

    return cpu_row_data(x, r);
}

/* Rows [begin, end) with the first n keys of a block: what is left out counts
 * as masked. */
struct stripe {
    int64_t begin, end, n;
};

static int64_t
rows_of(const struct stripe *s)
{
    return s->end - s->begin;
}

/* With the keys of the block that are visible to any row. */
static struct stripe
stripe_of(const struct attention_scratch *scratch, int64_t begin, int64_t end)
{
    struct stripe s = { .begin = begin, .end = end };

    for (int64_t i = begin; i < end; i++) {
        int64_t visible = scratch->mask_block[i] & MASK_BLOCK_KEYS;

        s.n = visible > s.n ? visible : s.n;
    }
    return s;
}

/* Scores as products of rows where they lie. */
static void
score_rows(const struct cpu_task *t, const struct attention *a,
           const struct rows *keys, const struct stripe *s,
           struct attention_scratch *scratch)
{
    struct cpu_small_batch p = { .m = rows_of(s),
                                 .n = s->n,
                                 .k = a->k->ne[0],
                                 .a =
                                     scratch->queries + (size_t)s->begin * a->d,
                                 .b = keys->at,
                                 .prefetch = keys->prefetch,
                                 .c = scratch->scores + s->begin * KEYS,
                                 .a_stride = a->d,
                                 .b_stride = keys->stride,
                                 .c_stride = KEYS };

    t->k->dot_rows[keys->type](&p);
}

static int64_t
whole_vectors(int64_t n)
{
    return (n + 15) / 16 * 16;
}

/* Loads the block's n keys, and some that are zero, transposed. */
static void
load_keys(const struct cpu_task *t, const struct attention *a,
          const struct rows *keys, int64_t n, struct attention_scratch *scratch)
{
    int64_t n_rows = whole_vectors(n);

    load_rows(t, a->k, keys, n, scratch->floats, a->d);
    memset(scratch->floats + (size_t)n * a->d, 0,
           (size_t)(n_rows - n) * a->d * sizeof(float));
    t->k->transpose(n_rows, whole_vectors(a->k->ne[0]), scratch->floats, a->d,
                    scratch->keys, a->n_keys);
}

/* As a product of matrices, of keys that are loaded. */
static void
score_keys(const struct cpu_task *t, const struct attention *a,
           const struct stripe *s, struct attention_scratch *scratch)
{
    struct cpu_panel panel = { .m = rows_of(s),
                               .n = whole_vectors(s->n),
                               .k = a->q->ne[0],
                               .a = scratch->queries + (size_t)s->begin * a->d,
                               .b = scratch->keys,
                               .c = scratch->scores + s->begin * KEYS,
                               .a_stride = a->d,
                               .b_stride = a->n_keys,
                               .c_stride = KEYS };

    t->k->multiply_lanes(&panel);
}

/* A masked key does not count, whatever its score: what lies in a part of a
 * cache that was never written may be no number. Returns the greatest, or
 * -FLT_MAX if those of visible keys are -infinity or NaN: -infinity, if no key
 * is visible. */
static float
adjust_scores(const struct cpu_task *t, const struct attention *a, int64_t i,
              int64_t key, int64_t n, struct attention_scratch *scratch)
{
    float *s = scratch->scores + i * KEYS;

    if (scratch->mask_block[i] == 0)
        return -INFINITY;
    if (a->softcap != 0) {
        t->k->tanh(n, s, s);
        t->k->scale(n, s, s, a->softcap, 0);
    }
    if (!(scratch->mask_block[i] & MASK_BLOCK_UNMASKED))
        t->k->mask_scores(n, s, scratch->masks[i] + key, scratch->slope[i]);
    for (int64_t j = n; j < whole_vectors(n); j++)
        s[j] = -INFINITY; /* so that a short block is like a masked one */
    return fmaxf(t->k->max(whole_vectors(n), s), -FLT_MAX);
}

/* A row's n scores become weights of the values: all zero if none is visible.
 * A NaN among them makes the total one. */
static void
softmax_row(const struct cpu_task *t, const struct attention *a, int64_t i,
            int64_t n, float block_max, struct attention_scratch *scratch)
{
    float *s = scratch->scores + i * KEYS,
          *sums = scratch->sums + (size_t)i * a->e;
    float *max = &scratch->max[i], keep;

    if (block_max == -INFINITY) {
        memset(s, 0, (size_t)n * sizeof(*s));
        return;
    }
    if (block_max > *max && *max != -INFINITY) {
        keep = expf(*max - block_max);
        scratch->total[i] *= keep;
        t->k->scale(a->v->ne[0], sums, sums, keep, 0);
    }
    *max = block_max > *max ? block_max : *max;
    scratch->total[i] += t->k->exp_sum(whole_vectors(n), s, s, *max);
}

/* Adds the values, times their weights, to the sums, in the order of the keys.
 */
static void
add_weighted_values(const struct cpu_task *t, const struct attention *a,
                    const struct stripe *s, const struct rows *v,
                    struct attention_scratch *scratch)
{
    struct cpu_small_batch p = { .m = rows_of(s),
                                 .n = s->n,
                                 .k = a->v->ne[0],
                                 .a = scratch->scores + s->begin * KEYS,
                                 .b = v->at,
                                 .prefetch = v->prefetch,
                                 .c = scratch->sums + (size_t)s->begin * a->e,
                                 .a_stride = KEYS,
                                 .b_stride = v->stride,
                                 .c_stride = a->e };

    t->k->add_weighted_rows[v->type](&p);
}

/* Adds values that are loaded, times their weights. Rows that do not see a
 * value must not meet it if it is no number. */
static void
add_values(const struct cpu_task *t, const struct attention *a,
           const struct stripe *s, const struct rows *v, bool finite,
           struct attention_scratch *scratch)
{
    struct cpu_panel panel = { .m = rows_of(s),
                               .n = whole_vectors(a->v->ne[0]),
                               .k = s->n,
                               .a = scratch->scores + s->begin * KEYS,
                               .b = scratch->floats,
                               .c = scratch->sums + (size_t)s->begin * a->e,
                               .a_stride = KEYS,
                               .b_stride = a->e,
                               .c_stride = a->e,
                               .add = true };

    if (finite)
        t->k->multiply_panel(&panel);
    else
        add_weighted_values(t, a, s, v, scratch);
}

/* The head's score without a value: it takes its part of the sum. */
static void
add_sink(const struct cpu_task *t, const struct attention *a, float sink,
         float *sums, float *max, float *total)
{
    float most = sink > *max ? sink : *max;

    if (*max == -INFINITY || sink == -INFINITY)
        return;
    t->k->scale(a->v->ne[0], sums, sums, expf(*max - most), 0);
    *total = *total * expf(*max - most) + expf(sink - most);
    *max = most;
}

/* Zero for a row to which no key is visible; infinity, which makes zeros NaN,
 * if the scores of all are -infinity. */
static float
one_over_total(const struct attention_scratch *scratch, int64_t i)
{
    return scratch->max[i] == -INFINITY ? 0 : 1 / scratch->total[i];
}

/* The sums of row i so far, for the next part. */
static void
keep_sums(const struct attention *a, int64_t i, float *y,
          const struct attention_scratch *scratch)
{
    int64_t n = a->v->ne[0];

    memcpy(y, scratch->sums + (size_t)i * a->e, (size_t)n * sizeof(float));
    y[n] = scratch->max[i];
    y[n + 1] = scratch->total[i];
}

/* The answer of row i, to the query of_q. */
static void
store_answer(const struct cpu_task *t, const struct attention *a,
             struct cpu_row of_q, int64_t i, float *y,
             struct attention_scratch *scratch)
{
    float *sums = scratch->sums + (size_t)i * a->e;

    if (a->sinks)
        add_sink(t, a, cpu_sink(a->sinks, of_q.i2), sums, &scratch->max[i],
                 &scratch->total[i]);
    t->k->scale(a->v->ne[0], y, sums, one_over_total(scratch, i), 0);
}

static void
store_results(const struct cpu_task *t, const struct attention *a,
              const struct queries *qs, struct attention_scratch *scratch)
{
    struct cpu_row of_q = first_row(qs), prefetched = prefetched_row(qs);

    for (int64_t i = 0; i < qs->rows; i++, of_q = row_after(qs, of_q)) {
        float *y = (float *)(void *)cpu_row_data(a->dst, of_dst(of_q));

        if (i + PREFETCH_ROWS < qs->rows)
            cpu_prefetch_row(a->dst, of_dst(prefetched), true);
        prefetched = row_after(qs, prefetched);
        if (a->more)
            keep_sums(a, i, y, scratch);
        else
            store_answer(t, a, of_q, i, y, scratch);
    }
}

static void
prefetch_rows(const struct ggml_tensor *x, const struct attention *a,
              const struct queries *qs, int64_t n)
{
    const char *row = block_of(x, a, qs, 0);
    size_t size = ggml_row_size(x->type, x->ne[0]);

    for (; n > 0; n--, row += x->nb[1])
        prefetch_bytes(row, size);
}

/* A token's first block; of that what is visible, if that is known: a mask may
 * be computed meanwhile. */
void
cpu_attention_prefetch(const struct attention *a, const struct queries *qs)
{
    int64_t n = a->k->ne[1] < KEYS ? a->k->ne[1] : KEYS;

    if (a->mask && a->mask->op == GGML_OP_NONE)
        n = cpu_mask_visible_keys(
            cpu_attention_mask(a, cpu_row_wrap(a->mask, first_row(qs))), n);
    prefetch_rows(a->k, a, qs, n);
    prefetch_rows(a->v, a, qs, n);
}

/* The block at `key`, and what is prefetched meanwhile: the next, if the last
 * row, which mostly sees the most, sees any of it, or what `next` begins with,
 * which the thread goes on with; NULL: it does not. */
static struct rows
rows_of_block(const struct ggml_tensor *x, const struct attention *a,
              const struct queries *qs, const struct queries *next, int64_t key,
              const struct attention_scratch *scratch)
{
    struct rows r = { .at = block_of(x, a, qs, key),
                      .stride = x->nb[1],
                      .type = x->type };
    int64_t rest = x->ne[1] - key - KEYS, n = rest < KEYS ? rest : KEYS;

    if (n > 0 && any_visible(a, scratch, qs->rows - 1, key + KEYS, n))
        r.prefetch = block_of(x, a, qs, key + KEYS);
    else if (next)
        r.prefetch = block_of(x, a, next, 0);
    return r;
}

static void
softmax_stripe(const struct cpu_task *t, const struct attention *a,
               const struct stripe *s, int64_t key,
               struct attention_scratch *scratch)
{
    for (int64_t i = s->begin; i < s->end; i++)
        softmax_row(t, a, i, s->n, adjust_scores(t, a, i, key, s->n, scratch),
                    scratch);
}

/* A block of keys and values, where they lie if kernels read their types. */
static void
attend_small_batch(const struct cpu_task *t, const struct attention *a,
                   const struct stripe *s, int64_t key, struct rows k,
                   struct rows v, struct attention_scratch *scratch)
{
    if (!t->k->dot_rows[k.type])
        k = load_rows(t, a->k, &k, s->n, scratch->floats, a->d);
    score_rows(t, a, &k, s, scratch);
    softmax_stripe(t, a, s, key, scratch);
    if (!t->k->add_weighted_rows[v.type])
        v = load_rows(t, a->v, &v, s->n, scratch->floats, a->e);
    add_weighted_values(t, a, s, &v, scratch);
}

/* A block of keys and values for all rows of s, STRIPE rows at a time. */
static void
attend_gemm(const struct cpu_task *t, const struct attention *a,
            const struct stripe *s, int64_t key, struct rows k, struct rows v,
            struct attention_scratch *scratch)
{
    bool finite;

    load_keys(t, a, &k, s->n, scratch);
    v = load_rows(t, a->v, &v, s->n, scratch->floats, a->e);
    finite = isfinite(t->k->sum(s->n * (int64_t)a->e, scratch->floats));
    for (int64_t i = s->begin; i < s->end; i += STRIPE) {
        int64_t end = s->end - i < STRIPE ? s->end : i + STRIPE;
        struct stripe some = stripe_of(scratch, i, end);

        if (some.n == 0)
            continue;
        score_keys(t, a, &some, scratch);
        softmax_stripe(t, a, &some, key, scratch);
        add_values(t, a, &some, &v, finite, scratch);
    }
}

static void
attend_block(const struct cpu_task *t, const struct attention *a,
             const struct queries *qs, const struct queries *next, int64_t key,
             struct attention_scratch *scratch)
{
    struct stripe s = stripe_of(scratch, qs->begin, qs->end);
    bool small_batch = rows_of(&s) <= SMALL_BATCH_ROWS;
    struct rows k = rows_of_block(a->k, a, qs, next, key, scratch);
    struct rows v = rows_of_block(a->v, a, qs, next, key, scratch);

    if (key == 0)
        prefetch_rows(a->v, a, qs, s.n);
    if (small_batch)
        attend_small_batch(t, a, &s, key, k, v, scratch);
    else
        attend_gemm(t, a, &s, key, k, v, scratch);
}

void
cpu_attention_piece(const struct cpu_task *t, const struct attention *a,
                    struct queries *qs, const struct queries *next,
                    struct attention_scratch *scratch)
{
    int64_t n_keys = a->k->ne[1];

    load_queries(t, a, qs, scratch);
    for (int64_t key = 0; key < n_keys; key += KEYS) {
        int64_t n = n_keys - key < KEYS ? n_keys - key : KEYS;

        if (summarise_block(a, qs, key, n, scratch))
            attend_block(t, a, qs, next, key, scratch);
    }
    store_results(t, a, qs, scratch);
}
