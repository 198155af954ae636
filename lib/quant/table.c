/* table.c - the table of types, and what the public face tells of them */
#include "quant/types.h"

#include <assert.h>
#include <stddef.h>

#include "quant/format.h"

/* name, values in a block, bytes of a block */
#define PLAIN(name, size)                                                      \
    .traits = { .type_name = name, .blck_size = 1, .type_size = size }
#define BLOCK(name, values, size)                                              \
    .traits = { .type_name = name,                                             \
                .blck_size = values,                                           \
                .type_size = size,                                             \
                .is_quantized = true }
/* Functions of quant/format.h for a type, by its name there: reading, writing,
 * writing with weights. */
#define READ(f)        .traits.to_float = quant_dequant_##f, .unpack = quant_unpack_##f
#define WRITE(f)       .traits.from_float_ref = quant_##f
#define WEIGH(f)       .quantize_weighted = quant_weigh_##f
#define WEIGH_LARGE(f) WEIGH(f), .large_matter = true
#define PLAIN_IO(f)    .traits.to_float = quant_dequant_##f, WRITE(f)
/* Where the F16 scales of a block are; what else tells damage. */
#define SCALE_AT(at)    .n_scales = 1, .scale_at = { at }
#define SCALES_AT(a, b) .n_scales = 2, .scale_at = { a, b }
#define SOUND(f)        .is_sound = quant_sound_##f
/* A number that files may still hold and nothing reads any more. */
#define REMOVED .traits = { .type_name = "removed" }

static const struct quant_type types[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = { PLAIN("f32", 4), SOUND(f32) },
    [GGML_TYPE_F16] = { PLAIN("f16", 2), PLAIN_IO(f16), SOUND(f16) },
    [GGML_TYPE_Q4_0] = { BLOCK("q4_0", 32, 18), READ(q4_0), WRITE(q4_0),
                         WEIGH_LARGE(q4_0), SCALE_AT(0) },
    [GGML_TYPE_Q4_1] = { BLOCK("q4_1", 32, 20), READ(q4_1), WRITE(q4_1),
                         WEIGH_LARGE(q4_1), SCALES_AT(0, 2) },
    [4] = { REMOVED },
    [5] = { REMOVED },
    [GGML_TYPE_Q5_0] = { BLOCK("q5_0", 32, 22), READ(q5_0), WRITE(q5_0),
                         WEIGH_LARGE(q5_0), SCALE_AT(0) },
    [GGML_TYPE_Q5_1] = { BLOCK("q5_1", 32, 24), READ(q5_1), WRITE(q5_1),
                         WEIGH_LARGE(q5_1), SCALES_AT(0, 2) },
    [GGML_TYPE_Q8_0] = { BLOCK("q8_0", 32, 34), READ(q8_0), WRITE(q8_0),
                         SCALE_AT(0) },
    [GGML_TYPE_Q8_1] = { BLOCK("q8_1", 32, 36), WRITE(q8_1), SCALES_AT(0, 2) },
    [GGML_TYPE_Q2_K] = { BLOCK("q2_K", 256, 84), READ(q2_k), WRITE(q2_k),
                         WEIGH(q2_k), SCALES_AT(80, 82) },
    [GGML_TYPE_Q3_K] = { BLOCK("q3_K", 256, 110), READ(q3_k), WRITE(q3_k),
                         WEIGH(q3_k), SCALE_AT(108) },
    [GGML_TYPE_Q4_K] = { BLOCK("q4_K", 256, 144), READ(q4_k), WRITE(q4_k),
                         WEIGH(q4_k), SCALES_AT(0, 2) },
    [GGML_TYPE_Q5_K] = { BLOCK("q5_K", 256, 176), READ(q5_k), WRITE(q5_k),
                         WEIGH(q5_k), SCALES_AT(0, 2) },
    [GGML_TYPE_Q6_K] = { BLOCK("q6_K", 256, 210), READ(q6_k), WRITE(q6_k),
                         WEIGH(q6_k), SCALE_AT(208) },
    [GGML_TYPE_Q8_K] = { BLOCK("q8_K", 256, 292), SOUND(f32) },
    [GGML_TYPE_IQ2_XXS] = { BLOCK("iq2_xxs", 256, 66), READ(iq2_xxs),
                            WEIGH_LARGE(iq2_xxs), SCALE_AT(0) },
    [GGML_TYPE_IQ2_XS] = { BLOCK("iq2_xs", 256, 74), READ(iq2_xs),
                           WEIGH_LARGE(iq2_xs), SCALE_AT(0) },
    [GGML_TYPE_IQ3_XXS] = { BLOCK("iq3_xxs", 256, 98), READ(iq3_xxs),
                            WRITE(iq3_xxs), WEIGH_LARGE(iq3_xxs), SCALE_AT(0) },
    [GGML_TYPE_IQ1_S] = { BLOCK("iq1_s", 256, 50), READ(iq1_s), WEIGH(iq1_s),
                          SCALE_AT(0) },
    [GGML_TYPE_IQ4_NL] = { BLOCK("iq4_nl", 32, 18), READ(iq4_nl), WRITE(iq4_nl),
                           WEIGH(iq4_nl), SCALE_AT(0) },
    [GGML_TYPE_IQ3_S] = { BLOCK("iq3_s", 256, 110), READ(iq3_s), WRITE(iq3_s),
                          WEIGH_LARGE(iq3_s), SCALE_AT(0) },
    [GGML_TYPE_IQ2_S] = { BLOCK("iq2_s", 256, 82), READ(iq2_s), WRITE(iq2_s),
                          WEIGH_LARGE(iq2_s), SCALE_AT(0) },
    [GGML_TYPE_IQ4_XS] = { BLOCK("iq4_xs", 256, 136), READ(iq4_xs),
                           WRITE(iq4_xs), WEIGH(iq4_xs), SCALE_AT(0) },
    [GGML_TYPE_I8] = { PLAIN("i8", 1) },
    [GGML_TYPE_I16] = { PLAIN("i16", 2) },
    [GGML_TYPE_I32] = { PLAIN("i32", 4) },
    [GGML_TYPE_I64] = { PLAIN("i64", 8) },
    [GGML_TYPE_F64] = { PLAIN("f64", 8), SOUND(f64) },
    [GGML_TYPE_IQ1_M] = { BLOCK("iq1_m", 256, 56), READ(iq1_m), WEIGH(iq1_m),
                          SOUND(iq1_m) },
    [GGML_TYPE_BF16] = { PLAIN("bf16", 2), PLAIN_IO(bf16), SOUND(bf16) },
    [31] = { REMOVED },
    [32] = { REMOVED },
    [33] = { REMOVED },
    [GGML_TYPE_TQ1_0] = { BLOCK("tq1_0", 256, 54), READ(tq1_0), WRITE(tq1_0),
                          SCALE_AT(52) },
    [GGML_TYPE_TQ2_0] = { BLOCK("tq2_0", 256, 66), READ(tq2_0), WRITE(tq2_0),
                          SCALE_AT(64) },
    [36] = { REMOVED },
    [37] = { REMOVED },
    [38] = { REMOVED },
    [GGML_TYPE_MXFP4] = { BLOCK("mxfp4", 32, 17), READ(mxfp4), WRITE(mxfp4),
                          SOUND(mxfp4) },
    [GGML_TYPE_NVFP4] = { BLOCK("nvfp4", 64, 36), READ(nvfp4), WRITE(nvfp4) },
    [GGML_TYPE_Q1_0] = { BLOCK("q1_0", 128, 18), READ(q1_0), WRITE(q1_0),
                         SCALE_AT(0) },
    [GGML_TYPE_Q2_0] = { BLOCK("q2_0", 64, 18), READ(q2_0), WRITE(q2_0),
                         SCALE_AT(0) },
};

static bool
in_table(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT;
}

const struct quant_type *
quant_type(enum ggml_type type)
{
    return in_table(type) && types[type].traits.blck_size ? &types[type] : NULL;
}

const struct ggml_type_traits *
quant_traits(enum ggml_type type)
{
    const struct quant_type *t = quant_type(type);

    return t ? &t->traits : NULL;
}

ggml_to_float_t
quant_reader(enum ggml_type type)
{
    const struct quant_type *t = quant_type(type);

    if (type == GGML_TYPE_F32)
        return quant_dequant_f32;
    return t ? t->traits.to_float : NULL;
}

ggml_from_float_t
quant_writer(enum ggml_type type)
{
    const struct quant_type *t = quant_type(type);

    if (type == GGML_TYPE_F32)
        return quant_f32;
    return t ? t->traits.from_float_ref : NULL;
}

const char *
quant_name(enum ggml_type type)
{
    return in_table(type) ? types[type].traits.type_name : "unknown";
}

const struct ggml_type_traits *
ggml_get_type_traits(enum ggml_type type)
{
    assert(in_table(type));
    return &types[type].traits;
}

const char *
ggml_type_name(enum ggml_type type)
{
    return quant_name(type);
}

int64_t
ggml_blck_size(enum ggml_type type)
{
    return ggml_get_type_traits(type)->blck_size;
}

double
ggml_type_sizef(enum ggml_type type)
{
    return (double)ggml_type_size(type) / (double)ggml_blck_size(type);
}

size_t
ggml_type_size(enum ggml_type type)
{
    return ggml_get_type_traits(type)->type_size;
}

size_t
ggml_row_size(enum ggml_type type, int64_t ne)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(type);

    assert(t->blck_size && ne % t->blck_size == 0);
    return t->type_size * (size_t)ne / (size_t)t->blck_size;
}

bool
ggml_is_quantized(enum ggml_type type)
{
    return ggml_get_type_traits(type)->is_quantized;
}

enum ggml_type
ggml_ftype_to_ggml_type(enum ggml_ftype ftype)
{
    static const struct {
        enum ggml_ftype ftype;
        enum ggml_type type;
    } map[] = {
        { GGML_FTYPE_ALL_F32, GGML_TYPE_F32 },
        { GGML_FTYPE_MOSTLY_F16, GGML_TYPE_F16 },
        { GGML_FTYPE_MOSTLY_Q4_0, GGML_TYPE_Q4_0 },
        { GGML_FTYPE_MOSTLY_Q4_1, GGML_TYPE_Q4_1 },
        { GGML_FTYPE_MOSTLY_Q8_0, GGML_TYPE_Q8_0 },
        { GGML_FTYPE_MOSTLY_Q5_0, GGML_TYPE_Q5_0 },
        { GGML_FTYPE_MOSTLY_Q5_1, GGML_TYPE_Q5_1 },
        { GGML_FTYPE_MOSTLY_Q2_K, GGML_TYPE_Q2_K },
        { GGML_FTYPE_MOSTLY_Q3_K, GGML_TYPE_Q3_K },
        { GGML_FTYPE_MOSTLY_Q4_K, GGML_TYPE_Q4_K },
        { GGML_FTYPE_MOSTLY_Q5_K, GGML_TYPE_Q5_K },
        { GGML_FTYPE_MOSTLY_Q6_K, GGML_TYPE_Q6_K },
        { GGML_FTYPE_MOSTLY_IQ2_XXS, GGML_TYPE_IQ2_XXS },
        { GGML_FTYPE_MOSTLY_IQ2_XS, GGML_TYPE_IQ2_XS },
        { GGML_FTYPE_MOSTLY_IQ3_XXS, GGML_TYPE_IQ3_XXS },
        { GGML_FTYPE_MOSTLY_IQ1_S, GGML_TYPE_IQ1_S },
        { GGML_FTYPE_MOSTLY_IQ4_NL, GGML_TYPE_IQ4_NL },
        { GGML_FTYPE_MOSTLY_IQ3_S, GGML_TYPE_IQ3_S },
        { GGML_FTYPE_MOSTLY_IQ2_S, GGML_TYPE_IQ2_S },
        { GGML_FTYPE_MOSTLY_IQ4_XS, GGML_TYPE_IQ4_XS },
        { GGML_FTYPE_MOSTLY_IQ1_M, GGML_TYPE_IQ1_M },
        { GGML_FTYPE_MOSTLY_BF16, GGML_TYPE_BF16 },
        { GGML_FTYPE_MOSTLY_MXFP4, GGML_TYPE_MXFP4 },
        { GGML_FTYPE_MOSTLY_NVFP4, GGML_TYPE_NVFP4 },
        { GGML_FTYPE_MOSTLY_Q1_0, GGML_TYPE_Q1_0 },
        { GGML_FTYPE_MOSTLY_Q2_0, GGML_TYPE_Q2_0 },
    };

    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
        if (map[i].ftype == ftype)
            return map[i].type;
    GGML_ABORT("file type %d stands for no single type", (int)ftype);
}
