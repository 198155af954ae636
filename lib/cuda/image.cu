/* image.cu - IM2COL, POOL_2D, and their gradients; PAD
 *
 * A thread an element of the result: gradients are gathered from all windows
 * that an element lies in, in their order, without atomics. */
#include "cuda/tensor_view.h"

/* An axis of the image: elements, those of a window and the distance of two of
 * them, the distance of windows and how many there are, zeros before. */
struct axis {
    int64_t n, k, d, s, places, p;
};

struct image_args {
    struct axis w, h;
    struct view image, columns; /* with all windows' elements, or one of each */
    struct view y;
    bool is_2d, max;
};

/* -- IM2COL: columns [k.. of all channels, w, h, n], or [k.., w, n] of images
 * [w, h, channels, n], or [w, channels, n] -- */
static struct axis
unfolded_axis(const struct ggml_tensor *dst, const struct ggml_tensor *kernel,
              const struct image_args *a, int dim)
{
    struct axis none = { 1, 1, 1, 1, 1, 0 };
    struct axis x = { a->image.ne[dim],
                      kernel->ne[dim],
                      tensor_get_i32(dst, 4 + dim),
                      tensor_get_i32(dst, dim),
                      a->columns.ne[1 + dim],
                      tensor_get_i32(dst, 2 + dim) };

    return dim == 1 && !a->is_2d ? none : x;
}

static struct image_args
unfolded_args(const struct ggml_tensor *dst, const struct ggml_tensor *kernel,
              const struct ggml_tensor *image,
              const struct ggml_tensor *columns)
{
    struct image_args a = {};

    a.is_2d = tensor_get_i32(dst, 6) != 0;
    a.image = cuda_view_of(image);
    a.columns = cuda_view_of(columns);
    a.w = unfolded_axis(dst, kernel, &a, 0);
    a.h = unfolded_axis(dst, kernel, &a, 1);
    a.y = cuda_view_of(dst);
    return a;
}

DEVICE struct row
image_row(const struct image_args *a, int64_t line, int64_t channel, int64_t n)
{
    struct row r = { a->is_2d ? line : channel, a->is_2d ? channel : n,
                     a->is_2d ? n : 0 };

    return r;
}

KERNEL
im2col(struct image_args a, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(a.y, c, i, n)
    {
        int64_t kw, kh, x, line;
        int64_t channel = cuda_divide(cuda_divide(i, a.w.k, &kw), a.h.k, &kh);
        struct row r;
        float v = 0;

        x = c.row.i1 * a.w.s - a.w.p + kw * a.w.d;
        line = (a.is_2d ? c.row.i2 : 0) * a.h.s - a.h.p + kh * a.h.d;
        r = image_row(&a, line, channel, a.is_2d ? c.row.i3 : c.row.i2);
        if (x >= 0 && x < a.w.n && line >= 0 && line < a.h.n)
            v = cuda_load_element(&a.image, cuda_row_data(&a.image, r), x);
        cuda_store_element(&a.y, cuda_row_data(&a.y, c.row), i, v);
    }
}

bool
cuda_supports_im2col(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[1]->type);
}

void
cuda_run_im2col(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct image_args a = unfolded_args(dst, dst->src[0], dst->src[1], dst);
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(im2col, cuda_default_launch(n, CUDA_THREADS), c, a, n);
}

/* The window in which element i of the image lies under element k; -1:
 * none. */
DEVICE int64_t
place_of(const struct axis *a, int64_t i, int64_t k)
{
    int64_t from = i + a->p - k * a->d;

    if (from < 0 || from % a->s != 0 || from / a->s >= a->places)
        return -1;
    return from / a->s;
}

DEVICE float
sum_of_places(const struct image_args *a, int64_t x, int64_t line,
              int64_t channel, int64_t n)
{
    float sum = 0;

    for (int64_t kh = 0; kh < a->h.k; kh++) {
        int64_t oh = place_of(&a->h, line, kh);

        for (int64_t kw = 0; kw < a->w.k && oh >= 0; kw++) {
            int64_t ow = place_of(&a->w, x, kw);
            struct row r = { ow, a->is_2d ? oh : n, a->is_2d ? n : 0 };

            if (ow >= 0)
                sum += cuda_load_element(&a->columns,
                                         cuda_row_data(&a->columns, r),
                                         (channel * a->h.k + kh) * a->w.k + kw);
        }
    }
    return sum;
}

KERNEL
im2col_back(struct image_args a, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(a.y, c, i, n)
    {
        float v = a.is_2d ? sum_of_places(&a, i, c.row.i1, c.row.i2, c.row.i3)
                          : sum_of_places(&a, i, 0, c.row.i1, c.row.i2);

        cuda_store_element(&a.y, cuda_row_data(&a.y, c.row), i, v);
    }
}

bool
cuda_supports_im2col_back(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

void
cuda_run_im2col_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct image_args a = unfolded_args(dst, dst->src[1], dst, dst->src[0]);
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(im2col_back, cuda_default_launch(n, CUDA_THREADS), c, a, n);
}

/* -- POOL_2D: a number of each window -- */
static struct axis
pooled_axis(const struct ggml_tensor *dst, const struct image_args *a, int dim)
{
    struct axis x = { a->image.ne[dim],
                      tensor_get_i32(dst, 1 + dim),
                      1,
                      tensor_get_i32(dst, 3 + dim),
                      a->columns.ne[dim],
                      tensor_get_i32(dst, 5 + dim) };

    return x;
}

static struct image_args
pooled_args(const struct ggml_tensor *dst, const struct ggml_tensor *image,
            const struct ggml_tensor *pooled)
{
    struct image_args a = {};

    a.is_2d = true;
    a.max = tensor_get_i32(dst, 0) == GGML_OP_POOL_MAX;
    a.image = cuda_view_of(image);
    a.columns = cuda_view_of(pooled);
    a.w = pooled_axis(dst, &a, 0);
    a.h = pooled_axis(dst, &a, 1);
    a.y = cuda_view_of(dst);
    return a;
}

/* The part of a window that lies inside: [first, end). */
struct span {
    int64_t first, end;
};

DEVICE struct span
window_at(const struct axis *a, int64_t place)
{
    int64_t first = place * a->s - a->p, end = first + a->k;
    struct span s = { first < 0 ? 0 : first, end < a->n ? end : a->n };

    return s;
}

DEVICE float
pixel(const struct image_args *a, struct row r, int64_t line, int64_t x)
{
    r.i1 = line;
    return cuda_load_element(&a->image, cuda_row_data(&a->image, r), x);
}

/* The mean is that of the whole window, with zeros outside. */
KERNEL
pool(struct image_args a, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(a.y, c, i, n)
    {
        struct span w = window_at(&a.w, i), h = window_at(&a.h, c.row.i1);
        float v = a.max ? -FLT_MAX : 0;

        for (int64_t line = h.first; line < h.end; line++)
            for (int64_t x = w.first; x < w.end; x++) {
                float u = pixel(&a, c.row, line, x);

                v = !a.max ? v + u : u > v ? u : v;
            }
        cuda_store_element(&a.y, cuda_row_data(&a.y, c.row), i,
                           a.max ? v : v / (float)(a.w.k * a.h.k));
    }
}

static bool
is_pool_known(const struct ggml_tensor *dst)
{
    return (unsigned)tensor_get_i32(dst, 0) < GGML_OP_POOL_COUNT;
}

bool
cuda_supports_pool(const struct ggml_tensor *dst)
{
    return is_pool_known(dst) && cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

void
cuda_run_pool(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct image_args a = pooled_args(dst, dst->src[0], dst);
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(pool, cuda_default_launch(n, CUDA_THREADS), c, a, n);
}

/* Whether an element is the first of the greatest of a window. */
DEVICE bool
is_greatest(const struct image_args *a, struct row r, struct span w,
            struct span h, int64_t i)
{
    float v = pixel(a, r, r.i1, i);
    bool greatest = v > -FLT_MAX;

    for (int64_t line = h.first; line < h.end && greatest; line++)
        for (int64_t x = w.first; x < w.end; x++) {
            float u = pixel(a, r, line, x);
            bool before = line < r.i1 || (line == r.i1 && x < i);

            greatest = greatest && !(u > v) && !(before && u == v);
        }
    return greatest;
}

/* The windows that element i lies in. */
DEVICE struct span
windows_of(const struct axis *a, int64_t i)
{
    int64_t past = i + a->p - a->k + 1; /* the start of the first, at least */
    struct span s = { past <= 0 ? 0 : (past + a->s - 1) / a->s,
                      (i + a->p) / a->s + 1 };

    s.end = s.end < a->places ? s.end : a->places;
    return s;
}

KERNEL
pool_back(struct image_args a, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(a.y, c, i, n)
    {
        struct span across = windows_of(&a.w, i);
        struct span down = windows_of(&a.h, c.row.i1);
        float sum = 0;

        for (int64_t oh = down.first; oh < down.end; oh++)
            for (int64_t ow = across.first; ow < across.end; ow++) {
                struct row of_g = { oh, c.row.i2, c.row.i3 };
                float g = cuda_load_element(
                    &a.columns, cuda_row_data(&a.columns, of_g), ow);

                if (!a.max)
                    sum += g / (float)(a.w.k * a.h.k);
                else if (is_greatest(&a, c.row, window_at(&a.w, ow),
                                     window_at(&a.h, oh), i))
                    sum += g;
            }
        cuda_store_element(&a.y, cuda_row_data(&a.y, c.row), i, sum);
    }
}

bool
cuda_supports_pool_back(const struct ggml_tensor *dst)
{
    return is_pool_known(dst) && cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           cuda_is_float_type(dst->src[1]->type);
}

void
cuda_run_pool_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct image_args a = pooled_args(dst, dst->src[1], dst->src[0]);
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(pool_back, cuda_default_launch(n, CUDA_THREADS), c, a, n);
}

/* -- PAD: zeros around a tensor, or its copies -- */
struct pad_args {
    struct view x, y;
    int64_t before[4];
    bool copies;
};

/* Where index i of a dimension comes from; -1: from nowhere. */
DEVICE int64_t
padded_source(const struct pad_args *a, int dim, int64_t i)
{
    int64_t n = a->x.ne[dim];

    i -= a->before[dim];
    if (a->copies)
        return (i % n + n) % n;
    return i >= 0 && i < n ? i : -1;
}

KERNEL
pad(struct pad_args a, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(a.y, c, i, n)
    {
        int64_t at = padded_source(&a, 0, i);
        struct row r = { padded_source(&a, 1, c.row.i1),
                         padded_source(&a, 2, c.row.i2),
                         padded_source(&a, 3, c.row.i3) };
        bool there = at >= 0 && r.i1 >= 0 && r.i2 >= 0 && r.i3 >= 0;

        cuda_store_element(
            &a.y, cuda_row_data(&a.y, c.row), i,
            there ? cuda_load_element(&a.x, cuda_row_data(&a.x, r), at) : 0);
    }
}

bool
cuda_supports_pad(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) && dst->type == dst->src[0]->type;
}

void
cuda_run_pad(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);
    struct pad_args a = {};

    a.x = cuda_view_of(dst->src[0]);
    a.y = cuda_view_of(dst);
    a.copies = tensor_get_i32(dst, 8) != 0;
    for (int i = 0; i < 4; i++)
        a.before[i] = tensor_get_i32(dst, 2 * i);
    if (n > 0)
        LAUNCH(pad, cuda_default_launch(n, CUDA_THREADS), c, a, n);
}
