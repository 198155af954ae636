/* open.cu - blocks of any type as floats; GET_ROWS
 *
 * A thread opens a unit of 32 values. */
#include "cuda/formats.h"
#include "cuda/formats_list.h"
#include "cuda/open.h"

struct lookup {
    struct view y, x, ids;
    bool by_id;
    int64_t units; /* of a row */
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

/* Where row r of y comes from; NULL: from nowhere. */
DEVICE const char *
source_of(const struct lookup *l, struct row r)
{
    if (l->by_id) {
        r.i1 = index_at(&l->ids, r.i1, r.i2, r.i3);
        if (r.i1 < 0 || r.i1 >= l->x.ne[1])
            return NULL;
    }
    return row_data(&l->x, r);
}

/* x[j] = scale * q - min, as quant/ computes it. */
template <class T>
DEVICE float
value_of(const struct unit *u, int j)
{
    int g = T::group == 16 ? j / 16 : 0;
    float q = (float)((int8_t)(u->codes[j / 4] >> j % 4 * 8) - T::offset);

    q = multiply_exactly(u->scale[g], q);
    return T::min ? subtract_exactly(q, u->min[g]) : q;
}

/* Stores 32 floats from element `at` on: in pieces of 16 bytes if that can
 * be. */
DEVICE void
store_unit(const struct view *y, char *row, int64_t at, const float *v)
{
    char *to = row + at * y->nb[0];
    bool whole = ((uintptr_t)to & 15) == 0;

    if (whole && y->type == GGML_TYPE_F32 && y->nb[0] == 4) {
        UNROLL for (int i = 0; i < UNIT; i += 4)
        {
            float4 f = { v[i], v[i + 1], v[i + 2], v[i + 3] };

            store_vector(to + i * 4, f);
        }
    } else if (whole && y->type != GGML_TYPE_F32 && y->nb[0] == 2) {
        bool f16 = y->type == GGML_TYPE_F16;

        UNROLL for (int i = 0; i < UNIT; i += 8)
        {
            uint32_t w[4];
            uint4 all;

            UNROLL for (int j = 0; j < 4; j++)
            {
                float a = v[i + 2 * j], b = v[i + 2 * j + 1];

                w[j] = f16 ? to_f16_pair(a, b) : to_bf16_pair(a, b);
            }
            all.x = w[0], all.y = w[1], all.z = w[2], all.w = w[3];
            store_vector(to + i * 2, all);
        }
    } else {
        UNROLL for (int i = 0; i < UNIT; i++)
            store_element(y, row, at + i, v[i]);
    }
}

template <class T>
DEVICE void
open_unit(const struct lookup *l, const char *from, char *to, int64_t n)
{
    float v[UNIT];

    if (from) {
        struct unit u;

        T::open(from + n / T::units * T::size, (int)(n % T::units), &u);
        UNROLL for (int j = 0; j < UNIT; j++) v[j] = value_of<T>(&u, j);
    } else {
        UNROLL for (int j = 0; j < UNIT; j++) v[j] = 0;
    }
    store_unit(&l->y, to, n * UNIT, v);
}

template <class T>
KERNEL
open_blocks(struct lookup l, int64_t n_items)
{
    int64_t pieces = (l.units + block_size() - 1) / block_size();

    take_turn();
    for (int64_t item = block_id(); item < n_items; item += grid_size()) {
        int64_t piece, row = divide(item, pieces, &piece);
        struct row r = row_at(&l.y, row);
        int64_t n = piece * block_size() + thread_id();

        if (n < l.units)
            open_unit<T>(&l, source_of(&l, r), row_data(&l.y, r), n);
    }
}

KERNEL
open_elements(struct lookup l, int64_t n)
{
    take_turn();
    EACH_ELEMENT(l.y, c, i, n)
    {
        const char *from = source_of(&l, c.row);

        store_element(&l.y, row_data(&l.y, c.row), i,
                      from ? load_element(&l.x, from, i) : 0);
    }
}

/* n floats, in one piece, as numbers of two bytes; four by four. */
KERNEL
open_flat(struct view y, const char *from, int64_t n)
{
    int64_t step = (int64_t)grid_size() * block_size() * 4;

    take_turn();
    for (int64_t i = ((int64_t)block_id() * block_size() + thread_id()) * 4;
         i < n; i += step) {
        float4 v = load_vector<float4>(from + i * 4);
        uint2 w;

        if (y.type == GGML_TYPE_F16) {
            w.x = to_f16_pair(v.x, v.y);
            w.y = to_f16_pair(v.z, v.w);
        } else {
            w.x = to_bf16_pair(v.x, v.y);
            w.y = to_bf16_pair(v.z, v.w);
        }
        store_vector(y.data + i * 2, w);
    }
}

static bool
is_flat(const struct view *y, const struct view *x)
{
    int64_t n = x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3];

    return x->type == GGML_TYPE_F32 && y->type != GGML_TYPE_F32 && n % 4 == 0 &&
           is_dense(x, 4) && is_dense(y, 2) &&
           (((uintptr_t)x->data | (uintptr_t)y->data) & 15) == 0;
}

/* I32, as they are. */
KERNEL
open_integers(struct lookup l, int64_t n)
{
    take_turn();
    EACH_ELEMENT(l.y, c, i, n)
    {
        const char *from = source_of(&l, c.row);
        char *to = row_data(&l.y, c.row) + i * l.y.nb[0];

        *(int32_t *)(void *)to =
            from ? *(const int32_t *)(const void *)(from + i * l.x.nb[0]) : 0;
    }
}

void
cuda_open_rows(struct cuda_ctx *c, const struct view *y, const struct view *x,
               const struct view *ids)
{
    struct lookup l = { *y, *x, ids ? *ids : *x, ids != NULL, y->ne[0] / UNIT };
    unsigned threads = l.units <= 32 ? 32 : l.units <= 128 ? 128 : 256;
    int64_t rows = y->ne[1] * y->ne[2] * y->ne[3];
    int64_t n = rows * cuda_pieces(l.units, threads);
    int64_t n_chunks = rows * cuda_pieces(y->ne[0], CHUNK);

    if (rows == 0 || y->ne[0] == 0)
        return;
    switch (x->type) {
#define LAUNCH_TYPE(name, which)                                               \
    case which:                                                                \
        LAUNCH((open_blocks<open_##name>), shape_of(n, threads), c, l, n);     \
        break;
        CUDA_FORMATS(LAUNCH_TYPE)
#undef LAUNCH_TYPE
    case GGML_TYPE_I32:
        LAUNCH(open_integers, shape_of(n_chunks, CUDA_THREADS), c, l, n_chunks);
        break;
    default:
        if (!ids && is_flat(y, x)) {
            n = y->ne[0] * rows;
            LAUNCH(open_flat,
                   shape_of(cuda_pieces(n, CUDA_THREADS * 4), CUDA_THREADS), c,
                   *y, (const char *)x->data, n);
            break;
        }
        LAUNCH(open_elements, shape_of(n_chunks, CUDA_THREADS), c, l, n_chunks);
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
    return is_float_type(dst->type) &&
           (is_float_type(x->type) ||
            (cuda_is_format(x->type) && x->nb[0] == ggml_type_size(x->type)));
}

void
cuda_run_get_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct view y = view_of(dst), x = view_of(dst->src[0]);
    struct view ids = view_of(dst->src[1]);

    cuda_open_rows(c, &y, &x, &ids);
}
