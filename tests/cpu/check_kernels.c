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
#include "cpu/gemm/column.h"
#include "cpu/kernels.h"
#include "quant/blocks.h"
#include "quant/types.h"
#include "harness/tap.h"

void
fill_vnni_avx512(struct cpu_kernels *k);
void
fill_amx_emulated(struct cpu_kernels *k);

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
/* Rows of ya and yb by one step, with and without what may be missing. */
static bool
check_recurrence(const struct cpu_kernels *c, const struct cpu_kernels *k,
                 int64_t n, bool a, bool b)
{
    enum {
        ROWS = 6
    };
    static float from[ROWS * LONGEST], to[2][ROWS * LONGEST];
    struct cpu_recurrence p = { .n = n,
                                .n_rows = ROWS,
                                .from = from,
                                .to = to[0],
                                .w = xs,
                                .k = zs,
                                .r = xs,
                                .a = a ? zs : NULL,
                                .b = b ? xs : NULL,
                                .x = zs + LONGEST - ROWS,
                                .beta = 0.5f,
                                .scale = 0.25f,
                                .out = ya };
    bool good = true;

    fill(from, ROWS * n, 1);
    c->recur(&p);
    p.to = to[1];
    p.out = yb;
    k->recur(&p);
    for (int i = 0; i < ROWS; i++)
        good = good && near(ya[i], yb[i], 64, (float)n);
    for (int64_t i = 0; i < ROWS * n; i++)
        good = good && near(to[0][i], to[1][i], 64, (float)n);
    return good;
}

static bool
check_outer(const struct cpu_kernels *c, const struct cpu_kernels *k, int64_t n,
            bool u)
{
    enum {
        ROWS = 5
    };
    static float from[ROWS * LONGEST], to[2][ROWS * LONGEST];
    struct cpu_outer_recurrence p = { .n = n,
                                      .n_rows = ROWS,
                                      .from = from,
                                      .to = to[0],
                                      .w = xs,
                                      .k = zs,
                                      .q = xs + ROWS,
                                      .u = u ? zs + ROWS : NULL,
                                      .v = zs,
                                      .out = ya };
    bool good;

    fill(from, ROWS * n, 1);
    memset(ya, 0, (size_t)n * sizeof(*ya));
    memset(yb, 0, (size_t)n * sizeof(*yb));
    yb[n] = 12345;
    c->recur_outer(&p);
    p.to = to[1];
    p.out = yb;
    k->recur_outer(&p);
    good = same_row(n, 16, ROWS);
    for (int64_t i = 0; i < ROWS * n; i++)
        good = good && near(to[0][i], to[1][i], 4, 2);
    return good;
}

static bool
check_recurrences(const struct cpu_kernels *c, const struct cpu_kernels *k)
{
    bool good = true;

    for (int s = 0; s < N_SIZES && good; s++) {
        int64_t n = sizes[s];

        fill(xs, LONGEST, 1);
        fill(zs, LONGEST, 1);
        good = check_recurrence(c, k, n, false, false) &&
               check_recurrence(c, k, n, true, false) &&
               check_recurrence(c, k, n, true, true) &&
               check_outer(c, k, n, false) && check_outer(c, k, n, true);
    }
    return good;
}

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
        good = core_float_bits(a[i]) == core_float_bits(b[i]) ||
               (isnan(a[i]) && isnan(b[i]));
    for (int i = 0; i < 65536; i++) {
        uint32_t u = (uint32_t)i << 16 | (uint32_t)(i * 40503u & 0xffff);

        a[i] = core_bits_float(u);
    }
    c->from_float[type](a, halves, 65533);
    k->from_float[type](a, out, 65533);
    for (int i = 0; i < 65533 && good; i++)
        good = halves[i] == out[i];
    return good;
}

static int64_t
whole_blocks(enum ggml_type type, int64_t n)
{
    int64_t size = ggml_blck_size(type);

    return (n + size - 1) / size * size;
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

#include "kernel_attention.h"
#include "kernel_products.h"

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

/* Blocks become the same floats. */
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

/* Whether a type's product is that of the set before. */
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
    say(check_recurrences(c, k), k, "recur, recur_outer");
    say(check_column(c, k) && check_bad_column(k), k, "columns in eight bits");
    say(check_panel(c, k), k, "multiply_panel");
    say(check_transpose(k), k, "transpose");
    say(check_mask(c, k), k, "mask_scores");
    say(check_oai(c, k), k, "swiglu_oai");
    say(check_blocks(c, k, GGML_TYPE_Q8_0), k, "Q8_0 to floats");
    say(check_blocks(c, k, GGML_TYPE_Q5_0), k, "Q5_0 to floats");
    say(check_blocks(c, k, GGML_TYPE_Q4_0), k, "Q4_0 to floats");
    say(check_conversion(c, k, GGML_TYPE_F16), k, "F16 conversion");
    say(check_conversion(c, k, GGML_TYPE_BF16), k, "BF16 conversion");
    for (int i = 0; i < N_TYPES; i++) {
        if (!c->add_weighted_rows[weight_types[i]])
            continue;
        snprintf(name, sizeof(name), "add_weighted_rows %s",
                 ggml_type_name(weight_types[i]));
        say(check_add_weighted_rows(c, k, weight_types[i]), k, name);
        snprintf(name, sizeof(name), "dot_rows %s, as a product of rows,",
                 ggml_type_name(weight_types[i]));
        say(check_dot_rows(k, weight_types[i]), k, name);
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

/* A set by other means, over `base`, where `needed` is here. */
static void
check_emulated(const char *name, const char *needed, const char *base,
               void (*set)(struct cpu_kernels *k))
{
    struct cpu_kernels k;

    if (!cpu_kernels_named(needed))
        return;
    k = *cpu_kernels_named(base);
    k.name = name;
    set(&k);
    check_isa(cpu_kernels_reference(), &k, cpu_kernels_named(base));
}

static void
check_all_emulated(void)
{
#if defined(HAVE_AVXVNNI) && defined(HAVE_AVX512)
    check_emulated("avxvnni as avx512", "avx512", "avx2", fill_vnni_avx512);
#endif
#ifdef HAVE_AMX
    check_emulated("amx, emulated", "avx512vbmi", "avx512vbmi",
                   fill_amx_emulated);
#endif
    (void)check_emulated;
}

int
main(int argc, char **argv)
{
    bool timing = argc > 1 && strcmp(argv[1], "--bench") == 0;
    const char *from =
        argc > 2 && strcmp(argv[1], "--from") == 0 ? argv[2] : "c";
    const struct cpu_kernels *before = NULL;
    struct sets sets = { .word = argc > 2 ? argv[2] : NULL };
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
    if (!timing) {
        check_all_emulated();
        return tap_done();
    }
    bench(&sets);
    return 0;
}
