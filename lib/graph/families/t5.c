/* t5.c - T5 (Raffel et al. 2020) and its kin: an encoder and a decoder
 *
 * x = embed(ids)                       of the prompt, which is there at once
 * x = x + attention(norm(x))           softmax(q k + bias(distance)), unscaled
 * x = x + down(act(up(norm(x))))       in each layer; in later versions
 *                                      down(gelu(gate(c)) * up(c))
 * e = norm(x)
 *
 * x = embed(ids)                       of the answer, from the start token on
 * x = x + attention(norm(x))           of the ids before
 * x = x + cross_attention(norm(x), e)  unscaled, without a bias
 * x = x + down(act(up(norm(x))))
 * logits = output(norm(x))             where this is the embedding itself:
 *                                      output(norm(x) / sqrt(n_embd))
 *
 * The first layer's biases serve those that have none (UMT5's all have). */
#include <math.h>

#include "graph/arch.h"

enum {
    MAX_BUCKETS = 1 << 16,
};

/* All layers are like the first; those of the encoder keep nothing: what they
 * give goes to the decoder's rows. */
static void
add_decoder(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t n = hp->n_layer, most = MODEL_MAX_LAYERS - n;
    int32_t more = graph_key_int(keys, "decoder_block_count", 1, most,
                                 n < most ? n : most);

    if (keys->status == GG_OK && hp->layers[0].n_head_kv == 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "attention.head_count_kv",
                         "a decoder has no heads of keys and values");
    if (keys->status != GG_OK)
        return;
    hp->n_encoder = n;
    hp->n_layer = n + more;
    for (int32_t i = 0; i < hp->n_layer; i++) {
        hp->layers[i] = hp->layers[0];
        hp->layers[i].kv_layer = i < n ? n : i;
    }
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    bool gated = gguf_tensor_named(keys->gguf, "enc.blk.0.ffn_gate.weight");

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    hp->n_bucket = graph_key_int(keys, "attention.relative_buckets_count", 4,
                                 MAX_BUCKETS, -1);
    hp->decoder_start =
        graph_key_int(keys, "decoder_start_token_id", 0, INT32_MAX, 0);
    hp->activation = gated ? MODEL_GELU : MODEL_RELU;
    hp->attn_scale = 1;
    if (keys->status == GG_OK && hp->n_after > 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "nextn_predict_layers",
                         "a decoder has none");
    if (keys->status == GG_OK)
        add_decoder(keys, hp);
    if (!gguf_tensor_named(keys->gguf, "output.weight"))
        hp->logit_scale = 1 / sqrtf((float)hp->n_embd);
}

static void
find_attention(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->hp->n_head;
    int64_t q = n * l->hp->d_key, out = n * l->hp->d_value;
    int64_t k = (int64_t)l->hp->n_head_kv * l->hp->d_key;
    int64_t v = (int64_t)l->hp->n_head_kv * l->hp->d_value;

    layer->attn_q = graph_find_linear(l, ".attn_q", e, q, MODEL_OPTIONAL);
    layer->attn_k = graph_find_linear(l, ".attn_k", e, k, MODEL_OPTIONAL);
    layer->attn_v = graph_find_linear(l, ".attn_v", e, v, MODEL_OPTIONAL);
    layer->attn_output =
        graph_find_linear(l, ".attn_o", out, e, MODEL_OPTIONAL);
    layer->attn_bias = graph_find_relative_bias(
        l, graph_encodes(&l->model->hp, l->layer) ? 0 : l->model->hp.n_encoder);
}

/* Some files have biases of these, which no maker uses. */
static void
find_cross_attention(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->hp->n_head;
    int64_t q = n * l->hp->d_key, out = n * l->hp->d_value;
    int64_t k = (int64_t)l->hp->n_head_kv * l->hp->d_key;
    int64_t v = (int64_t)l->hp->n_head_kv * l->hp->d_value;

    layer->cross_norm =
        graph_find_norm(l, ".cross_attn_norm", e, MODEL_OPTIONAL);
    layer->cross_q =
        graph_find_linear(l, ".cross_attn_q", e, q, MODEL_OPTIONAL);
    layer->cross_k =
        graph_find_linear(l, ".cross_attn_k", e, k, MODEL_OPTIONAL);
    layer->cross_v =
        graph_find_linear(l, ".cross_attn_v", e, v, MODEL_OPTIONAL);
    layer->cross_output =
        graph_find_linear(l, ".cross_attn_o", out, e, MODEL_OPTIONAL);
    graph_pass_over(l, ".cross_attn_rel_b");
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    bool gated = l->model->hp.activation == MODEL_GELU;
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    find_attention(l, layer);
    if (!graph_encodes(&l->model->hp, l->layer))
        find_cross_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, gated, MODEL_OPTIONAL);
}

static void
head(struct model_loader *l)
{
    struct model *m = l->model;
    int64_t e = m->hp.n_embd;

    m->encoder_norm = graph_find_norm(l, "enc.output_norm", e, MODEL_OPTIONAL);
    m->output_norm = graph_find_norm(l, "dec.output_norm", e, MODEL_OPTIONAL);
    m->output = graph_find_output(l);
}

static struct ggml_tensor *
feed_forward(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[i];
    struct ggml_tensor *cur = graph_norm(g, x, &l->ffn_norm);

    x = ggml_add(g->ctx, x, graph_feed_forward(g, l, cur));
    return graph_steer(g, i, x);
}

static struct ggml_tensor *
encode_layer(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[i];
    struct graph_heads h = graph_project(g, i, graph_norm(g, x, &l->attn_norm));
    struct ggml_tensor *cur = graph_relative_attention(g, h, l->attn_bias);

    x = ggml_add(g->ctx, x, graph_linear(g, cur, &l->attn_output));
    x = feed_forward(g, i, x);
    if (i == g->model->hp.n_encoder - 1)
        x = graph_norm(g, x, &g->model->encoder_norm);
    return x;
}

/* Keys and values of x, which the encoder gave, for a layer of the decoder. */
static struct ggml_tensor *
keep_across(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[i];
    struct ggml_tensor *k = graph_linear(g, x, &l->cross_k);
    struct ggml_tensor *v = graph_linear(g, x, &l->cross_v);

    graph_keep(g, i, graph_heads(g, k, l->hp->d_key, l->hp->n_head_kv),
               graph_heads(g, v, l->hp->d_value, l->hp->n_head_kv));
    return graph_wanted(g, i, x);
}

static struct ggml_tensor *
decode_layer(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[i];
    struct graph_heads h = graph_project(g, i, graph_norm(g, x, &l->attn_norm));
    struct ggml_tensor *cur = graph_relative_decoder(g, i, h, l->attn_bias);

    x = ggml_add(g->ctx, x, graph_linear(g, cur, &l->attn_output));
    cur = graph_linear(g, graph_norm(g, x, &l->cross_norm), &l->cross_q);
    cur = graph_heads(g, cur, l->hp->d_key, l->hp->n_head);
    cur = graph_wanted(g, i, graph_cross_attention(g, i, cur));
    cur = graph_linear(g, cur, &l->cross_output);
    return feed_forward(g, i, ggml_add(g->ctx, graph_wanted(g, i, x), cur));
}

/* Ids of the encoder pass through its layers and are kept by the decoder's;
 * ids of the decoder pass through these alone. */
static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_enter(g, graph_embed(g));

    for (int32_t i = g->first; i < g->end; i++) {
        if (graph_encodes(&m->hp, i))
            x = g->encodes ? encode_layer(g, i, x) : x;
        else if (g->encodes)
            x = keep_across(g, i, x);
        else
            x = decode_layer(g, i, x);
    }
    if (x == g->entered)
        x = ggml_cont(g->ctx, x);
    x = graph_leave(g, x);
    return g->encodes ? x : graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_t5[] = {
    { .name = "t5",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = head,
      .stack = "enc.",
      .decoder = "dec." },
    { 0 },
};
