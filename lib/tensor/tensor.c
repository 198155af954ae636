/* tensor.c - making, naming and flagging tensors */
#include "tensor/tensor.h"

#include <assert.h>
#include <stdarg.h>

#include "core/check.h"
#include "tensor/context.h"

/* Bytes of a contiguous tensor of that shape. */
static size_t
contiguous_size(enum ggml_type type, int n_dims, const int64_t *ne)
{
    size_t size = 1, block = (size_t)ggml_blck_size(type);

    for (int i = 0; i < n_dims; i++)
        if (ne[i] < 0 || !check_mul(size, (uint64_t)ne[i], &size))
            GGML_ABORT("the shape of a tensor does not fit in memory");
    GGML_ASSERT(ne[0] % (int64_t)block == 0);
    GGML_ASSERT(check_mul(size / block, ggml_type_size(type), &size));
    return size;
}

static void
set_shape(struct ggml_tensor *t, int n_dims, const int64_t *ne)
{
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        t->ne[i] = i < n_dims ? ne[i] : 1;
    t->nb[0] = ggml_type_size(t->type);
    t->nb[1] = t->nb[0] * (size_t)(t->ne[0] / ggml_blck_size(t->type));
    for (int i = 2; i < GGML_MAX_DIMS; i++)
        t->nb[i] = t->nb[i - 1] * (size_t)t->ne[i - 1];
}

struct ggml_tensor *
tensor_new(struct ggml_context *ctx, enum ggml_type type, int n_dims,
           const int64_t *ne, struct ggml_tensor *view_src, size_t offset)
{
    struct ggml_tensor *t;
    size_t size, total, pool = 0;

    GGML_ASSERT(type >= 0 && type < GGML_TYPE_COUNT && ggml_blck_size(type));
    GGML_ASSERT(n_dims >= 1 && n_dims <= GGML_MAX_DIMS);
    if (view_src && view_src->view_src) {
        offset += view_src->view_offs;
        view_src = view_src->view_src;
    }
    size = contiguous_size(type, n_dims, ne);
    if (view_src)
        GGML_ASSERT(size == 0 || (check_add(offset, size, &total) &&
                                  total <= ggml_nbytes(view_src)));
    else if (!ctx->no_alloc)
        pool = size;
    GGML_ASSERT(check_add(TENSOR_BYTES, pool, &total));

    t = tensor_context_new_object(ctx, GGML_OBJECT_TYPE_TENSOR, total);
    memset(t, 0, sizeof(*t));
    t->type = type;
    set_shape(t, n_dims, ne);
    t->view_src = view_src;
    t->view_offs = offset;
    if (view_src)
        t->data = view_src->data ? (char *)view_src->data + offset : NULL;
    else
        t->data = pool ? (char *)t + TENSOR_BYTES : NULL;
    return t;
}

struct ggml_tensor *
ggml_new_tensor(struct ggml_context *ctx, enum ggml_type type, int n_dims,
                const int64_t *ne)
{
    return tensor_new(ctx, type, n_dims, ne, NULL, 0);
}

struct ggml_tensor *
ggml_new_tensor_1d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0)
{
    return tensor_new(ctx, type, 1, &ne0, NULL, 0);
}

struct ggml_tensor *
ggml_new_tensor_2d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1)
{
    return ggml_new_tensor_4d(ctx, type, ne0, ne1, 1, 1);
}

struct ggml_tensor *
ggml_new_tensor_3d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2)
{
    return ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, 1);
}

struct ggml_tensor *
ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
                   int64_t ne1, int64_t ne2, int64_t ne3)
{
    int64_t ne[] = { ne0, ne1, ne2, ne3 };

    return tensor_new(ctx, type, GGML_MAX_DIMS, ne, NULL, 0);
}

struct ggml_tensor *
ggml_dup_tensor(struct ggml_context *ctx, const struct ggml_tensor *src)
{
    return tensor_new(ctx, src->type, GGML_MAX_DIMS, src->ne, NULL, 0);
}

struct ggml_tensor *
ggml_view_tensor(struct ggml_context *ctx, struct ggml_tensor *src)
{
    struct ggml_tensor *t =
        tensor_new(ctx, src->type, GGML_MAX_DIMS, src->ne, src, 0);

    tensor_name_after(t, src->name, " (view)");
    memcpy(t->nb, src->nb, sizeof(t->nb));
    return t;
}

enum ggml_unary_op
ggml_get_unary_op(const struct ggml_tensor *tensor)
{
    GGML_ASSERT(tensor->op == GGML_OP_UNARY);
    return (enum ggml_unary_op)tensor_get_i32(tensor, 0);
}

enum ggml_glu_op
ggml_get_glu_op(const struct ggml_tensor *tensor)
{
    GGML_ASSERT(tensor->op == GGML_OP_GLU);
    return (enum ggml_glu_op)tensor_get_i32(tensor, 0);
}

void *
ggml_get_data(const struct ggml_tensor *tensor)
{
    return tensor->data;
}

float *
ggml_get_data_f32(const struct ggml_tensor *tensor)
{
    assert(tensor->type == GGML_TYPE_F32);
    return tensor->data;
}

const char *
ggml_get_name(const struct ggml_tensor *tensor)
{
    return tensor->name;
}

struct ggml_tensor *
ggml_set_name(struct ggml_tensor *tensor, const char *name)
{
    tensor_name_after(tensor, name, "");
    return tensor;
}

struct ggml_tensor *
ggml_format_name(struct ggml_tensor *tensor, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(tensor->name, sizeof(tensor->name), fmt, ap);
    va_end(ap);
    return tensor;
}

/* Graphs are built for each batch, and every node gets a name: printf() would
 * take most of that time. */
void
tensor_name_after(struct ggml_tensor *t, const char *base, const char *suffix)
{
    size_t room = sizeof(t->name) - 1, n = strnlen(base, room);
    size_t m = strnlen(suffix, room - n);

    memmove(t->name, base, n);
    memcpy(t->name + n, suffix, m);
    t->name[n + m] = '\0';
}

void
tensor_name_number(struct ggml_tensor *t, const char *prefix, int number)
{
    char digits[12], *p = digits + sizeof(digits);

    *--p = '\0';
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    tensor_name_after(t, prefix, p);
}

void
ggml_set_input(struct ggml_tensor *tensor)
{
    tensor->flags |= GGML_TENSOR_FLAG_INPUT;
}

/* The memory of a view is its source's, which must stay as well. */
void
ggml_set_output(struct ggml_tensor *tensor)
{
    for (; tensor; tensor = tensor->view_src)
        tensor->flags |= GGML_TENSOR_FLAG_OUTPUT;
}

void
ggml_set_param(struct ggml_tensor *tensor)
{
    GGML_ASSERT(tensor->op == GGML_OP_NONE);
    tensor->flags |= GGML_TENSOR_FLAG_PARAM;
}

void
ggml_set_loss(struct ggml_tensor *tensor)
{
    GGML_ASSERT(ggml_is_scalar(tensor));
    GGML_ASSERT(tensor->type == GGML_TYPE_F32);
    tensor->flags |= GGML_TENSOR_FLAG_LOSS;
}
