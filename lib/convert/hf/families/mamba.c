/* mamba.c - folders of Mamba 1 and 2, Falcon Mamba */
#include "convert/hf/families.h"
#include "convert/hf/states.h"

enum {
    MAX_CTX = 1 << 20, /* as long as one likes */
    MAX_LENGTH = 1 << 20,
};

static const struct hf_name mamba[] = {
    { "norm", "attn_norm", 0 },
    HF_MAMBA1("mixer", 0),
    { 0 },
};
static const struct hf_name mamba2[] = {
    { "norm", "attn_norm", 0 },
    HF_MAMBA2("mixer", 0),
    { 0 },
};

static void
set_alone(struct hf *h)
{
    h->n_ctx = MAX_CTX;
    convert_hf_set_u32(h, "feed_forward_length", 0);
    convert_hf_set_u32(h, "attention.head_count", 0);
    convert_hf_set_u32(h, "attention.head_count_kv", 0);
}

static void
keys_mamba(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "expand", 1, 64, 2) * (int64_t)h->n_embd;

    set_alone(h);
    if (convert_hf_number(h, "intermediate_size", MAX_LENGTH, n) != n)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "intermediate_size: is not expand times hidden_size");
    convert_hf_set_space(h, n,
                         convert_hf_number(h, "state_size", MAX_LENGTH, 16),
                         convert_hf_rank_of(h, "time_step_rank"));
}

/* dt, B and C are normed, by an epsilon that files don't say. */
static void
keys_falcon_mamba(struct hf *h)
{
    keys_mamba(h);
    if (core_json_number(&h->config, "mixer_rms_eps", 0, 1, 1e-6) != 1e-6)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "mixer_rms_eps: is 1e-6 here");
    convert_hf_set_bool(h, "ssm.dt_b_c_rms", true);
}

static void
keys_mamba2(struct hf *h)
{
    set_alone(h);
    convert_hf_set_heads(h, "num_heads", "head_dim",
                         core_json_int(&h->config, "expand", 1, 64, 2) *
                             h->n_embd);
}

const struct hf_family convert_hf_family_mamba[] = {
    { "MambaForCausalLM", "mamba", .layer = { mamba },
      .layers = "backbone.layers.", .whole = convert_hf_backbone,
      .epsilon = 1e-5, .positions = true /* none */, .any_layers = true,
      .tied = true, .no_heads = true, .keys = keys_mamba },
    { "FalconMambaForCausalLM", "mamba", .layer = { mamba },
      .layers = "backbone.layers.", .whole = convert_hf_backbone,
      .epsilon = 1e-5, .positions = true /* none */, .any_layers = true,
      .tied = true, .no_heads = true, .keys = keys_falcon_mamba },
    { "Mamba2ForCausalLM", "mamba2", .layer = { mamba2 },
      .layers = "backbone.layers.", .whole = convert_hf_backbone,
      .epsilon = 1e-5, .positions = true /* none */, .any_layers = true,
      .keys = keys_mamba2 },
    { 0 },
};
