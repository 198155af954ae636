/* tensor_view.h - strided tensor views for kernels, and access to elements */
#ifndef CUDA_TENSOR_VIEW_H
#define CUDA_TENSOR_VIEW_H

#include <ggml-backend.h>
#include <ggml.h>

#include "cuda/device.h"
#include "cuda/kernels.h"
#include "cuda/ops.h"
#include "cuda/launch_config.h"
#include "tensor/tensor.h"

/* Passed to kernels by value. */
struct view {
    char *data;
    int64_t ne[4];
    int64_t nb[4];
    int type; /* enum ggml_type */
};

static inline struct view
cuda_view_of(const struct ggml_tensor *t)
{
    struct view v = {};

    v.data = (char *)t->data;
    v.type = t->type;
    for (int i = 0; i < 4; i++) {
        v.ne[i] = t->ne[i];
        v.nb[i] = (int64_t)t->nb[i];
    }
    return v;
}

/* Whether the elements, of `size` bytes, are contiguous. */
static inline bool
cuda_is_contiguous(const struct view *v, int64_t size)
{
    for (int i = 0; i < 4; i++) {
        if (v->ne[i] > 1 && v->nb[i] != size)
            return false;
        size *= v->ne[i];
    }
    return true;
}

/* Whether all rows are aligned to 16 bytes. */
static inline bool
cuda_is_aligned_16(const struct view *v)
{
    uintptr_t all = (uintptr_t)v->data;

    for (int i = 1; i < 4; i++)
        all |= (uintptr_t)v->nb[i];
    return (all & 15) == 0;
}

/* Whether a tensor is a model's weight, which no graph writes; or NULL. */
static inline bool
cuda_is_constant(const struct ggml_tensor *t)
{
    ggml_backend_buffer_t b = !t            ? NULL
                              : t->view_src ? t->view_src->buffer
                                            : t->buffer;

    return !t || (b && ggml_backend_buffer_get_usage(b) ==
                           GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
}

/* The usual launch: `items` work items, a block each. */
static inline struct cuda_launch_config
cuda_default_launch(int64_t items, unsigned threads)
{
    struct cuda_launch_config config = { cuda_blocks(items), threads, 0 };

    return config;
}

/* Types whose elements are read and written as floats. */
static inline bool
cuda_is_float_type(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16;
}

static inline bool
cuda_is_f32(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && t->nb[0] == sizeof(float);
}

/* A row's indices in dimensions 1 to 3. */
struct row {
    int64_t i1, i2, i3;
};

/* n / by, and the remainder; by a 32-bit division where both are small. */
DEVICE int64_t
cuda_divide(int64_t n, int64_t by, int64_t *rest)
{
    int64_t q;

    if ((uint64_t)(n | by) >> 32 == 0)
        q = (int64_t)((uint32_t)n / (uint32_t)by);
    else
        q = n / by;
    *rest = n - q * by;
    return q;
}

DEVICE int64_t
cuda_modulo(int64_t n, int64_t by)
{
    int64_t rest;

    if (n < by)
        return n;
    cuda_divide(n, by, &rest);
    return rest;
}

DEVICE struct row
cuda_row_at(const struct view *v, int64_t row)
{
    struct row r;

    row = cuda_divide(row, v->ne[1], &r.i1);
    r.i3 = cuda_divide(row, v->ne[2], &r.i2);
    return r;
}

/* The linear index of row r: the inverse of cuda_row_at(). */
DEVICE int64_t
cuda_row_number(const struct view *v, struct row r)
{
    return (r.i3 * v->ne[2] + r.i2) * v->ne[1] + r.i1;
}

/* The row of a smaller tensor that is broadcast to row r. */
DEVICE struct row
cuda_row_wrap(const struct view *v, struct row r)
{
    r.i1 = cuda_modulo(r.i1, v->ne[1]);
    r.i2 = cuda_modulo(r.i2, v->ne[2]);
    r.i3 = cuda_modulo(r.i3, v->ne[3]);
    return r;
}

DEVICE char *
cuda_row_data(const struct view *v, struct row r)
{
    return v->data + r.i1 * v->nb[1] + r.i2 * v->nb[2] + r.i3 * v->nb[3];
}

/* Element i of a row as a float: F32, F16, BF16, or I32 (exact up to 2^24). */
DEVICE float
cuda_load_element(const struct view *v, const char *row, int64_t i)
{
    const char *p = row + i * v->nb[0];

    switch (v->type) {
    case GGML_TYPE_F16:
        return cuda_from_f16(*(const uint16_t *)(const void *)p);
    case GGML_TYPE_BF16:
        return cuda_from_bf16(*(const uint16_t *)(const void *)p);
    case GGML_TYPE_I32:
        return (float)*(const int32_t *)(const void *)p;
    default:
        return *(const float *)(const void *)p;
    }
}

DEVICE void
cuda_store_element(const struct view *v, char *row, int64_t i, float x)
{
    char *p = row + i * v->nb[0];

    switch (v->type) {
    case GGML_TYPE_F16:
        *(uint16_t *)(void *)p = cuda_to_f16(x);
        break;
    case GGML_TYPE_BF16:
        *(uint16_t *)(void *)p = cuda_to_bf16(x);
        break;
    default:
        *(float *)(void *)p = x;
    }
}

/* Rows are split into chunks, the work items of element-wise kernels. */
#define CHUNK CUDA_THREADS /* an element a thread */

struct chunk {
    struct row row;
    int64_t begin, end;
};

static inline int64_t
cuda_chunks_of(const struct ggml_tensor *t)
{
    return ggml_nrows(t) * cuda_ceil_div(t->ne[0], CHUNK);
}

DEVICE struct chunk
cuda_chunk_at(const struct view *v, int64_t item)
{
    struct chunk c;
    int64_t at, row = cuda_divide(item, (v->ne[0] + CHUNK - 1) / CHUNK, &at);

    c.row = cuda_row_at(v, row);
    c.begin = at * CHUNK;
    c.end = c.begin + CHUNK < v->ne[0] ? c.begin + CHUNK : v->ne[0];
    return c;
}

/* `i` goes over this thread's elements of all chunks c of v: n of them. */
#define EACH_ELEMENT(v, c, i, n)                                               \
    for (int64_t item_ = cuda_block_id(); item_ < (n);                         \
         item_ += cuda_grid_size())                                            \
        if (struct chunk c = cuda_chunk_at(&(v), item_); true)                 \
            for (int64_t i = c.begin + cuda_thread_id(); i < c.end;            \
                 i += cuda_block_size())

#endif
