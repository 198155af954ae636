/* engine.c - the model and session of gg-eval and gg-generate */
#include <config.h>

#include "common/engine.h"

#include <ggml.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MIN_CONTEXT = 256, /* less is of no use, if nobody asks for it */
    DEFAULT_BATCH = 512,
};

struct engine_options
engine_options_default(void)
{
    return (struct engine_options){
        .devices = DEVICE_OPTIONS_DEFAULT,
        .prefixes.bytes = (uint64_t)PREFIX_CACHE_GIB << 30,
    };
}

/* In the order of enum gg_cache_type. */
static const char *const cache_types[] = { "f16",  "f32",  "q8_0",
                                           "bf16", "q5_0", "q4_0" };

const char *
engine_cache_name(enum gg_cache_type type)
{
    return cache_types[type];
}

#define AT(field) .at = offsetof(struct engine_options, field)

/* clang-format off */
const struct cli_option engine_rows[] = {
    { "model", 'm', CLI_TEXT, "MODEL",
      "model file (else $GG_MODEL, else the demo model)", AT(model) },
    { .part = adapter_rows, AT(adapters) },
    { "context", 'c', CLI_INT, "N",
      "size of the context, in tokens (else the model's)",
      AT(n_ctx), 1, ENGINE_MAX_CONTEXT },
    { "rows", 0, CLI_TEXT, "FILE",
      "rows of images and sounds from gg-encode, for the ids that stand for "
      "them",
      AT(rows), .use = SANDBOX_READ },
    { "shift", 0, CLI_FLAG, NULL,
      "context shift: drop the oldest ids of a full context", AT(shift) },
    { "threads", 't', CLI_INT, "N",
      "threads (else one for each processor)",
      AT(n_threads), 1, GGML_MAX_N_THREADS },
    { .part = device_rows, AT(devices) },
    { "numa", 0, CLI_WORD, "HOW",
      "place threads and weights on NUMA nodes: off (default), distribute over "
      "all nodes, or isolate on one", AT(numa),
      .values = "off|distribute|isolate" },
    { "mpi", 0, CLI_WORD, "HOW",
      "split the model over the ranks of an MPI job: none, or layers",
      AT(mpi), .values = "none|layers", .use = SANDBOX_JOB },
    { "layers", 0, CLI_TEXT, "COUNTS",
      "with --mpi: layers of each rank, such as 24,24,16,16 (else by memory)",
      AT(layers) },
    { "cache-type", 0, CLI_WORD, "TYPE",
      "type of the KV cache: f16 (default), f32, q8_0, bf16, q5_0, q4_0",
      AT(cache.type), .values = ENGINE_CACHE_TYPES },
    { "cache-type-k", 0, CLI_WORD, "TYPE", "type of the cache's keys only",
      AT(cache.keys), 1, .values = ENGINE_CACHE_TYPES },
    { "cache-type-v", 0, CLI_WORD, "TYPE", "type of the cache's values only",
      AT(cache.values), 1, .values = ENGINE_CACHE_TYPES },
    { "cache-rotation", 0, CLI_WORD, "HOW",
      "rotate keys and values of less than 8 bits: on (default), off",
      AT(cache.no_rotation), .values = "on|off" },
    { .part = prefix_rows, AT(prefixes) },
    { "batch-size", 0, CLI_INT, "N",
      "ids per batch in prefill (512)",
      AT(n_batch), 1, ENGINE_MAX_BATCH },
    { "precision", 0, CLI_WORD, "KIND",
      "precision of products with F16: exact (default), bf16", AT(bf16),
      .values = "exact|bf16" },
    { "no-mmap", 0, CLI_FLAG, NULL,
      "read the model into memory instead of mapping it",
      AT(no_mmap) },
    { "mlock", 0, CLI_FLAG, NULL,
      "lock the model in memory to keep it from being swapped", AT(lock) },
    { "rope-scaling", 0, CLI_TEXT, "KIND",
      "RoPE scaling: none, linear or yarn", AT(rope_scaling),
      .values = "none|linear|yarn", .strict = true },
    { "rope-factor", 0, CLI_DOUBLE, "X", "scale the context by X",
      AT(rope_factor), 1e-6, 1e6 },
    { "rope-base", 0, CLI_DOUBLE, "X", "base of the RoPE frequencies",
      AT(rope_base), 1, 1e12 },
    { "rope-context", 0, CLI_INT, "N",
      "with yarn: the context of training, before scaling",
      AT(rope_n_ctx), 1, ENGINE_MAX_CONTEXT },
    { "profile", 0, CLI_FLAG, NULL,
      "print a profile by op and thread at the end",
      AT(profile) },
    { "quiet", 'q', CLI_FLAG, NULL, "fewer messages", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "more messages", AT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* Without a device of the driver's, nothing is loaded but by name. */
static bool
may_use_gpu(const char *device)
{
    const char *module = getenv("GG_CUDA_MODULE");

    if (module && strcmp(module, "none") == 0)
        return false;
    if (device && strcmp(device, "auto") != 0)
        return strcmp(device, "cpu") != 0;
    return module || access("/dev/nvidiactl", F_OK) == 0 ||
           access("/dev/dxg", F_OK) == 0;
}

void
engine_choose_nodes(const struct engine_options *o)
{
    struct gg_error err;
    enum gg_status st = gg_numa_init((enum gg_numa)o->numa, o->pipeline, &err);
    int32_t index, n_cpus, n = gg_numa_nodes(0, NULL, NULL);

    if (st != GG_OK)
        cli_die("--numa: %s", err.message);
    for (int32_t i = 0; i < n && o->verbose; i++) {
        (void)gg_numa_nodes(i, &index, &n_cpus);
        cli_warn("NUMA: node %d, %d processor%s", (int)index, (int)n_cpus,
                 n_cpus == 1 ? "" : "s");
    }
}

void
engine_allow(const struct engine_options *o)
{
    if (!o->mpi) /* else its share is known when the job is joined */
        engine_choose_nodes(o);
    if (may_use_gpu(devices_name(&o->devices)))
        sandbox_keep(SANDBOX_GPU);
}

struct gg_model_params
engine_model_params(const struct engine_options *o)
{
    struct gg_model_params params = {
        .n_ctx = o->n_ctx,
        .no_mmap = o->no_mmap,
        .lock = o->lock,
        .rope_scaling = o->rope_scaling,
        .rope_factor = (float)o->rope_factor,
        .rope_base = (float)o->rope_base,
        .rope_n_ctx = o->rope_n_ctx,
        .mtp = o->mtp,
        .mtp_path = o->mtp_path,
        .mtp_if_able = o->mtp_if_able,
        .pipeline = o->pipeline,
    };

    devices_set_params(&o->devices, &params);
    return params;
}

static void
open_model(struct engine *e, const struct engine_options *o)
{
    struct adapter_options adapters = o->adapters;
    struct progress progress;
    struct gg_model_params params = engine_model_params(o);
    struct gg_error err;
    enum gg_status st;

    params.adapters = adapters_list(&adapters);
    params.n_adapters = adapters.n;
    params.progress = progress_show;
    params.progress_data = &progress;
    e->path = cli_model(o->model, o->quiet);
    progress_start(&progress, o->quiet);
    st = gg_model_open(e->path, &params, &e->model, &err);
    progress_end(&progress);
    if (st == GG_ERR_ARG) /* an option, the environment */
        cli_misuse("%s", err.message);
    cli_check(st, &err);
    e->vocab = gg_model_vocab(e->model);
    if (gg_model_note(e->model) && !o->quiet)
        cli_warn("%s", gg_model_note(e->model));
    if (gg_vocab_note(e->vocab))
        cli_warn("%s: %s", e->path, gg_vocab_note(e->vocab));
}

/* Asks for less until it fits; *p gets what did. */
static enum gg_status
start_session(struct engine *e, struct gg_session_params *p,
              struct gg_error *err)
{
    bool given = p->n_ctx > 0;

    for (;;) {
        enum gg_status st = gg_session_new(e->model, p, &e->session, err);

        if (st != GG_ERR_NOMEM)
            return st;
        if (p->n_slots > 1) {
            p->n_slots /= 2;
            continue;
        }
        if (p->n_ctx == 0)
            p->n_ctx = gg_model_n_ctx_train(e->model);
        if (given || p->n_ctx / 2 < MIN_CONTEXT)
            return st;
        p->n_ctx /= 2;
        e->cut = true;
    }
}

static int32_t
less(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Where the GPU's memory is too short for a session in addition to the weights,
 * the next try has half as many layers there, or, if it was not requested by
 * name, none. False: there is none left to try. */
static bool
take_fewer_layers(const struct engine *e, struct device_options *o)
{
    int32_t n = gg_model_gpu_layers(e->model) / 2;
    bool named = o->device && strcmp(o->device, "auto") != 0;

    if (gg_model_gpu_layers(e->model) == 0 || (n == 0 && named))
        return false;
    o->gpu_layers = n;
    return true;
}

/* The next try has less on the GPU, or no MTP layers that merely may be used.
 * False: there is none left to try. */
static bool
take_less(const struct engine *e, const struct engine_options *given,
          struct engine_options *next, const struct gg_error *why)
{
    if (next->mtp_if_able) {
        next->mtp_if_able = false;
        return true;
    }
    if (given->devices.gpu_layers >= 0 || !take_fewer_layers(e, &next->devices))
        return false;
    if (!given->quiet)
        cli_warn("%s: %s: trying with %d layer%s offloaded",
                 gg_model_device(e->model), why->message,
                 (int)next->devices.gpu_layers,
                 next->devices.gpu_layers == 1 ? "" : "s");
    return true;
}

static enum gg_status
start_or_retry(struct engine *e, const struct engine_options *o,
               struct gg_session_params *params, struct gg_error *err)
{
    struct engine_options next = *o;
    struct gg_session_params given = *params;
    enum gg_status st;

    for (;;) {
        open_model(e, &next);
        *params = given;
        if (params->n_ctx == 0 && o->max_ctx)
            params->n_ctx = less(o->max_ctx, gg_model_n_ctx_train(e->model));
        e->cut = false;
        st = start_session(e, params, err);
        if (st != GG_ERR_NOMEM || !take_less(e, o, &next, err))
            return st;
        gg_model_free(e->model);
        next.quiet = true; /* what it has said, it has said */
    }
}

static void
warn(void *data, const char *sentence)
{
    (void)data;
    cli_warn("%s", sentence);
}

/* Asked often enough to show that time goes by. */
static bool
is_aborted(void *data)
{
    struct engine *e = data;

    prefill_tick(&e->prefill);
    return (e->catches && cli_aborted(NULL)) ||
           (e->interrupt && e->interrupt(e->interrupt_data));
}

/* A block enters in one batch. */
static void
read_media(struct engine *e, const struct engine_options *o,
           struct gg_session_params *params)
{
    size_t block;

    e->media = o->rows ? media_read(o->rows, true) : o->media;
    if (!e->media)
        return;
    block = media_longest_block(e->media);
    if (o->n_batch == 0 && block > (size_t)params->n_batch &&
        block <= ENGINE_MAX_BATCH)
        params->n_batch = (int32_t)block;
    if (o->verbose)
        media_describe(e->media);
}

void
engine_open(struct engine *e, const struct engine_options *o, int32_t n_slots,
            bool catch)
{
    struct gg_session_params params = {
        .n_ctx = o->n_ctx,
        .n_slots = n_slots,
        .n_batch = o->n_batch ? o->n_batch : DEFAULT_BATCH,
        .n_threads = o->n_threads,
        .n_encoder_ids = o->n_encoder_ids,
        .bf16 = o->bf16,
        .abort = is_aborted,
        .abort_data = e,
        .progress = prefill_show,
        .progress_data = &e->prefill,
        .profile = o->profile,
        .watch = o->watch,
        .watch_data = o->watch_data,
        .warn = o->quiet ? NULL : warn,
    };
    struct gg_engine_params gg = { .shift = o->shift, .score = o->score };
    struct gg_error err;

    *e = (struct engine){
        .cache = o->cache,
        .shift = o->shift,
        .quiet = o->quiet,
        .verbose = o->verbose,
        .catches = catch,
    };
    read_media(e, o, &params);
    e->n_batch = params.n_batch;
    engine_set_cache(&params, &o->cache);
    if (params.cache_type == GG_CACHE_Q4_0 && !o->quiet)
        cli_warn("keys of q4_0 lose much: --cache-type-k q8_0, with values of "
                 "q4_0, loses little");
    prefill_start(&e->prefill, o->quiet || o->shows_progress);
    cli_check(start_or_retry(e, o, &params, &err), &err);
    e->n_slots = params.n_slots;
    if (e->media)
        media_add(e->media, e->model, e->session);
    cli_check(gg_engine_new(e->model, e->session, &gg, &e->gg, &err), &err);
    e->prefix_cache = prefix_cache_take();
    if (e->prefix_cache)
        prefix_cache_open(e->prefix_cache, e->gg);
    if (o->verbose)
        engine_describe(e);
}

static void
describe_used(const struct engine *e)
{
    int32_t n_slots;
    size_t cache, shared = gg_session_shared(e->session, &n_slots);
    char what[80] = "";

    gg_session_memory(e->session, &cache, NULL);
    if (shared)
        snprintf(what, sizeof(what), ", %.1f MiB shared by %d slots",
                 (double)shared / 0x1p20, (int)n_slots);
    cli_warn("used: KV cache %.1f MiB of %.1f MiB%s",
             (double)gg_session_used(e->session) / 0x1p20,
             (double)cache / 0x1p20, what);
}

void
engine_close(struct engine *e)
{
    size_t n;
    const struct gg_profile_row *rows = gg_session_profile(e->session, &n);

    if (rows)
        profile_table_print(rows, n);
    if (e->verbose)
        describe_used(e);
    if (e->verbose && e->prefix_cache)
        prefix_cache_describe(e->prefix_cache, e->gg);
    gg_engine_free(e->gg);
    gg_session_free(e->session);
    gg_model_free(e->model);
    media_free(e->media);
    prefix_cache_free(e->prefix_cache);
    *e = (struct engine){ 0 };
}

static bool
is_small(enum gg_cache_type type)
{
    return type == GG_CACHE_Q8_0 || type == GG_CACHE_Q5_0 ||
           type == GG_CACHE_Q4_0;
}

/* Whether neither keys nor values would be smaller as Q8_0. */
static bool
is_cache_small(const struct engine *e)
{
    struct gg_session_params p = gg_session_params_default();
    enum gg_cache_type values;

    engine_set_cache(&p, &e->cache);
    values = p.has_value_type ? p.value_type : p.cache_type;
    return is_small(p.cache_type) && is_small(values);
}

/* The hint that says how to raise the limit. */
static const char *
full_remedy(const struct engine *e)
{
    if (e->cut)
        return is_cache_small(e) ? "memory is short"
                                 : "memory is short; --cache-type q8_0 needs "
                                   "less";
    return gg_session_n_ctx(e->session) < gg_model_n_ctx_train(e->model)
               ? "-c raises it"
               : "-c raises it above the model's own";
}

void
engine_say_full(const struct engine *e, size_t held, size_t more, char *text,
                size_t size)
{
    int n_ctx = (int)gg_session_n_ctx(e->session);

    if (e->shift || held == 0)
        snprintf(text, size, "%zu ids at once are above the context of %d (%s)",
                 more, n_ctx, full_remedy(e));
    else
        snprintf(text, size,
                 "context is full: %zu ids and %zu more are above the limit "
                 "of %d (%s; --shift drops the oldest)",
                 held, more, n_ctx, full_remedy(e));
}
