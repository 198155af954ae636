/* build_copy.c - op builders that copy: whole tensors, or some of their rows */
#include "tensor/tensor.h"

struct ggml_tensor *
ggml_dup(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return tensor_record(ggml_dup_tensor(ctx, a), GGML_OP_DUP, a, NULL);
}

struct ggml_tensor *
ggml_dup_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return tensor_record(ggml_view_tensor(ctx, a), GGML_OP_DUP, a, NULL);
}

/* The result is a view of b, so that who uses it waits for the copy. */
struct ggml_tensor *
ggml_cpy(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_nelements(a) == ggml_nelements(b));
    t = ggml_view_tensor(ctx, b);
    if (b->name[0]) {
        tensor_name_after(t, b->name, " (copy of ");
        tensor_name_after(t, t->name, a->name);
        tensor_name_after(t, t->name, ")");
    } else {
        tensor_name_after(t, a->name, " (copy)");
    }
    return tensor_record(t, GGML_OP_CPY, a, b);
}

/* A copy's second source is where it goes: here, to itself. */
struct ggml_tensor *
ggml_cast(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_type type)
{
    struct ggml_tensor *t = ggml_new_tensor(ctx, type, GGML_MAX_DIMS, a->ne);

    tensor_name_after(t, a->name, " (copy)");
    return tensor_record(t, GGML_OP_CPY, a, t);
}

struct ggml_tensor *
ggml_cont_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2, int64_t ne3)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, a->type, ne0, ne1, ne2, ne3);

    GGML_ASSERT(ggml_nelements(a) == ggml_nelements(t));
    tensor_name_after(t, a->name, " (cont)");
    return tensor_record(t, GGML_OP_CONT, a, NULL);
}

struct ggml_tensor *
ggml_cont(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return ggml_cont_4d(ctx, a, a->ne[0], a->ne[1], a->ne[2], a->ne[3]);
}

struct ggml_tensor *
ggml_cont_1d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0)
{
    return ggml_cont_4d(ctx, a, ne0, 1, 1, 1);
}

struct ggml_tensor *
ggml_cont_2d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1)
{
    return ggml_cont_4d(ctx, a, ne0, ne1, 1, 1);
}

struct ggml_tensor *
ggml_cont_3d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
             int64_t ne1, int64_t ne2)
{
    return ggml_cont_4d(ctx, a, ne0, ne1, ne2, 1);
}

/* op_params: the dimension that grows. */
struct ggml_tensor *
ggml_concat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int dim)
{
    int64_t ne[GGML_MAX_DIMS];
    struct ggml_tensor *t;

    GGML_ASSERT(dim >= 0 && dim < GGML_MAX_DIMS);
    GGML_ASSERT(a->type == b->type);
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        GGML_ASSERT(i == dim || a->ne[i] == b->ne[i]);
        ne[i] = i == dim ? a->ne[i] + b->ne[i] : a->ne[i];
    }
    t = ggml_new_tensor(ctx, a->type, GGML_MAX_DIMS, ne);
    tensor_set_i32(t, 0, dim);
    return tensor_record(t, GGML_OP_CONCAT, a, b);
}

struct ggml_tensor *
ggml_diag(struct ggml_context *ctx, struct ggml_tensor *a)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, a->type, a->ne[0], a->ne[0],
                                               a->ne[2], a->ne[3]);

    GGML_ASSERT(a->ne[1] == 1);
    return tensor_record(t, GGML_OP_DIAG, a, NULL);
}

/* op_params: which triangle. */
struct ggml_tensor *
ggml_tri(struct ggml_context *ctx, struct ggml_tensor *a,
         enum ggml_tri_type type)
{
    struct ggml_tensor *t = ggml_dup_tensor(ctx, a);

    GGML_ASSERT(a->type == GGML_TYPE_F32 && ggml_is_contiguous(a));
    GGML_ASSERT(a->ne[0] == a->ne[1]);
    GGML_ASSERT((unsigned)type <= GGML_TRI_TYPE_LOWER);
    tensor_set_i32(t, 0, (int32_t)type);
    return tensor_record(t, GGML_OP_TRI, a, NULL);
}

struct ggml_tensor *
ggml_get_rows(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b)
{
    enum ggml_type type = a->type == GGML_TYPE_I32 ? a->type : GGML_TYPE_F32;
    struct ggml_tensor *t;

    GGML_ASSERT(b->type == GGML_TYPE_I32);
    GGML_ASSERT(a->ne[2] == b->ne[1] && a->ne[3] == b->ne[2] && b->ne[3] == 1);
    t = ggml_new_tensor_4d(ctx, type, a->ne[0], b->ne[0], b->ne[1], b->ne[2]);
    return tensor_record(t, GGML_OP_GET_ROWS, a, b);
}

/* The sources' order is what, whither, into what. */
struct ggml_tensor *
ggml_set_rows(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, struct ggml_tensor *c)
{
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[0] == b->ne[0] && a->ne[2] == b->ne[2] &&
                a->ne[3] == b->ne[3]);
    GGML_ASSERT(b->ne[1] == c->ne[0] && b->ne[2] % c->ne[1] == 0 &&
                b->ne[3] % c->ne[2] == 0 && c->ne[3] == 1);
    GGML_ASSERT(b->type == GGML_TYPE_F32 || b->type == GGML_TYPE_F16);
    GGML_ASSERT(c->type == GGML_TYPE_I64 || c->type == GGML_TYPE_I32);
    GGML_ASSERT(ggml_is_contiguous_rows(a) && ggml_is_contiguous_rows(b));
    t = ggml_view_tensor(ctx, a);
    t->src[2] = a;
    return tensor_record(t, GGML_OP_SET_ROWS, b, c);
}

/* Whether the place, of b's shape, lies in a. */
static bool
is_place_in(const struct ggml_tensor *a, const struct ggml_tensor *b,
            const struct tensor_place *place)
{
    size_t end = place->offset + ggml_row_size(a->type, b->ne[0]);

    for (int i = 1; i < GGML_MAX_DIMS; i++)
        end += (size_t)(b->ne[i] - 1) * place->nb[i - 1];
    return ggml_is_empty(b) || end <= ggml_nbytes(a);
}

/* a with b put, or added, in a place of it. op_params: strides and offset of
 * the place, as struct tensor_place has them. */
static struct ggml_tensor *
put_part(struct ggml_context *ctx, enum ggml_op op, struct ggml_tensor *a,
         struct ggml_tensor *b, struct tensor_place place, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    GGML_ASSERT(ggml_nelements(b) <= ggml_nelements(a));
    GGML_ASSERT(is_place_in(t, b, &place));
    memcpy(t->op_params, &place, sizeof(place));
    return tensor_record(t, op, a, b);
}

#define PUT(name, op, inplace)                                                 \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a,                     \
                                    struct ggml_tensor *b, size_t nb1,         \
                                    size_t nb2, size_t nb3, size_t offset)     \
    {                                                                          \
        struct tensor_place place = { { nb1, nb2, nb3 }, offset };             \
                                                                               \
        return put_part(ctx, op, a, b, place, inplace);                        \
    }
PUT(acc, GGML_OP_ACC, false)
PUT(acc_inplace, GGML_OP_ACC, true)
PUT(set, GGML_OP_SET, false)
PUT(set_inplace, GGML_OP_SET, true)
#undef PUT

struct ggml_tensor *
ggml_set_1d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t offset)
{
    return ggml_set(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], offset);
}

struct ggml_tensor *
ggml_set_1d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t offset)
{
    return ggml_set_inplace(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], offset);
}

struct ggml_tensor *
ggml_set_2d(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, size_t nb1, size_t offset)
{
    return ggml_set(ctx, a, b, nb1, a->nb[2], a->nb[3], offset);
}

struct ggml_tensor *
ggml_set_2d_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, size_t nb1, size_t offset)
{
    return ggml_set_inplace(ctx, a, b, nb1, a->nb[2], a->nb[3], offset);
}
