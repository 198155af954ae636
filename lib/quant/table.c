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
#define TO_FLOAT(f)   .traits.to_float = (f)
#define FROM_FLOAT(f) .traits.from_float_ref = (f)
#define SCALE_AT(at)  .n_scales = 1, .scale_at = { at }
/* A number that files may still hold and nothing reads any more. */
#define REMOVED .traits = { .type_name = "removed" }

static const struct quant_type types[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = { PLAIN("f32", 4), TO_FLOAT(dequant_f32),
                        FROM_FLOAT(quant_f32) },
    [GGML_TYPE_F16] = { PLAIN("f16", 2), TO_FLOAT(dequant_f16),
                        FROM_FLOAT(quant_f16) },
    [GGML_TYPE_Q4_0] = { BLOCK("q4_0", 32, 18), TO_FLOAT(dequant_q4_0),
                         FROM_FLOAT(quant_q4_0), SCALE_AT(0) },
    [GGML_TYPE_Q4_1] = { BLOCK("q4_1", 32, 20) },
    [4] = { REMOVED },
    [5] = { REMOVED },
    [GGML_TYPE_Q5_0] = { BLOCK("q5_0", 32, 22) },
    [GGML_TYPE_Q5_1] = { BLOCK("q5_1", 32, 24) },
    [GGML_TYPE_Q8_0] = { BLOCK("q8_0", 32, 34), TO_FLOAT(dequant_q8_0),
                         FROM_FLOAT(quant_q8_0), SCALE_AT(0) },
    [GGML_TYPE_Q8_1] = { BLOCK("q8_1", 32, 36), FROM_FLOAT(quant_q8_1),
                         .n_scales = 2, .scale_at = { 0, 2 } },
    [GGML_TYPE_Q2_K] = { BLOCK("q2_K", 256, 84) },
    [GGML_TYPE_Q3_K] = { BLOCK("q3_K", 256, 110) },
    [GGML_TYPE_Q4_K] = { BLOCK("q4_K", 256, 144) },
    [GGML_TYPE_Q5_K] = { BLOCK("q5_K", 256, 176) },
    [GGML_TYPE_Q6_K] = { BLOCK("q6_K", 256, 210) },
    [GGML_TYPE_Q8_K] = { BLOCK("q8_K", 256, 292) },
    [GGML_TYPE_IQ2_XXS] = { BLOCK("iq2_xxs", 256, 66) },
    [GGML_TYPE_IQ2_XS] = { BLOCK("iq2_xs", 256, 74) },
    [GGML_TYPE_IQ3_XXS] = { BLOCK("iq3_xxs", 256, 98) },
    [GGML_TYPE_IQ1_S] = { BLOCK("iq1_s", 256, 50) },
    [GGML_TYPE_IQ4_NL] = { BLOCK("iq4_nl", 32, 18) },
    [GGML_TYPE_IQ3_S] = { BLOCK("iq3_s", 256, 110) },
    [GGML_TYPE_IQ2_S] = { BLOCK("iq2_s", 256, 82) },
    [GGML_TYPE_IQ4_XS] = { BLOCK("iq4_xs", 256, 136) },
    [GGML_TYPE_I8] = { PLAIN("i8", 1) },
    [GGML_TYPE_I16] = { PLAIN("i16", 2) },
    [GGML_TYPE_I32] = { PLAIN("i32", 4) },
    [GGML_TYPE_I64] = { PLAIN("i64", 8) },
    [GGML_TYPE_F64] = { PLAIN("f64", 8) },
    [GGML_TYPE_IQ1_M] = { BLOCK("iq1_m", 256, 56) },
    [GGML_TYPE_BF16] = { PLAIN("bf16", 2), TO_FLOAT(dequant_bf16),
                         FROM_FLOAT(quant_bf16) },
    [31] = { REMOVED },
    [32] = { REMOVED },
    [33] = { REMOVED },
    [GGML_TYPE_TQ1_0] = { BLOCK("tq1_0", 256, 54) },
    [GGML_TYPE_TQ2_0] = { BLOCK("tq2_0", 256, 66) },
    [36] = { REMOVED },
    [37] = { REMOVED },
    [38] = { REMOVED },
    [GGML_TYPE_MXFP4] = { BLOCK("mxfp4", 32, 17) },
    [GGML_TYPE_NVFP4] = { BLOCK("nvfp4", 64, 36) },
    [GGML_TYPE_Q1_0] = { BLOCK("q1_0", 128, 18) },
    [GGML_TYPE_Q2_0] = { BLOCK("q2_0", 64, 18) },
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
