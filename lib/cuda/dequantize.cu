/* dequantize.cu - rows of any type to floats; GET_ROWS
 *
 * A thread dequantises a sub-block of 32 values. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/dequantize.h"

struct lookup {
    struct view y, x, ids;
    bool by_id;
    int64_t sub_blocks; /* of a row */
};

DEVICE int64_t
index_at(const struct view *ids, int64_t i0, int64_t i1, int64_t i2)
{
    const char *p =
        ids->data + i0 * ids->nb[0] + i1 * ids->nb[1] + i2 * ids->nb[2];

    if (ids->type == GGML_TYPE_I64)
        return *(const int64_t *)(const void *)p;
    return *(const int32_t *)(const void *)p;
}

/* The source of row r of y; NULL: its id is out of range. */
DEVICE const char *
source_of(const struct lookup *l, struct row r)
{
    if (l->by_id) {
        r.i1 = index_at(&l->ids, r.i1, r.i2, r.i3);
        if (r.i1 < 0 || r.i1 >= l->x.ne[1])
            return NULL;
    }
    return cuda_row_data(&l->x, r);
}

/* x[j] = scale * q - min, rounded as quant/ does. */
template <class T>
DEVICE float
value_of(const struct sub_block *u, int j)
{
    int g = T::group == 16 ? j / 16 : 0;
    float q = (float)((int8_t)(u->codes[j / 4] >> j % 4 * 8) - T::offset);

    q = cuda_multiply_rn(u->scale[g], q);
    return T::min ? cuda_subtract_rn(q, u->min[g]) : q;
}

/* Stores 32 floats from element `at` on, as 16-byte vectors if they are
 * aligned. */
DEVICE void
store_sub_block(const struct view *y, char *row, int64_t at, const float *v)
{
    char *to = row + at * y->nb[0];
    bool whole = ((uintptr_t)to & 15) == 0;

    if (whole && y->type == GGML_TYPE_F32 && y->nb[0] == 4) {
        UNROLL for (int i = 0; i < SUB_BLOCK; i += 4)
        {
            float4 f = { v[i], v[i + 1], v[i + 2], v[i + 3] };

            cuda_store_vector(to + i * 4, f);
        }
    } else if (whole && y->type != GGML_TYPE_F32 && y->nb[0] == 2) {
        bool f16 = y->type == GGML_TYPE_F16;

        UNROLL for (int i = 0; i < SUB_BLOCK; i += 8)
        {
            uint32_t w[4];
            uint4 all;

            UNROLL for (int j = 0; j < 4; j++)
            {
                float a = v[i + 2 * j], b = v[i + 2 * j + 1];

                w[j] = f16 ? cuda_to_f16_pair(a, b) : cuda_to_bf16_pair(a, b);
            }
            all.x = w[0], all.y = w[1], all.z = w[2], all.w = w[3];
            cuda_store_vector(to + i * 2, all);
        }
    } else {
        UNROLL for (int i = 0; i < SUB_BLOCK; i++)
            cuda_store_element(y, row, at + i, v[i]);
    }
}

template <class T>
DEVICE void
dequantize_sub_block(const struct lookup *l, const char *from, char *to,
                     int64_t n)
{
    float v[SUB_BLOCK];

    if (from) {
        struct sub_block u;

        T::unpack(from + n / T::sub_blocks * T::size, (int)(n % T::sub_blocks),
                  &u);
        UNROLL for (int j = 0; j < SUB_BLOCK; j++) v[j] = value_of<T>(&u, j);
    } else {
        UNROLL for (int j = 0; j < SUB_BLOCK; j++) v[j] = 0;
    }
    store_sub_block(&l->y, to, n * SUB_BLOCK, v);
}

template <class T>
KERNEL
dequantize_blocks(struct lookup l, int64_t n_items)
{
    int64_t chunks = (l.sub_blocks + cuda_block_size() - 1) / cuda_block_size();

    cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n_items;
         item += cuda_grid_size()) {
        int64_t chunk, row = cuda_divide(item, chunks, &chunk);
        struct row r = cuda_row_at(&l.y, row);
        int64_t n = chunk * cuda_block_size() + cuda_thread_id();

        if (n < l.sub_blocks)
            dequantize_sub_block<T>(&l, source_of(&l, r),
                                    cuda_row_data(&l.y, r), n);
    }
}

KERNEL
convert_elements(struct lookup l, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(l.y, c, i, n)
    {
        const char *from = source_of(&l, c.row);

        cuda_store_element(&l.y, cuda_row_data(&l.y, c.row), i,
                           from ? cuda_load_element(&l.x, from, i) : 0);
    }
}

/* n contiguous floats to F16 or BF16, in vectors of four. */
KERNEL
convert_contiguous(struct view y, const char *from, int64_t n)
{
    int64_t step = (int64_t)cuda_grid_size() * cuda_block_size() * 4;

    cuda_grid_dependency_sync();
    for (int64_t i =
             ((int64_t)cuda_block_id() * cuda_block_size() + cuda_thread_id()) *
             4;
         i < n; i += step) {
        float4 v = cuda_load_vector<float4>(from + i * 4);
        uint2 w;

        if (y.type == GGML_TYPE_F16) {
            w.x = cuda_to_f16_pair(v.x, v.y);
            w.y = cuda_to_f16_pair(v.z, v.w);
        } else {
            w.x = cuda_to_bf16_pair(v.x, v.y);
            w.y = cuda_to_bf16_pair(v.z, v.w);
        }
        cuda_store_vector(y.data + i * 2, w);
    }
}

static bool
is_contiguous_pair(const struct view *y, const struct view *x)
{
    int64_t n = x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3];

    return x->type == GGML_TYPE_F32 && y->type != GGML_TYPE_F32 && n % 4 == 0 &&
           cuda_is_contiguous(x, 4) && cuda_is_contiguous(y, 2) &&
           (((uintptr_t)x->data | (uintptr_t)y->data) & 15) == 0;
}

/* I32, copied. */
KERNEL
copy_integers(struct lookup l, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(l.y, c, i, n)
    {
        const char *from = source_of(&l, c.row);
        char *to = cuda_row_data(&l.y, c.row) + i * l.y.nb[0];

        *(int32_t *)(void *)to =
            from ? *(const int32_t *)(const void *)(from + i * l.x.nb[0]) : 0;
    }
}

void
cuda_dequantize_rows(struct cuda_ctx *c, const struct view *y,
                     const struct view *x, const struct view *ids)
{
    struct lookup l = { *y, *x, ids ? *ids : *x, ids != NULL,
                        y->ne[0] / SUB_BLOCK };
    unsigned threads = l.sub_blocks <= 32    ? 32
                       : l.sub_blocks <= 128 ? 128
                                             : 256;
    int64_t rows = y->ne[1] * y->ne[2] * y->ne[3];
    int64_t n = rows * cuda_ceil_div(l.sub_blocks, threads);
    int64_t n_chunks = rows * cuda_ceil_div(y->ne[0], CHUNK);

    if (rows == 0 || y->ne[0] == 0)
        return;
    switch (x->type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        LAUNCH((dequantize_blocks<format_##name>),                             \
               cuda_default_launch(n, threads), c, l, n);                      \
        break;
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    case GGML_TYPE_I32:
        LAUNCH(copy_integers, cuda_default_launch(n_chunks, CUDA_THREADS), c, l,
               n_chunks);
        break;
    default:
        if (!ids && is_contiguous_pair(y, x)) {
            n = y->ne[0] * rows;
            LAUNCH(convert_contiguous,
                   cuda_default_launch(cuda_ceil_div(n, CUDA_THREADS * 4),
                                       CUDA_THREADS),
                   c, *y, (const char *)x->data, n);
            break;
        }
        LAUNCH(convert_elements, cuda_default_launch(n_chunks, CUDA_THREADS), c,
               l, n_chunks);
    }
}

bool
cuda_supports_get_rows(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];

    if (dst->src[1]->type != GGML_TYPE_I32)
        return false;
    if (x->type == GGML_TYPE_I32)
        return dst->type == GGML_TYPE_I32;
    return cuda_is_float_type(dst->type) &&
           (cuda_is_float_type(x->type) ||
            (cuda_is_format(x->type) && x->nb[0] == ggml_type_size(x->type)));
}

void
cuda_run_get_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct view y = cuda_view_of(dst), x = cuda_view_of(dst->src[0]);
    struct view ids = cuda_view_of(dst->src[1]);

    cuda_dequantize_rows(c, &y, &x, &ids);
}
