/* train.c - a run: sequences become rows, rows steps */
#include "train/train.h"

#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "core/thread.h"
#include "train/rate.h"

/* ---- the device ---------------------------------------------------------- */

static void *
extra(ggml_backend_t backend, const char *name)
{
    return ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(ggml_backend_get_device(backend)), name);
}

/* A step of the optimiser is done as a whole. */
static bool
is_aborted(void *data)
{
    const struct train_run *t = data;

    return !t->changing && t->o.abort && t->o.abort(t->o.abort_data);
}

static enum gg_status
start_backend(struct train_run *t, struct gg_error *err)
{
    int n = t->o.n_threads > 0 ? t->o.n_threads : thread_count_default();
    ggml_backend_set_n_threads_t set_threads;
    ggml_backend_set_abort_callback_t set_abort;
    void *p;

    t->backend = ggml_backend_dev_init(graph_device(t->model), NULL);
    if (!t->backend)
        return error_nomem(err);
    p = extra(t->backend, "ggml_backend_set_n_threads");
    memcpy(&set_threads, &p, sizeof(p));
    if (set_threads)
        set_threads(t->backend, n);
    p = extra(t->backend, "ggml_backend_set_abort_callback");
    memcpy(&set_abort, &p, sizeof(p));
    if (set_abort)
        set_abort(t->backend, is_aborted, t);
    return GG_OK;
}

/* ---- beginning and end --------------------------------------------------- */

/* Whether a layer goes on from a sequence's state: a graph of whole rows has no
 * sequences. */
static bool
keeps_states(const struct model_hparams *hp)
{
    int32_t i = 0;

    while (i < hp->n_layer && !graph_recurs(hp, i))
        i++;
    return i < hp->n_layer;
}

/* Refuses families that graphs of whole rows cannot train. */
static enum gg_status
check_family(const struct model *m, struct gg_error *err)
{
    const struct model_hparams *hp = &m->hp;
    const char *why = NULL;

    if (hp->encoder || !m->output.weight)
        why = "it has no logits";
    else if (hp->n_encoder > 0)
        why = "its encoder and decoder are not packed in rows";
    else if (keeps_states(hp))
        why = "recurrent layers have no gradient here";
    else if (hp->latent.n > 0)
        why = "latent attention has no gradient here";
    else if (hp->switches.n > 0)
        why = "adapters that ids switch have no gradient here";
    else if (hp->temperature_scale != 0)
        why = "queries with a temperature have no gradient here";
    for (int32_t i = 0; i < hp->n_layer && !why; i++) {
        const struct model_layer_hparams *l = &hp->layers[i];

        if (l->n_head > 0 && (l->kv_layer != i || l->n_head_kv == 0))
            why = "keys and values that layers share have no gradient here";
        if (l->chosen)
            why = "attention to chosen keys has no gradient here";
        if (m->layers[i].attn_sinks)
            why = "attention sinks (SOFT_MAX with sinks) have no gradient here";
    }
    return why ? error_set(err, GG_ERR_UNSUPPORTED, "%s cannot be trained: %s",
                           m->arch->name, why)
               : GG_OK;
}

static enum gg_status
set_up(struct train_run *t, const struct gg_train_params *params,
       struct gg_error *err)
{
    enum gg_status st = train_options(params, t->model, &t->o, err);

    if (st == GG_OK && params->targets) {
        t->targets = mem_strndup(params->targets, strlen(params->targets));
        t->o.targets = t->targets;
        st = t->targets ? GG_OK : error_nomem(err);
    }
    if (st == GG_OK)
        st = check_family(t->model, err);
    if (st == GG_OK)
        st = start_backend(t, err);
    t->params.measured = t->o.measure;
    if (st == GG_OK)
        st = t->o.rank > 0 ? train_adapter_make(&t->adapter, &t->params,
                                                t->model, &t->o, err)
                           : train_params_of_model(&t->params, t->model, err);
    if (st == GG_OK && t->o.init && !t->o.measure)
        train_params_init(&t->params, t->model, t->o.seed);
    return st;
}

enum gg_status
train_run_new(struct model *model, const struct gg_train_params *params,
              struct train_run **out, struct gg_error *err)
{
    struct train_run *t = mem_zalloc(sizeof(*t));
    enum gg_status st;

    if (!t)
        return error_nomem(err);
    t->model = model;
    st = set_up(t, params, err);
    if (st == GG_OK)
        *out = t;
    else
        train_run_free(t);
    return st;
}

void
train_run_free(struct train_run *t)
{
    if (!t)
        return;
    train_optimizer_clear(&t->optimizer);
    train_pass_clear(&t->pass);
    train_adapter_clear(&t->adapter);
    train_params_clear(&t->params);
    ggml_backend_free(t->backend);
    for (int i = 0; i < TRAIN_SETS; i++)
        train_set_clear(&t->sets[i]);
    train_packed_clear(&t->packed);
    train_packed_clear(&t->held_out);
    train_batch_clear(&t->batch);
    mem_free(t->targets);
    mem_free(t);
}

enum gg_status
train_run_add(struct train_run *t, enum gg_train_part part, const int32_t *ids,
              const bool *counts, size_t n, struct gg_error *err)
{
    if (t->started || (unsigned)part >= TRAIN_SETS)
        return error_set(err, GG_ERR_ARG,
                         "sequences are added to a set before the start");
    return train_set_add(&t->sets[part], ids, counts, n, t->o.n_ctx,
                         t->model->hp.n_vocab, err);
}

/* ---- start --------------------------------------------------------------- */

static uint64_t
hash_value(uint64_t h, double v)
{
    return hash_bytes(h, &v, sizeof(v));
}

/* Fingerprint of all that must be the same for a run to go on. */
static uint64_t
fingerprint(const struct train_run *t)
{
    const struct gg_train_params *o = &t->o;
    const struct train_set *s = &t->sets[GG_TRAIN_SET];
    const double values[] = {
        o->n_ctx,        o->batch,       o->at_once,
        o->rank,         o->alpha,       o->optimizer,
        o->rate,         o->matrix_rate, o->beta1,
        o->beta2,        o->epsilon,     o->decay,
        o->clip,         o->schedule,    (double)o->warm_up,
        (double)o->fall, o->least_rate,  o->in_order,
        o->init,
    };
    uint64_t h = gguf_fingerprint(t->model->file->gguf);

    h = hash_bytes(h, &o->seed, sizeof(o->seed));
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        h = hash_value(h, values[i]);
    for (size_t i = 0; i < t->params.n; i++) {
        const char *name = t->params.p[i].weight->name;

        h = hash_bytes(h, name, strlen(name));
    }
    h = hash_bytes(h, s->ids, s->n_ids * sizeof(*s->ids));
    return hash_bytes(h, s->counts, s->n_ids * sizeof(*s->counts));
}

static enum gg_status
pack_epoch(struct train_run *t, uint64_t epoch, struct gg_error *err)
{
    struct train_packed packed;
    enum gg_status st;

    if (t->packed.n_rows > 0 && t->packed_epoch == epoch)
        return GG_OK;
    st = train_pack(&t->sets[GG_TRAIN_SET], t->o.n_ctx, !t->o.in_order,
                    t->o.seed, epoch, &packed, err);
    if (st != GG_OK)
        return st;
    train_packed_clear(&t->packed);
    t->packed = packed;
    t->packed_epoch = epoch;
    return GG_OK;
}

static void
count_steps(struct train_run *t)
{
    double rows = t->o.epochs * (double)t->packed.n_rows;
    double steps = ceil(rows / t->o.batch);

    t->n_steps = t->o.n_steps > 0 ? t->o.n_steps : (int64_t)fmin(steps, 1e15);
    if (t->n_steps < 1)
        t->n_steps = 1;
}

enum gg_status
train_run_start(struct train_run *t, struct gg_error *err)
{
    enum gg_status st;

    if (t->started || t->sets[GG_TRAIN_SET].n_targets == 0)
        return error_set(err, GG_ERR_ARG,
                         t->started ? "started already"
                                    : "there is no target to learn");
    st = pack_epoch(t, 0, err);
    if (st == GG_OK)
        st = train_pack(&t->sets[GG_TRAIN_HELD_OUT], t->o.n_ctx, false, 0, 0,
                        &t->held_out, err);
    if (st == GG_OK)
        st = train_pass_init(&t->pass, t->model, &t->params, t->backend,
                             t->o.n_ctx, t->o.at_once,
                             (size_t)t->o.memory_limit, err);
    if (st == GG_OK && !t->o.measure)
        st = train_optimizer_init(&t->optimizer, &t->params, &t->o, t->backend,
                                  err);
    if (st != GG_OK)
        return st;
    count_steps(t);
    t->place.fingerprint = fingerprint(t);
    t->started = true;
    return GG_OK;
}

struct gg_train_memory
train_run_memory(const struct train_run *t)
{
    struct gg_train_memory m = { 0 };

    for (size_t i = 0; i < t->params.n; i++) {
        const struct train_param *p = &t->params.p[i];

        m.weights += ggml_nbytes(p->weight);
        m.gradients += ggml_nbytes(p->grad);
        for (int k = 0; k < TRAIN_MOMENTS; k++)
            m.moments += p->moments[k] ? ggml_nbytes(p->moments[k]) : 0;
    }
    m.activations = t->pass.size;
    m.n_parameters = (uint64_t)t->params.n_values;
    m.n_rows = t->packed.n_rows;
    m.n_targets = t->sets[GG_TRAIN_SET].n_targets;
    m.n_windows = t->pass.n_windows;
    m.n_ctx = t->o.n_ctx;
    return m;
}

/* ---- steps --------------------------------------------------------------- */

/* The next rows, of the next epoch after the last. */
static enum gg_status
take_rows(struct train_run *t, struct train_place *place, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    train_batch_start(&t->batch);
    while (t->batch.n_rows < t->o.batch && st == GG_OK) {
        st = pack_epoch(t, place->epoch, err);
        if (st == GG_OK && place->row >= t->packed.n_rows) {
            place->row = 0;
            place->epoch++;
        } else if (st == GG_OK) {
            st = train_batch_add(&t->batch, &t->sets[GG_TRAIN_SET], &t->packed,
                                 (size_t)place->row++, err);
        }
    }
    return st;
}

/* Gradients of the mean loss of the batch. */
static enum gg_status
add_gradients(struct train_run *t, double *loss, struct gg_error *err)
{
    double scale = 1 / (double)t->batch.n_targets;
    enum gg_status st = GG_OK;

    *loss = 0;
    train_params_zero_gradients(&t->params);
    for (int32_t r = 0; r < t->batch.n_rows && st == GG_OK; r += t->o.at_once)
        st = train_pass_run(&t->pass, &t->sets[GG_TRAIN_SET], &t->batch, r,
                            true, scale, loss, err);
    *loss *= scale;
    return st;
}

enum gg_status
train_run_step(struct train_run *t, struct gg_train_report *report,
               struct gg_error *err)
{
    struct train_place place = t->place;
    struct gg_train_report r = { 0 };
    double part;
    enum gg_status st;

    if (!t->started || t->o.measure)
        return error_set(err, GG_ERR_ARG, "no training has started");
    part = train_rate(&t->o, (int64_t)place.step, t->n_steps);
    st = take_rows(t, &place, err);
    if (st == GG_OK)
        st = add_gradients(t, &r.loss, err);
    t->changing = true;
    if (st == GG_OK)
        st = train_optimizer_step(&t->optimizer, (int64_t)place.step + 1, part,
                                  &r.norm, err);
    t->changing = false;
    if (st != GG_OK)
        return st;
    r.rate = part * t->o.rate;
    r.n_targets = t->batch.n_targets;
    place.step++;
    place.n_targets += r.n_targets;
    t->place = place;
    *report = r;
    return GG_OK;
}

enum gg_status
train_run_evaluate(struct train_run *t, double *loss, uint64_t *n_targets,
                   struct gg_error *err)
{
    const struct train_set *set = &t->sets[GG_TRAIN_HELD_OUT];
    double sum = 0;
    enum gg_status st = GG_OK;

    if (!t->started || t->o.measure || set->n_targets == 0)
        return error_set(err, GG_ERR_ARG,
                         "no training has started, or nothing is held out");
    for (size_t r = 0; r < t->held_out.n_rows && st == GG_OK;) {
        train_batch_start(&t->batch);
        while (t->batch.n_rows < t->o.at_once && r < t->held_out.n_rows &&
               st == GG_OK)
            st = train_batch_add(&t->batch, set, &t->held_out, r++, err);
        if (st == GG_OK)
            st = train_pass_run(&t->pass, set, &t->batch, 0, false, 0, &sum,
                                err);
    }
    if (st != GG_OK)
        return st;
    *loss = sum / (double)set->n_targets;
    *n_targets = set->n_targets;
    return GG_OK;
}

/* ---- files --------------------------------------------------------------- */

enum gg_status
train_run_save(const struct train_run *t, const char *path,
               struct gg_error *err)
{
    if (!t->started || t->o.measure)
        return error_set(err, GG_ERR_ARG, "no training has started");
    return train_checkpoint_save(&t->params, &t->place, path, err);
}

enum gg_status
train_run_write_checkpoint(const struct train_run *t, FILE *file,
                           struct gg_error *err)
{
    if (!t->started || t->o.measure)
        return error_set(err, GG_ERR_ARG, "no training has started");
    return train_checkpoint_write(&t->params, &t->place, file, err);
}

enum gg_status
train_run_load(struct train_run *t, const char *path, struct gg_error *err)
{
    if (!t->started || t->o.measure)
        return error_set(err, GG_ERR_ARG, "no training has started");
    return train_checkpoint_load(&t->params, &t->place, path, err);
}
