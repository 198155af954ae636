/* phi3.c - folders of Phi 3 and 4 */
#include "convert/hf/families.h"

static const struct hf_name phi3_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.qkv_proj", "attn_qkv", 0 },
    { "self_attn.o_proj", "attn_output", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};

/* No window is a window of 0: files of this family always say. */
static void
keys_phi3(struct hf *h)
{
    int64_t old = core_json_int(&h->config, "original_max_position_embeddings",
                                0, HF_MAX_CTX, 0);

    if (old)
        convert_hf_set_u32(h, "rope.scaling.original_context_length", old);
    convert_hf_set_u32(
        h, "attention.sliding_window",
        core_json_int(&h->config, "sliding_window", 0, HF_MAX_CTX, 0));
}

const struct hf_family convert_hf_family_phi3[] = {
    { "Phi3ForCausalLM", "phi3", .layer = { phi3_layer }, .keys = keys_phi3 },
    { 0 },
};
