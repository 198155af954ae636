/* rope.cu - ROPE, ROPE_BACK: rotary position embedding, fused with stores to
 * the KV cache
 *
 * As in lib/cpu/ops/rotary.c. A work item is a token and some of its heads, a
 * warp a head: they share the angles. */
#include "cuda/fused_ops.h"
#include "cuda/set_rows.h"
#include "cuda/tensor_view.h"

struct rope {
    int n_dims, mode;
    int n_pairs, first; /* pairs, and where they begin in a row */
    int sections[GGML_MROPE_SECTIONS]; /* pairs of each position */
    double step; /* log2 of a pair's rate, from pair to pair */
    double scale, extrapolate, magnitude;
    float sign; /* -1: back */
    double ramp_first, ramp_last;
};

/* The pair that makes `rotations` rotations within the training context. */
static double
pair_of_rotations(const struct ggml_tensor *dst, double rotations)
{
    const double two_pi = 6.283185307179586;
    double n_dims = tensor_get_i32(dst, 1), n_ctx = tensor_get_i32(dst, 4);

    return n_dims * log(n_ctx / (rotations * two_pi)) /
           (2 * log((double)tensor_get_f32(dst, 5)));
}

/* In mode VISION n_dims is half of what is rotated. */
static int
pairs_of(const struct ggml_tensor *dst)
{
    int n_dims = tensor_get_i32(dst, 1);

    return tensor_get_i32(dst, 2) == GGML_ROPE_TYPE_VISION ? n_dims
                                                           : n_dims / 2;
}

static struct rope
read_params(const struct ggml_tensor *dst)
{
    struct rope p = {};

    p.n_dims = tensor_get_i32(dst, 1);
    p.mode = tensor_get_i32(dst, 2);
    p.n_pairs = pairs_of(dst);
    p.first = tensor_get_i32(dst, 15);
    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        p.sections[i] = tensor_get_i32(dst, 11 + i);
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

/* A pair is rotated by this: the section of its position, and the angle per
 * position. */
struct pair {
    int section;
    double rate;
};

/* In a row of sections, which repeat, that of a place; *first: its first place.
 */
DEVICE int
section_in_row(const struct rope *p, int place, int *first)
{
    int section = 0, end = p->sections[0];

    for (*first = 0; place >= end; end += p->sections[++section])
        *first = end;
    return section;
}

/* The section of pair i; *frequency: the number by which its frequency goes. */
DEVICE int
section_of(const struct rope *p, int i, int *frequency)
{
    const int *s = p->sections;
    int place, section, first;

    *frequency = i;
    if (!(p->mode & GGML_ROPE_TYPE_MROPE))
        return 0;
    place = i % (s[0] + s[1] + s[2] + s[3]);
    if (p->mode == GGML_ROPE_TYPE_IMROPE)
        return place < 3 * s[place % 3] ? place % 3 : 3;
    section = section_in_row(p, place, &first);
    if (p->mode == GGML_ROPE_TYPE_VISION)
        *frequency = place - first;
    return section;
}

DEVICE struct pair
pair_of(const struct rope *p, int i, const float *factors)
{
    struct pair pair;
    int frequency;
    double r, mix = 0;

    pair.section = section_of(p, i, &frequency);
    r = exp2(p->step * frequency);
    if (factors)
        r /= factors[i];
    if (p->extrapolate != 0)
        mix = ramp(p, i) * p->extrapolate;
    pair.rate = r * p->scale * (1 - mix) + r * mix;
    return pair;
}

/* Cosines and sines of all pairs; `mine` is the thread's first. A token's
 * further positions lie `n` apart. Reduced in double, so that late positions
 * are as exact as early ones. */
DEVICE void
fill_angles(const struct rope *p, const int32_t *position, int64_t n,
            const float *factors, struct pair mine, float2 *angles)
{
    const double two_pi = 6.283185307179586476925;

    for (int i = (int)cuda_thread_id(); i < p->n_pairs;
         i += (int)cuda_block_size()) {
        struct pair pair =
            i < (int)cuda_block_size() ? mine : pair_of(p, i, factors);
        double angle = position[pair.section * n] * pair.rate;
        float a = (float)(angle - two_pi * rint(angle / two_pi));

        angles[i].x = cosf(a) * (float)p->magnitude;
        angles[i].y = sinf(a) * (float)p->magnitude * p->sign;
    }
}

/* Copies elements [first, end) of a row. */
DEVICE void
copy_row(const struct view *y, const struct view *x, const char *from, char *to,
         int64_t first, int64_t end)
{
    for (int64_t i = first + cuda_lane_id(); i < end; i += LANES)
        cuda_store_element(y, to, i, cuda_load_element(x, from, i));
}

DEVICE void
rotate_row(const struct rope *p, const struct view *y, const struct view *x,
           const char *from, char *to, const float2 *angles)
{
    int half = p->n_pairs, lane = (int)cuda_lane_id();
    bool neighbours = p->mode == GGML_ROPE_TYPE_NORMAL;

    for (int i = lane; i < half; i += LANES) {
        int at = p->first + (neighbours ? 2 * i : i);
        int other = at + (neighbours ? 1 : half);
        float a = cuda_load_element(x, from, at),
              b = cuda_load_element(x, from, other);

        cuda_store_element(y, to, at, a * angles[i].x - b * angles[i].y);
        cuda_store_element(y, to, other, a * angles[i].y + b * angles[i].x);
    }
    copy_row(y, x, from, to, 0, p->first);
    copy_row(y, x, from, to, p->first + 2 * half, x->ne[0]);
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
                 0, t->values.ne[0]);
}

/* Items: tokens of all batches, the heads of each divided among `parts`
 * items. */
KERNEL
rotate(struct rope_args t, int64_t parts, int64_t n)
{
    SHARED_BYTES(bytes);
    float2 *angles = (float2 *)(void *)bytes;
    struct pair mine = {};

    if (!t.constant_factors)
        cuda_grid_dependency_sync();
    if ((int)cuda_thread_id() < t.rope.n_pairs)
        mine = pair_of(&t.rope, (int)cuda_thread_id(), t.factors);
    if (t.constant_factors)
        cuda_grid_dependency_sync();
    for (int64_t item = cuda_block_id(); item < n; item += cuda_grid_size()) {
        int64_t part, token;
        int64_t batch =
            cuda_divide(cuda_divide(item, parts, &part), t.y.ne[2], &token);

        cuda_barrier();
        fill_angles(&t.rope, t.positions + token, t.y.ne[2], t.factors, mine,
                    angles);
        cuda_barrier();
        for (int64_t head = part * HEADS + cuda_warp_id(); head < heads_of(&t);
             head += parts * HEADS)
            rotate_head(&t, token, batch, head, angles);
    }
}

#define MAX_PAIRS 2048

/* Several positions need sections, which go round. */
static bool
is_mode_known(const struct ggml_tensor *dst)
{
    int sum = 0;

    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        sum += tensor_get_i32(dst, 11 + i);
    switch (tensor_get_i32(dst, 2)) {
    case GGML_ROPE_TYPE_NORMAL:
    case GGML_ROPE_TYPE_NEOX:
        return true;
    case GGML_ROPE_TYPE_MROPE:
    case GGML_ROPE_TYPE_IMROPE:
    case GGML_ROPE_TYPE_VISION:
        return sum > 0;
    default:
        return false;
    }
}

bool
cuda_supports_rope(const struct ggml_tensor *dst)
{
    int n_dims = tensor_get_i32(dst, 1);

    return is_mode_known(dst) && n_dims > 0 && n_dims % 2 == 0 &&
           pairs_of(dst) <= MAX_PAIRS &&
           tensor_get_i32(dst, 15) + 2 * pairs_of(dst) <= dst->ne[0] &&
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

    config.shared = (size_t)t->rope.n_pairs * sizeof(float2);
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
