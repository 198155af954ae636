/* norm.cu - NORM, RMS_NORM, with a sum before and a scale behind; SUM_ROWS
 *
 * A block a row. The order of the sums is given by the length of the row. Rows
 * of floats that lie as usual are held in registers, others read again. */
#include "cuda/also.h"
#include "cuda/norm.h"
#include "cuda/view.h"

struct parts {
    float eps;
    bool rms, add, mul, bias;
    struct view x, other, sum; /* sum = x + other, if `add` */
    struct view weight, shift, y;
};

/* A row, which is read each time it is wanted. */
struct input {
    const char *from; /* rows of x, or of sum when that was made */
    const struct view *view;
    int64_t n;
};

/* x + other, stored: each thread reads what it wrote itself. */
DEVICE void
add_up(const struct parts *p, struct row r, int64_t n)
{
    char *to = row_data(&p->sum, r);
    const char *a = row_data(&p->x, r);
    const char *b = row_data(&p->other, row_wrap(&p->other, r));

    for (int64_t i = thread_id(); i < n; i += block_size()) {
        float v = load_element(&p->other, b, modulo(i, p->other.ne[0]));

        store_element(&p->sum, to, i, load_element(&p->x, a, i) + v);
    }
}

DEVICE struct input
begin_row(const struct parts *p, struct row r)
{
    struct input in;

    in.view = p->add ? &p->sum : &p->x;
    in.from = row_data(in.view, r);
    in.n = p->y.ne[0];
    if (p->add)
        add_up(p, r, in.n);
    return in;
}

/* The sum of (v - mean)^power over the row. */
template <int power>
DEVICE float
sum_powers(const struct input *in, float mean, float *room)
{
    float sum = 0;

    for (int64_t i = thread_id(); i < in->n; i += block_size()) {
        float v = load_element(in->view, in->from, i) - mean;

        sum += power == 2 ? v * v : v;
    }
    return block_sum(sum, room);
}

/* Element i of the result, from what was normalised. */
DEVICE void
finish(const struct parts *p, char *to, const char *weight, const char *shift,
       int64_t i, float v)
{
    if (p->mul)
        v *= load_element(&p->weight, weight, modulo(i, p->weight.ne[0]));
    if (p->bias)
        v += load_element(&p->shift, shift, modulo(i, p->shift.ne[0]));
    store_element(&p->y, to, i, v);
}

DEVICE void
norm_row(const struct parts *p, struct row r, float *room)
{
    struct input in = begin_row(p, r);
    char *to = row_data(&p->y, r);
    const char *weight = row_data(&p->weight, row_wrap(&p->weight, r));
    const char *shift = row_data(&p->shift, row_wrap(&p->shift, r));
    float mean = 0, s;

    if (!p->rms)
        mean = sum_powers<1>(&in, 0, room) / (float)in.n;
    s = 1 / sqrtf(sum_powers<2>(&in, mean, room) / (float)in.n + p->eps);
    for (int64_t i = thread_id(); i < in.n; i += block_size())
        finish(p, to, weight, shift, i,
               (load_element(in.view, in.from, i) - mean) * s);
}

KERNEL
BOUNDS(CUDA_MOST_THREADS, 1)
norm(struct parts p, int64_t n_rows)
{
    SHARED(float, room, LANES);

    take_turn();
    for (int64_t i = block_id(); i < n_rows; i += grid_size())
        norm_row(&p, row_at(&p.y, i), room);
}

#define HELD 8 /* most elements of a row that a thread keeps in registers */

/* Rows of floats that lie as they are named, of n values each: all is asked
 * for at once. */
struct plain {
    const float *x, *other, *weight, *shift; /* NULL: none */
    float *sum, *y;
    int64_t n;
    float eps;
    bool rms, early; /* no launch before writes weight and shift */
    struct cuda_also also;
};

/* The block's values of a row, those beyond its end 0; `held` of a thread. */
template <int held>
DEVICE void
load_row(const float *row, int n, float *v)
{
    UNROLL for (int j = 0; j < held; j++)
    {
        int i = (int)(thread_id() + j * block_size());

        v[j] = row && i < n ? row[i] : 0;
    }
}

template <int held>
DEVICE float
sum_held(const float *v, int n, float mean, bool square, float *room)
{
    float sum = 0;

    UNROLL for (int j = 0; j < held; j++)
    {
        float d = v[j] - mean;

        if ((int)(thread_id() + j * block_size()) < n)
            sum += square ? d * d : d;
    }
    return block_sum(sum, room);
}

template <int held>
KERNEL
BOUNDS(CUDA_MOST_THREADS, 1) norm_plain(struct plain p, int64_t n_rows)
{
    SHARED(float, room, LANES);
    float weight[held], shift[held];
    int n = (int)p.n;

    if (!p.early)
        take_turn();
    load_row<held>(p.weight, n, weight);
    load_row<held>(p.shift, n, shift);
    if (p.early)
        take_turn();
    for (int64_t row = block_id(); row < n_rows; row += grid_size()) {
        float v[held], more[held], mean = 0, s;

        load_row<held>(p.x + row * p.n, n, v);
        load_row<held>(p.other ? p.other + row * p.n : NULL, n, more);
        UNROLL for (int j = 0; j < held; j++) v[j] += more[j];
        if (!p.rms)
            mean = sum_held<held>(v, n, 0, false, room) / (float)n;
        s = 1 /
            sqrtf(sum_held<held>(v, n, mean, true, room) / (float)n + p.eps);
        UNROLL for (int j = 0; j < held; j++)
        {
            int i = (int)(thread_id() + j * block_size());
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
            store_also(&p.also, at, y);
        }
    }
}

/* No more registers and steps than a thread has values. */
static void
launch_plain(struct cuda_ctx *c, const struct plain *p, unsigned threads,
             int64_t n_rows)
{
    struct cuda_shape shape = shape_of(n_rows, threads);

    if (p->n <= 2 * (int64_t)threads)
        LAUNCH(norm_plain<2>, shape, c, *p, n_rows);
    else if (p->n <= 4 * (int64_t)threads)
        LAUNCH(norm_plain<4>, shape, c, *p, n_rows);
    else
        LAUNCH(norm_plain<HELD>, shape, c, *p, n_rows);
}

/* What is added to or multiplied with `from` in `node`. */
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

/* NULL, or floats in one piece: a row for all, or `all` of the shape of y. */
static bool
is_plain(const struct ggml_tensor *t, const struct ggml_tensor *y, bool all)
{
    return !t || (t->type == GGML_TYPE_F32 && ggml_is_contiguous(t) &&
                  t->ne[0] == y->ne[0] &&
                  (all ? ggml_are_same_shape(t, y) : ggml_nrows(t) == 1));
}

static bool
run_plain(struct cuda_ctx *c, const struct cuda_norm *n,
          const struct ggml_tensor *y, const struct ggml_tensor *weight,
          const struct ggml_tensor *shift)
{
    const struct ggml_tensor *x = n->add ? n->add->src[0] : n->norm->src[0];
    const struct ggml_tensor *other = n->add ? n->add->src[1] : NULL;
    unsigned threads = cuda_norm_threads(y->ne[0]);
    struct plain p = {};

    if (y->ne[0] > (int64_t)HELD * threads || !is_plain(y, y, true) ||
        !is_plain(x, y, true) || !is_plain(other, y, true) ||
        !is_plain(n->add, y, true) || !is_plain(weight, y, false) ||
        !is_plain(shift, y, false))
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
    p.early = is_constant(weight) && is_constant(shift);
    p.also = cuda_also_for(c, y, n->next, true);
    launch_plain(c, &p, threads, ggml_nrows(y));
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
    struct parts p = {};

    if (ggml_is_empty(last) || run_plain(c, n, last, weight, shift))
        return;
    p.eps = tensor_get_f32(n->norm, 0);
    p.rms = n->norm->op == GGML_OP_RMS_NORM;
    p.add = n->add != NULL;
    p.mul = n->mul != NULL;
    p.bias = n->bias != NULL;
    p.y = view_of(last);
    p.x = view_of(n->add ? n->add->src[0] : n->norm->src[0]);
    p.other = p.sum = p.x;
    if (n->add) {
        p.other = view_of(n->add->src[1]);
        p.sum = view_of(n->add);
    }
    p.weight = p.mul ? view_of(weight) : p.x;
    p.shift = p.bias ? view_of(shift) : p.x;
    LAUNCH(norm, shape_of(ggml_nrows(last), cuda_row_threads(last->ne[0])), c,
           p, ggml_nrows(last));
}

bool
cuda_supports_norm(const struct ggml_tensor *dst)
{
    return is_float_type(dst->type) && is_float_type(dst->src[0]->type);
}

void
cuda_run_norm(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct cuda_norm n = { NULL, dst, NULL, NULL, NULL };

    cuda_run_norms(c, &n);
}

KERNEL
BOUNDS(CUDA_MOST_THREADS, 1)
sum_rows(struct view y, struct view x, int64_t n_rows)
{
    SHARED(float, room, LANES);

    take_turn();
    for (int64_t k = block_id(); k < n_rows; k += grid_size()) {
        struct row r = row_at(&x, k);
        const char *from = row_data(&x, r);
        float sum = 0;

        for (int64_t i = thread_id(); i < x.ne[0]; i += block_size())
            sum += load_element(&x, from, i);
        sum = block_sum(sum, room);
        if (thread_id() == 0)
            store_element(&y, row_data(&y, r), 0, sum);
    }
}

bool
cuda_supports_sum_rows(const struct ggml_tensor *dst)
{
    return cuda_supports_norm(dst);
}

void
cuda_run_sum_rows(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];

    if (!ggml_is_empty(dst))
        LAUNCH(sum_rows, shape_of(ggml_nrows(x), cuda_row_threads(x->ne[0])), c,
               view_of(dst), view_of(x), ggml_nrows(x));
}
