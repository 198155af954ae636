/* ops_flash.c - FLASH_ATTN_EXT: softmax(q k^T * scale + mask) v in one pass
 *
 * q [d, tokens, heads, batch], k [d, keys, kv heads, batch], v [e, keys, kv
 * heads, batch], mask [keys, >= tokens, ...] F16; dst [e, heads, tokens,
 * batch]. Dao et al. 2022: keys come in blocks, with a running maximum and
 * sum. Blocks are fixed pieces of the keys, taken in order, and each query
 * is on its own, so that an answer depends on nothing but its query, its keys
 * and which of them are masked: not on other queries, threads, or how many
 * masked keys follow. */
#include <math.h>
#include <string.h>

#include "cpu/ops.h"
#include "tensor/tensor.h"

#define KEYS    64 /* in a block */
#define QUERIES 16 /* that share a block's conversion */

/* The scratch of one thread. */
struct room {
    char *columns;             /* QUERIES queries in the form of the product */
    float *scores;             /* QUERIES x KEYS */
    float *sums;               /* QUERIES x v->ne[0] */
    float *max, *total;        /* QUERIES each */
    char *k_floats, *v_floats; /* KEYS rows each, where converted */
    float *row;                /* a query as floats */
    char *scratch;             /* of the product */
};

struct attention {
    const struct ggml_tensor *q, *k, *v, *mask, *sinks;
    struct ggml_tensor *dst;
    const struct cpu_mul_mat *product;
    bool convert_k, convert_v;
    float scale, max_bias, softcap;
    size_t column;
};

static struct attention
read_params(const struct ggml_tensor *dst, const struct cpu_kernels *kernels)
{
    struct attention a = { .q = dst->src[0],
                           .k = dst->src[1],
                           .v = dst->src[2],
                           .mask = dst->src[3],
                           .sinks = dst->src[4],
                           .scale = tensor_get_f32(dst, 0),
                           .max_bias = tensor_get_f32(dst, 1),
                           .softcap = tensor_get_f32(dst, 2) };

    a.product = &kernels->mul_mat[a.k->type];
    a.convert_k = !a.product->multiply || a.product->prepare;
    if (a.convert_k)
        a.product = &kernels->mul_mat[GGML_TYPE_F32];
    a.convert_v = !kernels->weigh_rows[a.v->type];
    a.column = cpu_pad((size_t)a.q->ne[0] * sizeof(float));
    if (a.softcap != 0)
        a.scale /= a.softcap;
    return a;
}

static size_t
k_row(const struct attention *a)
{
    return cpu_pad((size_t)a->k->ne[0] * sizeof(float));
}

static size_t
v_row(const struct attention *a)
{
    return cpu_pad((size_t)a->v->ne[0] * sizeof(float));
}

/* Cuts the scratch into its parts (or, from NULL, finds its size). */
static size_t
lay_out(const struct attention *a, char *base, struct room *room)
{
    size_t at = 0;
#define PART(p, bytes)                                                         \
    (room->p = base ? (void *)(base + at) : NULL, at += cpu_pad(bytes))
    PART(columns, QUERIES * a->column);
    PART(scores, QUERIES * KEYS * sizeof(float));
    PART(sums, QUERIES * v_row(a));
    PART(max, QUERIES * sizeof(float));
    PART(total, QUERIES * sizeof(float));
    PART(k_floats, a->convert_k ? KEYS * k_row(a) : 0);
    PART(v_floats, a->convert_v ? KEYS * v_row(a) : 0);
    PART(row, a->column);
    PART(scratch,
         a->product->scratch_size ? a->product->scratch_size(a->k->ne[0]) : 0);
#undef PART
    return at;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    struct attention a = read_params(dst, k);
    struct room room;

    return lay_out(&a, NULL, &room) * (size_t)n_threads;
}

/* Queries [first, first + n) of one head. */
struct queries {
    int64_t head, batch, first, n;
    float slope;
};

static const uint16_t *
mask_row(const struct attention *a, const struct queries *qs, int64_t i)
{
    const struct ggml_tensor *m = a->mask;
    struct cpu_row r = { (qs->first + i) % m->ne[1], qs->head % m->ne[2],
                         qs->batch % m->ne[3] };

    return (const uint16_t *)(const void *)cpu_row_data(m, r);
}

#define HALF_MINUS_INF 0xfc00

static bool
is_masked(const uint16_t *m, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        if (m[j] != HALF_MINUS_INF)
            return false;
    return true;
}

/* True if no query of these sees any of the keys. */
static bool
skip_block(const struct attention *a, const struct queries *qs, int64_t key,
           int64_t n)
{
    if (!a->mask)
        return false;
    for (int64_t i = 0; i < qs->n; i++)
        if (!is_masked(mask_row(a, qs, i) + key, n))
            return false;
    return true;
}

static void
load_queries(const struct cpu_task *t, const struct attention *a,
             const struct queries *qs, struct room *room)
{
    for (int64_t i = 0; i < qs->n; i++) {
        struct cpu_row r = { qs->first + i, qs->head, qs->batch };
        char *column = room->columns + (size_t)i * a->column;
        const float *row = cpu_load_row(t, a->q, r, room->row);

        memcpy(column, row, (size_t)a->q->ne[0] * sizeof(*row));
        memset((char *)room->sums + (size_t)i * v_row(a), 0, v_row(a));
        room->max[i] = -INFINITY;
        room->total[i] = 0;
    }
}

/* Rows [key, key + n) of k or v: where they lie, or as floats. */
static const char *
block_rows(const struct cpu_task *t, const struct ggml_tensor *x,
           struct cpu_row r, int64_t n, bool convert, char *floats,
           size_t *stride)
{
    const char *p = cpu_row_data(x, r);

    if (!convert) {
        *stride = x->nb[1];
        return p;
    }
    *stride = cpu_pad((size_t)x->ne[0] * sizeof(float));
    for (int64_t i = 0; i < n; i++)
        t->k->to_float[x->type](p + (size_t)i * x->nb[1],
                                (float *)(void *)(floats + (size_t)i * *stride),
                                x->ne[0]);
    return floats;
}

/* A masked key does not count, whatever its score: what lies in a part of a
 * cache that was never written may be no number. */
static void
adjust_scores(const struct cpu_task *t, const struct attention *a, float *s,
              const uint16_t *m, float slope, int64_t n)
{
    float mask[KEYS];

    t->k->scale(n, s, s, a->scale, 0);
    if (a->softcap != 0)
        for (int64_t j = 0; j < n; j++)
            s[j] = a->softcap * tanhf(s[j]);
    if (m) {
        t->k->to_float[GGML_TYPE_F16](m, mask, n);
        for (int64_t j = 0; j < n; j++)
            s[j] = mask[j] == -INFINITY ? mask[j] : s[j] + slope * mask[j];
    }
    for (int64_t j = n; j < KEYS; j++)
        s[j] = -INFINITY; /* so that a short block is like a masked one */
}

/* One query meets one block: its scores become weights of the values. Returns
 * false if it sees none of the keys. */
static bool
weigh_block(const struct cpu_task *t, const struct attention *a, float *s,
            float *sums, float *max, float *total)
{
    float block_max = t->k->max(KEYS, s), keep;

    if (block_max == -INFINITY)
        return false;
    if (block_max > *max) {
        keep = *max == -INFINITY ? 0 : expf(*max - block_max);
        *max = block_max;
        *total *= keep;
        t->k->scale(a->v->ne[0], sums, sums, keep, 0);
    }
    *total += t->k->exp_sum(KEYS, s, s, *max);
    return true;
}

static void
attend_block(const struct cpu_task *t, const struct attention *a,
             const struct queries *qs, int64_t key, int64_t n,
             struct room *room)
{
    struct cpu_row at = { key, qs->head / (a->q->ne[2] / a->k->ne[2]),
                          qs->batch / (a->q->ne[3] / a->k->ne[3]) };
    struct cpu_product product = { .k = a->k->ne[0],
                                   .n_rows = n,
                                   .n_cols = qs->n,
                                   .cols = room->columns,
                                   .col_stride = a->column,
                                   .out = room->scores,
                                   .out_stride = KEYS,
                                   .scratch = room->scratch };
    size_t v_stride;
    const char *v;

    product.rows = block_rows(t, a->k, at, n, a->convert_k, room->k_floats,
                              &product.row_stride);
    a->product->multiply(&product);
    at.i2 = qs->head / (a->q->ne[2] / a->v->ne[2]);
    v = block_rows(t, a->v, at, n, a->convert_v, room->v_floats, &v_stride);
    for (int64_t i = 0; i < qs->n; i++) {
        float *s = room->scores + i * KEYS;
        float *sums =
            (float *)(void *)((char *)room->sums + (size_t)i * v_row(a));

        adjust_scores(t, a, s, a->mask ? mask_row(a, qs, i) + key : NULL,
                      qs->slope, n);
        if (weigh_block(t, a, s, sums, &room->max[i], &room->total[i]))
            t->k->weigh_rows[a->convert_v ? GGML_TYPE_F32 : a->v->type](
                a->v->ne[0], sums, v, v_stride, s, n);
    }
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

/* Who sees no key at all gets zeros. */
static void
store_results(const struct cpu_task *t, const struct attention *a,
              const struct queries *qs, struct room *room)
{
    for (int64_t i = 0; i < qs->n; i++) {
        struct cpu_row r = { qs->head, qs->first + i, qs->batch };
        float *y = (float *)(void *)cpu_row_data(a->dst, r);
        float *sums =
            (float *)(void *)((char *)room->sums + (size_t)i * v_row(a));

        if (a->sinks)
            add_sink(t, a, cpu_sink(a->sinks, qs->head), sums, &room->max[i],
                     &room->total[i]);
        t->k->scale(a->v->ne[0], y, sums,
                    room->total[i] > 0 ? 1 / room->total[i] : 0, 0);
    }
}

static void
attend(const struct cpu_task *t, const struct attention *a,
       const struct queries *qs, struct room *room)
{
    int64_t n_keys = a->k->ne[1];

    load_queries(t, a, qs, room);
    for (int64_t key = 0; key < n_keys; key += KEYS) {
        int64_t n = n_keys - key < KEYS ? n_keys - key : KEYS;

        if (!skip_block(a, qs, key, n))
            attend_block(t, a, qs, key, n, room);
    }
    store_results(t, a, qs, room);
}

static int64_t
blocks_of(const struct ggml_tensor *q)
{
    return (q->ne[1] + QUERIES - 1) / QUERIES;
}

/* A block of queries of a head each. */
static int
pieces(const struct ggml_tensor *dst, int n_threads)
{
    const struct ggml_tensor *q = dst->src[0];

    (void)n_threads;
    return (int)(blocks_of(q) * q->ne[2] * q->ne[3]);
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct attention a = read_params(dst, t->k);
    int64_t tokens = a.q->ne[1], heads = a.q->ne[2], n = blocks_of(a.q);
    struct room room;
    size_t each = lay_out(&a, NULL, &room);
    struct queries qs = { .head = t->ith % heads,
                          .batch = t->ith / (heads * n) };

    /* the last queries see the most keys: they come first */
    qs.first = (n - 1 - t->ith / heads % n) * QUERIES;
    qs.n = tokens - qs.first < QUERIES ? tokens - qs.first : QUERIES;
    qs.slope = cpu_alibi_slope(qs.head, heads, a.max_bias);
    a.dst = dst;
    lay_out(&a, cpu_scratch(t, each), &room);
    attend(t, &a, &qs, &room);
}

static bool
readable(const struct cpu_kernels *k, const struct ggml_tensor *x)
{
    return k->to_float[x->type] && x->nb[0] == ggml_type_size(x->type);
}

static bool
supports(const struct ggml_tensor *dst)
{
    const struct cpu_kernels *k = cpu_kernels_reference();

    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type) &&
           readable(k, dst->src[1]) && readable(k, dst->src[2]) &&
           (!dst->src[4] || cpu_is_plain(dst->src[4])) &&
           (!dst->src[3] || dst->src[3]->type == GGML_TYPE_F16);
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *k = dst->src[1];

    return ggml_nrows(dst->src[0]) * k->ne[1] * k->ne[0] / 16;
}

const struct cpu_op cpu_op_flash_attn = { .compute = compute,
                                          .supports = supports,
                                          .cost = cost,
                                          .pieces = pieces,
                                          .work_size = work_size };
