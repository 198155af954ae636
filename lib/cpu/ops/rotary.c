/* rotary.c - ROPE, ROPE_BACK: pairs of a row turned by angles that grow with
 * position, or turned back
 *
 * RoFormer (Su et al. 2021), with YaRN's blend of frequencies (Peng et al.
 * 2023). src0 [n, heads, tokens, batch], src1 the tokens' positions, or four
 * times as many of which each pair has its own (Qwen2-VL, 2024), src2 (or none)
 * what each frequency is divided by. */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

struct rope {
    int n_dims, mode, n_pairs;
    int sections[GGML_MROPE_SECTIONS]; /* pairs of each position */
    double base, scale;                /* of frequencies */
    double extrapolate;                /* share of YaRN; 0: off */
    double magnitude;                  /* of the rotated pair */
    float sign;                        /* -1: back */
    double ramp_first, ramp_last;      /* pairs between which YaRN blends */
    const float *factors;
};

/* The pair that makes `turns` turns within the context trained on. */
static double
pair_of_turns(int n_dims, int n_ctx, double base, double turns)
{
    const double two_pi = 6.283185307179586;

    return n_dims * log(n_ctx / (turns * two_pi)) / (2 * log(base));
}

/* In mode VISION n_dims is half of what is turned. */
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
    struct rope p = { .n_dims = tensor_get_i32(dst, 1),
                      .mode = tensor_get_i32(dst, 2),
                      .n_pairs = pairs_of(dst),
                      .base = tensor_get_f32(dst, 5),
                      .scale = tensor_get_f32(dst, 6),
                      .extrapolate = tensor_get_f32(dst, 7),
                      .magnitude = tensor_get_f32(dst, 8),
                      .sign = dst->op == GGML_OP_ROPE_BACK ? -1 : 1 };
    int n_ctx = tensor_get_i32(dst, 4);

    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        p.sections[i] = tensor_get_i32(dst, 11 + i);
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

static bool
has_sections(const struct rope *p)
{
    return (p->mode & GGML_ROPE_TYPE_MROPE) != 0;
}

/* A pair's place in the sections, which repeat. */
static int
place_of(const struct rope *p, int pair)
{
    return pair %
           (p->sections[0] + p->sections[1] + p->sections[2] + p->sections[3]);
}

/* In a row, the section of a pair; *first: its first place. */
static int
section_in_row(const struct rope *p, int pair, int *first)
{
    int place = place_of(p, pair), section = 0, end = p->sections[0];

    for (*first = 0; place >= end; end += p->sections[++section])
        *first = end;
    return section;
}

/* Which of its token's positions a pair turns by. */
static int
section_of(const struct rope *p, int pair)
{
    int place, first;

    if (!has_sections(p))
        return 0;
    if (p->mode != GGML_ROPE_TYPE_IMROPE)
        return section_in_row(p, pair, &first);
    place = place_of(p, pair);
    return place < 3 * p->sections[place % 3] ? place % 3 : 3;
}

/* The number by which a pair's frequency goes. */
static int
frequency_of(const struct rope *p, int pair)
{
    int first;

    if (p->mode != GGML_ROPE_TYPE_VISION)
        return pair;
    section_in_row(p, pair, &first);
    return place_of(p, pair) - first;
}

/* Angle of each pair per position. */
static void
fill_rates(const struct rope *p, double *rate)
{
    for (int i = 0; i < p->n_pairs; i++) {
        double r = pow(p->base, -2.0 * frequency_of(p, i) / p->n_dims), mix;

        if (p->factors)
            r /= p->factors[i];
        mix = p->extrapolate != 0 ? ramp(p, i) * p->extrapolate : 0;
        rate[i] = r * p->scale * (1 - mix) + r * mix;
    }
}

/* Cosines and sines, as rotate_row() takes them: where pairs are neighbours,
 * two of each. The angle is reduced in double, so that late positions are as
 * exact as early ones. A token's further positions lie `n` apart. */
static void
fill_angles(const struct rope *p, const double *rate, const int32_t *pos,
            int64_t n, float *c, float *s)
{
    const double two_pi = 6.283185307179586476925;

    for (int i = 0; i < p->n_pairs; i++) {
        double angle = pos[section_of(p, i) * n] * rate[i];
        float a = (float)(angle - two_pi * rint(angle / two_pi));
        float cosine = cosf(a) * (float)p->magnitude;
        float sine = sinf(a) * (float)p->magnitude * p->sign;

        if (p->mode != GGML_ROPE_TYPE_NORMAL) {
            c[i] = cosine;
            s[i] = sine;
        } else {
            c[2 * i] = c[2 * i + 1] = cosine;
            s[2 * i] = -sine;
            s[2 * i + 1] = sine;
        }
    }
}

/* ---- angles ------------------------------------------------------------- */

/* The angles of a run, with what they were made of: turning queries and keys
 * of every layer takes the same ones. */
struct cpu_angles {
    struct rope of;
    int64_t n; /* tokens; 0: nothing is here yet */
};

struct table {
    struct cpu_angles *head;
    int32_t *positions;
    float *factors;
    double *rates;
    float *angles; /* of each token: two a pair for cosines, then for sines */
};

static int64_t
tokens_of(const struct ggml_tensor *dst)
{
    return dst->src[0]->ne[2];
}

/* Cuts memory into the parts of a table (or, from NULL, finds its size). */
static size_t
lay_out_table(const struct ggml_tensor *dst, char *base, struct table *table)
{
    size_t n = (size_t)tokens_of(dst), at = 0;
    size_t pairs = (size_t)pairs_of(dst);
#define PART_OF(p, n)                                                          \
    (table->p = base ? (void *)(base + at) : NULL,                             \
     at += cpu_pad((n) * sizeof(*table->p)))
    PART_OF(head, 1);
    PART_OF(positions, (size_t)dst->src[1]->ne[0]);
    PART_OF(factors, pairs);
    PART_OF(rates, pairs);
    PART_OF(angles, n * 4 * pairs);
#undef PART_OF
    return at;
}

size_t
cpu_angles_size(const struct ggml_tensor *dst)
{
    struct table table;

    return dst->op == GGML_OP_ROPE || dst->op == GGML_OP_ROPE_BACK
               ? lay_out_table(dst, NULL, &table)
               : 0;
}

void
cpu_angles_clear(struct cpu_angles *a)
{
    a->n = 0;
}

static bool
are_same(const struct rope *a, const struct rope *b)
{
    return a->n_dims == b->n_dims && a->mode == b->mode && a->base == b->base &&
           memcmp(a->sections, b->sections, sizeof(a->sections)) == 0 &&
           a->scale == b->scale && a->extrapolate == b->extrapolate &&
           a->magnitude == b->magnitude && a->sign == b->sign &&
           a->ramp_first == b->ramp_first && a->ramp_last == b->ramp_last;
}

/* True if the table has what dst needs. */
static bool
is_filled(const struct table *t, const struct rope *p,
          const struct ggml_tensor *dst)
{
    const struct cpu_angles *a = t->head;
    size_t pairs = (size_t)p->n_pairs;
    size_t positions = (size_t)dst->src[1]->ne[0] * sizeof(*t->positions);

    return a->n == tokens_of(dst) && are_same(&a->of, p) &&
           !a->of.factors == !p->factors &&
           memcmp(t->positions, dst->src[1]->data, positions) == 0 &&
           (!p->factors ||
            memcmp(t->factors, p->factors, pairs * sizeof(float)) == 0);
}

static void
rope_begin(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct rope p = read_params(dst);
    int64_t n = tokens_of(dst);
    struct table table;

    lay_out_table(dst, (char *)t->angles, &table);
    if (is_filled(&table, &p, dst))
        return;
    *table.head = (struct cpu_angles){ p, n };
    memcpy(table.positions, dst->src[1]->data,
           (size_t)dst->src[1]->ne[0] * sizeof(*table.positions));
    if (p.factors)
        memcpy(table.factors, p.factors,
               (size_t)p.n_pairs * sizeof(*table.factors));
    fill_rates(&p, table.rates);
    for (int64_t i = 0; i < n; i++) {
        float *c = table.angles + 4 * i * p.n_pairs;

        fill_angles(&p, table.rates, table.positions + i, n, c,
                    c + 2 * p.n_pairs);
    }
}

/* ---- rows --------------------------------------------------------------- */

static void
rotate_row(const struct cpu_task *t, const struct rope *p, float *y,
           const float *x, const float *c, const float *s)
{
    int half = p->n_pairs;

    if (p->mode != GGML_ROPE_TYPE_NORMAL)
        t->k->rotate(half, y, y + half, x, x + half, c, s);
    else
        t->k->rotate_pairs(2 * half, y, x, c, s);
}

static void
rope_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct rope p = read_params(dst);
    int64_t first = tensor_get_i32(dst, 15), end = first + 2 * p.n_pairs;
    struct table table;

    lay_out_table(dst, (char *)t->angles, &table);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *in = cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0));
        float *out = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));
        const float *c = table.angles + 4 * r.i2 * p.n_pairs;

        rotate_row(t, &p, out + first, in + first, c, c + 2 * p.n_pairs);
        if (out != in && first > 0)
            memcpy(out, in, (size_t)first * sizeof(*out));
        if (out != in && dst->ne[0] > end)
            memcpy(out + end, in + end,
                   (size_t)(dst->ne[0] - end) * sizeof(*out));
        cpu_store_row(t, dst, r, out);
    }
}

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

static bool
rope_supports(const struct ggml_tensor *dst)
{
    int n_dims = tensor_get_i32(dst, 1);

    return is_mode_known(dst) && n_dims > 0 && n_dims % 2 == 0 &&
           tensor_get_i32(dst, 15) + 2 * pairs_of(dst) <= dst->ne[0] &&
           cpu_rows_supported(dst);
}

const struct cpu_op cpu_op_rope = { .compute = rope_compute,
                                    .supports = rope_supports,
                                    .cost = cpu_cost_exp,
                                    .work_size = cpu_rows_work_size,
                                    .begin = rope_begin };
