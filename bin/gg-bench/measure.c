/* measure.c - runs in turn, and the bounds of the machine around each */
#include <config.h>

#include <ggml.h>
#include <stdlib.h>
#include <string.h>

#include "common/ticker.h"
#include "gg-bench/bench.h"
#include "gg-bench/bounds.h"

enum {
    WARM_UP = 4, /* ids that are decoded before any run counts */
    PROBES = 2,  /* tries of the peak around each run */
};

/* Where all is computed by the CPU, its bounds can be measured. */
static bool
is_on_cpu(const struct bench_model *m)
{
    return gg_model_gpu_layers(m->model) == 0 &&
           strcmp(gg_model_device(m->model), "CPU") == 0;
}

/* The type of numbers that most products are computed in; products of F16 are
 * exact in f32. */
static const char *
product_type(const struct bench_model *m, bool bf16)
{
    switch (m->work.type) {
    case GGML_TYPE_F32:
        return "f32";
    case GGML_TYPE_F16:
        return bf16 ? "bf16" : "f32";
    case GGML_TYPE_BF16:
        return "bf16";
    default:
        return "int8";
    }
}

/* ---- the machine, around each run ---- */

static struct bench_bound
probe(const struct bench *b, const struct bench_setup *s)
{
    const struct bench_options *o = b->o;
    struct bench_bound bound = { o->bandwidth, o->peak };

    if (!is_on_cpu(s->model))
        return bound;
    if (bound.bandwidth <= 0)
        bound.bandwidth = bounds_read_rate(s->threads);
    if (bound.peak <= 0 && s->peak)
        bound.peak = bounds_peak_rate(s->peak, s->threads, PROBES);
    return bound;
}

/* Finds the products that bind, and the instructions whose peak is measured. */
static void
find_peaks(struct bench *b)
{
    const struct bench_options *o = b->o;
    bool reads = false;

    for (size_t i = 0; i < b->n_setups; i++) {
        struct bench_setup *s = &b->setups[i];

        s->product = product_type(s->model, o->engine.bf16);
        if (!is_on_cpu(s->model))
            continue;
        reads |= o->bandwidth <= 0;
        if (o->peak <= 0)
            s->peak = bounds_fastest(s->product, s->threads);
        if (s->peak)
            s->product = s->peak->what;
    }
    if (reads && !bounds_start() && !o->engine.quiet)
        cli_warn("there is too little memory to measure how fast it is read");
}

/* ---- a run ---- */

struct run {
    struct gg_session *session;
    const struct bench_model *model;
    int32_t n_vocab, batch;
    int32_t *ids; /* batch rows of cap */
    size_t cap;
    struct gg_chunk *chunks;
    float *out;   /* rows of logits, or an embedding */
    size_t n_out; /* values of a row */
    uint64_t state;
};

static int32_t
draw_id(struct run *r)
{
    r->state = r->state * UINT64_C(6364136223846793005) + 1;
    return (int32_t)((r->state >> 33) % (uint64_t)r->n_vocab);
}

/* Evaluates n[s] new ids of each sequence; seconds that they took. */
static double
eval_ids(struct run *r, const int32_t *n)
{
    size_t n_chunks = 0;
    int64_t start;
    struct gg_error err;

    for (int32_t s = 0; s < r->batch; s++) {
        struct gg_chunk *c = &r->chunks[n_chunks];
        int32_t *ids = r->ids + (size_t)s * r->cap;
        float *out = r->out + (size_t)s * r->n_out;

        for (int32_t i = 0; i < n[s]; i++)
            ids[i] = draw_id(r);
        *c = (struct gg_chunk){ .slot = s, .ids = ids, .n = (size_t)n[s] };
        if (r->model->is_encoder)
            c->embed = (struct gg_embedding){ .values = out };
        else
            c->rows.logits = out;
        n_chunks += n[s] > 0;
    }
    start = ggml_time_us();
    if (n_chunks) {
        enum gg_status st =
            gg_session_eval(r->session, r->chunks, n_chunks, &err);

        if (st != GG_OK)
            cli_die("%s: %s", r->model->path, err.message);
    }
    return (double)(ggml_time_us() - start) * 1e-6;
}

static double
eval_each(struct run *r, int32_t n)
{
    int32_t *each = cli_alloc(NULL, (size_t)r->batch, sizeof(*each));
    double seconds;

    for (int32_t s = 0; s < r->batch; s++)
        each[s] = n;
    seconds = eval_ids(r, each);
    free(each);
    return seconds;
}

/* Each sequence holds `depth` ids, of those before as many as can stay; others
 * hold none. */
static void
fill_depth(struct run *r, int32_t depth)
{
    int32_t *n = cli_alloc(NULL, (size_t)r->batch, sizeof(*n));
    int32_t n_slots = gg_session_n_slots(r->session);

    for (int32_t s = 0; s < n_slots; s++) {
        int32_t held = gg_session_length(r->session, s),
                stays = s >= r->batch  ? 0
                        : held < depth ? held
                                       : depth;

        held = gg_session_truncate(r->session, s, stays);
        if (s < r->batch)
            n[s] = depth - held;
    }
    eval_ids(r, n);
    free(n);
}

static void
start_run(struct run *r, const struct bench_result *result)
{
    const struct bench_test *t = &result->test;
    const struct bench_model *m = result->setup->model;
    int32_t longest = t->depth > t->prompt ? t->depth : t->prompt;
    size_t batch = (size_t)t->batch;

    *r = (struct run){
        .session = result->setup->session,
        .model = m,
        .n_vocab = gg_model_n_vocab(m->model),
        .batch = t->batch,
        .cap = longest > 0 ? (size_t)longest : 1,
        .state = 1,
    };
    r->n_out =
        (size_t)(m->is_encoder ? gg_model_vector_length(m->model, GG_POOL_MEAN)
                               : r->n_vocab);
    r->ids = cli_alloc(NULL, batch * r->cap, sizeof(*r->ids));
    r->chunks = cli_alloc(NULL, batch, sizeof(*r->chunks));
    r->out = cli_alloc(NULL, batch * r->n_out, sizeof(*r->out));
}

static void
end_run(struct run *r)
{
    free(r->ids);
    free(r->chunks);
    free(r->out);
}

/* Seconds of the test, without what comes before; a warm-up decodes less. */
static double
run_test(const struct bench_result *result, bool warm_up)
{
    const struct bench_test *t = &result->test;
    int32_t n = warm_up && t->generate > WARM_UP ? WARM_UP : t->generate;
    double seconds = 0;
    struct run r;

    start_run(&r, result);
    fill_depth(&r, t->depth);
    if (t->prompt)
        seconds += eval_each(&r, t->prompt);
    for (int32_t i = 0; i < n; i++)
        seconds += eval_each(&r, 1);
    end_run(&r);
    return seconds > 0 ? seconds : 1e-6;
}

/* ---- runs in turn ---- */

/* Between two runs of a setup it is measured once. */
struct probed {
    const struct bench_setup *setup;
    struct bench_bound bound;
};

static struct bench_bound
bound_before(const struct bench *b, const struct bench_setup *s,
             const struct probed *last)
{
    return last->setup == s ? last->bound : probe(b, s);
}

/* The first run tells whether memory or arithmetic binds the test. */
static void
keep_run(struct bench_result *r, double seconds,
         const struct bench_bound *bound)
{
    const struct bench_test *t = &r->test;
    double memory = 0, arithmetic = 0; /* seconds of phases that each binds */

    for (int i = 0; i < 2; i++) {
        double m = bound->bandwidth > 0 ? r->bytes[i] / bound->bandwidth : 0,
               a = bound->peak > 0 ? r->ops[i] / bound->peak : 0;

        memory += m >= a ? m * 1e-9 : 0;
        arithmetic += m < a ? a * 1e-9 : 0;
    }
    if (r->n == 0)
        r->is_memory = memory >= arithmetic;
    r->rates[r->n] = (double)(t->prompt + t->generate) * t->batch / seconds;
    r->fractions[r->n] = (memory + arithmetic) / seconds;
    r->bounds[r->n] = r->is_memory ? bound->bandwidth : bound->peak;
    r->n++;
}

/* For -v: in which order all is run. */
static void
tell_run(const struct bench *b, const struct bench_result *r, double seconds,
         const char *which, int n)
{
    const struct bench_test *t = &r->test;

    if (b->o->engine.verbose)
        cli_warn("%s %d: %s: prompt %d, generate %d, depth %d, batch %d: "
                 "%.3g s",
                 which, n, r->setup->model->path, (int)t->prompt,
                 (int)t->generate, (int)t->depth, (int)t->batch, seconds);
}

static void
run_once(const struct bench *b, struct bench_result *r, struct probed *last)
{
    struct bench_bound before = bound_before(b, r->setup, last), after, mean;
    double seconds = run_test(r, false);

    tell_run(b, r, seconds, "run", (int)r->n + 1);
    after = probe(b, r->setup);
    mean = (struct bench_bound){ (before.bandwidth + after.bandwidth) / 2,
                                 (before.peak + after.peak) / 2 };
    keep_run(r, seconds, &mean);
    *last = (struct probed){ r->setup, after };
}

static void
run_rounds(struct bench *b)
{
    uint64_t all = (uint64_t)b->n_results * (uint64_t)(b->o->runs + 1),
             done = 0;
    struct ticker ticker;

    ticker_start(&ticker, b->o->engine.quiet);
    for (int32_t round = -1; round < b->o->runs; round++) {
        struct probed last = { 0 };

        for (size_t i = 0; i < b->n_results; i++) {
            struct bench_result *r = &b->results[i];

            ticker_show_part(&ticker, done++, all, r->setup->model->path);
            if (round < 0)
                tell_run(b, r, run_test(r, true), "warm-up", 1);
            else
                run_once(b, r, &last);
        }
    }
    ticker_end(&ticker);
}

void
bench_run(struct bench *b)
{
    find_peaks(b);
    run_rounds(b);
    bounds_end();
}
