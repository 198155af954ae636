/* gradient.cu - SILU_BACK, RMS_NORM_BACK, SOFT_MAX_BACK, REPEAT_BACK,
 * GET_ROWS_BACK: gradients of elements and rows
 *
 * No sum depends on the grid, and none is atomic: a gradient is the same bytes
 * in every run. These kernels, and the others of training (loss.cu,
 * opt_step.cu, out_prod.cu, image.cu), were tested by emulation; they have not
 * been measured on a device. */
#include "cuda/functions.h"
#include "cuda/tensor_view.h"

/* y from g, the gradient of f(x), and x; y may be g. */
struct gradient {
    struct view y, g, x;
    float p; /* epsilon, or a scale */
};

static struct gradient
gradient_of(const struct ggml_tensor *dst)
{
    struct gradient d = { cuda_view_of(dst), cuda_view_of(dst->src[0]),
                          cuda_view_of(dst->src[1]), tensor_get_f32(dst, 0) };

    return d;
}

static bool
supports_gradient(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           cuda_is_float_type(dst->src[1]->type);
}

/* With s = sigmoid(x): g s (1 + x (1 - s)). */
KERNEL
silu_back(struct gradient d, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(d.y, c, i, n)
    {
        float g = cuda_load_element(&d.g, cuda_row_data(&d.g, c.row), i);
        float x = cuda_load_element(&d.x, cuda_row_data(&d.x, c.row), i);
        float s = cuda_sigmoid(x);

        cuda_store_element(&d.y, cuda_row_data(&d.y, c.row), i,
                           g * (s * (1 + x * (1 - s))));
    }
}

bool
cuda_supports_silu_back(const struct ggml_tensor *dst)
{
    return supports_gradient(dst);
}

void
cuda_run_silu_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(silu_back, cuda_default_launch(n, CUDA_THREADS), c,
               gradient_of(dst), n);
}

/* -- Of rows, a block each -- */

/* This thread's part of g . x, and of x . x. */
struct products {
    float along, squares;
};

DEVICE struct products
multiply_row(const struct gradient *d, const char *g, const char *x)
{
    struct products p = { 0, 0 };

    for (int64_t i = cuda_thread_id(); i < d->y.ne[0]; i += cuda_block_size()) {
        float v = cuda_load_element(&d->x, x, i);

        p.along += cuda_load_element(&d->g, g, i) * v;
        p.squares += v * v;
    }
    return p;
}

/* y = by (g - along x) */
DEVICE void
store_row(const struct gradient *d, struct row r, const char *g, const char *x,
          float by, float along, bool times_x)
{
    char *y = cuda_row_data(&d->y, r);

    for (int64_t i = cuda_thread_id(); i < d->y.ne[0]; i += cuda_block_size()) {
        float v = cuda_load_element(&d->x, x, i);
        float u = cuda_load_element(&d->g, g, i);

        u = times_x ? v * (u - along) : u - along * v;
        cuda_store_element(&d->y, y, i, by * u);
    }
}

/* With r = 1 / sqrt(mean(x^2) + eps): r g - r^3 mean(g x) x. */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
rms_norm_back(struct gradient d, int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id(); i < n_rows; i += cuda_grid_size()) {
        struct row row = cuda_row_at(&d.y, i);
        const char *g = cuda_row_data(&d.g, row), *x = cuda_row_data(&d.x, row);
        struct products p = multiply_row(&d, g, x);
        float n = (float)d.y.ne[0], r;

        p.squares = cuda_block_sum(p.squares, scratch);
        p.along = cuda_block_sum(p.along, scratch);
        r = 1 / sqrtf(p.squares / n + d.p);
        store_row(&d, row, g, x, r, r * r * p.along / n, false);
    }
}

/* x is the softmax: scale x (g - x . g). */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
soft_max_back(struct gradient d, int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id(); i < n_rows; i += cuda_grid_size()) {
        struct row row = cuda_row_at(&d.y, i);
        const char *g = cuda_row_data(&d.g, row), *x = cuda_row_data(&d.x, row);
        float along = cuda_block_sum(multiply_row(&d, g, x).along, scratch);

        store_row(&d, row, g, x, d.p, along, true);
    }
}

bool
cuda_supports_norm_back(const struct ggml_tensor *dst)
{
    return supports_gradient(dst);
}

void
cuda_run_norm_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = ggml_nrows(dst);
    struct cuda_launch_config config =
        cuda_default_launch(n, cuda_row_threads(dst->ne[0]));

    if (ggml_is_empty(dst))
        return;
    if (dst->op == GGML_OP_RMS_NORM_BACK)
        LAUNCH(rms_norm_back, config, c, gradient_of(dst), n);
    else
        LAUNCH(soft_max_back, config, c, gradient_of(dst), n);
}

/* -- REPEAT_BACK -- */

/* Copies of y in x: how many along the first three dimensions, and in all. */
struct copies {
    struct view y, x;
    int64_t n[3], all;
};

/* Element i of row r of copy q. */
DEVICE float
copied_element(const struct copies *p, struct row r, int64_t i, int64_t q)
{
    int64_t at[3];

    UNROLL for (int d = 0; d < 3; d++) q = cuda_divide(q, p->n[d], &at[d]);
    r.i1 += at[1] * p->y.ne[1];
    r.i2 += at[2] * p->y.ne[2];
    r.i3 += q * p->y.ne[3];
    return cuda_load_element(&p->x, cuda_row_data(&p->x, r),
                             at[0] * p->y.ne[0] + i);
}

/* A block sums up `width` columns of a row, a power of two: each of its groups
 * of `width` threads takes some copies. */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
repeat_back(struct copies p, int width, int64_t n_items)
{
    SHARED(float, sums, CUDA_MAX_THREADS);
    int thread = (int)cuda_thread_id(), group = thread / width;
    int n_groups = (int)cuda_block_size() / width;
    int64_t tiles = (p.y.ne[0] + width - 1) / width;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t tile, row = cuda_divide(item, tiles, &tile);
        int64_t i = tile * width + thread % width;
        struct row r = cuda_row_at(&p.y, row);
        float sum = 0;

        if (i < p.y.ne[0])
            for (int64_t q = group; q < p.all; q += n_groups)
                sum += copied_element(&p, r, i, q);
        sums[thread] = sum;
        for (int half = n_groups / 2; half > 0; half /= 2) {
            cuda_barrier();
            if (group < half)
                sums[thread] += sums[thread + half * width];
        }
        if (group == 0 && i < p.y.ne[0])
            cuda_store_element(&p.y, cuda_row_data(&p.y, r), i, sums[thread]);
        cuda_barrier();
    }
}

bool
cuda_supports_repeat_back(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

/* The first power of two that is at least n, at most `most`. */
static int
power_for(int64_t n, int most)
{
    int power = 1;

    while (power < n && power < most)
        power *= 2;
    return power;
}

void
cuda_run_repeat_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct copies p = { cuda_view_of(dst), cuda_view_of(x), {}, 1 };
    int width = power_for(dst->ne[0], LANES), threads;
    int64_t n;

    if (ggml_is_empty(dst))
        return;
    for (int d = 0; d < 4; d++) {
        p.all *= x->ne[d] / dst->ne[d];
        if (d < 3)
            p.n[d] = x->ne[d] / dst->ne[d];
    }
    threads = width * power_for(p.all, CUDA_MAX_THREADS / width);
    n = ggml_nrows(dst) * cuda_ceil_div(dst->ne[0], width);
    LAUNCH(repeat_back,
           cuda_default_launch(n, threads < LANES ? LANES : (unsigned)threads),
           c, p, width, n);
}

/* -- GET_ROWS_BACK -- */

/* A position in the list of those that have the same row. */
struct link {
    int next;   /* or their number: it is the last */
    bool first; /* and of a row that there is */
};

DEVICE int
row_at_position(const struct view *ids, int64_t i)
{
    return *(const int32_t *)(const void *)(ids->data + i * ids->nb[0]);
}

KERNEL
link_positions(struct view ids, int n_rows, struct link *links, int n)
{
    int step = (int)(cuda_grid_size() * cuda_block_size());

    cuda_grid_dependency_sync();
    for (int i = (int)(cuda_block_id() * cuda_block_size() + cuda_thread_id());
         i < n; i += step) {
        int id = row_at_position(&ids, i), before = 0, next = i + 1;

        while (before < i && row_at_position(&ids, before) != id)
            before++;
        while (next < n && row_at_position(&ids, next) != id)
            next++;
        links[i].next = next;
        links[i].first = before == i && id >= 0 && id < n_rows;
    }
}

KERNEL
clear(struct view y, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    cuda_store_element(&y, cuda_row_data(&y, c.row), i, 0);
}

/* Items: chunks of the rows of x; the first of a row of y sums up all that
 * are for it, in their order. */
KERNEL
sum_linked_rows(struct view y, struct view x, struct view ids,
                const struct link *links, int n, int64_t n_items)
{
    int64_t chunks = (y.ne[0] + CHUNK - 1) / CHUNK;

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t chunk, i = cuda_divide(item, chunks, &chunk);
        int64_t column = chunk * CHUNK + cuda_thread_id();
        float sum = 0;

        if (!links[i].first || column >= y.ne[0])
            continue;
        for (int j = (int)i; j < n; j = links[j].next)
            sum += cuda_load_element(&x, x.data + j * x.nb[1], column);
        cuda_store_element(&y, y.data + row_at_position(&ids, i) * y.nb[1],
                           column, sum);
    }
}

bool
cuda_supports_get_rows_back(const struct ggml_tensor *dst)
{
    return cuda_supports_repeat_back(dst) &&
           dst->src[1]->type == GGML_TYPE_I32 && dst->ne[1] < INT32_MAX &&
           dst->src[1]->ne[0] < INT32_MAX / 2;
}

void
cuda_run_get_rows_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct view y = cuda_view_of(dst), ids = cuda_view_of(dst->src[1]);
    int n = (int)ids.ne[0];
    int64_t n_items = n * cuda_ceil_div(y.ne[0], CHUNK);
    struct link *links =
        (struct link *)cuda_scratch(c, (size_t)n * sizeof(*links));

    if (!links || ggml_is_empty(dst))
        return;
    LAUNCH(clear, cuda_default_launch(cuda_chunks_of(dst), CUDA_THREADS), c, y,
           cuda_chunks_of(dst));
    if (n == 0)
        return;
    LAUNCH(link_positions,
           cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS), CUDA_THREADS), c,
           ids, (int)y.ne[1], links, n);
    LAUNCH(sum_linked_rows, cuda_default_launch(n_items, CUDA_THREADS), c, y,
           cuda_view_of(dst->src[0]), ids, (const struct link *)links, n,
           n_items);
}
