/* glm5_next.c - folders of GLM 5.3 Flash, without what sees */
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
    MAX_POOL = 1024,
    ATTENDS_EVERY = 4, /* where nothing lists the layers */
};

#define EXACT (HF_EXACT | HF_F32)

static const struct hf_name glm_pools[] = {
    { "self_attn.indexer.index_kpool_compress_gate",
      "indexer_compressor_gate.weight", EXACT | HF_OPTIONAL },
    { "self_attn.indexer.index_kpool_compress_ape",
      "indexer_compressor_ape.weight", EXACT | HF_OPTIONAL },
    { 0 },
};

/* Layers with attention have one head of keys, others none. */
static void
set_glm_layers(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    for (int32_t i = 0; heads && i < h->n_layer; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));

        heads[i] = type ? strcmp(type, "linear_attention") != 0
                        : (i + 1) % ATTENDS_EVERY == 0;
    }
    convert_hf_set_layers(h, "attention.head_count_kv", GGUF_TYPE_INT32, heads);
}

/* The least logarithm of a decay; 0: there is none, as null says, unless the
 * object says otherwise. */
static double
decay_floor(struct core_json_keys *own, bool alone)
{
    const char *name = alone ? "linear_lower_bound" : "gate_lower_bound";

    if (json_is_null(json_object_get(own->object, name)) &&
        (alone || !core_json_bool(own, "safe_gate", true)))
        return 0;
    return core_json_number(own, name, -1e6, 0, -5);
}

/* Settings in an object of their own, or each by its name. */
static void
set_glm_delta(struct hf *h)
{
    struct core_json_keys own = h->config;
    const json_t *object =
        core_json_object_of(&h->config, "linear_attn_config");
    int64_t heads, d, conv;
    double floor;

    if (object)
        own.object = object;
    heads = core_json_int(&own, object ? "num_heads" : "linear_num_heads", 1,
                          MAX_LENGTH, h->n_head);
    d = core_json_int(&own, object ? "head_dim" : "linear_head_dim", 1,
                      MAX_LENGTH, 128);
    conv = core_json_int(
        &own, object ? "short_conv_kernel_size" : "linear_conv_kernel_dim", 1,
        HF_MAX_CONV, 4);
    floor = decay_floor(&own, !object);
    if (own.status != GG_OK)
        h->config.status = own.status;
    else if (heads != h->n_head)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "linear_num_heads: %lld, not num_attention_heads",
                      (long long)heads);
    convert_hf_set_u32(h, "kda.head_dim", d);
    convert_hf_set_u32(h, "ssm.conv_kernel", conv);
    if (floor < 0)
        convert_hf_set_f32(h, "kda.gate_lower_bound", floor);
}

static void
set_glm_indexer(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_indexer(h);
    convert_hf_set_indexer_types(h, convert_hf_indexer_by_number, true);
    convert_hf_set_u32(h, "attention.indexer.kpool",
                       convert_hf_number(h, "index_kpool", MAX_POOL, 16));
    convert_hf_set_bool(
        h, "attention.indexer.kpool_select_tail",
        core_json_bool(c, "index_kpool_always_select_tail", true));
}

static void
keys_glm(struct hf *h)
{
    convert_hf_set_u32(h, "rope.dimension_count",
                       convert_hf_set_latent(h, true));
    if (!convert_hf_good(h))
        return;
    set_glm_layers(h);
    set_glm_delta(h);
    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 3));
    convert_hf_set_limit(h, "swiglu_clamp_exp");
    convert_hf_set_limit(h, "swiglu_clamp_shexp");
    set_glm_indexer(h);
    convert_hf_set_streams(h, false);
}

const struct hf_family convert_hf_family_glm5_next[] = {
    { "Glm5NextForConditionalGeneration", "glm5-next",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_kimi_delta,
                 convert_hf_stream_names, glm_pools, convert_hf_indexer,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names },
      .recurrent = "self_attn.A_log", .epsilon = 1e-5,
      .positions = true /* none */, .any_layers = true, .keys = keys_glm },
    { 0 },
};
