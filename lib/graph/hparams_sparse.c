/* hparams_sparse.c - hyper-parameters of sparse attention */
#include <stdio.h>

#include "graph/keys.h"

enum {
    MAX_INDEX_HEADS = 1 << 12,
    MAX_INDEX_LENGTH = 1 << 12,
    MAX_INDEX_BLOCK = 1 << 12,
};

/* As the field's files have it, which is in no key. */
#define INDEX_EPS 1e-6f

static bool
has_indexer(const struct model_keys *keys, int32_t layer)
{
    char name[64];

    snprintf(name, sizeof(name), "blk.%d.indexer.attn_k.weight", (int)layer);
    return gguf_tensor_named(keys->gguf, name) != NULL;
}

void
graph_keys_indexer_sizes(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_indexer *x = &hp->indexer;
    int32_t least = hp->rope.n_rot > 1 ? hp->rope.n_rot : 1;

    x->n_head = graph_key_int(keys, "attention.indexer.head_count", 1,
                              MAX_INDEX_HEADS, 0);
    x->d_key = graph_key_int(keys, "attention.indexer.key_length", least,
                             MAX_INDEX_LENGTH, 0);
    x->n_best =
        graph_key_int(keys, "attention.indexer.top_k", 1, MODEL_MAX_CTX, 0);
}

void
graph_keys_indexer(struct model_keys *keys, struct model_hparams *hp, int mode)
{
    struct model_indexer *x = &hp->indexer;

    graph_keys_indexer_sizes(keys, hp);
    x->mode = mode;
    x->eps = INDEX_EPS;
    if (keys->status == GG_OK && hp->latent.n_query == 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "attention.q_lora_rank",
                         "an indexer reads latent queries");
    for (int32_t i = 0; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        l->chosen = l->n_head_kv > 0 && !l->windowed &&
                    (i < hp->n_layer || has_indexer(keys, i));
        l->d_index = l->chosen ? x->d_key : 0;
    }
}

/* Layers that attend to what their own indexer chooses. */
static void
mark_layers(struct model_keys *keys, struct model_hparams *hp, int32_t first)
{
    for (int32_t i = first; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (l->n_head_kv != hp->indexer.n_head && keys->status == GG_OK)
            graph_key_mismatch(keys, "attention.indexer.head_count",
                               "is not that of heads of keys",
                               hp->indexer.n_head, l->n_head_kv);
        l->chosen = true;
        l->d_index = hp->indexer.d_key;
    }
}

void
graph_keys_block_indexer(struct model_keys *keys, struct model_hparams *hp,
                         int32_t first)
{
    struct model_indexer *x = &hp->indexer;

    graph_keys_indexer_sizes(keys, hp);
    x->block = graph_key_int(keys, "attention.indexer.block_size", 1,
                             MAX_INDEX_BLOCK, 0);
    x->n_local = graph_key_int(keys, "attention.indexer.local_blocks", 0,
                               MODEL_MAX_CTX, -1);
    if (keys->status == GG_OK && x->n_local > x->n_best)
        graph_key_mismatch(keys, "attention.indexer.local_blocks",
                           "exceeds attention.indexer.top_k", x->n_local,
                           x->n_best);
    if (keys->status == GG_OK)
        mark_layers(keys, hp, first);
}

void
graph_keys_indexer_types(struct model_keys *keys, struct model_hparams *hp,
                         const char *name)
{
    bool own[MODEL_MAX_LAYERS], any = false;

    if (!graph_keys_layer_flags(keys, name, own, sizeof(own[0])))
        return;
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        any = any || (l->chosen && own[i]);
        if (l->chosen && !any)
            graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                             "no layer up to layer %d has an indexer", (int)i);
        if (!own[i])
            l->d_index = 0;
    }
}

/* A row for each pool, and columns of one that is not whole: keys and gates. */
static void
keep_pools(const struct model_indexer *x, struct model_layer_hparams *l)
{
    l->compression = 1;
    l->d_compressed_index = x->d_key;
    l->d_index = 0;
    l->d_conv = x->pool;
    l->n_channels = 2 * x->d_key;
}

void
graph_keys_indexer_pools(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "attention.indexer.kpool";
    static const char tail[] = "attention.indexer.kpool_select_tail";
    struct model_indexer *x = &hp->indexer;

    x->pool = graph_key_int(keys, name, 2, MODEL_MAX_RATIO, 0);
    if (keys->status == GG_OK && x->n_best % x->pool != 0)
        graph_key_mismatch(keys, name, "does not divide top_k", x->pool,
                           x->n_best);
    if (!graph_key_bool(keys, tail, true))
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, tail,
                         "false: keys after the last whole pool are always "
                         "read here");
    hp->n_compression = 1;
    hp->compressions[0] = (struct model_compression){ .ratio = x->pool };
    for (int32_t i = 0; i < graph_all_layers(hp); i++)
        if (hp->layers[i].d_index > 0)
            keep_pools(x, &hp->layers[i]);
}
