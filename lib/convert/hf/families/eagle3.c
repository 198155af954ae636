/* eagle3.c - folders of EAGLE-3 drafters, which have no tokens of their own */
#include <stdio.h>

#include "convert/hf/families.h"
#include "convert/hf/target.h"
#include "core/mem.h"
#include "core/order.h"

enum {
    FEATURES = 3, /* layers of the target that are read */
};

static const struct hf_name whole[] = {
    { "model.fc", "fc", 0 },
    { "model.norm", "output_norm", 0 },
    { "model.embed_tokens", "token_embd", HF_OPTIONAL },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name hidden_norm[] = {
    { "hidden_norm", "attn_norm_2", 0 },
    { 0 },
};
static const struct hf_name norm_before_fc[] = {
    { "model.input_norm", "enc.output_norm", 0 },
    { 0 },
};
static const char *const left_out[] = { "t2d", NULL };

/* ---- tensors ------------------------------------------------------------- */

/* Its only layer goes by several names. */
static const char *
find_layer(struct hf *h)
{
    static const char *const names[] = { "midlayer.", "layers.0.",
                                         "model.layers.0." };
    char name[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(name, sizeof(name), "%sinput_layernorm.weight", names[i]);
        if (convert_hf_weights_exact(&h->weights, name))
            return names[i];
    }
    return names[0];
}

static void
take_layer(struct hf *h)
{
    const struct hf_name *const lists[] = { convert_hf_attention_pairs,
                                            convert_hf_norms, hidden_norm,
                                            convert_hf_mlp };
    const char *from = find_layer(h);

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        convert_hf_take_list(h, from, "blk.0.", lists[i]);
}

static int64_t
number_at(const struct safetensors_tensor *t, size_t i)
{
    const uint8_t *data = t->data;

    return t->type == GGML_TYPE_I64
               ? (int64_t)core_load_le64(data + i * sizeof(int64_t))
               : (int32_t)core_load_le32(data + i * sizeof(int32_t));
}

/* Folders have the distance from each id of the drafter to the model's; files
 * have the model's, each of which is there once. */
static void
read_ids(struct hf *h, const struct safetensors_tensor *t, int64_t *ids,
         bool *taken)
{
    for (size_t i = 0; i < t->n && convert_hf_good(h); i++) {
        int64_t id = number_at(t, i);

        id = id < -HF_MAX_CTX || id > HF_MAX_CTX ? -1 : id + (int64_t)i;
        if (id < 0 || id >= h->n_vocab)
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "d2t: number %zu leads to no id below vocab_size", i);
        else if (taken[id])
            core_json_bad(&h->here, GG_ERR_FORMAT,
                          "d2t: two numbers lead to id %lld", (long long)id);
        else
            taken[ids[i] = id] = true;
    }
}

static void
take_ids(struct hf *h, const struct safetensors_tensor *t)
{
    int64_t ne[GGML_MAX_DIMS] = { (int64_t)t->n, 1, 1, 1 };
    struct hf_rows rows = { .n_rows = 1,
                            .n_blocks = 1,
                            .length = (int64_t)t->n };
    int64_t *ids = mem_array(t->n, sizeof(*ids));
    bool *taken = mem_array((size_t)h->n_vocab, sizeof(*taken));

    if (ids && taken)
        read_ids(h, t, ids, taken);
    else
        h->here.status = error_nomem(h->here.err);
    mem_free(taken);
    rows.made = ids;
    convert_hf_add(h, "d2t", GGML_TYPE_I64, ne, &rows);
}

/* Which of the model's ids the logits are of, where these are fewer. */
static void
find_ids(struct hf *h)
{
    int64_t n = core_json_int(&h->config, "draft_vocab_size", 1, h->n_vocab,
                              h->n_vocab);
    const struct safetensors_tensor *t =
        convert_hf_weights_find(&h->weights, "d2t");

    if (!convert_hf_good(h) || (!t && n == h->n_vocab))
        return;
    if (!t || t->n_dims != 1 || t->n != (size_t)n ||
        (t->type != GGML_TYPE_I64 && t->type != GGML_TYPE_I32))
        core_json_bad(&h->here, GG_ERR_FORMAT, "d2t: is no list of %d ids",
                      (int)n);
    else
        take_ids(h, t);
}

/* ---- settings ------------------------------------------------------------ */

/* Some have it among settings of their own. */
static const json_t *
listed_layers(struct hf *h)
{
    static const char name[] = "eagle_aux_hidden_state_layer_ids";
    struct core_json_keys own = h->config;
    const json_t *list = core_json_array_of(&h->config, name);

    own.object = core_json_object_of(&h->config, "eagle_config");
    if (!list && own.object)
        list = core_json_array_of(&own, name);
    if (own.status != GG_OK)
        h->config.status = own.status;
    return list;
}

static void
read_layers(struct hf *h, const json_t *list, int32_t layers[FEATURES])
{
    if (json_array_size(list) != FEATURES) {
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "eagle_aux_hidden_state_layer_ids: names not %d layers",
                      FEATURES);
        return;
    }
    for (size_t i = 0; i < FEATURES; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t id = json_is_integer(v) ? json_integer_value(v) : -1;

        if (id < 0 || id > HF_MAX_CTX)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "eagle_aux_hidden_state_layer_ids: element %zu is no "
                          "layer",
                          i);
        else
            layers[i] = (int32_t)id;
    }
}

static void
refuse_unlisted(struct hf *h, int32_t n)
{
    if (!h->target.gguf)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "eagle_aux_hidden_state_layer_ids: is missing: name the "
                      "model that it drafts for");
    else
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "eagle_aux_hidden_state_layer_ids: is missing, and "
                      "follows from no model of %d layers",
                      (int)n);
}

/* Layers of the model whose inputs are read. Without a list they follow from
 * the number of its layers. */
static void
set_layers(struct hf *h)
{
    const json_t *list = listed_layers(h);
    int32_t n = convert_hf_target_layers(h);
    int32_t layers[FEATURES] = { 2, n / 2, n - 3 };

    if (list)
        read_layers(h, list, layers);
    else if (n < FEATURES)
        refuse_unlisted(h, n);
    if (convert_hf_good(h))
        gguf_set_arr_data(h->gguf, "eagle3.target_layers", GGUF_TYPE_INT32,
                          layers, FEATURES);
}

/* The length of the model's hidden vectors, which a matrix has, too. */
static void
set_length(struct hf *h)
{
    const struct safetensors_tensor *fc =
        convert_hf_weights_find(&h->weights, "model.fc.weight");
    int64_t found = fc && fc->n_dims == 2 ? fc->shape[1] / FEATURES : 0;
    int64_t n =
        core_json_int(&h->config, "target_hidden_size", 1, HF_MAX_FF,
                      found > 0 && found <= HF_MAX_FF ? found : h->n_embd);

    convert_hf_set_u32(h, "target_hidden_size", n);
}

static void
keys(struct hf *h)
{
    bool normed = core_json_bool(&h->config, "norm_before_fc", false);

    convert_hf_must_be_int(h, "num_hidden_layers", 1);
    set_layers(h);
    set_length(h);
    convert_hf_set_bool(
        h, "norm_before_residual",
        core_json_bool(&h->config, "norm_before_residual", false));
    convert_hf_set_bool(h, "norm_before_fc", normed);
    if (!h->weighed || !convert_hf_good(h))
        return;
    take_layer(h);
    convert_hf_take_list(h, "", "", normed ? norm_before_fc : NULL);
    find_ids(h);
}

const struct hf_family convert_hf_family_eagle3[] = {
    { "LlamaForCausalLMEagle3|Eagle3LlamaForCausalLM|Eagle3Speculator|"
      "Eagle3DraftModel",
      "eagle3", .whole = whole, .drafts = true, .keys = keys,
      .left_out = left_out },
    /* The first ones are told by their settings. */
    { "LlamaForCausalLM", "eagle3", .whole = whole, .drafts = true,
      .keys = keys, .left_out = left_out, .setting = "draft_vocab_size" },
    { 0 },
};
