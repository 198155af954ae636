/* attention_rows.c - ATTENTION_ROWS: softmax(q k * scale) v over listed rows
 *
 * A piece is some heads of a token that read the same rows. Rows are gathered
 * as floats, KEYS at a time in the order of the list, with a running maximum
 * and sum as in flash_attention.c: so the time is linear in the list, and an
 * answer depends on nothing but its query and its rows. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "cpu/prefetch.h"
#include "tensor/sparse.h"

enum {
    KEYS = 64,  /* rows in a block */
    HEADS = 16, /* of a piece */
    LANES = 16, /* kernels take multiples of it */
    SOURCES = 2,
};

struct listed_rows {
    const struct ggml_tensor *k, *v, *lists;
    bool values_in_keys; /* v is the first part of k */
};

struct row_attention {
    const struct ggml_tensor *q, *sinks;
    struct listed_rows sources[SOURCES];
    int n_sources;
    float scale;
    int64_t heads;  /* of a piece */
    int64_t pieces; /* of a token */
    size_t d, e;    /* floats of a row of k, of v, with padding */
};

struct row_scratch {
    float *queries;     /* HEADS x d, scaled */
    float *scores;      /* HEADS x KEYS */
    float *sums;        /* HEADS x e */
    float *max, *total; /* HEADS */
    float *keys;        /* KEYS x d */
    float *values;      /* KEYS x e */
};

static struct listed_rows
source_at(const struct ggml_tensor *dst, int at)
{
    struct listed_rows r = { .k = dst->src[at],
                             .v = dst->src[at + 1],
                             .lists = dst->src[at + 2] };

    r.values_in_keys = r.k && r.k->data == r.v->data &&
                       r.k->type == r.v->type && r.k->nb[1] == r.v->nb[1] &&
                       r.k->nb[2] == r.v->nb[2] && r.v->ne[0] <= r.k->ne[0];
    return r;
}

static int64_t
min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t
padded_row(int64_t n)
{
    return cpu_pad((size_t)n * sizeof(float)) / sizeof(float);
}

static struct row_attention
read_rows(const struct ggml_tensor *dst)
{
    struct row_attention a = { .q = dst->src[TENSOR_ROWS_Q],
                               .sinks = dst->src[TENSOR_ROWS_SINKS],
                               .scale = tensor_get_f32(dst, 0) };
    int64_t group;

    a.sources[0] = source_at(dst, TENSOR_ROWS_K);
    a.sources[1] = source_at(dst, TENSOR_ROWS_MORE);
    a.n_sources = a.sources[1].k ? 2 : 1;
    group = a.q->ne[1] / a.sources[0].k->ne[2];
    if (a.n_sources > 1)
        group = min_i64(group, a.q->ne[1] / a.sources[1].k->ne[2]);
    a.heads = min_i64(group, HEADS);
    while (group % a.heads)
        a.heads--;
    a.pieces = a.q->ne[1] / a.heads;
    a.d = padded_row(a.q->ne[0]);
    a.e = padded_row(dst->ne[0]);
    return a;
}

/* Cuts the scratch into its parts (or, from NULL, finds its size). */
static size_t
lay_out_rows(const struct row_attention *a, char *base, struct row_scratch *s)
{
    size_t at = 0;
#define PART_OF(p, n)                                                          \
    (s->p = base ? (float *)(void *)(base + at) : NULL,                        \
     at += cpu_pad((n) * sizeof(float)))
    PART_OF(queries, HEADS * a->d);
    PART_OF(scores, (size_t)HEADS * KEYS);
    PART_OF(sums, HEADS * a->e);
    PART_OF(max, (size_t)HEADS);
    PART_OF(total, (size_t)HEADS);
    PART_OF(keys, KEYS * a->d);
    PART_OF(values, KEYS * a->e);
#undef PART_OF
    return at;
}

static size_t
rows_scratch_size(const struct row_attention *a)
{
    struct row_scratch s;

    return lay_out_rows(a, NULL, &s);
}

static size_t
rows_work_size(const struct ggml_tensor *dst, int n_threads,
               const struct cpu_kernels *k)
{
    struct row_attention a = read_rows(dst);

    (void)k;
    return rows_scratch_size(&a) * (size_t)n_threads;
}

/* ---- rows --------------------------------------------------------------- */

static void
begin_heads(const struct cpu_task *t, const struct row_attention *a,
            int64_t token, int64_t head, struct row_scratch *s)
{
    int64_t d = a->q->ne[0];

    for (int64_t i = 0; i < a->heads; i++) {
        float *y = s->queries + (size_t)i * a->d;
        const float *row =
            cpu_load_row(t, a->q, (struct cpu_row){ head + i, token, 0 }, y);

        t->k->scale(d, y, row, a->scale, 0);
        memset(y + d, 0, (a->d - (size_t)d) * sizeof(*y));
        memset(s->sums + (size_t)i * a->e, 0, a->e * sizeof(float));
        s->max[i] = -INFINITY;
        s->total[i] = 0;
    }
}

/* Rows of the list, n of them, as floats with zeros after their ends; meanwhile
 * rows after them are prefetched. */
static void
gather_rows(const struct cpu_task *t, const struct ggml_tensor *x, int64_t head,
            const int32_t *list, int64_t n, int64_t n_left, float *y,
            size_t stride)
{
    size_t size = ggml_row_size(x->type, x->ne[0]);
    const char *rows = (const char *)x->data + (size_t)head * x->nb[2];

    for (int64_t i = 0; i < n; i++, y += stride) {
        assert(list[i] < x->ne[1]);
        if (i + KEYS < n_left && list[i + KEYS] >= 0) {
            const char *next = rows + (size_t)list[i + KEYS] * x->nb[1];

            for (size_t at = 0; at < size; at += CPU_LINE)
                PREFETCH_L2(next + at);
        }
        t->k->to_float[x->type](rows + (size_t)list[i] * x->nb[1], y, x->ne[0]);
        memset(y + x->ne[0], 0, (stride - (size_t)x->ne[0]) * sizeof(*y));
    }
}

/* ---- blocks ------------------------------------------------------------- */

static int64_t
whole_lanes(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* A head's n scores become weights of the values; a NaN among them makes the
 * total one. */
static void
listed_softmax(const struct cpu_task *t, const struct row_attention *a,
               int64_t i, int64_t n, struct row_scratch *s)
{
    float *x = s->scores + i * KEYS, *sums = s->sums + (size_t)i * a->e, most;
    float *max = &s->max[i];

    for (int64_t j = n; j < whole_lanes(n); j++)
        x[j] = -INFINITY;
    most = fmaxf(t->k->max(whole_lanes(n), x), -FLT_MAX);
    if (most > *max && *max != -INFINITY) {
        float keep = expf(*max - most);

        s->total[i] *= keep;
        t->k->scale((int64_t)a->e, sums, sums, keep, 0);
    }
    *max = most > *max ? most : *max;
    s->total[i] += t->k->exp_sum(whole_lanes(n), x, x, *max);
}

static void
score_block(const struct cpu_task *t, const struct row_attention *a, int64_t n,
            struct row_scratch *s)
{
    struct cpu_small_batch p = { .m = a->heads,
                                 .n = n,
                                 .k = a->q->ne[0],
                                 .a = s->queries,
                                 .b = (const char *)s->keys,
                                 .c = s->scores,
                                 .a_stride = a->d,
                                 .b_stride = a->d * sizeof(float),
                                 .c_stride = KEYS };

    t->k->dot_rows[GGML_TYPE_F32](&p);
}

static void
add_block(const struct cpu_task *t, const struct row_attention *a, int64_t n_v,
          int64_t n, const float *values, size_t stride, struct row_scratch *s)
{
    struct cpu_small_batch p = { .m = a->heads,
                                 .n = n,
                                 .k = n_v,
                                 .a = s->scores,
                                 .b = (const char *)values,
                                 .c = s->sums,
                                 .a_stride = KEYS,
                                 .b_stride = stride * sizeof(float),
                                 .c_stride = a->e };

    t->k->add_weighted_rows[GGML_TYPE_F32](&p);
}

/* The n rows of the list that come next. */
static void
attend_block(const struct cpu_task *t, const struct row_attention *a,
             const struct listed_rows *r, int64_t head_kv, const int32_t *list,
             int64_t n, int64_t n_left, struct row_scratch *s)
{
    int64_t n_v = r->v->ne[0];

    gather_rows(t, r->k, head_kv, list, n, n_left, s->keys, a->d);
    score_block(t, a, n, s);
    for (int64_t i = 0; i < a->heads; i++)
        listed_softmax(t, a, i, n, s);
    if (r->values_in_keys) {
        add_block(t, a, n_v, n, s->keys, a->d, s);
        return;
    }
    gather_rows(t, r->v, head_kv, list, n, n_left, s->values, a->e);
    add_block(t, a, n_v, n, s->values, a->e, s);
}

static void
attend_source(const struct cpu_task *t, const struct row_attention *a,
              const struct listed_rows *r, int64_t token, int64_t head,
              struct row_scratch *s)
{
    int64_t head_kv = head / (a->q->ne[1] / r->k->ne[2]);
    struct cpu_row of_list = { r->lists->ne[1] > 1 ? head_kv : 0, token, 0 };
    const int32_t *list =
        (const int32_t *)(const void *)cpu_row_data(r->lists, of_list);

    for (int64_t at = 0; at < r->lists->ne[0]; at += KEYS) {
        int64_t most = min_i64(r->lists->ne[0] - at, KEYS), n = 0;

        while (n < most && list[at + n] >= 0)
            n++;
        if (n > 0)
            attend_block(t, a, r, head_kv, list + at, n, r->lists->ne[0] - at,
                         s);
        if (n < most)
            return;
    }
}

/* The head's score without a value: it takes its part of the sum. */
static void
add_row_sink(const struct cpu_task *t, const struct row_attention *a,
             int64_t head, int64_t i, struct row_scratch *s)
{
    float sink = cpu_sink(a->sinks, head), *max = &s->max[i];
    float most = sink > *max ? sink : *max, keep = expf(*max - most);
    float *sums = s->sums + (size_t)i * a->e;

    if (*max == -INFINITY || sink == -INFINITY)
        return;
    t->k->scale((int64_t)a->e, sums, sums, keep, 0);
    s->total[i] = s->total[i] * keep + expf(sink - most);
    *max = most;
}

static void
store_heads(const struct cpu_task *t, const struct row_attention *a,
            struct ggml_tensor *dst, int64_t token, int64_t head,
            struct row_scratch *s)
{
    for (int64_t i = 0; i < a->heads; i++) {
        struct cpu_row r = { head + i, token, 0 };
        float *y = (float *)(void *)cpu_row_data(dst, r);

        if (a->sinks)
            add_row_sink(t, a, head + i, i, s);
        t->k->scale(dst->ne[0], y, s->sums + (size_t)i * a->e,
                    s->max[i] == -INFINITY ? 0 : 1 / s->total[i], 0);
    }
}

static void
rows_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct row_attention a = read_rows(dst);
    struct cpu_range pieces = cpu_share(t, a.pieces * dst->ne[2]);
    struct row_scratch s;

    lay_out_rows(&a, cpu_scratch(t, rows_scratch_size(&a)), &s);
    for (int64_t i = pieces.first; i < pieces.end; i++) {
        int64_t token = i / a.pieces, head = i % a.pieces * a.heads;

        begin_heads(t, &a, token, head, &s);
        for (int k = 0; k < a.n_sources; k++)
            attend_source(t, &a, &a.sources[k], token, head, &s);
        store_heads(t, &a, dst, token, head, &s);
    }
}

static bool
can_gather(const struct ggml_tensor *x)
{
    return cpu_kernels_reference()->to_float[x->type] &&
           x->nb[0] == ggml_type_size(x->type);
}

static bool
rows_supports(const struct ggml_tensor *dst)
{
    bool yes = cpu_is_plain(dst) && cpu_is_plain(dst->src[TENSOR_ROWS_Q]);

    for (int at = TENSOR_ROWS_K; at < TENSOR_ROWS_SINKS; at += 3)
        yes =
            yes && (!dst->src[at] ||
                    (can_gather(dst->src[at]) && can_gather(dst->src[at + 1]) &&
                     dst->src[at + 2]->nb[0] == sizeof(int32_t)));
    return yes && (!dst->src[TENSOR_ROWS_SINKS] ||
                   cpu_is_plain(dst->src[TENSOR_ROWS_SINKS]));
}

static int64_t
rows_cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *q = dst->src[TENSOR_ROWS_Q];
    int64_t n = dst->src[TENSOR_ROWS_K + 2]->ne[0];

    if (dst->src[TENSOR_ROWS_MORE])
        n += dst->src[TENSOR_ROWS_MORE + 2]->ne[0];
    return ggml_nrows(q) * n * q->ne[0] / 24;
}

const struct cpu_op cpu_op_attention_rows = { .compute = rows_compute,
                                              .supports = rows_supports,
                                              .cost = rows_cost,
                                              .work_size = rows_work_size };
