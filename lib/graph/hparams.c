/* hparams.c - hyper-parameters of a file, none believed unseen */
#include "graph/keys.h"

#include <math.h>
#include <stdio.h>

/* Far above what exists, far below what could overflow a product. */
enum {
    MAX_EMBD = 1 << 20,
    MAX_HEADS = 1 << 16,
    MAX_HEAD_LENGTH = 1 << 16,
};

/* A field of every layer. */
#define EACH(hp, field) &(hp)->layers[0].field, sizeof((hp)->layers[0])

static void
check_heads(struct model_keys *keys, const struct model_layer_hparams *l)
{
    if (l->n_head_kv > l->n_head)
        graph_key_mismatch(keys, "attention.head_count_kv",
                           "exceeds head_count", l->n_head_kv, l->n_head);
    else if (l->n_head_kv && l->n_head % l->n_head_kv)
        graph_key_mismatch(keys, "attention.head_count_kv",
                           "does not divide head_count", l->n_head_kv,
                           l->n_head);
}

static void
read_head_counts(struct model_keys *keys, struct model_hparams *hp)
{
    bool have_kv = graph_key_exists(keys, "attention.head_count_kv");

    graph_keys_layers(keys, "attention.head_count", MAX_HEADS, -1,
                      EACH(hp, n_head));
    if (have_kv)
        graph_keys_layers(keys, "attention.head_count_kv", MAX_HEADS, -1,
                          EACH(hp, n_head_kv));
    for (int32_t i = 0; i < keys->n_layer && keys->status == GG_OK; i++) {
        if (!have_kv)
            hp->layers[i].n_head_kv = hp->layers[i].n_head;
        check_heads(keys, &hp->layers[i]);
    }
}

/* That of the first layer which has attention; at least 1. */
static int32_t
first_head_count(const struct model_hparams *hp)
{
    for (int32_t i = 0; i < hp->n_layer; i++)
        if (hp->layers[i].n_head > 0)
            return hp->layers[i].n_head;
    return 1;
}

static void
read_heads(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t n_head, each, d_key, d_value;

    read_head_counts(keys, hp);
    n_head = first_head_count(hp);
    if (!graph_key_exists(keys, "attention.key_length") && hp->n_embd % n_head)
        graph_key_mismatch(keys, "attention.head_count",
                           "does not divide embedding_length", n_head,
                           hp->n_embd);
    each = hp->n_embd / n_head;
    d_key =
        graph_key_int(keys, "attention.key_length", 1, MAX_HEAD_LENGTH, each);
    d_value =
        graph_key_int(keys, "attention.value_length", 1, MAX_HEAD_LENGTH, each);
    for (int32_t i = 0; i < keys->n_layer; i++) {
        hp->layers[i].d_key = d_key;
        hp->layers[i].d_value = d_value;
    }
}

void
graph_keys_heads_local(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t d_key =
        graph_key_int(keys, "attention.key_length_swa", 0, MAX_HEAD_LENGTH, 0);
    int32_t d_value = graph_key_int(keys, "attention.value_length_swa", 0,
                                    MAX_HEAD_LENGTH, d_key);

    for (int32_t i = 0; i < graph_all_layers(hp) && d_key > 0; i++)
        if (hp->layers[i].windowed) {
            hp->layers[i].d_key = d_key;
            hp->layers[i].d_value = d_value > 0 ? d_value : d_key;
        }
}

/* The last layers may be there for other purposes than the next id. */
static void
read_layers(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t all = graph_key_int(keys, "block_count", 1, MODEL_MAX_LAYERS, 0);

    if (!keys->drafts)
        hp->n_after =
            graph_key_int(keys, "nextn_predict_layers", 0, all - 1, 0);
    hp->n_layer = all - hp->n_after;
    keys->n_layer = all;
    keys->n_after = hp->n_after;
    for (int32_t i = 0; i < all; i++)
        hp->layers[i].kv_layer = i;
}

/* Experts' length, where the file says no other; -1: it does, or says
 * neither. */
static int32_t
length_of_experts(struct model_keys *keys)
{
    if (graph_key_exists(keys, "feed_forward_length"))
        return -1;
    return graph_key_int_or_zero(keys, "expert_feed_forward_length",
                                 MODEL_MAX_FF, -1);
}

void
graph_keys_common(struct model_keys *keys, struct model_hparams *hp,
                  enum model_norms norms)
{
    const char *epsilon = norms == MODEL_RMS_NORM
                              ? "attention.layer_norm_rms_epsilon"
                              : "attention.layer_norm_epsilon";

    hp->n_ctx_train =
        graph_key_int(keys, "context_length", 1, MODEL_MAX_CTX, 0);
    hp->n_embd = graph_key_int(keys, "embedding_length", 1, MAX_EMBD, 0);
    read_layers(keys, hp);
    graph_keys_layers(keys, "feed_forward_length", MODEL_MAX_FF,
                      length_of_experts(keys), EACH(hp, n_ff));
    if (!keys->headless)
        read_heads(keys, hp);
    hp->norms = norms;
    hp->eps = graph_key_float(keys, epsilon, 0, 0.1f, -1);
}

static void
read_latent(struct model_keys *keys, struct model_hparams *hp,
            struct model_latent *x)
{
    int32_t least = x->absorbed ? x->d_shared + 1 : x->d_shared;

    x->n = graph_key_int(keys, "attention.kv_lora_rank", 1, MAX_EMBD, 0);
    x->n_query = graph_key_int(keys, "attention.q_lora_rank", 0, MAX_EMBD, 0);
    x->d_key = graph_key_int(keys, "attention.key_length_mla", least,
                             MAX_HEAD_LENGTH, hp->layers[0].d_key);
    x->d_value = graph_key_int(keys, "attention.value_length_mla", 1,
                               MAX_HEAD_LENGTH, hp->layers[0].d_value);
}

void
graph_keys_latent(struct model_keys *keys, struct model_hparams *hp,
                  int32_t d_shared, bool absorbed)
{
    struct model_latent *x = &hp->latent;

    *x = (struct model_latent){ .d_shared = d_shared, .absorbed = absorbed };
    read_latent(keys, hp, x);
    hp->attn_scale = x->d_key > 0 ? 1 / sqrtf((float)x->d_key) : 1;
    for (int32_t i = 0; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (l->n_head_kv == 0)
            continue;
        l->n_head_kv = absorbed ? 1 : l->n_head;
        l->d_key = absorbed ? x->n + d_shared : x->d_key;
        l->d_value = absorbed ? x->n : x->d_value;
        l->values_in_keys = absorbed;
    }
}

void
graph_keys_latent_local(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_latent *x = &hp->latent_local;
    int32_t least = hp->latent.d_shared + 1;

    *x = hp->latent;
    x->n = graph_key_int(keys, "attention.kv_lora_rank_swa", 1, MAX_EMBD, 0);
    x->d_key = graph_key_int(keys, "attention.key_length_mla_swa", least,
                             MAX_HEAD_LENGTH, 0);
    x->d_value = graph_key_int(keys, "attention.value_length_mla_swa", 1,
                               MAX_HEAD_LENGTH, 0);
    for (int32_t i = 0; i < graph_all_layers(hp); i++)
        if (hp->layers[i].windowed) {
            hp->layers[i].d_key = x->n + x->d_shared;
            hp->layers[i].d_value = x->n;
        }
}

bool
graph_is_absorbed(const struct model_keys *keys, const struct model_hparams *hp)
{
    char name[64];

    for (int32_t i = 0; i < hp->n_layer; i++) {
        snprintf(name, sizeof(name), "blk.%d.attn_kv_b.weight", (int)i);
        if (gguf_tensor_named(keys->gguf, name))
            return false;
    }
    return true;
}

void
graph_keys_window(struct model_keys *keys, struct model_hparams *hp)
{
    hp->window =
        graph_key_int(keys, "attention.sliding_window", 0, MODEL_MAX_CTX, 0);
    for (int32_t i = 0; i < graph_all_layers(hp); i++)
        hp->layers[i].windowed = hp->window > 0;
}

/* All but one of every `period` layers; 0: all. */
static bool
is_windowed(int32_t period, bool first, int32_t layer)
{
    int32_t one = first ? 0 : period - 1;

    return period == 0 || layer % period != one;
}

/* The file has a list of them, or a period, or neither. */
static void
read_pattern(struct model_keys *keys, struct model_hparams *hp, int32_t period,
             bool first)
{
    static const char name[] = "attention.sliding_window_pattern";

    if (graph_keys_layer_flags(keys, name, EACH(hp, windowed)))
        return;
    period = graph_key_int(keys, name, 0, MODEL_MAX_LAYERS, period);
    for (int32_t i = 0; i < graph_all_layers(hp) && keys->status == GG_OK; i++)
        hp->layers[i].windowed = is_windowed(period, first, i);
}

static void
read_windows(struct model_keys *keys, struct model_hparams *hp, int32_t other,
             int32_t period, bool first)
{
    hp->window = graph_key_int(keys, "attention.sliding_window", 0,
                               MODEL_MAX_CTX, other);
    if (keys->status == GG_OK && hp->window > 0)
        read_pattern(keys, hp, period, first);
}

void
graph_keys_windows(struct model_keys *keys, struct model_hparams *hp,
                   int32_t other, int32_t period)
{
    read_windows(keys, hp, other, period, false);
}

void
graph_keys_windows_after(struct model_keys *keys, struct model_hparams *hp,
                         int32_t other, int32_t period)
{
    read_windows(keys, hp, other, period, true);
}

/* The last layer before `first` that sees what `layer` does; -1: none does. */
static int32_t
find_kv_layer(const struct model_hparams *hp, int32_t first, int32_t layer)
{
    int32_t i = first - 1;

    while (i >= 0 && hp->layers[i].windowed != hp->layers[layer].windowed)
        i--;
    return i;
}

/* A key's and a value's head there must be what the layer expects. */
static void
share(struct model_keys *keys, struct model_hparams *hp, int32_t first,
      int32_t layer)
{
    static const char name[] = "attention.shared_kv_layers";
    struct model_layer_hparams *l = &hp->layers[layer];
    int32_t from = find_kv_layer(hp, first, layer);

    if (from < 0) {
        graph_key_mismatch(keys, name,
                           "layers: there is none to share with, of", layer,
                           first);
        return;
    }
    if (hp->layers[from].n_head_kv != l->n_head_kv)
        graph_key_mismatch(keys, "attention.head_count_kv",
                           "keys differ from those that are shared, of layer",
                           l->n_head_kv, from);
    l->kv_layer = from;
}

void
graph_keys_shared(struct model_keys *keys, struct model_hparams *hp,
                  int32_t other)
{
    int32_t n = graph_key_int(keys, "attention.shared_kv_layers", 0,
                              hp->n_layer - 1, other);

    for (int32_t i = hp->n_layer - n; i < hp->n_layer; i++)
        if (keys->status == GG_OK)
            share(keys, hp, hp->n_layer - n, i);
}

/* -INFINITY is written for 0 of the gates. */
static void
check_sparsity(struct model_keys *keys, const char *key, int32_t layer,
               float sparsity)
{
    if (!(sparsity <= 100))
        keys->status = gguf_bad_value(keys->gguf, key, keys->err,
                                      "%g of layer %d is above 100",
                                      (double)sparsity, (int)layer);
}

void
graph_keys_sparsity(struct model_keys *keys, struct model_hparams *hp,
                    int32_t n, float other)
{
    struct gguf_array array = { 0 };
    char key[MODEL_MAX_KEY];
    float x;

    graph_key_name(keys, "activation_sparsity_scale", key);
    if (keys->status == GG_OK &&
        graph_key_exists(keys, "activation_sparsity_scale"))
        keys->status =
            gguf_get_array_n(keys->gguf, key, GGUF_TYPE_FLOAT32,
                             (size_t)keys->n_layer, &array, keys->err);
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        x = i < n ? other : -INFINITY;
        if (array.n)
            x = gguf_array_f32(&array, (size_t)i);
        check_sparsity(keys, key, i, x);
        hp->layers[i].sparse = x > -INFINITY;
        hp->layers[i].sparsity = x;
    }
}

void
graph_keys_pairs(struct model_keys *keys, struct model_hparams *hp)
{
    const struct gguf_tensor *types =
        gguf_tensor_named(keys->gguf, "token_types.weight");
    static const char separator[] = "tokenizer.ggml.seperator_token_id";
    struct gguf_str kind = { NULL, 0 };
    uint64_t id = 102; /* as BERT's have it */

    if (keys->status == GG_OK)
        keys->status =
            gguf_opt_str(keys->gguf, "tokenizer.ggml.model", &kind, keys->err);
    if (keys->status == GG_OK && gguf_find_key(keys->gguf, separator) >= 0)
        keys->status = gguf_get_u64(keys->gguf, separator, &id, keys->err);
    if (keys->status != GG_OK || !types || types->ne[1] < 2 || kind.n != 4 ||
        memcmp(kind.s, "bert", 4) != 0)
        return;
    hp->typed_pairs = id < (uint64_t)hp->n_vocab;
    hp->separator = (int32_t)(id & INT32_MAX);
}

void
graph_keys_pad(const struct gguf_context *gguf, struct model_hparams *hp)
{
    static const char pad[] = "tokenizer.ggml.padding_token_id";
    uint64_t id = 0;

    if (gguf_find_key(gguf, pad) < 0 ||
        gguf_get_u64(gguf, pad, &id, NULL) != GG_OK)
        return;
    hp->pad = id < (uint64_t)hp->n_vocab ? (int32_t)id : 0;
}

/* Whether the file names it; else it stays as it is. */
static void
read_squash(struct model_keys *keys, enum model_squash *squash)
{
    static const char *const names[] = { [MODEL_SQUASH_TANH] = "tanh",
                                         [MODEL_SQUASH_GELU] = "gelu",
                                         [MODEL_SQUASH_RELU] = "relu",
                                         [MODEL_SQUASH_SILU] = "silu" };
    static const char key[] = "classifier.activation";
    struct gguf_str s = { NULL, 0 };

    graph_key_str(keys, key, &s);
    if (!s.s)
        return;
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
        if (s.n == strlen(names[i]) && !memcmp(s.s, names[i], s.n)) {
            *squash = (enum model_squash)i;
            return;
        }
    graph_key_refuse(keys, GG_ERR_UNSUPPORTED, key,
                     "is not one of tanh, gelu, relu and silu");
}

void
graph_keys_rank(struct model_keys *keys, struct model_hparams *hp)
{
    static const enum gg_pooling kinds[] = { GG_POOL_NONE, GG_POOL_MEAN,
                                             GG_POOL_CLS };
    const int32_t unsaid = 3;
    int32_t kind = graph_key_int(keys, "classifier.pooling_type", 0, 2, unsaid);

    if (hp->rank_squash == MODEL_SQUASH_NONE)
        hp->rank_squash = MODEL_SQUASH_TANH;
    if (!hp->encoder)
        hp->rank_pooling = GG_POOL_LAST;
    else if (kind < unsaid)
        hp->rank_pooling = kinds[kind];
    else if (hp->rank_squash == MODEL_SQUASH_TANH)
        hp->rank_pooling = GG_POOL_CLS;
    read_squash(keys, &hp->rank_squash);
}

void
graph_keys_causal(struct model_keys *keys, const struct model_hparams *hp)
{
    static const char name[] = "attention.causal";
    bool both_ways = hp->encoder && !hp->one_way;

    if (graph_key_bool(keys, name, !both_ways) == both_ways)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                         both_ways
                             ? "true: ids of %s attend to later ones, too"
                             : "false: ids of %s see those before them only",
                         keys->arch);
}
