/* sums.cu - SUM_ROWS, MEAN, CUMSUM, SUM, COUNT_EQUAL: sums of elements */
#include "cuda/sums.h"

/* -- Of rows -- */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
sum_rows(struct view y, struct view x, float divisor, int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t k = cuda_block_id(); k < n_rows; k += cuda_grid_size()) {
        struct row r = cuda_row_at(&x, k);
        const char *from = cuda_row_data(&x, r);
        float sum = 0;

        for (int64_t i = cuda_thread_id(); i < x.ne[0]; i += cuda_block_size())
            sum += cuda_load_element(&x, from, i);
        sum = cuda_block_sum(sum, scratch);
        if (cuda_thread_id() == 0)
            cuda_store_element(&y, cuda_row_data(&y, r), 0, sum / divisor);
    }
}

bool
cuda_supports_sum_rows(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

void
cuda_run_sum_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    float divisor = dst->op == GGML_OP_MEAN ? (float)x->ne[0] : 1;

    if (!ggml_is_empty(dst))
        LAUNCH(sum_rows,
               cuda_default_launch(ggml_nrows(x), cuda_row_threads(x->ne[0])),
               c, cuda_view_of(dst), cuda_view_of(x), divisor, ggml_nrows(x));
}

/* The sum of v over this thread and those before it. */
DEVICE double
warp_prefix_sum(double v)
{
    int lane = (int)cuda_lane_id();

    UNROLL for (int d = 1; d < LANES; d *= 2)
    {
        double before = cuda_lane_get(v, (lane - d) & (LANES - 1));

        if (lane >= d)
            v += before;
    }
    return v;
}

/* The sum of v over this thread and those before it in the block; *all: the sum
 * of all threads. */
DEVICE double
block_prefix_sum(double v, double *scratch, double *all)
{
    double before = 0, sum = 0;

    v = warp_prefix_sum(v);
    cuda_barrier();
    if (cuda_lane_id() == LANES - 1)
        scratch[cuda_warp_id()] = v;
    cuda_barrier();
    for (unsigned i = 0; i < cuda_block_size() / LANES; i++) {
        if (i == cuda_warp_id())
            before = sum;
        sum += scratch[i];
    }
    *all = sum;
    return before + v;
}

/* In double, as the CPU: rows may be long. y may be x. */
KERNEL
cumulative_sum(struct view y, struct view x, int64_t n_rows)
{
    SHARED(double, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t k = cuda_block_id(); k < n_rows; k += cuda_grid_size()) {
        struct row r = cuda_row_at(&y, k);
        const char *from = cuda_row_data(&x, r);
        double before = 0, all;

        for (int64_t first = 0; first < x.ne[0]; first += cuda_block_size()) {
            int64_t i = first + cuda_thread_id();
            double v = i < x.ne[0] ? cuda_load_element(&x, from, i) : 0;

            v = before + block_prefix_sum(v, scratch, &all);
            if (i < x.ne[0])
                cuda_store_element(&y, cuda_row_data(&y, r), i, (float)v);
            before += all;
        }
    }
}

bool
cuda_supports_cumsum(const struct ggml_tensor *dst)
{
    return cuda_supports_sum_rows(dst);
}

void
cuda_run_cumsum(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    if (!ggml_is_empty(dst))
        LAUNCH(cumulative_sum,
               cuda_default_launch(ggml_nrows(dst), CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(dst->src[0]), ggml_nrows(dst));
}

/* -- Of a whole tensor -- */
#define PART 8192 /* elements that become one term */

KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
sum_terms(const double *terms, int64_t n, double divisor, struct view y)
{
    SHARED(double, scratch, LANES);
    double sum = 0;

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_thread_id(); i < n; i += cuda_block_size())
        sum += terms[i];
    sum = cuda_block_sum(sum, scratch) / divisor;
    if (cuda_thread_id() != 0)
        return;
    if (y.type == GGML_TYPE_I64)
        *(int64_t *)(void *)y.data = (int64_t)sum;
    else
        cuda_store_element(&y, y.data, 0, (float)sum);
}

void
cuda_store_sum(struct cuda_ctx *c, const double *terms, int64_t n,
               double divisor, const struct view *y)
{
    LAUNCH(sum_terms, cuda_default_launch(1, CUDA_MAX_THREADS), c, terms, n,
           divisor, *y);
}

/* Elements of x; or, if `equal`, 1 where those of x and z, of I32, are. */
struct terms {
    struct view x, z;
    bool equal;
};

DEVICE const char *
element_at(const struct view *x, int64_t i)
{
    int64_t at, row = cuda_divide(i, x->ne[0], &at);

    return cuda_row_data(x, cuda_row_at(x, row)) + at * x->nb[0];
}

DEVICE double
term_at(const struct terms *t, int64_t i)
{
    const char *x = element_at(&t->x, i);

    if (t->equal)
        return *(const int32_t *)(const void *)x ==
               *(const int32_t *)(const void *)element_at(&t->z, i);
    return cuda_load_element(&t->x, x, 0);
}

/* In double: there may be many elements, which cancel. */
KERNEL
sum_parts(struct terms t, int64_t n, double *sums, int64_t n_parts)
{
    SHARED(double, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t k = cuda_block_id(); k < n_parts; k += cuda_grid_size()) {
        int64_t end = k * PART + PART < n ? k * PART + PART : n;
        double sum = 0;

        for (int64_t i = k * PART + cuda_thread_id(); i < end;
             i += cuda_block_size())
            sum += term_at(&t, i);
        sum = cuda_block_sum(sum, scratch);
        if (cuda_thread_id() == 0)
            sums[k] = sum;
    }
}

bool
cuda_supports_sum(const struct ggml_tensor *dst)
{
    return cuda_supports_sum_rows(dst);
}

bool
cuda_supports_count_equal(const struct ggml_tensor *dst)
{
    return dst->type == GGML_TYPE_I64 && dst->src[0]->type == GGML_TYPE_I32 &&
           dst->src[1]->type == GGML_TYPE_I32;
}

void
cuda_run_sum(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0], *z = dst->src[1];
    struct terms t = { cuda_view_of(x), cuda_view_of(z ? z : x), z != NULL };
    struct view y = cuda_view_of(dst);
    int64_t n = ggml_nelements(x), n_parts = cuda_ceil_div(n, PART);
    double *sums = (double *)cuda_scratch(c, (size_t)n_parts * sizeof(*sums));

    if (!sums)
        return;
    if (n_parts > 0)
        LAUNCH(sum_parts, cuda_default_launch(n_parts, CUDA_THREADS), c, t, n,
               sums, n_parts);
    cuda_store_sum(c, sums, n_parts, 1, &y);
}

void
cuda_run_count_equal(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    cuda_run_sum(c, dst);
}
