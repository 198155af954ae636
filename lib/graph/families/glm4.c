/* glm4.c - ChatGLM 2 and 3, GLM 4: LLaMA with fused matrices, half of a head
 * rotated
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * GLM 4 0414 norms what the blocks give before it is added. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
}

/* Files of those that read pictures, too, have the parts that M-RoPE has, and
 * pair values as it does. */
static void
glm4_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    bool parts = graph_key_exists(keys, "rope.dimension_sections");

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp,
                    parts ? GGML_ROPE_TYPE_NEOX : GGML_ROPE_TYPE_NORMAL);
}

static void
chatglm_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, 2 * f, MODEL_OPTIONAL);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, MODEL_OPTIONAL);
}

static void
glm4_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    chatglm_layer(l, layer);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
}

const struct model_arch graph_family_glm4[] = {
    { .name = "chatglm", .hparams = hparams, .layer = chatglm_layer },
    { .name = "glm4", .hparams = glm4_hparams, .layer = glm4_layer },
    { 0 },
};
