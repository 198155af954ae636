/* session.c - sequences of ids in slots: their memory, and where it is */
#include "session/session.h"

#include <stdio.h>

#include "core/mem.h"
#include "core/numa.h"
#include "core/thread.h"
#include "graph/adapter.h"
#include "graph/arch.h"
#include "session/move.h"
#include "graph/mtp.h"
#include "session/recurrent.h"
#include "session/impl.h"
#include "session/pipeline.h"
#include "session/streaming.h"

enum {
    DEFAULT_BATCH = 512,
    MAX_BATCH = 1 << 16,
    MAX_SLOTS = 1 << 16,
    MAX_CTX = 1 << 28,
    MAX_SEGMENTS = 64,
};

struct gg_session_params
gg_session_params_default(void)
{
    return (struct gg_session_params){ 0 };
}

/* ---- birth and death ---------------------------------------------------- */

static enum gg_status
check_range(const char *what, int32_t v, int32_t max, struct gg_error *err)
{
    if (v >= 0 && v <= max)
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "%s: %d is not in 0..%d", what, (int)v,
                     (int)max);
}

static const enum ggml_type cache_types[] = {
    [GG_CACHE_F16] = GGML_TYPE_F16,   [GG_CACHE_F32] = GGML_TYPE_F32,
    [GG_CACHE_Q8_0] = GGML_TYPE_Q8_0, [GG_CACHE_BF16] = GGML_TYPE_BF16,
    [GG_CACHE_Q5_0] = GGML_TYPE_Q5_0, [GG_CACHE_Q4_0] = GGML_TYPE_Q4_0,
};

static enum gg_cache_type
kind_of(const struct gg_session_params *p, enum cache_tensor of)
{
    return of == CACHE_V && p->has_value_type ? p->value_type : p->cache_type;
}

/* Scores of an indexer choose, and are not blurred by blocks. */
static enum ggml_type
type_of(const struct gg_session_params *p, enum cache_tensor of)
{
    enum ggml_type type = cache_types[kind_of(p, of)];

    if ((of == CACHE_INDEX || of == CACHE_COMPRESSED_INDEX) &&
        ggml_blck_size(type) > 1)
        return GGML_TYPE_F16;
    return type;
}

static bool
is_below_8_bits(enum ggml_type type)
{
    return type == GGML_TYPE_Q5_0 || type == GGML_TYPE_Q4_0;
}

static enum gg_status
check_known(const struct gg_session_params *p, struct gg_error *err)
{
    for (int of = 0; of < CACHE_TENSORS; of++)
        if ((unsigned)kind_of(p, of) >=
            sizeof(cache_types) / sizeof(cache_types[0]))
            return error_set(err, GG_ERR_ARG,
                             "a cache is of type f16, f32, q8_0, bf16, q5_0 "
                             "or q4_0");
    return GG_OK;
}

/* Layers whose rows may be in blocks. */
static int32_t
typed_layers(const struct model_hparams *hp)
{
    return hp->n_drafter > 0 ? hp->n_layer : graph_used_layers(hp);
}

/* A cache of few bits has keys and values apart, to be rotated each. */
static enum gg_status
check_few_bits(const struct model *m, enum ggml_type type, struct gg_error *err)
{
    const struct model_hparams *hp = &m->hp;
    bool keeps = false, together = false;

    for (int32_t i = 0; i < typed_layers(hp); i++) {
        keeps = keeps || graph_keeps(hp, i);
        together =
            together || (graph_keeps(hp, i) && hp->layers[i].values_in_keys);
    }
    if (!is_below_8_bits(type) || (keeps && !together && !hp->encoder))
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED, "no cache of type %s: %s %s",
                     ggml_type_name(type), m->arch->name,
                     keeps && together
                         ? "has latent attention, whose rows are keys and "
                           "values at once"
                         : "keeps no keys and values");
}

/* A head's keys, or values, are whole blocks of the type. */
static enum gg_status
check_blocks(const struct model_hparams *hp, enum cache_tensor of,
             enum ggml_type type, struct gg_error *err)
{
    for (int32_t i = 0; i < typed_layers(hp); i++) {
        const struct model_layer_hparams *l = &hp->layers[i];
        int32_t d = of == CACHE_V && graph_keeps(hp, i)
                        ? l->d_value
                        : graph_cache_width(hp, i, of);

        if (d % ggml_blck_size(type))
            return error_set(err, GG_ERR_ARG,
                             "a cache of type %s takes multiples of %d; the "
                             "model's heads have a length of %d",
                             ggml_type_name(type), (int)ggml_blck_size(type),
                             (int)d);
    }
    return GG_OK;
}

static enum gg_status
check_types(const struct model *m, const struct gg_session_params *p,
            struct gg_error *err)
{
    enum gg_status st = check_known(p, err);

    for (int of = 0; of < CACHE_TENSORS && st == GG_OK; of++) {
        enum ggml_type type = type_of(p, of);

        st = check_few_bits(m, type, err);
        if (st == GG_OK)
            st = check_blocks(&m->hp, of, type, err);
    }
    return st;
}

static struct cache_form
form_of(const struct gg_session_params *p)
{
    struct cache_form form;

    for (int of = 0; of < CACHE_TENSORS; of++) {
        form.types[of] = type_of(p, of);
        form.rotated[of] = !p->no_rotation && is_below_8_bits(form.types[of]);
    }
    return form;
}

static enum gg_status
check_params(const struct model *model, const struct gg_session_params *p,
             struct gg_error *err)
{
    int32_t max_ctx = model->position_embd ? model->hp.n_ctx_train : MAX_CTX;
    enum gg_status st = check_range(
        max_ctx == MAX_CTX ? "context" : "context (the model's positions end)",
        p->n_ctx, max_ctx, err);

    if (st == GG_OK)
        st = check_range("slots", p->n_slots, MAX_SLOTS, err);
    if (st == GG_OK)
        st = check_range("batch", p->n_batch, MAX_BATCH, err);
    if (st == GG_OK)
        st = check_range("threads", p->n_threads, GGML_MAX_N_THREADS, err);
    if (st == GG_OK)
        st = check_range("ids of an encoder", p->n_encoder_ids, MAX_BATCH, err);
    if (st == GG_OK && p->n_encoder_ids > 0 && model->hp.n_encoder == 0)
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "%s has no encoder before a decoder: no ids are its",
                       model->arch->name);
    if (st == GG_OK)
        st = ERROR_RESERVED(p, err);
    return st == GG_OK ? check_types(model, p, err) : st;
}

static int32_t
or_default(int32_t v, int32_t other)
{
    return v ? v : other;
}

static int32_t
min_i32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The numbers; nothing is allocated. */
static void
set_sizes(struct gg_session *s, const struct model *model,
          const struct gg_session_params *p)
{
    s->model = model;
    s->params = *p;
    s->form = form_of(p);
    s->n_ctx = or_default(p->n_ctx, model->hp.n_ctx_train);
    s->n_slots = or_default(p->n_slots, 1);
    s->n_batch = or_default(p->n_batch, DEFAULT_BATCH);
    /* no more than all sequences have room for */
    if (s->n_batch / s->n_slots >= s->n_ctx)
        s->n_batch = s->n_ctx * s->n_slots;
    if (model->hp.encoder || model->hp.n_encoder > 0)
        s->n_batch = min_i32(s->n_ctx, MAX_BATCH);
    if (model->hp.encoder) {
        s->form.types[CACHE_K] = s->form.types[CACHE_V] =
            GGML_TYPE_F32; /* little, and nothing is lost */
    }
    s->n_segments = min_i32(min_i32(s->n_slots, s->n_batch), MAX_SEGMENTS);
}

/* Ids that a draft's step evaluates at most: of each text as many as there are
 * MTP layers. */
static int32_t
mtp_tokens(const struct gg_session *s)
{
    return s->n_segments * session_mtp_step(s->model);
}

/* The processors of this machine, which its ranks share. */
static int
default_threads(const struct model *model)
{
    int n = thread_count_default();

    if (!numa_chosen()) /* else they are its own */
        n /= model->pipeline->n_local;
    return n > 1 ? n : 1;
}

/* Keys, values and buffers, where the model is. On failure all are empty. */
static enum gg_status
take_memory(const struct gg_session *s, const struct model *model,
            struct cache *cache, struct compute *compute, struct compute *mtp,
            struct gg_error *err)
{
    const struct gg_session_params *p = &s->params;
    int threads = or_default(p->n_threads, default_threads(model));
    enum gg_status st = session_cache_init(cache, model, &s->form, s->n_slots,
                                           s->n_ctx, s->n_batch, err);

    if (st != GG_OK)
        return st;
    st = session_compute_init(
        compute, model, cache, s->n_batch, s->n_segments, threads,
        model->pipeline->divided ? NULL : p->abort, p->abort_data, err);
    *mtp = (struct compute){ 0 };
    if (st == GG_OK && model->hp.n_mtp > 0 &&
        graph_has_layer(model, model->hp.n_layer))
        st = session_compute_init_mtp(mtp, compute, cache, mtp_tokens(s),
                                      s->n_segments, err);
    if (st != GG_OK) {
        session_compute_clear(compute);
        session_cache_clear(cache);
        return st;
    }
    session_compute_round(compute, p->bf16);
    session_compute_round(mtp, p->bf16);
    session_compute_watch(compute, p->watch, p->watch_data);
    session_stream_weights(compute);
    if (s->profile)
        session_compute_profile(compute, s->profile->counters);
    return GG_OK;
}

/* ---- a device fails ------------------------------------------------------ */

static void
say_moved(const struct gg_session *s, model_home_set lost,
          const struct model *to, const struct gg_error *why)
{
    char text[sizeof(why->message) + 64];

    session_move_words(s->model, lost, to, why->message, text, sizeof(text));
    if (s->params.warn)
        s->params.warn(s->params.warn_data, text);
}

static void
drop_memory(struct gg_session *s)
{
    session_compute_clear(&s->mtp);
    session_compute_clear(&s->compute);
    session_cache_clear(&s->cache);
}

/* Nobody can have the layers. */
static bool
die(struct gg_session *s, const struct gg_error *why)
{
    s->dead = true;
    s->why_dead = *why;
    s->n_slots = 0;
    return false;
}

/* The memory of the devices that are left is free by now. */
static bool
try_move(struct gg_session *s, model_home_set *lost, struct model **out)
{
    int64_t n_ctx = (int64_t)s->n_ctx * s->n_slots;

    if (session_move_model(s->model, lost, n_ctx, out, NULL) != GG_OK)
        return false;
    if (take_memory(s, *out, &s->cache, &s->compute, &s->mtp, NULL) == GG_OK)
        return true;
    session_free_model(*out);
    *out = NULL;
    return false;
}

bool
session_has_lost(const struct gg_session *s)
{
    return session_find_lost(s->model) != 0;
}

bool
session_move(struct gg_session *s, const struct gg_error *why)
{
    model_home_set all = session_devices_of(s->model);
    model_home_set lost =
        session_find_lost(s->model) | session_compute_failed(&s->compute);
    struct model *model = NULL;

    lost = lost ? lost : all;
    if (s->model->named && lost == all)
        return false;
    drop_memory(s);
    if (!try_move(s, &lost, &model)) { /* for want of memory */
        lost = all;
        if (s->model->named || !try_move(s, &lost, &model))
            return die(s, why);
    }
    say_moved(s, lost, model, why);
    model->before = s->spare;
    s->model = s->spare = model;
    session_slots_lose(&s->slots);
    return true;
}

static enum gg_status
fill_in(struct gg_session *s, struct gg_error *err)
{
    const struct gg_session_params *p = &s->params;
    /* They read the ids before, too. */
    bool reads = s->model->hp.ngrams.n > 0 || s->model->hp.switches.n > 0;
    enum gg_status st;

    s->moves = session_can_move(s->model, GG_ERR_IO) && !p->watch;

    s->called = mem_array((size_t)s->n_slots, sizeof(*s->called));
    s->prefilled = mem_array((size_t)s->n_slots, sizeof(*s->prefilled));
    session_media_init(&s->media, s->model->hp.n_vocab, s->model->hp.n_embd);
    if (!session_slots_init(&s->slots, s->n_slots, s->moves || reads,
                            s->model->files.n_adapters, &s->media) ||
        !s->called || !s->prefilled ||
        !session_batch_init(&s->batch, s->n_batch, s->n_segments, &s->model->hp,
                            &s->slots))
        return error_nomem(err);
    if (s->model->hp.n_mtp > 0 &&
        !session_batch_init(&s->mtp_batch, mtp_tokens(s), s->n_segments,
                            &s->model->hp, &s->slots))
        return error_nomem(err);
    if (p->profile) {
        s->profile = session_profile_new(
            or_default(p->n_threads, thread_count_default()));
        if (!s->profile)
            return error_nomem(err);
    }
    /* One that only has too little memory answers; the caller may ask for less.
     */
    st = take_memory(s, s->model, &s->cache, &s->compute, &s->mtp, err);
    if (st != GG_OK && session_can_move(s->model, st) && session_has_lost(s) &&
        session_move(s, err))
        st = GG_OK;
    return st == GG_OK ? s->model->pipeline->call->begin(s, err) : st;
}

enum gg_status
session_new(const struct model *model, const struct gg_session_params *params,
            struct gg_session **out, struct gg_error *err)
{
    struct gg_session *s = NULL;
    struct gg_error own;
    enum gg_status st;

    err = err ? err : &own;
    st = check_params(model, params, err);
    if (st == GG_OK && model->pipeline->planned)
        st = error_set(err, GG_ERR_ARG,
                       "the model is a rank's of a pipeline that is planned, "
                       "and runs nowhere");
    if (st == GG_OK) {
        s = mem_zalloc(sizeof(*s));
        st = s ? GG_OK : error_nomem(err);
    }
    if (st == GG_OK) {
        set_sizes(s, model, params);
        st = fill_in(s, err);
    }
    if (st == GG_OK)
        *out = s;
    else
        gg_session_free(s);
    return st;
}

/* Compute buffers of all homes. */
static enum gg_status
measure_compute(const struct gg_session *s, uint64_t sizes[MODEL_MAX_HOMES],
                struct gg_error *err)
{
    const struct model *m = s->model;
    enum gg_status st = session_compute_measure(m, &s->cache, s->n_batch,
                                                s->n_segments, sizes, err);

    if (st != GG_OK || m->hp.n_mtp == 0)
        return st;
    return session_compute_measure_mtp(m, &s->cache, mtp_tokens(s),
                                       s->n_segments, sizes, err);
}

static struct gg_memory
memory_of(const struct gg_session *s, int home, uint64_t compute)
{
    uint64_t n = (uint64_t)s->cache.recurrent.n_snapshots;
    size_t row = session_recurrent_row_at(&s->cache, home);
    struct gg_memory m = { .weights = session_home_weights(s->model, home),
                           .cache = s->cache.homes[home].size,
                           .compute = compute,
                           .snapshots = n * row,
                           .n_snapshots = n };

    if (home == graph_home_of(s->model, s->model->hp.n_layer, MODEL_REST))
        graph_mtp_sizes(s->model, &s->cache, &m.mtp_weights, &m.mtp_cache);
    return m;
}

enum gg_status
session_memory_at(const struct model *model,
                  const struct gg_session_params *params,
                  struct gg_memory homes[MODEL_MAX_HOMES], struct gg_error *err)
{
    enum gg_status st = check_params(model, params, err);
    uint64_t compute[MODEL_MAX_HOMES] = { 0 };
    struct gg_session s;

    if (st != GG_OK)
        return st;
    set_sizes(&s, model, params);
    st = session_cache_init_dry(&s.cache, model, &s.form, s.n_slots, s.n_ctx,
                                s.n_batch, err);
    if (st == GG_OK)
        st = measure_compute(&s, compute, err);
    for (int i = 0; i < model->n_homes && st == GG_OK; i++)
        homes[i] = memory_of(&s, i, compute[i]);
    session_cache_clear(&s.cache);
    return st;
}

void
gg_session_free(struct gg_session *session)
{
    if (!session)
        return;
    session->model->pipeline->call->end(session); /* it borrows from the next */
    session_compute_clear(&session->mtp);
    session_compute_clear(&session->compute);
    session_profile_free(session->profile);
    session_cache_clear(&session->cache);
    session_batch_clear(&session->batch);
    session_batch_clear(&session->mtp_batch);
    session_free_model(session->spare);
    session_slots_clear(&session->slots);
    session_media_clear(&session->media);
    mem_free(session->called);
    mem_free(session->prefilled);
    mem_free(session->pools);
    mem_free(session->head);
    mem_free(session->head_row);
    mem_free(session);
}
