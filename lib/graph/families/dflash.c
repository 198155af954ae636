/* dflash.c - DFlash: a drafter of whole blocks
 *
 * f[p]: what some layers of the target read at position p, one after the other
 * g[p] = norm(fc(f[p]))                of all ids that the target evaluates
 * k[p], v[p] = keys and values of g[p] in each layer
 *
 * A block is the last id and masks after it, for each of which stands a guess:
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))             in the place of each mask
 *
 * Queries see all k and v, and the keys and values of the whole block. Some
 * layers see a window of them; their keys are kept all the same. A layer may
 * have norms of what it adds, and a factor at its end. */
#include <stddef.h>
#include <stdio.h>

#include "graph/arch.h"

enum {
    CUSTOMARY = 16, /* ids of a block, where the file does not say it */
    MAX_BLOCK = 1024,
    MOST = CACHE_MTP_DRAFTED + 1, /* of them that a draft has */
};

/* ---- drafters that are known by name ------------------------------------- */

static bool
has_tensor(const struct gguf_context *gguf, const char *begins)
{
    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++)
        if (!strncmp(gguf_tensor(gguf, i)->name, begins, strlen(begins)))
            return true;
    return false;
}

static const char *
other_drafter(const struct model_keys *keys)
{
    static const struct {
        const char *drafter, *tensors, *key;
    } others[] = {
        { "DSpark", "markov_", "sample_from_anchor" },
        { "DSpark", "conf_proj.", "has_confidence_head" },
        { "DSpark", "hc_head_", "hyper_connection.count" },
        { "DFlash2", "selector_", "selector_rank" },
        { "DFlash2", "selector_", "selector_top_k" },
        { "DFlash2", "selector_", "conv_kernel_size" },
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (has_tensor(keys->gguf, others[i].tensors) ||
            graph_key_exists(keys, others[i].key))
            return others[i].drafter;
    return NULL;
}

static void
refuse_others(struct model_keys *keys)
{
    const char *name = other_drafter(keys);

    if (keys->status != GG_OK || !name)
        return;
    gguf_bad_value(keys->gguf, "general.architecture", keys->err,
                   "%s, a kind of DFlash drafter that is not known here: plain "
                   "DFlash is",
                   name);
    keys->status = GG_ERR_UNSUPPORTED;
}

/* ---- hyper-parameters ---------------------------------------------------- */

static void
read_activation(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "hidden_activation";

    hp->activation = MODEL_SILU;
    if (!graph_key_exists(keys, name) || graph_key_is(keys, name, "silu"))
        return;
    hp->activation = MODEL_GELU;
    if (!graph_key_is(keys, name, "gelu") &&
        !graph_key_is(keys, name, "gelu_pytorch_tanh"))
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                         "is not one of silu, gelu and gelu_pytorch_tanh");
}

static void
read_scales(struct model_keys *keys, struct model_hparams *hp)
{
    float max = 1e6f;

    hp->embd_scale = graph_key_float(keys, "embedding_scale", 0, max, 0);
    hp->attn_scale = graph_key_float(keys, "attention.scale", 0, max, 0);
    hp->value_scale = graph_key_float(keys, "attention.value_scale", 0, max, 0);
    hp->logit_scale = graph_key_float(keys, "logit_scale", 0, max, 0);
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, max, 0);
}

static bool
has_values(const struct model_keys *keys, int32_t layer)
{
    char name[GGML_MAX_NAME];

    snprintf(name, sizeof(name), "blk.%d.attn_v.weight", (int)layer);
    return gguf_tensor_named(keys->gguf, name);
}

/* Without matrices for values they are the keys, normed without a weight. */
static void
read_values(struct model_keys *keys, struct model_hparams *hp)
{
    const struct model_layer_hparams *l = &hp->layers[0];
    bool own = has_values(keys, 0);

    hp->keys_as_values = hp->values_normed = !own;
    for (int32_t i = 1; i < hp->n_layer && keys->status == GG_OK; i++)
        if (has_values(keys, i) != own)
            graph_key_mismatch(keys, "block_count",
                               "layers do not all have attn_v: see layer",
                               hp->n_layer, i);
    if (!own && l->d_key != l->d_value)
        graph_key_mismatch(keys, "attention.value_length",
                           "is not that of keys, which are the values,",
                           l->d_value, l->d_key);
}

/* The list of layers with a window; the window is the drafter's own. */
static void
read_window(struct model_keys *keys, struct model_hparams *hp)
{
    static const char list[] = "attention.sliding_window_pattern";

    graph_keys_windows(keys, hp, 0, 0);
    if (keys->status == GG_OK && hp->window > 0 &&
        !graph_key_exists(keys, list))
        graph_key_refuse(keys, GG_ERR_FORMAT, "attention.sliding_window",
                         "a window, but no list of its layers");
    for (int32_t i = 0; i < hp->n_layer; i++) {
        hp->layers[i].narrow = hp->window > 0 && hp->layers[i].windowed;
        hp->layers[i].windowed = false;
    }
    hp->drafting.window = hp->window;
    hp->window = 0;
}

static void
check_layers(struct model_keys *keys, const struct model_hparams *hp)
{
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        const struct model_layer_hparams *l = &hp->layers[i];

        if (l->n_head == 0 || l->n_head_kv == 0 || l->n_ff == 0)
            graph_key_mismatch(keys, "block_count",
                               "layers do not all have attention and a "
                               "feed-forward block: see layer",
                               hp->n_layer, i);
    }
}

static void
read_block(struct model_keys *keys, struct model_hparams *hp)
{
    static const char key[] = "tokenizer.ggml.mask_token_id";
    uint64_t mask = 0;

    int32_t n = graph_key_int(keys, "block_size", 2, MAX_BLOCK, CUSTOMARY);

    hp->drafting.n_ids = n < MOST ? n : MOST;
    hp->drafting.one_way = graph_key_bool(keys, "attention.causal", false);
    if (keys->status == GG_OK)
        keys->status = gguf_get_u64(keys->gguf, key, &mask, keys->err);
    if (keys->status == GG_OK && mask >= (uint64_t)hp->n_vocab)
        keys->status = gguf_bad_value(
            keys->gguf, key, keys->err, "id %llu: the model has %d",
            (unsigned long long)mask, (int)hp->n_vocab);
    hp->pad = keys->status == GG_OK ? (int32_t)mask : 0;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    refuse_others(keys);
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    check_layers(keys, hp);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->rope.section_mode = 0; /* pairs turn by the time alone */
    read_window(keys, hp);
    read_activation(keys, hp);
    read_scales(keys, hp);
    read_values(keys, hp);
    read_block(keys, hp);
    graph_keys_features(keys, hp);
    hp->drafting.d_kept = 1; /* of no use */
}

static void
join(struct model_keys *keys, const struct model_hparams *target,
     struct model_hparams *hp)
{
    graph_features_join(keys, target, hp);
    if (keys->status == GG_OK && hp->n_embd != target->n_embd)
        graph_key_mismatch(keys, "embedding_length",
                           "is not the model's embedding_length,", hp->n_embd,
                           target->n_embd);
}

/* ---- tensors ------------------------------------------------------------- */

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    enum model_need bias = MODEL_OPTIONAL;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, bias);
    graph_find_attention(l, layer, bias);
    graph_find_head_norms(l, layer, bias);
    layer->attn_sinks =
        graph_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm_or_none(l, ".post_attention_norm", e, bias);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, bias);
    graph_find_feed_forward(l, layer, true, bias);
    layer->ffn_post_norm =
        graph_find_norm_or_none(l, ".post_ffw_norm", e, bias);
    layer->output_scale =
        graph_find_vector(l, ".layer_output_scale", 1, MODEL_OPTIONAL);
}

static void
head(struct model_loader *l)
{
    struct model *d = l->model;
    int64_t e = d->hp.n_embd, n = d->hp.drafting.d_features;

    graph_drafter_find_ids(l);
    graph_drafter_borrow(l);
    if (graph_peek(l, "token_embd") && !graph_peek(l, "output") &&
        d->n_drafted == 0)
        d->output =
            (struct model_linear){ .weight = d->token_embd, .scale = 1 };
    d->fuse = graph_find_linear(l, "fc", n, e, MODEL_OPTIONAL);
    d->fuse_norm = graph_find_norm(l, "enc.output_norm", e, MODEL_OPTIONAL);
    d->output_norm = graph_find_norm(l, "output_norm", e, MODEL_OPTIONAL);
}

/* ---- graphs -------------------------------------------------------------- */

static void
feed(struct graph *g, struct ggml_tensor *features)
{
    const struct model *d = g->model;
    struct ggml_tensor *x =
        graph_norm(g, graph_linear(g, features, &d->fuse), &d->fuse_norm);

    for (int32_t i = 0; i < d->hp.n_drafter; i++)
        graph_keep_attention(g, d->hp.n_layer + i, x);
}

static struct ggml_tensor *
draft(struct graph *g)
{
    const struct model *d = g->model;
    struct ggml_tensor *x = ggml_get_rows(g->ctx, d->token_embd, g->ids);

    if (d->hp.embd_scale != 0)
        x = ggml_scale(g->ctx, x, d->hp.embd_scale);
    for (int32_t i = 0; i < d->hp.n_drafter; i++) {
        int32_t layer = d->hp.n_layer + i;
        struct ggml_tensor *scale = d->layers[layer].output_scale;

        x = graph_block(g, layer, x);
        x = scale ? ggml_mul(g->ctx, x, scale) : x;
    }
    return graph_logits_by(g, &d->output, graph_norm(g, x, &d->output_norm));
}

static const struct model_drafter drafter = {
    .join = join,
    .feed = feed,
    .draft = draft,
    .block = true,
};

const struct model_arch graph_family_dflash[] = {
    { .name = "dflash",
      .hparams = hparams,
      .layer = layer_weights,
      .head = head,
      .drafter = &drafter },
    { 0 },
};
