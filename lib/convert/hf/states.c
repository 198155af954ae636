/* states.c - families with state spaces, alone or beside attention: names of
 * their tensors there and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
    MAX_CONV = 64,
    MAX_CTX = 1 << 20, /* as long as one likes */
    MULTIPLIERS = 5,   /* of what goes into a state space of Falcon-H1 */
};

/* ---- names --------------------------------------------------------------- */

#define MAMBA1(of, how)                                                        \
    HF_COLUMNS(of, how), { of ".x_proj", "ssm_x", (how) },                     \
        { of ".dt_proj", "ssm_dt", (how) },                                    \
        { of ".A_log", "ssm_a", HF_EXACT | HF_F32 | HF_DECAYS | (how) },       \
    {                                                                          \
        of ".D", "ssm_d", HF_EXACT | HF_F32 | (how)                            \
    }

const struct hf_name convert_hf_backbone[] = {
    { "backbone.embeddings", "token_embd", HF_OR_NEXT },
    { "backbone.embedding", "token_embd", 0 },
    { "backbone.norm_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name final_norm[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.final_layernorm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
/* The output is the embedding's matrix, with another multiplier. */
static const struct hf_name final_norm_tied[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens.weight", "output.weight", HF_EXACT },
    { "model.final_layernorm", "output_norm", 0 },
    { 0 },
};

static const struct hf_name mamba[] = {
    { "norm", "attn_norm", 0 },
    MAMBA1("mixer", 0),
    { 0 },
};
static const struct hf_name mamba2[] = {
    { "norm", "attn_norm", 0 },
    HF_MAMBA2("mixer", 0),
    { 0 },
};

static const struct hf_name jamba[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "pre_ff_layernorm", "ffn_norm", 0 },
    MAMBA1("mamba", HF_OPTIONAL),
    { "mamba.dt_layernorm", "ssm_dt_norm", HF_OPTIONAL },
    { "mamba.b_layernorm", "ssm_b_norm", HF_OPTIONAL },
    { "mamba.c_layernorm", "ssm_c_norm", HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name jamba_ffn[] = {
    { "feed_forward.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.up_proj", "ffn_up", HF_OPTIONAL },
    { "feed_forward.down_proj", "ffn_down", HF_OPTIONAL },
    { "feed_forward.router", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
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

/* ---- keys ---------------------------------------------------------------- */

static int64_t
number(struct hf *h, const char *name, int32_t max, int64_t other)
{
    return core_json_int(&h->config, name, 1, max, other);
}

/* A rank that is a sixteenth of the embedding unless the configuration has a
 * number. */
static int64_t
rank_of(struct hf *h, const char *name)
{
    const char *text = json_string_value(core_json_find(&h->config, name));
    int64_t usual = (h->n_embd + 15) / 16;

    return text && !strcmp(text, "auto") ? usual
                                         : number(h, name, MAX_LENGTH, usual);
}

static void
set_space(struct hf *h, int64_t n_inner, int64_t d_state, int64_t n_rank)
{
    convert_hf_set_u32(h, "ssm.conv_kernel",
                       number(h, "mamba_d_conv|conv_kernel", MAX_CONV, 4));
    convert_hf_set_u32(h, "ssm.inner_size", n_inner);
    convert_hf_set_u32(h, "ssm.state_size", d_state);
    convert_hf_set_u32(h, "ssm.time_step_rank", n_rank);
}

void
convert_hf_set_heads(struct hf *h, const char *heads, const char *length,
                     int64_t n_inner)
{
    struct core_json_keys *c = &h->config;
    const json_t *limits = core_json_array_of(c, "time_step_limit");
    int64_t n = number(h, heads, MAX_LENGTH, -1);
    bool said = json_is_integer(core_json_find(c, length)); /* or "auto" */
    int64_t d = said ? number(h, length, MAX_LENGTH, -1) : n_inner / n;

    if (!convert_hf_good(h))
        return;
    if (n_inner != n * d)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "%s: times %s is not the length of what they read", heads,
                      length);
    if (json_number_value(json_array_get(limits, 0)) != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "time_step_limit: begins with 0");
    h->delta.n_key =
        (int32_t)number(h, "mamba_n_groups|n_groups", MAX_LENGTH, 1);
    set_space(
        h, n_inner,
        number(h, "mamba_d_state|ssm_state_size|state_size", MAX_LENGTH, 128),
        n);
    convert_hf_set_u32(h, "ssm.group_count", h->delta.n_key);
}

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
    if (number(h, "intermediate_size", MAX_LENGTH, n) != n)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "intermediate_size: is not expand times hidden_size");
    set_space(h, n, number(h, "state_size", MAX_LENGTH, 16),
              rank_of(h, "time_step_rank"));
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

void
convert_hf_set_attention(struct hf *h, bool *has)
{
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));
    char key[96];

    snprintf(key, sizeof(key), "%s.attention.head_count_kv", h->family->arch);
    for (int32_t i = 0; has && heads && i < h->n_layer; i++)
        heads[i] = has[i] ? h->n_head_kv : 0;
    if (!has) {
        mem_free(heads);
        heads = NULL;
    }
    convert_hf_set_list(h, key, GGUF_TYPE_INT32, heads);
    mem_free(has);
}

/* ---- Jamba --------------------------------------------------------------- */

static void
keys_jamba(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t expand = core_json_int(c, "mamba_expand", 1, 64, 2);
    int64_t every = number(h, "attn_layer_period", MAX_LENGTH, 8);
    int64_t at = core_json_int(c, "attn_layer_offset", 0, every, 4);
    bool *has = mem_array((size_t)h->n_layer, sizeof(*has));

    for (int32_t i = 0; has && i < h->n_layer; i++)
        has[i] = i % every == at;
    convert_hf_set_attention(h, has);
    set_space(h, expand * h->n_embd, number(h, "mamba_d_state", MAX_LENGTH, 16),
              rank_of(h, "mamba_dt_rank"));
    convert_hf_set_experts(h, 2);
}

/* ---- Falcon-H1 ----------------------------------------------------------- */

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
    int64_t heads = number(h, "mamba_n_heads", MAX_LENGTH, -1);
    int64_t bc =
        (int64_t)h->delta.n_key * number(h, "mamba_d_state", MAX_LENGTH, 256);
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

/* By the name behind the layer's. */
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

/* Multipliers of biases are not those of the rows beside them. */
static void
keys_falcon(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "mamba_expand", 1, 64, 2) * h->n_embd;

    convert_hf_set_heads(h, "mamba_n_heads", "mamba_d_head",
                         number(h, "mamba_d_ssm", MAX_LENGTH, n));
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

/* ---- the table ----------------------------------------------------------- */

#define ALONE                                                                  \
    .epsilon = 1e-5, .activations = "silu", .positions = true, /* none */      \
        .any_layers = true
#define FALCON_H1(whole)                                                       \
    "FalconH1ForCausalLM", "falcon-h1", "model.layers.", whole, { falcon },    \
        .epsilon = 1e-5, .activations = "silu", .any_layers = true,            \
        .scale = scale_falcon, .keys = keys_falcon
const struct hf_family convert_hf_states[] = {
    { "MambaForCausalLM",
      "mamba",
      "backbone.layers.",
      convert_hf_backbone,
      { mamba },
      ALONE,
      .tied = true,
      .no_heads = true,
      .keys = keys_mamba },
    { "FalconMambaForCausalLM",
      "mamba",
      "backbone.layers.",
      convert_hf_backbone,
      { mamba },
      ALONE,
      .tied = true,
      .no_heads = true,
      .keys = keys_falcon_mamba },
    { "Mamba2ForCausalLM",
      "mamba2",
      "backbone.layers.",
      convert_hf_backbone,
      { mamba2 },
      ALONE,
      .keys = keys_mamba2 },
    { "JambaForCausalLM",
      "jamba",
      "model.layers.",
      final_norm,
      { jamba, jamba_ffn },
      .activations = "silu",
      .positions = true, /* none */
      .any_layers = true,
      .keys = keys_jamba },
    { FALCON_H1(final_norm_tied), .counts = is_tied, .left_out = left_tied },
    { FALCON_H1(final_norm) },
    { 0 },
};

#endif
