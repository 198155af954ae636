/* test_training.c - gradients and steps
 *
 * Truth: torch in float64, by fixtures/golden_runs.py. Then that threads,
 * windows and rows at once change nothing, or nothing but rounding. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixtures/golden_runs.h"
#include "fixtures/models.h"
#include "gguf/reader.h"
#include "harness/tap.h"
#include "session/model.h"
#include "train/train.h"

enum {
    LENGTH = 48,
    MAX_VALUES = 1 << 20,
};

static struct gg_error err;
static const char path[] = "training.gguf";

/* ---- runs ---------------------------------------------------------------- */

struct trained {
    struct gguf_file file;
    struct model *model;
    struct train_run *run;
};

static void
must(enum gg_status st)
{
    if (st == GG_OK)
        return;
    printf("Bail out! %s\n", err.message);
    exit(99);
}

static void
write_model(const char *name)
{
    struct model_spec spec;

    if (!models_named(name, &spec) || !models_write(&spec, path))
        exit(99);
}

/* As golden_runs.py's some_ids(). */
static void
add_sequence(struct trained *t, int n, int start)
{
    int32_t ids[256];

    for (int i = 0; i < n; i++) {
        int k = i + start;

        ids[i] = (k * 37 + k * k * 11) % MODELS_N_VOCAB;
    }
    must(train_run_add(t->run, GG_TRAIN_SET, ids, NULL, (size_t)n, &err));
    must(train_run_add(t->run, GG_TRAIN_HELD_OUT, ids, NULL, (size_t)n, &err));
}

static void
start(struct trained *t, const struct gg_train_params *p)
{
    static const struct gg_model_params plain;
    ggml_backend_dev_t cpu =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    must(gguf_file_open(path, GGUF_OPEN_ALL, &t->file, &err));
    must(session_load_model(&(struct model_files){ .file = &t->file },
                            &(struct model_devices){ { cpu }, 1 }, &plain,
                            &t->model, &err));
    must(train_run_new(t->model, p, &t->run, &err));
}

static void
finish(struct trained *t)
{
    train_run_free(t->run);
    session_free_model(t->model);
    gguf_file_close(&t->file);
}

/* ---- truth --------------------------------------------------------------- */

static const struct train_param *
param_named(const struct train_run *run, const char *name)
{
    for (size_t i = 0; i < run->params.n; i++)
        if (strcmp(run->params.p[i].weight->name, name) == 0)
            return &run->params.p[i];
    return NULL;
}

static double
element(const struct ggml_tensor *t, int i)
{
    int64_t n = ggml_nelements(t);

    return (double)((const float *)t->data)[((int64_t)i * 7919 + 13) % n];
}

struct nmse {
    double error, all;
};

static void
add_elements(struct nmse *e, const struct ggml_tensor *t, const double *want)
{
    for (int i = 0; i < GOLDEN_ELEMENTS; i++) {
        double d = element(t, i) - want[i];

        e->error += d * d;
        e->all += want[i] * want[i];
    }
}

static double
norm_of(const struct ggml_tensor *t)
{
    const float *x = t->data;
    double sum = 0;

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* An adapter as golden_runs.py has it. */
static void
set_pair(const struct train_param *p)
{
    float *x = p->weight->data;
    bool a = strstr(p->weight->name, "lora_a") != NULL;

    for (int64_t i = 0; i < ggml_nelements(p->weight); i++)
        x[i] = (float)(0.1 * (a ? sin((double)i * 0.7 + 1)
                                : cos((double)i * 1.3 + 2)));
}

static void
compare_gradients(const struct golden_run *g, const struct train_run *run)
{
    struct nmse e = { 0, 0 };
    int missing = 0, norms = 0;

    for (int i = 0; i < g->n_params; i++) {
        const struct train_param *p = param_named(run, g->params[i].name);

        if (!p) {
            missing++;
            continue;
        }
        add_elements(&e, p->grad, g->params[i].gradient);
        if (!(fabs(norm_of(p->grad) / g->params[i].norm - 1) < 1e-5)) {
            printf("# %s: norm %g, not %g\n", g->params[i].name,
                   norm_of(p->grad), g->params[i].norm);
            norms++;
        }
    }
    is(missing, 0, "all have gradients");
    is(norms, 0, "of the right norms");
    printf("# NMSE of gradients %.3g\n", e.error / e.all);
    ok(e.error / e.all < 1e-9, "and the right elements");
}

static void
compare_weights(const struct golden_run *g, const struct train_run *run)
{
    struct nmse e = { 0, 0 };

    for (int i = 0; i < g->n_params; i++) {
        const struct train_param *p = param_named(run, g->params[i].name);

        if (p)
            add_elements(&e, p->weight, g->params[i].weight);
    }
    printf("# NMSE of weights after %d steps %.3g\n", GOLDEN_STEPS,
           e.error / e.all);
    ok(e.error / e.all < 1e-9, "weights after the last step");
}

static void
test_golden(const struct golden_run *g)
{
    struct gg_train_params p = {
        .n_ctx = LENGTH,
        .batch = 1,
        .n_steps = GOLDEN_STEPS,
        .rank = g->rank,
        .alpha = 12,
        .rate = 3e-3,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-6,
        .decay = 0.1,
        .clip = -1,
        .schedule = GG_TRAIN_CONSTANT,
        .in_order = true,
        .n_threads = 2,
    };
    struct trained t;
    double worst = 0;

    printf("# %s, rank %d\n", g->model, g->rank);
    write_model(g->model);
    start(&t, &p);
    add_sequence(&t, 23, 0);
    add_sequence(&t, 17, 100);
    must(train_run_start(t.run, &err));
    for (size_t i = 0; g->rank > 0 && i < t.run->params.n; i++)
        set_pair(&t.run->params.p[i]);
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        struct gg_train_report r;

        must(train_run_step(t.run, &r, &err));
        worst = fmax(worst, fabs(r.loss / g->losses[i] - 1));
        if (i == 0)
            compare_gradients(g, t.run);
    }
    printf("# losses differ by %.3g\n", worst);
    ok(worst < 1e-5, "losses of all steps");
    compare_weights(g, t.run);
    finish(&t);
}

/* ---- what must not matter ------------------------------------------------ */

/* Some steps on more rows; the weights go to `out`, how many is returned. */
static size_t
train(const struct gg_train_params *p, float *out, struct gg_train_memory *m)
{
    struct trained t;
    struct gg_train_report r;
    size_t n = 0;

    start(&t, p);
    for (int i = 0; i < 9; i++)
        add_sequence(&t, 20 + 11 * i % 40, 30 * i);
    must(train_run_start(t.run, &err));
    *m = train_run_memory(t.run);
    for (int i = 0; i < 3; i++)
        must(train_run_step(t.run, &r, &err));
    for (size_t i = 0; i < t.run->params.n; i++) {
        const struct ggml_tensor *w = t.run->params.p[i].weight;
        size_t k = (size_t)ggml_nelements(w);

        if (n + k > MAX_VALUES)
            exit(99);
        memcpy(out + n, w->data, k * sizeof(*out));
        n += k;
    }
    finish(&t);
    return n;
}

static double
difference(const float *a, const float *b, size_t n)
{
    double e = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        e += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        all += (double)a[i] * a[i];
    }
    return e / all;
}

static void
test_indifference(const char *name, int rank)
{
    static float a[MAX_VALUES], b[MAX_VALUES];
    struct gg_train_params p = { .n_ctx = LENGTH,
                                 .batch = 4,
                                 .n_steps = 3,
                                 .rank = rank,
                                 .rate = 1e-3,
                                 .n_threads = 1 };
    struct gg_train_memory whole, cut, other;
    size_t n;

    printf("# %s, rank %d\n", name, rank);
    write_model(name);
    n = train(&p, a, &whole);
    is(whole.n_windows, 1, "one window");
    p.n_threads = 3;
    train(&p, b, &other);
    ok(memcmp(a, b, n * sizeof(*a)) == 0, "threads: the same bytes");
    p.memory_limit = whole.activations * 3 / 4;
    train(&p, b, &cut);
    ok(cut.n_windows > 1, "less memory: windows");
    ok(cut.activations <= p.memory_limit, "which take no more");
    ok(memcmp(a, b, n * sizeof(*a)) == 0, "the same bytes");
    p.memory_limit = 0;
    p.at_once = 3;
    train(&p, b, &other);
    printf("# rows at once: NMSE %.3g\n", difference(a, b, n));
    ok(difference(a, b, n) < 1e-9, "rows at once: the same but for rounding");
}

/* ---- what a checkpoint belongs to ---------------------------------------- */

static uint64_t
fingerprint_of(const struct gg_train_params *p)
{
    struct trained t;
    uint64_t print;

    start(&t, p);
    add_sequence(&t, 40, 0);
    must(train_run_start(t.run, &err));
    print = t.run->place.fingerprint;
    finish(&t);
    return print;
}

/* Each option that results depend on changes the fingerprint of a run, by which
 * its checkpoint is known; others do not. */
static void
test_fingerprint(void)
{
    static const struct gg_train_params base = { .n_ctx = 32, .measure = true };
    struct change {
        const char *name;
        struct gg_train_params p;
    };
#define CHANGE(field, value)                                                   \
    {                                                                          \
#field,                                                                \
        {                                                                      \
            .n_ctx = 32, .measure = true, .field = value                       \
        }                                                                      \
    }
    static const struct change changes[] = {
        { "n_ctx", { .n_ctx = 33, .measure = true } },
        CHANGE(batch, 4),
        CHANGE(at_once, 2),
        CHANGE(rank, 2),
        { "alpha", { .n_ctx = 32, .measure = true, .rank = 2, .alpha = 7 } },
        { "targets",
          { .n_ctx = 32, .measure = true, .rank = 2, .targets = "attn_q" } },
        CHANGE(optimizer, GG_TRAIN_MUON),
        CHANGE(rate, 0.001),
        CHANGE(matrix_rate, 0.001),
        CHANGE(beta1, 0.5),
        CHANGE(beta2, 0.5),
        CHANGE(epsilon, 1e-4),
        CHANGE(decay, 0.1),
        CHANGE(clip, 2),
        CHANGE(schedule, GG_TRAIN_LINEAR),
        CHANGE(warm_up, 1),
        CHANGE(fall, 1),
        CHANGE(least_rate, 0.1),
        CHANGE(in_order, true),
        CHANGE(init, true),
        CHANGE(seed, 1),
        CHANGE(seed, UINT64_C(1) << 63),
    };
    enum {
        N_CHANGES = sizeof(changes) / sizeof(changes[0])
    };
    struct gg_train_params same = base;
    uint64_t first, prints[N_CHANGES];

    write_model("llama-f32");
    first = fingerprint_of(&base);
    same.n_threads = 3;
    same.memory_limit = 1 << 30;
    same.n_steps = 7;
    ok(fingerprint_of(&same) == first,
       "threads, memory and steps do not count");
    for (int i = 0; i < N_CHANGES; i++) {
        bool is_new = true;

        prints[i] = fingerprint_of(&changes[i].p);
        for (int k = 0; k < i; k++)
            is_new = is_new && prints[k] != prints[i];
        ok(is_new && prints[i] != first, changes[i].name);
    }
}

/* ---- what is written ----------------------------------------------------- */

/* Whether a run of a rank writes an adapter. */
static bool
writes_adapter(int rank)
{
    const struct gg_train_params p = { .n_ctx = LENGTH,
                                       .batch = 1,
                                       .n_steps = 1,
                                       .rank = rank,
                                       .rate = 1e-3,
                                       .n_threads = 1 };
    FILE *f = tmpfile();
    struct gguf_context *g;
    struct trained t;
    int64_t key;
    bool is;

    if (!f)
        exit(99);
    start(&t, &p);
    add_sequence(&t, LENGTH, 0);
    must(train_run_start(t.run, &err));
    must(train_run_write(t.run, f, &err));
    rewind(f);
    g = gguf_init_from_file_ptr(f, (struct gguf_init_params){ true, NULL });
    key = g ? gguf_find_key(g, "general.type") : -1;
    is = key >= 0 && strcmp(gguf_get_val_str(g, key), "adapter") == 0;
    gguf_free(g);
    fclose(f);
    finish(&t);
    return is;
}

static void
test_written(void)
{
    write_model("llama-f32");
    ok(!writes_adapter(0), "all parameters are a model");
    ok(writes_adapter(1), "those of a rank of 1 an adapter");
}

int
main(void)
{
    size_t n = sizeof(golden_runs) / sizeof(golden_runs[0]);

    for (size_t i = 0; i < n; i++)
        test_golden(&golden_runs[i]);
    test_indifference("llama-f32", 0);
    test_indifference("llama-q8_0", 4);
    test_fingerprint();
    test_written();
    unlink(path);
    return tap_done();
}
