/* copy.cu - DUP, CPY, CONT, REPEAT, CONCAT, SET, ACC: copies of elements
 *
 * CPY and its like take elements in order, whatever the two shapes are, and
 * convert them; elements of the same type are copied as bytes. */
#include "cuda/copy.h"
#include "cuda/formats_list.h"
#include "cuda/dequantize.h"
#include "cuda/set_rows.h"

/* Bytes of an element; 0 for quantised types. */
static int
element_size(enum ggml_type type)
{
    return ggml_blck_size(type) == 1 ? (int)ggml_type_size(type) : 0;
}

DEVICE void
move_element(char *to, const char *from, int size)
{
    switch (size) {
    case 1:
        *to = *from;
        break;
    case 2:
        *(uint16_t *)(void *)to = *(const uint16_t *)(const void *)from;
        break;
    case 4:
        *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
        break;
    default:
        *(uint64_t *)(void *)to = *(const uint64_t *)(const void *)from;
    }
}

/* Where element number n of x is, or, with one shape, element i of row r. */
DEVICE const char *
element_at(const struct view *x, bool same, struct row r, int64_t i,
           int64_t row, int64_t width)
{
    if (!same)
        r = cuda_row_at(x, cuda_divide(row * width + i, x->ne[0], &i));
    return cuda_row_data(x, r) + i * x->nb[0];
}

/* `size`: of elements that are copied as bytes; 0: they are converted. */
KERNEL
copy(struct view y, struct view x, bool same, int size, int64_t n)
{
    int64_t per_row = (y.ne[0] + CHUNK - 1) / CHUNK;

    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        const char *from =
            element_at(&x, same, c.row, i, item_ / per_row, y.ne[0]);
        char *to = cuda_row_data(&y, c.row);

        if (size)
            move_element(to + i * y.nb[0], from, size);
        else
            cuda_store_element(&y, to, i, cuda_load_element(&x, from, 0));
    }
}

/* In vectors of 16 bytes. */
KERNEL
copy_contiguous(char *to, const char *from, int64_t size)
{
    int64_t step = (int64_t)cuda_grid_size() * cuda_block_size();

    cuda_grid_dependency_sync();
    for (int64_t i =
             (int64_t)cuda_block_id() * cuda_block_size() + cuda_thread_id();
         i < (size + 15) / 16; i += step) {
        if (i * 16 + 16 <= size)
            cuda_store_vector(to + i * 16,
                              cuda_load_vector<uint4>(from + i * 16));
        else
            for (int64_t j = i * 16; j < size; j++)
                to[j] = from[j];
    }
}

void
cuda_copy_bytes(struct cuda_ctx *c, void *to, const void *from, int64_t size)
{
    if (size > 0)
        LAUNCH(copy_contiguous,
               cuda_default_launch(cuda_ceil_div(size, CUDA_THREADS * 16 * 4),
                                   CUDA_THREADS),
               c, (char *)to, (const char *)from, size);
}

static bool
is_contiguous_pair(const struct ggml_tensor *x, const struct ggml_tensor *y)
{
    return x->type == y->type && ggml_is_contiguous(x) && ggml_is_contiguous(y);
}

bool
cuda_supports_copy(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];

    if (is_contiguous_pair(x, dst) ||
        (x->type == dst->type && element_size(x->type)))
        return true;
    if (cuda_is_float_type(dst->type) && cuda_is_float_type(x->type))
        return true;
    if (x->ne[0] != dst->ne[0])
        return false;
    if (cuda_can_quantize(dst->type))
        return cuda_is_float_type(x->type) && ggml_are_same_shape(x, dst) &&
               dst->nb[0] == ggml_type_size(dst->type);
    return cuda_is_float_type(dst->type) && cuda_is_format(x->type) &&
           ggml_are_same_shape(x, dst) && x->nb[0] == ggml_type_size(x->type);
}

void
cuda_run_copy(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct view from = cuda_view_of(x), to = cuda_view_of(dst);
    int64_t n = cuda_chunks_of(dst), size = (int64_t)ggml_nbytes(dst);

    if (ggml_is_empty(dst) ||
        (x->data == dst->data && ggml_are_same_stride(x, dst) &&
         x->type == dst->type))
        return;
    if (is_contiguous_pair(x, dst) &&
        (((uintptr_t)x->data | (uintptr_t)dst->data) & 15) == 0)
        cuda_copy_bytes(c, dst->data, x->data, size);
    else if (cuda_can_quantize(dst->type) && x->type != dst->type)
        cuda_quantize_rows(c, &to, &from, NULL);
    else if (cuda_is_format(x->type) && x->type != dst->type)
        cuda_dequantize_rows(c, &to, &from, NULL);
    else
        LAUNCH(copy, cuda_default_launch(n, CUDA_THREADS), c, to, from,
               ggml_are_same_shape(x, dst),
               x->type == dst->type ? element_size(x->type) : 0, n);
}

KERNEL
repeat(struct view y, struct view x, int size, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    move_element(cuda_row_data(&y, c.row) + i * y.nb[0],
                 cuda_row_data(&x, cuda_row_wrap(&x, c.row)) +
                     cuda_modulo(i, x.ne[0]) * x.nb[0],
                 size);
}

bool
cuda_supports_repeat(const struct ggml_tensor *dst)
{
    return element_size(dst->type) && dst->src[0]->type == dst->type;
}

void
cuda_run_repeat(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(repeat, cuda_default_launch(n, CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(dst->src[0]),
               element_size(dst->type), n);
}

/* Along `dim`, b begins where a ends. */
KERNEL
concat(struct view y, struct view a, struct view b, int dim, int size,
       int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    {
        int64_t at[4] = { i, c.row.i1, c.row.i2, c.row.i3 };
        const struct view *from = &a;

        UNROLL for (int d = 0; d < 4; d++) if (d == dim && at[d] >= a.ne[d])
        {
            from = &b;
            at[d] -= a.ne[d];
        }
        move_element(cuda_row_data(&y, c.row) + i * y.nb[0],
                     from->data + at[0] * from->nb[0] + at[1] * from->nb[1] +
                         at[2] * from->nb[2] + at[3] * from->nb[3],
                     size);
    }
}

bool
cuda_supports_concat(const struct ggml_tensor *dst)
{
    return cuda_supports_repeat(dst) && dst->src[1]->type == dst->type;
}

/* Whether both sources are contiguous parts of dst, one after the other,
 * aligned to 16 bytes. */
static bool
is_contiguous_concat(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    uintptr_t at = (uintptr_t)dst->data | (uintptr_t)a->data |
                   (uintptr_t)b->data | ggml_nbytes(a);

    for (int d = tensor_get_i32(dst, 0) + 1; d < 4; d++)
        if (dst->ne[d] != 1)
            return false;
    return is_contiguous_pair(a, dst) && is_contiguous_pair(b, dst) &&
           (at & 15) == 0;
}

void
cuda_run_concat(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    int64_t n = cuda_chunks_of(dst), size = (int64_t)ggml_nbytes(a);

    if (n == 0)
        return;
    if (is_contiguous_concat(dst)) {
        cuda_copy_bytes(c, dst->data, a->data, size);
        cuda_copy_bytes(c, (char *)dst->data + size, b->data,
                        (int64_t)ggml_nbytes(b));
    } else {
        LAUNCH(concat, cuda_default_launch(n, CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(a), cuda_view_of(b),
               (int)tensor_get_i32(dst, 0), element_size(dst->type), n);
    }
}

/* ACC adds. */
KERNEL
put_part(struct view place, struct view x, bool add, int size, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(x, c, i, n)
    {
        char *to = cuda_row_data(&place, c.row);
        const char *from = cuda_row_data(&x, c.row);

        if (add)
            cuda_store_element(&place, to, i,
                               cuda_load_element(&place, to, i) +
                                   cuda_load_element(&x, from, i));
        else
            move_element(to + i * place.nb[0], from + i * x.nb[0], size);
    }
}

bool
cuda_supports_put_part(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];

    if (dst->src[0]->type != dst->type)
        return false;
    return dst->op == GGML_OP_ACC
               ? cuda_is_float_type(dst->type) && cuda_is_float_type(x->type)
               : element_size(dst->type) && x->type == dst->type;
}

/* The first source is copied, unless dst is in its place. */
void
cuda_run_put_part(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct tensor_place p = tensor_get_place(dst);
    struct view place = cuda_view_of(x);
    int64_t n = cuda_chunks_of(x);

    cuda_run_copy(c, dst);
    place.type = dst->type;
    place.data = (char *)dst->data + p.offset;
    place.nb[0] = (int64_t)dst->nb[0];
    for (int i = 1; i < 4; i++)
        place.nb[i] = (int64_t)p.nb[i - 1];
    if (n > 0)
        LAUNCH(put_part, cuda_default_launch(n, CUDA_THREADS), c, place,
               cuda_view_of(x), dst->op == GGML_OP_ACC, element_size(x->type),
               n);
}
