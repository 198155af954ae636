/* test_overlap.c - ranks of a pipeline evaluate texts at the same time, each
 * other ones, and what is drawn is what one process draws
 *
 * Four ranks on few processors cannot show throughput: here they compute on a
 * device that sleeps, a time for each layer, and logs when. What counts is the
 * order of what is logged. */
#include <gg-engine.h>
#include <ggml.h>
#include <pthread.h>
#include <time.h>

#include "fixtures/ranks.h"
#include "fixtures/ref_device.h"
#include "harness/session_test.h"

enum {
    RANKS = 4,
    N_TEXTS = 8,
    N_MADE = 6,
    PROMPT = 4, /* of all texts one batch */
    LAYERS = 8,
    ID_MS = 5, /* of a layer */
    MAX_LOG = 4096,
    ENOUGH = 1 << 30, /* bytes */
};

static int32_t ids[N_TEXTS * PROMPT];

/* ---- the log ------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    struct event {
        int32_t rank, slept;
        bool ends;
        double ms;
    } events[MAX_LOG];
    int n;
} sleeps = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double
now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* How long its layers take: as with many texts, each id of each takes a while.
 * A layer writes keys and values to the cache. */
static int32_t
time_of(struct ggml_cgraph *graph)
{
    int64_t n = 0;

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *t = ggml_graph_node(graph, i);

        if (t->op == GGML_OP_SET_ROWS)
            n += t->src[1]->ne[0];
    }
    return (int32_t)n / 2 * ID_MS;
}

static void
watch_layers(struct ggml_cgraph *graph, bool ends)
{
    int32_t ms = time_of(graph);
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    if (ms == 0) /* what comes before and after */
        return;
    if (ends)
        nanosleep(&t, NULL);
    pthread_mutex_lock(&sleeps.lock);
    if (sleeps.n < MAX_LOG)
        sleeps.events[sleeps.n++] =
            (struct event){ ranks_own, ms, ends, now_ms() };
    pthread_mutex_unlock(&sleeps.lock);
}

/* ---- texts --------------------------------------------------------------- */

static struct job {
    struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
    struct gg_sampler *sampler;
    struct gg_sequence *sequences[N_TEXTS];
    struct gg_text *texts[N_TEXTS];
} job;

static void
begin_texts(void)
{
    struct gg_sampler_params p = gg_sampler_params_default();

    p.seed = 7;
    p.temperature = 2;
    job.session = new_session(
        job.model, (struct gg_session_params){
                       .n_ctx = 64, .n_slots = N_TEXTS, .n_threads = 1 });
    must(gg_engine_new(job.model, job.session, NULL, &job.engine, &err));
    must(gg_sampler_new(&p, &job.sampler, &err));
    for (int i = 0; i < N_TEXTS; i++) {
        struct gg_text_params t = { .sampler = job.sampler,
                                    .sequence = (uint64_t)i,
                                    .max_ids = N_MADE,
                                    .ignore_eog = true };

        must(gg_sequence_new(job.engine, &job.sequences[i], &err));
        must(gg_sequence_put(job.sequences[i], ids + i * PROMPT, PROMPT, &err));
        must(gg_text_new(job.sequences[i], &t, &job.texts[i], &err));
    }
}

static void
end_texts(int32_t made[N_TEXTS][N_MADE])
{
    for (int i = 0; i < N_TEXTS; i++) {
        size_t n;
        const int32_t *p = gg_text_ids(job.texts[i], &n);

        memset(made[i], -1, sizeof(made[i]));
        memcpy(made[i], p, n * sizeof(*p));
        gg_text_free(job.texts[i]);
        gg_sequence_free(job.sequences[i]);
    }
    gg_sampler_free(job.sampler);
    gg_engine_free(job.engine);
    gg_session_free(job.session);
}

/* In n sets, which are under way as far as the engine has them so. */
static void
make_texts(int n, int32_t made[N_TEXTS][N_MADE])
{
    size_t each = (size_t)(N_TEXTS / n);

    begin_texts();
    for (int i = 0; i < n; i++)
        must(gg_engine_begin(job.engine, job.texts + (size_t)i * each, each,
                             &err));
    for (int k = 0; k < N_MADE; k++)
        for (int i = 0; i < n; i++) {
            struct gg_text **set = job.texts + (size_t)i * each;

            must(gg_engine_step(job.engine, set, each, &err));
            if (k < N_MADE - 1)
                must(gg_engine_begin(job.engine, set, each, &err));
        }
    end_texts(made);
}

/* ---- what the log says --------------------------------------------------- */

static void
print_log(void)
{
    for (int i = 0; i < sleeps.n && i < 64; i++)
        printf("# %7.1f ms: rank %d %s %d ms\n",
               sleeps.events[i].ms - sleeps.events[0].ms,
               (int)sleeps.events[i].rank,
               sleeps.events[i].ends ? "has slept" : "begins to sleep",
               (int)sleeps.events[i].slept);
}

/* How many ranks compute at a time at most, and what they sleep in the mean,
 * together, of the time from the first to the last event. */
static int
most_at_once(double *mean)
{
    int now = 0, most = 0;
    double sum = 0;

    for (int i = 0; i < sleeps.n; i++) {
        const struct event *e = &sleeps.events[i];

        sum += e->ends ? e->slept : 0;
        now += e->ends ? -1 : 1;
        most = now > most ? now : most;
    }
    *mean = sum / (sleeps.events[sleeps.n - 1].ms - sleeps.events[0].ms);
    return most;
}

/* When a rank begins, or ends, its k-th evaluation: which event that is. */
static int
event_of(int32_t rank, bool ends, int k)
{
    for (int i = 0; i < sleeps.n; i++)
        if (sleeps.events[i].rank == rank && sleeps.events[i].ends == ends &&
            k-- == 0)
            return i;
    return MAX_LOG;
}

static struct gg_model *
open_ranks(void)
{
    struct gg_model *m;

    ranks_begin(RANKS, NULL, scratch_path());
    ranks.params = (struct gg_model_params){ .gpu_layers = LAYERS };
    ranks_start();
    must(ranks_open(&m, &err));
    return m;
}

/* Time that a pipeline takes: a step of a set passes all ranks before its next
 * one begins. */
static int
by_formula(int n_sets)
{
    int stage = LAYERS / RANKS * N_TEXTS / n_sets * ID_MS;
    int most = n_sets > RANKS ? n_sets : RANKS;
    int least = n_sets < RANKS ? n_sets : RANKS;

    return (N_MADE * most + least - 1) * stage;
}

/* Returns how long they took. */
static double
run_ranks(int n_sets, int32_t made[N_TEXTS][N_MADE])
{
    double mean, ms;
    int most;

    sleeps.n = 0;
    job.model = open_ranks();
    make_texts(n_sets, made);
    gg_model_free(job.model);
    ok(ranks_end() == RANKS - 1, "the ranks serve to the end");
    most = most_at_once(&mean);
    ms = sleeps.events[sleeps.n - 1].ms - sleeps.events[0].ms;
    printf("# sets of texts: %d; %.0f ms, by the formula %d; %d ranks at once, "
           "%.1f in the mean\n",
           n_sets, ms, by_formula(n_sets), most, mean);
    is(sleeps.n, 2 * N_MADE * n_sets * RANKS, "each rank computes each set");
    if (n_sets == 1) {
        is(most, 1, "one set is with one rank at a time");
        return ms;
    }
    ok(most == RANKS, "all ranks compute at once");
    ok(mean > 1.25, "and mostly more than one does");
    ok(event_of(0, false, RANKS - 2) < event_of(RANKS - 1, false, 0),
       "rank 0 begins the third set before the last rank begins the first");
    ok(event_of(0, false, RANKS) < event_of(RANKS - 1, true, RANKS - 1),
       "and the first one's next step before the last one is through");
    if (tap_failed)
        print_log();
    return ms;
}

/* ---- a device for the layers of a rank ----------------------------------- */

/* Has memory for most of the model, and so for all of a rank's part. */
static void
test_fit(void)
{
    struct gg_model *m;
    uint64_t size = 0;
    FILE *f = fopen(scratch_path(), "rb");

    if (f && fseek(f, 0, SEEK_END) == 0)
        size = (uint64_t)ftell(f);
    if (f)
        fclose(f);
    ref_device.memory = size * 6 / 7; /* of which an eighth stays free */
    must(gg_model_open(scratch_path(), NULL, &m, &err));
    ok(gg_model_note(m) && strstr(gg_model_note(m), " of 8 layers"),
       "one process has no room for all layers");
    gg_model_free(m);
    ranks_begin(2, "4,4", scratch_path());
    ranks.params = (struct gg_model_params){ 0 };
    ranks_start();
    must(ranks_open(&m, &err));
    is(gg_model_note(m), (const char *)NULL, "a rank has room for its own");
    gg_model_free(m);
    is(ranks_end(), 1, "and so has the other");
    ref_device.memory = size / 3;
    ranks_begin(2, "4,4", scratch_path());
    ranks.params = (struct gg_model_params){ 0 };
    ranks_start();
    must(ranks_open(&m, &err));
    ok(gg_model_note(m) && strstr(gg_model_note(m), " of 4 layers"),
       "of which some may be the CPU's");
    gg_model_free(m);
    ranks_end();
    ref_device.memory = ENOUGH;
}

int
main(void)
{
    struct model_spec spec = { "llama", .n_head = 2, .n_layer = LAYERS,
                               .seed = 5, .n_ctx = 64 };
    double alone;
    static int32_t one[N_TEXTS][N_MADE], many[N_TEXTS][N_MADE];

    fill_ids(ids, N_TEXTS * PROMPT);
    ref_device.type = GGML_BACKEND_DEVICE_TYPE_GPU;
    ref_device.memory = ENOUGH;
    ggml_backend_register(ref_device_reg());
    if (!models_write(&spec, scratch_path()))
        return 99;
    must(gg_model_open(scratch_path(),
                       &(struct gg_model_params){ .gpu_layers = LAYERS },
                       &job.model, &err));
    make_texts(1, one);
    is(gg_engine_overlap(NULL), 1, "one process has one set");
    make_texts(4, many);
    ok(!memcmp(one, many, sizeof(one)), "in sets, the same is drawn");
    gg_model_free(job.model);
    test_fit();
    ref_device.watch = watch_layers;
    alone = run_ranks(1, many);
    ok(!memcmp(one, many, sizeof(one)), "ranks draw the same");
    ok(run_ranks(RANKS, many) < alone, "sets that are under way take less");
    ok(!memcmp(one, many, sizeof(one)), "and draw the same");
    tap_done();
    return 0;
}
