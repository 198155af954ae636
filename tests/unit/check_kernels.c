/* check_kernels.c - every kernel of every ISA against the C reference, over
 * odd sizes, from the set of instructions on that --from SET names; with
 * --bench [WORD] times the same calls instead
 *
 * Products with block weights must give the same bits; floats may differ by
 * what another order of sums makes. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ggml.h>

#include "core/half.h"
#include "core/mem.h"
#include "cpu/column.h"
#include "cpu/kernels.h"
#include "quant/blocks.h"
#include "quant/types.h"
#include "tap.h"

void
fill_vnni_avx512(struct cpu_kernels *k);

static uint64_t state = 1;

/* Uniform in [-1, 1). */
static float
draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(state >> 32) * 0x1p-31f;
}

static void
fill(float *x, int64_t n, float scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = draw() * scale;
}

static void *
room(size_t size)
{
    void *p = mem_aligned(64, size + 64);

    if (!p)
        exit(1);
    memset(p, 0x5a, size + 64);
    return p;
}

/* |a - b| is at most `ulps` half-units of the larger, or of `least`. */
static bool
near(float a, float b, float ulps, float least)
{
    float size = fmaxf(fmaxf(fabsf(a), fabsf(b)), least);

    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return fabsf(a - b) <= ulps * 0x1p-24f * size;
}

static const int64_t sizes[] = { 1,   2,   3,   7,   8,   9,   15,  16,
                                 17,  31,  32,  33,  63,  64,  65,  100,
                                 127, 128, 129, 200, 255, 256, 257, 1000 };
#define N_SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LONGEST 1024

static float xs[LONGEST], zs[LONGEST], ya[LONGEST + 1], yb[LONGEST + 1];

/* All of a row, and that nothing was written after it. */
static bool
same_row(int64_t n, float ulps, float least)
{
    for (int64_t i = 0; i < n; i++)
        if (!near(ya[i], yb[i], ulps, least)) {
            printf("# n %d, [%d]: %.9g, not %.9g, for %.9g\n", (int)n, (int)i,
                   (double)yb[i], (double)ya[i], (double)xs[i]);
            return false;
        }
    return yb[n] == 12345;
}

static bool
check_map(cpu_map_fn ref, cpu_map_fn fn, float scale, float ulps)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        fill(xs, sizes[s], scale);
        yb[sizes[s]] = 12345;
        ref(sizes[s], ya, xs);
        fn(sizes[s], yb, xs);
        good = same_row(sizes[s], ulps, 0x1p-126f);
    }
    return good;
}

static bool
check_zip(cpu_zip_fn ref, cpu_zip_fn fn, float scale, float ulps)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        fill(xs, sizes[s], scale);
        fill(zs, sizes[s], scale);
        yb[sizes[s]] = 12345;
        ref(sizes[s], ya, xs, zs);
        fn(sizes[s], yb, xs, zs);
        good = same_row(sizes[s], ulps, 0x1p-126f);
    }
    return good;
}

static void
say(bool good, const struct cpu_kernels *k, const char *slot)
{
    char name[100];

    snprintf(name, sizeof(name), "%s: %s is like the reference", k->name, slot);
    ok(good, name);
}

static void
check_elements(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
#define ZIP(slot, ulps) say(check_zip(c->slot, k->slot, 4, ulps), k, #slot)
#define MAP(slot, scale, ulps)                                                 \
    say(check_map(c->slot, k->slot, scale, ulps), k, #slot)
    ZIP(add, 0);
    ZIP(sub, 0);
    ZIP(mul, 0);
    ZIP(div, 0);
    ZIP(swiglu, 16);
    ZIP(geglu, 40);
    ZIP(geglu_erf, 40);
    MAP(exp, 100, 4); /* into the subnormals, and to infinity */
    MAP(tanh, 12, 16);
    MAP(tanh, 0.5f, 16);
    MAP(silu, 20, 8);
    MAP(sigmoid, 90, 8);
    MAP(gelu, 4, 40); /* the exponent's rounding grows with it */
    MAP(gelu_erf, 4, 20);
    MAP(gelu_erf, 0.5f, 6);
    MAP(gelu_quick, 10, 40);
}

static bool
check_scales(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        int64_t n = sizes[s];

        fill(xs, n, 3);
        fill(zs, n, 3);
        yb[n] = 12345;
        c->scale(n, ya, xs, 0.7f, 0.2f);
        k->scale(n, yb, xs, 0.7f, 0.2f);
        good = same_row(n, 4, 1);
    }
    return good;
}

static bool
check_sums(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        int64_t n = sizes[s];
        float least = (float)n, top;

        fill(xs, n, 3);
        good = near(c->sum(n, xs), k->sum(n, xs), 8, least) &&
               near(c->sum_squares(n, xs, 0.3f), k->sum_squares(n, xs, 0.3f),
                    16, least);
        top = c->max(n, xs);
        good = good && top == k->max(n, xs);
        yb[n] = 12345;
        good = good && near(c->exp_sum(n, ya, xs, top),
                            k->exp_sum(n, yb, xs, top), 16, 1);
        good = good && same_row(n, 4, 0x1p-126f);
    }
    return good && k->max(0, xs) == -INFINITY;
}

static bool
check_rotate(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        int64_t n = sizes[s] / 2;

        fill(xs, 2 * n, 1);
        fill(zs, 2 * n, 1);
        yb[2 * n] = 12345;
        c->rotate(n, ya, ya + n, xs, xs + n, zs, zs + n);
        k->rotate(n, yb, yb + n, xs, xs + n, zs, zs + n);
        good = same_row(2 * n, 8, 1);
        yb[2 * n] = 12345;
        c->rotate_pairs(2 * n, ya, xs, zs + 1, zs);
        k->rotate_pairs(2 * n, yb, xs, zs + 1, zs);
        good = good && same_row(2 * n, 8, 1);
    }
    return good;
}

/* All 65,536 halves there and back, and floats that round. */
static bool
check_conversion(const struct cpu_kernels *c, const struct cpu_kernels *k,
                 enum ggml_type type)
{
    static uint16_t halves[65536], out[65536];
    static float a[65536], b[65536];
    bool good;

    for (int i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    c->to_float[type](halves, a, 65535);
    k->to_float[type](halves, b, 65535);
    good = true; /* hardware makes signalling NaNs quiet */
    for (int i = 0; i < 65535 && good; i++)
        good = float_bits(a[i]) == float_bits(b[i]) ||
               (isnan(a[i]) && isnan(b[i]));
    for (int i = 0; i < 65536; i++) {
        uint32_t u = (uint32_t)i << 16 | (uint32_t)(i * 40503u & 0xffff);

        a[i] = bits_float(u);
    }
    c->from_float[type](a, halves, 65533);
    k->from_float[type](a, out, 65533);
    for (int i = 0; i < 65533 && good; i++)
        good = halves[i] == out[i];
    return good;
}

static const enum ggml_type weight_types[] = {
    GGML_TYPE_F32,     GGML_TYPE_F16,     GGML_TYPE_BF16,   GGML_TYPE_Q8_0,
    GGML_TYPE_Q4_0,    GGML_TYPE_Q4_K,    GGML_TYPE_Q6_K,   GGML_TYPE_Q5_K,
    GGML_TYPE_Q3_K,    GGML_TYPE_Q2_K,    GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,
    GGML_TYPE_Q5_1,    GGML_TYPE_IQ4_NL,  GGML_TYPE_IQ4_XS, GGML_TYPE_MXFP4,
    GGML_TYPE_NVFP4,   GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_S,
    GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,   GGML_TYPE_IQ1_S,  GGML_TYPE_IQ1_M,
    GGML_TYPE_TQ1_0,   GGML_TYPE_TQ2_0,   GGML_TYPE_Q1_0,   GGML_TYPE_Q2_0
};
#define N_TYPES ((int)(sizeof(weight_types) / sizeof(weight_types[0])))

struct operands {
    float *x, *out_a, *out_b;
    char *rows, *cols_a, *cols_b;
    struct cpu_product a, b;
    const struct cpu_mul_mat *ma, *mb;
    enum ggml_type type;
};

static char *
columns(const struct cpu_mul_mat *m, int64_t k, int64_t n, const float *x,
        size_t *stride)
{
    size_t row = (size_t)k * sizeof(float);
    char *cols;

    *stride = m->column_size ? m->column_size(k) : (row + 63) / 64 * 64;
    cols = room(*stride * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        if (m->prepare)
            m->prepare(x + i * k, cols + (size_t)i * *stride, k);
        else
            memcpy(cols + (size_t)i * *stride, x + i * k, row);
    }
    return cols;
}

/* Columns in eight bits: every kernel makes the same bytes. */
static bool
check_column(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    const struct cpu_mul_mat *mc = &c->mul_mat[GGML_TYPE_Q4_0];
    const struct cpu_mul_mat *mk = &k->mul_mat[GGML_TYPE_Q4_0];
    bool good = true;

    for (int64_t n = 32; n <= 2400 && good; n += 32) {
        size_t size = mc->column_size(n);
        float *x = room((size_t)n * sizeof(*x));
        char *a = room(size), *b = room(size);

        for (int64_t i = 0; i < n; i++)
            x[i] = i / 32 % 5 == 1 ? 0
                                   : ldexpf((float)(i * 7919 % 2003) - 1001,
                                            (int)(i / 32 % 60) - 30);
        memset(a, 0, size);
        memset(b, 0, size);
        mc->prepare(x, a, n);
        mk->prepare(x, b, n);
        good = mk->column_size(n) == size && !memcmp(a, b, size);
        free(x);
        free(a);
        free(b);
    }
    return good;
}

/* Of what is no number, or too small, some bytes come; what is said of them is
 * so. */
static bool
check_bad_column(const struct cpu_kernels *k)
{
    static const float bad[] = { INFINITY, -INFINITY, NAN, 1e-40f, -1e-44f };
    const struct cpu_mul_mat *m = &k->mul_mat[GGML_TYPE_Q4_0];
    const int64_t n = 32 * 37;
    float *x = room((size_t)n * sizeof(*x));
    char *column = room(m->column_size(n));
    const int16_t *pairs;
    bool good = true;

    for (int64_t i = 0; i < n; i++)
        x[i] = i / 32 % 6 == 5 || i % 3 ? bad[i / 32 % 6 % 5] : 1;
    m->prepare(x, column, n);
    pairs = (const int16_t *)(const void *)column_minus_pairs(column, n);
    for (int64_t i = 0; i < n / 8; i++) {
        const int8_t *q = (const int8_t *)column + i / 2 * 16 + i % 2 * 2;
        int sum = 0;

        for (int j = 0; j < 16; j += 4)
            sum += q[j] + q[j + 1];
        good = good && pairs[i] == -sum;
    }
    free(x);
    free(column);
    return good;
}

/* Any bytes, but for the F16s among the scales of the first blocks, which are
 * sound. */
static void
fill_blocks(enum ggml_type type, char *rows, size_t size, size_t sound)
{
    const struct quant_type *t = quant_type(type);

    for (size_t i = 0; i < size; i++)
        rows[i] = (char)(int8_t)(draw() * 128);
    for (size_t b = 0; b < sound; b += t->traits.type_size)
        for (int i = 0; i < t->n_scales; i++) {
            uint16_t d = ggml_fp32_to_fp16(draw());

            memcpy(rows + b + t->scale_at[i], &d, sizeof(d));
        }
}

/* Weights: quantised, or any bytes as blocks; half of each where both can be
 * had soon. In the last row, scales are any bytes as well. */
static void
fill_rows(enum ggml_type type, const float *w, char *rows, int64_t n,
          int64_t n_rows)
{
    int64_t quantised = n_rows;
    size_t stride = ggml_row_size(type, n);

    if (ggml_blck_size(type) > 1) {
        fill_blocks(type, rows, stride * (size_t)n_rows,
                    stride * (size_t)(n_rows - 1));
        quantised = ggml_blck_size(type) == 32 ? n_rows / 2 : 0;
    }
    if (quantised)
        ggml_quantize_chunk(type, w, rows, 0, quantised, n, NULL);
}

/* Some kernels take activations as BF16: these are. */
static void
round_to_bf16(const struct cpu_kernels *c, float *x, int64_t n)
{
    uint16_t *halves = room((size_t)n * sizeof(*halves));

    c->from_float[GGML_TYPE_BF16](x, halves, n);
    c->to_float[GGML_TYPE_BF16](halves, x, n);
    mem_free(halves);
}

static void
make_operands(struct operands *o, const struct cpu_kernels *c,
              const struct cpu_kernels *k, enum ggml_type type, int64_t n,
              int64_t n_rows, int64_t n_cols)
{
    float *w = room((size_t)(n * n_rows) * sizeof(float));
    size_t stride = ggml_row_size(type, n);

    o->type = type;
    o->ma = &c->mul_mat[type];
    o->mb = &k->mul_mat[type];
    o->x = room((size_t)(n * n_cols) * sizeof(float));
    o->out_a = room((size_t)(n_rows * n_cols) * sizeof(float));
    o->out_b = room((size_t)(n_rows * n_cols) * sizeof(float));
    o->rows = room(stride * (size_t)n_rows);
    fill(w, n * n_rows, 1);
    fill(o->x, n * n_cols, 2);
    if (type == GGML_TYPE_BF16)
        round_to_bf16(c, o->x, n * n_cols);
    fill_rows(type, w, o->rows, n, n_rows);
    o->a = (struct cpu_product){ .k = n,
                                 .n_rows = n_rows,
                                 .n_cols = n_cols,
                                 .rows = o->rows,
                                 .row_stride = stride,
                                 .out_stride = (size_t)n_rows };
    o->b = o->a;
    o->cols_a = columns(o->ma, n, n_cols, o->x, &o->a.col_stride);
    o->cols_b = columns(o->mb, n, n_cols, o->x, &o->b.col_stride);
    o->a.cols = o->cols_a;
    o->b.cols = o->cols_b;
    o->a.out = o->out_a;
    o->b.out = o->out_b;
    if (o->mb->scratch_size)
        o->b.scratch = room(o->mb->scratch_size(n));
    mem_free(w);
}

static void
free_operands(struct operands *o)
{
    mem_free(o->x);
    mem_free(o->out_a);
    mem_free(o->out_b);
    mem_free(o->rows);
    mem_free(o->cols_a);
    mem_free(o->cols_b);
    mem_free(o->b.scratch);
}

/* Multiplies; true if both find the same n elements. */
static bool
same_product(struct operands *o, int64_t n)
{
    bool good = true;

    o->ma->multiply(&o->a);
    o->mb->multiply(&o->b);
    for (int64_t i = 0; i < n && good; i++)
        good = o->out_a[i] == o->out_b[i] ||
               (isnan(o->out_a[i]) && isnan(o->out_b[i]));
    return good;
}

static bool
check_product(const struct cpu_kernels *c, const struct cpu_kernels *k,
              enum ggml_type type, int64_t n, int64_t n_rows, int64_t n_cols)
{
    bool exact = ggml_is_quantized(type), good;
    struct operands o = { 0 };

    make_operands(&o, c, k, type, n, n_rows, n_cols);
    good = same_product(&o, n_rows * n_cols) || !exact;
    for (int64_t i = 0; i < n_rows * n_cols && good && !exact; i++)
        good = near(o.out_a[i], o.out_b[i], 16, sqrtf((float)n));
    if (exact)
        good =
            good && memcmp(o.cols_a, o.cols_b, (size_t)(n + n / 32 * 20)) == 0;
    if (!good)
        printf("# %s: k %d, %d x %d\n", ggml_type_name(type), (int)n,
               (int)n_rows, (int)n_cols);
    free_operands(&o);
    return good;
}

static bool
check_products(const struct cpu_kernels *c, const struct cpu_kernels *k,
               enum ggml_type type)
{
    static const int64_t lengths[] = { 1,  3,  8,   15,  16, 17,
                                       40, 96, 130, 512, 768 };
    static const int64_t rows[] = { 1, 3, 4, 5, 8, 15, 16, 17, 33 };
    static const int64_t cols[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 23, 29 };
    int64_t block = ggml_blck_size(type), last = 0;
    bool good = true;

    for (int i = 0; i < 11 && good; i++) {
        int64_t n = (lengths[i] + block - 1) / block * block;

        for (int r = 0; r < 9 && good && n > last; r++)
            for (int j = 0; j < 13 && good; j++)
                good = check_product(c, k, type, n, rows[r], cols[j]);
        last = n;
    }
    return good;
}

/* An element is the same alone as in any tile, with gaps between the rows or
 * without; `o` has rows without. */
static bool
check_each_element(const struct operands *o, size_t gap)
{
    struct cpu_product p = o->b, one;
    char *rows = room((p.row_stride + gap) * (size_t)p.n_rows);
    bool good = true;
    float v;

    for (int64_t r = 0; r < p.n_rows; r++)
        memcpy(rows + (p.row_stride + gap) * (size_t)r,
               p.rows + p.row_stride * (size_t)r, p.row_stride);
    p.rows = rows;
    p.row_stride += gap;
    o->mb->multiply(&p);
    for (int64_t i = 0; i < p.n_rows * p.n_cols && good; i++) {
        one = o->b;
        one.rows += one.row_stride * (size_t)(i % p.n_rows);
        one.cols += one.col_stride * (size_t)(i / p.n_rows);
        one.n_rows = one.n_cols = 1;
        one.out = &v;
        o->mb->multiply(&one);
        good = memcmp(&v, &p.out[i], sizeof(v)) == 0 ||
               (isnan(v) && isnan(p.out[i]));
    }
    mem_free(rows);
    return good;
}

static bool
check_alone(const struct cpu_kernels *c, const struct cpu_kernels *k,
            enum ggml_type type)
{
    static const int64_t lengths[] = { 3, 16, 40, 80, 128 };
    int64_t block = ggml_blck_size(type), last = 0;
    bool good = true, here = cpu_large_second_cache;

    for (int i = 0; i < 5; i++) {
        int64_t length = (lengths[i] + block - 1) / block * block;

        for (int64_t r = 1; r <= 53 && length > last; r += 1 + r / 12)
            for (int64_t n = 1; n <= 8 && good; n++) {
                struct operands o = { 0 };

                cpu_large_second_cache = r % 2;
                make_operands(&o, c, k, type, length, r, n);
                good = check_each_element(&o, 0) && check_each_element(&o, 96);
                free_operands(&o);
            }
        last = length;
    }
    cpu_large_second_cache = here;
    return good;
}

/* Enough columns, rows and values that they come in blocks, of the first cache
 * or of the second; or the only column in strips. */
static bool
check_alone_of_many(const struct cpu_kernels *c, const struct cpu_kernels *k,
                    enum ggml_type type)
{
    static const int64_t shapes[][3] = {
        { 3, 150, 24 },   { 40, 21, 29 }, { 520, 9, 31 },  { 2200, 53, 13 },
        { 9001, 19, 25 }, { 2048, 7, 1 }, { 2049, 13, 1 }, { 9001, 18, 1 },
    };
    bool good = true, here = cpu_large_first_cache;

    for (int i = 0; i < 16 && good; i++) {
        const int64_t *shape = shapes[i / 2];
        struct operands o = { 0 };

        cpu_large_first_cache = i % 2;
        make_operands(&o, c, k, type, shape[0], shape[1], shape[2]);
        good = check_each_element(&o, 0);
        free_operands(&o);
    }
    cpu_large_first_cache = here;
    return good;
}

/* Where the codes of a block are, without its scales. */
struct codes {
    enum ggml_type type;
    size_t at, size;
};

/* Bytes that make codes the least and the largest there are: a row of each, and
 * one of all of them. What kernels add up in 16 bits just fits. */
static void
fill_extremes(struct operands *o, struct codes codes, int64_t n, int64_t n_rows)
{
    static const unsigned char bytes[] = { 0, 0xff, 0x77, 0x80, 0x7f, 0x81 };
    const size_t each = sizeof(bytes);
    size_t size = ggml_type_size(codes.type), blocks;

    blocks = ggml_row_size(codes.type, n) / size;
    for (size_t i = 0; i < (size_t)n_rows * blocks; i++) {
        char *q = o->rows + i * size + codes.at;
        size_t kind = i / blocks % (each + 1);

        for (size_t j = 0; j < codes.size; j++)
            q[j] = (char)
                bytes[kind < each ? kind
                                  : (size_t)((draw() + 1) / 2 * each) % each];
    }
}

static bool
check_extremes_of(const struct cpu_kernels *c, const struct cpu_kernels *k,
                  struct codes codes)
{
    const int64_t n = 512, n_rows = 33;
    bool good = true;

    for (int64_t n_cols = 1; n_cols <= 9 && good; n_cols++) {
        struct operands o = { 0 };

        make_operands(&o, c, k, codes.type, n, n_rows, n_cols);
        fill_extremes(&o, codes, n, n_rows);
        for (int64_t j = 0; j < n_cols; j++) {
            float *x = o.x + j * n;

            for (int64_t i = 0; i < n; i++)
                x[i] = j % 3 ? copysignf(1, j % 3 == 1 ? -1 : draw()) : 1;
            o.ma->prepare(x, o.cols_a + (size_t)j * o.a.col_stride, n);
            o.mb->prepare(x, o.cols_b + (size_t)j * o.b.col_stride, n);
        }
        good = same_product(&o, n_rows * n_cols);
        free_operands(&o);
    }
    return good;
}

static bool
check_extremes(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
#define CODES(TYPE, type, first, n)                                            \
    {                                                                          \
        GGML_TYPE_##TYPE, offsetof(struct block_##type, first), n              \
    }
    static const struct codes all[] = {
        CODES(Q8_0, q8_0, qs, 32),     CODES(Q4_0, q4_0, qs, 16),
        CODES(Q4_1, q4_1, qs, 16),     CODES(Q5_0, q5_0, qh, 20),
        CODES(Q5_1, q5_1, qh, 20),     CODES(Q2_K, q2_k, qs, 64),
        CODES(Q3_K, q3_k, qh, 96),     CODES(Q4_K, q4_k, qs, 128),
        CODES(Q5_K, q5_k, qh, 160),    CODES(Q6_K, q6_k, ql, 192),
        CODES(IQ4_NL, iq4_nl, qs, 16), CODES(IQ4_XS, iq4_xs, qs, 128),
        CODES(MXFP4, mxfp4, qs, 16),   CODES(NVFP4, nvfp4, qs, 32),
    };
#undef CODES
    bool good = true;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all) && good; i++)
        good = check_extremes_of(c, k, all[i]);
    return good;
}

/* Weights of F16 that are rounded: the bytes of a product with weights that
 * were stored as BF16. */
static bool
check_rounded_product(const struct cpu_kernels *c, const struct cpu_kernels *k,
                      int64_t n, int64_t n_rows, int64_t n_cols)
{
    struct operands o = { 0 };
    char *halves = room((size_t)(n * n_rows) * 2);
    float *w = room((size_t)(n * n_rows) * sizeof(*w));
    struct cpu_product p;
    bool good;

    make_operands(&o, c, k, GGML_TYPE_BF16, n, n_rows, n_cols);
    fill(w, n * n_rows, 1);
    c->from_float[GGML_TYPE_F16](w, halves, n * n_rows);
    c->to_float[GGML_TYPE_F16](halves, w, n * n_rows);
    c->from_float[GGML_TYPE_BF16](w, o.rows, n * n_rows);
    o.mb->multiply(&o.b);
    p = o.b;
    p.rows = halves;
    p.out = o.out_a;
    p.scratch = room(k->mul_mat_rounded.scratch_size(n));
    k->mul_mat_rounded.multiply(&p);
    good = memcmp(o.out_a, o.out_b,
                  (size_t)(n_rows * n_cols) * sizeof(*o.out_a)) == 0;
    if (!good)
        printf("# rounded: k %d, %d x %d\n", (int)n, (int)n_rows, (int)n_cols);
    mem_free(p.scratch);
    mem_free(w);
    mem_free(halves);
    free_operands(&o);
    return good;
}

static bool
check_rounded(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static const int64_t lengths[] = { 1, 15, 16, 17, 31, 32, 33, 130, 768 };
    static const int64_t rows[] = { 1, 3, 4, 9, 48, 53 };
    static const int64_t cols[] = { 1, 2, 5, 6, 7, 12, 29 };
    bool good = true;

    for (int i = 0; i < 9; i++)
        for (int r = 0; r < 6; r++)
            for (int j = 0; j < 7 && good; j++)
                good =
                    check_rounded_product(c, k, lengths[i], rows[r], cols[j]);
    return good && check_rounded_product(c, k, 9001, 21, 13);
}

/* Values of rows that have no weight may be anything. */
static bool
check_weigh(const struct cpu_kernels *c, const struct cpu_kernels *k,
            enum ggml_type type)
{
    int64_t n_rows = 37;
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        int64_t n = sizes[s];
        size_t stride = ggml_row_size(type, n);
        float *v = room((size_t)(n * n_rows) * sizeof(float));
        char *rows = room(stride * (size_t)n_rows);

        fill(v, n * n_rows, 1);
        fill(zs, n_rows, 1);
        fill(ya, n, 1);
        zs[5] = 0;
        for (int64_t i = 0; i < n; i++)
            v[5 * n + i] = NAN;
        memcpy(yb, ya, (size_t)n * sizeof(*ya));
        yb[n] = 12345;
        ggml_quantize_chunk(type, v, rows, 0, n_rows, n, NULL);
        c->weigh_rows[type](n, ya, rows, stride, zs, n_rows);
        k->weigh_rows[type](n, yb, rows, stride, zs, n_rows);
        good = same_row(n, 16, 4);
        mem_free(v);
        mem_free(rows);
    }
    return good;
}

/* c = a b, or added to what is there; beyond n nothing is touched. */
static bool
check_panel(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static const int64_t depths[] = { 1, 2, 7, 64, 130 };
    float *a = room(20 * 130 * sizeof(float)), *b = room(130 * 101 * 4);
    float *out[2] = { room(20 * 99 * 4), room(20 * 99 * 4) };
    bool good = true;

    fill(a, 20 * 130, 1);
    fill(b, 130 * 101, 1);
    for (int64_t m = 1; m <= 20; m++)
        for (int64_t n = 16; n <= 96; n += 16)
            for (int d = 0; d < 5 && good; d++) {
                struct cpu_panel p = { m, n,   depths[d], a,  b,
                                       0, 130, 101,       99, d % 2 };

                fill(out[0], 20 * 99, 1);
                memcpy(out[1], out[0], 20 * 99 * 4);
                p.c = out[0];
                c->multiply_panel(&p);
                p.c = out[1];
                k->multiply_panel(&p);
                for (int64_t i = 0; i < 20 * 99 && good; i++)
                    good = i / 99 < m && i % 99 < n
                               ? near(out[0][i], out[1][i], 16, 12)
                               : out[0][i] == out[1][i];
            }
    mem_free(a);
    mem_free(b);
    mem_free(out[0]);
    mem_free(out[1]);
    return good;
}

/* The same bytes as a product of rows. */
static bool
check_lanes(const struct cpu_kernels *k)
{
    static const int64_t depths[] = { 1, 16, 40, 64, 80, 128 };
    float *a = room(20 * 128 * 4), *b = room(128 * 64 * 4);
    float *bt = room(64 * 128 * 4),
          *out[2] = { room(20 * 64 * 4), room(20 * 64 * 4) };
    bool good = true;

    for (int d = 0; d < 6; d++)
        for (int64_t m = 1; m <= 20; m++) {
            int64_t n = (m % 4 + 1) * 16, depth = depths[d];
            struct cpu_panel p = { .m = m,
                                   .n = n,
                                   .k = depth,
                                   .a = a,
                                   .b = b,
                                   .c = out[0],
                                   .a_stride = 128,
                                   .b_stride = 64,
                                   .c_stride = 64 };
            struct cpu_product q = { .k = depth,
                                     .n_rows = n,
                                     .n_cols = m,
                                     .rows = (const char *)bt,
                                     .row_stride = 512,
                                     .cols = (const char *)a,
                                     .col_stride = 512,
                                     .out = out[1],
                                     .out_stride = 64 };

            memset(a, 0, 20 * 128 * 4);
            for (int64_t i = 0; i < 128 * 64; i++)
                b[i] = i / 64 < depth ? draw() : 0;
            for (int64_t i = 0; i < m; i++)
                fill(a + i * 128, depth, 1);
            for (int64_t i = 0; i < 128 * 64; i++)
                bt[i % 64 * 128 + i / 64] = b[i];
            k->multiply_lanes(&p);
            k->mul_mat[GGML_TYPE_F32].multiply(&q);
            for (int64_t i = 0; i < m && good; i++)
                good = memcmp(out[0] + i * 64, out[1] + i * 64,
                              (size_t)n * 4) == 0;
        }
    mem_free(a);
    mem_free(b);
    mem_free(bt);
    mem_free(out[0]);
    mem_free(out[1]);
    return good;
}

static bool
check_transpose(const struct cpu_kernels *k)
{
    float *x = room(64 * 45 * 4), *y = room(44 * 70 * 4);
    bool good = true;

    fill(x, 64 * 45, 1);
    for (int64_t rows = 16; rows <= 64; rows += 16)
        for (int64_t n = 4; n <= 44; n += 4) {
            for (int i = 0; i < 44 * 70; i++)
                y[i] = 5;
            k->transpose(rows, n, x, 45, y, 70);
            for (int64_t i = 0; i < 44; i++)
                for (int64_t r = 0; r < 70; r++)
                    good = good && y[i * 70 + r] ==
                                       (i < n && r < rows ? x[r * 45 + i] : 5);
        }
    mem_free(x);
    mem_free(y);
    return good;
}

static bool
check_mask(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    static uint16_t m[LONGEST];
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        fill(ya, sizes[s], 3);
        for (int64_t i = 0; i < sizes[s]; i++)
            m[i] = i % 3 ? ggml_fp32_to_fp16(draw()) : 0xfc00;
        if (sizes[s] > 6)
            ya[6] = NAN; /* hidden */
        memcpy(yb, ya, (size_t)sizes[s] * sizeof(*ya));
        yb[sizes[s]] = 12345;
        c->mask_scores(sizes[s], ya, m, 0.5f);
        k->mask_scores(sizes[s], yb, m, 0.5f);
        good = same_row(sizes[s], 2, 1e-6f);
    }
    return good;
}

static bool
check_oai(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        fill(xs, sizes[s], 12);
        fill(zs, sizes[s], 12);
        yb[sizes[s]] = 12345;
        c->swiglu_oai(sizes[s], ya, xs, zs, 1.702f, 7);
        k->swiglu_oai(sizes[s], yb, xs, zs, 1.702f, 7);
        good = same_row(sizes[s], 8, 1e-30f);
    }
    return good;
}

/* The same floats from blocks. */
static bool
check_blocks(const struct cpu_kernels *c, const struct cpu_kernels *k,
             enum ggml_type type)
{
    char *blocks = room(ggml_row_size(type, LONGEST / 32 * 32));

    fill(xs, LONGEST, 3);
    ggml_quantize_chunk(type, xs, blocks, 0, 1, LONGEST / 32 * 32, NULL);
    c->to_float[type](blocks, ya, LONGEST / 32 * 32);
    k->to_float[type](blocks, yb, LONGEST / 32 * 32);
    mem_free(blocks);
    return memcmp(ya, yb, LONGEST / 32 * 32 * sizeof(*ya)) == 0;
}

/* What is there for a type, as it is in the set before. */
static bool
same_products(const struct cpu_kernels *k, const struct cpu_kernels *before,
              enum ggml_type type)
{
    return before &&
           k->mul_mat[type].multiply == before->mul_mat[type].multiply;
}

/* All but products. */
static void
check_rows(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    char name[60];

    check_elements(c, k);
    say(check_scales(c, k), k, "scale");
    say(check_sums(c, k), k, "sums, max, exp_sum");
    say(check_rotate(c, k), k, "rotate");
    say(check_column(c, k) && check_bad_column(k), k, "columns in eight bits");
    say(check_panel(c, k), k, "multiply_panel");
    say(check_lanes(k), k, "multiply_lanes, as a product of rows,");
    say(check_transpose(k), k, "transpose");
    say(check_mask(c, k), k, "mask_scores");
    say(check_oai(c, k), k, "swiglu_oai");
    say(check_blocks(c, k, GGML_TYPE_Q8_0), k, "Q8_0 to floats");
    say(check_conversion(c, k, GGML_TYPE_F16), k, "F16 conversion");
    say(check_conversion(c, k, GGML_TYPE_BF16), k, "BF16 conversion");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "weigh_rows %s",
                 ggml_type_name(weight_types[i]));
        say(check_weigh(c, k, weight_types[i]), k, name);
    }
}

/* `before`: the set before, NULL if that was not checked. */
static void
check_isa(const struct cpu_kernels *c, const struct cpu_kernels *k,
          const struct cpu_kernels *before)
{
    char name[60];

    check_rows(c, k);
    if (k->mul_mat_rounded.multiply)
        say(check_rounded(c, k), k, "mul_mat f16, rounded to bf16,");
    say(check_extremes(c, k), k, "mul_mat, of the least and largest codes,");
    for (int i = 0; i < N_TYPES; i++) {
        if (same_products(k, before, weight_types[i]))
            continue;
        snprintf(name, sizeof(name), "mul_mat %s",
                 ggml_type_name(weight_types[i]));
        say(check_products(c, k, weight_types[i]), k, name);
        snprintf(name, sizeof(name), "mul_mat %s, an element alone",
                 ggml_type_name(weight_types[i]));
        say(check_alone(c, k, weight_types[i]), k, name);
    }
    for (int i = 0; i < 3; i++) {
        if (same_products(k, before, weight_types[i]))
            continue;
        snprintf(name, sizeof(name), "mul_mat %s, an element of many",
                 ggml_type_name(weight_types[i]));
        say(check_alone_of_many(c, k, weight_types[i]), k, name);
    }
}

#include "kernel_bench.h"

/* Those of AVX-VNNI, in AVX-512's encoding: see vnni_avx512.c. */
static const struct cpu_kernels *
vnni_of_avx512(void)
{
#if defined(HAVE_AVXVNNI) && defined(HAVE_AVX512)
    static struct cpu_kernels k;

    if (!cpu_kernels_named("avx512"))
        return NULL;
    k = *cpu_kernels_named("avx2");
    k.name = "avxvnni as avx512";
    fill_vnni_avx512(&k);
    return &k;
#else
    return NULL;
#endif
}

int
main(int argc, char **argv)
{
    bool timing = argc > 1 && strcmp(argv[1], "--bench") == 0;
    const char *from =
        argc > 2 && strcmp(argv[1], "--from") == 0 ? argv[2] : "c";
    const struct cpu_kernels *before = NULL;
    struct sets sets = { .word = argc > 2 ? argv[2] : NULL };
    const struct cpu_kernels *vnni = vnni_of_avx512();
    const char *isa;

    for (int i = 0; (isa = cpu_kernels_name(i)) != NULL; i++) {
        const struct cpu_kernels *k = cpu_kernels_named(isa);

        if (k && timing)
            sets.k[sets.n++] = k;
        else if (k && (before || strcmp(isa, from) == 0)) {
            check_isa(cpu_kernels_reference(), k, before);
            before = k;
        }
    }
    if (vnni && !timing)
        check_isa(cpu_kernels_reference(), vnni, cpu_kernels_named("avx2"));
    if (!timing)
        return tap_done();
    bench(&sets);
    return 0;
}
