/* plamo.c - PLaMo 1 to 3 (Preferred Networks)
 *
 * 1: x = x + attention(c) + down(silu(gate(c)) * up(c)), c = norm(x)
 *
 * 2 and 3, whose feed-forward blocks have gate and up in one:
 * x = embed(ids)
 * x = x + norm(mix(norm(x)))           mix: attention, rope(norm(q)),
 *                                      rope(norm(k)); of 2 mostly Mamba
 * x = x + norm(down(silu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Mamba of 2, heads of channels, one rate of decay a head, each with its gate
 * next to it: z, x = in(c); x = silu(conv(x)); B, C, dt = parts(x), normed
 * dt = softplus(step(dt) + b); S = exp(dt A) S + dt x B; y = S C + D x
 * out(y silu(z))
 *
 * In 3 layers have a window, all but the last of every eight; in 2 those whose
 * files say so. */
#include "graph/arch.h"

enum {
    PERIOD = 8,
    LEAST_RANK = 64, /* of what steps come from, in no key; or */
    RANK_PART = 16,  /* that part of the embedding's length */
};

/* ---- 1 ------------------------------------------------------------------ */

static void
plamo_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
plamo_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

/* ---- 2 and 3 ------------------------------------------------------------ */

/* Layers with a recurrence have none. */
static void
read_plamo_windows(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_windows(keys, hp, 0, 0);
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++)
        if (hp->layers[i].recurs)
            hp->layers[i].windowed = false;
}

static void
plamo2_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t rank;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_recurrent_heads(keys, hp);
    read_plamo_windows(keys, hp);
    rank = hp->n_embd / RANK_PART;
    graph_keys_mamba_heads(keys, hp, rank > LEAST_RANK ? rank : LEAST_RANK);
}

static void
plamo3_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_rope_local(keys, hp, 0);
}

/* Files have these without "weight". */
static struct model_norm
find_bare_norm(struct model_loader *l, const char *name, int64_t n)
{
    if (graph_peek(l, name))
        return graph_find_norm(l, name, n, MODEL_OPTIONAL);
    return (struct model_norm){ graph_find_numbers(l, name, n, 1, true), NULL };
}

static void
find_mamba(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner, d = s->d_state;
    enum model_need bias = MODEL_OPTIONAL;

    layer->ssm_in = graph_find_linear(l, ".ssm_in", e, 2 * n, bias);
    graph_find_short_conv(l, layer, ".ssm_conv1d", bias);
    layer->ssm_x = graph_find_linear(l, ".ssm_x", n, s->d_rank + 2 * d, bias);
    layer->ssm_step =
        graph_find_linear(l, ".ssm_dt", s->d_rank, s->n_head, MODEL_REQUIRED);
    layer->ssm_a = graph_find_numbers(l, ".ssm_a", s->n_head, 1, true);
    layer->ssm_d = graph_find_numbers(l, ".ssm_d", s->n_head, 1, true);
    layer->ssm_dt_norm = find_bare_norm(l, ".ssm_dt_norm", s->d_rank);
    layer->ssm_b_norm = find_bare_norm(l, ".ssm_b_norm", d);
    layer->ssm_c_norm = find_bare_norm(l, ".ssm_c_norm", d);
    graph_find_ssm_out(l, layer);
}

static void
find_rest(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;
    enum model_need bias = MODEL_OPTIONAL;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, bias);
    layer->attn_post_norm = find_bare_norm(l, ".post_attention_norm", e);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, bias);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, 2 * f, bias);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, bias);
    layer->ffn_post_norm = find_bare_norm(l, ".post_ffw_norm", e);
}

static void
plamo2_layer(struct model_loader *l, struct model_layer *layer)
{
    find_rest(l, layer);
    if (l->hp->recurs) {
        find_mamba(l, layer);
        return;
    }
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm =
        graph_find_norm_each(l, ".attn_q_norm", l->hp->d_key, l->hp->n_head);
    layer->attn_k_norm =
        graph_find_norm_each(l, ".attn_k_norm", l->hp->d_key, l->hp->n_head_kv);
}

static void
plamo3_layer(struct model_loader *l, struct model_layer *layer)
{
    find_rest(l, layer);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_plamo[] = {
    { .name = "plamo",
      .hparams = plamo_hparams,
      .layer = plamo_layer,
      .block = graph_parallel_block },
    { .name = "plamo2",
      .hparams = plamo2_hparams,
      .layer = plamo2_layer,
      .recur = graph_mamba_heads },
    { .name = "plamo3", .hparams = plamo3_hparams, .layer = plamo3_layer },
    { 0 },
};
