/* model.c - from a parsed file to what a model is: its family, its numbers, its
 * tensors */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/adapter.h"
#include "graph/arch.h"
#include "graph/head.h"
#include "graph/mtp.h"
#include "graph/probe.h"
#include "graph/rope.h"

enum {
    MAX_VOCAB = 1 << 24,
};

static enum gg_status
choose_arch(const struct gguf_context *gguf, struct model *m,
            struct gg_error *err)
{
    char name[64];
    enum gg_status st = graph_key_architecture(gguf, name, sizeof(name), err);

    if (st != GG_OK)
        return st;
    m->arch = graph_arch_find(name);
    return m->arch && !m->arch->drafter ? GG_OK
                                        : graph_arch_refuse(gguf, name, err);
}

/* Checks that all layers have attention, or a recurrence, and a feed-forward
 * block, as layers of most families do. */
static enum gg_status
check_whole(const struct gguf_context *gguf, const struct model *m,
            struct gg_error *err)
{
    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer_hparams *l = &m->hp.layers[i];
        bool heads = !l->recurs;
        const char *name = heads && l->n_head == 0 ? "attention.head_count"
                           : heads && l->n_head_kv == 0
                               ? "attention.head_count_kv"
                           : l->n_ff == 0 ? "feed_forward_length"
                                          : NULL;
        char key[96];

        if (!name)
            continue;
        snprintf(key, sizeof(key), "%s.%s", m->arch->name, name);
        gguf_bad_value(gguf, key, err,
                       "0 in layer %d: %s has some in all layers here", (int)i,
                       m->arch->name);
        return GG_ERR_UNSUPPORTED;
    }
    return GG_OK;
}

/* The tensor that embeds. */
static const char *
embedding_name(const struct gguf_context *gguf, const struct model_arch *arch)
{
    return arch->output_embeds && !gguf_tensor_named(gguf, "token_embd.weight")
               ? "output"
               : "token_embd";
}

static enum gg_status
read_hparams(const struct gguf_context *gguf, struct model *m,
             struct gg_error *err)
{
    char embd[32];
    const struct gguf_tensor *t;
    struct model_keys keys = {
        .gguf = gguf, .arch = m->arch->name, .status = GG_OK, .err = err
    };

    snprintf(embd, sizeof(embd), "%s.weight", embedding_name(gguf, m->arch));
    t = gguf_tensor_named(gguf, embd);
    if (!t)
        return gguf_bad_value(gguf, embd, err, "the file has no such tensor");
    if (t->ne[1] == 0)
        return gguf_bad_value(gguf, embd, err, "no rows");
    if (t->ne[1] > MAX_VOCAB)
        return gguf_bad_value(gguf, embd, err, "more than %d rows", MAX_VOCAB);
    m->hp.n_vocab = (int32_t)t->ne[1];
    m->arch->hparams(&keys, &m->hp);
    graph_keys_causal(&keys, &m->hp);
    graph_keys_rank(&keys, &m->hp);
    graph_keys_pad(gguf, &m->hp);
    if (keys.status == GG_OK && !m->arch->partial_layers)
        return check_whole(gguf, m, err);
    return keys.status;
}

enum gg_status
graph_read_keys(const struct gguf_context *gguf, struct model **m,
                struct gg_error *err)
{
    enum gg_status st;

    *m = mem_zalloc(sizeof(**m));
    st = *m ? choose_arch(gguf, *m, err) : error_nomem(err);
    return st == GG_OK ? read_hparams(gguf, *m, err) : st;
}

/* The layers of another file, whose numbers are those after the last. */
static enum gg_status
take_mtp_hparams(const struct gguf_context *mtp, struct model *m,
                 struct gg_error *err)
{
    struct model *other;
    enum gg_status st = graph_read_keys(mtp, &other, err);

    if (st == GG_OK) {
        m->hp.n_after = other->hp.n_after;
        for (int32_t i = m->hp.n_layer; i < graph_all_layers(&m->hp); i++)
            m->hp.layers[i] = other->hp.layers[i];
    }
    mem_free(other);
    return st;
}

static void
find_rope(struct model_loader *l)
{
    struct model *m = l->model;
    const struct model_hparams *hp = &m->hp;

    graph_rope_find(l, &hp->rope, &m->rope);
    if (hp->rope_local_differs)
        graph_rope_plain(&hp->rope_local,
                         hp->rope_local.base > 0 ? hp->rope_local.base
                                                 : hp->rope.base,
                         &m->rope_local);
}

/* Rotated is no more than a head has. */
static void
check_rope(struct model_loader *l, const struct model_layer *layer)
{
    int32_t n_rot = layer->rope ? layer->rope->params.n_rot : 0;

    if (l->status == GG_OK && n_rot > l->hp->d_key)
        l->status = error_set(l->err, GG_ERR_FORMAT,
                              "layer %d: %d values of a head are to be "
                              "rotated, which has %d",
                              (int)l->layer, (int)n_rot, (int)l->hp->d_key);
}

/* Members that all families have are set first, so that a family may
 * change them. */
void
graph_find_layer(struct model_loader *l, struct model_layer *layer)
{
    struct model *m = l->model;

    l->hp = layer->hp = &m->hp.layers[l->layer];
    layer->windowed = layer->hp->windowed;
    if (m->hp.rope.n_rot > 0)
        layer->rope = layer->windowed && m->hp.rope_local_differs
                          ? &m->rope_local
                          : &m->rope;
    if (m->arch->layer)
        m->arch->layer(l, layer);
    else
        graph_find_usual_block(l, layer);
    check_rope(l, layer);
}

/* After the first n the same once more, but for their keys and values. */
static void
repeat_layers(struct model *m, int32_t n)
{
    for (int32_t i = n; i < m->hp.n_layer; i++) {
        m->layers[i] = m->layers[i - n];
        m->layers[i].hp = &m->hp.layers[i];
    }
}

static void
find_mtp_layers(struct model_loader *l)
{
    struct model *m = l->model;

    for (; l->layer < graph_used_layers(&m->hp); l->layer++) {
        graph_find_layer(l, &m->layers[l->layer]);
        graph_mtp_find(l, &m->layers[l->layer]);
    }
}

static void
find_tensors(struct model_loader *l)
{
    struct model *m = l->model;
    const struct model_hparams *hp = &m->hp;
    int32_t n_own = hp->n_loop > 0 ? hp->n_loop : hp->n_layer;

    m->token_embd = graph_find_table(l, embedding_name(l->gguf, m->arch),
                                     hp->n_embd, hp->n_vocab);
    if (hp->learned_positions)
        m->position_embd =
            graph_find_table(l, "position_embd", hp->n_embd, hp->n_ctx_train);
    if (hp->rope.n_rot > 0)
        find_rope(l);
    if (m->arch->embedding)
        m->arch->embedding(l);
    for (l->layer = 0; l->layer < n_own; l->layer++)
        graph_find_layer(l, &m->layers[l->layer]);
    repeat_layers(m, n_own);
    l->layer = hp->n_layer; /* the output comes after the last */
    if (m->arch->head)
        m->arch->head(l);
    else
        graph_find_head(l);
    graph_head_find(l);
    if (hp->n_mtp > 0 && hp->n_drafter > 0)
        graph_drafter_find(l);
    else
        find_mtp_layers(l);
}

static bool
new_contexts(struct model *m, struct ggml_init_params params)
{
    bool done = true;

    if (!graph_is_whole(m))
        done = (m->elsewhere = ggml_init(params)) != NULL;

    for (int i = 0; i < m->n_homes; i++) {
        m->homes[i].ctx = ggml_init(params);
        done = done && m->homes[i].ctx;
    }
    return done;
}

enum gg_status
graph_find_weights(struct model *m, struct gg_error *err)
{
    const struct gguf_context *gguf = m->file->gguf;
    struct ggml_init_params params = {
        /* one may be there twice, a drafter's, too: find_tied_output() */
        .mem_size =
            (size_t)(gguf_get_n_tensors(gguf) + 2) * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct model_loader l = { .gguf = gguf, .model = m, .err = err };

    l.weight = ggml_init((struct ggml_init_params){
        .mem_size = ggml_tensor_overhead(), .no_alloc = true });
    m->layers =
        mem_array((size_t)graph_used_layers(&m->hp), sizeof(*m->layers));
    l.scratch = graph_probe_scratch();
    l.taken = mem_array((size_t)gguf_get_n_tensors(gguf), sizeof(*l.taken));
    if (new_contexts(m, params) && m->layers && l.scratch && l.weight &&
        l.taken)
        find_tensors(&l);
    else
        l.status = error_nomem(err);
    graph_find_unread(&l);
    graph_adapters_find(&l);
    mem_free(l.taken);
    ggml_free(l.scratch);
    ggml_free(l.weight);
    return l.status;
}

int32_t
graph_window(const struct gguf_context *gguf)
{
    struct model *m;
    struct gg_error err;
    int32_t window = 0;

    if (graph_read_keys(gguf, &m, &err) == GG_OK)
        window = m->hp.window;
    mem_free(m);
    return window;
}

enum gg_status
graph_read_model(struct model *m, struct gg_error *err)
{
    const struct gguf_context *gguf = m->file->gguf;
    enum gg_status st = choose_arch(gguf, m, err);

    if (st == GG_OK)
        st = read_hparams(gguf, m, err);
    if (st == GG_OK && m->files.mtp)
        st = graph_is_drafter(m->files.mtp)
                 ? graph_drafter_count(m->files.mtp, m, err)
                 : take_mtp_hparams(m->files.mtp, m, err);
    m->end = m->hp.n_layer;
    return st;
}
