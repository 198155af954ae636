/* llama.c - folders of LLaMA, Mistral, Mixtral, InternLM 2, XVERSE, ERNIE
 * 4.5 */
#include "convert/hf/families.h"

/* One tensor an expert, or all experts in one, gates and ups together. */
#define BOTH "mlp.experts.gate_up_proj"
#define DOWN "mlp.experts.down_proj"
static const struct hf_name mixtral[] = {
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 | HF_OR_NEXT },
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_GATES | HF_EXACT },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_UPS | HF_EXACT },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_EXACT },
    { 0 },
};
static const struct hf_name internlm2_whole[] = {
    { "model.tok_embeddings", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "output", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name internlm2_layer[] = {
    { "attention_norm", "attn_norm", 0 },
    { "attention.wqkv", "attn_q", HF_GROUP_Q },
    { "attention.wqkv", "attn_k", HF_GROUP_K },
    { "attention.wqkv", "attn_v", HF_GROUP_V },
    { "attention.wo", "attn_output", 0 },
    { "ffn_norm", "ffn_norm", 0 },
    { "feed_forward.w1", "ffn_gate", 0 },
    { "feed_forward.w3", "ffn_up", 0 },
    { "feed_forward.w2", "ffn_down", 0 },
    { 0 },
};

static void
keys_mixtral(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 2);
}

const struct hf_family convert_hf_family_llama[] = {
    { "LlamaForCausalLM", "llama",
      .layer = { convert_hf_attention_pairs, convert_hf_norms,
                 convert_hf_mlp } },
    { "MistralForCausalLM", "llama",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .keys = convert_hf_keys_window },
    { "MixtralForCausalLM", "llama",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, mixtral },
      .keys = keys_mixtral },
    { "Ernie4_5ForCausalLM", "ernie4_5",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .tied = true },
    { "InternLM2ForCausalLM", "internlm2", .layer = { internlm2_layer },
      .whole = internlm2_whole },
    { "XverseForCausalLM", "xverse",
      .layer = { convert_hf_attention_pairs, convert_hf_norms,
                 convert_hf_mlp } },
    { 0 },
};
