/* backward_rules.c - what of an op's gradient its sources get
 *
 * y = op(a, b): `grad` is the loss' derivative by y, and has y's shape. */
#include <math.h>

#include "tensor/backward.h"
#include "tensor/sparse.h"

#define RULE(name)                                                             \
    static void name(struct backward *b, struct ggml_tensor *t,                \
                     struct ggml_tensor *grad)

static struct ggml_tensor *
contiguous(struct backward *b, struct ggml_tensor *x)
{
    return ggml_is_contiguous(x) ? x : ggml_cont(b->ctx, x);
}

/* ---- element by element ------------------------------------------------- */

RULE(same)
{
    tensor_backward_add(b, t->src[0], grad);
}

RULE(sum_of_both)
{
    tensor_backward_add_repeated(b, t->src[0], grad);
    tensor_backward_add_repeated(b, t->src[1], grad);
}

RULE(difference)
{
    tensor_backward_add_repeated(b, t->src[0], grad);
    if (tensor_backward_wants(b, t->src[1]))
        tensor_backward_add_repeated(b, t->src[1], ggml_neg(b->ctx, grad));
}

RULE(product_of_both)
{
    if (tensor_backward_wants(b, t->src[0]))
        tensor_backward_add(b, t->src[0], ggml_mul(b->ctx, grad, t->src[1]));
    if (tensor_backward_wants(b, t->src[1]))
        tensor_backward_add_repeated(b, t->src[1],
                                     ggml_mul(b->ctx, grad, t->src[0]));
}

/* By b: -a / b^2, where a / b is there already. */
RULE(quotient)
{
    struct ggml_tensor *by_b;

    if (tensor_backward_wants(b, t->src[0]))
        tensor_backward_add(b, t->src[0], ggml_div(b->ctx, grad, t->src[1]));
    if (!tensor_backward_wants(b, t->src[1]))
        return;
    by_b = ggml_mul(b->ctx, grad, ggml_div(b->ctx, t, t->src[1]));
    tensor_backward_add_repeated(b, t->src[1], ggml_neg(b->ctx, by_b));
}

RULE(square)
{
    struct ggml_tensor *half = ggml_mul(b->ctx, grad, t->src[0]);

    tensor_backward_add(b, t->src[0], ggml_scale(b->ctx, half, 2));
}

RULE(root)
{
    struct ggml_tensor *twice = ggml_div(b->ctx, grad, t);

    tensor_backward_add(b, t->src[0], ggml_scale(b->ctx, twice, 0.5f));
}

RULE(logarithm)
{
    tensor_backward_add(b, t->src[0], ggml_div(b->ctx, grad, t->src[0]));
}

RULE(sine)
{
    tensor_backward_add(b, t->src[0],
                        ggml_mul(b->ctx, grad, ggml_cos(b->ctx, t->src[0])));
}

RULE(cosine)
{
    struct ggml_tensor *x = ggml_mul(b->ctx, grad, ggml_sin(b->ctx, t->src[0]));

    tensor_backward_add(b, t->src[0], ggml_neg(b->ctx, x));
}

RULE(scaled)
{
    tensor_backward_add(
        b, t->src[0],
        ggml_scale(b->ctx, contiguous(b, grad), tensor_get_f32(t, 0)));
}

/* 1 where x > at. */
static struct ggml_tensor *
step_at(struct backward *b, struct ggml_tensor *x, float sign, float at)
{
    return ggml_step(
        b->ctx, ggml_scale_bias(b->ctx, contiguous(b, x), sign, -sign * at));
}

RULE(clamped)
{
    struct ggml_tensor *x = t->src[0];
    struct ggml_tensor *above = step_at(b, x, 1, tensor_get_f32(t, 0));
    struct ggml_tensor *below = step_at(b, x, -1, tensor_get_f32(t, 1));

    tensor_backward_add(b, x,
                        ggml_mul(b->ctx, grad, ggml_mul(b->ctx, above, below)));
}

RULE(leaky)
{
    float slope = tensor_get_f32(t, 0);
    struct ggml_tensor *d = ggml_step(b->ctx, t->src[0]);

    d = ggml_scale_bias(b->ctx, d, 1 - slope, slope);
    tensor_backward_add(b, t->src[0], ggml_mul(b->ctx, grad, d));
}

/* ---- sums and repetition ------------------------------------------------ */

RULE(sum_of_all)
{
    tensor_backward_add(b, t->src[0], ggml_repeat(b->ctx, grad, t->src[0]));
}

RULE(mean_of_rows)
{
    struct ggml_tensor *each =
        ggml_scale(b->ctx, contiguous(b, grad), 1 / (float)t->src[0]->ne[0]);

    tensor_backward_add(b, t->src[0], ggml_repeat(b->ctx, each, t->src[0]));
}

/* Each element is in the sums from it on: all of them, less those before. */
RULE(cumulative_sum)
{
    struct ggml_tensor *g = contiguous(b, grad);
    struct ggml_tensor *before = ggml_sub(b->ctx, ggml_cumsum(b->ctx, g), g);

    tensor_backward_add(
        b, t->src[0],
        ggml_add(b->ctx, ggml_neg(b->ctx, before), ggml_sum_rows(b->ctx, g)));
}

RULE(repeated)
{
    tensor_backward_add_repeated(b, t->src[0], grad);
}

RULE(concatenated)
{
    int dim = tensor_get_i32(t, 0);
    size_t offset = 0;

    grad = contiguous(b, grad);
    for (int i = 0; i < 2; i++) {
        struct ggml_tensor *x = t->src[i];

        if (tensor_backward_wants(b, x))
            tensor_backward_add(
                b, x,
                ggml_cont(b->ctx,
                          ggml_view_4d(b->ctx, grad, x->ne[0], x->ne[1],
                                       x->ne[2], x->ne[3], grad->nb[1],
                                       grad->nb[2], grad->nb[3], offset)));
        offset += (size_t)x->ne[dim] * grad->nb[dim];
    }
}

/* ---- shapes, copies ----------------------------------------------------- */

RULE(reshaped)
{
    struct ggml_tensor *g = contiguous(b, grad);

    if (!tensor_backward_wants(b, t->src[0]))
        return;
    tensor_backward_add(b, t->src[0],
                        ggml_are_same_shape(g, t->src[0])
                            ? g
                            : ggml_reshape(b->ctx, g, t->src[0]));
}

RULE(permuted)
{
    int back[GGML_MAX_DIMS];

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        back[tensor_get_i32(t, i)] = i;
    tensor_backward_add(
        b, t->src[0],
        ggml_permute(b->ctx, grad, back[0], back[1], back[2], back[3]));
}

RULE(transposed)
{
    tensor_backward_add(b, t->src[0], ggml_transpose(b->ctx, grad));
}

/* So many bytes of x lie between two of its elements: how many between those
 * of a contiguous tensor of floats of its shape. */
static size_t
as_contiguous(const struct ggml_tensor *x, size_t bytes)
{
    size_t size = ggml_type_size(x->type), sum = 0, dense[GGML_MAX_DIMS];

    if (ggml_is_contiguous(x))
        return bytes / size * sizeof(float);
    dense[0] = sizeof(float);
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        dense[i] = dense[i - 1] * (size_t)x->ne[i - 1];
    while (bytes) {
        int widest = -1;

        for (int i = 0; i < GGML_MAX_DIMS; i++)
            if (x->ne[i] > 1 && x->nb[i] <= bytes &&
                (widest < 0 || x->nb[i] > x->nb[widest]))
                widest = i;
        if (widest < 0)
            GGML_ABORT("no backward pass through a view of %s", x->name);
        sum += bytes / x->nb[widest] * dense[widest];
        bytes %= x->nb[widest];
    }
    return sum;
}

/* Rows of the view lie in rows of its source. */
RULE(viewed)
{
    const struct ggml_tensor *x = t->src[0];
    size_t nb[3], offset;

    memcpy(&offset, t->op_params, sizeof(offset));
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        nb[i - 1] = t->ne[i] > 1 ? as_contiguous(x, t->nb[i]) : 0;
    GGML_ASSERT(t->ne[0] == 1 || as_contiguous(x, t->nb[0]) == sizeof(float));
    tensor_backward_add_part(b, t->src[0], grad, nb, as_contiguous(x, offset));
}

static struct ggml_tensor *
view_of_place(struct backward *b, struct ggml_tensor *grad,
              const struct ggml_tensor *part, const struct tensor_place *p)
{
    return ggml_view_4d(b->ctx, grad, part->ne[0], part->ne[1], part->ne[2],
                        part->ne[3], p->nb[0], p->nb[1], p->nb[2], p->offset);
}

static void
add_place(struct backward *b, struct ggml_tensor *t, struct ggml_tensor *place)
{
    if (tensor_backward_wants(b, t->src[1]))
        tensor_backward_add(b, t->src[1], ggml_cont(b->ctx, place));
}

RULE(added_part)
{
    struct tensor_place p = tensor_get_place(t);

    grad = contiguous(b, grad);
    if (tensor_backward_wants(b, t->src[0]))
        tensor_backward_add(b, t->src[0], grad);
    add_place(b, t, view_of_place(b, grad, t->src[1], &p));
}

/* Values that were written over count no more. */
RULE(set_part)
{
    struct tensor_place p = tensor_get_place(t);
    struct ggml_tensor *place, *hole;

    grad = contiguous(b, grad);
    place = view_of_place(b, grad, t->src[1], &p);
    if (tensor_backward_wants(b, t->src[0])) {
        hole = ggml_fill(
            b->ctx, ggml_new_tensor(b->ctx, GGML_TYPE_F32, 4, place->ne), 0);
        tensor_backward_add(
            b, t->src[0],
            ggml_set(b->ctx, grad, hole, p.nb[0], p.nb[1], p.nb[2], p.offset));
    }
    add_place(b, t, place);
}

RULE(rows_by_number)
{
    tensor_backward_add(b, t->src[0],
                        ggml_get_rows_back(b->ctx, grad, t->src[1], t->src[0]));
}

/* ---- norms -------------------------------------------------------------- */

RULE(rms_normed)
{
    tensor_backward_add(
        b, t->src[0],
        ggml_rms_norm_back(b->ctx, grad, t->src[0], tensor_get_f32(t, 0)));
}

static struct ggml_tensor *
centred(struct backward *b, struct ggml_tensor *x)
{
    return ggml_sub(b->ctx, x, ggml_mean(b->ctx, x));
}

/* RMS_NORM of what is left without the mean. */
RULE(normed)
{
    struct ggml_tensor *g = ggml_rms_norm_back(
        b->ctx, grad, centred(b, t->src[0]), tensor_get_f32(t, 0));

    tensor_backward_add(b, t->src[0], centred(b, g));
}

/* (grad - y (y . grad)) / length; where eps is the length, grad / eps. */
RULE(l2_normed)
{
    float eps = tensor_get_f32(t, 0);
    struct ggml_tensor *x = t->src[0], *length, *along;

    length = ggml_sqrt(b->ctx, ggml_sum_rows(b->ctx, ggml_sqr(b->ctx, x)));
    along = ggml_sum_rows(b->ctx, ggml_mul(b->ctx, t, grad));
    along = ggml_mul(b->ctx, along, step_at(b, length, 1, eps));
    grad = ggml_sub(b->ctx, contiguous(b, grad), ggml_mul(b->ctx, t, along));
    tensor_backward_add(
        b, x,
        ggml_div(b->ctx, grad, ggml_clamp(b->ctx, length, eps, INFINITY)));
}

/* ---- products ----------------------------------------------------------- */

/* Sums up neighbours of dimension `dim`, so that n are left. */
static struct ggml_tensor *
sum_neighbours(struct backward *b, struct ggml_tensor *x, int dim, int64_t n)
{
    int64_t inner = 1, outer = 1, ne[GGML_MAX_DIMS];

    if (x->ne[dim] == n)
        return x;
    memcpy(ne, x->ne, sizeof(ne));
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        *(i < dim ? &inner : &outer) *= i == dim ? n : ne[i];
    ne[dim] = n;
    x = ggml_reshape_3d(b->ctx, x, inner, x->ne[dim] / n, outer);
    x = ggml_repeat_back(b->ctx, x,
                         ggml_new_tensor_3d(b->ctx, x->type, inner, 1, outer));
    return ggml_reshape_4d(b->ctx, x, ne[0], ne[1], ne[2], ne[3]);
}

/* The outer products of columns of x and grad, summed up. One matrix of weights
 * for all planes: these are columns of one product. */
static struct ggml_tensor *
grad_of_weights(struct backward *b, const struct ggml_tensor *w,
                struct ggml_tensor *x, struct ggml_tensor *grad)
{
    struct ggml_tensor *g;

    if (w->ne[2] * w->ne[3] == 1 && ggml_is_contiguous(x) &&
        ggml_is_contiguous(grad)) {
        x = ggml_reshape_2d(b->ctx, x, x->ne[0], ggml_nrows(x));
        grad = ggml_reshape_2d(b->ctx, grad, grad->ne[0], ggml_nrows(grad));
    }
    g = ggml_out_prod(b->ctx, x, grad);
    return sum_neighbours(b, sum_neighbours(b, g, 2, w->ne[2]), 3, w->ne[3]);
}

RULE(matrix_product)
{
    struct ggml_tensor *w = t->src[0], *x = t->src[1];

    if (tensor_backward_wants(b, w))
        tensor_backward_add(b, w, grad_of_weights(b, w, x, grad));
    if (tensor_backward_wants(b, x))
        tensor_backward_add(
            b, x, ggml_out_prod(b->ctx, w, ggml_transpose(b->ctx, grad)));
}

/* y[i, j] = sum over k of a[i, k] b[j, k], without planes that repeat. */
RULE(outer_product)
{
    struct ggml_tensor *x = t->src[0], *z = t->src[1];

    GGML_ASSERT(x->ne[2] == z->ne[2] && x->ne[3] == z->ne[3]);
    if (tensor_backward_wants(b, x))
        tensor_backward_add(
            b, x, ggml_out_prod(b->ctx, grad, ggml_transpose(b->ctx, z)));
    if (tensor_backward_wants(b, z))
        tensor_backward_add(b, z, ggml_mul_mat(b->ctx, grad, x));
}

/* ---- attention ---------------------------------------------------------- */

RULE(masked)
{
    tensor_backward_add(
        b, t->src[0], ggml_diag_mask_zero(b->ctx, grad, tensor_get_i32(t, 0)));
}

/* Neither masks nor sinks are learnt. */
RULE(soft_maxed)
{
    GGML_ASSERT(!tensor_backward_wants(b, t->src[1]) &&
                !tensor_backward_wants(b, t->src[2]));
    tensor_backward_add(b, t->src[0],
                        ggml_soft_max_ext_back(b->ctx, contiguous(b, grad), t,
                                               tensor_get_f32(t, 0),
                                               tensor_get_f32(t, 1)));
}

/* All parameters are the rotation's. */
RULE(rotated)
{
    struct ggml_tensor *back = ggml_dup_tensor(b->ctx, grad);

    memcpy(back->op_params, t->op_params, sizeof(back->op_params));
    back->src[2] = t->src[2];
    tensor_record(back, GGML_OP_ROPE_BACK, grad, t->src[1]);
    tensor_backward_add(b, t->src[0], back);
}

/* ---- images, losses ----------------------------------------------------- */

RULE(unfolded)
{
    tensor_backward_add(
        b, t->src[1],
        ggml_im2col_back(b->ctx, contiguous(b, grad), t->src[0], t->src[1]->ne,
                         tensor_get_i32(t, 0), tensor_get_i32(t, 1),
                         tensor_get_i32(t, 2), tensor_get_i32(t, 3),
                         tensor_get_i32(t, 4), tensor_get_i32(t, 5),
                         tensor_get_i32(t, 6) != 0));
}

RULE(pooled)
{
    tensor_backward_add(
        b, t->src[0],
        ggml_pool_2d_back(
            b->ctx, contiguous(b, grad), t->src[0],
            (enum ggml_op_pool)tensor_get_i32(t, 0), tensor_get_i32(t, 1),
            tensor_get_i32(t, 2), tensor_get_i32(t, 3), tensor_get_i32(t, 4),
            (float)tensor_get_i32(t, 5), (float)tensor_get_i32(t, 6)));
}

RULE(cross_entropy)
{
    GGML_ASSERT(!tensor_backward_wants(b, t->src[1]));
    tensor_backward_add(
        b, t->src[0],
        ggml_cross_entropy_loss_back(b->ctx, grad, t->src[0], t->src[1]));
}

/* ---- the table ---------------------------------------------------------- */

/* `ends`: a bit for each source that no gradient goes to. */
#define ENDS(i) (1u << (i))
#define OTHERS  (~1u) /* all but the first */

static const struct {
    tensor_backward_rule rule;
    unsigned ends;
} rules[TENSOR_OPS] = {
    [GGML_OP_DUP] = { same, 0 },
    [GGML_OP_ADD] = { sum_of_both, 0 },
    [GGML_OP_ADD1] = { sum_of_both, 0 },
    [GGML_OP_ACC] = { added_part, 0 },
    [GGML_OP_SUB] = { difference, 0 },
    [GGML_OP_MUL] = { product_of_both, 0 },
    [GGML_OP_DIV] = { quotient, 0 },
    [GGML_OP_SQR] = { square, 0 },
    [GGML_OP_SQRT] = { root, 0 },
    [GGML_OP_LOG] = { logarithm, 0 },
    [GGML_OP_SIN] = { sine, 0 },
    [GGML_OP_COS] = { cosine, 0 },
    [GGML_OP_SUM] = { sum_of_all, 0 },
    [GGML_OP_SUM_ROWS] = { sum_of_all, 0 },
    [GGML_OP_CUMSUM] = { cumulative_sum, 0 },
    [GGML_OP_MEAN] = { mean_of_rows, 0 },
    [GGML_OP_ARGMAX] = { NULL, ~0u },
    [GGML_OP_COUNT_EQUAL] = { NULL, ~0u },
    [GGML_OP_REPEAT] = { repeated, 0 },
    [GGML_OP_REPEAT_BACK] = { sum_of_all, 0 },
    [GGML_OP_CONCAT] = { concatenated, 0 },
    [GGML_OP_NORM] = { normed, 0 },
    [GGML_OP_RMS_NORM] = { rms_normed, 0 },
    [GGML_OP_L2_NORM] = { l2_normed, 0 },
    [GGML_OP_MUL_MAT] = { matrix_product, 0 },
    [GGML_OP_OUT_PROD] = { outer_product, 0 },
    [GGML_OP_SCALE] = { scaled, 0 },
    [GGML_OP_SET] = { set_part, 0 },
    [GGML_OP_CPY] = { reshaped, OTHERS },
    [GGML_OP_CONT] = { reshaped, 0 },
    [GGML_OP_RESHAPE] = { reshaped, 0 },
    [GGML_OP_VIEW] = { viewed, 0 },
    [GGML_OP_PERMUTE] = { permuted, 0 },
    [GGML_OP_TRANSPOSE] = { transposed, 0 },
    [GGML_OP_GET_ROWS] = { rows_by_number, OTHERS },
    [GGML_OP_GET_ROWS_BACK] = { NULL, OTHERS },
    [GGML_OP_DIAG_MASK_INF] = { masked, 0 },
    [GGML_OP_DIAG_MASK_ZERO] = { masked, 0 },
    [GGML_OP_SOFT_MAX] = { soft_maxed, 0 },
    [GGML_OP_ROPE] = { rotated, OTHERS },
    [GGML_OP_CLAMP] = { clamped, 0 },
    [GGML_OP_IM2COL] = { unfolded, ENDS(0) }, /* only its shape counts */
    [GGML_OP_IM2COL_BACK] = { NULL, ENDS(1) },
    [GGML_OP_POOL_2D] = { pooled, 0 },
    [GGML_OP_ARGSORT] = { NULL, ~0u },
    [GGML_OP_TOP_K] = { NULL, ~0u },
    [GGML_OP_LEAKY_RELU] = { leaky, 0 },
    [GGML_OP_FILL] = { NULL, ~0u },
    [GGML_OP_UNARY] = { tensor_backward_of_unary, 0 },
    [GGML_OP_CROSS_ENTROPY_LOSS] = { cross_entropy, 0 },
    [GGML_OP_GLU] = { tensor_backward_of_glu, 0 },
};

tensor_backward_rule
tensor_backward_rule_of(const struct ggml_tensor *t)
{
    GGML_ASSERT((unsigned)t->op < TENSOR_OPS);
    switch (t->op) {
    case GGML_OP_UNARY:
        return tensor_backward_has_unary(ggml_get_unary_op(t))
                   ? rules[t->op].rule
                   : NULL;
    case GGML_OP_GLU:
        return tensor_backward_has_unary(
                   tensor_backward_glu_function(ggml_get_glu_op(t)))
                   ? rules[t->op].rule
                   : NULL;
    default:
        return rules[t->op].rule;
    }
}

/* Constant between steps. */
static bool
is_flat(enum ggml_unary_op f)
{
    return f == GGML_UNARY_OP_SGN || f == GGML_UNARY_OP_STEP ||
           f == GGML_UNARY_OP_FLOOR || f == GGML_UNARY_OP_CEIL ||
           f == GGML_UNARY_OP_ROUND || f == GGML_UNARY_OP_TRUNC;
}

bool
tensor_backward_ends_at(const struct ggml_tensor *t, int i)
{
    if (t->op == GGML_OP_UNARY)
        return is_flat(ggml_get_unary_op(t));
    return rules[t->op].ends >> i & 1;
}

bool
tensor_backward_supports(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_NONE || tensor_backward_ends_at(t, 0) ||
           tensor_backward_rule_of(t);
}
