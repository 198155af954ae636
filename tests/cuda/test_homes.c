/* test_homes.c - a model on several GPUs, some of which are lost
 *
 * What they compute is what the CPU computes. A device that was lost stays so:
 * each case takes the next ones. */
#include "api/model.h"
#include "core/mem.h"
#include "cuda/fake.h"
#include "session/move.h"
#include "session/session.h"
#include "harness/session_test.h"

enum {
    CTX = 300,
    N_IDS = 60,
    LAYERS = 8,
};

ggml_backend_reg_t
ggml_backend_init(void);

static int32_t ids[N_IDS];
static int n_said;
static char said[600];

static void
hear(void *data, const char *sentence)
{
    (void)data;
    n_said++;
    snprintf(said, sizeof(said), "%s", sentence);
}

static bool
has_said(int times, const char *end)
{
    size_t n = strlen(said), m = strlen(end);
    bool right = n_said == times && n >= m && !strcmp(said + n - m, end);

    if (!right)
        printf("# %d times, the last: %s\n", n_said, said);
    return right;
}

static struct gg_model *
open_on_cpu(const char *name, unsigned n_layer)
{
    struct gg_model_params params = { .device = "cpu" };
    struct model_spec spec;
    struct gg_model *m;

    if (!models_named(name, &spec))
        exit(99);
    spec.n_layer = (int)n_layer;
    if (!models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    return m;
}

/* ---- devices ------------------------------------------------------------- */

static int first; /* that nothing has happened to yet */

static ggml_backend_dev_t
device(int i)
{
    return ggml_backend_reg_dev_get(ggml_backend_reg_by_name("CUDA"),
                                    (size_t)(first + i));
}

/* Loads on n devices from `first` on, with layers[i] layers on device i. */
static enum gg_status
load_on(const struct gg_model *m, int n, const int32_t *layers,
        struct gg_model_params params, struct model **out)
{
    struct model_files files = { .file = &m->file };
    struct model_devices devices = { .n = n };

    for (int i = 0; i < n; i++)
        devices.list[i] = device(i);
    params.device_layers = layers;
    params.n_device_layers = (size_t)n;
    n_said = 0;
    return session_load_model(&files, &devices, &params, out, &err);
}

static struct gg_session *
session_on(const struct model *m)
{
    struct gg_session_params p = {
        .n_ctx = CTX, .n_slots = 2, .n_batch = 32, .warn = hear
    };
    struct gg_session *s;

    must(session_new(m, &p, &s, &err));
    return s;
}

static const char *
name_of(int i)
{
    static char text[4][64];
    static int next;
    char *to = text[next++ % 4];

    snprintf(to, sizeof(text[0]), ": its layers move to CUDA%d", first + i);
    return to;
}

/* Logits after each quarter of the ids, in slot 1; before quarter i, device
 * lose[i] is lost, if it is not -1. */
static bool
goes_on(struct gg_session *s, const int lose[4], float truth[4][V])
{
    bool right = true;
    float out[V];

    for (int i = 0; i < 4; i++) {
        if (lose[i] >= 0)
            fake_lose_one(first + lose[i], true);
        eval_ids(s, 1, ids, i * N_IDS / 4, (i + 1) * N_IDS / 4, out);
        right = right && same(out, truth[i]);
    }
    fake_lose(false);
    return right;
}

static void
find_truth(const struct gg_model *m, float truth[4][V])
{
    struct gg_session *s = session_on(m->model);

    for (int i = 0; i < 4; i++)
        eval_ids(s, 1, ids, i * N_IDS / 4, (i + 1) * N_IDS / 4, truth[i]);
    gg_session_free(s);
}

/* ---- cases --------------------------------------------------------------- */

/* A run with losses: n_sentences messages, the last of which ends with end. */
static void
try_losses(const struct gg_model *m, int n, const int32_t *layers,
           struct gg_model_params params, const int lose[4], int n_sentences,
           const char *end, const char *what)
{
    struct model *there;
    struct gg_session *s;
    float truth[4][V];

    find_truth(m, truth);
    must(load_on(m, n, layers, params, &there));
    s = session_on(there);
    ok(goes_on(s, lose, truth), what);
    ok(has_said(n_sentences, end), "and what is said");
    gg_session_free(s);
    session_free_model(there);
    first += n;
}

static void
test_dense(const struct gg_model *m)
{
    static const int32_t layers[] = { 2, 2, 2 };
    struct gg_model_params any = { 0 };

    try_losses(m, 3, layers, any, (int[]){ -1, 1, -1, -1 }, 1, name_of(2),
               "one in the middle");
    try_losses(m, 3, layers, any, (int[]){ -1, 2, 1, 0 }, 3,
               ": the CPU computes", "one after the other");
}

static void
test_experts(const struct gg_model *m)
{
    static const int32_t layers[] = { 3, 4 };
    struct gg_model_params some = { .cpu_experts = 2 };

    try_losses(m, 2, layers, some, (int[]){ 0, -1, -1, -1 }, 1, name_of(1),
               "experts on the CPU");
}

/* Devices that are named: one is lost, then the other, and none is left. */
static void
test_named(const struct gg_model *m)
{
    static const int32_t layers[] = { 3, 3 };
    struct gg_model_params named = { .device = "cuda" };
    struct gg_chunk c = { .ids = ids, .n = 1 };
    struct model *there;
    struct gg_session *s;
    float truth[4][V];

    find_truth(m, truth);
    must(load_on(m, 2, layers, named, &there));
    s = session_on(there);
    ok(goes_on(s, (int[]){ -1, 1, -1, -1 }, truth), "named: the same bytes");
    ok(has_said(1, name_of(0)), "named: to the one that is left");
    fake_lose_one(first, true);
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_IO && n_said == 1,
       "then there is none, and an error");
    fake_lose(false);
    gg_session_free(s);
    session_free_model(there);
    first += 2;
}

/* All but `but` bytes of device i. */
static ggml_backend_buffer_t
fill_up(int i, size_t but)
{
    size_t available, total;

    ggml_backend_dev_memory(device(i), &available, &total);
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(device(i)), available - but);
}

static void
test_full(const struct gg_model *m)
{
    static const int32_t layers[] = { 3, 3 };
    ggml_backend_buffer_t buffer;
    struct model *there;
    struct gg_session *s;
    float truth[4][V];

    find_truth(m, truth);
    must(load_on(m, 2, layers, (struct gg_model_params){ 0 }, &there));
    s = session_on(there);
    buffer = fill_up(1, 1 << 16);
    ok(goes_on(s, (int[]){ -1, -1, 0, -1 }, truth),
       "the next has no room: the same bytes");
    ok(has_said(1, ": its layers move to the CPU"), "to the CPU");
    gg_session_free(s);
    session_free_model(there);
    ggml_backend_buffer_free(buffer);
    first += 2;
}

/* Weights that are where they were are not copied again. */
static void
test_copies(const struct gg_model *m)
{
    static const int32_t layers[] = { 1, 6 };
    model_home_set lost = 1 << 1;
    struct model *there, *other;
    size_t before;

    must(load_on(m, 2, layers, (struct gg_model_params){ 0 }, &there));
    before = fake.bytes_in;
    must(session_move_model(there, &lost, CTX, &other, &err));
    ok(other->n_homes == 2 && graph_device_layers(other) == 7 &&
           fake.bytes_in - before < session_home_weights(there, 2) / 3,
       "what is there is not copied again");
    session_free_model(other);
    session_free_model(there);
}

/* Memory, or the device, is not what it seemed to be. */
static void
test_load(const struct gg_model *m)
{
    static const int32_t layers[] = { 3, 3, 2 };
    ggml_backend_buffer_t buffer = fill_up(1, 1 << 12);
    float truth[4][V];
    struct model *there;
    struct gg_session *s;
    char end[80];

    find_truth(m, truth);
    must(load_on(m, 3, layers, (struct gg_model_params){ 0 }, &there));
    snprintf(end, sizeof(end), "on CUDA%d%s", first + 1, name_of(2));
    ok(strstr(there->note, end), "no memory at load");
    s = session_on(there);
    ok(goes_on(s, (int[]){ -1, -1, -1, -1 }, truth), "the same bytes");
    gg_session_free(s);
    session_free_model(there);
    ok(load_on(m, 3, layers, (struct gg_model_params){ .device = "cuda" },
               &there) == GG_ERR_NOMEM,
       "what was requested of named ones is not made less");
    ggml_backend_buffer_free(buffer);
    first += 3;
}

/* Wherever memory is short while layers move, the session goes on, or says from
 * then on why it does not. The device stays as one that has failed. */
static void
test_no_memory(const struct gg_model *m)
{
    static const int32_t layers[] = { LAYERS };
    struct gg_chunk c = { .ids = ids, .n = 5 };
    int n = 0, n_dead = 0;
    bool right = true, moved = false;
    struct model *there;
    struct gg_session *s;

    must(load_on(m, 1, layers, (struct gg_model_params){ 0 }, &there));
    s = session_on(there);
    fake_lose_one(first, true);
    must(gg_session_eval(s, &c, 1, &err));
    fake_lose(false);
    gg_session_free(s);
    for (; !moved; n++) {
        s = session_on(there);
        mem_fail_after(n);
        moved = gg_session_eval(s, &c, 1, &err) == GG_OK;
        mem_fail_after(-1);
        if (gg_session_n_slots(s) == 0) {
            n_dead++;
            right = right && !moved && gg_session_truncate(s, 0, 1) == 0 &&
                    gg_session_eval(s, &c, 1, &err) == GG_ERR_IO &&
                    gg_session_used(s) == 0;
        } else {
            right = right && gg_session_eval(s, &c, 1, NULL) == GG_OK;
        }
        gg_session_free(s);
    }
    ok(right && n_dead > 10, "without memory to move, an error that stays");
    printf("# %d allocations, %d times dead\n", n, n_dead);
    session_free_model(there);
    first++;
}

int
main(void)
{
    struct gg_model *dense, *mixture;

    fake_machine("devices=16 memory=64");
    ggml_backend_register(ggml_backend_init());
    fill_ids(ids, N_IDS);
    dense = open_on_cpu("llama-q8_0", LAYERS);
    mixture = open_on_cpu("qwen2moe-q8_0", LAYERS);
    test_copies(dense);
    test_dense(dense);
    test_load(dense);
    test_experts(mixture);
    test_named(dense);
    test_full(dense);
    test_no_memory(dense);
    gg_model_free(mixture);
    gg_model_free(dense);
    return tap_done();
}
