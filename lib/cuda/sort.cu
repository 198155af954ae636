/* sort.cu - ARGSORT, TOP_K, ARGMAX; the top k of long rows, and their
 * log-sum-exp
 *
 * Values become unique 64-bit keys: the larger key comes first, equal values
 * are in the order of their indices, and NaN is greater than any number. So
 * every row has one order, whatever the algorithm. Up to SORT_KEYS keys are
 * sorted in shared memory; longer rows are divided into parts, whose top k are
 * merged. */
#include "cuda/tensor_view.h"

#define SORT_KEYS 4096 /* keys in shared memory: a power of two */
#define THREADS   512

/* Floats in the order of unsigned integers; both zeros are one. */
DEVICE uint32_t
rank_of(float v, bool descending)
{
    uint32_t u = cuda_float_bits(v == 0 ? 0 : v);

    if (v != v)
        return descending ? UINT32_MAX : 0;
    u = u >> 31 ? ~u : u | 0x80000000;
    return descending ? u : ~u;
}

DEVICE uint64_t
key_of(float v, int64_t i, bool descending)
{
    return (uint64_t)rank_of(v, descending) << 32 | (0xffffffff - (uint32_t)i);
}

DEVICE int32_t
index_of(uint64_t key)
{
    return (int32_t)(0xffffffff - (uint32_t)key);
}

/* Batcher's bitonic sort of n keys, a power of two; the largest first. */
DEVICE void
sort_keys(uint64_t *keys, int n)
{
    for (int run = 2; run <= n; run *= 2)
        for (int gap = run / 2; gap > 0; gap /= 2) {
            cuda_barrier();
            for (int i = (int)cuda_thread_id(); i < n / 2;
                 i += (int)cuda_block_size()) {
                int a = i / gap * 2 * gap + i % gap, b = a + gap;
                uint64_t x = keys[a], y = keys[b];

                if ((x < y) == ((a & run) == 0)) {
                    keys[a] = y;
                    keys[b] = x;
                }
            }
        }
    cuda_barrier();
}

DEVICE uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

DEVICE uint64_t
warp_largest(uint64_t v)
{
    UNROLL for (int m = LANES / 2; m; m /= 2) v =
        larger(v, cuda_lane_xor(v, m));
    return v;
}

/* The largest of all threads, for all; `scratch` has 32 keys. */
DEVICE uint64_t
block_largest(uint64_t v, uint64_t *scratch)
{
    v = warp_largest(v);
    cuda_barrier();
    if (cuda_lane_id() == 0)
        scratch[cuda_warp_id()] = v;
    cuda_barrier();
    v = cuda_lane_id() < cuda_block_size() / LANES ? scratch[cuda_lane_id()]
                                                   : 0;
    return warp_largest(v);
}

/* Puts the largest of n keys first; the others are lost. */
DEVICE void
max_first(uint64_t *keys, int n)
{
    uint64_t most = 0;

    cuda_barrier();
    for (int i = (int)cuda_thread_id(); i < n; i += (int)cuda_block_size())
        most = larger(most, keys[i]);
    most = block_largest(most, keys);
    cuda_barrier();
    if (cuda_thread_id() == 0)
        keys[0] = most;
    cuda_barrier();
}

/* The smallest power of two from 64 on that is at least n. */
DEVICE int
power_above(int n)
{
    int power = 64;

    while (power < n)
        power *= 2;
    return power;
}

/* Puts the largest k of n keys first, in order. */
DEVICE void
top_k(uint64_t *keys, int n, int k)
{
    if (k == 1) {
        max_first(keys, n);
        return;
    }
    for (int i = n + (int)cuda_thread_id(); i < power_above(n);
         i += (int)cuda_block_size())
        keys[i] = 0;
    sort_keys(keys, power_above(n));
}

KERNEL
argsort(struct view y, struct view x, bool descending, int64_t n_rows)
{
    SHARED(uint64_t, keys, SORT_KEYS);

    cuda_grid_dependency_sync();
    for (int64_t row = cuda_block_id(); row < n_rows; row += cuda_grid_size()) {
        struct row r = cuda_row_at(&x, row);
        const char *from = cuda_row_data(&x, r);
        int32_t *to = (int32_t *)(void *)cuda_row_data(&y, r);

        cuda_barrier();
        for (int64_t i = cuda_thread_id(); i < x.ne[0]; i += cuda_block_size())
            keys[i] = key_of(cuda_load_element(&x, from, i), i, descending);
        top_k(keys, (int)x.ne[0], (int)x.ne[0] > 1 ? 2 : 1);
        for (int64_t i = cuda_thread_id(); i < y.ne[0]; i += cuda_block_size())
            to[i] = index_of(keys[i]);
    }
}

bool
cuda_supports_sort(const struct ggml_tensor *dst)
{
    return dst->type == GGML_TYPE_I32 && dst->nb[0] == sizeof(int32_t) &&
           cuda_is_float_type(dst->src[0]->type) &&
           dst->src[0]->ne[0] <= SORT_KEYS;
}

void
cuda_run_sort(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    bool descending = dst->op == GGML_OP_TOP_K ||
                      tensor_get_i32(dst, 0) == GGML_SORT_ORDER_DESC;

    if (!ggml_is_empty(dst))
        LAUNCH(
            argsort,
            cuda_default_launch(ggml_nrows(x), x->ne[0] <= 256 ? 128 : THREADS),
            c, cuda_view_of(dst), cuda_view_of(x), descending, ggml_nrows(x));
}

/* The first of the order, of any length. */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
argmax(int32_t *y, struct view x, int64_t n_rows)
{
    SHARED(uint64_t, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t row = cuda_block_id(); row < n_rows; row += cuda_grid_size()) {
        const char *from = cuda_row_data(&x, cuda_row_at(&x, row));
        uint64_t most = 0;

        for (int64_t i = cuda_thread_id(); i < x.ne[0];
             i += cuda_block_size()) {
            float v = cuda_load_element(&x, from, i);

            most = larger(most, key_of(v, i, v == v)); /* NaN is last */
        }
        most = block_largest(most, scratch);
        if (cuda_thread_id() == 0)
            y[row] = index_of(most);
    }
}

bool
cuda_supports_argmax(const struct ggml_tensor *dst)
{
    return dst->type == GGML_TYPE_I32 && ggml_is_contiguous(dst) &&
           cuda_is_float_type(dst->src[0]->type) &&
           dst->src[0]->ne[0] < INT32_MAX;
}

void
cuda_run_argmax(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];

    if (!ggml_is_empty(x))
        LAUNCH(argmax,
               cuda_default_launch(ggml_nrows(x), cuda_row_threads(x->ne[0])),
               c, (int32_t *)dst->data, cuda_view_of(x), ggml_nrows(x));
}

/* -- The top k of long rows -- */

struct best {
    const float *logits;
    int64_t n, stride;
    int k, n_rows;
};

/* The maximum of a part of a row, and the sum of exp(x - maximum). */
struct total {
    double most, sum;
};

/* The total of n values; where their maximum is not finite, the sum has no
 * meaning. */
DEVICE struct total
total_of(const float *x, int n, double *scratch)
{
    struct total t;
    double sum = 0;
    float most = -INFINITY;

    for (int i = (int)cuda_thread_id(); i < n; i += THREADS)
        most = fmaxf(most, x[i]);
    t.most = cuda_block_max(most, (float *)scratch);
    cuda_barrier();
    for (int i = (int)cuda_thread_id(); i < n; i += THREADS)
        sum += x[i] == -INFINITY ? 0 : exp((double)x[i] - t.most);
    t.sum = cuda_block_sum(sum, scratch);
    return t;
}

/* Items: parts of SORT_KEYS values of each row; k keys of each to `out`. */
KERNEL
top_k_values(struct best b, int64_t parts, uint64_t *out, struct total *totals,
             int64_t n_items)
{
    SHARED(uint64_t, keys, SORT_KEYS);
    SHARED(double, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t part, row = cuda_divide(item, parts, &part);
        int64_t first = part * SORT_KEYS;
        const float *x = b.logits + row * b.stride + first;
        int n = (int)(b.n - first < SORT_KEYS ? b.n - first : SORT_KEYS);
        struct total t = total_of(x, n, scratch);

        cuda_barrier();
        for (int i = (int)cuda_thread_id(); i < n; i += THREADS)
            keys[i] = key_of(x[i], first + i, true);
        top_k(keys, n, b.k);
        for (int i = (int)cuda_thread_id(); i < b.k; i += THREADS)
            out[item * b.k + i] = i < n ? keys[i] : 0;
        if (cuda_thread_id() == 0)
            totals[item] = t;
    }
}

/* Items: `each` of `lists` lists of k keys a row; k keys of them to `out`. */
KERNEL
merge_top_k(int k, int64_t lists, int64_t each, const uint64_t *in,
            uint64_t *out, int64_t n_items)
{
    SHARED(uint64_t, keys, SORT_KEYS);

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t part, row = cuda_divide(item, (lists + each - 1) / each, &part);
        int64_t left = lists - part * each;
        const uint64_t *from = in + (row * lists + part * each) * k;
        int n = (int)((left < each ? left : each) * k);

        cuda_barrier();
        for (int i = (int)cuda_thread_id(); i < n; i += THREADS)
            keys[i] = from[i];
        top_k(keys, n, k);
        for (int i = (int)cuda_thread_id(); i < k; i += THREADS)
            out[item * k + i] = keys[i];
    }
}

/* Combines a row's parts, in order. */
DEVICE double
log_sum_exp(const struct total *t, int64_t parts)
{
    double most = -INFINITY, sum = 0;

    for (int64_t i = 0; i < parts; i++)
        most = fmax(most, t[i].most);
    if (most == -INFINITY)
        most = 0; /* sums are 0, or NaN */
    for (int64_t i = 0; i < parts; i++)
        sum += t[i].sum * exp(t[i].most - most);
    return most + log(sum);
}

KERNEL
store_best(struct best b, int64_t parts, const uint64_t *keys,
           const struct total *totals, int32_t *ids, float *values, double *lse)
{
    cuda_grid_dependency_sync();
    for (int64_t row = cuda_block_id(); row < b.n_rows;
         row += cuda_grid_size()) {
        for (int i = (int)cuda_thread_id(); i < b.k;
             i += (int)cuda_block_size()) {
            int32_t id = index_of(keys[row * b.k + i]);

            ids[row * b.k + i] = id;
            values[row * b.k + i] = b.logits[row * b.stride + id];
        }
        if (cuda_thread_id() == 0)
            lse[row] = log_sum_exp(totals + row * parts, parts);
    }
}

void
cuda_best(struct cuda_ctx *c, const float *logits, int64_t n, int64_t stride,
          int n_rows, int k, int32_t *ids, float *values, double *lse)
{
    struct best b = { logits, n, stride, k, n_rows };
    int64_t parts = cuda_ceil_div(n, SORT_KEYS), lists = parts,
            each = SORT_KEYS / k;
    size_t size = (size_t)(parts * n_rows * k) * sizeof(uint64_t);
    uint64_t *in, *out = (uint64_t *)cuda_scratch(c, size);
    uint64_t *other = (uint64_t *)cuda_scratch(c, size);
    struct total *totals = (struct total *)cuda_scratch(
        c, (size_t)(parts * n_rows) * sizeof(*totals));

    if (!out || !other || !totals || n_rows < 1)
        return;
    LAUNCH(top_k_values, cuda_default_launch(parts * n_rows, THREADS), c, b,
           parts, out, totals, parts * n_rows);
    while (lists > 1) {
        int64_t merged = cuda_ceil_div(lists, each);

        in = out;
        out = other;
        other = in;
        LAUNCH(merge_top_k, cuda_default_launch(merged * n_rows, THREADS), c, k,
               lists, each, (const uint64_t *)in, out, merged * n_rows);
        lists = merged;
    }
    LAUNCH(store_best, cuda_default_launch(n_rows, 128), c, b, parts,
           (const uint64_t *)out, (const struct total *)totals, ids, values,
           lse);
}
