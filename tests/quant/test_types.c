/* test_types.c - every block type: what its bits mean, and how well it is
 * written; against figures that others made (golden_types.h) and against the
 * layouts' definitions */
#include "cpu/cpu_test.h"
#include "harness/block_crc.h"
#include "quant/types.h"

enum {
    N_BLOCKS = 257, /* odd */
    ROWS = 4,
    LENGTH = 2048,
    VALUES = ROWS * LENGTH
};

/* A line of golden_types.h. */
struct golden {
    enum ggml_type type;
    int values, size, scale_at[2]; /* -1: no F16 scale */
    uint32_t floats, written;
    double errors[4];
};

static const struct golden golden[] = {
#include "fixtures/golden_types.h"
};
#define N_GOLDEN ((int)(sizeof(golden) / sizeof(golden[0])))

static uint64_t state;

static uint32_t
next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static double
uniform(void)
{
    return (double)(int32_t)next() / 2147483648.0;
}

static const char *
say(const char *type, const char *what)
{
    static char line[120];

    snprintf(line, sizeof(line), "%s: %s", type, what);
    return line;
}

/* Every pattern of bits, but for scales that are not finite; the same that
 * golden_types.py makes. */
static uint8_t *
random_blocks(const struct golden *g)
{
    size_t size = (size_t)g->size;
    uint8_t *blocks = malloc(N_BLOCKS * size);

    state = (uint64_t)g->type;
    for (size_t i = 0; i < N_BLOCKS * size; i++)
        blocks[i] = (uint8_t)(next() >> 24);
    for (size_t b = 0; b < N_BLOCKS; b++) {
        for (int s = 0; s < 2 && g->scale_at[s] >= 0; s++) {
            uint8_t *scale = blocks + b * size + g->scale_at[s];

            if ((scale[1] & 0x7c) == 0x7c)
                scale[1] ^= 0x40;
            if (b == 5)
                scale[0] = scale[1] = 0;
        }
        if (g->type == GGML_TYPE_IQ1_M)
            blocks[b * size + 55] &= 0xbf;
        if (g->type == GGML_TYPE_MXFP4)
            blocks[b * size] &= 0x7f;
    }
    if (CORE_BIG_ENDIAN)
        quant_swap_order(g->type, blocks, N_BLOCKS * size);
    return blocks;
}

/* The meaning of two types that the package lacks, from their definitions. */
static double
defined_value(enum ggml_type type, const uint8_t *block, int j)
{
    const uint8_t *bits = block + 2;
    ggml_fp16_t half;
    double d;

    memcpy(&half, block, sizeof(half));
    d = (double)ggml_fp16_to_fp32(half);
    if (type == GGML_TYPE_Q1_0)
        return (bits[j / 8] >> (j % 8) & 1) ? d : -d;
    return d * ((bits[j / 4] >> (j % 4 * 2) & 3) - 1);
}

static void
test_definition(const struct golden *g, const uint8_t *blocks, const float *y)
{
    bool same = true;

    for (int i = 0; i < N_BLOCKS * g->values; i++)
        same =
            same && (double)y[i] ==
                        defined_value(g->type, blocks + i / g->values * g->size,
                                      i % g->values);
    ok(same, say(ggml_type_name(g->type), "as it is defined"));
}

static void
test_reading(const struct golden *g)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(g->type);
    size_t n = (size_t)N_BLOCKS * (size_t)g->values;
    uint8_t *blocks = random_blocks(g);
    float *y = malloc((n + 1) * sizeof(*y)), *part = malloc(n * sizeof(*y));
    bool same = true;

    y[n] = 42;
    t->to_float(blocks, y, (int64_t)n);
    ok(crc_of(GGML_TYPE_F32, y, n * sizeof(*y)) == g->floats && y[n] == 42,
       say(t->type_name, "random blocks give the floats that they should"));
    if (g->type == GGML_TYPE_Q1_0 || g->type == GGML_TYPE_Q2_0)
        test_definition(g, blocks, y);
    for (int first = 0; first < 8; first++)
        for (int count = 1; count < 6; count += 2) {
            size_t at = (size_t)first * (size_t)g->values;
            size_t m = (size_t)count * (size_t)g->values;

            part[m] = 42;
            t->to_float(blocks + first * g->size, part, (int64_t)m);
            same = same && memcmp(part, y + at, m * sizeof(*y)) == 0 &&
                   part[m] == 42;
        }
    ok(same, say(t->type_name, "any odd number of them, too"));
    free(part);
    free(y);
    free(blocks);
}

/* A bell curve and a uniform one, and weights for columns. */
static float inputs[2][VALUES], column_weights[LENGTH];

static void
make_inputs(void)
{
    state = 1;
    for (int i = 0; i < VALUES; i++) {
        double sum = 0;

        for (int j = 0; j < 12; j++)
            sum += uniform();
        inputs[0][i] = (float)(sum / 2);
    }
    for (int i = 0; i < VALUES; i++)
        inputs[1][i] = (float)uniform();
    for (int i = 0; i < LENGTH; i++) {
        double u = uniform();

        column_weights[i] = (float)(u * u + 0.01);
    }
}

/* Weighted squared error over weighted squares. */
static double
write_error(enum ggml_type type, const float *x, const float *weights)
{
    static uint8_t bytes[VALUES * 2];
    static float back[VALUES];
    double error = 0, all = 0;

    ggml_quantize_chunk(type, x, bytes, 0, ROWS, LENGTH, weights);
    ggml_get_type_traits(type)->to_float(bytes, back, VALUES);
    for (int i = 0; i < VALUES; i++) {
        double w = weights ? (double)weights[i % LENGTH] : 1;
        double e = (double)back[i] - (double)x[i];

        error += w * e * e;
        all += w * (double)x[i] * (double)x[i];
    }
    return error / all;
}

static void
test_writing(const struct golden *g)
{
    static const char *const names[] = {
        "no more error than elsewhere, bell curve",
        "no more error than elsewhere, uniform",
        "no more error than elsewhere, bell curve with weights",
        "no more error than elsewhere, uniform with weights"
    };
    static uint8_t bytes[VALUES * 2], part[VALUES * 2];
    const struct ggml_type_traits *t = ggml_get_type_traits(g->type);
    size_t n = ggml_row_size(g->type, VALUES), size = (size_t)g->size;
    bool same = true;

    for (int i = g->errors[0] > 0 ? 0 : 2; i < 4; i++) {
        double e =
            write_error(g->type, inputs[i % 2], i < 2 ? NULL : column_weights);

        ok(e <= g->errors[i] * 1.00001, say(t->type_name, names[i]));
        if (e > g->errors[i] * 1.00001)
            printf("# %g is more than %g\n", e, g->errors[i]);
    }
    ggml_quantize_chunk(g->type, inputs[0], bytes, 0, ROWS, LENGTH,
                        g->errors[0] > 0 ? NULL : column_weights);
    if (g->written)
        is(crc_of(g->type, bytes, n), g->written,
           say(t->type_name, "the same bytes"));
    ok(ggml_validate_row_data(g->type, bytes, n), say(t->type_name, "sound"));
    if (!t->from_float_ref)
        return;
    for (int count = 1; count < 8; count += 2) {
        memset(part, 0xa5, sizeof(part));
        t->from_float_ref(inputs[0], part, count * g->values);
        same = same && memcmp(part, bytes, (size_t)count * size) == 0 &&
               part[(size_t)count * size] == 0xa5;
    }
    ok(same, say(t->type_name, "block by block as at once"));
}

/* Non-finite and extreme values trap no quantiser; zeros stay zeros. */
static void
test_odd_values(const struct golden *g)
{
    static const float odd[] = { 0,         -0.0f,     NAN,   INFINITY,
                                 -INFINITY, 0x1p-149f, 3e38f, -0x1p-130f,
                                 1e-20f,    65504,     1 };
    const int n_odd = (int)(sizeof(odd) / sizeof(odd[0]));
    const struct ggml_type_traits *t = ggml_get_type_traits(g->type);
    float x[1024] = { 0 }, w[1024], y[1024];
    uint8_t bytes[2048];
    bool zeros = true;

    ggml_quantize_chunk(g->type, x, bytes, 0, 1, 1024, column_weights);
    t->to_float(bytes, y, 1024);
    for (int i = 0; i < 1024; i++)
        zeros = zeros && y[i] == 0;
    ok(zeros, say(t->type_name, "zeros stay zeros"));
    for (int a = 0; a < n_odd; a++)
        for (int b = 0; b < n_odd; b++) {
            for (int i = 0; i < 1024; i++) {
                x[i] = odd[i % 7 == 3 ? a : b];
                w[i] = odd[i % 5 == 2 ? b : a];
            }
            if (t->from_float_ref)
                ggml_quantize_chunk(g->type, x, bytes, 0, 1, 1024, NULL);
            ggml_quantize_chunk(g->type, x, bytes, 0, 1, 1024, w);
            t->to_float(bytes, y, 1024);
        }
    ok(true, say(t->type_name, "no value does harm"));
}

static void
test_damage(const struct golden *g)
{
    static const uint16_t bad[] = { 0x7c00, 0xfc00, 0x7e01 };
    uint8_t *blocks = random_blocks(g);
    size_t size = (size_t)g->size;
    bool sound = ggml_validate_row_data(g->type, blocks, N_BLOCKS * size);
    bool noticed = true;

    for (int s = 0; s < 2 && g->scale_at[s] >= 0; s++)
        for (int i = 0; i < 3; i++) {
            uint8_t *at = blocks + 100 * size + g->scale_at[s], old[2];

            memcpy(old, at, 2);
            memcpy(at, &bad[i], 2);
            noticed = noticed &&
                      !ggml_validate_row_data(g->type, blocks, N_BLOCKS * size);
            memcpy(at, old, 2);
        }
    if (g->type == GGML_TYPE_MXFP4 || g->type == GGML_TYPE_IQ1_M) {
        size_t first = g->type == GGML_TYPE_MXFP4 ? 0 : 49;

        for (size_t i = first; i < size; i += 2) /* scales of all ones */
            blocks[i] = 0xff;
        noticed = noticed &&
                  !ggml_validate_row_data(g->type, blocks, N_BLOCKS * size);
    }
    ok(sound && noticed,
       say(ggml_type_name(g->type), "scales that are not finite are noticed"));
    free(blocks);
}

/* An activation row of the types that products take, as doubles. */
static double
activation(enum ggml_type type, const char *row, int j)
{
    uint16_t half;
    float d;

    if (type == GGML_TYPE_Q8_K) {
        row += j / 256 * 292;
        memcpy(&d, row, sizeof(d));
        return (double)d * ((const int8_t *)row)[4 + j % 256];
    }
    row += j / 32 * (type == GGML_TYPE_Q8_1 ? 36 : 34);
    memcpy(&half, row, sizeof(half));
    return (double)ggml_fp16_to_fp32(half) *
           ((const int8_t *)row)[(type == GGML_TYPE_Q8_1 ? 4 : 2) + j % 32];
}

/* The product of blocks with a row of activations against their sum. */
static void
test_dot(const struct golden *g)
{
    const struct ggml_type_traits_cpu *c = ggml_get_type_traits_cpu(g->type);
    int n = g->values < 256 ? 256 * 3 : 256 * 5;
    uint8_t *blocks = random_blocks(g);
    char row[256 * 5 * 2];
    float *w = malloc((size_t)n * sizeof(*w)), got = NAN;
    double want = 0, size = 0;
    bool near = true;

    ggml_get_type_traits_cpu(c->vec_dot_type)->from_float(inputs[0], row, n);
    ggml_get_type_traits(g->type)->to_float(blocks, w, n);
    c->vec_dot(n, &got, 0, blocks, 0, row, 0, 1);
    for (int j = 0; j < n; j++) {
        double a = activation(c->vec_dot_type, row, j);

        near = near && fabs(a - (double)inputs[0][j]) < 0.02;
        want += (double)w[j] * a;
        size += fabs((double)w[j] * a);
    }
    ok(near && fabs((double)got - want) <= size * 1e-6,
       say(ggml_type_name(g->type), "the reference product"));
    free(w);
    free(blocks);
}

/* Rows of blocks in a graph: read, and multiplied. The tolerance is what
 * activations in eight bits cost; a wrong place in a block costs more. */
static void
test_graph(const struct golden *g)
{
    enum {
        K = 768,
        M = 9,
        N = 3
    };
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, g->type, K, M);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, K, N);
    struct ggml_tensor *i = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3);
    struct ggml_tensor *product = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *rows = ggml_get_rows(ctx, w, i);
    uint8_t *blocks = random_blocks(g);
    float *floats = malloc(sizeof(float) * K * M);
    bool near = true, same = true;

    memcpy(w->data, blocks, ggml_nbytes(w));
    memcpy(x->data, inputs[0], ggml_nbytes(x));
    memcpy(i->data, (int32_t[]){ 8, 0, 5 }, ggml_nbytes(i));
    ggml_get_type_traits(g->type)->to_float(blocks, floats, K * M);
    test_run(ctx, product, 2);
    test_run(ctx, rows, 2);
    for (int r = 0; r < 3; r++)
        same = same && memcmp((float *)rows->data + r * K,
                              floats + ((int32_t *)i->data)[r] * K,
                              sizeof(float) * K) == 0;
    for (int r = 0; r < M; r++)
        for (int c = 0; c < N; c++) {
            double want = 0, ww = 0, xx = 0;

            for (int k = 0; k < K; k++) {
                double a = (double)floats[r * K + k];
                double b = (double)inputs[0][c * K + k];

                want += a * b;
                ww += a * a;
                xx += b * b;
            }
            near = near && fabs(test_at(product, r, c, 0, 0) - want) <=
                               0.01 * sqrt(ww * xx);
        }
    ok(same, say(ggml_type_name(g->type), "rows of a tensor"));
    ok(near, say(ggml_type_name(g->type), "a matrix product"));
    free(floats);
    free(blocks);
    ggml_free(ctx);
}

/* Which functions each type has, as programs expect. */
static void
test_traits(const struct golden *g)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(g->type);
    const struct ggml_type_traits_cpu *c = ggml_get_type_traits_cpu(g->type);
    bool written = g->errors[0] > 0;
    bool grid = g->type == GGML_TYPE_IQ2_S || g->type == GGML_TYPE_IQ3_S ||
                g->type == GGML_TYPE_IQ3_XXS;

    ok(t->to_float && !t->from_float_ref == !written &&
           !c->from_float == !(written && !grid) && c->vec_dot &&
           c->nrows == 1 && t->blck_size == g->values &&
           t->type_size == (size_t)g->size,
       say(t->type_name, "its functions"));
}

static void
test_file_types(void)
{
    static const struct {
        enum ggml_ftype file;
        enum ggml_type type;
    } pairs[] = {
        { GGML_FTYPE_ALL_F32, GGML_TYPE_F32 },
        { GGML_FTYPE_MOSTLY_Q4_1, GGML_TYPE_Q4_1 },
        { GGML_FTYPE_MOSTLY_Q2_K, GGML_TYPE_Q2_K },
        { GGML_FTYPE_MOSTLY_Q6_K, GGML_TYPE_Q6_K },
        { GGML_FTYPE_MOSTLY_IQ1_M, GGML_TYPE_IQ1_M },
        { GGML_FTYPE_MOSTLY_IQ4_XS, GGML_TYPE_IQ4_XS },
        { GGML_FTYPE_MOSTLY_MXFP4, GGML_TYPE_MXFP4 },
        { GGML_FTYPE_MOSTLY_Q2_0, GGML_TYPE_Q2_0 },
    };
    bool good = true;
    int n = 0;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        good = good && ggml_ftype_to_ggml_type(pairs[i].file) == pairs[i].type;
    ok(good, "types of files");
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        n += ggml_quantize_requires_imatrix((enum ggml_type)i);
    ok(n == 3 && ggml_quantize_requires_imatrix(GGML_TYPE_IQ2_XXS) &&
           ggml_quantize_requires_imatrix(GGML_TYPE_IQ2_XS) &&
           ggml_quantize_requires_imatrix(GGML_TYPE_IQ1_S),
       "types that need weights");
    ok(!ggml_get_type_traits(GGML_TYPE_F32)->to_float &&
           !ggml_get_type_traits(GGML_TYPE_Q8_1)->to_float &&
           ggml_get_type_traits(GGML_TYPE_Q8_1)->from_float_ref &&
           ggml_get_type_traits_cpu(GGML_TYPE_Q8_K)->from_float,
       "functions of the types of activations");
}

int
main(void)
{
    ggml_cpu_init();
    make_inputs();
    for (int i = 0; i < N_GOLDEN; i++) {
        test_traits(&golden[i]);
        test_reading(&golden[i]);
        test_damage(&golden[i]);
        test_dot(&golden[i]);
        test_graph(&golden[i]);
        if (golden[i].errors[2] > 0) {
            test_writing(&golden[i]);
            test_odd_values(&golden[i]);
        }
    }
    test_file_types();
    return tap_done();
}
