/* grovemoe.c - GroveMoE (Wu et al. 2025): Qwen 3's mixture, groups of whose
 * experts have a small expert each
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + sum of w_e expert_e(c) + s sum of w_e small_g(e)(c), c = norm(x)
 *                                      of the best experts; w: softmax, to sum
 * logits = output(norm(x))             1; g(e): the group of e; each layer
 *
 * So its makers compute it. llama.cpp of 2026 lets the small experts read the
 * sum of the others' answers, chooses no more of them than there are, and
 * weighs them as the experts that have the numbers of groups. */
#include "graph/arch.h"

static void
read_groups(struct model_keys *keys, struct model_hparams *hp)
{
    hp->adjugate_of =
        graph_key_int(keys, "experts_per_group", 1, hp->n_expert, 0);
    if (keys->status == GG_OK && hp->n_expert % hp->adjugate_of)
        graph_key_mismatch(keys, "experts_per_group",
                           "does not divide expert_count", hp->adjugate_of,
                           hp->n_expert);
    hp->adjugate_scale =
        graph_key_float(keys, "expert_group_scale", 0, 1e6f, -1);
    hp->n_ff_adjugate =
        graph_key_int_or_zero(keys, "expert_chunk_feed_forward_length",
                              MODEL_MAX_FF, hp->layers[0].d_key);
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
    if (keys->status == GG_OK)
        read_groups(keys, hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, f = hp->n_ff_adjugate;
    int64_t n = hp->n_expert / hp->adjugate_of;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->adjugate_gate =
        graph_find_experts_of(l, ".ffn_gate_chexps", e, f, n, MODEL_OPTIONAL);
    layer->adjugate_up =
        graph_find_experts_of(l, ".ffn_up_chexps", e, f, n, MODEL_OPTIONAL);
    layer->adjugate_down =
        graph_find_experts_of(l, ".ffn_down_chexps", f, e, n, MODEL_OPTIONAL);
}

const struct model_arch graph_family_grovemoe[] = {
    { .name = "grovemoe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
