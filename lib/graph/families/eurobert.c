/* eurobert.c - EuroBERT and NeoBERT: encoders of LLaMA's layers
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           all ids see each other
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * x = norm(x)
 *
 * EuroBERT (Boizard et al. 2025): grouped queries, halves of a head turn.
 * NeoBERT (Le Breton et al. 2025): neighbours do; one matrix has gate and up,
 * and output_norm goes by another name. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->encoder = true;
}

static void
neo_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->encoder = true;
}

static void
neo_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, 2 * f, MODEL_OPTIONAL);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, MODEL_OPTIONAL);
}

static void
neo_head(struct model_loader *l)
{
    struct model *m = l->model;

    m->output_norm =
        graph_find_norm(l, "enc.output_norm", m->hp.n_embd, MODEL_OPTIONAL);
}

const struct model_arch graph_family_eurobert[] = {
    { .name = "eurobert", .hparams = hparams, .head = graph_find_output_norm },
    { .name = "neo-bert",
      .hparams = neo_hparams,
      .layer = neo_layer,
      .head = neo_head },
    { 0 },
};
