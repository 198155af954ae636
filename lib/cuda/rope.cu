/* rope.cu - ROPE: pairs of a row turned by angles that grow with position
 *
 * As lib/cpu/ops_rope.c has it. An item is a token and some of its heads, a
 * warp a head: they share the angles. */
#include "cuda/view.h"

struct rope {
    int n_dims;
    bool neox;
    double step; /* log2 of a pair's rate, from pair to pair */
    double scale, extrapolate, magnitude;
    double ramp_first, ramp_last;
};

/* The pair that makes `turns` turns within the context trained on. */
static double
pair_of_turns(const struct ggml_tensor *dst, double turns)
{
    const double two_pi = 6.283185307179586;
    double n_dims = tensor_get_i32(dst, 1), n_ctx = tensor_get_i32(dst, 4);

    return n_dims * log(n_ctx / (turns * two_pi)) /
           (2 * log((double)tensor_get_f32(dst, 5)));
}

static struct rope
read_params(const struct ggml_tensor *dst)
{
    struct rope p = {};

    p.n_dims = tensor_get_i32(dst, 1);
    p.neox = tensor_get_i32(dst, 2) == GGML_ROPE_TYPE_NEOX;
    p.step = -2 * log2((double)tensor_get_f32(dst, 5)) / p.n_dims;
    p.scale = tensor_get_f32(dst, 6);
    p.extrapolate = tensor_get_f32(dst, 7);
    p.magnitude = tensor_get_f32(dst, 8);
    if (p.extrapolate != 0) {
        double first = floor(pair_of_turns(dst, tensor_get_f32(dst, 9)));
        double last = ceil(pair_of_turns(dst, tensor_get_f32(dst, 10)));

        p.ramp_first = fmax(0, first);
        p.ramp_last = fmin(p.n_dims - 1, last);
        p.magnitude *= 1 + 0.1 * log(1 / p.scale);
    }
    return p;
}

/* 1 for high frequencies, which stay; 0 for low ones, which are scaled. */
DEVICE double
ramp(const struct rope *p, int pair)
{
    double width = fmax(0.001, p->ramp_last - p->ramp_first);
    double at = (pair - p->ramp_first) / width;

    return 1 - fmin(1.0, fmax(0.0, at));
}

/* The angle that pair i turns per position. */
DEVICE double
rate_of(const struct rope *p, int i, const float *factors)
{
    double r = exp2(p->step * i), mix = 0;

    if (factors)
        r /= factors[i];
    if (p->extrapolate != 0)
        mix = ramp(p, i) * p->extrapolate;
    return r * p->scale * (1 - mix) + r * mix;
}

/* Cosines and sines of all pairs. Reduced in double, so that late positions
 * are as exact as early ones. */
DEVICE void
fill_angles(const struct rope *p, int32_t position, const float *factors,
            float2 *turns)
{
    const double two_pi = 6.283185307179586476925;

    for (int i = (int)thread_id(); i < p->n_dims / 2; i += (int)block_size()) {
        double angle = position * rate_of(p, i, factors);
        float a = (float)(angle - two_pi * rint(angle / two_pi));

        turns[i].x = cosf(a) * (float)p->magnitude;
        turns[i].y = sinf(a) * (float)p->magnitude;
    }
}

DEVICE void
rotate_row(const struct rope *p, const struct view *y, const struct view *x,
           struct row r, const float2 *turns)
{
    const char *from = row_data(x, r);
    char *to = row_data(y, r);
    int half = p->n_dims / 2, lane = (int)lane_id();

    for (int i = lane; i < half; i += LANES) {
        int at = p->neox ? i : 2 * i, other = p->neox ? i + half : 2 * i + 1;
        float a = load_element(x, from, at), b = load_element(x, from, other);

        store_element(y, to, at, a * turns[i].x - b * turns[i].y);
        store_element(y, to, other, a * turns[i].y + b * turns[i].x);
    }
    for (int64_t i = p->n_dims + lane; i < y->ne[0]; i += LANES)
        store_element(y, to, i, load_element(x, from, i));
}

#define HEADS (CUDA_THREADS / LANES) /* of an item */

/* Items: tokens of all batches, HEADS heads of each. */
KERNEL
rope(struct rope p, struct view y, struct view x, const int32_t *positions,
     const float *factors, int64_t parts, int64_t n)
{
    SHARED_BYTES(bytes);
    float2 *turns = (float2 *)(void *)bytes;

    take_turn();
    for (int64_t item = block_id(); item < n; item += grid_size()) {
        struct row r;
        int64_t part;

        r.i3 = divide(divide(item, parts, &part), y.ne[2], &r.i2);
        barrier();
        fill_angles(&p, positions[r.i2], factors, turns);
        barrier();
        r.i1 = part * HEADS + warp_id();
        if (r.i1 < y.ne[1])
            rotate_row(&p, &y, &x, r, turns);
    }
}

bool
cuda_supports_rope(const struct ggml_tensor *dst)
{
    int mode = tensor_get_i32(dst, 2), n_dims = tensor_get_i32(dst, 1);

    return (mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX) &&
           tensor_get_i32(dst, 15) == 0 && n_dims > 0 && n_dims % 2 == 0 &&
           n_dims <= 4096 && n_dims <= dst->ne[0] && is_float_type(dst->type) &&
           is_float_type(dst->src[0]->type);
}

void
cuda_run_rope(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct rope p = read_params(dst);
    int64_t parts = cuda_pieces(dst->ne[1], HEADS);
    int64_t n = parts * dst->ne[2] * dst->ne[3];
    struct cuda_shape shape = shape_of(n, CUDA_THREADS);

    shape.shared = (size_t)p.n_dims / 2 * sizeof(float2);
    if (!ggml_is_empty(dst))
        LAUNCH(rope, shape, c, p, view_of(dst),
               view_of(dst->src[0]), (const int32_t *)dst->src[1]->data,
               dst->src[2] ? (const float *)dst->src[2]->data
                           : (const float *)NULL,
               parts, n);
}
