/* test_adapter.c - LoRA adapters and control vectors: against the merged model
 * in double precision, and in batches
 *
 * Bounds of the reference as in test_families.c: NMSE 1e-9 with a cache of
 * floats. */
#include "adapter_test.h"
#include "fixtures/ref_device.h"
#include "fixtures/reference.h"
#include "graph/adapter.h"
#include "session/model.h"
#include "session/session.h"

static char merged_path[SCRATCH_PATH];

/* Logits after each of the first n ids: chunks of several lengths. */
static void
logits_of(struct gg_session *s, int32_t slot, const float *scales, float *out)
{
    static const int ends[] = { 1, 2, 9, N };

    gg_session_truncate(s, slot, 0);
    for (int i = 0, done = 0; i < 4; i++) {
        struct gg_chunk c = { .slot = slot,
                              .ids = ids + done,
                              .n = (size_t)(ends[i] - done),
                              .rows.logits = out + done * V,
                              .rows.n_last = (size_t)(ends[i] - done),
                              .scales = scales };

        must(gg_session_eval(s, &c, 1, &err));
        done = ends[i];
    }
}

static double
worst_nmse(const float *logits, const double *truth)
{
    double worst = 0;

    for (int i = 0; i < N; i++) {
        double x = reference_nmse(logits + i * V, truth + i * V, V);

        worst = x <= worst ? worst : x;
    }
    return worst;
}

static bool
reference_of(const char *path, double *truth)
{
    struct reference *r = reference_open(path);

    if (r)
        reference_logits(r, ids, N, truth);
    reference_free(r);
    return r != NULL;
}

static float *
new_logits(void)
{
    return malloc(sizeof(float) * N * V);
}

/* ---- truth --------------------------------------------------------------- */

static double
nmse_with(const struct gg_adapter *adapters, size_t n, const char *device,
          const double *truth)
{
    struct gg_session_params params = { .cache_type = GG_CACHE_F32 };
    struct gg_model *m = open_with(adapters, n, device);
    struct gg_session *s = new_session(m, params);
    float *logits = new_logits();
    double nmse;

    logits_of(s, 0, NULL, logits);
    nmse = worst_nmse(logits, truth);
    free(logits);
    gg_session_free(s);
    gg_model_free(m);
    return nmse;
}

static void
check_truth(const char *title, const struct gg_adapter *adapters, size_t n,
            const char *device, double bound)
{
    double *truth = malloc(sizeof(*truth) * N * V), *plain, nmse, moved;
    char text[160];

    plain = malloc(sizeof(*plain) * N * V);
    if (!reference_of(merged_path, truth) || !reference_of(model_path, plain)) {
        ok(false, title);
        exit(99);
    }
    nmse = nmse_with(adapters, n, device, truth);
    moved = nmse_with(NULL, 0, NULL, truth);
    snprintf(text, sizeof(text), "%s: NMSE %.1e <= %.0e; without, %.1e", title,
             nmse, bound, moved);
    ok(nmse <= bound && moved > 1e-3, text);
    free(truth);
    free(plain);
}

/* All matrices and norms of each family that the generator makes. */
static void
check_family(const char *family, uint64_t seed)
{
    struct adapter_spec a = { .alpha = 2, .whole = true, .seed = seed };
    struct gg_adapter use = { .path = lora_path, .scale = 0.75f };
    struct model_spec spec;
    char name[64];

    snprintf(name, sizeof(name), "%s-f32", family);
    spec = spec_named(name);
    spec.untied = true;
    write_model(&spec);
    write_lora(&a, lora_path);
    if (!adapters_merge(model_path, lora_path, 0.75, merged_path))
        exit(99);
    check_truth(name, &use, 1, NULL, 1e-11);
}

static void
check_families(void)
{
    static const char *const recurrent[] = { "qwen35",        "lfm2",
                                             "mamba2",        "rwkv6",
                                             "granitehybrid", "falcon-h1" };

    for (size_t i = 0; models_family(i); i++)
        check_family(models_family(i), i);
    for (size_t i = 0; i < sizeof(recurrent) / sizeof(recurrent[0]); i++)
        check_family(recurrent[i], i);
}

/* Ranks, types, alpha, several at a time: tested with one family. */
static void
check_kinds(void)
{
    struct adapter_spec a = { .rank = 8, .type = GGML_TYPE_F16, .seed = 3 };
    struct adapter_spec b = { .rank = 1, .alpha = 0.5f, .partly = true };
    struct gg_adapter use[] = { { .path = lora_path, .scale = -0.5f },
                                { .path = other_path, .scale = 2 } };
    struct model_spec spec = spec_named("mixtral-f32");
    char between[SCRATCH_PATH];

    strcpy(between, scratch_file("between.gguf"));
    write_model(&spec);
    write_lora(&a, lora_path);
    write_lora(&b, other_path);
    if (!adapters_merge(model_path, lora_path, -0.5, between) ||
        !adapters_merge(between, other_path, 2, merged_path))
        exit(99);
    check_truth("two of other ranks, f16, tied output", use, 2, NULL, 1e-9);
}

static void
check_control(void)
{
    struct gg_adapter use = { .path = lora_path, .scale = 1.5f };
    struct model_spec spec = spec_named("gpt2-f32");
    int last;

    spec.n_layer = 5;
    last = spec.n_layer - 1;
    write_model(&spec);
    adapters_write_control(model_path, 1, last, 1.5, lora_path, merged_path);
    check_truth("a control vector", &use, 1, NULL, 1e-11);
    adapters_write_control(model_path, 2, 3, 1.5, other_path, merged_path);
    use.first = 2;
    use.last = 3;
    adapters_write_control(model_path, 1, last, 1.5, lora_path, NULL);
    adapters_write_control(model_path, 2, 3, 1.5, other_path, merged_path);
    use.path = other_path;
    check_truth("of two layers", &use, 1, NULL, 1e-11);
}

/* On a device whose memory the program cannot look at. */
static void
check_device(void)
{
    struct adapter_spec a = { .alpha = 4, .whole = true };
    struct model_spec spec = spec_named("llama-f32");
    ggml_backend_dev_t dev = ggml_backend_reg_dev_get(ref_device_reg(), 0);
    struct gg_session_params params = { .cache_type = GG_CACHE_F32 };
    double *truth = malloc(sizeof(*truth) * N * V), nmse;
    float *logits = new_logits();
    struct gguf_file files[2];
    struct model_adapter_file adapter = { lora_path, &files[1], 1, 1, 9 };
    struct model_files all = { .file = &files[0],
                               .adapters = &adapter,
                               .n_adapters = 1 };
    struct gg_model_params none = { 0 };
    struct gg_session *s;
    struct model *m;

    spec.untied = true;
    write_model(&spec);
    write_lora(&a, lora_path);
    adapters_merge(model_path, lora_path, 1, merged_path);
    reference_of(merged_path, truth);
    must(gguf_file_open(model_path, 0, &files[0], &err));
    must(gguf_file_open(lora_path, 0, &files[1], &err));
    none.gpu_layers = spec.n_layer - 1;
    must(session_load_model(&all, &(struct model_devices){ { dev }, 1 }, &none,
                            &m, &err));
    must(session_new(m, &params, &s, &err));
    logits_of(s, 0, NULL, logits);
    nmse = worst_nmse(logits, truth);
    ok(nmse <= 1e-11, "some layers on another device: NMSE <= 1e-11");
    gg_session_free(s);
    session_free_model(m);
    gguf_file_close(&files[0]);
    gguf_file_close(&files[1]);
    free(truth);
    free(logits);
}

/* ---- several sets at once ------------------------------------------------ */

enum {
    SETS = 4,
};
static const float sets[SETS][2] = {
    { 1, 0 }, { 0, 1 }, { 0, 0 }, { 1, 0.5f }
};

static void
alone(const struct gg_model *m, const float *scales, float *out)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_threads = 1 });

    logits_of(s, 0, scales, out);
    gg_session_free(s);
}

/* All slots go on together; the last set is that of two of them. */
static void
together(const struct gg_model *m, int n_threads, float *out)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = SETS + 1,
                                                   .n_threads = n_threads });
    struct gg_chunk c[SETS + 1] = { 0 };

    for (int i = 0; i < N; i += 3) {
        for (int k = 0; k <= SETS; k++)
            c[k] = (struct gg_chunk){ .slot = k,
                                      .ids = ids + i,
                                      .n = 3,
                                      .rows.logits = out + (k * N + i) * V,
                                      .rows.n_last = 3,
                                      .scales = sets[k % SETS] };
        must(gg_session_eval(s, c, SETS + 1, &err));
    }
    gg_session_free(s);
}

static void
check_batch(const struct gg_model *m)
{
    float *one = new_logits();
    float *all = malloc((SETS + 1) * N * V * sizeof(*all));

    for (int threads = 1; threads <= 3; threads += 2) {
        together(m, threads, all);
        for (int k = 0; k <= SETS; k++) {
            char text[80];

            alone(m, sets[k % SETS], one);
            snprintf(text, sizeof(text),
                     "set %d among others, %d threads: the bytes of it alone",
                     k, threads);
            ok(!memcmp(one, all + k * N * V, sizeof(*one) * N * V), text);
        }
    }
    free(one);
    free(all);
}

static void
check_scores(const struct gg_model *m)
{
    float probs[2][N], logits[N * V];
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });

    for (int k = 0; k < 2; k++) {
        struct gg_chunk c = {
            .ids = ids, .n = N, .scores.logprobs = probs[k], .scales = sets[k]
        };
        double worst = 0;

        gg_session_truncate(s, 0, 0);
        must(gg_session_eval(s, &c, 1, &err));
        logits_of(s, 0, sets[k], logits);
        for (int i = 0; i < N - 1; i++) {
            const float *row = logits + i * V;
            double p = (double)row[ids[i + 1]] - gg_log_sum_exp(row, V);

            worst = fmax(worst, fabs(p - (double)probs[k][i]));
        }
        ok(worst < 1e-5, "log-probabilities are those of the logits");
    }
    gg_session_free(s);
}

static void
check_slots(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = 2 });
    struct gg_chunk c = { .ids = ids, .n = 5, .scales = sets[1] };
    const float odd[2] = { NAN, 0 };
    struct gg_state_sequence q = { .ids = ids, .n_ids = 5, .n_held = 5 };
    struct gg_state state = { .sequences = &q, .n_sequences = 1 };

    must(gg_session_eval(s, &c, 1, &err));
    c.scales = sets[0];
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG &&
           strstr(err.message, "other adapters"),
       "a slot goes on with its own adapters");
    ok(gg_session_copy(s, 1, 0, 5) == 5, "a slot is copied");
    c.slot = 1;
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG,
       "so is what its ids were evaluated with");
    c.scales = sets[1];
    ok(gg_session_eval(s, &c, 1, &err) == GG_OK, "with which it goes on");
    ok(gg_session_save(s, &state, other_path, &err) == GG_ERR_UNSUPPORTED,
       "a state has the adapters of the model alone");
    gg_session_truncate(s, 1, 0);
    c.scales = odd;
    ok(gg_session_eval(s, &c, 1, &err) == GG_ERR_ARG,
       "a scale that is no number");
    gg_session_free(s);
}

static void
check_mixing(void)
{
    struct adapter_spec a = { .whole = true, .seed = 5 }, b = { .seed = 9 };
    struct model_spec spec = spec_named("llama-q8_0");
    struct gg_adapter use[2] = { { .path = lora_path, .scale = 1 },
                                 { .path = other_path } };
    struct model_spec plain = spec_named("llama-f32");
    struct gg_memory with, without;
    struct gg_model *m, *bare;
    uint64_t bytes;

    write_model(&plain);
    write_lora(&a, lora_path);
    write_lora(&b, other_path);
    write_model(&spec);
    m = open_with(use, 2, NULL);
    check_batch(m);
    check_scores(m);
    ok(gg_model_n_adapters(m, &bytes) == 2 && bytes > 0, "there are two");
    must(gg_model_memory(m, NULL, &with, &err));
    bare = open_with(NULL, 0, NULL);
    must(gg_model_memory(bare, NULL, &without, &err));
    ok(with.weights == without.weights + bytes, "their bytes are the weights'");
    gg_model_free(bare);
    strcpy(other_path, scratch_file("state.gguf"));
    check_slots(m);
    gg_model_free(m);
    strcpy(other_path, scratch_file("other.gguf"));
}

int
main(void)
{
    begin();
    strcpy(merged_path, scratch_file("merged.gguf"));
    check_families();
    check_kinds();
    check_control();
    check_device();
    check_mixing();
    return tap_done();
}
