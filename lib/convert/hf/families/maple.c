/* maple.c - folders of Maple */
#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    LIMIT = 7, /* of gates, and of what they gate, in no configuration */
};

static const struct hf_name maple_whole[] = {
    { "model.embed_tokens", "token_embd", HF_OR_NEXT },
    { "model.word_embeddings", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

static void
set_limits(struct hf *h)
{
    float *x = mem_array((size_t)h->n_layer, sizeof(*x));

    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] = LIMIT;
    convert_hf_set_layers(h, "swiglu_clamp_exp", GGUF_TYPE_FLOAT32, x);
}

static void
keys_maple(struct hf *h)
{
    convert_hf_keys_listed(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    convert_hf_must_be_int(h, "num_shared_experts", 0);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_must_be(h, "nope_on_global_attention", true, false);
    set_limits(h);
}

const struct hf_family convert_hf_family_maple[] = {
    { "MapleForCausalLM", "maple",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names },
      .whole = maple_whole, .keys = keys_maple, .listed = true },
    { 0 },
};
