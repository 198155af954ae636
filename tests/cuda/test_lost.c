/* test_lost.c - a GPU is lost, and sessions go on as if it had not been
 *
 * What it computed is what the CPU computes. A device that was lost stays so:
 * each case takes the next one. */
#include "api/model.h"
#include "cuda/fake.h"
#include "session/model.h"
#include "session/session.h"
#include "harness/session_test.h"

enum {
    SLOTS = 3,
    CTX = 700,
    STEPS = 60,
};

ggml_backend_reg_t
ggml_backend_init(void);

static const char *name = "auto"; /* of the device, as the user says it */
static int n_said;
static char said[600];

static void
hear(void *data, const char *sentence)
{
    (void)data;
    n_said++;
    snprintf(said, sizeof(said), "%s", sentence);
}

/* On the CPU. */
static struct gg_model *
open_model(const struct model_spec *spec)
{
    struct gg_model_params params = { .device = "cpu" };
    struct gg_model *m;

    if (!models_write(spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    return m;
}

/* The model on a device that nothing has happened to yet. */
static struct model *
load_on_next(const struct gg_model *m)
{
    static size_t n_used;
    struct gg_model_params params = { .device = name };
    ggml_backend_dev_t dev =
        ggml_backend_reg_dev_get(ggml_backend_reg_by_name("CUDA"), n_used++);
    struct model_files files = { .file = &m->file };
    struct model *out;

    must(session_load_model(&files, &(struct model_devices){ { dev }, 1 },
                            &params, &out, &err));
    n_said = 0;
    return out;
}

static struct gg_session *
session_on(const struct model *m, struct gg_session_params p)
{
    struct gg_session *s;

    p.n_slots = SLOTS;
    p.n_ctx = CTX;
    p.n_batch = 64;
    p.cache_type = GG_CACHE_F16;
    p.warn = hear;
    must(session_new(m, &p, &s, &err));
    return s;
}

/* ---- whatever was done before, and after -------------------------------- */

/* Ids that each slot should hold. */
static int32_t held[SLOTS][CTX];
static int n_held[SLOTS];
static uint32_t state;

static int
next_random(int below)
{
    state = state * 1664525 + 1013904223;
    return (int)((state >> 8) % (uint32_t)below);
}

/* Some more ids in two slots, with what their sessions have given up. */
static void
add_some(struct gg_session *s, float *out)
{
    struct gg_chunk chunks[2] = { { 0 } };
    int first = next_random(SLOTS);

    for (int i = 0; i < 2; i++) {
        int slot = (first + i) % SLOTS, n = 1 + next_random(i ? 3 : 150);
        int there = gg_session_length(s, slot);

        if (n_held[slot] + n > CTX)
            there = n_held[slot] = gg_session_truncate(s, slot, 0);
        while (n--)
            held[slot][n_held[slot]++] = next_random(V);
        chunks[i] = (struct gg_chunk){ .slot = slot,
                                       .ids = held[slot] + there,
                                       .n = (size_t)(n_held[slot] - there),
                                       .rows.logits = out + i * V };
    }
    must(gg_session_eval(s, chunks, 2, &err));
}

static bool
do_step(struct gg_session *s, float *out)
{
    int what = next_random(4), slot = next_random(SLOTS);
    int other = next_random(SLOTS), n = next_random(n_held[slot] + 1), got;

    if (what == 0) {
        got = gg_session_truncate(s, slot, n);
        n_held[slot] = n;
        return got == 0 || got == n;
    }
    if (what == 1) {
        got = gg_session_copy(s, other, slot, n);
        memmove(held[other], held[slot], (size_t)n * sizeof(held[0][0]));
        n_held[other] = n;
        return got == 0 || got == n;
    }
    add_some(s, out);
    return true;
}

/* The device is lost before step `at`; the logits of each go to out. */
static bool
do_steps(struct gg_session *s, int at, float (*out)[2 * V])
{
    bool good = true;

    state = 99;
    memset(n_held, 0, sizeof(n_held));
    memset(out, 0, STEPS * sizeof(*out));
    for (int i = 0; i < STEPS; i++) {
        if (i == at)
            fake_lose(true);
        good = do_step(s, out[i]) && good;
    }
    fake_lose(false);
    return good;
}

static void
test_steps(const struct gg_model *m, const char *what)
{
    static const int times[] = { 0, 7, 20, 33, 45 };
    static float truth[STEPS][2 * V], out[STEPS][2 * V];
    struct gg_session *s =
        session_on(m->model, (struct gg_session_params){ 0 });
    bool good = do_steps(s, -1, truth), all = true;

    gg_session_free(s);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct model *there = load_on_next(m);

        s = session_on(there, (struct gg_session_params){ 0 });
        good = do_steps(s, times[i], out) && good;
        all = all && n_said == 1 && !memcmp(out, truth, sizeof(out));
        gg_session_free(s);
        session_free_model(there);
    }
    ok(all, what);
    ok(good, "slots hold what they should");
}

/* ---- one at a time ------------------------------------------------------ */

static int32_t ids[400];

static bool
stop_at_zero(void *data)
{
    int *countdown = data;

    return *countdown >= 0 && (*countdown)-- == 0;
}

/* A signal comes while what a slot held is evaluated again. */
static void
test_abort(const struct gg_model *m, const float *truth)
{
    struct model *there = load_on_next(m);
    int countdown = -1;
    struct gg_session *s = session_on(
        there, (struct gg_session_params){ .abort = stop_at_zero,
                                           .abort_data = &countdown });
    struct gg_chunk c = { .slot = 1, .ids = ids + 390, .n = 1 };
    float out[V];

    eval_ids(s, 1, ids, 0, 390, NULL);
    fake_lose(true);
    countdown = 40;
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ABORTED && countdown < 0,
       "what is evaluated again can be aborted");
    fake_lose(false);
    is(gg_session_length(s, 1), 390, "the slot still holds its ids");
    is(gg_session_copy(s, 0, 1, 380), 380, "and they can be copied");
    eval_ids(s, 1, ids, 390, 400, out);
    ok(same(out, truth), "it goes on as if nothing had been");
    eval_ids(s, 0, ids, 380, 400, out);
    ok(same(out, truth), "as does the copy");
    ok(n_said == 1 && strstr(said, "CUDA") &&
           strstr(said, ": the CPU computes"),
       "it was said once");
    gg_session_free(s);
    session_free_model(there);
}

/* The likeliest and log-probabilities are the CPU's, too. */
static void
test_outputs(const struct gg_model *m)
{
    struct model *there = load_on_next(m);
    struct gg_session *a = session_on(there, (struct gg_session_params){ 0 });
    struct gg_session *b =
        session_on(m->model, (struct gg_session_params){ 0 });
    float probs[2][99], best_logits[2][3];
    int32_t best_ids[2][3];
    struct gg_best best[2] = {
        { .k = 3, .ids = best_ids[0], .logits = best_logits[0] },
        { .k = 3, .ids = best_ids[1], .logits = best_logits[1] },
    };
    struct gg_chunk c = { .ids = ids, .n = 100 };

    c.rows.best = &best[0];
    c.scores.logprobs = probs[0];
    must(gg_session_eval(b, &c, 1, &err));
    c.rows.best = &best[1];
    c.scores.logprobs = probs[1];
    fake_lose(true);
    must(gg_session_eval(a, &c, 1, &err));
    fake_lose(false);
    ok(best[0].n == 3 && best[1].n == 3 &&
           !memcmp(best_ids[0], best_ids[1], sizeof(best_ids[0])) &&
           !memcmp(best_logits[0], best_logits[1], sizeof(best_logits[0])) &&
           best[0].log_sum_exp == best[1].log_sum_exp &&
           !memcmp(probs[0], probs[1], sizeof(probs[0])),
       "the likeliest, and log-probabilities");
    gg_session_free(a);
    gg_session_free(b);
    session_free_model(there);
}

static void
test_new(const struct gg_model *m, const float *truth)
{
    struct model *there = load_on_next(m);
    struct gg_session *s;
    float out[V];

    fake_lose(true);
    s = session_on(there, (struct gg_session_params){ 0 });
    is(n_said, 1, "lost before a session begins");
    eval_ids(s, 0, ids, 0, 400, out);
    ok(same(out, truth), "it is one of the CPU's");
    fake_lose(false);
    gg_session_free(s);
    session_free_model(there);
}

static bool
watch(struct ggml_tensor *t, bool ask, void *data)
{
    (void)t;
    (void)data;
    return !ask;
}

static void
test_kept(const struct gg_model *m, gg_watch_callback watch_or_null,
          const char *what)
{
    struct model *there = load_on_next(m);
    struct gg_session *s =
        session_on(there, (struct gg_session_params){ .watch = watch_or_null });
    struct gg_chunk c = { .ids = ids + 100, .n = 1 };

    eval_ids(s, 0, ids, 0, 100, NULL);
    fake_lose(true);
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_IO && n_said == 0 &&
           strstr(err.message, "illegal memory access"),
       what);
    ok(gg_session_eval(s, &c, 1, NULL) == GG_ERR_IO &&
           gg_session_length(s, 0) == 100,
       "that stays");
    fake_lose(false);
    gg_session_free(s);
    session_free_model(there);
}

static void
set_window(struct gguf_context *gguf)
{
    gguf_set_val_u32(gguf, "llama.attention.sliding_window", 40);
}

int
main(void)
{
    struct model_spec spec = { "llama", .n_head = 2, .n_layer = 2, .seed = 9,
                               .n_ctx = CTX };
    struct gg_model *m;
    float truth[V];

    fake_machine("devices=16 memory=64");
    ggml_backend_register(ggml_backend_init());
    fill_ids(ids, 400);
    spec.spoil = set_window;
    m = open_model(&spec);
    test_steps(m, "windowed: the same bytes, and one sentence");
    gg_model_free(m);
    spec.spoil = NULL;
    m = open_model(&spec);
    in_steps(m, gg_session_params_default(), ids, 400, 400, truth);
    test_steps(m, "all keys: the same bytes, and one sentence");
    test_abort(m, truth);
    test_outputs(m);
    test_new(m, truth);
    test_kept(m, watch, "where somebody watches, an error");
    name = "cuda:15";
    test_kept(m, NULL, "where the GPU was asked for, an error");
    gg_model_free(m);
    return tap_done();
}
