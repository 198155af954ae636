/* model.c - from a parsed file to weights where the device wants them */
#include "model/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/adapter.h"
#include "model/head.h"
#include "model/move.h"
#include "model/needs.h"
#include "model/offload.h"
#include "model/pipeline.h"
#include "model/place.h"
#include "model/probe.h"
#include "model/rope.h"

enum {
    MAX_VOCAB = 1 << 24,
};

/* What sees or hears for a language model, in a file of its own. */
static bool
is_projector(const struct gguf_context *gguf, const char *arch)
{
    struct gguf_str type = { "", 0 };

    if (!strcmp(arch, "clip"))
        return true;
    return gguf_opt_str(gguf, "general.type", &type, NULL) == GG_OK &&
           type.n == 6 && !memcmp(type.s, "mmproj", 6);
}

/* What drafts for one language model and is none itself, of kinds that are not
 * known here. */
static bool
is_drafter(const char *arch)
{
    static const char *const drafters[] = { "gemma4-assistant", "eagle3",
                                            "dflash" };

    for (size_t i = 0; i < sizeof(drafters) / sizeof(drafters[0]); i++)
        if (!strcmp(arch, drafters[i]))
            return true;
    return false;
}

static enum gg_status
unknown_arch(const struct gguf_context *gguf, const char *name,
             struct gg_error *err)
{
    if (is_projector(gguf, name))
        gguf_bad_value(gguf, "general.architecture", err,
                       "%s is a projector (mmproj) of pictures or sound, no "
                       "language model: name the model that it belongs to",
                       name);
    else if (is_drafter(name))
        gguf_bad_value(gguf, "general.architecture", err,
                       "%s drafts from another model's hidden vectors, in a "
                       "way that is not known here: drafts can come from MTP "
                       "layers, a smaller model or the text",
                       name);
    else
        gguf_bad_value(gguf, "general.architecture", err,
                       "%s is not a family that is known here (gg(7) lists "
                       "those that are)",
                       name);
    return GG_ERR_UNSUPPORTED;
}

static enum gg_status
choose_arch(const struct gguf_context *gguf, struct model *m,
            struct gg_error *err)
{
    char name[64];
    enum gg_status st = model_key_architecture(gguf, name, sizeof(name), err);

    if (st != GG_OK)
        return st;
    m->arch = model_arch_find(name);
    return m->arch ? GG_OK : unknown_arch(gguf, name, err);
}

/* Of most families all layers have attention, or a recurrence, and a
 * feed-forward block. */
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
    struct model_keys keys = { gguf, m->arch->name, GG_OK, err, 0 };

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
    model_keys_causal(&keys, &m->hp);
    model_keys_rank(&keys, &m->hp);
    if (keys.status == GG_OK && !m->arch->partial_layers)
        return check_whole(gguf, m, err);
    return keys.status;
}

/* Of a file for its keys alone: *m is the caller's, to be mem_free()d. */
static enum gg_status
read_keys(const struct gguf_context *gguf, struct model **m,
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
    enum gg_status st = read_keys(mtp, &other, err);

    if (st == GG_OK) {
        m->hp.n_behind = other->hp.n_behind;
        for (int32_t i = m->hp.n_layer; i < model_all_layers(&m->hp); i++)
            m->hp.layers[i] = other->hp.layers[i];
    }
    mem_free(other);
    return st;
}

static enum gg_status
check_same_model(const struct gguf_context *mtp, const struct model *a,
                 const struct model *b, struct gg_error *err)
{
    if (a->arch != b->arch || a->hp.n_embd != b->hp.n_embd ||
        a->hp.n_vocab != b->hp.n_vocab || a->hp.n_layer != b->hp.n_layer)
        return gguf_bad_value(mtp, "general.architecture", err,
                              "MTP layers of another model: %s of %d layers, "
                              "%d values, %d tokens, not %s of %d, %d, %d",
                              b->arch->name, (int)b->hp.n_layer,
                              (int)b->hp.n_embd, (int)b->hp.n_vocab,
                              a->arch->name, (int)a->hp.n_layer,
                              (int)a->hp.n_embd, (int)a->hp.n_vocab);
    return GG_OK;
}

static bool
is_behind(const char *name, const void *n_layer)
{
    char *end;
    long layer;

    if (strncmp(name, "blk.", 4) != 0)
        return false;
    layer = strtol(name + 4, &end, 10);
    return *end == '.' && layer >= *(const int32_t *)n_layer;
}

enum gg_status
model_adopt_mtp(struct gguf_file *file, struct gguf_file *mtp,
                struct gg_error *err)
{
    struct model *a = NULL, *b = NULL;
    enum gg_status st = read_keys(file->gguf, &a, err);

    if (st == GG_OK)
        st = read_keys(mtp->gguf, &b, err);
    if (st == GG_OK)
        st = check_same_model(mtp->gguf, a, b, err);
    if (st == GG_OK)
        st = gguf_file_take(file, mtp, is_behind, &a->hp.n_layer, err);
    mem_free(a);
    mem_free(b);
    return st;
}

int32_t
model_window(const struct gguf_context *gguf)
{
    struct model *m;
    struct gg_error err;
    int32_t window = 0;

    if (read_keys(gguf, &m, &err) == GG_OK)
        window = m->hp.window;
    mem_free(m);
    return window;
}

static void
find_rope(struct model_loader *l)
{
    struct model *m = l->model;
    const struct model_hparams *hp = &m->hp;

    model_rope_find(l, &hp->rope, &m->rope);
    if (hp->rope_local_differs)
        model_rope_plain(&hp->rope_local,
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

/* What all families have is set before, so that one may change it. */
static void
find_layer(struct model_loader *l, struct model_layer *layer)
{
    struct model *m = l->model;

    l->hp = layer->hp = &m->hp.layers[l->layer];
    layer->windowed = layer->hp->windowed;
    if (m->hp.rope.n_rot > 0)
        layer->rope = layer->windowed && m->hp.rope_local_differs
                          ? &m->rope_local
                          : &m->rope;
    m->arch->layer(l, layer);
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
find_tensors(struct model_loader *l)
{
    struct model *m = l->model;
    const struct model_hparams *hp = &m->hp;
    int32_t n_own = hp->n_loop > 0 ? hp->n_loop : hp->n_layer;

    m->token_embd = model_find_table(l, embedding_name(l->gguf, m->arch),
                                     hp->n_embd, hp->n_vocab);
    if (hp->learned_positions)
        m->position_embd =
            model_find_table(l, "position_embd", hp->n_embd, hp->n_ctx_train);
    if (hp->rope.n_rot > 0)
        find_rope(l);
    if (m->arch->embedding)
        m->arch->embedding(l);
    for (l->layer = 0; l->layer < n_own; l->layer++)
        find_layer(l, &m->layers[l->layer]);
    repeat_layers(m, n_own);
    l->layer = hp->n_layer; /* the output comes after the last */
    if (m->arch->head)
        m->arch->head(l);
    model_head_find(l);
    for (; l->layer < model_used_layers(hp); l->layer++) {
        find_layer(l, &m->layers[l->layer]);
        model_mtp_find(l, &m->layers[l->layer]);
    }
}

static bool
new_contexts(struct model *m, struct ggml_init_params params)
{
    bool done = true;

    if (m->pipeline)
        done = (m->elsewhere = ggml_init(params)) != NULL;

    for (int i = 0; i < m->n_homes; i++) {
        m->homes[i].ctx = ggml_init(params);
        done = done && m->homes[i].ctx;
    }
    return done;
}

static enum gg_status
find_weights(const struct gguf_context *gguf, struct model *m,
             struct gg_error *err)
{
    struct ggml_init_params params = {
        /* one may be there twice: find_tied_output() */
        .mem_size =
            (size_t)(gguf_get_n_tensors(gguf) + 1) * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct model_loader l = { .gguf = gguf, .model = m, .err = err };

    l.weight = ggml_init((struct ggml_init_params){
        .mem_size = ggml_tensor_overhead(), .no_alloc = true });
    m->layers =
        mem_array((size_t)model_used_layers(&m->hp), sizeof(*m->layers));
    l.scratch = model_probe_scratch();
    l.taken = mem_array((size_t)gguf_get_n_tensors(gguf), sizeof(*l.taken));
    if (new_contexts(m, params) && m->layers && l.scratch && l.weight &&
        l.taken)
        find_tensors(&l);
    else
        l.status = error_nomem(err);
    model_find_unread(&l);
    model_adapters_find(&l);
    mem_free(l.taken);
    ggml_free(l.scratch);
    ggml_free(l.weight);
    return l.status;
}

enum gg_status
model_take_weights(const struct gg_model_params *params,
                   const struct model *lender, struct model *m,
                   model_home_set *failed, struct gg_error *err)
{
    enum gg_status st = find_weights(m->file->gguf, m, err);

    *failed = 0;
    if (st == GG_OK)
        st = model_place_weights(params, lender, m, failed, err);
    if (st == GG_OK)
        st = model_adapters_place(m, params, failed, err);
    if (st == GG_OK)
        st = model_rope_make(m, err);
    return st == GG_OK ? model_adapters_check(m, err) : st;
}

/* Of devices: a home each, without layers. */
static void
start_homes(struct model *m, const struct model_devices *devices)
{
    ggml_backend_dev_t first = devices->list[0];

    m->n_homes = 1;
    if (ggml_backend_dev_type(first) == GGML_BACKEND_DEVICE_TYPE_CPU) {
        m->homes[0].device = first;
        return;
    }
    m->homes[0].device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    for (int i = 0; i < devices->n; i++)
        m->homes[m->n_homes++].device = devices->list[i];
}

/* What an option says of layers is not made less where there is too little
 * memory for them on a device that was named. */
static bool
is_wanted_so(const struct gg_model_params *params, const struct model *m)
{
    return m->named && (params->gpu_layers > 0 || params->n_device_layers > 0);
}

/* Where devices fail, as err says, the others' turn comes. */
static enum gg_status
load_weights(const struct gg_model_params *params, struct model **m,
             struct gg_error *err)
{
    model_home_set failed;
    struct model *from = *m, *other;
    enum gg_status st = model_take_weights(params, NULL, from, &failed, err);

    if (from->pipeline)
        st = model_pipeline_agree(from->pipeline, st, err);
    if (st == GG_OK || !model_can_move(from, st) ||
        (st == GG_ERR_NOMEM && is_wanted_so(params, from)))
        return st;
    failed |= model_find_lost(from);
    if (!failed)
        failed = model_devices_of(from);
    if (model_move(from, &failed, model_needs_positions(from, params->n_ctx),
                   &other, NULL) != GG_OK)
        return st;
    model_move_words(from, failed, other, err->message, other->note,
                     sizeof(other->note));
    other->before = from;
    *m = other;
    return GG_OK;
}

/* All but the weights: what it is, and where its layers are to be. */
static enum gg_status
plan_model(const struct gg_model_params *params, struct model *m,
           struct gg_error *err)
{
    const struct gguf_context *gguf = m->file->gguf;
    enum gg_status st = choose_arch(gguf, m, err);

    if (st == GG_OK)
        st = read_hparams(gguf, m, err);
    if (st == GG_OK && m->files.mtp)
        st = take_mtp_hparams(m->files.mtp, m, err);
    if (st == GG_OK && params->mtp)
        st = model_mtp_use(m->files.mtp ? m->files.mtp : gguf, m, err);
    if (st == GG_OK)
        st = model_rope_override(&m->hp.rope, params, err);
    m->end = m->hp.n_layer;
    if (st == GG_OK && params->pipeline)
        st = model_pipeline_divide(params->pipeline, m, err);
    return st == GG_OK ? model_offload_layers(params, m, err) : st;
}

enum gg_status
model_load(const struct model_files *files, const struct model_devices *devices,
           const struct gg_model_params *params, struct model **out,
           struct gg_error *err)
{
    struct model *m = mem_zalloc(sizeof(*m));
    struct gg_error own;
    enum gg_status st;

    err = err ? err : &own;
    if (!m)
        return error_nomem(err);
    m->file = files->file;
    m->files = *files;
    start_homes(m, devices);
    st = plan_model(params, m, err);
    if (st == GG_OK)
        st = load_weights(params, &m, err);
    if (st == GG_OK && !(m->pipeline && m->pipeline->planned))
        model_spread_over_nodes(m);
    if (st == GG_OK)
        *out = m;
    else
        model_free(m);
    return st;
}

uint64_t
model_home_weights(const struct model *m, int home)
{
    struct ggml_context *ctx = m->homes[home].ctx;
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    uint64_t n = model_adapters_size_at(m, home);

    for (; t; t = ggml_get_next_tensor(ctx, t))
        n += ggml_nbytes(t);
    return n;
}

void
model_free(struct model *model)
{
    static const struct pipeline_command closed = { .op = PIPELINE_CLOSE };

    if (!model)
        return;
    if (model_pipeline_leads(model->pipeline))
        (void)model_pipeline_tell_all(model->pipeline, &closed, NULL, NULL);
    model_adapters_free(model);
    model_free_buffers(&model->buffers);
    ggml_backend_buffer_free(model->made);
    for (int i = 0; i < model->n_homes; i++)
        ggml_free(model->homes[i].ctx);
    ggml_free(model->elsewhere);
    ggml_free(model->made_ctx);
    mem_free(model->layers);
    model_free(model->before);
    mem_free(model);
}
