/* rwkv6.c - folders of QRWKV 6 */
#include <stdio.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 20, /* as long as one likes */
    MAX_RANK = 1 << 14,
    WIDE = 4096, /* from this length of embeddings on ranks are twice as large
                    unless the configuration has them */
};

static const struct hf_name qrwkv[] = {
    { "self_attn.time_maa_x", "time_mix_lerp_x.weight", HF_EXACT | HF_F32 },
    { "self_attn.time_maa_w1", "time_mix_w1.weight", HF_MIXES | HF_EXACT },
    { "self_attn.time_maa_w2", "time_mix_w2.weight", HF_MIXES | HF_EXACT },
    { "self_attn.time_decay", "time_mix_decay.weight", HF_EXACT | HF_F32 },
    { "self_attn.time_decay_w1", "time_mix_decay_w1.weight",
      HF_TRANSPOSE | HF_EXACT },
    { "self_attn.time_decay_w2", "time_mix_decay_w2.weight",
      HF_TRANSPOSE | HF_EXACT },
    { "self_attn.q_proj", "time_mix_receptance", 0 },
    { "self_attn.k_proj", "time_mix_key", 0 },
    { "self_attn.v_proj", "time_mix_value", 0 },
    { "self_attn.gate", "time_mix_gate", 0 },
    { "self_attn.o_proj", "time_mix_output", 0 },
    { 0 },
};

/* Files have the five in one tensor. */
static void
add_shares(struct hf *h, int32_t layer)
{
    static const char order[] = "wkvrg";
    int64_t ne[GGML_MAX_DIMS] = { h->n_embd, 1, 1, HF_MIXED };
    float *x = mem_array((size_t)h->n_embd * HF_MIXED, sizeof(*x));
    struct hf_rows rows = {
        .made = x, .n_rows = HF_MIXED, .n_blocks = 1, .length = h->n_embd
    };
    char name[96];

    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int i = 0; i < HF_MIXED && convert_hf_good(h); i++) {
        snprintf(name, sizeof(name), "model.layers.%d.self_attn.time_maa_%c",
                 (int)layer, order[i]);
        convert_hf_read_vector(h, name, h->n_embd,
                               x + (size_t)i * (size_t)h->n_embd);
    }
    snprintf(name, sizeof(name), "blk.%d.time_mix_lerp_fused.weight",
             (int)layer);
    if (convert_hf_good(h))
        convert_hf_add(h, name, GGML_TYPE_F32, ne, &rows);
    else
        mem_free(x);
}

static void
keys_qrwkv(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int wide = h->n_embd >= WIDE ? 2 : 1;

    h->n_ctx = MAX_CTX;
    if (h->n_embd % h->n_head)
        core_json_bad(c, GG_ERR_FORMAT,
                      "num_attention_heads: does not divide hidden_size");
    convert_hf_set_u32(h, "attention.head_count", 0);
    convert_hf_set_u32(h, "wkv.head_size", h->n_embd / h->n_head);
    convert_hf_set_u32(
        h, "time_mix_extra_dim",
        core_json_int(c, "lora_rank_tokenshift", 1, MAX_RANK, 32 * wide));
    convert_hf_set_u32(
        h, "time_decay_extra_dim",
        core_json_int(c, "lora_rank_decay", 1, MAX_RANK, 64 * wide));
    convert_hf_set_u32(h, "token_shift_count", 1);
    for (int32_t i = 0; h->weighed && i < h->n_layer && convert_hf_good(h); i++)
        add_shares(h, i);
}

const struct hf_family convert_hf_family_rwkv6[] = {
    { "RWKV6Qwen2ForCausalLM", "rwkv6qwen2",
      .layer = { convert_hf_norms, qrwkv, convert_hf_mlp },
      .positions = true /* none */, .any_layers = true, .keys = keys_qrwkv },
    { 0 },
};
