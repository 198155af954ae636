/* loader_layers.c - tensors that most families have, of a layer
 *
 * Names are those of the field's converters; shapes follow from the
 * hyper-parameters of the layer. */
#include <stdio.h>
#include <string.h>

#include "graph/arch.h"
#include "graph/loader.h"

static bool
reads_own_keys(const struct model_loader *l)
{
    return l->hp->kv_layer == l->layer;
}

static struct model_linear
find_values(struct model_loader *l, int64_t n_in, int64_t n_out,
            enum model_need bias)
{
    return l->model->hp.keys_as_values
               ? graph_find_linear_or_none(l, ".attn_v", n_in, n_out, bias)
               : graph_find_linear(l, ".attn_v", n_in, n_out, bias);
}

void
graph_find_attention(struct model_loader *l, struct model_layer *layer,
                     enum model_need bias)
{
    int64_t e = l->model->hp.n_embd, q = (int64_t)l->hp->n_head * l->hp->d_key;
    int64_t k = (int64_t)l->hp->n_head_kv * l->hp->d_key;
    int64_t v = (int64_t)l->hp->n_head_kv * l->hp->d_value;
    int64_t out = (int64_t)l->hp->n_head * l->hp->d_value;

    layer->attn_qkv =
        graph_find_linear_or_none(l, ".attn_qkv", e, q + k + v, bias);
    if (!layer->attn_qkv.weight) {
        if (l->model->hp.gated_queries)
            q *= 2;
        layer->attn_q = graph_find_linear(l, ".attn_q", e, q, bias);
        if (reads_own_keys(l)) {
            layer->attn_k = graph_find_linear(l, ".attn_k", e, k, bias);
            layer->attn_v = find_values(l, e, v, bias);
        }
    }
    layer->attn_output = graph_find_linear(l, ".attn_output", out, e, bias);
}

/* Matrices that make keys and values of the latent row: two tensors, or,
 * unabsorbed, one; some files have both. */
static void
find_latent_heads(struct model_loader *l, struct model_layer *layer)
{
    const struct model_latent *x = graph_latent_of(&l->model->hp, l->layer);
    int64_t own = x->d_key - x->d_shared, n = l->hp->n_head;

    if (x->absorbed) {
        layer->attn_k_b = graph_find_matrices(l, ".attn_k_b", own, x->n, n);
        layer->attn_v_b =
            graph_find_matrices(l, ".attn_v_b", x->n, x->d_value, n);
        graph_pass_over(l, ".attn_kv_b");
        return;
    }
    layer->attn_kv_b = graph_find_linear(
        l, ".attn_kv_b", x->n, (own + x->d_value) * n, MODEL_OPTIONAL);
    graph_pass_over(l, ".attn_k_b");
    graph_pass_over(l, ".attn_v_b");
}

void
graph_find_latent_attention(struct model_loader *l, struct model_layer *layer)
{
    const struct model_latent *x = graph_latent_of(&l->model->hp, l->layer);
    int64_t e = l->model->hp.n_embd, n = l->hp->n_head, q = x->n_query;
    enum model_need bias = MODEL_OPTIONAL;

    if (q > 0) {
        layer->attn_q_a = graph_find_linear(l, ".attn_q_a", e, q, bias);
        layer->attn_q_a_norm = graph_find_norm(l, ".attn_q_a_norm", q, bias);
    }
    layer->attn_q =
        q > 0 ? graph_find_linear(l, ".attn_q_b", q, n * x->d_key, bias)
              : graph_find_linear(l, ".attn_q", e, n * x->d_key, bias);
    layer->attn_kv_a =
        graph_find_linear(l, ".attn_kv_a_mqa", e, x->n + x->d_shared, bias);
    layer->attn_kv_a_norm = graph_find_norm(l, ".attn_kv_a_norm", x->n, bias);
    find_latent_heads(l, layer);
    layer->attn_output =
        graph_find_linear(l, ".attn_output", n * x->d_value, e, bias);
}

void
graph_find_latent_block(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_latent_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

void
graph_find_indexer(struct model_loader *l, struct model_layer *layer)
{
    const struct model_indexer *x = &l->model->hp.indexer;
    int64_t e = l->model->hp.n_embd, n = x->n_head, d = x->d_key;
    int64_t q = l->model->hp.latent.n_query;
    enum model_need bias = MODEL_OPTIONAL;

    if (!graph_chooses(l->hp))
        return;
    layer->index_q = graph_find_linear(l, ".indexer.attn_q_b", q, n * d, bias);
    layer->index_k = graph_find_linear(l, ".indexer.attn_k", e, d, bias);
    layer->index_norm = graph_find_norm(l, ".indexer.k_norm", d, bias);
    layer->index_weights = graph_find_linear(l, ".indexer.proj", e, n, bias);
    if (x->pool == 0)
        return;
    layer->index_compressor.gate =
        graph_find_linear(l, ".indexer_compressor_gate", e, d, bias);
    layer->index_compressor.bias = graph_find_numbers(
        l, ".indexer_compressor_ape.weight", d, x->pool, true);
}

void
graph_find_block_indexer(struct model_loader *l, struct model_layer *layer)
{
    const struct model_indexer *x = &l->model->hp.indexer;
    int64_t e = l->model->hp.n_embd, n = x->n_head, d = x->d_key;
    enum model_need bias = MODEL_OPTIONAL;

    if (l->hp->d_index == 0)
        return;
    layer->index_q = graph_find_linear(l, ".indexer.q_proj", e, n * d, bias);
    layer->index_k = graph_find_linear(l, ".indexer.k_proj", e, d, bias);
    layer->index_q_norm = graph_find_norm(l, ".indexer.q_norm", d, bias);
    layer->index_norm = graph_find_norm(l, ".indexer.k_norm", d, bias);
}

void
graph_find_attention_gate(struct model_loader *l, struct model_layer *layer)
{
    const struct model_latent *x = graph_latent_of(&l->model->hp, l->layer);
    int64_t e = l->model->hp.n_embd, n = l->hp->n_head;
    const struct gguf_tensor *t = graph_peek(l, ".attn_gate");

    if (!t || t->ne[1] != n)
        n *= x->n > 0 ? x->d_value : l->hp->d_value;
    layer->attn_gate = graph_find_linear(l, ".attn_gate", e, n, MODEL_OPTIONAL);
}

void
graph_find_head_norms(struct model_loader *l, struct model_layer *layer,
                      enum model_need bias)
{
    int64_t d = l->hp->d_key;

    layer->attn_q_norm = graph_find_norm(l, ".attn_q_norm", d, bias);
    if (reads_own_keys(l))
        layer->attn_k_norm = graph_find_norm(l, ".attn_k_norm", d, bias);
}

void
graph_find_whole_norms(struct model_loader *l, struct model_layer *layer,
                       enum model_need bias)
{
    int64_t q = (int64_t)l->hp->n_head * l->hp->d_key;
    int64_t k = (int64_t)l->hp->n_head_kv * l->hp->d_key;

    layer->attn_q_norm = graph_find_norm(l, ".attn_q_norm", q, bias);
    layer->attn_k_norm = graph_find_norm(l, ".attn_k_norm", k, bias);
}

void
graph_find_feed_forward(struct model_loader *l, struct model_layer *layer,
                        bool gated, enum model_need bias)
{
    int64_t e = l->model->hp.n_embd, n_ff = l->hp->n_ff;

    if (gated)
        layer->ffn_gate = graph_find_linear(l, ".ffn_gate", e, n_ff, bias);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, n_ff, bias);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", n_ff, e, bias);
}

void
graph_find_mixture(struct model_loader *l, struct model_layer *layer,
                   enum model_need bias)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t f = hp->n_ff_expert;
    int64_t n = hp->n_embd_expert > 0 ? hp->n_embd_expert : hp->n_embd;

    layer->router =
        graph_find_linear(l, ".ffn_gate_inp", hp->n_embd, hp->n_expert, bias);
    if (graph_peek(l, ".ffn_gate_up_exps")) {
        layer->experts_gate_up =
            graph_find_experts(l, ".ffn_gate_up_exps", n, 2 * f, bias);
    } else {
        layer->experts_gate =
            graph_find_experts(l, ".ffn_gate_exps", n, f, bias);
        layer->experts_up = graph_find_experts(l, ".ffn_up_exps", n, f, bias);
    }
    layer->experts_down = graph_find_experts(l, ".ffn_down_exps", f, n, bias);
}

void
graph_find_plain_mixture(struct model_loader *l, struct model_layer *layer,
                         enum model_need bias)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, f = hp->n_ff_expert;
    int64_t n = hp->n_embd_expert > 0 ? hp->n_embd_expert : e;

    layer->router =
        graph_find_linear(l, ".ffn_gate_inp", e, hp->n_expert, bias);
    layer->experts_up = graph_find_experts(l, ".ffn_up_exps", n, f, bias);
    layer->experts_down = graph_find_experts(l, ".ffn_down_exps", f, n, bias);
}

void
graph_find_shared_expert(struct model_loader *l, struct model_layer *layer,
                         bool routed)
{
    int64_t e = l->model->hp.n_embd, f = l->model->hp.n_ff_shared;
    enum model_need bias = MODEL_OPTIONAL;

    if (routed)
        layer->shared_router =
            graph_find_linear(l, ".ffn_gate_inp_shexp", e, 1, bias);
    layer->shared_gate = graph_find_linear(l, ".ffn_gate_shexp", e, f, bias);
    layer->shared_up = graph_find_linear(l, ".ffn_up_shexp", e, f, bias);
    layer->shared_down = graph_find_linear(l, ".ffn_down_shexp", f, e, bias);
}

/* Numbers by which experts are only chosen: none that is not finite would be
 * seen in the logits. */
static void
check_choice(struct model_loader *l, const struct ggml_tensor *bias)
{
    const struct gguf_tensor *t =
        gguf_tensor_named(l->gguf, ggml_get_name(bias));

    if (t && !ggml_validate_row_data(t->type, t->data, t->size))
        l->status =
            gguf_bad_value(l->gguf, t->name, l->err, "a value is not finite");
}

/* Some converters leave the usual end of its name out. */
static struct ggml_tensor *
find_choice(struct model_loader *l, enum model_need choice)
{
    int64_t n = l->model->hp.n_expert;
    char name[GGML_MAX_NAME];

    snprintf(name, sizeof(name), "blk.%d.exp_probs_b", (int)l->layer);
    if (gguf_tensor_named(l->gguf, name))
        return graph_find_numbers(l, name, n, 1, true);
    return graph_find_bias(l, ".exp_probs_b", n, choice);
}

/* Whether all of these I32, of `what`, are in 0..n - 1; or fails. */
static bool
check_numbers(struct model_loader *l, const struct gguf_tensor *t, int32_t n,
              const char *what)
{
    for (size_t i = 0; i < t->size / sizeof(int32_t); i++) {
        int32_t x;

        memcpy(&x, (const char *)t->data + i * sizeof(x), sizeof(x));
        if (x >= 0 && x < n)
            continue;
        l->status =
            gguf_bad_value(l->gguf, t->name, l->err, "%s %d is not in 0..%d",
                           what, (int)x, (int)n - 1);
        return false;
    }
    return true;
}

struct ggml_tensor *
graph_find_order(struct model_loader *l, const char *name, int32_t n)
{
    const struct gguf_tensor *t = graph_find_integers(l, name);
    struct ggml_tensor *order;

    if (!t || t->type != GGML_TYPE_I32)
        return NULL;
    order = graph_find_numbers(l, name, n, 1, false);
    return order && check_numbers(l, t, n, "token") ? order : NULL;
}

struct ggml_tensor *
graph_find_expert_ids(struct model_loader *l, const char *name)
{
    const struct model_hparams *hp = &l->model->hp;
    const struct gguf_tensor *t = graph_peek(l, name);
    struct ggml_tensor *ids;

    if (t && t->type != GGML_TYPE_I32 && l->status == GG_OK) {
        l->status = gguf_bad_value(l->gguf, t->name, l->err,
                                   "experts' numbers are of type i32");
        return NULL;
    }
    ids = graph_find_table(l, name, hp->n_expert_used, hp->n_vocab);
    if (ids && !check_numbers(l, t, hp->n_expert, "expert"))
        return NULL;
    return ids;
}

void
graph_find_choice(struct model_loader *l, struct model_layer *layer,
                  enum model_need choice)
{
    if (layer->router.weight)
        layer->router_bias = find_choice(l, choice);
    if (layer->router_bias && l->status == GG_OK)
        check_choice(l, layer->router_bias);
}

void
graph_find_choice_and_shared(struct model_loader *l, struct model_layer *layer,
                             enum model_need choice)
{
    graph_find_choice(l, layer, choice);
    if (layer->router.weight && l->model->hp.n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

void
graph_find_mixture_or_dense(struct model_loader *l, struct model_layer *layer,
                            bool gated, enum model_need bias)
{
    if (graph_mixes(&l->model->hp, l->layer))
        graph_find_mixture(l, layer, bias);
    else
        graph_find_feed_forward(l, layer, gated, bias);
}

void
graph_find_mixture_if_routed(struct model_loader *l, struct model_layer *layer)
{
    if (!graph_peek(l, ".ffn_gate_inp")) {
        graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
        return;
    }
    graph_find_mixture(l, layer, MODEL_OPTIONAL);
    graph_pass_over(l, ".ffn_gate");
    graph_pass_over(l, ".ffn_up");
    graph_pass_over(l, ".ffn_down");
}

void
graph_find_short_conv(struct model_loader *l, struct model_layer *layer,
                      const char *name, enum model_need bias)
{
    int64_t n = l->hp->n_channels;
    char weight[GGML_MAX_NAME];

    snprintf(weight, sizeof(weight), "%s.weight", name);
    layer->conv = graph_find_numbers(l, weight, l->hp->d_conv, n, true);
    layer->conv_bias = graph_find_bias(l, name, n, bias);
}

void
graph_find_ssm_out(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;

    layer->ssm_out = graph_find_linear(l, ".ssm_out", hp->ssm.d_inner,
                                       hp->n_embd, MODEL_OPTIONAL);
}

void
graph_find_block(struct model_loader *l, struct model_layer *layer, bool gated,
                 enum model_need bias)
{
    int64_t e = l->model->hp.n_embd;
    enum model_need norm_bias = graph_norm_bias(l);

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, norm_bias);
    graph_find_attention(l, layer, bias);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, norm_bias);
    graph_find_mixture_or_dense(l, layer, gated, bias);
}

void
graph_find_usual_block(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
}

void
graph_find_layer_embd_block(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, d = l->model->hp.n_embd_layer;

    layer->embd_gate = graph_find_linear(l, ".inp_gate", e, d, MODEL_OPTIONAL);
    layer->embd_proj = graph_find_linear(l, ".proj", d, e, MODEL_OPTIONAL);
    layer->embd_post_norm = graph_find_norm(l, ".post_norm", e, MODEL_OPTIONAL);
}

void
graph_find_layer_embd(struct model_loader *l)
{
    struct model *m = l->model;
    int64_t all = (int64_t)m->hp.n_embd_layer * m->hp.n_layer;

    m->layer_embd =
        graph_find_sparse_table(l, "per_layer_token_embd", all, m->hp.n_vocab);
    graph_find_layer_embd_proj(l);
}

void
graph_find_layer_embd_proj(struct model_loader *l)
{
    struct model *m = l->model;
    int64_t d = m->hp.n_embd_layer, all = d * m->hp.n_layer;

    m->layer_embd_proj = graph_find_linear(l, "per_layer_model_proj",
                                           m->hp.n_embd, all, MODEL_OPTIONAL);
    m->layer_embd_norm =
        graph_find_norm(l, "per_layer_proj_norm", d, MODEL_OPTIONAL);
}

/* ---- outside of the layers ---------------------------------------------- */

void
graph_find_head(struct model_loader *l)
{
    graph_find_output_norm(l);
    l->model->output = graph_find_output(l);
}

enum model_need
graph_norm_bias(const struct model_loader *l)
{
    return l->model->arch->norm_bias ? MODEL_REQUIRED : MODEL_OPTIONAL;
}

void
graph_find_output_norm(struct model_loader *l)
{
    struct model *m = l->model;

    m->output_norm =
        graph_find_norm(l, "output_norm", m->hp.n_embd, graph_norm_bias(l));
}

void
graph_find_encoder(struct model_loader *l)
{
    struct model *m = l->model;
    const struct gguf_tensor *types =
        gguf_tensor_named(l->gguf, "token_types.weight");

    if (types)
        m->token_types =
            graph_find_table(l, "token_types", m->hp.n_embd, types->ne[1]);
    m->embd_norm =
        graph_find_norm(l, "token_embd_norm", m->hp.n_embd, MODEL_REQUIRED);
}
