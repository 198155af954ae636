/* argsort.c - ARGSORT, TOP_K, ARGMAX: the order of a row's values
 *
 * Equal values stay in the order of their indices; NaN is greater than any
 * number, so that any row has exactly one order, and what is chosen by its
 * greatest values hands a NaN on. */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

#define RUN         16 /* sorted by insertion, then merged */
#define SMALL_BATCH 64 /* as many are kept in order while a row passes */

struct order {
    const float *x;
    bool descending, nan_first;
};

/* True if a must come before b, whatever their indices. */
static bool
before(struct order o, int32_t a, int32_t b)
{
    float va = o.x[a], vb = o.x[b];

    if (isnan(va) || isnan(vb))
        return o.nan_first ? isnan(va) && !isnan(vb) : !isnan(va) && isnan(vb);
    return o.descending ? va > vb : va < vb;
}

/* Puts i at its place among the n sorted ones of `index`, after its equals;
 * there is room for one more. */
static void
insert(struct order o, int32_t *index, int64_t n, int32_t i)
{
    for (; n > 0 && before(o, i, index[n - 1]); n--)
        index[n] = index[n - 1];
    index[n] = i;
}

/* Merges a[0 .. mid) and a[mid .. n) to y. */
static void
merge_runs(struct order o, const int32_t *a, int64_t mid, int64_t n, int32_t *y)
{
    int64_t i = 0, j = mid;

    while (i < mid && j < n)
        *y++ = before(o, a[j], a[i]) ? a[j++] : a[i++];
    memcpy(y, a + i, (size_t)(mid - i) * sizeof(*y));
    memcpy(y + (mid - i), a + j, (size_t)(n - j) * sizeof(*y));
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sorts all n indices; returns `index` or `other`, where they are now. */
static const int32_t *
sort(struct order o, int64_t n, int32_t *index, int32_t *other)
{
    for (int64_t i = 0; i < n; i++)
        insert(o, index + i / RUN * RUN, i % RUN, (int32_t)i);
    for (int64_t run = RUN; run < n; run *= 2) {
        int32_t *from = index;

        for (int64_t i = 0; i < n; i += 2 * run)
            merge_runs(o, from + i, least(run, n - i), least(2 * run, n - i),
                       other + i);
        index = other;
        other = from;
    }
    return index;
}

/* The first k of n. */
static void
select_few(struct order o, int64_t n, int64_t k, int32_t *index)
{
    for (int64_t i = 0; i < n; i++)
        if (i < k)
            insert(o, index, i, (int32_t)i);
        else if (before(o, (int32_t)i, index[k - 1]))
            insert(o, index, k - 1, (int32_t)i);
}

static size_t
indices_size(const struct ggml_tensor *x)
{
    return cpu_pad((size_t)x->ne[0] * sizeof(int32_t));
}

/* A row of floats, two of indices. */
static size_t
argsort_scratch_size(const struct ggml_tensor *x)
{
    return cpu_pad((size_t)x->ne[0] * sizeof(float)) + 2 * indices_size(x);
}

static size_t
argsort_work_size(const struct ggml_tensor *dst, int n_threads,
                  const struct cpu_kernels *k)
{
    (void)k;
    return argsort_scratch_size(dst->src[0]) * (size_t)n_threads;
}

static void
argsort_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    char *scratch = cpu_scratch(t, argsort_scratch_size(x));
    int32_t *a = (int32_t *)(void *)scratch;
    int32_t *b = (int32_t *)(void *)(scratch + indices_size(x));
    float *floats = (float *)(void *)(scratch + 2 * indices_size(x));
    bool descending = dst->op == GGML_OP_TOP_K ||
                      tensor_get_i32(dst, 0) == GGML_SORT_ORDER_DESC;
    int64_t n = x->ne[0], k = dst->ne[0];

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct order o = { cpu_load_row(t, x, r, floats), descending,
                           descending };
        int32_t *y = (int32_t *)(void *)cpu_row_data(dst, r);

        if (k < n && k <= SMALL_BATCH)
            select_few(o, n, k, y);
        else
            memcpy(y, sort(o, n, a, b), (size_t)k * sizeof(*y));
    }
}

static bool
argsort_supports(const struct ggml_tensor *dst)
{
    enum ggml_type from = dst->src[0]->type;

    return dst->type == GGML_TYPE_I32 && dst->nb[0] == sizeof(int32_t) &&
           (from == GGML_TYPE_F32 || from == GGML_TYPE_F16 ||
            from == GGML_TYPE_BF16);
}

static int64_t
argsort_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) * 16;
}

const struct cpu_op cpu_op_argsort = { .compute = argsort_compute,
                                       .supports = argsort_supports,
                                       .cost = argsort_cost,
                                       .work_size = argsort_work_size };
const struct cpu_op cpu_op_top_k = { .compute = argsort_compute,
                                     .supports = argsort_supports,
                                     .cost = argsort_cost,
                                     .work_size = argsort_work_size };

/* The result is one row, with an element for each of x; NaN counts as less than
 * any number. */
static void
argmax_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, x->ne[1]);
    int32_t *y = dst->data;

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = { i, 0, 0 };
        struct order o = { cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)),
                           true, false };

        select_few(o, x->ne[0], 1, &y[i]);
    }
}

static size_t
argmax_work_size(const struct ggml_tensor *dst, int n_threads,
                 const struct cpu_kernels *k)
{
    return cpu_is_plain(dst->src[0]) ? 0
                                     : cpu_rows_work_size(dst, n_threads, k);
}

const struct cpu_op cpu_op_argmax = { .compute = argmax_compute,
                                      .supports = argsort_supports,
                                      .cost = argsort_cost,
                                      .work_size = argmax_work_size };
