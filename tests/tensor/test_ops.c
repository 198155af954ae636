/* test_ops.c - what op builders record: shapes, sources, parameters */
#include <ggml.h>
#include <setjmp.h>
#include <string.h>

#include "harness/tap.h"
#include "tensor/tensor.h"

static struct ggml_context *ctx;

static struct ggml_tensor *
f32(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor_4d(ctx, GGML_TYPE_F32, ne0, ne1, ne2, ne3);
}

static struct ggml_tensor *
typed(enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2)
{
    return ggml_new_tensor_3d(ctx, type, ne0, ne1, ne2);
}

static bool
tensor_is(const struct ggml_tensor *t, enum ggml_op op,
          const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return t->op == op && t->src[0] == a && t->src[1] == b;
}

static bool
shape(const struct ggml_tensor *t, enum ggml_type type, int64_t ne0,
      int64_t ne1, int64_t ne2, int64_t ne3)
{
    return t->type == type && t->ne[0] == ne0 && t->ne[1] == ne1 &&
           t->ne[2] == ne2 && t->ne[3] == ne3;
}

/* Misuse ends in ggml_abort(); its callback gets us back here. */
static jmp_buf back;

static void
jump(const char *message)
{
    (void)message;
    longjmp(back, 1);
}

#define ABORTS(expression)                                                     \
    (ggml_set_abort_callback(jump),                                            \
     setjmp(back) ? true : ((void)(expression), false))

static void
arithmetic(void)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 1, 2, 1), *t;

    t = ggml_add(ctx, a, b);
    ok(tensor_is(t, GGML_OP_ADD, a, b) && shape(t, GGML_TYPE_F32, 8, 6, 4, 2) &&
           !t->view_src,
       "add repeats its second source");
    t = ggml_mul_inplace(ctx, a, b);
    ok(tensor_is(t, GGML_OP_MUL, a, b) && t->view_src == a,
       "in place is a view");
    ok(tensor_is(ggml_sub(ctx, a, b), GGML_OP_SUB, a, b) &&
           tensor_is(ggml_div(ctx, a, b), GGML_OP_DIV, a, b) &&
           tensor_is(ggml_sqr(ctx, a), GGML_OP_SQR, a, NULL) &&
           tensor_is(ggml_sqrt(ctx, a), GGML_OP_SQRT, a, NULL),
       "sub, div, sqr, sqrt");
    ok(shape(ggml_sum_rows(ctx, a), GGML_TYPE_F32, 1, 6, 4, 2), "sum_rows");
    ok(shape(ggml_mean(ctx, typed(GGML_TYPE_F16, 8, 6, 4)), GGML_TYPE_F32, 1, 6,
             4, 1) &&
           shape(ggml_sum(ctx, a), GGML_TYPE_F32, 1, 1, 1, 1) &&
           shape(ggml_argmax(ctx, f32(8, 6, 1, 1)), GGML_TYPE_I32, 6, 1, 1, 1),
       "mean, sum, argmax");
    ok(ABORTS(ggml_argmax(ctx, a)), "argmax of more than a matrix");
    t = ggml_repeat(ctx, b, a);
    ok(tensor_is(t, GGML_OP_REPEAT, b, NULL) &&
           shape(t, GGML_TYPE_F32, 8, 6, 4, 2),
       "repeat takes the shape of its model");
    t = ggml_scale_bias(ctx, a, 2, 3);
    ok(tensor_is(t, GGML_OP_SCALE, a, NULL) && tensor_get_f32(t, 0) == 2 &&
           tensor_get_f32(t, 1) == 3,
       "scale records factor and summand");
    t = ggml_clamp_inplace(ctx, a, -1, 1);
    ok(t->op == GGML_OP_CLAMP && t->view_src == a &&
           tensor_get_f32(t, 0) == -1 && tensor_get_f32(t, 1) == 1 &&
           !ggml_clamp(ctx, a, -1, 1)->view_src,
       "clamp works in place where it is told so");
    ok(ABORTS(ggml_add(ctx, a, f32(3, 1, 1, 1))), "shapes that do not fit");
    ok(ABORTS(ggml_repeat_4d(ctx, a, 12, 6, 4, 2)), "repeats that do not fit");
}

static void
activations(void)
{
    struct ggml_tensor *a = f32(8, 3, 1, 1), *b = f32(8, 3, 1, 1), *t;

    t = ggml_gelu(ctx, a);
    ok(tensor_is(t, GGML_OP_UNARY, a, NULL) &&
           ggml_get_unary_op(t) == GGML_UNARY_OP_GELU &&
           strcmp(ggml_op_desc(t), "GELU") == 0,
       "an activation records which one");
    t = ggml_swiglu(ctx, a);
    ok(tensor_is(t, GGML_OP_GLU, a, NULL) &&
           shape(t, GGML_TYPE_F32, 4, 3, 1, 1) &&
           ggml_get_glu_op(t) == GGML_GLU_OP_SWIGLU && t->op_params[1] == 0,
       "a gate halves the rows");
    t = ggml_glu(ctx, a, GGML_GLU_OP_GEGLU, true);
    ok(ggml_get_glu_op(t) == GGML_GLU_OP_GEGLU && t->op_params[1] == 1,
       "a gate may be swapped");
    t = ggml_swiglu_split(ctx, a, b);
    ok(tensor_is(t, GGML_OP_GLU, a, b) && shape(t, GGML_TYPE_F32, 8, 3, 1, 1),
       "a split gate keeps the shape");
    ok(ABORTS(ggml_swiglu_split(ctx, a, f32(8, 4, 1, 1))),
       "a split gate of two shapes");
}

static void
products(void)
{
    struct ggml_tensor *w = typed(GGML_TYPE_Q4_0, 64, 10, 2), *t;
    struct ggml_tensor *x = f32(64, 5, 6, 3), *eps;

    t = ggml_mul_mat(ctx, w, x);
    ok(tensor_is(t, GGML_OP_MUL_MAT, w, x) &&
           shape(t, GGML_TYPE_F32, 10, 5, 6, 3),
       "a product has the rows of both");
    ggml_mul_mat_set_prec(t, GGML_PREC_F32);
    is(t->op_params[0], GGML_PREC_F32, "its precision");
    ok(ABORTS(ggml_mul_mat(ctx, w, f32(32, 5, 1, 1))), "rows of two lengths");
    ok(ABORTS(ggml_mul_mat(ctx, typed(GGML_TYPE_F32, 64, 10, 4), x)),
       "planes that do not divide");
    ok(ABORTS(ggml_mul_mat(ctx, ggml_transpose(ctx, x), f32(5, 1, 6, 3))),
       "a transposed first factor");
    eps = ggml_rms_norm(ctx, x, 1e-5f);
    ok(tensor_is(eps, GGML_OP_RMS_NORM, x, NULL) &&
           tensor_get_f32(eps, 0) == 1e-5f &&
           tensor_is(ggml_norm(ctx, x, 1e-5f), GGML_OP_NORM, x, NULL),
       "norms record epsilon");
}

static void
mixtures(void)
{
    struct ggml_tensor *w = typed(GGML_TYPE_Q4_0, 64, 10, 8), *t;
    struct ggml_tensor *x = f32(64, 2, 5, 1), *bias = f32(10, 8, 1, 1);
    struct ggml_tensor *ids = typed(GGML_TYPE_I32, 4, 5, 1), *y;

    y = ggml_mul_mat_id(ctx, w, x, ids);
    ok(tensor_is(y, GGML_OP_MUL_MAT_ID, w, x) && y->src[2] == ids &&
           shape(y, GGML_TYPE_F32, 10, 4, 5, 1),
       "products by id: a row for each id");
    ok(ABORTS(ggml_mul_mat_id(ctx, w, f32(64, 3, 5, 1), ids)),
       "rows that do not divide the ids");
    ok(ABORTS(ggml_mul_mat_id(ctx, w, f32(64, 2, 4, 1), ids)),
       "tokens without ids");
    t = ggml_add_id(ctx, y, bias, ids);
    ok(tensor_is(t, GGML_OP_ADD_ID, y, bias) && t->src[2] == ids &&
           ggml_are_same_shape(t, y),
       "biases by id");
    t = ggml_argsort(ctx, x, GGML_SORT_ORDER_DESC);
    ok(tensor_is(t, GGML_OP_ARGSORT, x, NULL) && t->op_params[0] == 1 &&
           shape(t, GGML_TYPE_I32, 64, 2, 5, 1),
       "the order of rows");
    t = ggml_argsort_top_k(ctx, x, 3);
    ok(t->op == GGML_OP_VIEW && t->src[0]->op == GGML_OP_ARGSORT &&
           shape(t, GGML_TYPE_I32, 3, 2, 5, 1) && t->nb[1] == 256,
       "the first of an order");
    t = ggml_top_k(ctx, x, 3);
    ok(tensor_is(t, GGML_OP_TOP_K, x, NULL) &&
           shape(t, GGML_TYPE_I32, 3, 2, 5, 1),
       "the largest of rows");
    ok(ABORTS(ggml_top_k(ctx, x, 65)), "more than there are");
    t = ggml_swiglu_oai(ctx, y, y, 1.5f, 7);
    ok(tensor_is(t, GGML_OP_GLU, y, y) &&
           ggml_get_glu_op(t) == GGML_GLU_OP_SWIGLU_OAI &&
           tensor_get_f32(t, 2) == 1.5f && tensor_get_f32(t, 3) == 7,
       "a gate with a limit");
}

static void
sinks(void)
{
    struct ggml_tensor *q = f32(16, 5, 4, 1), *s = f32(4, 1, 1, 1), *t;
    struct ggml_tensor *k = typed(GGML_TYPE_F16, 16, 7, 2);

    t = ggml_flash_attn_ext(ctx, q, k, k, NULL, 1, 0, 0);
    ggml_flash_attn_ext_add_sinks(t, s);
    ok(t->src[4] == s, "attention's sinks");
    ok(ABORTS(ggml_flash_attn_ext_add_sinks(t, s)), "sinks twice");
    ggml_flash_attn_ext_add_sinks(t, NULL);
    ok(!t->src[4], "no sinks");
    t = ggml_soft_max(ctx, q);
    ggml_soft_max_add_sinks(t, s);
    ok(t->src[2] == s, "softmax's sinks");
    ok(ABORTS(ggml_soft_max_add_sinks(ggml_soft_max(ctx, q), k)),
       "sinks of another number");
}

static void
attention(void)
{
    struct ggml_tensor *a = f32(7, 5, 4, 1), *t;
    struct ggml_tensor *mask = typed(GGML_TYPE_F16, 7, 8, 1);
    struct ggml_tensor *q = f32(16, 5, 4, 1), *k, *v;

    t = ggml_diag_mask_inf(ctx, a, 2);
    ok(tensor_is(t, GGML_OP_DIAG_MASK_INF, a, NULL) && t->op_params[0] == 2,
       "the mask's start");
    t = ggml_soft_max_ext(ctx, a, mask, 0.5f, 8);
    ok(tensor_is(t, GGML_OP_SOFT_MAX, a, mask) &&
           tensor_get_f32(t, 0) == 0.5f && tensor_get_f32(t, 1) == 8,
       "softmax records factor and bias");
    ok(ABORTS(ggml_soft_max_ext(ctx, a, NULL, 1, 8)), "a bias without a mask");
    ok(ABORTS(ggml_soft_max_ext(ctx, f32(6, 1, 1, 1), mask, 1, 0)),
       "a mask of another width");
    k = typed(GGML_TYPE_F16, 16, 7, 2);
    v = typed(GGML_TYPE_F16, 16, 7, 2);
    t = ggml_flash_attn_ext(ctx, q, k, v, mask, 0.25f, 0, 30);
    ok(tensor_is(t, GGML_OP_FLASH_ATTN_EXT, q, k) && t->src[2] == v &&
           t->src[3] == mask && shape(t, GGML_TYPE_F32, 16, 4, 5, 1) &&
           tensor_get_f32(t, 0) == 0.25f && tensor_get_f32(t, 2) == 30,
       "attention has heads before tokens");
    ggml_flash_attn_ext_set_prec(t, GGML_PREC_F32);
    ok(ggml_flash_attn_ext_get_prec(t) == GGML_PREC_F32 &&
           t->op_params[3] == GGML_PREC_F32,
       "attention's precision");
}

static void
rope(void)
{
    struct ggml_tensor *a = f32(16, 4, 5, 1), *t;
    struct ggml_tensor *pos = typed(GGML_TYPE_I32, 5, 1, 1);
    struct ggml_tensor *factors = f32(8, 1, 1, 1);

    t = ggml_rope_ext(ctx, a, pos, factors, 16, GGML_ROPE_TYPE_NEOX, 4096, 1e6f,
                      0.5f, 1, 2, 32, 3);
    ok(tensor_is(t, GGML_OP_ROPE, a, pos) && t->src[2] == factors,
       "rope's sources");
    ok(t->op_params[0] == 0 && t->op_params[1] == 16 && t->op_params[2] == 2 &&
           t->op_params[3] == 0 && t->op_params[4] == 4096,
       "rope's integers");
    ok(tensor_get_f32(t, 5) == 1e6f && tensor_get_f32(t, 6) == 0.5f &&
           tensor_get_f32(t, 7) == 1 && tensor_get_f32(t, 8) == 2 &&
           tensor_get_f32(t, 9) == 32 && tensor_get_f32(t, 10) == 3,
       "rope's floats");
    ok(!t->op_params[11] && !t->op_params[14] && !t->op_params[15],
       "rope has no sections");
    t = ggml_rope(ctx, a, pos, 8, 0);
    ok(tensor_get_f32(t, 5) == 10000 && tensor_get_f32(t, 6) == 1 &&
           tensor_get_f32(t, 7) == 0 && tensor_get_f32(t, 8) == 1 && !t->src[2],
       "plain rope");
    ok(ABORTS(ggml_rope(ctx, a, typed(GGML_TYPE_I32, 4, 1, 1), 8, 0)),
       "a position for each token");
    ok(ABORTS(ggml_rope(ctx, a, pos, 8, 1)), "a mode that was removed");
}

static void
copies(void)
{
    struct ggml_tensor *a = f32(8, 6, 1, 1), *b = f32(48, 1, 1, 1), *t;
    struct ggml_tensor *ids = typed(GGML_TYPE_I32, 3, 1, 1);

    ggml_set_name(a, "a");
    ggml_set_name(b, "b");
    t = ggml_cpy(ctx, a, b);
    ok(tensor_is(t, GGML_OP_CPY, a, b) && t->view_src == b &&
           strcmp(t->name, "b (copy of a)") == 0,
       "a copy is a view of where it goes");
    t = ggml_cast(ctx, a, GGML_TYPE_F16);
    ok(tensor_is(t, GGML_OP_CPY, a, t) && shape(t, GGML_TYPE_F16, 8, 6, 1, 1),
       "a cast goes to itself");
    t = ggml_cont_2d(ctx, ggml_transpose(ctx, a), 4, 12);
    ok(t->op == GGML_OP_CONT && shape(t, GGML_TYPE_F32, 4, 12, 1, 1),
       "cont may change the shape");
    ok(ABORTS(ggml_cont_2d(ctx, a, 4, 11)), "but not the number of elements");
    t = ggml_concat(ctx, a, f32(8, 2, 1, 1), 1);
    ok(t->op == GGML_OP_CONCAT && t->op_params[0] == 1 && t->ne[1] == 8,
       "concat along a dimension");
    t = ggml_get_rows(ctx, typed(GGML_TYPE_Q8_0, 32, 9, 1), ids);
    ok(t->op == GGML_OP_GET_ROWS && shape(t, GGML_TYPE_F32, 32, 3, 1, 1),
       "rows come out as floats");
    t = ggml_set_rows(ctx, typed(GGML_TYPE_F16, 8, 9, 1), f32(8, 3, 1, 1), ids);
    ok(t->op == GGML_OP_SET_ROWS && t->src[1] == ids &&
           t->view_src == t->src[2] && shape(t, GGML_TYPE_F16, 8, 9, 1, 1),
       "set_rows is a view of what it changes");
    ok(ABORTS(ggml_get_rows(ctx, a, b)), "row numbers are integers");
}

static void
views(void)
{
    struct ggml_tensor *a = f32(8, 6, 2, 1), *t;
    int32_t axes[] = { 2, 0, 1, 3 };
    size_t offset;

    t = ggml_view_3d(ctx, a, 4, 3, 2, a->nb[1], a->nb[2], 32);
    memcpy(&offset, t->op_params, sizeof(offset));
    ok(tensor_is(t, GGML_OP_VIEW, a, NULL) && offset == 32 &&
           t->nb[3] == 2 * a->nb[2],
       "a view records its offset");
    t = ggml_permute(ctx, a, 2, 0, 1, 3);
    ok(tensor_is(t, GGML_OP_PERMUTE, a, NULL) &&
           memcmp(t->op_params, axes, sizeof(axes)) == 0,
       "a permutation records its axes");
    ok(tensor_is(ggml_reshape_2d(ctx, a, 16, 6), GGML_OP_RESHAPE, a, NULL) &&
           tensor_is(ggml_transpose(ctx, a), GGML_OP_TRANSPOSE, a, NULL),
       "reshape, transpose");
    ok(ABORTS(ggml_permute(ctx, a, 0, 0, 1, 2)), "axes that repeat");
    ok(ABORTS(ggml_reshape_1d(ctx, a, 95)), "a reshape that loses elements");
    ok(ABORTS(ggml_reshape_1d(ctx, ggml_transpose(ctx, a), 96)),
       "a reshape of what is not contiguous");
    ok(ABORTS(ggml_view_1d(ctx, a, 8, 96 * 4 - 28)), "a view past the end");
    ok(ABORTS(ggml_new_tensor_1d(ctx, GGML_TYPE_Q4_0, 33)), "half a block");
    ok(ABORTS(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, INT64_MAX, 9)),
       "a shape that overflows");
    ok(ABORTS(ggml_new_tensor_1d(ctx, (enum ggml_type)4, 32)),
       "a type that was removed");
}

static void
convolutions(void)
{
    struct ggml_tensor *b = f32(11, 7, 4, 3), *t;
    struct ggml_tensor *k = typed(GGML_TYPE_F16, 3, 2, 4);
    const int32_t params[] = { 2, 1, 1, 2, 1, 2, 1 };

    t = ggml_im2col(ctx, k, b, 2, 1, 1, 2, 1, 2, true, GGML_TYPE_F16);
    ok(tensor_is(t, GGML_OP_IM2COL, k, b) &&
           shape(t, GGML_TYPE_F16, 24, 6, 9, 3) &&
           memcmp(t->op_params, params, sizeof(params)) == 0,
       "im2col has a row for each place");
    t = ggml_conv_2d(ctx, k, b, 2, 1, 1, 2, 1, 2);
    ok(shape(t, GGML_TYPE_F32, 6, 9, 1, 3), "a convolution's places");
    ok(shape(ggml_conv_transpose_1d(ctx, typed(GGML_TYPE_F16, 5, 9, 7),
                                    f32(11, 7, 1, 1), 3, 0, 1),
             GGML_TYPE_F32, 35, 9, 1, 1) &&
           shape(ggml_conv_transpose_2d_p0(ctx, f32(3, 2, 5, 4), b, 2),
                 GGML_TYPE_F32, 23, 14, 5, 3),
       "transposed ones grow");
    t = ggml_pool_2d(ctx, b, GGML_OP_POOL_AVG, 3, 2, 2, 1, 1, 0);
    ok(tensor_is(t, GGML_OP_POOL_2D, b, NULL) &&
           shape(t, GGML_TYPE_F32, 6, 6, 4, 3) && t->op_params[1] == 3 &&
           t->op_params[5] == 1,
       "windows of a pool");
    ok(ABORTS(ggml_im2col(ctx, k, f32(11, 7, 5, 3), 1, 1, 0, 0, 1, 1, true,
                          GGML_TYPE_F16)),
       "channels that differ");
    ok(ABORTS(ggml_conv_2d(ctx, k, f32(2, 7, 4, 1), 1, 1, 0, 0, 1, 1)),
       "a kernel wider than the image");
    ok(ABORTS(ggml_pool_1d(ctx, b, GGML_OP_POOL_MAX, 13, 1, 0)),
       "a window wider than the row");
    ok(ABORTS(ggml_conv_transpose_1d(ctx, typed(GGML_TYPE_F16, 5, 9, 7),
                                     f32(11, 7, 1, 1), 3, 1, 1)),
       "zeros around what is transposed");
}

static void
images(void)
{
    struct ggml_tensor *a = f32(5, 7, 3, 2), *t;
    struct ggml_tensor *rel = typed(GGML_TYPE_F16, 20, 13, 1);

    t = ggml_upscale(ctx, a, 2, GGML_SCALE_MODE_BICUBIC);
    ok(tensor_is(t, GGML_OP_UPSCALE, a, NULL) &&
           shape(t, GGML_TYPE_F32, 10, 14, 3, 2) &&
           t->op_params[0] == GGML_SCALE_MODE_BICUBIC,
       "upscale grows width and height");
    ok(shape(ggml_pad_reflect_1d(ctx, a, 4, 1), GGML_TYPE_F32, 10, 7, 3, 2) &&
           shape(ggml_timestep_embedding(ctx, f32(9, 1, 1, 1), 32, 100),
                 GGML_TYPE_F32, 32, 9, 1, 1) &&
           shape(ggml_get_rel_pos(ctx, rel, 7, 7), GGML_TYPE_F16, 20, 7, 7, 1),
       "padding, time steps, relative positions");
    ok(ABORTS(ggml_interpolate(ctx, a, 9, 9, 3, 2, 3)), "an unknown mode");
    ok(ABORTS(ggml_interpolate(ctx, a, 9, 9, 3, 2, GGML_SCALE_FLAG_ANTIALIAS)),
       "antialiasing of the nearest");
    ok(ABORTS(ggml_pad_reflect_1d(ctx, a, 5, 0)), "a mirror longer than a row");
    ok(ABORTS(ggml_roll(ctx, a, 0, 7, 0, 0)), "a whole turn");
    ok(ABORTS(ggml_arange(ctx, 3, 3, 1)), "an empty range");
    ok(ABORTS(ggml_get_rel_pos(ctx, rel, 6, 6)), "too few distances");
    ok(ABORTS(ggml_map_custom1(ctx, a, NULL, 0, NULL)), "no task at all");
}

/* The sum of all that GGML_TENSOR_BINARY_OP_LOCALS declares. */
static int64_t
sum_of_locals(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *src0 = dst->src[0], *src1 = dst->src[1];

    GGML_TENSOR_BINARY_OP_LOCALS
    return ne00 + ne01 + ne12 + ne13 + ne2 + ne3 + (int64_t)(nb00 + nb11 + nb1);
}

static void
precision(void)
{
    struct ggml_tensor *a = f32(8, 3, 1, 1), *b = f32(8, 3, 1, 1);
    struct ggml_tensor *t = ggml_mul_mat(ctx, a, b);

    ok(ggml_prec_set_acc(t, GGML_PREC_BF16) && t->op_params[0] == 15 &&
           ggml_prec_set_src(t, GGML_PREC_Q8, 1) && t->op_params[3] == 30 &&
           !ggml_prec_set_src(t, GGML_PREC_Q8, 0) &&
           !ggml_prec_set_acc(ggml_add(ctx, a, b), GGML_PREC_F32),
       "precisions of a product, and of nothing else");
    ggml_mul_mat_set_hint(t, GGML_HINT_SRC0_IS_HADAMARD);
    is(t->op_params[1], GGML_HINT_SRC0_IS_HADAMARD, "a hint");
    is(sum_of_locals(ggml_add(ctx, a, b)), 8 + 3 + 1 + 1 + 1 + 1 + 4 + 32 + 32,
       "locals of an op");
}

static void
contiguity(void)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *rows =
        ggml_view_3d(ctx, a, 4, 6, 4, a->nb[1], a->nb[2], 0);
    struct ggml_tensor *planes =
        ggml_view_3d(ctx, a, 8, 3, 4, a->nb[1], a->nb[2], 0);

    ok(ggml_is_contiguous_to_3(a) && ggml_is_contiguous_to_1(rows) &&
           !ggml_is_contiguous_to_2(rows) && ggml_is_contiguous_to_2(planes) &&
           !ggml_is_contiguous_to_3(planes) &&
           !ggml_is_contiguous_to_1(ggml_transpose(ctx, a)),
       "contiguous up to a dimension");
}

static void
windows(void)
{
    struct ggml_tensor *a = f32(5, 9, 7, 1), *t = ggml_win_part(ctx, a, 4);

    ok(shape(t, GGML_TYPE_F32, 5, 4, 4, 6) && t->op_params[0] == 3 &&
           t->op_params[1] == 2 && t->op_params[2] == 4,
       "windows of a line and of a column");
    ok(shape(ggml_win_unpart(ctx, t, 9, 7, 4), GGML_TYPE_F32, 5, 9, 7, 1),
       "and back");
    ok(ABORTS(ggml_win_unpart(ctx, t, 90, 7, 4)), "more than there are");
    ok(ABORTS(ggml_tri(ctx, a, GGML_TRI_TYPE_LOWER)),
       "a triangle of no square");
    ok(ABORTS(ggml_col2im_1d(ctx, f32(7, 3, 1, 1), 1, 2, 0)),
       "columns that do not divide");
}

static void
parts(void)
{
    struct ggml_tensor *a = f32(8, 6, 1, 1), *b = f32(3, 4, 1, 1);
    size_t nb = a->nb[1], last = 2 * nb + 5 * sizeof(float);

    ok(tensor_is(ggml_set_2d(ctx, a, b, nb, last), GGML_OP_SET, a, b) &&
           tensor_is(ggml_acc(ctx, a, b, nb, a->nb[2], a->nb[3], last),
                     GGML_OP_ACC, a, b),
       "set, acc at the end of a tensor");
    ok(ABORTS(ggml_set_2d(ctx, a, b, nb, last + 4)) &&
           ABORTS(ggml_acc(ctx, a, b, nb, a->nb[2], a->nb[3], last + 4)) &&
           ABORTS(ggml_set_2d(ctx, a, b, 2 * nb, 0)),
       "they do not go beyond it");
}

int
main(void)
{
    ctx = ggml_init(
        (struct ggml_init_params){ .mem_size = 1 << 20, .no_alloc = true });
    arithmetic();
    activations();
    products();
    mixtures();
    sinks();
    attention();
    rope();
    copies();
    views();
    parts();
    convolutions();
    images();
    precision();
    contiguity();
    windows();
    ok(strcmp(ggml_op_name(GGML_OP_MUL_MAT), "MUL_MAT") == 0 &&
           strcmp(ggml_op_symbol(GGML_OP_MUL_MAT), "X*Y") == 0 &&
           strcmp(ggml_op_name(GGML_OP_GLU), "GLU") == 0 &&
           strcmp(ggml_unary_op_name(GGML_UNARY_OP_TRUNC), "TRUNC") == 0 &&
           strcmp(ggml_glu_op_name(GGML_GLU_OP_GEGLU_QUICK), "GEGLU_QUICK") ==
               0,
       "names of ops");
    ggml_free(ctx);
    return tap_done();
}
