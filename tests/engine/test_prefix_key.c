/* test_prefix_key.c - what keys and values depend on other than ids: whatever
 * of it differs, nothing is found in the prefix cache */
#include "prefix_test.h"

#include "core/build.h"
#include "fixtures/adapters.h"
#include "fixtures/ref_device.h"

enum {
    N = 300,
};

/* ---- the build and the kernels ------------------------------------------- */

/* The linker puts these in the place of the library's. */
static uint64_t build_change;
static const char *other_kernels;

uint64_t
__real_core_build_fingerprint(void);
uint64_t
__wrap_core_build_fingerprint(void);
const char *
__real_ggml_backend_dev_description(ggml_backend_dev_t device);
const char *
__wrap_ggml_backend_dev_description(ggml_backend_dev_t device);

uint64_t
__wrap_core_build_fingerprint(void)
{
    return __real_core_build_fingerprint() ^ build_change;
}

const char *
__wrap_ggml_backend_dev_description(ggml_backend_dev_t device)
{
    return other_kernels ? other_kernels
                         : __real_ggml_backend_dev_description(device);
}

/* ---- what is found ------------------------------------------------------- */

struct variant {
    const char *what;
    struct gg_model_params model;
    struct gg_session_params session;
    const float *scales;
};

static int
found_of(const struct variant *v)
{
    struct cached c = { .session = v->session,
                        .prefixes.folder = folder,
                        .scales = v->scales };
    struct gg_model *m;
    float out[V];

    c.session.n_ctx = MOST;
    must(gg_model_open(scratch_path(), &v->model, &m, &err));
    run_prompt(m, &c, ids, N, out);
    gg_model_free(m);
    return (int)c.n_cached;
}

/* Nothing that the others have left, and then its own. */
static void
check_variant(const struct variant *v)
{
    char title[120];

    is(found_of(v), 0, v->what);
    snprintf(title, sizeof(title), "%s: its own", v->what);
    is(found_of(v), N - 1, title);
}

static void
check_variants(const struct variant *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_variant(&list[i]);
    for (size_t i = 0; i < n; i++)
        if (found_of(&list[i]) != N - 1)
            ok(false, list[i].what);
}

/* ---- options ------------------------------------------------------------- */

static const struct variant options[] = {
    { .what = "no option" },
    { .what = "rope scaling",
      .model = { .rope_scaling = "linear", .rope_factor = 2 } },
    { .what = "a rope factor",
      .model = { .rope_scaling = "linear", .rope_factor = 4 } },
    { .what = "a rope base", .model.rope_base = 20000 },
    { .what = "YaRN", .model = { .rope_scaling = "yarn", .rope_factor = 4 } },
    { .what = "YaRN's context",
      .model = { .rope_scaling = "yarn", .rope_factor = 4, .rope_n_ctx = 64 } },
    { .what = "keys and values of F32", .session.cache_type = GG_CACHE_F32 },
    { .what = "of BF16", .session.cache_type = GG_CACHE_BF16 },
    { .what = "of Q8_0", .session.cache_type = GG_CACHE_Q8_0 },
    { .what = "of Q5_0", .session.cache_type = GG_CACHE_Q5_0 },
    { .what = "of Q4_0", .session.cache_type = GG_CACHE_Q4_0 },
    { .what = "values of Q4_0",
      .session = { .value_type = GG_CACHE_Q4_0, .has_value_type = true } },
    { .what = "keys of Q4_0",
      .session = { .cache_type = GG_CACHE_Q4_0,
                   .value_type = GG_CACHE_F16,
                   .has_value_type = true } },
    { .what = "no rotation",
      .session = { .cache_type = GG_CACHE_Q4_0, .no_rotation = true } },
    { .what = "products of BF16", .session.bf16 = true },
};

/* Options that may differ find the same. */
static void
check_same(void)
{
    static const struct variant same[] = {
        { .what = "no mapping", .model.no_mmap = true },
        { .what = "threads", .session.n_threads = 2 },
        { .what = "batches", .session.n_batch = 33 },
        { .what = "slots", .session.n_slots = 3 },
    };

    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        is(found_of(&same[i]), N - 1, same[i].what);
}

static void
check_builds(void)
{
    struct variant v = { .what = "another build" };

    build_change = 1;
    check_variant(&v);
    build_change = 0;
    v.what = "other kernels";
    other_kernels = "another instruction set";
    check_variant(&v);
    other_kernels = NULL;
    is(found_of(&v), N - 1, "all as before");
}

/* ---- devices ------------------------------------------------------------- */

static void
check_devices(void)
{
    struct variant v = { .what = "a layer on a device", .model.gpu_layers = 1 };

    ref_device.type = GGML_BACKEND_DEVICE_TYPE_GPU;
    ref_device.memory = (size_t)1 << 40;
    ggml_backend_register(ref_device_reg());
    check_variant(&v);
    v.what = "all layers on it";
    v.model.gpu_layers = 9;
    check_variant(&v);
    v.what = "all on the CPU";
    v.model = (struct gg_model_params){ .device = "cpu" };
    is(found_of(&v), N - 1, v.what);
}

/* ---- adapters ------------------------------------------------------------ */

static char lora[2][SCRATCH_PATH], control[SCRATCH_PATH];

static void
write_adapters(void)
{
    for (int i = 0; i < 2; i++) {
        struct adapter_spec a = { .alpha = 8, .seed = (uint64_t)i + 1 };

        strcpy(lora[i], scratch_file(i ? "b.gguf" : "a.gguf"));
        if (!adapters_write(&a, scratch_path(), lora[i]))
            exit(99);
    }
    strcpy(control, scratch_file("control.gguf"));
    if (!adapters_write_control(scratch_path(), 1, 2, 1, control,
                                scratch_file("merged.gguf")))
        exit(99);
}

static void
check_adapters(void)
{
    struct gg_adapter a = { .path = lora[0], .scale = 1 },
                      half = { .path = lora[0], .scale = 0.5f },
                      b = { .path = lora[1], .scale = 1 }, two[] = { a, b },
                      turned[] = { b, a },
                      vector = { .path = control, .scale = 1 },
                      part = {
                          .path = control, .scale = 1, .first = 2, .last = 2
                      };
    static const float quarter[] = { 0.25f };
    const struct variant list[] = {
        { .what = "none" },
        { .what = "one", .model = { .adapters = &a, .n_adapters = 1 } },
        { .what = "its scale",
          .model = { .adapters = &half, .n_adapters = 1 } },
        { .what = "a sequence's scale",
          .model = { .adapters = &a, .n_adapters = 1 },
          .scales = quarter },
        { .what = "another", .model = { .adapters = &b, .n_adapters = 1 } },
        { .what = "both", .model = { .adapters = two, .n_adapters = 2 } },
        { .what = "both in turn",
          .model = { .adapters = turned, .n_adapters = 2 } },
        { .what = "a vector",
          .model = { .adapters = &vector, .n_adapters = 1 } },
        { .what = "its layers",
          .model = { .adapters = &part, .n_adapters = 1 } },
    };

    new_folder();
    check_variants(list, sizeof(list) / sizeof(*list));
}

int
main(void)
{
    struct model_spec spec = plain_model;

    spec.n_layer = 3;
    spec.n_embd = 128;
    spec.n_ctx = MOST;
    fill_ids(ids, N);
    if (!models_write(&spec, scratch_path()))
        return 99;
    new_folder();
    check_variants(options, sizeof(options) / sizeof(*options));
    check_same();
    check_builds();
    write_adapters();
    check_adapters();
    new_folder();
    (void)found_of(&options[0]);
    check_devices();
    return tap_done();
}
