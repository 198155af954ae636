/* deci.c - folders of DeciLM, Nemotron 51B and Ultra */
#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MULTIPLE = 256, /* of lengths of feed-forward vectors */
};

/* Layers may have no attention, or a matrix in its place, or nothing. */
static const struct hf_name deci_layer[] = {
    { "input_layernorm", "attn_norm", HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_HEADS_Q | HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_HEADS_K | HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.linear_attn", "attn_output", HF_OPTIONAL },
    { "post_attention_layernorm", "ffn_norm", HF_OPTIONAL },
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
#define MAX_MULTIPLIER 1e4
/* A number a layer. */
struct counts {
    int32_t *heads, *heads_kv, *ff;
};

static struct core_json_keys
part_of(struct hf *h, const json_t *block, const char *name)
{
    struct core_json_keys part = h->config;

    part.object = json_object_get(block, name);
    if (!json_is_object(part.object))
        core_json_bad(&part, GG_ERR_FORMAT, "block_configs: a layer has no %s",
                      name);
    return part;
}

/* Keys of several heads, or a matrix in their place, or neither. */
static void
count_heads(struct hf *h, const json_t *block, const struct counts *n,
            int32_t i)
{
    struct core_json_keys c = part_of(h, block, "attention");
    int64_t group;

    if (c.status == GG_OK) {
        group = core_json_int(&c, "n_heads_in_group", 0, h->n_head, 0);
        n->heads_kv[i] = group > 0 ? (int32_t)(h->n_head / group) : 0;
        if (group > 0 || core_json_bool(&c, "replace_with_linear", false))
            n->heads[i] = h->n_head;
        if (group > 0 && h->n_head % group)
            core_json_bad(&c, GG_ERR_FORMAT,
                          "n_heads_in_group: does not divide the heads");
        if (core_json_find(&c, "window_length|num_sink_tokens|sparsify"))
            core_json_bad(&c, GG_ERR_UNSUPPORTED,
                          "block_configs: a layer of deci sees all keys here");
    }
    h->config.status = c.status;
}

static void
count_ff(struct hf *h, const json_t *block, const struct counts *n, int32_t i)
{
    struct core_json_keys c = part_of(h, block, "ffn");
    double times, length;

    if (c.status == GG_OK) {
        times = core_json_number(&c, "ffn_mult", 0, MAX_MULTIPLIER, 0);
        length = 2 * times * h->n_embd / 3;
        if (length > HF_MAX_FF)
            core_json_bad(&c, GG_ERR_FORMAT, "ffn_mult: %g is too large",
                          times);
        n->ff[i] = length > HF_MAX_FF ? 0 : (int32_t)length;
        n->ff[i] = (n->ff[i] + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
        if (core_json_bool(&c, "replace_with_linear", false))
            core_json_bad(&c, GG_ERR_UNSUPPORTED,
                          "block_configs: a matrix in place of a feed-forward "
                          "block");
        if (n->ff[i] == 0 && n->heads[i] > 0)
            core_json_bad(&c, GG_ERR_UNSUPPORTED,
                          "block_configs: attention without a feed-forward "
                          "block");
    }
    h->config.status = c.status;
}

static void
set_counts(struct hf *h, const struct counts *n)
{
    const enum gguf_type type = GGUF_TYPE_INT32;

    convert_hf_set_list(h, "deci.attention.head_count", type, n->heads);
    convert_hf_set_list(h, "deci.attention.head_count_kv", type, n->heads_kv);
    convert_hf_set_list(h, "deci.feed_forward_length", type, n->ff);
}

static void
read_blocks(struct hf *h, const json_t *blocks)
{
    size_t all = (size_t)h->n_layer;
    struct counts n = { mem_array(all, sizeof(*n.heads)),
                        mem_array(all, sizeof(*n.heads)),
                        mem_array(all, sizeof(*n.heads)) };
    bool room = n.heads && n.heads_kv && n.ff;

    for (int32_t i = 0; room && convert_hf_good(h) && i < h->n_layer; i++) {
        const json_t *block = json_array_get(blocks, (size_t)i);

        n.heads[i] = 0;
        count_heads(h, block, &n, i);
        if (convert_hf_good(h))
            count_ff(h, block, &n, i);
    }
    set_counts(h, &n);
}

/* DeciLM 7B: only heads of keys differ. */
static void
read_heads(struct hf *h, const json_t *list)
{
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    for (int32_t i = 0; x && i < h->n_layer; i++) {
        json_int_t n = json_integer_value(json_array_get(list, (size_t)i));

        if (n < 1 || n > HF_MAX_HEADS)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "num_key_value_heads_per_layer: %lld", (long long)n);
        else
            x[i] = (int32_t)n;
    }
    convert_hf_set_list(h, "deci.attention.head_count_kv", GGUF_TYPE_INT32, x);
}

static void
keys_deci(struct hf *h)
{
    const json_t *blocks = convert_hf_layers_list(h, "block_configs");
    const json_t *heads =
        convert_hf_layers_list(h, "num_key_value_heads_per_layer");

    h->heads_by_layer = true;
    convert_hf_set_u32(h, "attention.key_length", h->d_head);
    convert_hf_set_u32(h, "attention.value_length", h->d_head);
    if (blocks)
        read_blocks(h, blocks);
    else if (heads)
        read_heads(h, heads);
}

const struct hf_family convert_hf_family_deci[] = {
    { "DeciLMForCausalLM", "deci", .layer = { deci_layer }, .keys = keys_deci },
    { 0 },
};
