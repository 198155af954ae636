/* gpt2.c - GPT-2: learned positions, layer norms, GELU
 *
 * x = embed(ids) + position(pos)
 * x = x + attention(norm(x))
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp);
    hp->eps =
        model_key_float(keys, "attention.layer_norm_epsilon", 0, 0.1f, -1);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, q = (int64_t)hp->n_head * hp->d_key;
    int64_t kv = (int64_t)hp->n_head_kv * hp->d_key;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    layer->attn_qkv =
        model_find_linear(l, ".attn_qkv", e, q + 2 * kv, MODEL_REQUIRED);
    layer->attn_output =
        model_find_linear(l, ".attn_output", q, e, MODEL_REQUIRED);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_REQUIRED);
    layer->ffn_up =
        model_find_linear(l, ".ffn_up", e, hp->n_ff, MODEL_REQUIRED);
    layer->ffn_down =
        model_find_linear(l, ".ffn_down", hp->n_ff, e, MODEL_REQUIRED);
}

static void
weights(struct model_loader *l, struct model *m)
{
    const struct model_hparams *hp = &m->hp;

    m->token_embd = model_find_table(l, "token_embd", hp->n_embd, hp->n_vocab);
    m->position_embd =
        model_find_table(l, "position_embd", hp->n_embd, hp->n_ctx_train);
    for (l->layer = 0; l->layer < hp->n_layer; l->layer++)
        layer_weights(l, &m->layers[l->layer]);
    m->output_norm =
        model_find_norm(l, "output_norm", hp->n_embd, MODEL_REQUIRED);
    m->output = model_find_output(l);
}

/* Queries, keys and values lie side by side in each row of one product. */
static struct ggml_tensor *
attention(struct graph *g, int32_t i, struct ggml_tensor *cur)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct model_layer *layer = &g->model->layers[i];
    struct ggml_tensor *qkv = graph_linear(g, cur, &layer->attn_qkv);
    int64_t n_q = (int64_t)hp->n_head * hp->d_key;
    int64_t n_kv = (int64_t)hp->n_head_kv * hp->d_key;
    size_t one = qkv->nb[0], row = qkv->nb[1];
    struct ggml_tensor *q, *k, *v;

    q = ggml_view_3d(g->ctx, qkv, hp->d_key, hp->n_head, g->n_tokens,
                     (size_t)hp->d_key * one, row, 0);
    k = ggml_view_2d(g->ctx, qkv, n_kv, g->n_tokens, row, (size_t)n_q * one);
    v = ggml_view_2d(g->ctx, qkv, n_kv, g->n_tokens, row,
                     (size_t)(n_q + n_kv) * one);
    cur = graph_attention(g, i, q, k, v);
    return graph_linear(g, graph_wanted(g, i, cur), &layer->attn_output);
}

static struct ggml_tensor *
feed_forward(struct graph *g, const struct model_layer *layer,
             struct ggml_tensor *cur)
{
    cur = graph_linear(g, cur, &layer->ffn_up);
    return graph_linear(g, ggml_gelu(g->ctx, cur), &layer->ffn_down);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x, *cur;

    x = ggml_add(g->ctx, graph_embed(g), graph_embed_positions(g));
    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = attention(g, i, graph_layer_norm(g, x, &layer->attn_norm));
        x = ggml_add(g->ctx, graph_wanted(g, i, x), cur);
        cur = graph_layer_norm(g, x, &layer->ffn_norm);
        x = ggml_add(g->ctx, x, feed_forward(g, layer, cur));
    }
    return graph_linear(g, graph_layer_norm(g, x, &m->output_norm), &m->output);
}

const struct model_arch model_arch_gpt2 = { "gpt2", hparams, weights, graph };
