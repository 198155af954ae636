/* build_view.c - op builders that move nothing: data in another shape */
#include "tensor/tensor.h"

static struct ggml_tensor *
reshape(struct ggml_context *ctx, struct ggml_tensor *a, int n_dims,
        const int64_t *ne)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_contiguous(a));
    t = tensor_new(ctx, a->type, n_dims, ne, a, 0);
    GGML_ASSERT(ggml_nelements(a) == ggml_nelements(t));
    tensor_name_after(t, a->name, " (reshaped)");
    return tensor_record(t, GGML_OP_RESHAPE, a, NULL);
}

struct ggml_tensor *
ggml_reshape(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b)
{
    return reshape(ctx, a, GGML_MAX_DIMS, b->ne);
}

struct ggml_tensor *
ggml_reshape_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0)
{
    return reshape(ctx, a, 1, &ne0);
}

struct ggml_tensor *
ggml_reshape_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1)
{
    int64_t ne[] = { ne0, ne1 };

    return reshape(ctx, a, 2, ne);
}

struct ggml_tensor *
ggml_reshape_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2)
{
    int64_t ne[] = { ne0, ne1, ne2 };

    return reshape(ctx, a, 3, ne);
}

struct ggml_tensor *
ggml_reshape_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                int64_t ne1, int64_t ne2, int64_t ne3)
{
    int64_t ne[] = { ne0, ne1, ne2, ne3 };

    return reshape(ctx, a, 4, ne);
}

/* op_params: the offset, as a size_t. nb holds the n_dims - 1 strides from
 * nb[1] on; those after it follow from the shape. */
static struct ggml_tensor *
view(struct ggml_context *ctx, struct ggml_tensor *a, int n_dims,
     const int64_t *ne, const size_t *nb, size_t offset)
{
    struct ggml_tensor *t = tensor_new(ctx, a->type, n_dims, ne, a, offset);

    for (int i = 1; i < GGML_MAX_DIMS; i++)
        if (i < n_dims)
            t->nb[i] = nb[i - 1];
        else if (n_dims > 1)
            t->nb[i] = t->nb[i - 1] * (size_t)t->ne[i - 1];
    tensor_name_after(t, a->name, " (view)");
    memcpy(t->op_params, &offset, sizeof(offset));
    return tensor_record(t, GGML_OP_VIEW, a, NULL);
}

struct ggml_tensor *
ggml_view_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             size_t offset)
{
    return view(ctx, a, 1, &ne0, NULL, offset);
}

struct ggml_tensor *
ggml_view_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, size_t nb1, size_t offset)
{
    int64_t ne[] = { ne0, ne1 };

    return view(ctx, a, 2, ne, &nb1, offset);
}

struct ggml_tensor *
ggml_view_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, size_t nb1, size_t nb2, size_t offset)
{
    int64_t ne[] = { ne0, ne1, ne2 };
    size_t nb[] = { nb1, nb2 };

    return view(ctx, a, 3, ne, nb, offset);
}

struct ggml_tensor *
ggml_view_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3, size_t nb1, size_t nb2,
             size_t nb3, size_t offset)
{
    int64_t ne[] = { ne0, ne1, ne2, ne3 };
    size_t nb[] = { nb1, nb2, nb3 };

    return view(ctx, a, 4, ne, nb, offset);
}

/* a's dimension i becomes dimension axis[i]. */
static void
permute_dims(struct ggml_tensor *t, const struct ggml_tensor *a,
             const int *axis)
{
    unsigned seen = 0;

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        GGML_ASSERT(axis[i] >= 0 && axis[i] < GGML_MAX_DIMS);
        seen |= 1u << axis[i];
        t->ne[axis[i]] = a->ne[i];
        t->nb[axis[i]] = a->nb[i];
    }
    GGML_ASSERT(seen == (1u << GGML_MAX_DIMS) - 1);
}

/* op_params: the axes. */
struct ggml_tensor *
ggml_permute(struct ggml_context *ctx, struct ggml_tensor *a, int axis0,
             int axis1, int axis2, int axis3)
{
    const int axis[] = { axis0, axis1, axis2, axis3 };
    struct ggml_tensor *t = ggml_view_tensor(ctx, a);

    permute_dims(t, a, axis);
    tensor_name_after(t, a->name, " (permuted)");
    memcpy(t->op_params, axis, sizeof(axis));
    return tensor_record(t, GGML_OP_PERMUTE, a, NULL);
}

struct ggml_tensor *
ggml_transpose(struct ggml_context *ctx, struct ggml_tensor *a)
{
    static const int axis[] = { 1, 0, 2, 3 };
    struct ggml_tensor *t = ggml_view_tensor(ctx, a);

    permute_dims(t, a, axis);
    tensor_name_after(t, a->name, " (transposed)");
    return tensor_record(t, GGML_OP_TRANSPOSE, a, NULL);
}
