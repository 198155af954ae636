/* llama.c - LLaMA: rotary positions, RMS norms, grouped heads, SwiGLU
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp);
    model_keys_rope(keys, hp);
    model_keys_window(keys, hp);
    hp->eps =
        model_key_float(keys, "attention.layer_norm_rms_epsilon", 0, 0.1f, -1);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, q = (int64_t)hp->n_head * hp->d_key;
    int64_t kv = (int64_t)hp->n_head_kv * hp->d_key;
    enum model_need bias = MODEL_OPTIONAL;

    layer->windowed = hp->window > 0; /* Mistral */
    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    layer->attn_q = model_find_linear(l, ".attn_q", e, q, bias);
    layer->attn_k = model_find_linear(l, ".attn_k", e, kv, bias);
    layer->attn_v = model_find_linear(l, ".attn_v", e, kv, bias);
    layer->attn_output = model_find_linear(l, ".attn_output", q, e, bias);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->ffn_gate = model_find_linear(l, ".ffn_gate", e, hp->n_ff, bias);
    layer->ffn_up = model_find_linear(l, ".ffn_up", e, hp->n_ff, bias);
    layer->ffn_down = model_find_linear(l, ".ffn_down", hp->n_ff, e, bias);
}

static void
weights(struct model_loader *l, struct model *m)
{
    const struct model_hparams *hp = &m->hp;

    m->token_embd = model_find_table(l, "token_embd", hp->n_embd, hp->n_vocab);
    for (l->layer = 0; l->layer < hp->n_layer; l->layer++)
        layer_weights(l, &m->layers[l->layer]);
    m->rope_freqs =
        model_find_vector(l, "rope_freqs", hp->n_rot / 2, MODEL_OPTIONAL);
    m->output_norm =
        model_find_norm(l, "output_norm", hp->n_embd, MODEL_OPTIONAL);
    m->output = model_find_output(l);
}

static struct ggml_tensor *
attention(struct graph *g, int32_t i, struct ggml_tensor *cur)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct model_layer *layer = &g->model->layers[i];
    struct ggml_tensor *q = graph_linear(g, cur, &layer->attn_q);
    struct ggml_tensor *k = graph_linear(g, cur, &layer->attn_k);
    struct ggml_tensor *v = graph_linear(g, cur, &layer->attn_v);

    q = graph_heads(g, q, hp->d_key, hp->n_head);
    k = graph_heads(g, k, hp->d_key, hp->n_head_kv);
    q = graph_rope(g, q, GGML_ROPE_TYPE_NORMAL);
    k = graph_rope(g, k, GGML_ROPE_TYPE_NORMAL);
    k = ggml_reshape_2d(g->ctx, k, (int64_t)hp->d_key * hp->n_head_kv,
                        g->n_tokens);
    cur = graph_attention(g, i, q, k, v);
    return graph_linear(g, graph_wanted(g, i, cur), &layer->attn_output);
}

static struct ggml_tensor *
feed_forward(struct graph *g, const struct model_layer *layer,
             struct ggml_tensor *cur)
{
    struct ggml_tensor *gate = graph_linear(g, cur, &layer->ffn_gate);
    struct ggml_tensor *up = graph_linear(g, cur, &layer->ffn_up);

    return graph_linear(g, ggml_swiglu_split(g->ctx, gate, up),
                        &layer->ffn_down);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g), *cur;

    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = attention(g, i, graph_rms_norm(g, x, &layer->attn_norm));
        x = ggml_add(g->ctx, graph_wanted(g, i, x), cur);
        cur = graph_rms_norm(g, x, &layer->ffn_norm);
        x = ggml_add(g->ctx, x, feed_forward(g, layer, cur));
    }
    return graph_linear(g, graph_rms_norm(g, x, &m->output_norm), &m->output);
}

const struct model_arch model_arch_llama = { "llama", hparams, weights, graph };
