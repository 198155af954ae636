/* shape.c - what a tensor's shape and strides say about it */
#include "tensor/tensor.h"

int64_t
ggml_nelements(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] * ggml_nrows(tensor);
}

int64_t
ggml_nrows(const struct ggml_tensor *tensor)
{
    return tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

/* From the first byte to the last: strides count, not elements. */
size_t
ggml_nbytes(const struct ggml_tensor *tensor)
{
    int64_t block = ggml_blck_size(tensor->type);
    size_t last;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (tensor->ne[i] <= 0)
            return 0;
    if (block == 1)
        last = ggml_type_size(tensor->type) +
               (size_t)(tensor->ne[0] - 1) * tensor->nb[0];
    else
        last = (size_t)tensor->ne[0] * tensor->nb[0] / (size_t)block;
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        last += (size_t)(tensor->ne[i] - 1) * tensor->nb[i];
    return last;
}

size_t
ggml_nbytes_pad(const struct ggml_tensor *tensor)
{
    return GGML_PAD(ggml_nbytes(tensor), (size_t)GGML_MEM_ALIGN);
}

size_t
ggml_element_size(const struct ggml_tensor *tensor)
{
    return ggml_type_size(tensor->type);
}

bool
ggml_is_transposed(const struct ggml_tensor *tensor)
{
    return tensor->nb[0] > tensor->nb[1];
}

bool
ggml_is_permuted(const struct ggml_tensor *tensor)
{
    const size_t *nb = tensor->nb;

    return nb[0] > nb[1] || nb[1] > nb[2] || nb[2] > nb[3];
}

bool
ggml_is_empty(const struct ggml_tensor *tensor)
{
    return !tensor->ne[0] || !tensor->ne[1] || !tensor->ne[2] || !tensor->ne[3];
}

bool
ggml_is_view(const struct ggml_tensor *tensor)
{
    return tensor->view_src != NULL;
}

bool
ggml_is_scalar(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] == 1 && ggml_is_vector(tensor);
}

bool
ggml_is_vector(const struct ggml_tensor *tensor)
{
    return tensor->ne[1] == 1 && ggml_is_matrix(tensor);
}

bool
ggml_is_matrix(const struct ggml_tensor *tensor)
{
    return tensor->ne[2] == 1 && ggml_is_3d(tensor);
}

bool
ggml_is_3d(const struct ggml_tensor *tensor)
{
    return tensor->ne[3] == 1;
}

int
ggml_n_dims(const struct ggml_tensor *tensor)
{
    int n = GGML_MAX_DIMS;

    while (n > 1 && tensor->ne[n - 1] <= 1)
        n--;
    return n;
}

/* Dimensions before `end` contiguous, but for gaps between rows, planes, ... up
 * to dimension `free`. The stride of a dimension with one element says nothing.
 */
static bool
contiguous_between(const struct ggml_tensor *t, int free, int end)
{
    int64_t block = ggml_blck_size(t->type);
    size_t next = ggml_type_size(t->type);

    if (t->ne[0] != block && t->nb[0] != next)
        return false;
    next *= (size_t)(t->ne[0] / block);
    for (int i = 1; i < end; i++) {
        if (i <= free)
            next = t->nb[i];
        else if (t->ne[i] != 1 && t->nb[i] != next)
            return false;
        next *= (size_t)t->ne[i];
    }
    return true;
}

static bool
contiguous_above(const struct ggml_tensor *t, int free)
{
    return contiguous_between(t, free, GGML_MAX_DIMS);
}

bool
ggml_is_contiguous(const struct ggml_tensor *tensor)
{
    return contiguous_above(tensor, 0);
}

bool
ggml_is_contiguous_0(const struct ggml_tensor *tensor)
{
    return contiguous_above(tensor, 0);
}

bool
ggml_is_contiguous_1(const struct ggml_tensor *tensor)
{
    return contiguous_above(tensor, 1);
}

bool
ggml_is_contiguous_2(const struct ggml_tensor *tensor)
{
    return contiguous_above(tensor, 2);
}

bool
ggml_is_contiguous_to_1(const struct ggml_tensor *tensor)
{
    return contiguous_between(tensor, 0, 1);
}

bool
ggml_is_contiguous_to_2(const struct ggml_tensor *tensor)
{
    return contiguous_between(tensor, 0, 2);
}

bool
ggml_is_contiguous_to_3(const struct ggml_tensor *tensor)
{
    return contiguous_between(tensor, 0, 3);
}

bool
ggml_is_contiguously_allocated(const struct ggml_tensor *tensor)
{
    return ggml_nbytes(tensor) == (size_t)ggml_nelements(tensor) *
                                      ggml_type_size(tensor->type) /
                                      (size_t)ggml_blck_size(tensor->type);
}

bool
ggml_is_contiguous_channels(const struct ggml_tensor *tensor)
{
    const size_t *nb = tensor->nb;

    return nb[0] > nb[2] && nb[1] > nb[0] &&
           nb[2] == ggml_type_size(tensor->type);
}

bool
ggml_is_contiguous_rows(const struct ggml_tensor *tensor)
{
    return tensor->ne[0] == ggml_blck_size(tensor->type) ||
           tensor->nb[0] == ggml_type_size(tensor->type);
}

bool
tensor_has_even_rows(const struct ggml_tensor *a)
{
    return a->nb[0] == ggml_type_size(a->type) &&
           a->nb[2] == a->nb[1] * (size_t)a->ne[1] &&
           a->nb[3] == a->nb[2] * (size_t)a->ne[2];
}

bool
ggml_are_same_shape(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    return memcmp(t0->ne, t1->ne, sizeof(t0->ne)) == 0;
}

bool
ggml_are_same_stride(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    return memcmp(t0->nb, t1->nb, sizeof(t0->nb)) == 0;
}

bool
ggml_can_repeat(const struct ggml_tensor *t0, const struct ggml_tensor *t1)
{
    if (ggml_is_empty(t0))
        return ggml_is_empty(t1);
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (t1->ne[i] % t0->ne[i] != 0)
            return false;
    return true;
}

void
ggml_unravel_index(const struct ggml_tensor *tensor, int64_t i, int64_t *i0,
                   int64_t *i1, int64_t *i2, int64_t *i3)
{
    int64_t *out[] = { i0, i1, i2 };

    for (int d = 0; d < 3; d++) {
        if (out[d])
            *out[d] = i % tensor->ne[d];
        i /= tensor->ne[d];
    }
    if (i3)
        *i3 = i;
}
