/* engine.h - the options and the life of a model and its session, which
 * gg-eval and gg-generate have in common */
#ifndef COMMON_ENGINE_H
#define COMMON_ENGINE_H

#include "common/cli.h"

struct engine_options {
    const char *model, *device;
    int32_t n_ctx, n_threads, n_batch; /* 0: the default */
    int32_t max_ctx; /* without -c, no more than this; 0: as the model has */
    enum gg_cache_type cache_type;
    const char *rope_scaling;
    double rope_factor, rope_base; /* 0: the model's */
    int32_t rope_n_ctx;
    int32_t gpu_layers; /* -1: not said */
    bool bf16, shift, no_mmap, lock, profile, quiet, verbose;
    gg_watch_callback watch; /* or NULL */
    void *watch_data;
};

enum {
    ENGINE_OPT_DEVICE = 512,
    ENGINE_OPT_GPU_LAYERS,
    ENGINE_OPT_CACHE_TYPE,
    ENGINE_OPT_BATCH_SIZE,
    ENGINE_OPT_PRECISION,
    ENGINE_OPT_SHIFT,
    ENGINE_OPT_NO_MMAP,
    ENGINE_OPT_MLOCK,
    ENGINE_OPT_PROFILE,
    ENGINE_OPT_ROPE_SCALING,
    ENGINE_OPT_ROPE_FACTOR,
    ENGINE_OPT_ROPE_BASE,
    ENGINE_OPT_ROPE_CONTEXT,
};

/* For getopt_long(). */
#define ENGINE_LETTERS "m:c:t:qvhV"
/* clang-format off */
#define ENGINE_LONG_OPTIONS                                                    \
    { "model", required_argument, NULL, 'm' },                                 \
    { "context", required_argument, NULL, 'c' },                               \
    { "threads", required_argument, NULL, 't' },                               \
    { "device", required_argument, NULL, ENGINE_OPT_DEVICE },                  \
    { "gpu-layers", required_argument, NULL, ENGINE_OPT_GPU_LAYERS },          \
    { "cache-type", required_argument, NULL, ENGINE_OPT_CACHE_TYPE },          \
    { "batch-size", required_argument, NULL, ENGINE_OPT_BATCH_SIZE },          \
    { "precision", required_argument, NULL, ENGINE_OPT_PRECISION },            \
    { "shift", no_argument, NULL, ENGINE_OPT_SHIFT },                          \
    { "no-mmap", no_argument, NULL, ENGINE_OPT_NO_MMAP },                      \
    { "mlock", no_argument, NULL, ENGINE_OPT_MLOCK },                          \
    { "profile", no_argument, NULL, ENGINE_OPT_PROFILE },                      \
    { "rope-scaling", required_argument, NULL, ENGINE_OPT_ROPE_SCALING },      \
    { "rope-factor", required_argument, NULL, ENGINE_OPT_ROPE_FACTOR },        \
    { "rope-base", required_argument, NULL, ENGINE_OPT_ROPE_BASE },            \
    { "rope-context", required_argument, NULL, ENGINE_OPT_ROPE_CONTEXT },      \
    { "quiet", no_argument, NULL, 'q' },                                       \
    { "verbose", no_argument, NULL, 'v' },                                     \
    { "help", no_argument, NULL, 'h' },                                        \
    { "version", no_argument, NULL, 'V' },                                     \
    { NULL, 0, NULL, 0 }
/* clang-format on */
#define ENGINE_HELP                                                            \
    "  -m, --model MODEL       model file (else $GG_MODEL, else the demo "     \
    "model)\n"                                                                 \
    "  -c, --context N         positions a sequence can hold (else the "       \
    "model's)\n"                                                               \
    "      --shift             drop the oldest ids of a context that is "      \
    "full\n"                                                                   \
    "  -t, --threads N         threads (else one for each processor)\n"        \
    "      --device DEVICE     cpu, cuda, cuda:N or auto (default)\n"          \
    "      --gpu-layers N      layers that a GPU computes (else what fits)\n"  \
    "      --cache-type TYPE   of keys and values: f16 (default), f32, q8_0\n" \
    "      --batch-size N      ids of a prompt evaluated together (512)\n"     \
    "      --precision KIND    of products with F16: exact (default), bf16\n"  \
    "      --no-mmap           read the model instead of mapping it\n"         \
    "      --mlock             keep the model in memory, never swapped out\n"  \
    "      --rope-scaling KIND of positions: none, linear or yarn\n"           \
    "      --rope-factor X     stretch the context X times\n"                  \
    "      --rope-base X       base of the rotary frequencies\n"               \
    "      --rope-context N    yarn: the context before it was stretched\n"    \
    "      --profile           say at the end where the time went\n"           \
    "  -q, --quiet             say less\n"                                     \
    "  -v, --verbose           say more\n"                                     \
    "  -h, --help              print this help and end\n"                      \
    "  -V, --version           print the version and end\n"

/* All defaults. */
struct engine_options
engine_options_default(void);

/* "f16", "f32" or "q8_0". */
const char *
engine_cache_name(enum gg_cache_type type);

/* Takes option `c` with optarg, if it is one of the above; -h prints `help`.
 */
bool
engine_set_option(struct engine_options *o, int c, const char *help);

struct engine {
    struct gg_model *model;
    const struct gg_vocab *vocab;
    struct gg_session *session;
    int32_t n_slots, n_batch;
    enum gg_cache_type cache_type;
    bool shift, verbose;
    bool cut; /* the context is less than the model's, for want of memory */
    const char *path; /* of the model, for messages */
};

/* Opens the model and starts a session with at most n_slots slots: half as
 * many, and so on, where memory is short; then, unless -c was given, with half
 * the model's context, and so on. Ends the tool where it cannot. With `catch`,
 * a caught signal aborts an evaluation. */
void
engine_open(struct engine *e, const struct engine_options *o, int32_t n_slots,
            bool catch);
void
engine_close(struct engine *e);

/* Draws how much of a model has been copied to a GPU: on stderr, if that is a
 * terminal, once it has taken a second; *data is a struct progress. */
struct progress {
    double start; /* seconds */
    bool shown, quiet;
};
void
progress_start(struct progress *p, bool quiet);
void
progress_show(void *data, uint64_t done, uint64_t all);
void
progress_end(struct progress *p);

/* Writes a line for each row to stderr, fields parted by tabs, under a head.
 */
void
profile_print(const struct gg_profile_row *rows, size_t n);

/* Why a context that holds `held` ids has no room for `more`, and what helps:
 * one sentence. */
void
engine_say_full(const struct engine *e, size_t held, size_t more, char *text,
                size_t size);

/* For -v: the model, context, memory. */
void
engine_describe(const struct engine *e);

#endif
