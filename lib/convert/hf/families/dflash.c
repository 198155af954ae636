/* dflash.c - folders of DFlash drafters, which have no tokens of their own */
#include <stdio.h>
#include <unistd.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_BLOCK = 1024,
    MAX_INPUTS = 16, /* layers of the target that are read */
};

static const struct hf_name whole[] = {
    { "model.fc", "fc", 0 },
    { "model.hidden_norm", "enc.output_norm", 0 },
    { "model.norm", "output_norm", 0 },
    { "model.embed_tokens", "token_embd", HF_OPTIONAL },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name layer[] = {
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", 0 },
    { "self_attn.sinks", "attn_sinks.weight", HF_EXACT | HF_OPTIONAL },
    { 0 },
};

/* A setting is among its own, or next to them. */
static struct core_json_keys
own_settings(const struct hf *h)
{
    struct core_json_keys own = h->config;
    const json_t *object = core_json_find(&h->config, "dflash_config");

    if (object)
        own.object = object;
    return own;
}

static const char *
one_that_has(struct core_json_keys *own, const struct hf *h, const char *name)
{
    if (!core_json_find(own, name))
        own->object = h->config.object;
    return name;
}

/* Numbers of layers whose output is read; files have those after them. */
static void
set_inputs(struct hf *h)
{
    struct core_json_keys own = own_settings(h);
    const json_t *list =
        core_json_array_of(&own, one_that_has(&own, h, "target_layer_ids"));
    size_t n = json_array_size(list);
    int32_t x[MAX_INPUTS];

    if (n < 1 || n > MAX_INPUTS)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "target_layer_ids: names not 1 to %d layers", MAX_INPUTS);
    for (size_t i = 0; i < n && convert_hf_good(h); i++) {
        json_int_t id = json_integer_value(json_array_get(list, i));

        if (id < -1 || id > HF_MAX_CTX)
            core_json_bad(&h->config, GG_ERR_FORMAT, "target_layer_ids: %lld",
                          (long long)id);
        else
            x[i] = (int32_t)id + 1;
    }
    if (convert_hf_good(h))
        gguf_set_arr_data(h->gguf, "dflash.target_layers", GGUF_TYPE_INT32, x,
                          n);
}

static int64_t
own_number(struct hf *h, const char *name, int64_t min, int64_t max,
           int64_t other)
{
    struct core_json_keys own = own_settings(h);
    int64_t n =
        core_json_int(&own, one_that_has(&own, h, name), min, max, other);

    if (own.status != GG_OK)
        h->config.status = own.status;
    return n;
}

static void
set_block(struct hf *h)
{
    int64_t n = own_number(h, "block_size", 2, MAX_BLOCK, 16);
    int64_t mask = own_number(h, "mask_token_id", 0, h->n_vocab - 1, -1);

    convert_hf_set_u32(h, "block_size", n);
    gguf_set_val_u32(h->gguf, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
}

/* A scale that files have where the configuration has it. */
static void
set_scale(struct hf *h, const char *from, const char *to)
{
    struct core_json_keys own = own_settings(h);
    double x = core_json_number(&own, one_that_has(&own, h, from), 0, 1e6, 0);

    if (own.status != GG_OK)
        h->config.status = own.status;
    else if (x > 0)
        convert_hf_set_f32(h, to, x);
}

/* All layers, or those that are listed. */
static void
set_window(struct hf *h)
{
    struct core_json_keys own = own_settings(h);
    bool all = core_json_bool(&own, "use_swa", false);
    bool *x;
    int64_t n;

    if (!all && !core_json_bool(&h->config, "use_sliding_window", false))
        return;
    n = core_json_int(&own, "swa_window_size", 0, HF_MAX_CTX, 0);
    if (n == 0)
        n = core_json_int(&h->config, "sliding_window", 0, HF_MAX_CTX, 0);
    if (n == 0)
        return;
    convert_hf_set_u32(h, "attention.sliding_window", n);
    x = mem_array((size_t)h->n_layer, sizeof(*x));
    for (int32_t i = 0; i < h->n_layer && x; i++)
        x[i] = all || convert_hf_is_windowed(h, i, false);
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          x);
}

/* An embedding of the mask, in the place of the target's. */
static void
refuse_mask_embedding(struct hf *h)
{
    char path[4096];

    if (snprintf(path, sizeof(path), "%s/mask_embedding.pt", h->path) <
            (int)sizeof(path) &&
        access(path, F_OK) == 0)
        core_json_bad(&h->here, GG_ERR_UNSUPPORTED,
                      "mask_embedding.pt: a mask of its own is not read here");
}

static void
keys(struct hf *h)
{
    struct core_json_keys own = own_settings(h);

    if (core_json_find(&own, "conv_kernel_size"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "dflash_config: is DFlash2's, which is not known here");
    convert_hf_must_be(h, "rope_is_neox_style", true, true);
    convert_hf_must_be(h, "attention_bias", false, false);
    refuse_mask_embedding(h);
    set_block(h);
    set_inputs(h);
    set_window(h);
    set_scale(h, "attention_value_scale", "attention.value_scale");
    set_scale(h, "output_multiplier", "logit_scale");
    set_scale(h, "final_logit_softcapping", "final_logit_softcapping");
    set_scale(h, "input_embedding_scale", "embedding_scale");
    if (core_json_bool(&h->config, "is_causal", false) ||
        core_json_bool(&own, "causal", false))
        convert_hf_set_bool(h, "attention.causal", true);
}

const struct hf_family convert_hf_family_dflash[] = {
    { "DFlashDraftModel", "dflash", .whole = whole, .drafts = true,
      .layer = { layer, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_mlp },
      .keys = keys, .listed = true },
    { 0 },
};
