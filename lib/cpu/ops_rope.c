/* ops_rope.c - ROPE: pairs of a row turned by angles that grow with position
 *
 * RoFormer (Su et al. 2021), with YaRN's blend of frequencies (Peng et al.
 * 2023). src0 [n, heads, tokens, batch], src1 the tokens' positions, src2 (or
 * none) what each frequency is divided by. */
#include <math.h>
#include <string.h>

#include "cpu/ops.h"
#include "tensor/tensor.h"

struct rope {
    int n_dims, mode;
    double base, scale;           /* of frequencies */
    double extrapolate;           /* share of YaRN; 0: off */
    double magnitude;             /* of the rotated pair */
    double ramp_first, ramp_last; /* pairs between which YaRN blends */
    const float *factors;
};

/* The pair that makes `turns` turns within the context trained on. */
static double
pair_of_turns(int n_dims, int n_ctx, double base, double turns)
{
    const double two_pi = 6.283185307179586;

    return n_dims * log(n_ctx / (turns * two_pi)) / (2 * log(base));
}

static struct rope
read_params(const struct ggml_tensor *dst)
{
    struct rope p = { .n_dims = tensor_get_i32(dst, 1),
                      .mode = tensor_get_i32(dst, 2),
                      .base = tensor_get_f32(dst, 5),
                      .scale = tensor_get_f32(dst, 6),
                      .extrapolate = tensor_get_f32(dst, 7),
                      .magnitude = tensor_get_f32(dst, 8) };
    int n_ctx = tensor_get_i32(dst, 4);

    if (p.extrapolate != 0) {
        double first = floor(
            pair_of_turns(p.n_dims, n_ctx, p.base, tensor_get_f32(dst, 9)));
        double last = ceil(
            pair_of_turns(p.n_dims, n_ctx, p.base, tensor_get_f32(dst, 10)));

        p.ramp_first = fmax(0, first);
        p.ramp_last = fmin(p.n_dims - 1, last);
        p.magnitude *= 1 + 0.1 * log(1 / p.scale);
    }
    if (dst->src[2])
        p.factors = dst->src[2]->data;
    return p;
}

/* 1 for high frequencies, which stay; 0 for low ones, which are scaled. */
static double
ramp(const struct rope *p, int pair)
{
    double width = fmax(0.001, p->ramp_last - p->ramp_first);
    double at = (pair - p->ramp_first) / width;

    return 1 - fmin(1, fmax(0, at));
}

/* Angle of each pair per position. */
static void
fill_rates(const struct rope *p, double *rate)
{
    for (int i = 0; i < p->n_dims / 2; i++) {
        double r = pow(p->base, -2.0 * i / p->n_dims), mix;

        if (p->factors)
            r /= p->factors[i];
        mix = p->extrapolate != 0 ? ramp(p, i) * p->extrapolate : 0;
        rate[i] = r * p->scale * (1 - mix) + r * mix;
    }
}

/* The angle is reduced in double, so that late positions are as exact as
 * early ones. */
static void
fill_angles(const struct rope *p, const double *rate, int32_t pos, float *c,
            float *s)
{
    const double two_pi = 6.283185307179586476925;

    for (int i = 0; i < p->n_dims / 2; i++) {
        double angle = pos * rate[i];
        float a = (float)(angle - two_pi * rint(angle / two_pi));

        c[i] = cosf(a) * (float)p->magnitude;
        s[i] = sinf(a) * (float)p->magnitude;
    }
}

static void
rotate_row(const struct cpu_task *t, const struct rope *p, float *y,
           const float *x, const float *c, const float *s)
{
    int half = p->n_dims / 2;

    if (p->mode == GGML_ROPE_TYPE_NEOX) {
        t->k->rotate(half, y, y + half, x, x + half, c, s);
        return;
    }
    for (int i = 0; i < half; i++) {
        float a = x[2 * i], b = x[2 * i + 1];

        y[2 * i] = a * c[i] - b * s[i];
        y[2 * i + 1] = a * s[i] + b * c[i];
    }
}

/* Scratch: rates, cosines and sines, a row in, a row out. */
static size_t
table_size(const struct ggml_tensor *dst)
{
    return cpu_pad((size_t)tensor_get_i32(dst, 1) / 2 *
                   (sizeof(double) + 2 * sizeof(float)));
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    size_t row = cpu_pad((size_t)dst->ne[0] * sizeof(float));

    (void)k;
    return (table_size(dst) + 2 * row) * (size_t)n_threads;
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    const int32_t *positions = dst->src[1]->data;
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct rope p = read_params(dst);
    size_t row = cpu_pad((size_t)dst->ne[0] * sizeof(float));
    double *rate = cpu_scratch(t, table_size(dst) + 2 * row);
    float *c = (float *)(rate + p.n_dims / 2), *s = c + p.n_dims / 2;
    char *buffers = (char *)rate + table_size(dst);
    int64_t token = -1;

    if (rows.first < rows.end)
        fill_rates(&p, rate);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *in = cpu_load_row(t, x, r, (float *)(void *)buffers);
        float *out = cpu_target_row(dst, r, (float *)(void *)(buffers + row));

        if (r.i2 != token)
            fill_angles(&p, rate, positions[r.i2], c, s);
        token = r.i2;
        rotate_row(t, &p, out, in, c, s);
        if (out != in && dst->ne[0] > p.n_dims)
            memcpy(out + p.n_dims, in + p.n_dims,
                   (size_t)(dst->ne[0] - p.n_dims) * sizeof(*out));
        cpu_store_row(t, dst, r, out);
    }
}

static bool
supports(const struct ggml_tensor *dst)
{
    int mode = tensor_get_i32(dst, 2), n_dims = tensor_get_i32(dst, 1);

    return (mode == GGML_ROPE_TYPE_NORMAL || mode == GGML_ROPE_TYPE_NEOX) &&
           tensor_get_i32(dst, 15) == 0 && n_dims > 0 && n_dims % 2 == 0 &&
           n_dims <= dst->ne[0] && cpu_rows_supported(dst);
}

const struct cpu_op cpu_op_rope = { .compute = compute,
                                    .supports = supports,
                                    .cost = cpu_cost_exp,
                                    .work_size = work_size };
