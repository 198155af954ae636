/* lfm2.c - LFM2 and LFM2.5, with and without experts, and LFM3: a short
 * convolution between two gates in attention's place, in most layers (Amini et
 * al. 2025)
 *
 * x = embed(ids)
 * x = x + attention(c) or o(c), c = norm(x)
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x), or a mixture of such
 * logits = output(norm(x))
 *
 * attention: rope(norm(q)), rope(norm(k)). o: b, a, v = in(c);
 * out(a * conv(b * v)). Layers without keys and values are of this kind. Of
 * LFM2 the others may have a window.
 * Experts are chosen by their sigmoids and a bias, which is no part of their
 * weights.
 *
 * LFM3 adds norm(attention(c)), norm(o(c)) and norm(down(...)), and multiplies
 * each head of attention by sigmoid(gate(c)). Some of its layers with attention
 * have a window and turn by a base of their own; of the others' heads only the
 * first pairs turn, at the frequencies of the whole head (rope_freqs). */
#include "graph/arch.h"

enum {
    PARTS = 3, /* of what `in` gives */
};

static void
read_common(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_heads(keys, hp);
    graph_keys_short_conv(keys, hp, "shortconv.l_cache", hp->n_embd);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    read_common(keys, hp);
    graph_keys_window(keys, hp);
}

static void
hparams_lfm3(struct model_keys *keys, struct model_hparams *hp)
{
    read_common(keys, hp);
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_rope_local(keys, hp, 0);
}

static void
hparams_moe(struct model_keys *keys, struct model_hparams *hp)
{
    read_common(keys, hp);
    graph_keys_experts(keys, hp, true);
    hp->n_dense =
        graph_key_int(keys, "leading_dense_block_count", 0, hp->n_layer, 0);
    graph_keys_gating(keys, hp, MODEL_GATING_SIGMOID);
    hp->routing.normed = true;
}

static void
find_convolution(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->ssm_in = graph_find_linear(l, ".shortconv.in_proj", e, PARTS * e,
                                      MODEL_OPTIONAL);
    graph_find_short_conv(l, layer, ".shortconv.conv", MODEL_OPTIONAL);
    layer->ssm_out =
        graph_find_linear(l, ".shortconv.out_proj", e, e, MODEL_OPTIONAL);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs) {
        find_convolution(l, layer);
    } else {
        graph_find_attention(l, layer, MODEL_OPTIONAL);
        graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    }
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice(l, layer, MODEL_REQUIRED);
}

static void
layer_weights_lfm3(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    enum model_need bias = MODEL_OPTIONAL;

    layer_weights(l, layer);
    if (!l->hp->recurs && graph_peek(l, ".attn_gate"))
        graph_find_attention_gate(l, layer);
    layer->attn_post_norm =
        graph_find_norm_or_none(l, ".post_attention_norm", e, bias);
    layer->ffn_post_norm =
        graph_find_norm_or_none(l, ".post_ffw_norm", e, bias);
}

/* Its name is that of another norm: files have no other. */
static void
find_head(struct model_loader *l)
{
    struct model *m = l->model;

    m->output_norm =
        graph_find_norm(l, "token_embd_norm", m->hp.n_embd, MODEL_OPTIONAL);
    m->output = graph_find_output(l);
}

/* Part i of what `in` gives. */
static struct ggml_tensor *
part(struct graph *g, struct ggml_tensor *x, int64_t i)
{
    int64_t n = x->ne[0] / PARTS;

    return ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1],
                        (size_t)(i * n) * x->nb[0]);
}

static struct ggml_tensor *
recur(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *all = graph_linear(g, cur, &l->ssm_in), *x;

    x = ggml_mul(g->ctx, part(g, all, 0), part(g, all, 2));
    x = graph_short_conv(g, layer, x);
    x = ggml_mul(g->ctx, x, part(g, all, 1));
    return graph_linear(g, graph_wanted(g, layer, x), &l->ssm_out);
}

const struct model_arch graph_family_lfm2[] = {
    { .name = "lfm2",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = recur,
      .head = find_head },
    { .name = "lfm2moe",
      .hparams = hparams_moe,
      .layer = layer_weights,
      .recur = recur,
      .head = find_head },
    { .name = "lfm3",
      .hparams = hparams_lfm3,
      .layer = layer_weights_lfm3,
      .recur = recur,
      .head = find_head },
    { 0 },
};
