/* test_quant.c - types: their figures, their bytes, damage in them */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ggml.h>

#include "core/half.h"
#include "harness/block_crc.h"
#include "quant/types.h"
#include "harness/tap.h"

/* As GGUF files have them. */
static const struct {
    int id;
    const char *name;
    int values, bytes;
} facts[] = {
    { 0, "f32", 1, 4 },         { 1, "f16", 1, 2 },
    { 2, "q4_0", 32, 18 },      { 3, "q4_1", 32, 20 },
    { 6, "q5_0", 32, 22 },      { 7, "q5_1", 32, 24 },
    { 8, "q8_0", 32, 34 },      { 9, "q8_1", 32, 36 },
    { 10, "q2_K", 256, 84 },    { 11, "q3_K", 256, 110 },
    { 12, "q4_K", 256, 144 },   { 13, "q5_K", 256, 176 },
    { 14, "q6_K", 256, 210 },   { 15, "q8_K", 256, 292 },
    { 16, "iq2_xxs", 256, 66 }, { 17, "iq2_xs", 256, 74 },
    { 18, "iq3_xxs", 256, 98 }, { 19, "iq1_s", 256, 50 },
    { 20, "iq4_nl", 32, 18 },   { 21, "iq3_s", 256, 110 },
    { 22, "iq2_s", 256, 82 },   { 23, "iq4_xs", 256, 136 },
    { 24, "i8", 1, 1 },         { 25, "i16", 1, 2 },
    { 26, "i32", 1, 4 },        { 27, "i64", 1, 8 },
    { 28, "f64", 1, 8 },        { 29, "iq1_m", 256, 56 },
    { 30, "bf16", 1, 2 },       { 34, "tq1_0", 256, 54 },
    { 35, "tq2_0", 256, 66 },   { 39, "mxfp4", 32, 17 },
    { 40, "nvfp4", 64, 36 },    { 41, "q1_0", 128, 18 },
    { 42, "q2_0", 64, 18 },
};

static void
test_table(void)
{
    bool good = true;
    int known = 0;

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        enum ggml_type t = (enum ggml_type)facts[i].id;
        const struct ggml_type_traits *traits = quant_traits(t);

        good = good && traits &&
               strcmp(ggml_type_name(t), facts[i].name) == 0 &&
               ggml_blck_size(t) == facts[i].values &&
               ggml_type_size(t) == (size_t)facts[i].bytes &&
               ggml_is_quantized(t) == (facts[i].values > 1) &&
               ggml_row_size(t, 512) ==
                   (size_t)(512 / facts[i].values * facts[i].bytes);
    }
    ok(good, "name, block and bytes of each type");
    for (int i = -3; i < 300; i++)
        known += quant_traits((enum ggml_type)i) != NULL;
    is(known, (int)(sizeof(facts) / sizeof(facts[0])),
       "no other number is a type");
    is(ggml_get_type_traits((enum ggml_type)4)->blck_size, 0,
       "a type that was removed has no block");
    ok(ggml_ftype_to_ggml_type(GGML_FTYPE_MOSTLY_Q4_0) == GGML_TYPE_Q4_0 &&
           ggml_ftype_to_ggml_type(GGML_FTYPE_MOSTLY_BF16) == GGML_TYPE_BF16,
       "file types name types");
}

/* Four rows of 2048 that are easy to make elsewhere; a block of zeros. */
enum {
    ROWS = 4,
    LENGTH = 2048,
    VALUES = ROWS * LENGTH
};

static void
make_values(float *x)
{
    for (int i = 0; i < VALUES; i++)
        x[i] = (float)((i * 7919 + 13) % 1009 - 504) / 64 *
               (float)(1 + i / 32 % 17);
    memset(x + 4096, 0, 32 * sizeof(*x));
}

/* CRC-32 of what quantize() and dequantize() of gguf 0.19.0 (PyPI) make of
 * the same values. */
static const struct {
    enum ggml_type type;
    uint32_t bytes, floats;
} golden[] = {
    { GGML_TYPE_Q4_0, 0x0ab91356, 0x2bf05b95 },
    { GGML_TYPE_Q8_0, 0xacd8d06d, 0xbb8dbecd },
    { GGML_TYPE_BF16, 0x3db7c37b, 0xdb1074fa },
    { GGML_TYPE_F16, 0xc1f409a7, 0xc7c8e116 },
};

static void
test_golden(const float *x)
{
    static char bytes[VALUES * 2], parts[VALUES * 2];
    static float back[VALUES];
    char name[80];

    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        enum ggml_type t = golden[i].type;
        size_t n = ggml_quantize_chunk(t, x, bytes, 0, ROWS, LENGTH, NULL);
        uint32_t crc = crc_of(t, bytes, n);

        ggml_get_type_traits(t)->to_float(bytes, back, VALUES);
        snprintf(name, sizeof(name), "%s is quantised to the same bytes",
                 ggml_type_name(t));
        ok(crc == golden[i].bytes && n == ROWS * ggml_row_size(t, LENGTH),
           name);
        snprintf(name, sizeof(name), "%s is read to the same floats",
                 ggml_type_name(t));
        is(crc_of(GGML_TYPE_F32, back, sizeof(back)), golden[i].floats, name);
        for (int r = 0; r < ROWS; r++)
            ggml_quantize_chunk(t, x, parts, r * LENGTH, 1, LENGTH, NULL);
        ok(memcmp(bytes, parts, n) == 0, "row by row as at once");
        ok(ggml_validate_row_data(t, bytes, n), "sound data are sound");
    }
}

static void
test_halves(void)
{
    bool half = true, bf16 = true;

    for (uint32_t i = 0; i < 65536; i++) {
        float f = ggml_fp16_to_fp32((ggml_fp16_t)i);
        float b = ggml_bf16_to_fp32((ggml_bf16_t){ (uint16_t)i });

        half =
            half && (isnan(f) ? isnan(ggml_fp16_to_fp32(ggml_fp32_to_fp16(f)))
                              : ggml_fp32_to_fp16(f) == i);
        bf16 = bf16 && (isnan(b) || ggml_fp32_to_bf16(b).bits == i);
    }
    ok(half, "every half is itself after a round trip");
    ok(bf16, "every bfloat16, too");
    ok(ggml_fp16_to_fp32(0x3555) == 0x1.554p-2f &&
           ggml_fp16_to_fp32(0x0001) == 0x1p-24f &&
           ggml_fp16_to_fp32(0xfbff) == -65504,
       "some halves by hand");
    ok(ggml_fp32_to_fp16(0x1.001p0f) == 0x3c00 &&
           ggml_fp32_to_fp16(0x1.003p0f) == 0x3c01 &&
           ggml_fp32_to_fp16(65520) == 0x7c00,
       "rounding is to nearest, ties to even");
}

/* Nothing traps, whatever is quantised; what is not finite is noticed. */
static void
test_damage(void)
{
    static const float bad[] = { INFINITY,  -INFINITY,  NAN,
                                 0x1p-149f, -0x1p-140f, 3e38f };
    float x[64];
    char bytes[256];
    bool noticed = true;

    for (size_t i = 0; i < 6; i++)
        for (int t = 0; t < 4; t++) {
            for (int j = 0; j < 64; j++)
                x[j] = j % 3 ? bad[i] : (float)j;
            ggml_quantize_chunk(golden[t].type, x, bytes, 0, 1, 64, NULL);
        }
    ok(true, "values that are not finite do no harm");
    for (int t = 0; t < 2; t++) {
        uint16_t inf = 0x7c00;

        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes + ggml_type_size(golden[t].type), &inf, 2);
        noticed = noticed &&
                  !ggml_validate_row_data(golden[t].type, bytes,
                                          2 * ggml_type_size(golden[t].type));
    }
    x[3] = NAN;
    noticed = noticed && !ggml_validate_row_data(GGML_TYPE_F32, x, sizeof(x));
    ok(noticed, "scales and values that are not finite are noticed");
    ok(!ggml_validate_row_data(GGML_TYPE_Q8_0, bytes, 33) &&
           !ggml_validate_row_data((enum ggml_type)4, bytes, 32),
       "so are part of a block and no type at all");
}

/* Blocks of one large value in 256, where two weights next to each other are
 * 28 powers of ten apart; every `step`-th of the others is not 0. */
static bool
is_sound(enum ggml_type type, int at, int step)
{
    float x[256], w[256], y[256];
    char block[256];
    bool sound = true;

    for (int i = 0; i < 256; i++) {
        x[i] = 0.05f * sinf((float)i) + (i == 77);
        w[i] = i % step ? 0 : 100 + (float)i;
    }
    w[at] = 1.7e19f;
    w[at + 1] = 3.4e-9f;
    ggml_quantize_chunk(type, x, block, 0, 1, 256, w);
    ggml_get_type_traits(type)->to_float(block, y, 256);
    for (int i = 0; i < 256; i++)
        sound = sound && fabsf(y[i]) < 10; /* false for NaN */
    return sound;
}

static void
test_weights_apart(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_Q4_1, GGML_TYPE_Q5_1,
                                            GGML_TYPE_Q2_K, GGML_TYPE_Q4_K,
                                            GGML_TYPE_Q5_K };
    bool sound = true;

    for (int t = 0; t < 5; t++)
        for (int at = 0; at < 255; at++)
            sound =
                sound && is_sound(types[t], at, 1) && is_sound(types[t], at, 3);
    ok(sound, "weights far apart make sound blocks");
}

int
main(void)
{
    static float x[VALUES];

    make_values(x);
    test_table();
    test_golden(x);
    test_halves();
    test_damage();
    test_weights_apart();
    return tap_done();
}
