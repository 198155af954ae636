/* norm.cu - NORM, RMS_NORM, with a sum before and a scale behind; SUM_ROWS
 *
 * A block a row. The order of the sums is given by the length of the row. */
#include "cuda/norm.h"
#include "cuda/view.h"

struct parts {
    float eps;
    bool rms, add, mul, bias;
    struct view x, other, sum; /* sum = x + other, if `add` */
    struct view weight, shift, y;
};

/* Element i of what is normalised, after it was made. */
DEVICE float
load_input(const struct parts *p, struct row r, int64_t i)
{
    return p->add ? load_element(&p->sum, row_data(&p->sum, r), i)
                  : load_element(&p->x, row_data(&p->x, r), i);
}

/* This thread's elements of x + other. */
DEVICE void
add_up(const struct parts *p, struct row r)
{
    char *to = row_data(&p->sum, r);
    const char *a = row_data(&p->x, r);
    const char *b = row_data(&p->other, row_wrap(&p->other, r));

    for (int64_t i = thread_id(); i < p->y.ne[0]; i += block_size())
        store_element(&p->sum, to, i,
                      load_element(&p->x, a, i) +
                          load_element(&p->other, b,
                                       modulo(i, p->other.ne[0])));
}

DEVICE float
sum_of_squares(const struct parts *p, struct row r, float mean, float *room)
{
    float sum = 0;

    for (int64_t i = thread_id(); i < p->y.ne[0]; i += block_size()) {
        float v = load_input(p, r, i) - mean;

        sum += v * v;
    }
    return block_sum(sum, room);
}

DEVICE float
mean_of(const struct parts *p, struct row r, float *room)
{
    float sum = 0;

    for (int64_t i = thread_id(); i < p->y.ne[0]; i += block_size())
        sum += load_input(p, r, i);
    return block_sum(sum, room) / (float)p->y.ne[0];
}

DEVICE void
norm_row(const struct parts *p, struct row r, float *room)
{
    char *to = row_data(&p->y, r);
    const char *weight = row_data(&p->weight, row_wrap(&p->weight, r));
    const char *shift = row_data(&p->shift, row_wrap(&p->shift, r));
    float mean = 0, s;

    if (p->add)
        add_up(p, r); /* each thread reads what it wrote itself */
    if (!p->rms)
        mean = mean_of(p, r, room);
    s = 1 / sqrtf(sum_of_squares(p, r, mean, room) / (float)p->y.ne[0] +
                  p->eps);
    for (int64_t i = thread_id(); i < p->y.ne[0]; i += block_size()) {
        float v = (load_input(p, r, i) - mean) * s;

        if (p->mul)
            v *= load_element(&p->weight, weight, modulo(i, p->weight.ne[0]));
        if (p->bias)
            v += load_element(&p->shift, shift, modulo(i, p->shift.ne[0]));
        store_element(&p->y, to, i, v);
    }
}

KERNEL
norm(struct parts p, int64_t n_rows)
{
    SHARED(float, room, LANES);

    for (int64_t i = block_id(); i < n_rows; i += grid_size())
        norm_row(&p, row_at(&p.y, i), room);
}

/* What is added to or multiplied with `from` in `node`. */
static const struct ggml_tensor *
other_source(const struct ggml_tensor *node, const struct ggml_tensor *from)
{
    return node->src[0] == from ? node->src[1] : node->src[0];
}

void
cuda_run_norms(struct cuda_ctx *c, const struct cuda_norm *n)
{
    const struct ggml_tensor *last = n->bias  ? n->bias
                                     : n->mul ? n->mul
                                              : n->norm;
    const struct ggml_tensor *before = n->mul ? n->mul : n->norm;
    struct parts p = {};

    if (ggml_is_empty(last))
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
    p.weight = p.mul ? view_of(other_source(n->mul, n->norm)) : p.x;
    p.shift = p.bias ? view_of(other_source(n->bias, before)) : p.x;
    LAUNCH(norm, shape_of(ggml_nrows(last), cuda_row_threads(last->ne[0])),
           stream_of(c), p, ggml_nrows(last));
}

bool
cuda_supports_norm(const struct ggml_tensor *dst)
{
    return is_float_type(dst->type) && is_float_type(dst->src[0]->type);
}

void
cuda_run_norm(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct cuda_norm n = { NULL, dst, NULL, NULL };

    cuda_run_norms(c, &n);
}

KERNEL
sum_rows(struct view y, struct view x, int64_t n_rows)
{
    SHARED(float, room, LANES);

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
        LAUNCH(sum_rows, shape_of(ggml_nrows(x), cuda_row_threads(x->ne[0])),
               stream_of(c), view_of(dst), view_of(x), ggml_nrows(x));
}
