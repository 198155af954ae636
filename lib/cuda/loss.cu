/* loss.cu - CROSS_ENTROPY_LOSS and its gradient
 *
 * A block a row of logits, which is read again in each pass. */
#include "cuda/sums.h"

struct logits {
    struct view x, labels;
};

/* A row's largest logit, and the sum of exp(x - that). */
struct peak {
    float most, sum;
};

DEVICE struct peak
peak_of(const struct view *x, const char *row, float *scratch)
{
    struct peak p = { -INFINITY, 0 };

    for (int64_t i = cuda_thread_id(); i < x->ne[0]; i += cuda_block_size())
        p.most = fmaxf(p.most, cuda_load_element(x, row, i));
    p.most = cuda_block_max(p.most, scratch);
    for (int64_t i = cuda_thread_id(); i < x->ne[0]; i += cuda_block_size())
        p.sum += expf(cuda_load_element(x, row, i) - p.most);
    p.sum = cuda_block_sum(p.sum, scratch);
    return p;
}

/* -sum(labels log softmax(x)), in double; a logit that has no label may be
 * infinite. */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
cross_entropy(struct logits p, double *losses, int64_t n_rows)
{
    SHARED(float, scratch, LANES);
    SHARED(double, sums, LANES);

    cuda_grid_dependency_sync();
    for (int64_t k = cuda_block_id(); k < n_rows; k += cuda_grid_size()) {
        struct row r = cuda_row_at(&p.x, k);
        const char *x = cuda_row_data(&p.x, r);
        const char *labels = cuda_row_data(&p.labels, r);
        struct peak peak = peak_of(&p.x, x, scratch);
        double log_sum = (double)peak.most + log((double)peak.sum), loss = 0;

        for (int64_t i = cuda_thread_id(); i < p.x.ne[0];
             i += cuda_block_size()) {
            float label = cuda_load_element(&p.labels, labels, i);

            if (label != 0)
                loss += (double)label *
                        (log_sum - (double)cuda_load_element(&p.x, x, i));
        }
        loss = cuda_block_sum(loss, sums);
        if (cuda_thread_id() == 0)
            losses[k] = loss;
    }
}

bool
cuda_supports_cross_entropy(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           cuda_is_float_type(dst->src[1]->type) &&
           ggml_nelements(dst->src[0]) > 0;
}

void
cuda_run_cross_entropy(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct logits p = { cuda_view_of(x), cuda_view_of(dst->src[1]) };
    struct view y = cuda_view_of(dst);
    int64_t n = ggml_nrows(x);
    double *losses = (double *)cuda_scratch(c, (size_t)n * sizeof(*losses));

    if (!losses)
        return;
    LAUNCH(cross_entropy, cuda_default_launch(n, cuda_row_threads(x->ne[0])), c,
           p, losses, n);
    cuda_store_sum(c, losses, n, (double)n, &y);
}

/* (sum of labels) softmax - labels, times the gradient of a row's loss. A row
 * without labels has none. */
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
cross_entropy_back(struct view y, struct logits p, const float *grad,
                   int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t k = cuda_block_id(); k < n_rows; k += cuda_grid_size()) {
        struct row r = cuda_row_at(&y, k);
        const char *x = cuda_row_data(&p.x, r);
        const char *labels = cuda_row_data(&p.labels, r);
        struct peak peak = peak_of(&p.x, x, scratch);
        float g = *grad / (float)n_rows, all = 0, s;

        for (int64_t i = cuda_thread_id(); i < y.ne[0]; i += cuda_block_size())
            all += cuda_load_element(&p.labels, labels, i);
        s = g * cuda_block_sum(all, scratch) / peak.sum;
        for (int64_t i = cuda_thread_id(); i < y.ne[0]; i += cuda_block_size())
            cuda_store_element(&y, cuda_row_data(&y, r), i,
                               expf(cuda_load_element(&p.x, x, i) - peak.most) *
                                       s -
                                   cuda_load_element(&p.labels, labels, i) * g);
    }
}

bool
cuda_supports_cross_entropy_back(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) && cuda_is_f32(dst->src[0]) &&
           cuda_is_float_type(dst->src[1]->type) &&
           cuda_is_float_type(dst->src[2]->type);
}

void
cuda_run_cross_entropy_back(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct logits p = { cuda_view_of(dst->src[1]), cuda_view_of(dst->src[2]) };
    int64_t n = ggml_nrows(dst);

    if (!ggml_is_empty(dst))
        LAUNCH(cross_entropy_back,
               cuda_default_launch(n, cuda_row_threads(dst->ne[0])), c,
               cuda_view_of(dst), p, (const float *)dst->src[0]->data, n);
}
