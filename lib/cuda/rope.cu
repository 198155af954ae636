/* rope.cu - ROPE, ROPE_BACK: rotary position embedding, fused with stores to
 * the KV cache
 *
 * As in lib/cpu/ops/rotary.c. A work item is a token and some of its heads, a
 * warp a head: they share the angles. */
#include "cuda/fused_ops.h"
#include "cuda/set_rows.h"
#include "cuda/tensor_view.h"

struct rope {
    int n_dims;
    bool neox;
    double step; /* log2 of a pair's rate, from pair to pair */
    double scale, extrapolate, magnitude;
    float sign; /* -1: back */
    double ramp_first, ramp_last;
};

/* The pair that makes so many rotations within the training context. */
static double
pair_of_rotations(const struct ggml_tensor *dst, double rotations)
{
    const double two_pi = 6.283185307179586;
    double n_dims = tensor_get_i32(dst, 1), n_ctx = tensor_get_i32(dst, 4);

    return n_dims * log(n_ctx / (rotations * two_pi)) /
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
    p.sign = dst->op == GGML_OP_ROPE_BACK ? -1 : 1;
    if (p.extrapolate != 0) {
        double first = floor(pair_of_rotations(dst, tensor_get_f32(dst, 9)));
        double last = ceil(pair_of_rotations(dst, tensor_get_f32(dst, 10)));

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

/* The angle per position of pair i. */
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

/* Cosines and sines of all pairs; `rate` is that of the thread's first. Reduced
 * in double, so that late positions are as exact as early ones. */
DEVICE void
fill_angles(const struct rope *p, int32_t position, const float *factors,
            double rate, float2 *angles)
{
    const double two_pi = 6.283185307179586476925;

    for (int i = (int)cuda_thread_id(); i < p->n_dims / 2;
         i += (int)cuda_block_size()) {
        double angle =
            position *
            (i < (int)cuda_block_size() ? rate : rate_of(p, i, factors));
        float a = (float)(angle - two_pi * rint(angle / two_pi));

        angles[i].x = cosf(a) * (float)p->magnitude;
        angles[i].y = sinf(a) * (float)p->magnitude * p->sign;
    }
}

/* Copies a row from element `first` on. */
DEVICE void
copy_row(const struct view *y, const struct view *x, const char *from, char *to,
         int first)
{
    for (int64_t i = first + cuda_lane_id(); i < x->ne[0]; i += LANES)
        cuda_store_element(y, to, i, cuda_load_element(x, from, i));
}

DEVICE void
rotate_row(const struct rope *p, const struct view *y, const struct view *x,
           const char *from, char *to, const float2 *angles)
{
    int half = p->n_dims / 2, lane = (int)cuda_lane_id();

    for (int i = lane; i < half; i += LANES) {
        int at = p->neox ? i : 2 * i, other = p->neox ? i + half : 2 * i + 1;
        float a = cuda_load_element(x, from, at),
              b = cuda_load_element(x, from, other);

        cuda_store_element(y, to, at, a * angles[i].x - b * angles[i].y);
        cuda_store_element(y, to, other, a * angles[i].y + b * angles[i].x);
    }
    copy_row(y, x, from, to, p->n_dims);
}

#define HEADS (CUDA_THREADS / LANES) /* of an item */

/* Queries, x, that are rotated to y; keys that are rotated, and values that are
 * not, and stored to rows of a cache given by ids. */
struct rope_args {
    struct rope rope;
    const int32_t *positions;
    const float *factors;  /* or NULL */
    bool constant_factors; /* no launch writes them */
    struct view y, x;
    struct view keys, key_rows, key_ids; /* empty: there are none */
    struct view values, value_rows, value_ids;
};

HOST_DEVICE int64_t
heads_of(const struct rope_args *t)
{
    return t->y.ne[1] + t->keys.ne[1] + t->values.ne[2];
}

/* The row of a cache that a token's head goes to; NULL: none. */
DEVICE char *
session_cache_row(const struct view *y, const struct view *ids, int64_t token,
                int64_t head)
{
    struct row r = { token, head, 0 };

    r.i1 = cuda_set_rows_target(ids, y, r);
    return r.i1 < 0 ? NULL : cuda_row_data(y, r);
}

/* Computes a head: of those of y, then of keys, then of values. */
DEVICE void
rotate_head(const struct rope_args *t, int64_t token, int64_t batch,
            int64_t head, const float2 *angles)
{
    struct row r = { head, token, batch };
    char *to;

    if (head < t->y.ne[1]) {
        rotate_row(&t->rope, &t->y, &t->x, cuda_row_data(&t->x, r),
                   cuda_row_data(&t->y, r), angles);
        return;
    }
    r.i1 = head - t->y.ne[1];
    if (r.i1 < t->keys.ne[1]) {
        to = session_cache_row(&t->key_rows, &t->key_ids, token, r.i1);
        if (to)
            rotate_row(&t->rope, &t->key_rows, &t->keys,
                       cuda_row_data(&t->keys, r), to, angles);
        return;
    }
    r.i2 = r.i1 - t->keys.ne[1]; /* values have tokens in dimension 1 */
    r.i1 = token;
    if (r.i2 >= t->values.ne[2])
        return;
    to = session_cache_row(&t->value_rows, &t->value_ids, token, r.i2);
    if (to)
        copy_row(&t->value_rows, &t->values, cuda_row_data(&t->values, r), to,
                 0);
}

/* Items: tokens of all batches, the heads of each divided among `parts`
 * items. */
KERNEL
rotate(struct rope_args t, int64_t parts, int64_t n)
{
    SHARED_BYTES(bytes);
    float2 *angles = (float2 *)(void *)bytes;
    double rate = 0;

    if (!t.constant_factors)
        cuda_grid_dependency_sync();
    if ((int)cuda_thread_id() < t.rope.n_dims / 2)
        rate = rate_of(&t.rope, (int)cuda_thread_id(), t.factors);
    if (t.constant_factors)
        cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n; item += cuda_grid_size()) {
        int64_t part, token;
        int64_t batch =
            cuda_divide(cuda_divide(item, parts, &part), t.y.ne[2], &token);

        cuda_barrier();
        fill_angles(&t.rope, t.positions[token], t.factors, rate, angles);
        cuda_barrier();
        for (int64_t head = part * HEADS + cuda_warp_id(); head < heads_of(&t);
             head += parts * HEADS)
            rotate_head(&t, token, batch, head, angles);
    }
}

bool
cuda_supports_rope(const struct ggml_tensor *dst)
{
    int mode = tensor_get_i32(dst, 2), n_dims = tensor_get_i32(dst, 1);

    return (mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX) &&
           tensor_get_i32(dst, 15) == 0 && n_dims > 0 && n_dims % 2 == 0 &&
           n_dims <= 4096 && n_dims <= dst->ne[0] &&
           cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type);
}

static struct rope_args
rope_args_of(const struct ggml_tensor *dst)
{
    struct rope_args t = {};

    t.rope = read_params(dst);
    t.positions = (const int32_t *)dst->src[1]->data;
    t.factors = dst->src[2] ? (const float *)dst->src[2]->data : NULL;
    t.constant_factors = cuda_is_constant(dst->src[2]);
    t.y = cuda_view_of(dst);
    t.x = cuda_view_of(dst->src[0]);
    return t;
}

static void
launch_rope(struct cuda_ctx *c, const struct rope_args *t)
{
    int64_t tokens = t->y.ne[2] * t->y.ne[3];
    int64_t parts = cuda_rope_splits(tokens, heads_of(t), HEADS, c->n_sm);
    int64_t n = parts * tokens;
    struct cuda_launch_config config = cuda_default_launch(n, CUDA_THREADS);

    config.shared = (size_t)t->rope.n_dims / 2 * sizeof(float2);
    if (n > 0)
        LAUNCH(rotate, config, c, *t, parts, n);
}

void
cuda_run_rope(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct rope_args t = rope_args_of(dst);

    if (!ggml_is_empty(dst))
        launch_rope(c, &t);
}

void
cuda_run_fused_rope(struct cuda_ctx *c, const struct cuda_fused_rope *f)
{
    struct rope_args t = rope_args_of(f->queries);

    t.keys = cuda_view_of(f->keys->src[0]);
    t.key_rows = cuda_view_of(f->set_keys);
    t.key_ids = cuda_view_of(f->set_keys->src[1]);
    t.values = cuda_view_of(f->set_values->src[0]);
    t.value_rows = cuda_view_of(f->set_values);
    t.value_ids = cuda_view_of(f->set_values->src[1]);
    launch_rope(c, &t);
}
