/* softmax.cu - SOFT_MAX with mask, ALiBi and sinks; DIAG_MASK_INF,
 * DIAG_MASK_ZERO
 *
 * A block a row, in three passes over the row in dst. */
#include "cuda/attention_scores.h"
#include "cuda/tensor_view.h"

struct soft {
    float scale, max_bias;
    bool mask, sinks;
    struct view x, m, s, y;
};

/* y = x * scale + slope * mask; masked elements do not count, even if they are
 * non-finite. Returns the thread's maximum, which is no less than LEAST_SCORE
 * where there is a NaN. */
DEVICE float
score_row(const struct soft *p, struct row r, char *to)
{
    const char *from = cuda_row_data(&p->x, r);
    const char *mask = cuda_row_data(&p->m, cuda_row_wrap(&p->m, r));
    float slope = cuda_alibi_slope(r.i2, p->y.ne[2], p->max_bias);
    float most = -INFINITY;

    for (int64_t i = cuda_thread_id(); i < p->y.ne[0]; i += cuda_block_size()) {
        float v = cuda_load_element(&p->x, from, i) * p->scale;

        if (p->mask)
            v = cuda_add_mask(v, cuda_load_element(&p->m, mask, i), slope);
        cuda_store_element(&p->y, to, i, v);
        most = fmaxf(most, v == v ? v : LEAST_SCORE);
    }
    return most;
}

/* A row that is masked throughout becomes zero. The sink, a score of no
 * element, adds to the sum. */
DEVICE void
soft_max_row(const struct soft *p, struct row r, float *scratch)
{
    char *to = cuda_row_data(&p->y, r);
    float most = cuda_block_max(score_row(p, r, to), scratch), sum = 0,
          factor = 0;
    float sink =
        p->sinks ? cuda_load_element(&p->s, p->s.data, r.i2) : -INFINITY;
    bool any = most != -INFINITY;

    most = fmaxf(most, sink);
    for (int64_t i = cuda_thread_id(); i < p->y.ne[0] && any;
         i += cuda_block_size()) {
        float v = expf(cuda_load_element(&p->y, to, i) - most);

        cuda_store_element(&p->y, to, i, v);
        sum += v;
    }
    sum = cuda_block_sum(sum, scratch);
    if (any)
        factor = most > LEAST_SCORE ? 1 / (sum + expf(sink - most)) : NAN;
    for (int64_t i = cuda_thread_id(); i < p->y.ne[0]; i += cuda_block_size())
        cuda_store_element(&p->y, to, i,
                           any ? cuda_load_element(&p->y, to, i) * factor : 0);
}

KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
soft_max(struct soft p, int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id(); i < n_rows; i += cuda_grid_size())
        soft_max_row(&p, cuda_row_at(&p.y, i), scratch);
}

bool
cuda_supports_soft_max(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *mask = dst->src[1];

    return cuda_is_f32(dst) && cuda_is_float_type(dst->src[0]->type) &&
           (!mask || cuda_is_float_type(mask->type)) &&
           (!dst->src[2] || cuda_is_f32(dst->src[2]));
}

void
cuda_run_soft_max(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct soft p = {};

    p.scale = tensor_get_f32(dst, 0);
    p.max_bias = tensor_get_f32(dst, 1);
    p.mask = dst->src[1] != NULL;
    p.sinks = dst->src[2] != NULL;
    p.y = cuda_view_of(dst);
    p.x = cuda_view_of(dst->src[0]);
    p.m = p.mask ? cuda_view_of(dst->src[1]) : p.x;
    p.s = p.sinks ? cuda_view_of(dst->src[2]) : p.x;
    if (!ggml_is_empty(dst))
        LAUNCH(
            soft_max,
            cuda_default_launch(ggml_nrows(dst), cuda_row_threads(dst->ne[0])),
            c, p, ggml_nrows(dst));
}

/* Row i of each matrix keeps its first n_past + i + 1 elements. */
KERNEL
diag_mask(struct view y, struct view x, int64_t past, float masked, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    cuda_store_element(&y, cuda_row_data(&y, c.row), i,
                       i <= past + c.row.i1
                           ? cuda_load_element(&x, cuda_row_data(&x, c.row), i)
                           : masked);
}

bool
cuda_supports_diag_mask(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) && tensor_get_i32(dst, 0) >= 0;
}

void
cuda_run_diag_mask(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(diag_mask, cuda_default_launch(n, CUDA_THREADS), c,
               cuda_view_of(dst), cuda_view_of(dst->src[0]),
               (int64_t)tensor_get_i32(dst, 0),
               dst->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0, n);
}
