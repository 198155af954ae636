/* falcon_h1.c - folders of Falcon-H1 */
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/states.h"

enum {
    MAX_LENGTH = 1 << 20,
    MULTIPLIERS = 5, /* of what goes into a state space of Falcon-H1 */
};

/* The output is the embedding's matrix, with another multiplier. */
static const struct hf_name final_norm_tied[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens.weight", "output.weight", HF_EXACT },
    { "model.final_layernorm", "output_norm", 0 },
    { 0 },
};
static const struct hf_name falcon[] = {
    { "input_layernorm", "attn_norm", 0 },
    HF_MAMBA2("mamba", 0),
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.o_proj", "attn_output", 0 },
    { "pre_ff_layernorm.weight", "ffn_norm", HF_EXACT | HF_F32 },
    { "feed_forward.gate_proj", "ffn_gate", 0 },
    { "feed_forward.up_proj", "ffn_up", 0 },
    { "feed_forward.down_proj", "ffn_down", 0 },
    { 0 },
};
/* A copy of the embedding's matrix. */
static const char *const left_tied[] = { "lm_head.", NULL };

/* Element i of a list of numbers; 1 where there is no list. */
static double
element(struct hf *h, const char *name, size_t i, size_t n)
{
    const json_t *list = core_json_array_of(&h->config, name);

    if (list && json_array_size(list) != n)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "%s: is no list of %zu numbers", name, n);
    return list ? json_number_value(json_array_get(list, i)) : 1;
}

static double
times(struct hf *h, const char *name)
{
    return core_json_number(&h->config, name, -1e6, 1e6, 1);
}

/* Gates, what is read, B, C and the time steps have a multiplier each. */
static void
scale_input(struct hf *h, struct hf_rows *r)
{
    int64_t heads = convert_hf_number(h, "mamba_n_heads", MAX_LENGTH, -1);
    int64_t bc = (int64_t)h->delta.n_key *
                 convert_hf_number(h, "mamba_d_state", MAX_LENGTH, 256);
    int64_t n = (r->n_rows - heads - 2 * bc) / 2;
    int64_t lengths[MULTIPLIERS] = { n, n, bc, bc, heads }, end = 0;

    for (size_t i = 0; i < MULTIPLIERS; i++) {
        end += lengths[i];
        r->bands[i].end = end;
        r->bands[i].by = (float)(times(h, "ssm_in_multiplier") *
                                 element(h, "ssm_multipliers", i, MULTIPLIERS));
    }
    r->n_bands = MULTIPLIERS;
}

/* The multiplier by the name after the layer's. */
static double
falcon_multiplier(struct hf *h, const char *to)
{
    static const struct {
        const char *tensor, *a, *b;
    } table[] = {
        { "token_embd.weight", "embedding_multiplier", NULL },
        { "output.weight", "lm_head_multiplier", NULL },
        { "attn_q.weight", "attention_in_multiplier", NULL },
        { "attn_k.weight", "attention_in_multiplier", "key_multiplier" },
        { "attn_v.weight", "attention_in_multiplier", NULL },
        { "attn_output.weight", "attention_out_multiplier", NULL },
        { "ssm_out.weight", "ssm_out_multiplier", NULL },
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (!strcmp(to, table[i].tensor))
            return times(h, table[i].a) *
                   (table[i].b ? times(h, table[i].b) : 1);
    if (!strcmp(to, "ffn_gate.weight"))
        return element(h, "mlp_multipliers", 0, 2);
    if (!strcmp(to, "ffn_down.weight"))
        return element(h, "mlp_multipliers", 1, 2);
    return 1;
}

static void
scale_falcon(struct hf *h, const char *to, struct hf_rows *r)
{
    const char *dot = !strncmp(to, "blk.", 4) ? strchr(to + 4, '.') : NULL;

    to = dot ? dot + 1 : to;
    if (!strcmp(to, "ssm_in.weight")) {
        scale_input(h, r);
        return;
    }
    r->n_bands = 1;
    r->bands[0].end = r->n_rows;
    r->bands[0].by = (float)falcon_multiplier(h, to);
}

/* Multipliers of biases are not those of their rows. */
static void
keys_falcon(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "mamba_expand", 1, 64, 2) * h->n_embd;

    convert_hf_set_heads(h, "mamba_n_heads", "mamba_d_head",
                         convert_hf_number(h, "mamba_d_ssm", MAX_LENGTH, n));
    convert_hf_must_be(h, "attention_bias", false, false);
    convert_hf_must_be(h, "mlp_bias", false, false);
    convert_hf_must_be(h, "projectors_bias", false, false);
    convert_hf_must_be(h, "mamba_proj_bias", false, false);
    if (core_json_bool(c, "mamba_rms_norm", false))
        convert_hf_must_be(h, "mamba_norm_before_gate", false, true);
}

static bool
is_tied(struct core_json_keys *config)
{
    return core_json_bool(config, "tie_word_embeddings", false);
}

const struct hf_family convert_hf_family_falcon_h1[] = {
    { "FalconH1ForCausalLM", "falcon-h1", .layer = { falcon },
      .whole = final_norm_tied, .epsilon = 1e-5, .any_layers = true,
      .scale = scale_falcon, .keys = keys_falcon, .counts = is_tied,
      .left_out = left_tied },
    { "FalconH1ForCausalLM", "falcon-h1", .layer = { falcon },
      .whole = convert_hf_final_norm, .epsilon = 1e-5, .any_layers = true,
      .scale = scale_falcon, .keys = keys_falcon },
    { 0 },
};
