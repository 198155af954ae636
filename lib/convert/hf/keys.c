/* keys.c - the configuration in GGUF's keys: what all families have */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"

/* As in lib/graph/hparams.c. */
enum {
    MAX_LAYERS = 4096,
    MAX_EMBD = 1 << 20,
    MAX_FF = 1 << 24,
    MAX_HEADS = 1 << 16,
    MAX_CTX = 1 << 28,
    MAX_VOCAB = 1 << 24,
};

/* ---- what the graphs suppose --------------------------------------------- */

static bool
is_one_of(const char *name, const char *list)
{
    size_t n = strlen(name);

    for (; list; list = strchr(list, '|')) {
        list += *list == '|';
        if (!strncmp(list, name, n) && (!list[n] || list[n] == '|'))
            return true;
    }
    return false;
}

void
convert_hf_check_activation(struct hf *h)
{
    static const char names[] =
        "hidden_activation|hidden_act|activation_function|activation|"
        "feed_forward_proj";
    const char *name = core_json_text(&h->config, names, NULL);

    if (name && !is_one_of(name, convert_hf_activations(h->family)))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "%.40s: %s has %s as its activation here", name,
                      h->family->arch, convert_hf_activations(h->family));
}

/* Which layers see all keys follows from the family, but for those whose files
 * list them. */
static void
check_layers(struct hf *h)
{
    const json_t *types = core_json_array_of(&h->config, "layer_types");
    int every = h->family->full_every;
    const char *first = json_string_value(json_array_get(types, 0));

    if (h->family->listed || h->family->any_layers)
        return;
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *name = json_string_value(json_array_get(types, i));
        const char *want = first, *windowed = h->family->windowed;

        if (every)
            want = (int)i % every == h->family->full_at ? "full_attention"
                   : windowed                           ? windowed
                                                        : "sliding_attention";
        if (!name || !want || strcmp(name, want) != 0) {
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: %s has no such layer %zu here",
                          h->family->arch, i);
            return;
        }
    }
}

/* ---- what all have ------------------------------------------------------- */

#define DIM "head_dim|d_kv|kv_channels"

static void
read_heads(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (h->family->no_heads) {
        h->n_head = h->n_head_kv = h->d_head = 1;
        return;
    }
    h->n_head = (int32_t)core_json_int(
        c, "num_attention_heads|n_head|num_heads|n_heads", 1, MAX_HEADS, 0);
    h->n_head_kv = (int32_t)core_json_int(
        c, "num_key_value_heads|num_attention_groups", 1, MAX_HEADS, h->n_head);
    h->d_head = (int32_t)core_json_int(
        c, DIM, h->family->positions ? 0 : 1, MAX_HEADS,
        h->n_embd / h->n_head > 0 ? h->n_embd / h->n_head : 1);
    if (h->d_head == 0) /* of latent attention, where nothing turns */
        h->d_head = 1;
}

/* One for all layers, or that of the first of a list. */
static int32_t
read_ff(struct hf *h)
{
    static const char names[] =
        "intermediate_size|n_inner|ffn_hidden_size|d_ff|hidden_dim";
    const json_t *list = core_json_find(&h->config, names);
    int64_t n = json_integer_value(json_array_get(list, 0));

    if (!json_is_array(list))
        return (int32_t)core_json_int(&h->config, names, 1, MAX_FF,
                                      4 * (int64_t)h->n_embd);
    if (n < 1 || n > MAX_FF)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "intermediate_size: is no list of lengths");
    return (int32_t)n;
}

/* Layers of a configuration that names each; 0: none is named. */
static int64_t
count_layers(struct core_json_keys *c)
{
    const char *pattern = core_json_text(c, "hybrid_override_pattern", "");
    size_t n = json_array_size(core_json_array_of(c, "layers_block_type"));

    n = n ? n : strlen(pattern);
    return n < MAX_LAYERS ? (int64_t)n : 0;
}

static void
read_numbers(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_vocab = (int32_t)core_json_int(c, "padded_vocab_size|vocab_size", 1,
                                        MAX_VOCAB, 0);
    h->n_ctx = (int32_t)core_json_int(
        c,
        "max_position_embeddings|n_positions|n_ctx|max_seq_len|"
        "max_context_length",
        1, MAX_CTX, h->family->n_ctx ? h->family->n_ctx : 2048);
    h->n_embd = (int32_t)core_json_int(
        c, "hidden_size|n_embd|d_model|dim|model_dim", 1, MAX_EMBD, 0);
    h->n_layer = (int32_t)core_json_int(
        c,
        "num_hidden_layers|n_layer|num_layers|n_layers|num_transformer_layers",
        1, MAX_LAYERS, count_layers(c));
    h->n_mtp = convert_hf_count_mtp(h);
    h->n_ff = read_ff(h);
    read_heads(h);
}

static double
usual_epsilon(const struct hf_family *family)
{
    return family->epsilon > 0  ? family->epsilon
           : family->layer_norm ? 1e-5
                                : 1e-6;
}

/* A key that the family has set as a list, a number a layer, is known. */
static void
set_unless_listed(struct hf *h, const char *name, int64_t value)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    if (gguf_find_key(h->gguf, key) < 0)
        convert_hf_set_u32(h, name, value);
}

static void
set_numbers(struct hf *h)
{
    static const char names[] =
        "rms_norm_eps|layer_norm_epsilon|layer_norm_eps|norm_epsilon|norm_eps|"
        "layernorm_epsilon";
    const char *eps = h->family->layer_norm
                          ? "attention.layer_norm_epsilon"
                          : "attention.layer_norm_rms_epsilon";

    convert_hf_set_u32(h, "context_length", h->n_ctx);
    convert_hf_set_u32(h, "embedding_length", h->n_embd);
    convert_hf_set_u32(h, "block_count", h->n_layer + h->n_mtp);
    if (h->n_mtp > 0)
        convert_hf_set_u32(h, "nextn_predict_layers", h->n_mtp);
    set_unless_listed(h, "feed_forward_length", h->n_ff);
    set_unless_listed(h, "attention.head_count", h->n_head);
    set_unless_listed(h, "attention.head_count_kv", h->n_head_kv);
    convert_hf_set_f32(
        h, eps,
        core_json_number(&h->config, names, 0, 0.1, usual_epsilon(h->family)));
    if (core_json_find(&h->config, DIM)) {
        set_unless_listed(h, "attention.key_length", h->d_head);
        set_unless_listed(
            h, "attention.value_length",
            core_json_int(&h->config, "v_head_dim", 1, MAX_HEADS, h->d_head));
    }
    convert_hf_set_u32(h, "vocab_size", h->n_vocab);
}

/* The last part of the folder's path; "." and ".." are no names. */
void
convert_hf_set_name(struct hf *h)
{
    size_t end = strlen(h->path), start;

    while (end > 1 && h->path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && h->path[start - 1] != '/';)
        start--;
    if (end > start && h->path[start] != '.')
        gguf_set_bytes(h->gguf, "general.name", h->path + start, end - start);
}

void
convert_hf_read_keys(struct hf *h)
{
    gguf_set_val_str(h->gguf, "general.architecture", h->family->arch);
    gguf_set_val_str(h->gguf, "general.type", "model");
    convert_hf_set_name(h);
    read_numbers(h);
    convert_hf_check_activation(h);
    check_layers(h);
    if (!convert_hf_good(h))
        return;
    if (h->family->keys)
        h->family->keys(h);
    if (!convert_hf_good(h))
        return;
    set_numbers(h);
    if (!h->family->positions)
        convert_hf_read_rope(h);
    convert_hf_read_pooling(h);
}

#endif
