/* test_mixture_types.c - the customary mixtures, tensor by tensor: what
 * llama.cpp's quantiser chooses, read off its rules by hand */
#include <stdio.h>
#include <string.h>

#include "common/quantize/mixture.h"
#include "harness/tap.h"

static const struct mixture_model small = { .n_layer = 16, .n_gqa = 4 };
static const struct mixture_model tied = { .n_layer = 16,
                                           .n_gqa = 4,
                                           .tied = true };
static const struct mixture_model single = { .n_layer = 32, .n_gqa = 1 };
static const struct mixture_model large = { .n_layer = 80,
                                            .n_gqa = 8,
                                            .of_70b = true };
static const struct mixture_model mixtral = { .n_layer = 32,
                                              .n_gqa = 4,
                                              .n_expert = 8 };
static const struct mixture_model falcon = { .n_layer = 32,
                                             .n_gqa = 71,
                                             .falcon = true };

static const struct mixture_model ling3 = {
    .n_layer = 24, .n_gqa = 16, .n_expert = 128, .ling3 = true
};

static const struct {
    const char *mixture;
    const struct mixture_model *model;
    const char *tensor;
    enum ggml_type type;
} cases[] = {
    { "Q4_K_M", &small, "output.weight", GGML_TYPE_Q6_K },
    { "MXFP4_MOE", &mixtral, "blk.1.ffn_up_exps.weight", GGML_TYPE_MXFP4 },
    { "MXFP4_MOE", &mixtral, "blk.1.ffn_down_exps.weight", GGML_TYPE_MXFP4 },
    { "MXFP4_MOE", &mixtral, "blk.1.attn_k_b.weight", GGML_TYPE_MXFP4 },
    { "MXFP4_MOE", &ling3, "blk.1.attn_k_b.weight", GGML_TYPE_Q8_0 },
    { "MXFP4_MOE", &ling3, "blk.1.ffn_up_exps.weight", GGML_TYPE_MXFP4 },
    { "MXFP4_MOE", &small, "blk.1.ffn_gate_shexp.weight", GGML_TYPE_Q8_0 },
    { "MXFP4_MOE", &small, "blk.1.attn_q.weight", GGML_TYPE_Q8_0 },
    { "MXFP4_MOE", &small, "output.weight", GGML_TYPE_Q8_0 },
    { "MXFP4_MOE", &tied, "token_embd.weight", GGML_TYPE_Q8_0 },
    { "NVFP4", &small, "blk.1.ffn_up.weight", GGML_TYPE_NVFP4 },
    { "Q1_0", &small, "blk.1.attn_q.weight", GGML_TYPE_Q1_0 },
    { "Q2_0", &small, "blk.1.attn_q.weight", GGML_TYPE_Q2_0 },
    { "Q2_0", &small, "token_embd.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &small, "token_embd.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &tied, "token_embd.weight", GGML_TYPE_Q6_K },
    { "q4_k", &small, "blk.0.attn_v.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "blk.1.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "blk.2.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &small, "blk.3.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &small, "blk.4.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "blk.14.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "blk.13.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "blk.12.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &small, "blk.4.ffn_up.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &small, "blk.4.attn_qkv.weight", GGML_TYPE_Q6_K },
    /* T5's, of which no name tells the layer */
    { "Q4_K_M", &small, "dec.blk.3.cross_attn_v.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "enc.blk.3.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q2_K", &small, "enc.blk.3.attn_o.weight", GGML_TYPE_Q2_K },
    { "IQ3_XS", &small, "dec.blk.3.cross_attn_k.weight", GGML_TYPE_IQ3_XXS },
    { "Q4_K_M", &small, "blk.3.attn_qkv.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &tied, "per_layer_token_embd.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &small, "per_layer_token_embd.weight", GGML_TYPE_Q4_K },
    { "Q4_K_S", &small, "blk.3.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q4_K_S", &small, "blk.4.attn_v.weight", GGML_TYPE_Q4_K },
    { "Q4_K_S", &small, "blk.1.ffn_down.weight", GGML_TYPE_Q5_K },
    { "Q4_K_S", &small, "blk.2.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q5_K_M", &small, "blk.2.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q5_K_M", &small, "blk.4.attn_v.weight", GGML_TYPE_Q6_K },
    { "Q5_K_S", &small, "blk.4.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q3_K_M", &single, "blk.1.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q3_K_M", &single, "blk.2.attn_v.weight", GGML_TYPE_Q4_K },
    { "Q3_K_M", &single, "blk.1.ffn_down.weight", GGML_TYPE_Q5_K },
    { "Q3_K_M", &single, "blk.2.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q3_K_M", &single, "blk.2.attn_output.weight", GGML_TYPE_Q4_K },
    { "Q3_K_L", &single, "blk.2.attn_output.weight", GGML_TYPE_Q5_K },
    { "Q3_K_S", &single, "blk.2.attn_output.weight", GGML_TYPE_Q3_K },
    { "Q2_K", &single, "blk.2.attn_v.weight", GGML_TYPE_Q3_K },
    { "Q2_K", &small, "blk.2.attn_v.weight", GGML_TYPE_Q4_K },
    { "Q2_K", &small, "blk.2.attn_k.weight", GGML_TYPE_Q2_K },
    { "Q2_K", &small, "blk.2.attn_output.weight", GGML_TYPE_Q3_K },
    { "Q2_K", &small, "blk.2.ffn_down.weight", GGML_TYPE_Q3_K },
    { "Q2_K_S", &small, "blk.1.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q2_K_S", &small, "blk.2.ffn_down.weight", GGML_TYPE_Q2_K },
    { "Q6_K", &small, "blk.2.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_0", &small, "output.weight", GGML_TYPE_Q6_K },
    { "Q4_0", &small, "blk.0.ffn_down.weight", GGML_TYPE_Q4_0 },
    { "Q8_0", &small, "output.weight", GGML_TYPE_Q8_0 },
    { "F16", &small, "output.weight", GGML_TYPE_F16 },
    { "BF16", &mixtral, "blk.0.attn_v.weight", GGML_TYPE_BF16 },
    { "Q4_K_M", &mixtral, "blk.9.attn_v.weight", GGML_TYPE_Q8_0 },
    { "Q4_K_M", &mixtral, "blk.9.attn_k.weight", GGML_TYPE_Q8_0 },
    { "Q4_K_M", &mixtral, "blk.9.attn_output.weight", GGML_TYPE_Q5_K },
    { "Q5_K_M", &mixtral, "blk.9.attn_output.weight", GGML_TYPE_Q5_K },
    { "Q4_K_M", &mixtral, "blk.6.ffn_down_exps.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &large, "blk.10.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q4_K_M", &large, "blk.9.attn_v.weight", GGML_TYPE_Q6_K },
    { "Q3_K_M", &large, "blk.10.attn_v.weight", GGML_TYPE_Q5_K },
    { "Q4_K_M", &falcon, "output.weight", GGML_TYPE_Q8_0 },
    { "Q4_K_M", &falcon, "blk.1.ffn_down.weight", GGML_TYPE_Q6_K },
    { "Q4_K_M", &falcon, "blk.3.ffn_down.weight", GGML_TYPE_Q5_K },
    { "Q4_K_M", &falcon, "blk.5.ffn_down.weight", GGML_TYPE_Q4_K },
    { "Q4_K_M", &falcon, "blk.3.attn_output.weight", GGML_TYPE_Q4_K },
    { "IQ3_XXS", &single, "output.weight", GGML_TYPE_Q5_K },
    { "IQ3_XXS", &single, "token_embd.weight", GGML_TYPE_IQ3_S },
    { "IQ3_XXS", &single, "blk.9.attn_v.weight", GGML_TYPE_IQ3_S },
    { "IQ3_XXS", &single, "blk.9.attn_q.weight", GGML_TYPE_IQ2_S },
    { "IQ3_XXS", &single, "blk.9.ffn_down.weight", GGML_TYPE_Q3_K },
    { "IQ3_XS", &single, "blk.9.ffn_up.weight", GGML_TYPE_IQ3_XXS },
    { "IQ3_XS", &single, "blk.3.ffn_up.weight", GGML_TYPE_IQ3_S },
    { "IQ3_M", &single, "blk.9.attn_output.weight", GGML_TYPE_Q4_K },
    { "IQ4_XS", &small, "blk.1.ffn_down.weight", GGML_TYPE_Q5_K },
    { "IQ4_XS", &small, "blk.9.attn_v.weight", GGML_TYPE_Q5_K },
    { "IQ4_NL", &single, "blk.9.attn_v.weight", GGML_TYPE_IQ4_NL },
    { "IQ2_S", &single, "blk.9.attn_v.weight", GGML_TYPE_IQ3_S },
    { "IQ2_M", &single, "blk.9.ffn_up.weight", GGML_TYPE_IQ2_S },
    { "IQ1_M", &single, "blk.9.attn_output.weight", GGML_TYPE_IQ2_XXS },
    { "TQ2_0", &single, "token_embd.weight", GGML_TYPE_Q4_K },
};

/* Every layer has one of each. */
static enum ggml_type
type_of(const char *mixture, const struct mixture_model *model,
        const char *tensor, bool *fits)
{
    const struct mixture *m = mixture_find(mixture);
    struct mixture_model full = *model;
    bool stacked = strstr(tensor, "_exps.") || strstr(tensor, "attn_k_b.");
    struct mixture_tensor t = { tensor, 4096, 0, stacked };
    int layer = 0;

    (void)sscanf(tensor, "blk.%d.", &layer);
    t.number = layer;
    full.n_values = full.n_layer;
    return m ? mixture_type(m, &full, &t, fits) : GGML_TYPE_COUNT;
}

static void
test_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool fits = false;
        enum ggml_type got =
            type_of(cases[i].mixture, cases[i].model, cases[i].tensor, &fits);
        char name[128];

        snprintf(name, sizeof(name), "%s %s (%d layers): %s", cases[i].mixture,
                 cases[i].tensor, (int)cases[i].model->n_layer,
                 ggml_type_name(cases[i].type));
        ok(got == cases[i].type && fits, name);
    }
}

int
main(void)
{
    bool fits;

    test_cases();
    ok(!mixture_find("Q9_K") && mixture_find("q4_k_m"), "names, in any case");
    ok(mixture_fit(GGML_TYPE_Q4_K, 4096, &fits) == GGML_TYPE_Q4_K && fits,
       "rows that are whole blocks");
    ok(mixture_fit(GGML_TYPE_Q4_K, 4000, &fits) == GGML_TYPE_Q5_0 && !fits &&
           mixture_fit(GGML_TYPE_Q6_K, 96, &fits) == GGML_TYPE_Q8_0 &&
           mixture_fit(GGML_TYPE_Q3_K, 96, &fits) == GGML_TYPE_Q4_0 &&
           mixture_fit(GGML_TYPE_Q5_K, 33, &fits) == GGML_TYPE_F16,
       "rows that are no whole blocks");
    return tap_done();
}
