/* drafter.c - drafters: their numbers and tensors, as a part of their target */
#include "graph/drafter.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/arch.h"
#include "graph/rope.h"

bool
graph_is_drafters(const char *name)
{
    return strncmp(name, DRAFTER_PREFIX, strlen(DRAFTER_PREFIX)) == 0;
}

/* NULL: it is none. */
static const struct model_arch *
find_arch(const struct gguf_context *gguf)
{
    char name[64];
    const struct model_arch *arch;

    if (graph_key_architecture(gguf, name, sizeof(name), NULL) != GG_OK)
        return NULL;
    arch = graph_arch_find(name);
    return arch && arch->drafter ? arch : NULL;
}

bool
graph_is_drafter(const struct gguf_context *gguf)
{
    return find_arch(gguf) != NULL;
}

/* ---- numbers ------------------------------------------------------------ */

/* Layers get the numbers that they have next to the target's. */
static void
number_layers(struct model_keys *keys, const struct model_hparams *target,
              struct model_hparams *hp)
{
    int32_t n = hp->n_layer, first = target->n_layer;

    if (keys->status != GG_OK)
        return;
    if (n > MODEL_MAX_LAYERS - first) {
        graph_key_mismatch(keys, "block_count", "are too many, after", n,
                           first);
        return;
    }
    for (int32_t i = n; i-- > 0;) {
        hp->layers[first + i] = hp->layers[i];
        hp->layers[first + i].kv_layer = first + i;
    }
    memcpy(hp->layers, target->layers, (size_t)first * sizeof(*hp->layers));
    hp->n_layer = first;
    hp->n_mtp = hp->n_drafter = n;
}

/* Hidden vectors that are one of each id, and logits that follow from it. */
static void
check_target(struct model_keys *keys, const struct model *target)
{
    const struct model_hparams *hp = &target->hp;
    bool usual = hp->n_stream == 0 && hp->n_altup == 0 && hp->bank_every == 0 &&
                 !target->arch->time_mix && !hp->encoder && hp->n_encoder == 0;

    if (keys->status == GG_OK && !usual)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "target_layers",
                         "%s drafts for no %s here: its hidden vectors are of "
                         "another kind",
                         keys->arch, target->arch->name);
}

enum gg_status
graph_drafter_read(const struct gguf_context *gguf, const struct model *target,
                   struct model **out, struct gg_error *err)
{
    const struct model_arch *arch = find_arch(gguf);
    struct model *d = mem_zalloc(sizeof(*d));
    struct model_keys keys = {
        .gguf = gguf, .status = GG_OK, .err = err, .drafts = true
    };

    *out = d;
    if (!d)
        return error_nomem(err);
    d->arch = arch;
    d->file = target->file;
    d->hp.n_vocab = target->hp.n_vocab;
    keys.arch = arch->name;
    check_target(&keys, target);
    arch->hparams(&keys, &d->hp);
    number_layers(&keys, &target->hp, &d->hp);
    if (keys.status == GG_OK)
        arch->drafter->join(&keys, &target->hp, &d->hp);
    return keys.status;
}

void
graph_drafter_free(struct model *drafter)
{
    if (!drafter)
        return;
    ggml_backend_buffer_free(drafter->made);
    ggml_free(drafter->made_ctx);
    mem_free(drafter->drafted);
    mem_free(drafter);
}

enum gg_status
graph_drafter_count(const struct gguf_context *gguf, struct model *m,
                    struct gg_error *err)
{
    struct model *d;
    enum gg_status st = graph_drafter_read(gguf, m, &d, err);

    if (st == GG_OK) {
        m->hp.n_drafter = d->hp.n_drafter;
        for (int32_t i = m->hp.n_layer; i < m->hp.n_layer + m->hp.n_drafter;
             i++)
            m->hp.layers[i] = d->hp.layers[i];
    }
    graph_drafter_free(d);
    return st;
}

void
graph_keys_features(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_drafting *d = &hp->drafting;
    struct gguf_array array = { 0 };
    char key[MODEL_MAX_KEY];
    int64_t i =
        gguf_find_key(keys->gguf, graph_key_name(keys, "target_layers", key));
    enum gguf_type type = GGUF_TYPE_UINT32;

    if (keys->status != GG_OK)
        return;
    if (i >= 0 && gguf_get_kv_type(keys->gguf, i) == GGUF_TYPE_ARRAY &&
        gguf_get_arr_type(keys->gguf, i) == GGUF_TYPE_INT32)
        type = GGUF_TYPE_INT32;
    keys->status = gguf_get_array(keys->gguf, key, type, &array, keys->err);
    if (keys->status != GG_OK)
        return;
    if (array.n == 0 || array.n > MODEL_MAX_FEATURES) {
        graph_key_refuse(keys, GG_ERR_FORMAT, "target_layers",
                         "%zu layers are not 1 to %d", array.n,
                         MODEL_MAX_FEATURES);
        return;
    }
    d->n_features = (int32_t)array.n;
    for (size_t k = 0; k < array.n; k++) {
        uint32_t layer = gguf_array_u32(&array, k);

        d->features[k] = layer > MODEL_MAX_LAYERS ? -1 : (int32_t)layer;
    }
}

void
graph_features_join(struct model_keys *keys, const struct model_hparams *target,
                    struct model_hparams *hp)
{
    struct model_drafting *d = &hp->drafting;

    for (int32_t i = 0; i < d->n_features && keys->status == GG_OK; i++)
        if (d->features[i] < 0 || d->features[i] > target->n_layer)
            graph_key_refuse(keys, GG_ERR_FORMAT, "target_layers",
                             "layer %d: the model has %d", (int)d->features[i],
                             (int)target->n_layer);
    d->d_features = d->n_features * target->n_embd;
}

/* ---- tensors ------------------------------------------------------------ */

/* The model that l->model, a drafter, is a part of. */
static const struct model *
target_of(const struct model_loader *l)
{
    return l->target;
}

static void
refuse_shape(struct model_loader *l, const char *name,
             const struct ggml_tensor *t)
{
    l->status = error_set(
        l->err, GG_ERR_FORMAT,
        "%s has no %s.weight, and the model's is %d x %d, not %d x %d",
        l->model->arch->name, name, t ? (int)t->ne[0] : 0,
        t ? (int)t->ne[1] : 0, (int)l->model->hp.n_embd,
        (int)l->model->n_drafted);
}

static bool
has_shape(const struct ggml_tensor *t, int64_t n, int64_t n_rows)
{
    return t && t->ne[0] == n && t->ne[1] == n_rows;
}

void
graph_drafter_borrow(struct model_loader *l)
{
    struct model *d = l->model;
    const struct model *m = target_of(l);
    int64_t e = d->hp.n_embd, n_vocab = d->hp.n_vocab;
    int64_t n = d->n_drafted > 0 ? d->n_drafted : n_vocab;

    d->token_embd = graph_find_table_or_none(l, "token_embd", e, n_vocab);
    d->output = graph_find_linear_or_none(l, "output", e, n, MODEL_OPTIONAL);
    if (!d->token_embd)
        d->token_embd = m->token_embd;
    if (!d->output.weight)
        d->output = m->output;
    if (l->status == GG_OK && !has_shape(d->token_embd, e, n_vocab))
        refuse_shape(l, "token_embd", d->token_embd);
    if (l->status == GG_OK && !has_shape(d->output.weight, e, n))
        refuse_shape(l, "output", d->output.weight);
}

static int64_t
integer_at(const struct gguf_tensor *t, int64_t i)
{
    int64_t wide;
    int32_t narrow;

    if (t->type == GGML_TYPE_I64) {
        memcpy(&wide, (const char *)t->data + (size_t)i * sizeof(wide),
               sizeof(wide));
        return wide;
    }
    memcpy(&narrow, (const char *)t->data + (size_t)i * sizeof(narrow),
           sizeof(narrow));
    return narrow;
}

/* Each is the vocabulary's, and there once. */
static bool
take_ids(struct model_loader *l, const struct gguf_tensor *t, bool *taken)
{
    struct model *d = l->model;

    for (int64_t i = 0; i < t->ne[0]; i++) {
        int64_t id = integer_at(t, i);

        if (id < 0 || id >= d->hp.n_vocab || taken[id]) {
            l->status = gguf_bad_value(
                l->gguf, t->name, l->err, "id %lld is %s", (long long)id,
                id < 0 || id >= d->hp.n_vocab ? "not the vocabulary's"
                                              : "there twice");
            return false;
        }
        taken[id] = true;
        d->drafted[i] = (int32_t)id;
    }
    return true;
}

void
graph_drafter_find_ids(struct model_loader *l)
{
    struct model *d = l->model;
    const struct gguf_tensor *t = graph_find_integers(l, "d2t");
    bool *taken;

    if (!t)
        return;
    if (t->ne[0] < 1 || t->ne[0] > d->hp.n_vocab) {
        l->status = gguf_bad_value(l->gguf, t->name, l->err,
                                   "%lld ids, of a vocabulary of %d",
                                   (long long)t->ne[0], (int)d->hp.n_vocab);
        return;
    }
    d->n_drafted = (int32_t)t->ne[0];
    d->drafted = mem_array((size_t)d->n_drafted, sizeof(*d->drafted));
    taken = mem_array((size_t)d->hp.n_vocab, sizeof(*taken));
    if (d->drafted && taken)
        (void)take_ids(l, t, taken);
    else
        l->status = error_nomem(l->err);
    mem_free(taken);
}

/* The file's, in the target's homes; layers are entries of the target's list.
 */
static void
find_all(struct model_loader *l, struct model *d)
{
    const struct model *m = l->target;

    d->layers = m->layers;
    d->pipeline = m->pipeline;
    memcpy(d->homes, m->homes, sizeof(d->homes));
    d->n_homes = m->n_homes;
    d->end = m->end;
    l->model = d;
    if (d->hp.rope.n_rot > 0)
        graph_rope_find(l, &d->hp.rope, &d->rope);
    for (; l->layer < d->hp.n_layer + d->hp.n_drafter; l->layer++)
        graph_find_layer(l, &d->layers[l->layer]);
    d->arch->head(l);
}

void
graph_drafter_find(struct model_loader *l)
{
    struct model *m = l->model;

    if (l->status != GG_OK)
        return;
    l->status = graph_drafter_read(m->files.mtp, m, &m->drafter, l->err);
    if (l->status != GG_OK)
        return;
    l->target = m;
    find_all(l, m->drafter);
    l->model = m;
}
