/* loss.c - CROSS_ENTROPY_LOSS and its gradient, COUNT_EQUAL */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* ---- CROSS_ENTROPY_LOSS ---------------------------------------------------
 */

static size_t
size_of_losses(const struct ggml_tensor *dst)
{
    return cpu_pad((size_t)ggml_nrows(dst->src[0]) * sizeof(double));
}

/* The loss of each row, and exponentials of a row for each thread. */
static size_t
loss_work_size(const struct ggml_tensor *dst, int n_threads,
               const struct cpu_kernels *k)
{
    (void)k;
    return size_of_losses(dst) +
           cpu_pad((size_t)dst->src[0]->ne[0] * sizeof(float)) *
               (size_t)n_threads;
}

static const float *
plain_row(const struct ggml_tensor *x, int64_t i)
{
    return (const float *)(void *)cpu_row_data(x, cpu_row_at(x, i));
}

/* -sum(labels log softmax(x)); a logit that has no label may be infinite. */
static double
loss_of_row(const struct cpu_task *t, int64_t n, const float *x,
            const float *labels, float *e)
{
    float max = t->k->max(n, x);
    double log_sum = (double)max + log((double)t->k->exp_sum(n, e, x, max));
    double loss = 0;

    for (int64_t i = 0; i < n; i++)
        if (labels[i] != 0)
            loss += (double)labels[i] * (log_sum - (double)x[i]);
    return loss;
}

static void
loss_prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(x));
    size_t each = cpu_pad((size_t)x->ne[0] * sizeof(float));
    double *losses = (double *)(void *)t->work;
    float *e = (float *)(void *)(t->work + size_of_losses(dst) +
                                 each * (size_t)t->thread);

    for (int64_t i = rows.first; i < rows.end; i++)
        losses[i] = loss_of_row(t, x->ne[0], plain_row(x, i),
                                plain_row(dst->src[1], i), e);
}

static int
loss_prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t rows = ggml_nrows(dst->src[0]);

    return (int)(rows < 4 * n_threads ? rows : 4 * n_threads);
}

/* In the order of rows, whoever computed them. */
static void
loss_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const double *losses = (const double *)(const void *)t->work;
    int64_t n = ggml_nrows(dst->src[0]);
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += losses[i];
    *(float *)dst->data = (float)(sum / (double)n);
}

static int
one_piece(const struct ggml_tensor *dst, int n_threads)
{
    (void)dst;
    (void)n_threads;
    return 1;
}

static int64_t
loss_cost(const struct ggml_tensor *dst)
{
    return cpu_cost_exp(dst->src[0]);
}

static bool
loss_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           cpu_is_plain(dst->src[1]) && ggml_nelements(dst->src[0]) > 0;
}

const struct cpu_op cpu_op_cross_entropy_loss = { .compute = loss_compute,
                                                  .supports = loss_supports,
                                                  .cost = loss_cost,
                                                  .pieces = one_piece,
                                                  .work_size = loss_work_size,
                                                  .prepare = loss_prepare,
                                                  .prepare_pieces =
                                                      loss_prepare_pieces };

/* ---- CROSS_ENTROPY_LOSS_BACK ----------------------------------------------
 */

/* (sum of labels) softmax - labels, times the gradient of a row's loss. A row
 * without labels has none. */
static void
back_row(const struct cpu_task *t, int64_t n, float *y, const float *x,
         const float *labels, float g)
{
    float all = t->k->sum(n, labels), max = t->k->max(n, x);
    float s = g * all / t->k->exp_sum(n, y, x, max);

    for (int64_t i = 0; i < n; i++)
        y[i] = y[i] * s - labels[i] * g;
}

static void
back_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1], *labels = dst->src[2];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    float g = *(const float *)dst->src[0]->data / (float)ggml_nrows(dst);

    for (int64_t i = rows.first; i < rows.end; i++)
        back_row(t, dst->ne[0],
                 (float *)(void *)cpu_row_data(dst, cpu_row_at(dst, i)),
                 plain_row(x, i), plain_row(labels, i), g);
}

static bool
back_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && dst->src[0]->type == GGML_TYPE_F32 &&
           cpu_is_plain(dst->src[1]) && cpu_is_plain(dst->src[2]);
}

const struct cpu_op cpu_op_cross_entropy_loss_back = {
    .compute = back_compute, .supports = back_supports, .cost = cpu_cost_exp
};

/* ---- COUNT_EQUAL ----------------------------------------------------------
 */

#define COUNT_PIECE 4096 /* elements, at least */

static int
count_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = ggml_nelements(dst->src[0]) / COUNT_PIECE + 1;

    return (int)(n < n_threads ? n : n_threads);
}

/* A count for each piece, on a cache line of its own. */
static size_t
count_work_size(const struct ggml_tensor *dst, int n_threads,
                const struct cpu_kernels *k)
{
    (void)k;
    return (size_t)count_pieces(dst, n_threads) * CPU_LINE;
}

static int64_t *
count_of_piece(const struct cpu_task *t, int i)
{
    return (int64_t *)(void *)(t->work + (size_t)i * CPU_LINE);
}

/* Elements [first, end) of a row. */
static int64_t
count_row(const struct ggml_tensor *dst, int64_t row, struct cpu_range r)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    const char *x = cpu_row_data(a, cpu_row_at(a, row));
    const char *y = cpu_row_data(b, cpu_row_at(b, row));
    int64_t n = 0;

    for (int64_t i = r.first; i < r.end; i++)
        n += *(const int32_t *)(const void *)(x + (size_t)i * a->nb[0]) ==
             *(const int32_t *)(const void *)(y + (size_t)i * b->nb[0]);
    return n;
}

static void
count_prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0];
    struct cpu_range all = cpu_share(t, ggml_nelements(a));
    int64_t n = 0;

    for (int64_t i = all.first; i < all.end;) {
        int64_t row = i / a->ne[0], at = i % a->ne[0];
        int64_t left = all.end - i;
        int64_t end = a->ne[0] - at < left ? a->ne[0] : at + left;

        n += count_row(dst, row, (struct cpu_range){ at, end });
        i += end - at;
    }
    *count_of_piece(t, t->ith) = n;
}

static void
count_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    int n_pieces = count_pieces(dst, t->n_threads);
    int64_t n = 0;

    for (int i = 0; i < n_pieces; i++)
        n += *count_of_piece(t, i);
    *(int64_t *)dst->data = n;
}

static int64_t
count_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 2;
}

static bool
count_supports(const struct ggml_tensor *dst)
{
    return dst->type == GGML_TYPE_I64 && dst->src[0]->type == GGML_TYPE_I32 &&
           dst->src[1]->type == GGML_TYPE_I32;
}

const struct cpu_op cpu_op_count_equal = { .compute = count_compute,
                                           .supports = count_supports,
                                           .cost = count_cost,
                                           .pieces = one_piece,
                                           .work_size = count_work_size,
                                           .prepare = count_prepare,
                                           .prepare_pieces = count_pieces };
