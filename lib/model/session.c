/* session.c - sequences of ids in slots, and their evaluation */
#include "model/session.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/thread.h"
#include "model/arch.h"
#include "model/head.h"
#include "model/recurrent.h"
#include "model/session_impl.h"

enum {
    DEFAULT_BATCH = 512,
    MAX_BATCH = 1 << 16,
    MAX_SLOTS = 1 << 16,
    MAX_CTX = 1 << 28,
    MAX_SEGMENTS = 64,
    FEW = 17, /* ids of a chunk: one and its drafts */
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
    [GG_CACHE_F16] = GGML_TYPE_F16,
    [GG_CACHE_F32] = GGML_TYPE_F32,
    [GG_CACHE_Q8_0] = GGML_TYPE_Q8_0,
};

/* A head's keys and values are whole blocks of the type. */
static enum gg_status
check_type(const struct model_hparams *hp, enum gg_cache_type kind,
           struct gg_error *err)
{
    enum ggml_type type;

    if ((unsigned)kind >= sizeof(cache_types) / sizeof(cache_types[0]))
        return error_set(err, GG_ERR_ARG,
                         "a cache is of type f16, f32 or q8_0");
    type = cache_types[kind];
    for (int32_t i = 0; i < 2 * hp->n_layer; i++) {
        const struct model_layer_hparams *l = &hp->layers[i / 2];
        int32_t d = i % 2 ? l->d_value : l->d_key;

        if (model_keeps(hp, i / 2) && d % ggml_blck_size(type))
            return error_set(err, GG_ERR_ARG,
                             "a cache of type %s takes multiples of %d; the "
                             "model's heads have a length of %d",
                             ggml_type_name(type), (int)ggml_blck_size(type),
                             (int)d);
    }
    return GG_OK;
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
        st = ERROR_RESERVED(p, err);
    return st == GG_OK ? check_type(&model->hp, p->cache_type, err) : st;
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
    s->type_kv = cache_types[p->cache_type];
    s->n_ctx = or_default(p->n_ctx, model->hp.n_ctx_train);
    s->n_slots = or_default(p->n_slots, 1);
    s->n_batch = or_default(p->n_batch, DEFAULT_BATCH);
    /* no more than all sequences have room for */
    if (s->n_batch / s->n_slots >= s->n_ctx)
        s->n_batch = s->n_ctx * s->n_slots;
    if (model->hp.encoder) {
        s->n_batch = min_i32(s->n_ctx, MAX_BATCH);
        s->type_kv = GGML_TYPE_F32; /* little, and nothing is lost */
    }
    s->n_segments = min_i32(min_i32(s->n_slots, s->n_batch), MAX_SEGMENTS);
}

/* Keys, values and buffers, where the model is. On failure both are empty. */
static enum gg_status
take_memory(const struct gg_session *s, const struct model *model,
            struct cache *cache, struct compute *compute, struct gg_error *err)
{
    const struct gg_session_params *p = &s->params;
    int threads = or_default(p->n_threads, thread_count_default());
    enum gg_status st = model_cache_init(cache, model, s->type_kv, s->n_slots,
                                         s->n_ctx, s->n_batch, err);

    if (st != GG_OK)
        return st;
    st = model_compute_init(compute, model, cache, s->n_batch, s->n_segments,
                            threads, p->abort, p->abort_data, err);
    if (st != GG_OK) {
        model_cache_clear(cache);
        return st;
    }
    model_compute_round(compute, p->bf16);
    model_compute_watch(compute, p->watch, p->watch_data);
    if (s->profile)
        model_compute_profile(compute, s->profile->counters);
    return GG_OK;
}

static void
say_moved(const struct gg_session *s, const struct gg_error *why)
{
    char text[sizeof(why->message) + 32];

    snprintf(text, sizeof(text), "%s: the CPU computes", why->message);
    if (s->params.warn)
        s->params.warn(s->params.warn_data, text);
}

/* The GPU has failed at `why`; nothing of its memory is used again. On failure
 * all stays as it is. */
static bool
move_to_cpu(struct gg_session *s, const struct gg_error *why)
{
    struct model *model;
    struct cache cache;
    struct compute compute;

    if (model_on_cpu(s->model, &model, NULL) != GG_OK)
        return false;
    if (take_memory(s, model, &cache, &compute, NULL) != GG_OK) {
        model_free(model);
        return false;
    }
    model_compute_clear(&s->compute);
    model_cache_clear(&s->cache);
    s->compute = compute;
    s->cache = cache;
    s->model = s->spare = model;
    model_slots_lose(&s->slots);
    say_moved(s, why);
    return true;
}

/* One that only has too little memory does; the caller may ask for less. */
static bool
answers(const struct model *model)
{
    size_t available, total;

    ggml_backend_dev_memory(model_device(model), &available, &total);
    return total > 0;
}

static enum gg_status
fill_in(struct gg_session *s, struct gg_error *err)
{
    const struct gg_session_params *p = &s->params;
    bool keep = model_can_move(s->model, GG_ERR_IO) && !p->watch;
    enum gg_status st;

    s->called = mem_array((size_t)s->n_slots, sizeof(*s->called));
    s->prefilled = mem_array((size_t)s->n_slots, sizeof(*s->prefilled));
    if (!model_slots_init(&s->slots, s->n_slots, keep) || !s->called ||
        !s->prefilled ||
        !model_batch_init(&s->batch, s->n_batch, s->n_segments, &s->model->hp))
        return error_nomem(err);
    if (p->profile) {
        s->profile = model_session_profile_new(
            or_default(p->n_threads, thread_count_default()));
        if (!s->profile)
            return error_nomem(err);
    }
    st = take_memory(s, s->model, &s->cache, &s->compute, err);
    if (st != GG_OK && model_can_move(s->model, st) && !answers(s->model) &&
        move_to_cpu(s, err))
        st = GG_OK;
    return st;
}

enum gg_status
model_session_new(const struct model *model,
                  const struct gg_session_params *params,
                  struct gg_session **out, struct gg_error *err)
{
    struct gg_session *s = NULL;
    struct gg_error own;
    enum gg_status st;

    err = err ? err : &own;
    st = check_params(model, params, err);
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

static uint64_t
size_of_all(const struct ggml_context *ctx)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    uint64_t n = 0;

    for (; t; t = ggml_get_next_tensor(ctx, t))
        n += ggml_nbytes(t);
    return n;
}

static uint64_t
weights_size(const struct model *model)
{
    uint64_t n = 0;

    for (int i = 0; i < model->n_homes; i++)
        n += size_of_all(model->homes[i].ctx);
    return n;
}

enum gg_status
model_session_memory(const struct model *model,
                     const struct gg_session_params *params,
                     struct gg_memory *out, struct gg_error *err)
{
    enum gg_status st = check_params(model, params, err);
    struct gg_session s;
    size_t compute = 0;

    if (st != GG_OK)
        return st;
    set_sizes(&s, model, params);
    st = model_cache_init_dry(&s.cache, model, s.type_kv, s.n_slots, s.n_ctx,
                              s.n_batch, err);
    if (st == GG_OK)
        st = model_compute_measure(model, &s.cache, s.n_batch, s.n_segments,
                                   &compute, err);
    if (st == GG_OK)
        *out = (struct gg_memory){ .weights = weights_size(model),
                                   .cache = model_cache_size(&s.cache),
                                   .compute = compute };
    if (st == GG_OK)
        out->n_snapshots = (uint64_t)s.cache.recurrent.n_snapshots;
    if (st == GG_OK)
        out->snapshots = out->n_snapshots * model_recurrent_row_size(&s.cache);
    model_cache_clear(&s.cache);
    return st;
}

void
gg_session_free(struct gg_session *session)
{
    if (!session)
        return;
    model_compute_clear(&session->compute);
    model_session_profile_free(session->profile);
    model_cache_clear(&session->cache);
    model_batch_clear(&session->batch);
    model_free(session->spare);
    model_slots_clear(&session->slots);
    mem_free(session->called);
    mem_free(session->prefilled);
    mem_free(session->pools);
    mem_free(session->head);
    mem_free(session->head_row);
    mem_free(session);
}

/* ---- evaluation --------------------------------------------------------- */

static enum gg_status
check_id(const struct gg_session *s, int32_t id, struct gg_error *err)
{
    int32_t n_vocab = s->model->hp.n_vocab;

    if (id >= 0 && id < n_vocab)
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "id %d is not in 0..%d", (int)id,
                     (int)n_vocab - 1);
}

static enum gg_status
check_ids(const struct gg_session *s, const struct gg_chunk *c,
          struct gg_error *err)
{
    size_t n_next = !c->scores.next    ? 0
                    : c->scores.n_next ? c->scores.n_next
                                       : 1;
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n_next && st == GG_OK; i++)
        st = check_id(s, c->scores.next[i], err);
    for (size_t i = 0; i < c->n && st == GG_OK; i++)
        st = check_id(s, c->ids[i], err);
    return st;
}

/* What an encoder cannot be asked for. */
static enum gg_status
check_encoder(const struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    if (!s->model->hp.encoder)
        return GG_OK;
    if (c->rows.logits || c->rows.best || c->scores.logprobs)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s is a family of encoders: they make embeddings and "
                         "no logits",
                         s->model->arch->name);
    if (s->slots.length[c->slot])
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "an encoder takes a text in one chunk");
    return GG_OK;
}

static enum gg_status
check_room(const struct gg_session *s, const struct gg_chunk *c,
           struct gg_error *err)
{
    int32_t held = s->slots.length[c->slot];

    if (c->n <= (size_t)(s->n_ctx - held))
        return GG_OK;
    return error_set(err, GG_ERR_CONTEXT,
                     "context is full: %d ids and %zu more are above the limit "
                     "of %d (-c raises it%s)",
                     (int)held, c->n, (int)s->n_ctx,
                     s->model->position_embd ? ", up to the model's own" : "");
}

/* What is given, and where results go. */
static enum gg_status
check_results(const struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    size_t n_best = !c->rows.best ? 0 : c->rows.n_last ? c->rows.n_last : 1;
    size_t n_vocab = (size_t)s->model->hp.n_vocab;

    if (!c->ids)
        return error_null(err);
    if (c->embed.values && (unsigned)c->embed.pooling > GG_POOL_NONE)
        return error_set(err, GG_ERR_ARG, "an embedding of no known pooling");
    if (c->embed.values && c->embed.pooling == GG_POOL_RANK &&
        s->model->rank.n == 0)
        return error_set(
            err, GG_ERR_UNSUPPORTED,
            "the file has no classifier (cls.output): no reranker");
    for (size_t i = 0; i < n_best; i++) {
        const struct gg_best *b = &c->rows.best[i];

        if (b->k && (!b->ids || !b->logits))
            return error_null(err);
        if (b->k > n_vocab)
            return error_set(err, GG_ERR_ARG, "the %zu likeliest of %zu ids",
                             b->k, n_vocab);
    }
    return GG_OK;
}

static enum gg_status
check_chunk(struct gg_session *s, const struct gg_chunk *c,
            struct gg_error *err)
{
    enum gg_status st;

    if (c->slot < 0 || c->slot >= s->n_slots)
        return error_set(err, GG_ERR_ARG, "slot %d is not in 0..%d",
                         (int)c->slot, (int)s->n_slots - 1);
    if (s->called[c->slot] == s->call)
        return error_set(err, GG_ERR_ARG, "slot %d is named twice",
                         (int)c->slot);
    s->called[c->slot] = s->call;
    if (c->n == 0)
        return error_set(err, GG_ERR_ARG, "a chunk without ids");
    if (c->rows.n_last > c->n || c->scores.first > c->n)
        return error_set(err, GG_ERR_ARG, "a chunk has no %zu ids",
                         c->rows.n_last > c->n ? c->rows.n_last
                                               : c->scores.first);
    st = ERROR_RESERVED(c, err);
    if (st == GG_OK)
        st = check_results(s, c, err);
    if (st == GG_OK)
        st = check_ids(s, c, err);
    if (st == GG_OK)
        st = check_encoder(s, c, err);
    if (st == GG_OK)
        st = check_room(s, c, err);
    if (st == GG_OK && !model_slots_keep(&s->slots, c))
        st = error_nomem(err);
    return st;
}

/* Vectors that it has in s->pools. */
static size_t
n_pools(const struct gg_chunk *c)
{
    if (!c->embed.values)
        return 0;
    return c->embed.pooling == GG_POOL_NONE ? c->n : 1;
}

/* Puts as much of the chunks as there is room for in the batch; *chunk and
 * *done (ids of it that are evaluated) move on. */
static void
next_batch(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
           size_t *chunk, size_t *done)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, vectors = 0;
    int32_t taken = 1;

    for (size_t i = 0; i < *chunk; i++)
        vectors += n_pools(&chunks[i]);

    model_batch_start(&s->batch);
    while (*chunk < n_chunks && taken) {
        const struct gg_chunk *c = &chunks[*chunk];

        taken = model_batch_add(&s->batch, &s->cache, c, *done,
                                s->slots.there[c->slot] + (int32_t)*done,
                                s->pools ? s->pools + vectors * n_embd : NULL);
        *done += (size_t)taken;
        if (*done == c->n) {
            vectors += n_pools(c);
            *done = 0;
            ++*chunk;
        }
    }
    model_batch_finish(&s->batch);
}

/* Each sequence goes on by one id, or some get more. */
static enum gg_profile_phase
phase_of(const struct batch *b)
{
    return b->n_tokens == b->n_segments ? GG_PROFILE_DECODE
                                        : GG_PROFILE_PREFILL;
}

static enum gg_status
run_batch(struct gg_session *s, struct gg_error *err)
{
    enum gg_status st;

    model_session_profile_start(s->profile, phase_of(&s->batch));
    st = model_compute_run(&s->compute, &s->cache, &s->batch, err);
    model_session_profile_stop(s->profile);
    return st;
}

/* The batch has been evaluated. */
static void
count_evaluated(struct gg_session *s)
{
    const struct batch *b = &s->batch;

    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *x = &b->segments[i];

        model_cache_evaluated(&s->cache, x->slot,
                              b->positions[x->first + x->n - 1] + 1);
    }
}

/* Behind what the cache has of their slots. */
static enum gg_status
run_chunks(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t chunk = 0, done = 0;

    while (chunk < n_chunks && st == GG_OK) {
        next_batch(s, chunks, n_chunks, &chunk, &done);
        st = run_batch(s, err);
        if (st == GG_OK)
            count_evaluated(s);
    }
    return st;
}

/* What the slot holds, and the cache has not, is evaluated again. */
static enum gg_status
catch_up(struct gg_session *s, int32_t slot, struct gg_error *err)
{
    struct gg_chunk missing;
    enum gg_status st;

    if (!model_slots_missing(&s->slots, slot, &missing))
        return GG_OK;
    st = run_chunks(s, &missing, 1, err);
    if (st == GG_OK)
        s->slots.there[slot] = s->slots.length[slot];
    return st;
}

/* Sums of nothing, where some chunk wants an embedding. */
static bool
start_pools(struct gg_session *s, const struct gg_chunk *chunks,
            size_t n_chunks)
{
    size_t n = 0;

    for (size_t i = 0; i < n_chunks; i++)
        n += n_pools(&chunks[i]) * (size_t)s->model->hp.n_embd;
    if (n == 0)
        return true;
    if (!mem_grow(&s->pools, &s->cap_pools, n, sizeof(*s->pools)))
        return false;
    memset(s->pools, 0, n * sizeof(*s->pools));
    return true;
}

/* What follows the pooling of the chunk. */
static const struct model_head *
head_of(const struct gg_session *s, const struct gg_chunk *c)
{
    static const struct model_head none;

    if (c->embed.pooling == GG_POOL_NONE)
        return &none;
    return c->embed.pooling == GG_POOL_RANK ? &s->model->rank
                                            : &s->model->dense;
}

/* Room for a vector and for two of the head's, which is longer at times. */
static bool
room_for_heads(struct gg_session *s)
{
    const struct model *m = s->model;
    int32_t a = model_head_room(&m->dense, m->hp.n_embd);
    int32_t b = model_head_room(&m->rank, m->hp.n_embd);
    size_t n = (size_t)(a > b ? a : b);

    return mem_grow(&s->head, &s->cap_head, 2 * n, sizeof(*s->head)) &&
           mem_grow(&s->head_row, &s->cap_head_row, n, sizeof(*s->head_row));
}

/* One vector: the mean, and what follows it. */
static void
finish_pool(struct gg_session *s, const struct gg_chunk *c, const double *pool,
            float *to)
{
    const struct model_hparams *hp = &s->model->hp;
    const struct model_head *head = head_of(s, c);
    bool mean =
        c->embed.pooling == GG_POOL_MEAN ||
        (c->embed.pooling == GG_POOL_RANK && hp->rank_pooling == GG_POOL_MEAN);
    int32_t n = model_head_length(head, hp->n_embd);

    for (int32_t j = 0; j < hp->n_embd; j++)
        s->head[j] = pool[j] / (mean ? (double)c->n : 1);
    model_head_apply(head, hp->eps, s->head, s->head + s->cap_head / 2,
                     s->head_row);
    for (int32_t j = 0; j < n; j++)
        to[j] = (float)s->head[j];
}

static bool
finish_pools(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, at = 0;

    if (!room_for_heads(s))
        return false;
    for (size_t i = 0; i < n_chunks; i++)
        for (size_t j = 0; j < n_pools(&chunks[i]); j++, at += n_embd)
            finish_pool(s, &chunks[i], s->pools + at,
                        chunks[i].embed.values + j * n_embd);
    return true;
}

/* Recurrent layers can go back to where a prompt has ended, and to before what
 * may be rejected. */
static void
keep_snapshots(struct gg_session *s, const struct gg_chunk *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t slot = chunks[i].slot;

        if (s->prefilled[slot] || chunks[i].n > 1)
            model_recurrent_keep(&s->cache, slot,
                                 !s->prefilled[slot] && chunks[i].n <= FEW);
        s->prefilled[slot] = chunks[i].n > FEW;
    }
}

static void
find_nothing(const struct gg_chunk *c)
{
    for (size_t i = 0;
         c->rows.best && i < (c->rows.n_last ? c->rows.n_last : 1); i++)
        c->rows.best[i].n = 0;
}

static enum gg_status
evaluate(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
         struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n_chunks && st == GG_OK; i++) {
        find_nothing(&chunks[i]);
        st = catch_up(s, chunks[i].slot, err);
    }
    keep_snapshots(s, chunks, n_chunks);
    if (st == GG_OK && !start_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    if (st == GG_OK)
        st = run_chunks(s, chunks, n_chunks, err);
    if (st == GG_OK && !finish_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    return st;
}

/* A failed call may have made windowed layers give up keys that are needed to
 * go on from where the slots were. */
static void
keep_what_is_left(struct gg_session *s)
{
    for (int32_t i = 0; i < s->n_slots; i++) {
        int32_t there = s->slots.there[i];
        int32_t kept = model_cache_kept(&s->cache, i, there);

        s->slots.there[i] = kept;
        model_cache_cut(&s->cache, i, kept);
        if (kept < there && !s->slots.kept)
            s->slots.length[i] = kept;
    }
}

enum gg_status
gg_session_eval(struct gg_session *session, const struct gg_chunk *chunks,
                size_t n_chunks, struct gg_error *err)
{
    struct gg_session *s = session;
    enum gg_status st = GG_OK;
    struct gg_error own;

    err = err ? err : &own;
    if (!session || (!chunks && n_chunks))
        return error_null(err);
    s->call++;
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        st = check_chunk(s, &chunks[i], err);
    if (st != GG_OK)
        return st;
    st = evaluate(s, chunks, n_chunks, err);
    if (s->slots.kept && model_can_move(s->model, st) && move_to_cpu(s, err))
        st = evaluate(s, chunks, n_chunks, err);
    if (st == GG_OK)
        for (size_t i = 0; i < n_chunks; i++)
            model_slots_add(&s->slots, &chunks[i]);
    else
        keep_what_is_left(s);
    return st;
}
