/* out_prod.cu - OUT_PROD: dst[j][i] = sum over k of b[k][j] * a[k][i]
 *
 * By cuBLAS, in F32: a = src0 [n, k, p, q], b = src1 [m, k, p r, q s], dst
 * [n, m, p r, q s]. Both operands lie the other way round than those of
 * MUL_MAT, but for a gradient that was transposed, and are read as they are. A
 * quantised a is dequantised some of its rows at a time, whose products are
 * added up. Gradients are spread over more powers of two than BF16 has digits
 * for: a is never rounded to that. */
#include "cuda/dequantize.h"
#include "cuda/formats_list.h"

/* A matrix of floats as cuBLAS takes it. */
struct operand {
    const char *data;
    bool by_k;               /* a row for each k; else one for each result */
    int64_t ld, nb[2];       /* elements, bytes of dimensions 2 and 3 */
    const struct view *view; /* what is to be dequantised to data, or NULL */
};

static bool
is_row_stride(int64_t nb, int64_t rows, int64_t n)
{
    return rows == 1 || (nb % 4 == 0 && nb / 4 >= n && nb / 4 < INT32_MAX);
}

/* Rows of n floats, each 16-byte aligned if there are others. */
static void
set_operand(struct operand *o, const struct view *v, bool by_k)
{
    int along = by_k ? 1 : 0; /* the dimension of rows */

    o->data = v->data;
    o->by_k = by_k;
    o->ld = v->ne[along] == 1 ? v->ne[1 - along] : v->nb[along] / 4;
    o->nb[0] = v->nb[2];
    o->nb[1] = v->nb[3];
}

/* Uses v in place, if it is made of rows of floats, whichever way. */
static bool
use_in_place(struct operand *o, const struct view *v)
{
    if (v->type != GGML_TYPE_F32)
        return false;
    if (v->nb[0] == 4 && is_row_stride(v->nb[1], v->ne[1], v->ne[0])) {
        set_operand(o, v, true);
        return true;
    }
    if (v->nb[1] == 4 && is_row_stride(v->nb[0], v->ne[0], v->ne[1])) {
        set_operand(o, v, false);
        return true;
    }
    return false;
}

/* All of b as floats; false: there is no memory. */
static bool
find_b(struct cuda_ctx *c, const struct ggml_tensor *b, struct operand *o)
{
    struct view from = cuda_view_of(b), to = from;
    int64_t size = 4;

    if (use_in_place(o, &from))
        return true;
    to.type = GGML_TYPE_F32;
    to.data = (char *)cuda_scratch(c, (size_t)ggml_nelements(b) * 4);
    for (int i = 0; i < 4; i++) {
        to.nb[i] = size;
        size *= to.ne[i];
    }
    if (!to.data)
        return false;
    cuda_dequantize_rows(c, &to, &from, NULL);
    return use_in_place(o, &to);
}

/* a in place, or memory for `each` of its rows. */
static bool
find_a(struct cuda_ctx *c, const struct view *a, int64_t each,
       struct operand *o)
{
    if (use_in_place(o, a) && o->by_k)
        return true;
    o->view = a;
    o->by_k = true;
    o->ld = a->ne[0];
    o->nb[0] = o->nb[1] = 0;
    o->data = (char *)cuda_scratch(c, (size_t)(each * a->ne[0]) * 4);
    return o->data != NULL;
}

/* Rows `first` to first + n of a matrix of a, to the scratch memory. */
static void
dequantize_part(struct cuda_ctx *c, const struct operand *o, int64_t i2,
                int64_t i3, int64_t first, int64_t n)
{
    struct view from = *o->view, to = from;

    from.data += i2 * from.nb[2] + i3 * from.nb[3] + first * from.nb[1];
    from.ne[1] = to.ne[1] = n;
    from.ne[2] = from.ne[3] = to.ne[2] = to.ne[3] = 1;
    to.data = (char *)o->data;
    to.type = GGML_TYPE_F32;
    to.nb[0] = 4;
    to.nb[1] = 4 * to.ne[0];
    cuda_dequantize_rows(c, &to, &from, NULL);
}

/* One matrix of a, times all of b that it goes with. */
static void
multiply_matrix(struct cuda_ctx *c, struct cuda_gemm *g,
                const struct operand *a, int64_t i2, int64_t i3, int64_t k,
                int64_t each)
{
    const float *b = (const float *)g->b;
    int64_t b_step = g->b_by_k ? g->ld_b : 1;

    g->a = a->data + i2 * a->nb[0] + i3 * a->nb[1];
    if (!a->view) {
        g->k = (int)k;
        cuda_gemm(c, g);
        return;
    }
    for (int64_t first = 0; first < k; first += each) {
        int64_t n = k - first < each ? k - first : each;

        dequantize_part(c, a, i2, i3, first, n);
        g->k = (int)n;
        g->b = b + first * b_step;
        g->add = first > 0;
        cuda_gemm(c, g);
    }
}

bool
cuda_supports_out_prod(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];

    return cuda_is_f32(dst) &&
           is_row_stride((int64_t)dst->nb[1], dst->ne[1], dst->ne[0]) &&
           (cuda_is_float_type(a->type) || cuda_is_format(a->type)) &&
           a->nb[0] == ggml_type_size(a->type) && cuda_is_float_type(b->type) &&
           a->ne[1] > 0 && a->ne[0] < INT32_MAX && a->ne[1] < INT32_MAX &&
           b->ne[0] < INT32_MAX && b->ne[2] < INT32_MAX;
}

/* Matrices of b that share one of a are a batch; or all, where each has its
 * own, in place. */
void
cuda_run_out_prod(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct view a = cuda_view_of(x), y = cuda_view_of(dst);
    int64_t r2 = y.ne[2] / a.ne[2], r3 = y.ne[3] / a.ne[3];
    int64_t each =
        cuda_dequantized_rows(a.ne[0], a.ne[1], c->dequantized_bytes);
    struct operand of_a = {}, of_b = {};
    struct cuda_gemm g = {};

    if (ggml_is_empty(dst) || !find_a(c, &a, each, &of_a) ||
        !find_b(c, dst->src[1], &of_b))
        return;
    g.type = GGML_TYPE_F32;
    g.m = (int)y.ne[0];
    g.n = (int)y.ne[1];
    g.a_by_k = true;
    g.b_by_k = of_b.by_k;
    g.ld_a = of_a.ld;
    g.ld_b = of_b.ld;
    g.ld_c = y.ne[1] == 1 ? y.ne[0] : y.nb[1] / 4;
    g.n_batch = (int)(r2 > 1 || of_a.view ? r2 : y.ne[2]);
    g.stride_a = r2 > 1 ? 0 : of_a.nb[0] / 4;
    g.stride_b = of_b.nb[0] / 4;
    g.stride_c = y.nb[2] / 4;
    for (int64_t i3 = 0; i3 < y.ne[3]; i3++)
        for (int64_t i2 = 0; i2 < y.ne[2]; i2 += g.n_batch) {
            g.b = of_b.data + i2 * of_b.nb[0] + i3 * of_b.nb[1];
            g.c = (float *)(void *)(y.data + i2 * y.nb[2] + i3 * y.nb[3]);
            multiply_matrix(c, &g, &of_a, i2 / r2, i3 / r3, a.ne[1], each);
        }
}
