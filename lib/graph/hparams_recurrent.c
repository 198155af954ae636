/* hparams_recurrent.c - hyper-parameters of layers with a recurrence */
#include "graph/keys.h"

enum {
    MIN_CONV = 2, /* of one column nothing is kept */
    MAX_CONV = 64,
    MAX_LENGTH = 1 << 20,
    MAX_STATE = 1 << 12,
    MAX_HEADS = 1 << 14,
    MAX_FLOATS = 1 << 28, /* of a state */
};

void
graph_keys_recurrent_layers(struct model_keys *keys, struct model_hparams *hp,
                            int32_t period)
{
    static const char list[] = "attention.recurrent_layers";
    bool listed = graph_keys_layer_flags(keys, list, &hp->layers[0].recurs,
                                         sizeof(hp->layers[0]));

    if (!listed)
        period = graph_key_int(keys, "full_attention_interval", 1,
                               MODEL_MAX_LAYERS, period);
    for (int32_t i = 0; i < keys->n_layer; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        l->recurs =
            i < hp->n_layer && (listed ? l->recurs : (i + 1) % period != 0);
        if (l->recurs)
            l->n_head = l->n_head_kv = 0;
    }
}

void
graph_keys_recurrent_heads(struct model_keys *keys, struct model_hparams *hp)
{
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        l->recurs = l->n_head_kv == 0;
        if (l->recurs)
            l->n_head = 0;
    }
}

void
graph_keys_short_conv(struct model_keys *keys, struct model_hparams *hp,
                      const char *name, int32_t n_channels)
{
    int32_t d_conv = graph_key_int(keys, name, MIN_CONV, MAX_CONV, 0);

    for (int32_t i = 0; i < hp->n_layer; i++)
        if (hp->layers[i].recurs) {
            hp->layers[i].d_conv = d_conv;
            hp->layers[i].n_channels = n_channels;
        }
}

void
graph_keys_recurrent_alone(struct model_keys *keys, struct model_hparams *hp)
{
    for (int32_t i = 0; i < keys->n_layer; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        l->recurs = i < hp->n_layer;
        l->n_head = l->n_head_kv = l->n_ff = 0;
    }
}

static void
read_lengths(struct model_keys *keys, struct model_ssm *s)
{
    s->d_conv = graph_key_int(keys, "ssm.conv_kernel", MIN_CONV, MAX_CONV, 0);
    s->d_state = graph_key_int(keys, "ssm.state_size", 1, MAX_STATE, 0);
    s->d_inner = graph_key_int(keys, "ssm.inner_size", 1, MAX_LENGTH, 0);
}

static void
check_ssm_heads(struct model_keys *keys, const struct model_ssm *s)
{
    if (keys->status != GG_OK)
        return;
    if (s->d_inner % s->n_head)
        graph_key_mismatch(keys, "ssm.time_step_rank",
                           "does not divide inner_size", s->n_head, s->d_inner);
    else if (s->n_head % s->n_group)
        graph_key_mismatch(keys, "ssm.group_count",
                           "does not divide time_step_rank", s->n_group,
                           s->n_head);
}

static void
read_heads(struct model_keys *keys, struct model_ssm *s)
{
    s->n_head = graph_key_int(keys, "ssm.time_step_rank", 1, MAX_HEADS, 0);
    s->n_group = graph_key_int(keys, "ssm.group_count", 1, MAX_HEADS, 0);
    check_ssm_heads(keys, s);
}

/* Layers with a recurrence keep columns of n_channels channels, and a row of
 * length d_state for each value that the heads give; the key is one that a
 * large state comes from. */
static void
keep(struct model_keys *keys, struct model_hparams *hp, const char *name,
     int32_t n_channels)
{
    int64_t floats = (int64_t)hp->ssm.d_state * hp->ssm.d_inner;

    if (keys->status == GG_OK && floats > MAX_FLOATS)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                         "a state of %lld numbers is too large",
                         (long long)floats);
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (!l->recurs)
            continue;
        l->d_conv = hp->ssm.d_conv;
        l->n_channels = n_channels;
        l->n_state = floats;
    }
}

void
graph_keys_mamba(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_ssm *s = &hp->ssm;

    read_lengths(keys, s);
    s->d_rank = graph_key_int(keys, "ssm.time_step_rank", 1, MAX_LENGTH, 0);
    s->n_head = s->d_inner;
    s->n_group = 1;
    keep(keys, hp, "ssm.inner_size", s->d_inner);
}

void
graph_keys_mamba2(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_ssm *s = &hp->ssm;

    read_lengths(keys, s);
    read_heads(keys, s);
    keep(keys, hp, "ssm.inner_size", s->d_inner + 2 * s->n_group * s->d_state);
}

void
graph_keys_mamba_heads(struct model_keys *keys, struct model_hparams *hp,
                       int32_t d_rank)
{
    struct model_ssm *s = &hp->ssm;

    read_lengths(keys, s);
    s->d_rank = d_rank;
    s->n_head = graph_key_int(keys, "ssm.time_step_rank", 1, MAX_HEADS, 0);
    graph_key_int(keys, "ssm.group_count", 0, 0, 0);
    s->n_group = 1;
    check_ssm_heads(keys, s);
    keep(keys, hp, "ssm.inner_size", s->d_inner);
}

void
graph_keys_delta_net(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_ssm *s = &hp->ssm;

    read_lengths(keys, s);
    read_heads(keys, s);
    if (keys->status == GG_OK && s->d_inner / s->n_head != s->d_state)
        graph_key_mismatch(keys, "ssm.state_size",
                           "is not the length of a head of values", s->d_state,
                           s->d_inner / s->n_head);
    keep(keys, hp, "ssm.inner_size", s->d_inner + 2 * s->n_group * s->d_state);
}

/* In layers with attention; 0: none has any. */
static int32_t
most_heads(const struct model_hparams *hp)
{
    int32_t n = 0;

    for (int32_t i = 0; i < hp->n_layer; i++)
        n = hp->layers[i].n_head > n ? hp->layers[i].n_head : n;
    return n;
}

void
graph_keys_delta_attention(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_ssm *s = &hp->ssm;
    int32_t n_head = most_heads(hp);

    s->d_conv = graph_key_int(keys, "ssm.conv_kernel", MIN_CONV, MAX_CONV, 0);
    s->d_state = graph_key_int(keys, "kda.head_dim", 1, MAX_STATE, 0);
    s->n_head = s->n_group = n_head;
    if (keys->status == GG_OK && n_head > MAX_HEADS)
        graph_key_mismatch(keys, "attention.head_count", "is more than", n_head,
                           MAX_HEADS);
    graph_keys_recurrent_heads(keys, hp);
    s->d_inner = n_head <= MAX_HEADS ? s->d_state * n_head : 0;
    keep(keys, hp, "kda.head_dim", s->d_inner + 2 * s->n_group * s->d_state);
}

void
graph_keys_decay_floor(struct model_keys *keys, struct model_hparams *hp,
                       bool required)
{
    static const char name[] = "kda.gate_lower_bound";

    if (required || graph_key_exists(keys, name))
        hp->ssm.floor = graph_key_float(keys, name, -1e6f, -1e-6f, -1e7f);
}

void
graph_keys_rwkv(struct model_keys *keys, struct model_hparams *hp,
                int32_t n_blocks)
{
    struct model_ssm *s = &hp->ssm;

    s->d_conv = MIN_CONV; /* the id before */
    s->d_state = graph_key_int(keys, "wkv.head_size", 1, MAX_STATE, 0);
    s->d_inner = hp->n_embd;
    s->n_group = 1;
    if (keys->status == GG_OK && hp->n_embd % s->d_state)
        graph_key_mismatch(keys, "wkv.head_size",
                           "does not divide embedding_length", s->d_state,
                           hp->n_embd);
    s->n_head = hp->n_embd / s->d_state;
    for (int32_t i = 0; i < keys->n_layer; i++) {
        hp->layers[i].recurs = i < hp->n_layer;
        hp->layers[i].n_head = hp->layers[i].n_head_kv = 0;
    }
    keep(keys, hp, "wkv.head_size", n_blocks * hp->n_embd);
}
