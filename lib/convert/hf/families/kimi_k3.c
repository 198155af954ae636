/* kimi_k3.c - folders of Kimi K3, without what sees */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name k3_gates[] = {
    { "self_attn.g_proj", "ssm_g", HF_RECURRENT },
    { "self_attn.g_proj", "attn_gate", HF_ATTENDING | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name k3_latent_experts[] = {
    { "block_sparse_moe.routed_expert_down_proj", "ffn_routed_down",
      HF_OPTIONAL },
    { "block_sparse_moe.routed_expert_up_proj", "ffn_routed_up", HF_OPTIONAL },
    { "block_sparse_moe.routed_expert_norm", "ffn_routed_norm", HF_OPTIONAL },
    { 0 },
};

/* ---- scores of the bank -------------------------------------------------- */

/* Files have the product of a norm's weight and a score's. */
static void
add_score(struct hf *h, const char *prefix, const char *to)
{
    int64_t ne[GGML_MAX_DIMS] = { h->n_embd, 1, 1, 1 };
    size_t n = (size_t)h->n_embd;
    char norm[96], proj[96];
    float *x = mem_array(n, sizeof(*x)), *y = mem_array(n, sizeof(*y));
    struct hf_rows rows = {
        .made = x, .n_rows = 1, .n_blocks = 1, .length = h->n_embd
    };

    snprintf(norm, sizeof(norm), "%s_norm.weight", prefix);
    snprintf(proj, sizeof(proj), "%s_proj.weight", prefix);
    if (!x || !y)
        h->config.status = error_nomem(h->config.err);
    else if (convert_hf_read_vector(h, norm, h->n_embd, x))
        convert_hf_read_vector(h, proj, h->n_embd, y);
    for (size_t i = 0; i < n && convert_hf_good(h); i++)
        x[i] *= y[i];
    if (convert_hf_good(h))
        convert_hf_add(h, to, GGML_TYPE_F32, ne, &rows);
    else
        mem_free(x);
    mem_free(y);
}

static void
add_scores(struct hf *h)
{
    char from[64], to[64];

    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        snprintf(from, sizeof(from), "model.layers.%d.self_attention_res",
                 (int)i);
        snprintf(to, sizeof(to), "blk.%d.attn_res_score.weight", (int)i);
        add_score(h, from, to);
        if (!convert_hf_good(h))
            return;
        snprintf(from, sizeof(from), "model.layers.%d.mlp_res", (int)i);
        snprintf(to, sizeof(to), "blk.%d.ffn_res_score.weight", (int)i);
        add_score(h, from, to);
    }
    if (convert_hf_good(h))
        add_score(h, "model.output_attn_res", "output_res_score.weight");
}

/* ---- settings ------------------------------------------------------------ */

static void
set_situ(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_f32(
        h, "activation.situ_beta",
        core_json_number(c, "activation_situ_beta", 1e-6, 1e6, -1));
    convert_hf_set_f32(
        h, "activation.situ_linear_beta",
        core_json_number(c, "activation_situ_linear_beta", -1e6, 1e6, -1e7));
}

static void
set_floor(struct hf *h)
{
    struct core_json_keys own = h->config;

    own.object = core_json_object_of(&h->config, "linear_attn_config");
    if (!core_json_find(&own, "gate_lower_bound"))
        return;
    convert_hf_set_f32(h, "kda.gate_lower_bound",
                       core_json_number(&own, "gate_lower_bound", -1e6, 0, 0));
    if (own.status != GG_OK)
        h->config.status = own.status;
}

static void
keys_k3(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t every = core_json_int(c, "attn_res_block_size", 0, 1 << 12, 0);

    convert_hf_must_be(h, "mla_use_nope", true, true);
    convert_hf_keys_kimi(h);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "moe_renormalize", true));
    if (core_json_find(c, "routed_expert_hidden_size"))
        convert_hf_set_u32(
            h, "expert_latent_length",
            convert_hf_number(h, "routed_expert_hidden_size", HF_MAX_FF, 0));
    set_situ(h);
    set_floor(h);
    convert_hf_set_u32(h, "attn_res.block_size", every);
    if (h->weighed && every > 0 && convert_hf_good(h))
        add_scores(h);
}

const struct hf_family convert_hf_family_kimi_k3[] = {
    { "KimiK3ForConditionalGeneration|KimiK3ForCausalLM", "kimi-k3",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_kimi_delta,
                 k3_gates, convert_hf_kimi_mixture, k3_latent_experts,
                 convert_hf_dense_names },
      .activations = "situ", .epsilon = 1e-5, .positions = true /* none */,
      .recurrent = "self_attn.A_log", .any_layers = true, .keys = keys_k3 },
    { 0 },
};
