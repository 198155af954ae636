/* norm.cu - NORM, RMS_NORM, L2_NORM, fused with a residual sum, scale and bias
 *
 * A block a row. The order of the sums depends on the length of the row alone.
 * Contiguous rows of floats are kept in registers, others are read again. */
#include "cuda/fused_output.h"
#include "cuda/norm.h"
#include "cuda/tensor_view.h"

struct norm_args {
    float eps;
    bool rms, l2, add, mul, bias;
    struct view x, other, sum; /* sum = x + other, if `add` */
    struct view weight, shift, y;
};

/* A row, which is read again in each pass. */
struct input {
    const char *from; /* rows of x, or of sum once it is stored */
    const struct view *view;
    int64_t n;
};

/* x + other, stored: each thread reads what it wrote itself. */
DEVICE void
add_up(const struct norm_args *p, struct row r, int64_t n)
{
    char *to = cuda_row_data(&p->sum, r);
    const char *a = cuda_row_data(&p->x, r);
    const char *b = cuda_row_data(&p->other, cuda_row_wrap(&p->other, r));

    for (int64_t i = cuda_thread_id(); i < n; i += cuda_block_size()) {
        float v =
            cuda_load_element(&p->other, b, cuda_modulo(i, p->other.ne[0]));

        cuda_store_element(&p->sum, to, i, cuda_load_element(&p->x, a, i) + v);
    }
}

DEVICE struct input
begin_row(const struct norm_args *p, struct row r)
{
    struct input in;

    in.view = p->add ? &p->sum : &p->x;
    in.from = cuda_row_data(in.view, r);
    in.n = p->y.ne[0];
    if (p->add)
        add_up(p, r, in.n);
    return in;
}

/* The sum of (v - mean)^power over the row. */
template <int power>
DEVICE float
sum_powers(const struct input *in, float mean, float *scratch)
{
    float sum = 0;

    for (int64_t i = cuda_thread_id(); i < in->n; i += cuda_block_size()) {
        float v = cuda_load_element(in->view, in->from, i) - mean;

        sum += power == 2 ? v * v : v;
    }
    return cuda_block_sum(sum, scratch);
}

/* Element i of the result, from what was normalised. */
DEVICE void
store_normalized(const struct norm_args *p, char *to, const char *weight,
                 const char *shift, int64_t i, float v)
{
    if (p->mul)
        v *= cuda_load_element(&p->weight, weight,
                               cuda_modulo(i, p->weight.ne[0]));
    if (p->bias)
        v +=
            cuda_load_element(&p->shift, shift, cuda_modulo(i, p->shift.ne[0]));
    cuda_store_element(&p->y, to, i, v);
}

/* The factor that a row is multiplied with. */
DEVICE float
scale_of_row(const struct norm_args *p, const struct input *in, float mean,
             float *scratch)
{
    float squares = sum_powers<2>(in, mean, scratch), length = sqrtf(squares);

    return p->l2 ? 1 / (length < p->eps ? p->eps : length)
                 : 1 / sqrtf(squares / (float)in->n + p->eps);
}

DEVICE void
norm_row(const struct norm_args *p, struct row r, float *scratch)
{
    struct input in = begin_row(p, r);
    char *to = cuda_row_data(&p->y, r);
    const char *weight =
        cuda_row_data(&p->weight, cuda_row_wrap(&p->weight, r));
    const char *shift = cuda_row_data(&p->shift, cuda_row_wrap(&p->shift, r));
    float mean = 0, s;

    if (!p->rms && !p->l2)
        mean = sum_powers<1>(&in, 0, scratch) / (float)in.n;
    s = scale_of_row(p, &in, mean, scratch);
    for (int64_t i = cuda_thread_id(); i < in.n; i += cuda_block_size())
        store_normalized(p, to, weight, shift, i,
                         (cuda_load_element(in.view, in.from, i) - mean) * s);
}

KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
norm(struct norm_args p, int64_t n_rows)
{
    SHARED(float, scratch, LANES);

    cuda_grid_dependency_sync();
    for (int64_t i = cuda_block_id(); i < n_rows; i += cuda_grid_size())
        norm_row(&p, cuda_row_at(&p.y, i), scratch);
}

#define MAX_PER_THREAD 8 /* elements of a row in a thread's registers */

/* Contiguous rows of n floats each: all loads are issued at once. */
struct contiguous_args {
    const float *x, *other, *weight, *shift; /* NULL: none */
    float *sum, *y;
    int64_t n;
    float eps;
    bool rms, constant_weights; /* no launch writes weight and shift */
    struct cuda_fused_output fused;
};

/* Loads a row to the block's registers, values beyond its end as 0. */
template <int per_thread>
DEVICE void
load_row(const float *row, int n, float *v)
{
    UNROLL for (int j = 0; j < per_thread; j++)
    {
        int i = (int)(cuda_thread_id() + j * cuda_block_size());

        v[j] = row && i < n ? row[i] : 0;
    }
}

template <int per_thread>
DEVICE float
sum_registers(const float *v, int n, float mean, bool square, float *scratch)
{
    float sum = 0;

    UNROLL for (int j = 0; j < per_thread; j++)
    {
        float d = v[j] - mean;

        if ((int)(cuda_thread_id() + j * cuda_block_size()) < n)
            sum += square ? d * d : d;
    }
    return cuda_block_sum(sum, scratch);
}

template <int per_thread>
KERNEL
BOUNDS(CUDA_MAX_THREADS, 1)
    norm_contiguous(struct contiguous_args p, int64_t n_rows)
{
    SHARED(float, scratch, LANES);
    float weight[per_thread], shift[per_thread];
    int n = (int)p.n;

    if (!p.constant_weights)
        cuda_grid_dependency_sync();
    load_row<per_thread>(p.weight, n, weight);
    load_row<per_thread>(p.shift, n, shift);
    if (p.constant_weights)
        cuda_grid_dependency_sync();
    for (int64_t row = cuda_block_id(); row < n_rows; row += cuda_grid_size()) {
        float v[per_thread], more[per_thread], mean = 0, s;

        load_row<per_thread>(p.x + row * p.n, n, v);
        load_row<per_thread>(p.other ? p.other + row * p.n : NULL, n, more);
        UNROLL for (int j = 0; j < per_thread; j++) v[j] += more[j];
        if (!p.rms)
            mean =
                sum_registers<per_thread>(v, n, 0, false, scratch) / (float)n;
        s = 1 / sqrtf(sum_registers<per_thread>(v, n, mean, true, scratch) /
                          (float)n +
                      p.eps);
        UNROLL for (int j = 0; j < per_thread; j++)
        {
            int i = (int)(cuda_thread_id() + j * cuda_block_size());
            int64_t at = row * p.n + i;
            float y = (v[j] - mean) * s;

            if (i >= n)
                break;
            if (p.other)
                p.sum[at] = v[j];
            if (p.weight)
                y *= weight[j];
            if (p.shift)
                y += shift[j];
            p.y[at] = y;
            cuda_store_fused_output(&p.fused, at, y);
        }
    }
}

/* No more registers and steps than a thread has values. */
static void
launch_contiguous(struct cuda_ctx *c, const struct contiguous_args *p,
                  unsigned threads, int64_t n_rows)
{
    struct cuda_launch_config config = cuda_default_launch(n_rows, threads);

    if (p->n <= 2 * (int64_t)threads)
        LAUNCH(norm_contiguous<2>, config, c, *p, n_rows);
    else if (p->n <= 4 * (int64_t)threads)
        LAUNCH(norm_contiguous<4>, config, c, *p, n_rows);
    else
        LAUNCH(norm_contiguous<MAX_PER_THREAD>, config, c, *p, n_rows);
}

/* The source that `node` adds to or multiplies with `from`. */
static const struct ggml_tensor *
other_source(const struct ggml_tensor *node, const struct ggml_tensor *from)
{
    return node->src[0] == from ? node->src[1] : node->src[0];
}

static const float *
floats_of(const struct ggml_tensor *t)
{
    return t ? (const float *)t->data : NULL;
}

/* NULL, or contiguous floats: one row for all, or, if `all`, of the shape of
 * y. */
static bool
is_contiguous_f32(const struct ggml_tensor *t, const struct ggml_tensor *y,
                  bool all)
{
    return !t || (t->type == GGML_TYPE_F32 && ggml_is_contiguous(t) &&
                  t->ne[0] == y->ne[0] &&
                  (all ? ggml_are_same_shape(t, y) : ggml_nrows(t) == 1));
}

static bool
run_contiguous(struct cuda_ctx *c, const struct cuda_norm *n,
               const struct ggml_tensor *y, const struct ggml_tensor *weight,
               const struct ggml_tensor *shift)
{
    const struct ggml_tensor *x = n->add ? n->add->src[0] : n->norm->src[0];
    const struct ggml_tensor *other = n->add ? n->add->src[1] : NULL;
    unsigned threads = cuda_norm_threads(y->ne[0]);
    struct contiguous_args p = {};

    if (n->norm->op == GGML_OP_L2_NORM ||
        y->ne[0] > (int64_t)MAX_PER_THREAD * threads ||
        !is_contiguous_f32(y, y, true) || !is_contiguous_f32(x, y, true) ||
        !is_contiguous_f32(other, y, true) ||
        !is_contiguous_f32(n->add, y, true) ||
        !is_contiguous_f32(weight, y, false) ||
        !is_contiguous_f32(shift, y, false))
        return false;
    p.x = floats_of(x);
    p.other = floats_of(other);
    p.weight = floats_of(weight);
    p.shift = floats_of(shift);
    p.sum = n->add ? (float *)n->add->data : NULL;
    p.y = (float *)y->data;
    p.n = y->ne[0];
    p.eps = tensor_get_f32(n->norm, 0);
    p.rms = n->norm->op == GGML_OP_RMS_NORM;
    p.constant_weights = cuda_is_constant(weight) && cuda_is_constant(shift);
    p.fused = cuda_plan_fused_output(c, y, n->next, true);
    launch_contiguous(c, &p, threads, ggml_nrows(y));
    return true;
}

void
cuda_run_norms(struct cuda_ctx *c, const struct cuda_norm *n)
{
    const struct ggml_tensor *last = n->bias  ? n->bias
                                     : n->mul ? n->mul
                                              : n->norm;
    const struct ggml_tensor *before = n->mul ? n->mul : n->norm;
    const struct ggml_tensor *weight =
        n->mul ? other_source(n->mul, n->norm) : NULL;
    const struct ggml_tensor *shift =
        n->bias ? other_source(n->bias, before) : NULL;
    struct norm_args p = {};

    if (ggml_is_empty(last) || run_contiguous(c, n, last, weight, shift))
        return;
    p.eps = tensor_get_f32(n->norm, 0);
    p.rms = n->norm->op == GGML_OP_RMS_NORM;
    p.l2 = n->norm->op == GGML_OP_L2_NORM;
    p.add = n->add != NULL;
    p.mul = n->mul != NULL;
    p.bias = n->bias != NULL;
    p.y = cuda_view_of(last);
    p.x = cuda_view_of(n->add ? n->add->src[0] : n->norm->src[0]);
    p.other = p.sum = p.x;
    if (n->add) {
        p.other = cuda_view_of(n->add->src[1]);
        p.sum = cuda_view_of(n->add);
    }
    p.weight = p.mul ? cuda_view_of(weight) : p.x;
    p.shift = p.bias ? cuda_view_of(shift) : p.x;
    LAUNCH(norm,
           cuda_default_launch(ggml_nrows(last), cuda_row_threads(last->ne[0])),
           c, p, ggml_nrows(last));
}

bool
cuda_supports_norm(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

void
cuda_run_norm(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct cuda_norm n = { NULL, dst, NULL, NULL, NULL };

    cuda_run_norms(c, &n);
}
