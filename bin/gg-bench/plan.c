/* plan.c - the models, the tests of each, and their sessions */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-bench/bench.h"

enum {
    DEFAULT_BATCH = 512,
};

/* ---- models ---- */

static void
open_model(struct bench_model *m, const char *name,
           const struct engine_options *o)
{
    struct gg_model_params params = engine_model_params(o);
    const char *path = cli_model(name, o->quiet);
    struct progress progress;
    struct gg_error err;
    enum gg_status st;

    m->path = cli_copy(path, strlen(path));
    bench_work(m->path, &m->work);
    params.progress = progress_show;
    params.progress_data = &progress;
    progress_start(&progress, o->quiet);
    st = gg_model_open(m->path, &params, &m->model, &err);
    progress_end(&progress);
    if (st == GG_ERR_ARG) /* an option, the environment */
        cli_misuse("%s", err.message);
    cli_check(st, &err);
    m->is_encoder = gg_model_is_encoder(m->model);
    if (gg_model_note(m->model) && !o->quiet)
        cli_warn("%s", gg_model_note(m->model));
    if (o->verbose)
        cli_warn("%s: computing on %s: %s", m->path, gg_model_device(m->model),
                 gg_model_device_description(m->model));
}

static const char *
last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* A model has its file's name, or its path, if another one is called so. */
static void
name_model(const struct bench *b, struct bench_model *m)
{
    m->name = last_part(m->path);
    for (size_t i = 0; i < b->n_models; i++)
        if (&b->models[i] != m &&
            strcmp(last_part(b->models[i].path), last_part(m->path)) == 0)
            m->name = m->path;
}

/* ---- what is run ---- */

static void
add_result(struct bench *b, struct bench_setup *s, struct bench_test test)
{
    size_t runs = (size_t)b->o->runs;

    b->results = cli_alloc(b->results, b->n_results + 1, sizeof(*b->results));
    b->results[b->n_results++] = (struct bench_result){
        .setup = s,
        .test = test,
        .rates = cli_alloc(NULL, runs, sizeof(double)),
        .fractions = cli_alloc(NULL, runs, sizeof(double)),
        .bounds = cli_alloc(NULL, runs, sizeof(double)),
    };
}

/* An encoder evaluates texts as a whole, and decodes nothing. */
static void
add_test(struct bench *b, struct bench_setup *s, struct bench_test test)
{
    if (test.prompt + test.generate == 0 ||
        (s->model->is_encoder && (test.generate || test.depth)))
        return;
    add_result(b, s, test);
}

static void
add_tests(struct bench *b, struct bench_setup *s, int32_t depth, int32_t batch)
{
    const struct bench_options *o = b->o;

    for (size_t i = 0; i < o->prompts.n; i++)
        add_test(b, s, (struct bench_test){ o->prompts.p[i], 0, depth, batch });
    for (size_t i = 0; i < o->counts.n; i++)
        add_test(b, s, (struct bench_test){ 0, o->counts.p[i], depth, batch });
    for (size_t i = 0; i < o->both[0].n; i++)
        add_test(b, s,
                 (struct bench_test){ o->both[0].p[i], o->both[1].p[i], depth,
                                      batch });
}

static void
add_setup_tests(struct bench *b, struct bench_setup *s)
{
    const struct bench_options *o = b->o;
    size_t before = b->n_results;

    for (size_t i = 0; i < o->depths.n; i++)
        for (size_t k = 0; k < o->batches.n; k++)
            add_tests(b, s, o->depths.p[i], o->batches.p[k]);
    if (b->n_results == before)
        cli_die("%s: an encoder: only -p with -d 0 measures it",
                s->model->path);
}

/* A list that may be empty, which then counts as one value: 0. */
static size_t
count_values(const struct bench_list *list)
{
    return list->n ? list->n : 1;
}

/* Setup i of a model: threads change fastest, then types of values, of keys. */
static struct bench_setup
nth_setup(const struct bench *b, const struct bench_model *m, size_t i)
{
    const struct bench_options *o = b->o;
    struct bench_setup s = { .model = m, .cache = o->engine.cache };
    size_t n = o->threads.n;

    s.threads = o->threads.p[i % n];
    i /= n;
    n = count_values(&o->values);
    s.cache.values = o->values.n ? o->values.p[i % n] + 1 : 0;
    i /= n;
    n = count_values(&o->keys);
    s.cache.keys = o->keys.n ? o->keys.p[i % n] + 1 : 0;
    s.cache.type = (enum gg_cache_type)o->types.p[i / n];
    return s;
}

static void
plan_tests(struct bench *b)
{
    const struct bench_options *o = b->o;
    size_t each = o->threads.n * count_values(&o->values) *
                  count_values(&o->keys) * o->types.n;

    b->n_setups = b->n_models * each;
    b->setups = cli_alloc(NULL, b->n_setups, sizeof(*b->setups));
    for (size_t i = 0; i < b->n_setups; i++)
        b->setups[i] = nth_setup(b, &b->models[i / each], i % each);
    for (size_t i = 0; i < b->n_setups; i++)
        add_setup_tests(b, &b->setups[i]);
}

/* ---- sessions ---- */

/* Parameters of a session, without its sizes. */
static struct gg_session_params
session_params(const struct bench *b, const struct bench_setup *s)
{
    struct gg_session_params params = gg_session_params_default();

    params.n_batch =
        b->o->engine.n_batch ? b->o->engine.n_batch : DEFAULT_BATCH;
    params.n_threads = s->threads;
    params.bf16 = b->o->engine.bf16;
    engine_set_cache(&params, &s->cache);
    return params;
}

static void
warn_user(void *data, const char *sentence)
{
    (void)data;
    cli_warn("%s", sentence);
}

static void
start_session(const struct bench *b, struct bench_setup *s)
{
    struct gg_session_params params = session_params(b, s);
    struct gg_error err;
    enum gg_status st;

    for (size_t i = 0; i < b->n_results; i++) {
        const struct bench_test *t = &b->results[i].test;
        int32_t ctx = t->depth + t->prompt + t->generate;

        if (b->results[i].setup != s)
            continue;
        params.n_ctx = ctx > params.n_ctx ? ctx : params.n_ctx;
        params.n_slots = t->batch > params.n_slots ? t->batch : params.n_slots;
    }
    if (!b->o->engine.quiet)
        params.warn = warn_user; /* of a GPU that failed */
    st = gg_session_new(s->model->model, &params, &s->session, &err);
    if (st == GG_ERR_ARG)
        cli_misuse("%s: %s", s->model->path, err.message);
    if (st == GG_ERR_NOMEM)
        cli_die("%s: no memory for %d sequence%s of %d ids: less of -p, -n, -d "
                "or -b fits",
                s->model->path, (int)params.n_slots,
                params.n_slots == 1 ? "" : "s", (int)params.n_ctx);
    if (st != GG_OK)
        cli_die("%s: %s", s->model->path, err.message);
}

/* ---- the least that a run takes ---- */

/* Bytes of the KV cache that `batch` sequences of n ids hold. */
static double
cache_bytes(const struct bench *b, const struct bench_setup *s, int32_t n,
            int32_t batch)
{
    struct gg_session_params params = session_params(b, s);
    struct gg_memory memory;

    params.n_ctx = n > 0 ? n : 1;
    params.n_slots = batch;
    params.n_batch = 1;
    if (gg_model_memory(s->model->model, &params, &memory, NULL) != GG_OK)
        return 0;
    return (double)memory.cache;
}

/* A prompt reads the weights once a batch of ids, decoding once an id of each
 * sequence; either reads what the cache holds. */
static void
count_work(const struct bench *b, struct bench_result *r)
{
    const struct bench_test *t = &r->test;
    const struct bench_work *w = &r->setup->model->work;
    int64_t n_batch = session_params(b, r->setup).n_batch,
            ids = (int64_t)t->prompt * t->batch;
    double n = (double)t->generate,
           evals = (double)((ids + n_batch - 1) / n_batch);

    if (t->prompt) {
        r->bytes[0] = evals * (w->bytes + cache_bytes(b, r->setup,
                                                      t->depth + t->prompt / 2,
                                                      t->batch));
        r->ops[0] = (double)ids * w->ops + t->batch * w->output_ops;
    }
    if (t->generate) {
        r->bytes[1] =
            n * (w->bytes + cache_bytes(b, r->setup,
                                        t->depth + t->prompt + t->generate / 2,
                                        t->batch));
        r->ops[1] = n * t->batch * (w->ops + w->output_ops);
    }
}

void
bench_plan(struct bench *b, const struct bench_options *o)
{
    *b = (struct bench){ .o = o, .n_models = o->n_models };
    b->models = cli_alloc(NULL, b->n_models, sizeof(*b->models));
    for (size_t i = 0; i < b->n_models; i++)
        open_model(&b->models[i], o->models[i], &o->engine);
    for (size_t i = 0; i < b->n_models; i++)
        name_model(b, &b->models[i]);
    plan_tests(b);
    for (size_t i = 0; i < b->n_setups; i++)
        start_session(b, &b->setups[i]);
    for (size_t i = 0; i < b->n_results; i++)
        count_work(b, &b->results[i]);
}

void
bench_free(struct bench *b)
{
    for (size_t i = 0; i < b->n_results; i++) {
        free(b->results[i].rates);
        free(b->results[i].fractions);
        free(b->results[i].bounds);
    }
    for (size_t i = 0; i < b->n_setups; i++)
        gg_session_free(b->setups[i].session);
    for (size_t i = 0; i < b->n_models; i++) {
        gg_model_free(b->models[i].model);
        free(b->models[i].path);
    }
    free(b->results);
    free(b->setups);
    free(b->models);
}
