/* engine.h - the options and the life of a model and its session, which
 * gg-eval and gg-generate have in common */
#ifndef COMMON_ENGINE_H
#define COMMON_ENGINE_H

#include <gg-engine.h>

#include "common/adapters.h"
#include "common/devices.h"
#include "common/media.h"
#include "common/options.h"
#include "common/prefill.h"
#include "common/prefix_cache.h"

struct engine_cache {
    enum gg_cache_type type;
    int32_t keys, values; /* 1 and the type of these alone; 0: as above */
    int32_t no_rotation;  /* 1: of types below 8 bits, too */
};

struct engine_options {
    const char *model;
    struct device_options devices;
    int32_t n_ctx, n_threads, n_batch; /* 0: the default */
    int32_t n_encoder_ids;
    int32_t max_ctx; /* without -c, no more than this; 0: as the model has */
    struct engine_cache cache;
    struct adapter_options adapters;
    struct prefix_options prefixes;
    const char *rope_scaling;
    double rope_factor, rope_base; /* 0: the model's */
    int32_t rope_n_ctx;
    int mpi;                      /* 1: ranks of a job have layers each, */
    const char *layers;           /* as this says; NULL: by their memory */
    struct gg_pipeline *pipeline; /* of engine_join() */
    int numa;                     /* enum gg_numa */
    int bf16;                     /* 1: products of F16 */
    bool shift, no_mmap, lock, profile, quiet, verbose;
    bool mtp;             /* the model's MTP layers are used: */
    const char *mtp_path; /* those of this file; NULL: its own */
    bool mtp_if_able;     /* they are used where they are known and fit */
    const char *rows;     /* a file of rows of media; or NULL */
    struct media *media;  /* rows that the tool computed, which the engine
                             frees; or NULL */
    bool shows_progress;  /* the tool does, of all that it evaluates */
    bool score; /* sequences keep the log-probabilities of their ids */
    gg_watch_callback watch; /* or NULL */
    void *watch_data;
    /* With --mpi, what other ranks have seen, of watch_data: *n bytes; NULL: it
     * is not available. */
    const void *(*answer)(void *watch_data, size_t *n);
};

enum {
    ENGINE_MAX_CONTEXT = 1 << 28,
    ENGINE_MAX_BATCH = 1 << 16,
};
#define ENGINE_CACHE_TYPES                                                     \
    "f16|f32|q8_0|bf16|q5_0|q4_0" /* as enum gg_cache_type */

/* Their rows, and --help and --version; fields are in struct engine_options. */
extern const struct cli_option engine_rows[];

/* All defaults. */
struct engine_options
engine_options_default(void);

/* For struct cli_tool: where a GPU may be used, its driver's files. What the
 * sandbox hides of the machine is read. */
void
engine_allow(const struct engine_options *o);

/* --numa: for all threads and models from then on. */
void
engine_choose_nodes(const struct engine_options *o);

/* "f16", or another of ENGINE_CACHE_TYPES. */
const char *
engine_cache_name(enum gg_cache_type type);

void
engine_set_cache(struct gg_session_params *params,
                 const struct engine_cache *c);

/* To be called before anything is opened: with --mpi, ranks of the job but the
 * first do not come back from it. They end when rank 0 leaves, or fails. */
void
engine_join(struct engine_options *o);
void
engine_leave(void); /* after engine_close() */

/* Without adapters, and what reports progress. */
struct gg_model_params
engine_model_params(const struct engine_options *o);

struct engine {
    struct gg_model *model;
    const struct gg_vocab *vocab;
    struct gg_session *session;
    struct gg_engine *gg;
    struct prefill prefill;            /* of the session's evaluations */
    struct media *media;               /* whose rows the session has; or NULL */
    struct prefix_cache *prefix_cache; /* or NULL */
    int32_t n_slots, n_batch;
    struct engine_cache cache;
    bool shift, quiet, verbose;
    bool catches;                  /* a caught signal aborts an evaluation, */
    bool (*interrupt)(void *data); /* or this; NULL: nothing else */
    void *interrupt_data;
    bool cut; /* the context is less than the model's, for want of memory */
    const char *path; /* of the model, for messages */
};

/* Opens the model and starts a session and its engine, with at most n_slots
 * slots: half as many, and so on, where memory is short; then, unless -c was
 * given, with half the model's context, and so on. Ends the tool where it
 * cannot. With `catch`, a caught signal aborts an evaluation. */
void
engine_open(struct engine *e, const struct engine_options *o, int32_t n_slots,
            bool catch);
void
engine_close(struct engine *e); /* after all sequences */

static inline size_t
engine_count_ids(const struct gg_sequence *sequence)
{
    size_t n;

    (void)gg_sequence_ids(sequence, &n);
    return n;
}

/* Whether the id is a row's, which is given and not foretold. */
static inline bool
engine_is_row(const struct engine *e, int32_t id)
{
    return e->media && id >= e->media->head.first;
}

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

/* Writes a line for each row to stderr, tab-separated fields, under a head.
 */
void
profile_table_print(const struct gg_profile_row *rows, size_t n);

/* Why a context that holds `held` ids has no room for `more`, and what helps:
 * one sentence. */
void
engine_say_full(const struct engine *e, size_t held, size_t more, char *text,
                size_t size);

/* For -v: the model, context, memory. */
void
engine_describe(const struct engine *e);

#endif
