/* test_fit_loops.c - the loops of fits: the same bits with every instruction */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quant/fit_loops_table.h"
#include "quant/iq.h"
#include "harness/tap.h"

enum {
    N = 32,
    TURNS = 2000,
};

static uint64_t state = 1;

static float
draw(void)
{
    state = state * UINT64_C(6364136223846793005) + 1;
    return (float)(int32_t)(state >> 33) * 0x1p-30f - 1;
}

static const int8_t levels[] = { -100, -31, -8, 0, 7, 64, 113 };

static const struct quant_codes kinds[] = {
    { .lo = 0, .hi = 15 },
    { .lo = -32, .hi = 31 },
    { .lo = -100, .hi = 113, .levels = levels, .n = 7 },
};

struct input {
    float x[N], w[N], by[8], m[8];
    float octet_x[8 * N], octet_w[8 * N];
};

/* Everything that the loops compute of it, byte next to byte. */
struct output {
    int8_t all[N], group[N], cut[N], groups8[8 * N];
    float scale[8], weight[8], left[8], sums[3][8];
    struct quant_range range;
    struct fit_sums rounded_sums;
    struct fit_moments moments;
    struct fit_lines lines;
    struct quant_sums rounded;
    float xq[8], qq[8], errors[8], squares, extreme, spread[8];
};

static void
run_octet(const struct quant_fit_loops *l, const struct quant_codes *codes,
          int n, const struct input *in, struct output *out)
{
    struct fit_groups8 of = { n, in->octet_x, in->octet_w };

    l->fit_groups8(codes, &of, quant_fit_starts, QUANT_FIT_ROUNDS, out->scale,
                   out->weight);
    l->groups8_errors(codes, &of, out->scale, out->left);
    l->round_groups8(codes, &of, out->scale, out->groups8, out->sums[0],
                     out->sums[1], out->sums[2]);
}

static void
run(const struct quant_fit_loops *l, const struct quant_codes *codes, int n,
    const struct input *in, struct output *out)
{
    struct quant_group of = { n, in->x, in->w };

    memset(out, 0, sizeof(*out));
    l->round_all(codes, n, in->x, in->m[0], in->by[0], out->all);
    l->sum_rounded(codes, n, in->x, in->w, in->by[1], &out->rounded_sums);
    l->sum_moments(codes, n, in->x, in->w, in->by[2], in->m[2], &out->moments);
    l->sum_starts(codes, of, in->by, out->xq, out->qq);
    l->sum_lines(codes, of, in->by, in->m, &out->lines);
    l->sum_errors(codes, of, in->by, in->m, out->errors);
    out->squares = l->sum_squares(of);
    out->extreme = l->extreme(n, in->x);
    l->spread(in->by, 16, -8, in->x[0], out->spread);
    l->round_group(codes, of, in->by[3], in->m[3], out->group, &out->rounded);
    l->range(n, in->x, &out->range);
    l->cut(n, in->x, in->m[3], 20, 8.5f, 15, out->cut);
    if (codes->lo < 0)
        run_octet(l, codes, n, in, out);
}

static void
fill(struct input *in)
{
    for (int j = 0; j < N; j++) {
        in->x[j] = draw();
        in->w[j] = draw() + 1;
    }
    for (int j = 0; j < 8 * N; j++) {
        in->octet_x[j] = draw();
        in->octet_w[j] = draw() + 1;
    }
    for (int j = 0; j < 8; j++) {
        in->by[j] = 40 * draw();
        in->m[j] = draw();
    }
    in->by[4] = 0;
}

/* One lane's line, by the loop that does one. */
static bool
lanes_agree(const struct quant_codes *codes, int n, const struct input *in,
            const struct output *out)
{
    struct quant_group of = { n, in->x, in->w };
    struct fit_moments one = { 0 };
    int8_t q[N];
    struct quant_sums s;

    quant_fit_loops()->sum_moments(codes, n, in->x, in->w, in->by[5], in->m[5],
                                   &one);
    quant_fit_loops()->round_group(codes, of, in->by[6], in->m[6], q, &s);
    return fabs(one.q - (double)out->lines.q[5]) < 1e-3 * (1 + fabs(one.q)) &&
           fabs(one.qq - (double)out->lines.qq[5]) < 1e-3 * (1 + one.qq) &&
           fabsf(s.error - out->errors[6]) < 1e-3f * (1 + s.error);
}

/* Weighted, in double, of codes that were chosen for scale d. */
static double
error_of(int n, const float *x, const float *w, double d, const int8_t *q)
{
    double sum = 0;

    for (int j = 0; j < n; j++) {
        double e = d * q[j] - (double)x[j];

        sum += (double)w[j] * e * e;
    }
    return sum;
}

/* Each of the eight groups by the functions that fit one. */
static bool
groups8_agree(const struct quant_codes *codes, int n, const struct input *in,
              const struct output *out)
{
    bool fine = true;

    for (int g = 0; g < 8 && codes->lo < 0; g++) {
        float x[N], w[N], d;
        int8_t q[N];
        double error, alone;

        for (int j = 0; j < n; j++) {
            x[j] = in->octet_x[8 * j + g];
            w[j] = in->octet_w[8 * j + g];
            fine = fine && out->groups8[n * g + j] ==
                               quant_nearest(codes, x[j] * (1 / out->scale[g]));
        }
        d = quant_fit_scale(codes, n, x, w);
        quant_fit_loops()->round_all(codes, n, x, 0, 1 / d, q);
        alone = error_of(n, x, w, (double)d, q);
        error = error_of(n, x, w, (double)out->scale[g], out->groups8 + n * g);
        fine = fine && fabs(error - (double)out->left[g]) < 1e-5 * n &&
               error < 1.05 * alone + 1e-6 && out->weight[g] > 0;
    }
    return fine;
}

/* The values that q was rounded from, one by one. */
static bool
cut_agrees(int n, const struct input *in, const struct output *out)
{
    bool fine = true;

    for (int j = 0; j < n; j++) {
        float v = (in->x[j] - in->m[3]) * 20 + 8.5f;
        int q = v > 0 ? (int)v : 0;

        fine = fine && out->cut[j] == (q < 15 ? q : 15) &&
               in->x[j] >= out->range.min && in->x[j] <= out->range.max;
    }
    return fine;
}

/* One after the other, by roundf(), of usual and of unusual values. */
static bool
bytes_agree(const struct quant_fit_loops *l, const float *x)
{
    float amax = 0, d, inverse, got;
    int8_t q[N];
    bool fine;

    for (int j = 0; j < N; j++)
        amax = fabsf(x[j]) > amax || isnan(x[j]) ? fabsf(x[j]) : amax;
    d = amax / 127;
    inverse = d != 0 ? 1 / d : 0;
    got = l->round_bytes(N, x, q);
    fine = isnan(d) ? isnan(got) : got == d;
    for (int j = 0; j < N; j++) {
        float v = x[j] * inverse;

        fine = fine && q[j] == (fabsf(v) < 128 ? (int)roundf(v) : 0);
    }
    return fine;
}

static void
test_bytes(const struct quant_fit_loops *l)
{
    const float unusual[] = { 0,         -0.0f,    1e-45f,  -1e-40f, 3e38f,
                              -INFINITY, INFINITY, NAN,     127,     0.5f,
                              -0.5f,     1.5f,     -126.5f, 63.5f,   1e-38f };
    int wrong = 0;

    for (int i = 0; i < TURNS; i++) {
        struct input in;
        int n = sizeof(unusual) / sizeof(unusual[0]);

        fill(&in);
        for (int k = 0; k < i % 4; k++)
            in.x[(i * 7 + k * 5) % N] = unusual[(i / 4 + k * 3) % n];
        for (int j = 0; i % 5 == 4 && j < N; j++)
            in.x[j] = unusual[8 + (i + j) % 6];
        wrong += !bytes_agree(l, in.x);
    }
    is(wrong, 0, "bytes with one scale, halves away from zero");
}

/* All sixteen codes, one after the other, against what the loop finds. */
static void
test_fp4(const struct quant_fit_loops *l)
{
    static const double values[] = { 0, 1, 2, 3, 4, 6, 8, 12 };
    bool fine = true;

    for (int i = 0; i < TURNS / 10; i++) {
        struct input in;
        int8_t q[N];
        float scale = (float)(1 + i % 3) / 16;

        fill(&in);
        in.x[3] = 2.5f * scale; /* between two codes: the first */
        l->nearest_fp4(N, in.x, scale, q);
        for (int j = 0; j < N; j++) {
            double least = HUGE_VAL, error;

            for (int k = 0; k < 16; k++) {
                error = fabs((k < 8 ? 1 : -1) * values[k % 8] * (double)scale -
                             (double)in.x[j]);
                least = error < least ? error : least;
            }
            error =
                fabs((q[j] < 8 ? 1 : -1) * values[q[j] % 8] * (double)scale -
                     (double)in.x[j]);
            fine = fine && q[j] != 8 && error <= least + 1e-6;
        }
        fine = fine && q[3] % 8 == 2;
    }
    ok(fine, "no code of E2M1 is nearer");
}

static void
test_cut(const struct quant_fit_loops *l)
{
    float x[N] = { NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 2e9f, 2.99f };
    static const int8_t want[] = { 0, 0, 0, 0, 0, 15, 2, 0 };
    struct quant_range r;
    int8_t q[N];

    l->cut(N, x, 0, 1, 0, 15, q);
    ok(memcmp(q, want, sizeof(want)) == 0, "what is no int32 becomes 0");
    for (int j = 0; j < N; j++)
        x[j] = j == 9 ? -0.0f : (float)(j % 7);
    x[0] = 1;
    x[7] = NAN;
    l->range(N, x, &r);
    ok(r.min == 0 && signbit(r.min) && r.max == 6,
       "the first zero is the least");
}

/* The first of equals, with its sign; what is no number counts for nothing. */
static void
test_extreme(const struct quant_fit_loops *l)
{
    float x[N] = { 0 };

    is(l->extreme(N, x), 0, "of zeros the largest is 0");
    x[3] = NAN;
    is(l->extreme(N, x), 0, "nor is there one of NaN");
    x[9] = -2;
    x[11] = 2;
    x[25] = -2;
    x[30] = 1;
    is(l->extreme(N, x), -2, "the first of equals, with its sign");
    x[27] = -INFINITY;
    ok(isinf(l->extreme(N, x)), "infinity is larger");
}

/* All entries, one after the other. */
static float
least_error(const struct quant_codebook *codebook, const float *x,
            const float *w, float d)
{
    float least = HUGE_VALF;

    for (int i = 0; i < codebook->n; i++) {
        float sum = 0;
        int8_t q[8];

        quant_put_entry(q, codebook->entries[i], codebook, 0);
        for (int k = 0; k < codebook->size; k++)
            sum += w[k] * (d * (float)q[k] - x[k]) * (d * (float)q[k] - x[k]);
        least = sum < least ? sum : least;
    }
    return least;
}

static void
test_points(void)
{
    static const struct quant_codebook *const codebooks[] = {
        &quant_codebook_iq1,   &quant_codebook_iq2_xxs, &quant_codebook_iq2_xs,
        &quant_codebook_iq2_s, &quant_codebook_iq3_xxs, &quant_codebook_iq3_s,
    };
    bool same = true, best = true;
    struct input in;

    for (int i = 0; i < TURNS; i++) {
        const struct quant_codebook *codebook = codebooks[i % 6];
        const struct quant_codebook_index *h =
            quant_codebook_index_of(codebook);
        float d = (draw() + 1) / 20, a = 0, b = 0, least;
        int at;

        fill(&in);
        at = quant_fit_loops()->best_entry(h, in.x, in.w, d, &a);
        same = same && a == a &&
               at == quant_fit_loops_reference()->best_entry(h, in.x, in.w, d,
                                                             &b) &&
               memcmp(&a, &b, sizeof(a)) == 0;
        least = least_error(codebook, in.x, in.w, d);
        best = best && fabsf(a - least) <= 1e-5f * (least + 1e-3f);
    }
    ok(same, "entries: the machine's bits are those for any");
    ok(best, "no entry of a codebook is nearer than the one that is found");
}

int
main(void)
{
    struct input in;
    struct output a, b;
    bool same = true, agree = true, groups8 = true, cuts = true;

    for (int i = 0; i < TURNS; i++) {
        const struct quant_codes *codes = &kinds[i % 3];
        int n = i % 2 ? 16 : 32;

        fill(&in);
        run(quant_fit_loops_reference(), codes, n, &in, &a);
        run(quant_fit_loops(), codes, n, &in, &b);
        same = same && !memcmp(&a, &b, sizeof(a));
        agree = agree && lanes_agree(codes, n, &in, &b);
        groups8 = groups8 && groups8_agree(codes, n, &in, &b);
        cuts = cuts && cut_agrees(n, &in, &b);
    }
    ok(same, "the machine's loops have the bits of those for any");
    ok(agree, "a lane is what a loop of its own gives");
    ok(groups8, "a group of eight is fitted as well as alone");
    ok(cuts, "values are cut to integers, and none is out of the range");
    test_cut(quant_fit_loops_reference());
    test_cut(quant_fit_loops());
    test_bytes(quant_fit_loops_reference());
    test_bytes(quant_fit_loops());
    test_fp4(quant_fit_loops_reference());
    test_fp4(quant_fit_loops());
    test_extreme(quant_fit_loops_reference());
    test_extreme(quant_fit_loops());
    test_points();
    return tap_done();
}
