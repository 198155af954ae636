/* mixture.c - the customary mixtures of types, as tables */
#include <config.h>

#include "common/quantize/mixture.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The names, with llama.cpp's numbers (enum llama_ftype). A name that stands
 * for another comes after it. */
enum {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q2_K_S,
    Q3_K_S,
    Q3_K_M,
    Q3_K_L,
    Q4_K_S,
    Q4_K_M,
    Q5_K_S,
    Q5_K_M,
    Q6_K,
    IQ1_S,
    IQ1_M,
    IQ2_XXS,
    IQ2_XS,
    IQ2_S,
    IQ2_M,
    IQ3_XXS,
    IQ3_XS,
    IQ3_S,
    IQ3_M,
    IQ4_NL,
    IQ4_XS,
    TQ1_0,
    TQ2_0,
    MXFP4,
    MXFP4_MOE,
    NVFP4,
    Q1_0,
    Q2_0,
};

static const struct mixture mixtures[] = {
    [F32] = { "F32", GGML_TYPE_F32, 0 },
    [F16] = { "F16", GGML_TYPE_F16, 1 },
    [BF16] = { "BF16", GGML_TYPE_BF16, 32 },
    [Q4_0] = { "Q4_0", GGML_TYPE_Q4_0, 2 },
    [Q4_1] = { "Q4_1", GGML_TYPE_Q4_1, 3 },
    [Q5_0] = { "Q5_0", GGML_TYPE_Q5_0, 8 },
    [Q5_1] = { "Q5_1", GGML_TYPE_Q5_1, 9 },
    [Q8_0] = { "Q8_0", GGML_TYPE_Q8_0, 7 },
    [Q2_K] = { "Q2_K", GGML_TYPE_Q2_K, 10 },
    [Q2_K_S] = { "Q2_K_S", GGML_TYPE_Q2_K, 21 },
    [Q3_K_S] = { "Q3_K_S", GGML_TYPE_Q3_K, 11 },
    [Q3_K_M] = { "Q3_K_M", GGML_TYPE_Q3_K, 12 },
    [Q3_K_L] = { "Q3_K_L", GGML_TYPE_Q3_K, 13 },
    [Q4_K_S] = { "Q4_K_S", GGML_TYPE_Q4_K, 14 },
    [Q4_K_M] = { "Q4_K_M", GGML_TYPE_Q4_K, 15 },
    [Q5_K_S] = { "Q5_K_S", GGML_TYPE_Q5_K, 16 },
    [Q5_K_M] = { "Q5_K_M", GGML_TYPE_Q5_K, 17 },
    [Q6_K] = { "Q6_K", GGML_TYPE_Q6_K, 18 },
    [IQ1_S] = { "IQ1_S", GGML_TYPE_IQ1_S, 24 },
    [IQ1_M] = { "IQ1_M", GGML_TYPE_IQ1_M, 31 },
    [IQ2_XXS] = { "IQ2_XXS", GGML_TYPE_IQ2_XXS, 19 },
    [IQ2_XS] = { "IQ2_XS", GGML_TYPE_IQ2_XS, 20 },
    [IQ2_S] = { "IQ2_S", GGML_TYPE_IQ2_XS, 28 },
    [IQ2_M] = { "IQ2_M", GGML_TYPE_IQ2_S, 29 },
    [IQ3_XXS] = { "IQ3_XXS", GGML_TYPE_IQ3_XXS, 23 },
    [IQ3_XS] = { "IQ3_XS", GGML_TYPE_IQ3_S, 22 },
    [IQ3_S] = { "IQ3_S", GGML_TYPE_IQ3_S, 26 },
    [IQ3_M] = { "IQ3_M", GGML_TYPE_IQ3_S, 27 },
    [IQ4_NL] = { "IQ4_NL", GGML_TYPE_IQ4_NL, 25 },
    [IQ4_XS] = { "IQ4_XS", GGML_TYPE_IQ4_XS, 30 },
    [TQ1_0] = { "TQ1_0", GGML_TYPE_TQ1_0, 36 },
    [TQ2_0] = { "TQ2_0", GGML_TYPE_TQ2_0, 37 },
    [MXFP4] = { "MXFP4", GGML_TYPE_MXFP4, 38 },
    [MXFP4_MOE] = { "MXFP4_MOE", GGML_TYPE_Q8_0, 38 },
    [NVFP4] = { "NVFP4", GGML_TYPE_NVFP4, 39 },
    [Q1_0] = { "Q1_0", GGML_TYPE_Q1_0, 40 },
    [Q2_0] = { "Q2_0", GGML_TYPE_Q2_0, 41 },
};

static const struct {
    const char *name;
    int mixture;
} aliases[] = {
    { "Q3_K", Q3_K_M },
    { "Q4_K", Q4_K_M },
    { "Q5_K", Q5_K_M },
};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* ---- rules -------------------------------------------------------------- */

enum part {
    OUTPUT,
    EMBEDDING,
    ATTN_Q,
    ATTN_K,
    ATTN_V, /* or what makes keys and values, or all three */
    ATTN_OUTPUT,
    FFN_GATE,
    FFN_UP,
    FFN_DOWN,
    OTHER,
};

static const struct {
    const char *inside; /* of the name */
    enum part part;
} parts[] = {
    { "attn_qkv.weight", ATTN_V }, { "attn_kv_b.weight", ATTN_V },
    { "attn_v.weight", ATTN_V },   { "attn_k.weight", ATTN_K },
    { "attn_q.weight", ATTN_Q },   { "attn_output.weight", ATTN_OUTPUT },
    { "ffn_up", FFN_UP },          { "ffn_gate", FFN_GATE },
    { "ffn_down", FFN_DOWN },
};

/* Conditions of a rule beyond mixture and part; all of them must hold. */
enum {
    GQA_4 = 1 << 0,     /* at least 4 heads share a key */
    EXPERTS_4 = 1 << 1, /* at least 4 */
    EXPERTS_8 = 1 << 2, /* exactly 8, as Mixtral has */
    FALCON = 1 << 3,
    NOT_FALCON = 1 << 4,
    NO_IMATRIX = 1 << 5,
    IMATRIX = 1 << 6,
    FIRST_2 = 1 << 7, /* the layer is one of the first two */
    FIRST_4 = 1 << 8,
    FIRST_8TH = 1 << 9, /* in the first eighth of the layers */
    FIRST_16TH = 1 << 10,
    MIDDLE = 1 << 11,    /* neither in the first eighth nor in the last */
    MORE_BITS = 1 << 12, /* not in the middle, or every third of it */
};

#define ONE(m) (UINT64_C(1) << (m))
#define IQ12                                                                   \
    (ONE(IQ1_S) | ONE(IQ1_M) | ONE(IQ2_XXS) | ONE(IQ2_XS) | ONE(IQ2_S) |       \
     ONE(IQ2_M))
#define IQ2_LARGE (ONE(IQ2_S) | ONE(IQ2_M))
#define IQ1       (ONE(IQ1_S) | ONE(IQ1_M))
#define FLOATS    (ONE(F32) | ONE(F16) | ONE(BF16))
#define IQ4       (ONE(IQ4_NL) | ONE(IQ4_XS))
#define ANY       (~FLOATS)

/* The first rule that fits holds; else the mixture's own type. */
static const struct rule {
    enum part part;
    uint64_t mixtures;
    unsigned when;
    enum ggml_type type;
} rules[] = {
    { OUTPUT, ONE(Q8_0) | ONE(MXFP4_MOE) | FLOATS, 0, GGML_TYPE_COUNT },
    { OUTPUT, ANY, FALCON, GGML_TYPE_Q8_0 },
    { OUTPUT, IQ12 | ONE(IQ3_XXS), 0, GGML_TYPE_Q5_K },
    { OUTPUT, ANY, 0, GGML_TYPE_Q6_K },

    { EMBEDDING, IQ12 & ~IQ2_LARGE, 0, GGML_TYPE_Q2_K },
    { EMBEDDING, IQ2_LARGE | ONE(IQ3_XXS), 0, GGML_TYPE_IQ3_S },
    { EMBEDDING, ONE(TQ1_0) | ONE(TQ2_0) | ONE(Q2_0), 0, GGML_TYPE_Q4_K },

    { ATTN_V, IQ12, GQA_4, GGML_TYPE_Q4_K },
    { ATTN_V, IQ12, EXPERTS_4, GGML_TYPE_Q4_K },
    { ATTN_V, IQ2_LARGE, 0, GGML_TYPE_IQ3_S },
    { ATTN_V, IQ12, 0, GGML_TYPE_Q2_K },
    { ATTN_V, ANY, EXPERTS_8, GGML_TYPE_Q8_0 },
    { ATTN_V, ONE(Q2_K) | ONE(Q2_K_S), GQA_4, GGML_TYPE_Q4_K },
    { ATTN_V, ONE(Q2_K), 0, GGML_TYPE_Q3_K },
    { ATTN_V, ONE(IQ3_XXS) | ONE(IQ3_XS) | ONE(IQ3_S), GQA_4, GGML_TYPE_Q4_K },
    { ATTN_V, ONE(IQ3_XXS), NO_IMATRIX, GGML_TYPE_IQ3_S },
    { ATTN_V, ONE(IQ3_M), 0, GGML_TYPE_Q4_K },
    { ATTN_V, ONE(Q3_K_M), FIRST_2, GGML_TYPE_Q5_K },
    { ATTN_V, ONE(Q3_K_M), 0, GGML_TYPE_Q4_K },
    { ATTN_V, ONE(Q3_K_L), 0, GGML_TYPE_Q5_K },
    { ATTN_V, IQ4, GQA_4, GGML_TYPE_Q5_K },
    { ATTN_V, ONE(Q4_K_M) | ONE(Q5_K_M), MORE_BITS, GGML_TYPE_Q6_K },
    { ATTN_V, ONE(Q4_K_S), FIRST_4, GGML_TYPE_Q5_K },

    { ATTN_K, IQ12, EXPERTS_8, GGML_TYPE_Q4_K },
    { ATTN_K, ANY & ~IQ12, EXPERTS_8, GGML_TYPE_Q8_0 },
    { ATTN_K, ONE(IQ3_XS), 0, GGML_TYPE_IQ3_XXS },
    { ATTN_K, ONE(IQ3_XXS), 0, GGML_TYPE_IQ2_S },
    { ATTN_Q, ONE(IQ3_XS), 0, GGML_TYPE_IQ3_XXS },
    { ATTN_Q, ONE(IQ3_XXS), 0, GGML_TYPE_IQ2_S },

    { FFN_DOWN, IQ2_LARGE, FIRST_8TH, GGML_TYPE_IQ3_S },
    { FFN_DOWN, IQ12 & ~IQ2_LARGE, FIRST_8TH, GGML_TYPE_Q2_K },
    { FFN_DOWN, ONE(Q2_K), 0, GGML_TYPE_Q3_K },
    { FFN_DOWN, ONE(Q2_K_S), FIRST_8TH, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(IQ3_XXS), NO_IMATRIX | FIRST_8TH, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(IQ3_XXS), NO_IMATRIX, GGML_TYPE_Q3_K },
    { FFN_DOWN, ONE(Q3_K_M), FIRST_16TH, GGML_TYPE_Q5_K },
    { FFN_DOWN, ONE(Q3_K_M), NOT_FALCON, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(Q3_K_M), MORE_BITS, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(IQ3_M), FIRST_8TH, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(IQ3_M), EXPERTS_8 | MORE_BITS, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(Q3_K_L), FALCON, GGML_TYPE_Q4_K },
    { FFN_DOWN, ONE(Q3_K_L), 0, GGML_TYPE_Q5_K },
    { FFN_DOWN, ONE(Q4_K_M), FALCON | FIRST_16TH, GGML_TYPE_Q6_K },
    { FFN_DOWN, ONE(Q4_K_M), FALCON | MORE_BITS, GGML_TYPE_Q5_K },
    { FFN_DOWN, ONE(Q4_K_M), NOT_FALCON | MORE_BITS, GGML_TYPE_Q6_K },
    { FFN_DOWN, IQ4, NO_IMATRIX | FIRST_8TH, GGML_TYPE_Q5_K },
    { FFN_DOWN, ONE(Q5_K_M), MORE_BITS, GGML_TYPE_Q6_K },
    { FFN_DOWN, ONE(Q4_K_S), NOT_FALCON | FIRST_8TH, GGML_TYPE_Q5_K },
    { FFN_DOWN, ONE(Q4_0), IMATRIX | FIRST_8TH, GGML_TYPE_Q4_1 },
    { FFN_DOWN, ONE(Q5_0), IMATRIX | FIRST_8TH, GGML_TYPE_Q5_1 },

    { ATTN_OUTPUT, IQ12, EXPERTS_8, GGML_TYPE_Q5_K },
    { ATTN_OUTPUT, IQ1, 0, GGML_TYPE_IQ2_XXS },
    { ATTN_OUTPUT, IQ2_LARGE, 0, GGML_TYPE_IQ3_S },
    { ATTN_OUTPUT,
      ONE(Q2_K) | ONE(IQ3_XS) | ONE(IQ3_XXS) | ONE(Q3_K_S) | ONE(Q3_K_M) | IQ4 |
          ONE(Q4_K_S) | ONE(Q4_K_M) | ONE(IQ3_S) | ONE(IQ3_M),
      EXPERTS_8 | NOT_FALCON, GGML_TYPE_Q5_K },
    { ATTN_OUTPUT, ONE(Q3_K_L), EXPERTS_8 | NOT_FALCON, GGML_TYPE_COUNT },
    { ATTN_OUTPUT, ONE(Q2_K), NOT_FALCON, GGML_TYPE_Q3_K },
    { ATTN_OUTPUT, ONE(IQ3_XXS), NOT_FALCON, GGML_TYPE_IQ3_S },
    { ATTN_OUTPUT, ONE(Q3_K_M) | ONE(IQ3_M), NOT_FALCON, GGML_TYPE_Q4_K },
    { ATTN_OUTPUT, ONE(Q3_K_L), NOT_FALCON, GGML_TYPE_Q5_K },
    { ATTN_OUTPUT, ONE(Q3_K_L), FALCON, GGML_TYPE_Q4_K },

    { FFN_GATE, ONE(IQ3_XS), MIDDLE, GGML_TYPE_IQ3_XXS },
    { FFN_UP, ONE(IQ3_XS), MIDDLE, GGML_TYPE_IQ3_XXS },

};

static enum part
part_of(const struct mixture_model *model, const char *tensor)
{
    if (strcmp(tensor, "output.weight") == 0)
        return OUTPUT;
    if (strcmp(tensor, "token_embd.weight") == 0 ||
        strcmp(tensor, "per_layer_token_embd.weight") == 0)
        return model->tied ? OUTPUT : EMBEDDING;
    for (int i = 0; i < COUNT(parts); i++)
        if (strstr(tensor, parts[i].inside))
            return parts[i].part;
    return OTHER;
}

enum mixture_counted
mixture_counts(const char *tensor)
{
    switch (part_of(&(struct mixture_model){ 0 }, tensor)) {
    case ATTN_V:
        return MIXTURE_VALUES;
    case FFN_GATE:
        return MIXTURE_GATE;
    case FFN_UP:
        return MIXTURE_UP;
    case FFN_DOWN:
        return MIXTURE_DOWN;
    default:
        return MIXTURE_UNCOUNTED;
    }
}

/* All that holds for the model and number i of n. */
static unsigned
conditions(const struct mixture_model *m, int32_t i, int32_t n)
{
    int32_t eighth = n / 8, last = 7 * n / 8;
    bool middle = i >= eighth && i < last;
    unsigned c = m->falcon ? FALCON : NOT_FALCON;

    c |= m->imatrix ? IMATRIX : NO_IMATRIX;
    c |= m->n_gqa >= 4 ? GQA_4 : 0;
    c |= m->n_expert >= 4 ? EXPERTS_4 : 0;
    c |= m->n_expert == 8 ? EXPERTS_8 : 0;
    c |= i < 2 ? FIRST_2 : 0;
    c |= i < 4 ? FIRST_4 : 0;
    c |= i < eighth ? FIRST_8TH : 0;
    c |= i < n / 16 ? FIRST_16TH : 0;
    c |= middle ? MIDDLE : 0;
    c |= !middle || (i - eighth) % 3 == 2 ? MORE_BITS : 0;
    return c;
}

/* Its place is its number among matrices of its kind; but that of its layer
 * where layers have several, in mixtures of experts, and there not with the
 * fewest bits. */
static unsigned
conditions_of(const struct mixture_model *m, enum part part, bool few_bits,
              const struct mixture_tensor *t)
{
    int32_t n = part == ATTN_V ? m->n_values : m->n_layer;
    int layer = t->number;

    if (part != ATTN_V && m->n_expert > 1 && !few_bits)
        (void)sscanf(t->name, "blk.%d.", &layer);
    return conditions(m, layer, n);
}

static enum ggml_type
type_by_rules(int mixture, enum part part, unsigned holds)
{
    for (int i = 0; i < COUNT(rules); i++)
        if (rules[i].part == part && (rules[i].mixtures & ONE(mixture)) &&
            (rules[i].when & ~holds) == 0)
            return rules[i].type != GGML_TYPE_COUNT ? rules[i].type
                                                    : mixtures[mixture].type;
    return mixtures[mixture].type;
}

/* Matrices of queries, and what joins the input of an MTP layer. */
static bool
keeps_8_bits(const struct mixture_model *model, const char *tensor)
{
    return model->glm5 &&
           (strstr(tensor, "attn_q_a") || strstr(tensor, "attn_q_b") ||
            strstr(tensor, "nextn.eh_proj"));
}

enum ggml_type
mixture_type(const struct mixture *m, const struct mixture_model *model,
             const struct mixture_tensor *tensor, bool *fits)
{
    enum part part = part_of(model, tensor->name);
    bool few_bits = (ONE(m - mixtures) & IQ12) != 0;
    unsigned holds = conditions_of(model, part, few_bits, tensor);
    enum ggml_type type = m->type;

    if (ggml_is_quantized(type) && keeps_8_bits(model, tensor->name))
        return mixture_fit(GGML_TYPE_Q8_0, tensor->row, fits);
    if (part == OUTPUT && ggml_is_quantized(type) &&
        tensor->row % ggml_blck_size(type) != 0) {
        type = mixture_fit(GGML_TYPE_Q8_0, tensor->row, fits);
        *fits = false;
        return type;
    }
    type = type_by_rules((int)(m - mixtures), part, holds);
    if (part == ATTN_V && model->of_70b && !few_bits &&
        (type == GGML_TYPE_Q3_K || type == GGML_TYPE_Q4_K))
        type = GGML_TYPE_Q5_K;
    if (part != OUTPUT && m == &mixtures[MXFP4_MOE] && tensor->stacked &&
        !(model->ling3 && part == OTHER))
        type = GGML_TYPE_MXFP4;
    return mixture_fit(type, tensor->row, fits);
}

enum ggml_type
mixture_fit(enum ggml_type type, int64_t row, bool *fits)
{
    *fits = row % ggml_blck_size(type) == 0;
    if (*fits)
        return type;
    switch (type) {
    case GGML_TYPE_Q2_0:
    case GGML_TYPE_Q2_K:
    case GGML_TYPE_Q3_K:
    case GGML_TYPE_TQ1_0:
    case GGML_TYPE_TQ2_0:
        type = GGML_TYPE_Q4_0;
        break;
    case GGML_TYPE_Q4_K:
        type = GGML_TYPE_Q5_0;
        break;
    case GGML_TYPE_Q5_K:
        type = GGML_TYPE_Q5_1;
        break;
    case GGML_TYPE_Q6_K:
        type = GGML_TYPE_Q8_0;
        break;
    default: /* the others in blocks of 256 */
        type = GGML_TYPE_IQ4_NL;
    }
    return row % ggml_blck_size(type) == 0 ? type : GGML_TYPE_F16;
}

const struct mixture *
mixture_at(int i)
{
    return i < COUNT(mixtures) ? &mixtures[i] : NULL;
}

const char *
mixture_name(size_t i)
{
    return i < (size_t)COUNT(mixtures) ? mixtures[i].name : NULL;
}

const struct mixture *
mixture_find(const char *name)
{
    for (int i = 0; i < COUNT(mixtures); i++)
        if (strcasecmp(mixtures[i].name, name) == 0)
            return &mixtures[i];
    for (int i = 0; i < COUNT(aliases); i++)
        if (strcasecmp(aliases[i].name, name) == 0)
            return &mixtures[aliases[i].mixture];
    return NULL;
}
