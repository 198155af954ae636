/* hparams_experts.c - hyper-parameters of mixtures of experts */
#include "graph/keys.h"

enum {
    MAX_EXPERTS = 1 << 12,
    MAX_EXPERTS_USED = 64,
};

/* That of the first layer which has a feed-forward block; 0: none has. */
static int32_t
first_ff(const struct model_hparams *hp)
{
    int32_t i = 0;

    while (i < hp->n_layer - 1 && hp->layers[i].n_ff == 0)
        i++;
    return hp->layers[i].n_ff;
}

void
graph_keys_experts(struct model_keys *keys, struct model_hparams *hp,
                   bool required)
{
    int32_t n_ff;

    hp->n_expert = graph_key_int(keys, "expert_count", required, MAX_EXPERTS,
                                 required ? -1 : 0);
    if (hp->n_expert == 0)
        return;
    hp->n_expert_used =
        graph_key_int(keys, "expert_used_count", 1, MAX_EXPERTS_USED, 0);
    if (hp->n_expert_used > hp->n_expert)
        graph_key_mismatch(keys, "expert_used_count", "exceeds expert_count",
                           hp->n_expert_used, hp->n_expert);
    n_ff = first_ff(hp);
    hp->n_ff_expert =
        graph_key_int_or_zero(keys, "expert_feed_forward_length", MODEL_MAX_FF,
                              required ? n_ff / hp->n_expert_used : n_ff);
    hp->n_ff_shared = graph_key_int_or_zero(
        keys, "expert_shared_feed_forward_length", MODEL_MAX_FF, n_ff);
}

/* In files 1 is the first of them; 0: it is not said. */
void
graph_keys_gating(struct model_keys *keys, struct model_hparams *hp, int other)
{
    static const char name[] = "expert_gating_func";
    int32_t v = graph_key_int_or_zero(keys, name, 255, other + 1);

    hp->routing.gating = v - 1;
    if (v > MODEL_GATING_SQRT_SOFTPLUS + 1)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                         "%d is not 1 (softmax), 2 (sigmoid), 3 (softmax of "
                         "the chosen) or 4 (root of softplus)",
                         (int)v);
}

static void
read_groups(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_routing *r = &hp->routing;

    r->n_group = graph_key_int(keys, "expert_group_count", 0, MAX_EXPERTS, 0);
    if (r->n_group <= 1)
        r->n_group = 0;
    if (r->n_group == 0)
        return;
    r->n_group_used =
        graph_key_int(keys, "expert_group_used_count", 1, r->n_group, 0);
    if (hp->n_expert % r->n_group || hp->n_expert / r->n_group < 2)
        graph_key_mismatch(keys, "expert_group_count",
                           "groups of at least two of", r->n_group,
                           hp->n_expert);
    else if (r->n_group_used * (hp->n_expert / r->n_group) < hp->n_expert_used)
        graph_key_mismatch(keys, "expert_group_used_count",
                           "groups have fewer experts than", r->n_group_used,
                           hp->n_expert_used);
}

void
graph_keys_routing(struct model_keys *keys, struct model_hparams *hp, int other)
{
    struct model_routing *r = &hp->routing;

    hp->n_dense =
        graph_key_int(keys, "leading_dense_block_count", 0, hp->n_layer, 0);
    graph_keys_gating(keys, hp, other);
    r->normed = graph_key_bool(keys, "expert_weights_norm", false);
    r->scale = graph_key_float(keys, "expert_weights_scale", 0, 1e6f, 0);
    if (r->scale == 1)
        r->scale = 0;
    read_groups(keys, hp);
}

void
graph_keys_shared_experts(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "expert_shared_count";
    int32_t most = hp->n_ff_expert > 0 ? MODEL_MAX_FF / hp->n_ff_expert : 0;
    int32_t count = graph_key_int(keys, name, 0, most, 0);

    hp->n_ff_shared =
        graph_key_int_or_zero(keys, "expert_shared_feed_forward_length",
                              MODEL_MAX_FF, count * hp->n_ff_expert);
}
