/* granite.c - Granite, with and without experts, and with state spaces: LLaMA
 * with a scale at every seam
 *
 * x = s_e embed(ids)
 * x = x + s_r attention(norm(x))       softmax(s_a q k), not 1 / sqrt(d)
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) / s_l
 *
 * Granite 4's with one kind of layers say so with `rope.scaling.finetuned` if
 * queries and keys do not turn. granitemoe: the feed-forward block is a mixture
 * of such, maybe with an expert for all ids. granite_swa: some layers have a
 * window, and some do not turn, as the file says; a sink takes part of the
 * softmax. granitehybrid: Granite 4 H and Bamba; layers without keys and values
 * have a Mamba 2 in attention's place. */
#include "graph/arch.h"

static void
read_scales(struct model_keys *keys, struct model_hparams *hp)
{
    hp->embd_scale = graph_key_float(keys, "embedding_scale", 0, 1e6f, 0);
    hp->residual_scale = graph_key_float(keys, "residual_scale", 0, 1e6f, 0);
    hp->attn_scale = graph_key_float(keys, "attention.scale", 0, 1e6f, 0);
}

/* The logits' is in all files of all but hybrid models. */
static void
read_logit_scale(struct model_keys *keys, struct model_hparams *hp, float other)
{
    hp->logit_scale =
        1 / graph_key_float(keys, "logit_scale", 1e-6f, 1e6f, other);
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    if (graph_key_bool(keys, "rope.scaling.finetuned", true))
        graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    read_scales(keys, hp);
    read_logit_scale(keys, hp, -1);
}

/* The file's expert for all ids has a length; without one there is none. */
static void
read_mixture(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t n_ff = graph_key_int(keys, "expert_shared_feed_forward_length", 0,
                                 INT32_MAX, 0);

    graph_keys_experts(keys, hp, false);
    hp->n_ff_shared = n_ff;
    hp->routing.normed = true;
}

static void
moe_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    read_scales(keys, hp);
    read_logit_scale(keys, hp, -1);
    read_mixture(keys, hp);
}

static void
hybrid_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_heads(keys, hp);
    graph_keys_mamba2(keys, hp);
    if (graph_key_bool(keys, "rope.scaling.finetuned", true))
        graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    read_scales(keys, hp);
    read_logit_scale(keys, hp, 1);
    read_mixture(keys, hp);
}

static void
swa_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    moe_hparams(keys, hp);
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_layers(keys, "attention.rope_pattern", 1, 1, &l->turns,
                      sizeof(*l));
}

static void
moe_layer(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    if (layer->router.weight && l->model->hp.n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

static void
hybrid_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        graph_find_mamba2(l, layer, MODEL_REQUIRED);
    else
        graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    if (layer->router.weight && l->model->hp.n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

/* The expert of all ids has its gate in front of `up`. */
static void
swa_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->model->hp.n_ff_shared;

    if (!l->hp->turns)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    layer->attn_sinks =
        graph_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_REQUIRED);
    if (!layer->router.weight || f == 0)
        return;
    layer->shared_up =
        graph_find_linear(l, ".ffn_up_shexp", e, 2 * f, MODEL_OPTIONAL);
    layer->shared_down =
        graph_find_linear(l, ".ffn_down_shexp", f, e, MODEL_OPTIONAL);
}

const struct model_arch graph_family_granite[] = {
    { .name = "granite", .hparams = hparams },
    { .name = "granite_swa", .hparams = swa_hparams, .layer = swa_layer },
    { .name = "granitemoe", .hparams = moe_hparams, .layer = moe_layer },
    { .name = "granitehybrid",
      .hparams = hybrid_hparams,
      .layer = hybrid_layer,
      .recur = graph_mamba2 },
    { 0 },
};
