/* test_ops_ref.c - every op on the CPU and on the device REF, through the
 * scheduler: the fast path against the reference
 *
 * A case is an op with types and an odd shape. It is computed by a scheduler
 * that has the CPU only, and by one that has REF before it, to which the
 * inputs must be copied. REF must give the bits of a process in which
 * GG_CPU_ISA=c chose plain C for everything; the CPU must come close to it. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ggml-cpu.h>

#include "core/hash.h"
#include "cpu/kernels.h"
#include "cpu/exec/task.h"
#include "fixtures/ref_device.h"
#include "harness/tap.h"
#include "tensor/tensor.h"

#define MAX_CASES 400
#define MAX_LEAFS 8

struct op_case {
    const char *name;
    struct ggml_tensor *(*build)(const struct op_case *c);
    double bound; /* on the normalised mean square error */
    enum ggml_type type, other;
    int64_t ne[4];
    int arg;
};

static struct op_case cases[MAX_CASES];
static int n_cases;

/* -- A graph and what goes into it -- */

static struct {
    struct ggml_context *leafs, *nodes;
    int limit; /* integers are below it */
    bool bf16; /* weights are: so are all numbers */
} made;

static struct ggml_tensor *
in(enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    return ggml_new_tensor_4d(made.leafs, type, ne0, ne1, ne2, ne3);
}

static uint64_t state;

static uint32_t
draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* Blocks that nobody quantises: any bits will do but for the scale, F16 1/16
 * at their front; IQ1_M has it in the upper four bits of its last words. */
static void
fill_blocks(enum ggml_type type, uint8_t *p, size_t size)
{
    const uint16_t scale = 0x2c00;
    size_t block = ggml_type_size(type);

    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)draw();
    for (size_t i = 0; i < size; i += block) {
        memcpy(p + i, &scale, type == GGML_TYPE_IQ1_M ? 0 : sizeof(scale));
        for (size_t k = 0; k < 4 && type == GGML_TYPE_IQ1_M; k++) {
            uint8_t *high = p + i + block - 8 + 2 * k + 1;

            *high = (uint8_t)((*high & 0xf) | (scale >> 4 * k & 0xf) << 4);
        }
    }
}

static void
fill_floats(enum ggml_type type, void *data, int64_t rows, int64_t row)
{
    float *x = malloc((size_t)(rows * row) * sizeof(*x));

    for (int64_t i = 0; i < rows * row; i++)
        x[i] = (float)(int32_t)draw() * 0x1p-31f;
    /* some kernels take activations as BF16 where weights are: these are */
    for (int64_t i = 0; i < rows * row && made.bf16; i++)
        x[i] = ggml_bf16_to_fp32(ggml_fp32_to_bf16(x[i]));
    ggml_quantize_chunk(type, x, data, 0, rows, row, NULL);
    free(x);
}

/* Integers differ as long as there are no more of them than the limit. */
static void
fill_integers(const struct ggml_tensor *t, void *data)
{
    for (int i = 0; i < (int)ggml_nelements(t); i++)
        if (t->type == GGML_TYPE_I64)
            ((int64_t *)data)[i] = i * 7 % made.limit;
        else
            ((int32_t *)data)[i] = i * 7 % made.limit;
}

static void
fill_mask(const struct ggml_tensor *t, uint16_t *data)
{
    for (int64_t i = 0; i < ggml_nelements(t); i++)
        data[i] = draw() % 3 ? ggml_fp32_to_fp16((float)(i % 5) / 4) : 0xfc00;
}

static void
fill(struct ggml_tensor *t)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(t->type);
    size_t size = ggml_nbytes(t);
    void *data = malloc(size);

    if (strcmp(t->name, "mask") == 0)
        fill_mask(t, data);
    else if (t->type == GGML_TYPE_I32 || t->type == GGML_TYPE_I64)
        fill_integers(t, data);
    else if (traits->is_quantized && !traits->from_float_ref)
        fill_blocks(t->type, data, size);
    else
        fill_floats(t->type, data, ggml_nrows(t), t->ne[0]);
    ggml_backend_tensor_set(t, data, 0, size);
    free(data);
}

/* -- Cases -- */

#define F32  GGML_TYPE_F32
#define F16  GGML_TYPE_F16
#define BF16 GGML_TYPE_BF16

static struct ggml_tensor *
first(const struct op_case *c)
{
    return in(c->type, c->ne[0], c->ne[1], c->ne[2], c->ne[3]);
}

/* Where an op works in place its memory must not be an input's. */
static struct ggml_tensor *
own(struct ggml_tensor *t)
{
    return ggml_dup(made.nodes, t);
}

#define BUILD(name, expression)                                                \
    static struct ggml_tensor *name(const struct op_case *c)                   \
    {                                                                          \
        struct ggml_context *g = made.nodes;                                   \
        const int64_t *n = c->ne;                                              \
        struct ggml_tensor *a = first(c);                                      \
        (void)g, (void)n, (void)a;                                             \
        return expression;                                                     \
    }
#define OTHER in(c->other, n[0], n[1], n[2], n[3])
#define ROW   in(c->other, n[0], 1, n[2], 1)
BUILD(add, ggml_add(g, a, OTHER))
BUILD(add_row, ggml_add(g, a, ROW))
BUILD(add_cast, ggml_add_cast(g, a, in(F32, n[0], n[1], n[2], n[3]), c->other))
BUILD(sub, ggml_sub(g, a, OTHER))
BUILD(mul, ggml_mul(g, a, OTHER))
BUILD(mul_row, ggml_mul(g, a, ROW))
BUILD(divide, ggml_div(g, a, OTHER))
BUILD(sqr, ggml_sqr(g, a))
BUILD(root, ggml_sqrt(g, ggml_sqr(g, a)))
BUILD(scale, ggml_scale_bias(g, a, 0.7f, -0.3f))
BUILD(clamp, ggml_clamp(g, a, -0.25f, 0.5f))
BUILD(logarithm, ggml_log(g, ggml_sqr(g, a)))
BUILD(sine, ggml_sin(g, a))
BUILD(cosine, ggml_cos(g, a))
BUILD(leaky, ggml_leaky_relu(g, a, 0.1f, false))
BUILD(xielu, ggml_xielu(g, a, 0.3f, 0.7f, 0.5f, -1e-6f))
BUILD(constant, ggml_fill(g, a, 0.3f))
BUILD(sum, ggml_sum(g, a))
BUILD(mean, ggml_mean(g, a))
BUILD(cumsum, ggml_cumsum(g, a))
BUILD(argmax, ggml_argmax(g, a))
BUILD(l2_norm, ggml_l2_norm(g, a, 1e-5f))
BUILD(group_norm, ggml_group_norm(g, a, 2, 1e-5f))
BUILD(pad, ggml_pad_ext(g, a, 1, 2, 0, 3, 2, 0, 1, 1))
BUILD(pad_circular, ggml_pad_ext_circular(g, a, 1, 2, 0, 3, 2, 0, 1, 1))
BUILD(diag, ggml_diag(g, a))
BUILD(tri, ggml_tri(g, a, (enum ggml_tri_type)c->arg))
BUILD(mask_zero, ggml_diag_mask_zero(g, a, 2))
BUILD(win_part, ggml_win_part(g, a, 4))
BUILD(win_unpart, ggml_win_unpart(g, a, 10, 7, 4))
BUILD(col2im, ggml_col2im_1d(g, a, 3, 5, 2))
BUILD(im2col_3d, ggml_im2col_3d(g, in(GGML_TYPE_F16, 3, 2, 2, 10), a, 5, 2, 1,
                                1, 1, 2, 0, 1, 2, 1, c->other))
BUILD(conv_2d_direct, ggml_conv_2d_direct(g, in(c->other, 3, 2, n[2], 5), a,
                                          c->arg, 1, 1, 2, 1, 2))
BUILD(conv_3d_direct,
      ggml_conv_3d_direct(g, in(c->other, 3, 2, 2, 5 * 4), a, c->arg, 1, 1, 1,
                          2, 0, 1, 2, 1, 5, 2, 4))
BUILD(sum_rows, ggml_sum_rows(g, a))
BUILD(repeat, ggml_repeat_4d(g, a, 3 * n[0], n[1], 2 * n[2], n[3]))
BUILD(concat, ggml_concat(g, a, OTHER, c->arg))
BUILD(norm, ggml_norm(g, a, 1e-5f))
BUILD(rms_norm, ggml_rms_norm(g, a, 1e-5f))
BUILD(duplicate, ggml_dup(g, a))
BUILD(cont, ggml_cont(g, ggml_permute(g, a, 1, 0, 3, 2)))
BUILD(copy, ggml_cpy(g, a, own(OTHER)))
BUILD(cast, ggml_cast(g, a, c->other))
BUILD(mask_inf, ggml_diag_mask_inf(g, a, 2))
BUILD(soft_max, ggml_soft_max(g, a))
BUILD(unary, ggml_unary(g, a, (enum ggml_unary_op)c->arg))
BUILD(glu, ggml_glu(g, a, (enum ggml_glu_op)c->arg, true))
BUILD(glu_split, ggml_glu_split(g, a, OTHER, (enum ggml_glu_op)c->arg))
BUILD(mul_mat, ggml_mul_mat(g, a, in(c->other, n[0], c->arg, 2 * n[2], n[3])))
BUILD(argsort, ggml_argsort(g, a, (enum ggml_sort_order)c->arg))
BUILD(top_k, ggml_top_k(g, a, c->arg))
BUILD(roll, ggml_roll(g, a, -3, 2, 1, 0))
BUILD(reflect, ggml_pad_reflect_1d(g, a, 4, 9))
BUILD(arange, ggml_arange(g, -3, 900, 1.5f))
BUILD(timestep, ggml_timestep_embedding(g, a, c->arg, 10000))
BUILD(interpolate, ggml_interpolate(g, a, n[0] * 2 + 1, n[1] * 2 - 3, n[2],
                                    n[3], (uint32_t)c->arg))
BUILD(pool_1d, ggml_pool_1d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 1))
BUILD(pool_2d, ggml_pool_2d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 2, 1, 1, 1))
BUILD(im2col, ggml_im2col(g, in(GGML_TYPE_F16, 3, 2, n[2], 1), a, 2, 1, 1, 2, 1,
                          2, true, c->other))
BUILD(conv_2d,
      ggml_conv_2d(g, in(c->other, 3, 2, n[2], 5), a, 2, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw,
      ggml_conv_2d_dw(g, in(c->other, 3, 2, 1, n[2]), a, 2, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw_direct, ggml_conv_2d_dw_direct(g, in(c->other, 3, 2, 1, n[2]),
                                                a, c->arg, 1, 1, 2, 1, 2))
BUILD(conv_2d_dw_inner, ggml_conv_2d_dw_direct(g, in(c->other, 3, 2, 1, n[0]),
                                               ggml_permute(g, a, 2, 0, 1, 3),
                                               c->arg, 1, 1, 2, 1, 2))
BUILD(conv_1d, ggml_conv_1d(g, in(c->other, 3, n[1], 9, 1), a, 2, 1, 1))
BUILD(conv_1d_dw, ggml_conv_1d_dw(g, in(c->other, 3, 1, n[1], 1), a, 1, 1, 2))
BUILD(conv_transpose_1d,
      ggml_conv_transpose_1d(g, in(c->other, 5, 9, n[1], 1), a, 3, 0, 1))
BUILD(conv_transpose_2d,
      ggml_conv_transpose_2d_p0(g, in(c->other, 3, 2, 5, n[2]), a, 2))
BUILD(get_rel_pos, ggml_get_rel_pos(g, a, 7, 7))
BUILD(add_rel_pos, ggml_add_rel_pos(g, a, in(GGML_TYPE_F32, 5, 4, 3, n[2]),
                                    in(GGML_TYPE_F32, 5, 4, 3, n[2])))

BUILD(add1, ggml_add1(g, a, in(c->other, 1, 1, 1, 1)))
BUILD(acc, ggml_acc(g, a, in(c->other, 5, 2, 2, 1), a->nb[1], a->nb[2],
                    a->nb[3], a->nb[1] + 3 * a->nb[0]))
BUILD(set, ggml_set(g, a, in(c->other, 5, 2, 2, 1), a->nb[1], a->nb[2],
                    a->nb[3], a->nb[1] + 3 * a->nb[0]))
BUILD(repeat_back, ggml_repeat_back(g, a, in(F32, c->arg, n[1], 1, n[3])))
BUILD(silu_back, ggml_silu_back(g, a, OTHER))
BUILD(rms_norm_back, ggml_rms_norm_back(g, a, OTHER, 1e-5f))
BUILD(soft_max_back,
      ggml_soft_max_ext_back(g, a, ggml_soft_max(g, OTHER), 0.7f, 0))
BUILD(out_prod, ggml_out_prod(g, a, in(c->other, c->arg, n[1], 2 * n[2], n[3])))
BUILD(out_prod_transposed,
      ggml_out_prod(g, a,
                    ggml_transpose(g, in(c->other, n[1], c->arg, n[2], n[3]))))
BUILD(im2col_back,
      ggml_im2col_back(g,
                       ggml_im2col(g, in(GGML_TYPE_F16, 3, 2, n[2], 1), a, 2, 1,
                                   1, 2, 1, 2, true, F32),
                       in(GGML_TYPE_F16, 3, 2, n[2], 1), a->ne, 2, 1, 1, 2, 1,
                       2, true))
BUILD(pool_2d_back,
      ggml_pool_2d_back(g,
                        ggml_pool_2d(g, a, (enum ggml_op_pool)c->arg, 3, 2, 2,
                                     1, 1, 1),
                        a, (enum ggml_op_pool)c->arg, 3, 2, 2, 1, 1, 1))
BUILD(cross_entropy, ggml_cross_entropy_loss(g, a, OTHER))
BUILD(cross_entropy_back,
      ggml_cross_entropy_loss_back(g, in(F32, 1, 1, 1, 1), a, OTHER))

static struct ggml_tensor *
get_rows_back(const struct op_case *c)
{
    made.limit = (int)c->arg;
    return ggml_get_rows_back(made.nodes, first(c),
                              in(GGML_TYPE_I32, c->ne[1], 1, 1, 1),
                              in(F32, c->ne[0], c->arg, 1, 1));
}

static struct ggml_tensor *
count_equal(const struct op_case *c)
{
    made.limit = 5;
    return ggml_count_equal(
        made.nodes, first(c),
        ggml_argmax(made.nodes, in(F32, 5, c->ne[0], 1, 1)));
}

/* The second moment is made of squares. */
static struct ggml_tensor *
opt_step(const struct op_case *c)
{
    struct ggml_tensor *w = own(first(c)), *v, *p;

    w->flags |= GGML_TENSOR_FLAG_PARAM;
    p = in(F32, c->arg, 1, 1, 1);
    if (c->arg == 2)
        return ggml_opt_step_sgd(made.nodes, w, first(c), p);
    v = ggml_sqr(made.nodes, first(c));
    p = ggml_scale_bias(made.nodes, p, 0.1f, 0.5f);
    return ggml_opt_step_adamw(made.nodes, w, first(c), own(first(c)), v, p);
}

static struct ggml_tensor *
rope_back(const struct op_case *c)
{
    made.limit = 100;
    return ggml_rope_ext_back(made.nodes, first(c),
                              in(GGML_TYPE_I32, c->ne[2], 1, 1, 1), NULL, 64,
                              c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

/* q or v [n, heads, tokens, sequences], keys for half the heads, gates for an
 * element or a head, arg states. */
static struct ggml_tensor *
delta_net(const struct op_case *c)
{
    const int64_t *n = c->ne;

    return ggml_gated_delta_net(
        made.nodes, in(F32, n[0], n[1] / 2, n[2], n[3]),
        in(F32, n[0], n[1] / 2, n[2], n[3]), first(c),
        in(F32, c->arg == 1 ? 1 : n[0], n[1], n[2], n[3]),
        in(F32, 1, n[1], n[2], n[3]), in(F32, n[0], n[0], n[1], n[3]), c->arg);
}

/* x [dim, heads, tokens, sequences], decays for arg elements of a state. */
static struct ggml_tensor *
ssm_scan(const struct op_case *c)
{
    const int64_t *n = c->ne;

    made.limit = (int)n[3];
    return ggml_ssm_scan(
        made.nodes, in(F32, 24, n[0], n[1], n[3]), first(c),
        in(F32, n[1], n[2], n[3], 1), in(F32, c->arg, n[1], 1, 1),
        in(F32, 24, n[1] / 2, n[2], n[3]), in(F32, 24, n[1] / 2, n[2], n[3]),
        in(GGML_TYPE_I32, n[3], 1, 1, 1), 1);
}

/* q [d, heads, tokens, sequences], keys of `other`. */
static struct ggml_tensor *
indexer(const struct op_case *c)
{
    const int64_t *n = c->ne;
    struct ggml_tensor *mask = in(F16, 53, n[2], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_lightning_indexer(made.nodes, first(c),
                                  in(c->other, n[0], 1, 53, n[3]),
                                  in(F32, n[1], n[2], 1, n[3]), mask);
}

/* Four streams: a residual [n, 4, tokens]. */
BUILD(hyper_comb, ggml_dsv4_hc_comb(g, a, in(F32, 3, 1, 1, 1),
                                    in(F32, n[0], 1, 1, 1), 1e-6f, c->arg))
BUILD(hyper_pre, ggml_dsv4_hc_pre(g, a, in(F32, n[1], n[2], 1, 1)))
BUILD(hyper_gated,
      ggml_dsv4_hc_pre_gated(g, a, in(F32, n[0], n[1], n[2], 1), 0.7f))
BUILD(hyper_post,
      ggml_dsv4_hc_post(g, in(F32, n[0], n[2], 1, 1), a,
                        in(F32, n[1], n[2], 1, 1),
                        c->arg ? in(F32, n[1], n[1], n[2], 1) : NULL))

#define SAME  in(F32, n[0], n[1], n[2], 1)
#define STATE in(F32, n[0] * n[0] * n[1], 2, 1, 1)
BUILD(wkv6,
      ggml_rwkv_wkv6(g, a, SAME, SAME, in(F32, n[0], n[1], 1, 1), SAME, STATE))
BUILD(wkv7, ggml_rwkv_wkv7(g, a, SAME, SAME, SAME, SAME, SAME, STATE))
BUILD(gated_linear, ggml_gated_linear_attn(g, a, SAME, SAME, SAME, STATE, 0.5f))
BUILD(ssm_conv, ggml_ssm_conv(g, a, in(F32, 4, n[1], 1, 1)))
BUILD(solve_tri,
      ggml_solve_tri(g, a, in(F32, 70, n[0], n[2], n[3]), true, true, false))

static struct ggml_tensor *
get_rows(const struct op_case *c)
{
    made.limit = (int)c->ne[1];
    return ggml_get_rows(made.nodes, first(c),
                         in(GGML_TYPE_I32, 5, c->ne[2], c->ne[3], 1));
}

/* Four of the matrices for each of seven tokens. */
static struct ggml_tensor *
by_id(const struct op_case *c)
{
    made.limit = (int)c->ne[2];
    return ggml_mul_mat_id(made.nodes, first(c),
                           in(GGML_TYPE_F32, c->ne[0], c->arg, 7, 1),
                           in(GGML_TYPE_I32, 4, 7, 1, 1));
}

static struct ggml_tensor *
add_id(const struct op_case *c)
{
    made.limit = 9;
    return ggml_add_id(made.nodes, first(c),
                       in(GGML_TYPE_F32, c->ne[0], 9, 1, 1),
                       in(GGML_TYPE_I32, c->ne[1], c->ne[2], 1, 1));
}

static struct ggml_tensor *
set_rows(const struct op_case *c)
{
    struct ggml_tensor *rows = in(GGML_TYPE_F32, c->ne[0], 5, c->ne[2], 1);

    made.limit = (int)c->ne[1];
    return ggml_set_rows(made.nodes, own(first(c)), rows,
                         in(c->other, 5, 1, 1, 1));
}

static struct ggml_tensor *
masked(const struct op_case *c)
{
    struct ggml_tensor *mask = in(GGML_TYPE_F16, c->ne[0], c->ne[1], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_soft_max_ext(made.nodes, first(c), mask, 0.5f, (float)c->arg);
}

static struct ggml_tensor *
rope(const struct op_case *c)
{
    made.limit = 4000;
    return ggml_rope_ext(
        made.nodes, first(c), in(GGML_TYPE_I32, c->ne[2], 1, 1, 1), NULL,
        (int)c->ne[0] - 6, c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

/* Twice as many pairs as VISION's sections have. */
static struct ggml_tensor *
rope_multi(const struct op_case *c)
{
    static int sections[] = { 9, 7, 8, 8 };
    bool vision = c->arg == GGML_ROPE_TYPE_VISION;
    int n_dims = (int)(vision ? c->ne[0] / 2 : c->ne[0] - 6);

    made.limit = 4000;
    return ggml_rope_multi(
        made.nodes, first(c), in(GGML_TYPE_I32, 4 * c->ne[2], 1, 1, 1), NULL,
        n_dims, sections, c->arg, 4096, 10000, 0.5f, 1, 1, 32, 1);
}

/* q as the case says; half as many heads of k and v. */
static struct ggml_tensor *
flash(const struct op_case *c)
{
    const int64_t *n = c->ne;
    struct ggml_tensor *mask = in(GGML_TYPE_F16, 71, n[1], 1, 1);

    ggml_set_name(mask, "mask");
    return ggml_flash_attn_ext(
        made.nodes, first(c), in(c->other, n[0], 71, n[2] / 2, n[3]),
        in(c->other, n[0], 71, n[2] / 2, n[3]), mask, 0.2f, (float)c->arg, 0);
}

/* dst = the sum of what is there and 1. */
static void
sum_up(struct ggml_tensor *dst, int ith, int nth, void *userdata)
{
    (void)userdata;
    for (int i = ith; i < (int)ggml_nelements(dst); i += nth) {
        float sum = 1;

        for (int j = 0; dst->src[j]; j++)
            sum += ggml_get_f32_1d(dst->src[j], i);
        ggml_set_f32_1d(dst, i, sum);
    }
}

static void
sum_1(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
      void *userdata)
{
    (void)a;
    sum_up(dst, ith, nth, userdata);
}

static void
sum_2(struct ggml_tensor *dst, const struct ggml_tensor *a,
      const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    (void)b;
    sum_1(dst, a, ith, nth, userdata);
}

static void
sum_3(struct ggml_tensor *dst, const struct ggml_tensor *a,
      const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
      int nth, void *userdata)
{
    (void)c;
    sum_2(dst, a, b, ith, nth, userdata);
}

BUILD(map_1, ggml_map_custom1(g, a, sum_1, 2, NULL))
BUILD(map_2, ggml_map_custom2(g, a, OTHER, sum_2, 2, NULL))
BUILD(map_3, ggml_map_custom3(g, a, OTHER, OTHER, sum_3, 2, NULL))
BUILD(custom, ggml_custom_4d(g, GGML_TYPE_F32, n[0], n[1], n[2], n[3], &a, 1,
                             sum_up, 2, NULL))

/* -- The table -- */

static const struct op_case fixed[] = {
    { "add", add, 0, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "add to F16", add, 0, F16, F32, { 37, 5, 4, 2 }, 0 },
    { "add a row", add_row, 0, F32, BF16, { 131, 3, 2, 2 }, 0 },
    { "add to Q8_0", add, 0, GGML_TYPE_Q8_0, F32, { 96, 5, 4, 2 }, 0 },
    { "add_cast", add_cast, 0, GGML_TYPE_Q4_K, BF16, { 512, 3, 2, 1 }, 0 },
    { "sub", sub, 0, F32, F16, { 37, 5, 4, 2 }, 0 },
    { "mul", mul, 0, F32, F32, { 259, 3, 1, 1 }, 0 },
    { "mul a row", mul_row, 0, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "div", divide, 1e-13, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "sqr", sqr, 0, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "sqrt", root, 1e-13, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "log", logarithm, 1e-13, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "sin", sine, 1e-13, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "cos", cosine, 1e-13, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "leaky_relu", leaky, 0, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "xielu", xielu, 1e-13, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "fill", constant, 0, F32, F32, { 67, 3, 1, 1 }, 0 },
    { "fill F16", constant, 0, F16, F32, { 67, 3, 1, 1 }, 0 },
    { "sum", sum, 1e-12, F32, F32, { 301, 3, 2, 1 }, 0 },
    { "mean", mean, 1e-12, F32, F32, { 301, 3, 2, 1 }, 0 },
    { "cumsum", cumsum, 1e-12, F32, F32, { 301, 3, 2, 1 }, 0 },
    { "argmax", argmax, 0, F32, F32, { 301, 7, 1, 1 }, 0 },
    { "l2_norm", l2_norm, 1e-12, F32, F32, { 301, 3, 2, 2 }, 0 },
    { "group_norm", group_norm, 1e-12, F32, F32, { 31, 3, 5, 2 }, 0 },
    { "pad", pad, 0, F32, F32, { 31, 3, 5, 2 }, 0 },
    { "pad of F16", pad, 0, F16, F32, { 31, 3, 5, 2 }, 0 },
    { "pad_circular", pad_circular, 0, F32, F32, { 31, 3, 5, 2 }, 0 },
    { "diag", diag, 0, F32, F32, { 17, 1, 3, 2 }, 0 },
    { "diag F16", diag, 0, F16, F32, { 17, 1, 3, 2 }, 0 },
    { "tri", tri, 0, F32, F32, { 17, 17, 3, 2 }, 1 },
    { "diag_mask_zero", mask_zero, 0, F32, F32, { 19, 11, 3, 1 }, 0 },
    { "add1", add1, 0, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "acc", acc, 0, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "acc of F16", acc, 0, F32, F16, { 37, 5, 4, 2 }, 0 },
    { "set", set, 0, F32, F32, { 37, 5, 4, 2 }, 0 },
    { "set F16", set, 0, F16, F16, { 37, 5, 4, 2 }, 0 },
    { "repeat_back", repeat_back, 1e-12, F32, F32, { 402, 5, 4, 2 }, 201 },
    { "repeat_back to one", repeat_back, 1e-12, F32, F32, { 37, 5, 4, 2 }, 1 },
    { "silu_back", silu_back, 1e-12, F32, F32, { 131, 3, 2, 1 }, 0 },
    { "rms_norm_back", rms_norm_back, 1e-12, F32, F32, { 301, 3, 2, 2 }, 0 },
    { "soft_max_back", soft_max_back, 1e-12, F32, F32, { 303, 5, 2, 2 }, 0 },
    { "rope_back", rope_back, 1e-12, F32, F32, { 70, 3, 5, 2 }, 0 },
    { "rope_back, neox", rope_back, 1e-12, F32, F32, { 70, 3, 5, 2 }, 2 },
    { "get_rows_back", get_rows_back, 1e-12, F32, F32, { 301, 19, 1, 1 }, 7 },
    { "out_prod", out_prod, 1e-12, F32, F32, { 201, 131, 2, 1 }, 197 },
    { "out_prod of F16", out_prod, 1e-12, F16, F32, { 48, 5, 2, 1 }, 13 },
    { "out_prod by transposed",
      out_prod_transposed,
      1e-12,
      F32,
      F32,
      { 144, 70, 2, 1 },
      7 },
    { "out_prod of Q8_0 by transposed",
      out_prod_transposed,
      1e-12,
      GGML_TYPE_Q8_0,
      F32,
      { 160, 70, 2, 1 },
      7 },
    { "out_prod of Q4_K",
      out_prod,
      1e-12,
      GGML_TYPE_Q4_K,
      F32,
      { 512, 33, 1, 1 },
      9 },
    { "im2col_back", im2col_back, 1e-12, F32, F32, { 33, 9, 5, 2 }, 0 },
    { "pool_2d_back, max", pool_2d_back, 0, F32, F32, { 33, 5, 3, 2 }, 0 },
    { "pool_2d_back, mean", pool_2d_back, 0, F32, F32, { 33, 5, 3, 2 }, 1 },
    { "cross_entropy", cross_entropy, 1e-12, F32, F32, { 303, 5, 2, 2 }, 0 },
    { "cross_entropy_back",
      cross_entropy_back,
      1e-12,
      F32,
      F32,
      { 303, 5, 2, 2 },
      0 },
    { "count_equal", count_equal, 0, GGML_TYPE_I32, F32, { 33, 1, 1, 1 }, 0 },
    { "opt_step_adamw", opt_step, 1e-12, F32, F32, { 37, 5, 2, 1 }, 7 },
    { "opt_step_sgd", opt_step, 0, F32, F32, { 37, 5, 2, 1 }, 2 },
    { "win_part", win_part, 0, F32, F32, { 19, 10, 7, 1 }, 0 },
    { "win_unpart", win_unpart, 0, F32, F32, { 19, 4, 4, 6 }, 0 },
    { "col2im_1d", col2im, 0, F32, F32, { 35, 9, 1, 1 }, 0 },
    { "col2im_1d of F16", col2im, 1e-7, F16, F32, { 35, 9, 1, 1 }, 0 },
    { "im2col_3d", im2col_3d, 0, F32, F16, { 17, 7, 5, 10 }, 0 },
    { "conv_2d_direct", conv_2d_direct, 1e-12, F32, F16, { 33, 9, 5, 2 }, 1 },
    { "conv_2d_direct in steps",
      conv_2d_direct,
      1e-12,
      F32,
      F32,
      { 33, 9, 5, 2 },
      2 },
    { "conv_3d_direct", conv_3d_direct, 1e-12, F32, F16, { 17, 7, 5, 10 }, 1 },
    { "conv_3d_direct in steps",
      conv_3d_direct,
      1e-12,
      F32,
      F32,
      { 17, 7, 5, 10 },
      2 },
    { "concat Q8_0",
      concat,
      0,
      GGML_TYPE_Q8_0,
      GGML_TYPE_Q8_0,
      { 96, 3, 2, 1 },
      0 },
    { "concat Q4_K",
      concat,
      0,
      GGML_TYPE_Q4_K,
      GGML_TYPE_Q4_K,
      { 256, 3, 2, 1 },
      1 },
    { "rope, M-RoPE", rope_multi, 1e-12, F32, F32, { 70, 3, 5, 2 }, 8 },
    { "rope, interleaved", rope_multi, 1e-12, F32, F32, { 70, 3, 5, 2 }, 40 },
    { "rope, vision", rope_multi, 1e-12, F32, F32, { 72, 3, 5, 2 }, 24 },
    { "scale", scale, 1e-13, F32, F32, { 67, 3, 2, 1 }, 0 },
    { "clamp", clamp, 0, F32, F32, { 67, 3, 2, 1 }, 0 },
    { "sum_rows", sum_rows, 1e-12, F32, F32, { 301, 3, 2, 1 }, 0 },
    { "repeat", repeat, 0, F32, F32, { 17, 3, 2, 2 }, 0 },
    { "repeat F16", repeat, 0, F16, F32, { 17, 3, 2, 2 }, 0 },
    { "concat rows", concat, 0, F32, F32, { 17, 3, 2, 2 }, 0 },
    { "concat planes", concat, 0, F16, F16, { 17, 3, 2, 2 }, 2 },
    { "norm", norm, 1e-12, F32, F32, { 301, 3, 2, 2 }, 0 },
    { "rms_norm", rms_norm, 1e-12, F32, F32, { 301, 3, 2, 2 }, 0 },
    { "dup", duplicate, 0, F32, F32, { 33, 3, 2, 2 }, 0 },
    { "cont of a permuted", cont, 0, F32, F32, { 33, 3, 2, 2 }, 0 },
    { "cont of a permuted, F16", cont, 0, F16, F32, { 33, 3, 2, 2 }, 0 },
    { "cpy to F16", copy, 0, F32, F16, { 33, 3, 2, 2 }, 0 },
    { "cpy from BF16", copy, 0, BF16, F32, { 33, 3, 2, 2 }, 0 },
    { "diag_mask_inf", mask_inf, 0, F32, F32, { 19, 11, 3, 1 }, 0 },
    { "soft_max", soft_max, 1e-12, F32, F32, { 303, 5, 2, 2 }, 0 },
    { "soft_max with a mask", masked, 1e-12, F32, F32, { 77, 5, 3, 1 }, 0 },
    { "soft_max with ALiBi", masked, 1e-12, F32, F32, { 77, 5, 3, 1 }, 8 },
    { "rope", rope, 1e-12, F32, F32, { 70, 3, 5, 2 }, 0 },
    { "rope, neox", rope, 1e-12, F32, F32, { 70, 3, 5, 2 }, 2 },
    { "rope of F16", rope, 1e-7, F16, F32, { 70, 3, 5, 2 }, 0 },
    { "set_rows", set_rows, 0, F32, GGML_TYPE_I64, { 33, 9, 2, 1 }, 0 },
    { "set_rows of F16", set_rows, 0, F16, GGML_TYPE_I32, { 33, 9, 2, 1 }, 0 },
    { "add_id", add_id, 1e-12, F32, F32, { 133, 4, 6, 1 }, 0 },
    { "argsort", argsort, 0, F32, F32, { 133, 4, 3, 1 }, 1 },
    { "argsort of F16", argsort, 0, F16, F32, { 33, 4, 3, 1 }, 0 },
    { "top_k", top_k, 0, F32, F32, { 133, 4, 3, 1 }, 9 },
    { "flash_attn", flash, 1e-12, F32, F16, { 80, 19, 4, 2 }, 0 },
    { "flash_attn, F32", flash, 1e-12, F32, F32, { 72, 1, 4, 1 }, 0 },
    { "flash_attn, ALiBi", flash, 1e-12, F32, BF16, { 64, 5, 4, 1 }, 8 },
    { "flash_attn, Q8_0",
      flash,
      1e-12,
      F32,
      GGML_TYPE_Q8_0,
      { 96, 5, 4, 1 },
      0 },
    { "roll", roll, 0, F32, F32, { 17, 5, 3, 2 }, 0 },
    { "pad_reflect_1d", reflect, 0, F32, F32, { 17, 5, 3, 2 }, 0 },
    { "arange", arange, 0, F32, F32, { 1, 1, 1, 1 }, 0 },
    { "timestep_embedding", timestep, 0, F32, F32, { 13, 1, 1, 1 }, 35 },
    { "nearest", interpolate, 0, F32, F32, { 13, 7, 3, 2 }, 0 },
    { "bilinear", interpolate, 0, F32, F32, { 13, 7, 3, 2 }, 1 },
    { "bicubic", interpolate, 0, F32, F32, { 13, 7, 3, 2 }, 2 },
    { "antialiased", interpolate, 0, F32, F32, { 13, 7, 3, 2 }, 1 | 512 },
    { "pool_1d, max", pool_1d, 0, F32, F32, { 33, 5, 3, 2 }, 0 },
    { "pool_1d, mean", pool_1d, 0, F16, F32, { 33, 5, 3, 2 }, 1 },
    { "pool_2d, max", pool_2d, 0, F32, F32, { 33, 5, 3, 2 }, 0 },
    { "pool_2d, mean", pool_2d, 0, F16, F32, { 33, 5, 3, 2 }, 1 },
    { "im2col", im2col, 0, F32, F16, { 33, 9, 5, 2 }, 0 },
    { "im2col as F32", im2col, 0, F32, F32, { 33, 9, 5, 2 }, 0 },
    { "conv_2d", conv_2d, 1e-12, F32, F16, { 33, 9, 5, 2 }, 0 },
    { "conv_2d, F32", conv_2d, 1e-12, F32, F32, { 33, 9, 5, 2 }, 0 },
    { "conv_2d_dw", conv_2d_dw, 1e-12, F32, F16, { 33, 9, 5, 2 }, 0 },
    { "conv_2d_dw_direct",
      conv_2d_dw_direct,
      1e-12,
      F32,
      F32,
      { 73, 9, 5, 2 },
      1 },
    { "conv_2d_dw_direct in steps",
      conv_2d_dw_direct,
      1e-12,
      F32,
      F16,
      { 73, 9, 5, 2 },
      2 },
    { "conv_2d_dw, channels innermost",
      conv_2d_dw_inner,
      1e-12,
      F32,
      F32,
      { 37, 11, 9, 2 },
      2 },
    { "conv_1d", conv_1d, 1e-12, F32, F16, { 33, 9, 2, 1 }, 0 },
    { "conv_1d_dw", conv_1d_dw, 1e-12, F32, F16, { 33, 9, 1, 1 }, 0 },
    { "conv_transpose_1d",
      conv_transpose_1d,
      1e-12,
      F32,
      F16,
      { 33, 9, 1, 1 },
      0 },
    { "conv_transpose_2d",
      conv_transpose_2d,
      1e-12,
      F32,
      F32,
      { 33, 9, 5, 2 },
      0 },
    { "get_rel_pos", get_rel_pos, 0, F16, F32, { 33, 13, 1, 1 }, 0 },
    { "add_rel_pos", add_rel_pos, 0, F32, F32, { 25, 12, 3, 1 }, 0 },
    { "gated_delta_net", delta_net, 1e-11, F32, F32, { 37, 4, 7, 2 }, 1 },
    { "gated_delta_net, gates an element",
      delta_net,
      1e-11,
      F32,
      F32,
      { 64, 2, 5, 1 },
      3 },
    { "ssm_scan", ssm_scan, 1e-11, F32, F32, { 37, 4, 7, 2 }, 1 },
    { "ssm_scan, decays an element",
      ssm_scan,
      1e-11,
      F32,
      F32,
      { 1, 20, 7, 2 },
      24 },
    { "rwkv_wkv6", wkv6, 1e-11, F32, F32, { 37, 3, 10, 1 }, 0 },
    { "rwkv_wkv7", wkv7, 1e-10, F32, F32, { 37, 3, 10, 1 }, 0 },
    { "gated_linear_attn", gated_linear, 1e-11, F32, F32, { 37, 3, 10, 1 }, 0 },
    { "ssm_conv", ssm_conv, 0, F32, F32, { 12, 37, 2, 1 }, 0 },
    { "solve_tri", solve_tri, 0, F32, F32, { 9, 9, 3, 2 }, 0 },
    { "lightning_indexer", indexer, 1e-12, F32, F16, { 72, 9, 7, 2 }, 0 },
    { "lightning_indexer of Q8_0",
      indexer,
      1e-12,
      F32,
      GGML_TYPE_Q8_0,
      { 64, 4, 3, 1 },
      0 },
    { "hyper-connections, comb",
      hyper_comb,
      1e-12,
      F32,
      F32,
      { 24, 17, 1, 1 },
      4 },
    { "hyper-connections, pre",
      hyper_pre,
      1e-12,
      F32,
      F32,
      { 291, 4, 7, 1 },
      0 },
    { "hyper-connections, gated",
      hyper_gated,
      1e-12,
      F32,
      F32,
      { 291, 4, 7, 1 },
      0 },
    { "hyper-connections, post",
      hyper_post,
      1e-12,
      F32,
      F32,
      { 291, 4, 7, 1 },
      1 },
    { "hyper-connections, post without mixing",
      hyper_post,
      1e-12,
      F32,
      F32,
      { 291, 4, 7, 1 },
      0 },
    { "map_custom1", map_1, 0, F32, F32, { 17, 3, 1, 1 }, 0 },
    { "map_custom2", map_2, 0, F32, F32, { 17, 3, 1, 1 }, 0 },
    { "map_custom3", map_3, 0, F32, F32, { 17, 3, 1, 1 }, 0 },
    { "custom", custom, 0, F32, F32, { 17, 3, 1, 1 }, 0 },
};

static void
put(struct op_case c, const char *of)
{
    static char names[MAX_CASES][64];

    GGML_ASSERT(n_cases < MAX_CASES);
    snprintf(names[n_cases], sizeof(names[0]), "%s %s", c.name, of);
    c.name = names[n_cases];
    cases[n_cases++] = c;
}

/* Of each type that weights can have: products, rows, copies. */
static void
put_types(void)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        enum ggml_type type = (enum ggml_type)i;
        const struct ggml_type_traits *t = ggml_get_type_traits(type);
        const double bound = 1e-12;
        int64_t n = t->is_quantized ? 768 : 301;

        if (type != F32 && !t->to_float)
            continue;
        put(
            (struct op_case){
                "mul_mat", mul_mat, bound, type, F32, { n, 19, 2, 1 }, 1 },
            t->type_name);
        put((struct op_case){ "mul_mat of many",
                              mul_mat,
                              bound,
                              type,
                              F32,
                              { n, 37, 1, 2 },
                              23 },
            t->type_name);
        put(
            (struct op_case){
                "mul_mat_id", by_id, bound, type, F32, { n, 21, 5, 1 }, 2 },
            t->type_name);
        put(
            (struct op_case){
                "get_rows", get_rows, 0, type, F32, { n, 13, 2, 2 }, 0 },
            t->type_name);
        put(
            (struct op_case){
                "cast from", cast, 0, type, F32, { n, 5, 2, 1 }, 0 },
            t->type_name);
        if (t->from_float_ref || type == F32)
            put(
                (struct op_case){
                    "cast to", cast, bound, F32, type, { n, 5, 2, 1 }, 0 },
                t->type_name);
    }
    put((struct op_case){ "mul_mat with F16 of",
                          mul_mat,
                          1e-12,
                          F16,
                          F16,
                          { 301, 19, 2, 1 },
                          5 },
        "f16");
}

static void
collect(void)
{
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        cases[n_cases++] = fixed[i];
    for (int i = 0; i < GGML_UNARY_OP_COUNT; i++) {
        if (i == GGML_UNARY_OP_XIELU)
            continue; /* it has parameters */
        put(
            (struct op_case){
                "unary", unary, 1e-12, F32, F32, { 131, 3, 2, 1 }, i },
            ggml_unary_op_name((enum ggml_unary_op)i));
    }
    for (int i = 0; i < GGML_GLU_OP_COUNT; i++) {
        const char *name = ggml_glu_op_name((enum ggml_glu_op)i);

        put(
            (struct op_case){
                "glu", glu, 1e-12, F32, F32, { 134, 3, 2, 1 }, i },
            name);
        put(
            (struct op_case){
                "split glu", glu_split, 1e-12, F32, F32, { 67, 3, 2, 1 }, i },
            name);
    }
    put_types();
}

/* -- Computing a case -- */

static ggml_backend_t cpu, ref;
static bool covered[GGML_OP_COUNT];

struct result {
    struct ggml_tensor shape; /* type and ne of the result */
    void *data;
    size_t size;
    bool there; /* all nodes were where they should be */
};

static struct ggml_context *
context(void)
{
    struct ggml_init_params params = {
        .mem_size =
            64 * ggml_tensor_overhead() + ggml_graph_overhead_custom(64, false),
        .no_alloc = true,
    };

    return ggml_init(params);
}

static ggml_backend_sched_t
scheduler(bool with_ref)
{
    ggml_backend_t backends[] = { ref, cpu };

    return ggml_backend_sched_new(backends + !with_ref, NULL, 1 + with_ref, 64,
                                  false, false);
}

static bool
all_on(ggml_backend_sched_t s, struct ggml_cgraph *g, ggml_backend_t backend)
{
    bool yes = true;

    for (int i = 0; i < ggml_graph_n_nodes(g); i++) {
        struct ggml_tensor *t = ggml_graph_node(g, i);

        covered[t->op] = true;
        if (!tensor_is_view_op(t->op))
            yes = yes && ggml_backend_sched_get_tensor_backend(s, t) == backend;
    }
    return yes;
}

static void
pin_all(ggml_backend_sched_t s, struct ggml_cgraph *g, ggml_backend_t backend)
{
    for (int i = 0; i < ggml_graph_n_nodes(g); i++)
        if (!tensor_is_view_op(ggml_graph_node(g, i)->op))
            ggml_backend_sched_set_tensor_backend(s, ggml_graph_node(g, i),
                                                  backend);
}

/* False: this CPU has no such op. */
static bool
compute(const struct op_case *c, bool with_ref, struct result *r)
{
    ggml_backend_sched_t s = scheduler(with_ref);
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph *g;
    struct ggml_tensor *t;
    bool can;

    made.bf16 = c->type == GGML_TYPE_BF16;
    made.leafs = context();
    made.nodes = context();
    state = 1;
    g = ggml_new_graph_custom(made.nodes, 64, false);
    t = c->build(c);
    ggml_set_output(t);
    ggml_build_forward_expand(g, t);
    buffer = ggml_backend_alloc_ctx_tensors(made.leafs, cpu);
    can = ggml_backend_supports_op(cpu, t);
    for (struct ggml_tensor *x = ggml_get_first_tensor(made.leafs); x && can;
         x = ggml_get_next_tensor(made.leafs, x))
        fill(x);
    if (can) {
        pin_all(s, g, with_ref ? ref : cpu);
        GGML_ASSERT(ggml_backend_sched_alloc_graph(s, g));
        r->there = all_on(s, g, with_ref ? ref : cpu);
        GGML_ASSERT(ggml_backend_sched_graph_compute(s, g) == 0);
        r->shape = *t;
        r->size = ggml_nbytes(t);
        r->data = malloc(r->size);
        ggml_backend_tensor_get(t, r->data, 0, r->size);
    }
    ggml_backend_sched_free(s);
    ggml_backend_buffer_free(buffer);
    ggml_free(made.nodes);
    ggml_free(made.leafs);
    return can;
}

/* All results are contiguous, or in an order that both have. */
static double
value(const struct result *r, int64_t i)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(r->shape.type);
    float block[256];

    if (r->shape.type == F32)
        return (double)((const float *)r->data)[i];
    if (r->shape.type == GGML_TYPE_I32)
        return ((const int32_t *)r->data)[i];
    if (r->shape.type == GGML_TYPE_I64)
        return (double)((const int64_t *)r->data)[i];
    t->to_float((const char *)r->data +
                    (size_t)(i / t->blck_size) * t->type_size,
                block, t->blck_size);
    return (double)block[i % t->blck_size];
}

static double
nmse(const struct result *a, const struct result *b)
{
    double error = 0, power = 0;

    for (int64_t i = 0; i < ggml_nelements(&b->shape); i++) {
        double x = value(a, i), y = value(b, i);

        if (x == y) {
            power += isinf(y) ? 0 : y * y;
            continue;
        }
        error += (x - y) * (x - y);
        power += y * y;
    }
    return error == 0 ? 0 : isnan(error) ? INFINITY : error / power;
}

/* -- A process that has nothing but plain C -- */

static uint64_t
hash_of(const struct result *r)
{
    return hash_bytes(HASH_START, r->data, r->size);
}

static void
write_hashes(int fd)
{
    setenv("GG_CPU_ISA", "c", 1);
    cpu = ggml_backend_cpu_init();
    for (int i = 0; i < n_cases; i++) {
        struct result r = { .data = NULL };
        uint64_t hash = compute(&cases[i], false, &r) ? hash_of(&r) : 0;

        free(r.data);
        if (write(fd, &hash, sizeof(hash)) != sizeof(hash))
            _exit(1);
    }
    ggml_backend_free(cpu);
    _exit(0);
}

static bool
read_hashes(uint64_t *hashes)
{
    size_t want = (size_t)n_cases * sizeof(*hashes), got = 0;
    int fds[2], status = -1;
    pid_t child;
    ssize_t n = 1;

    if (pipe(fds) < 0)
        return false;
    child = fork();
    if (child == 0) {
        close(fds[0]);
        write_hashes(fds[1]);
    }
    close(fds[1]);
    for (; got < want && n > 0; got += n > 0 ? (size_t)n : 0)
        n = read(fds[0], (char *)hashes + got, want - got);
    close(fds[0]);
    return waitpid(child, &status, 0) == child && status == 0 && got == want;
}

/* -- Tests -- */

static int n_different; /* cases where the CPU's bits are not REF's */

static void
test_case(const struct op_case *c, uint64_t plain)
{
    struct result fast = { .data = NULL }, slow = { .data = NULL };
    char text[160];
    double error;

    if (!compute(c, false, &fast)) {
        printf("# %s: not supported\n", c->name);
        return;
    }
    compute(c, true, &slow);
    error = nmse(&fast, &slow);
    n_different += memcmp(fast.data, slow.data, slow.size) != 0;
    snprintf(text, sizeof(text), "%s: NMSE %.2g, at most %g", c->name, error,
             c->bound);
    ok(fast.there && slow.there && error <= c->bound && hash_of(&slow) == plain,
       text);
    if (hash_of(&slow) != plain)
        printf("# REF has not the bits of plain C\n");
    free(fast.data);
    free(slow.data);
}

static bool
all_covered(void)
{
    bool yes = true;

    for (int i = 0; i < GGML_OP_COUNT; i++) {
        struct ggml_tensor t = { .op = (enum ggml_op)i };

        if (!cpu_op(&t) || covered[i])
            continue;
        printf("# no case for %s\n", ggml_op_name(t.op));
        yes = false;
    }
    return yes;
}

/* One graph, whose nodes go to and fro between the two devices. */
static void
test_seams(void)
{
    struct ggml_context *leafs = context(), *ctx = context();
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 64, false);
    struct ggml_tensor *w = ggml_new_tensor_2d(leafs, F32, 48, 48);
    struct ggml_tensor *x = ggml_new_tensor_2d(leafs, F32, 48, 3), *n[5];
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(leafs, cpu);
    ggml_backend_sched_t s = scheduler(true);
    struct result split = { .data = NULL }, whole = { .data = NULL };
    bool placed = true;

    state = 3;
    fill(w);
    fill(x);
    for (int pass = 0; pass < 2; pass++) {
        struct result *r = pass ? &whole : &split;

        n[0] = ggml_mul_mat(ctx, w, x);
        n[1] = ggml_gelu(ctx, n[0]);
        n[2] = ggml_mul_mat(ctx, w, n[1]);
        n[3] = ggml_add(ctx, n[2], n[0]);
        n[4] = ggml_soft_max(ctx, n[3]);
        ggml_set_output(n[4]);
        ggml_graph_clear(g);
        ggml_build_forward_expand(g, n[4]);
        for (int i = 0; i < 5; i++)
            ggml_backend_sched_set_tensor_backend(
                s, n[i], pass || i % 2 == 0 ? ref : cpu);
        GGML_ASSERT(ggml_backend_sched_alloc_graph(s, g));
        ok(ggml_backend_sched_get_n_splits(s) == (pass ? 1 : 5),
           pass ? "all on REF is one split" : "a split at each seam");
        GGML_ASSERT(ggml_backend_sched_graph_compute(s, g) == 0);
        for (int i = 0; i < 5; i++)
            placed = placed && ggml_backend_buffer_is_host(n[i]->buffer) ==
                                   (!pass && i % 2 == 1);
        r->shape = *n[4];
        r->data = malloc(ggml_nbytes(n[4]));
        ggml_backend_tensor_get(n[4], r->data, 0, ggml_nbytes(n[4]));
        ggml_backend_sched_reset(s);
    }
    ok(placed, "each result lies in its device's memory");
    ok(nmse(&split, &whole) < 1e-10, "copies at the seams change nothing");
    free(split.data);
    free(whole.data);
    ggml_backend_sched_free(s);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    ggml_free(leafs);
}

int
main(void)
{
    static uint64_t plain[MAX_CASES];
    size_t n_dev;

    collect();
    ok(read_hashes(plain), "a process with plain C only");
    n_dev = ggml_backend_dev_count();
    ggml_backend_register(ref_device_reg());
    ggml_backend_device_register(ggml_backend_reg_dev_get(ref_device_reg(), 0));
    is(ggml_backend_dev_count(), n_dev + 1, "REF is registered once");
    cpu = ggml_backend_cpu_init();
    ref = ggml_backend_init_by_name("REF", NULL);
    for (int i = 0; i < n_cases; i++)
        test_case(&cases[i], plain[i]);
    ok(all_covered(), "every op of the CPU has a case");
    ok(n_different > 0 || cpu_kernels() == cpu_kernels_reference(),
       "the CPU does not use the reference itself");
    test_seams();
    ggml_backend_free(ref);
    ggml_backend_free(cpu);
    return tap_done();
}
