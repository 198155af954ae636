/* compute.h - running a model's graphs on its device
 *
 * The graph of the last batch is kept: a batch of the same shape only sets its
 * inputs, which makes decoding cheap. */
#ifndef SESSION_COMPUTE_H
#define SESSION_COMPUTE_H

#include "backend/profile.h"
#include "session/batch.h"
#include "session/readback.h"
#include "session/pooling.h"
#include "session/logprobs.h"
#include "session/stage.h"
#include "session/topk.h"

struct compute {
    const struct model *model;
    int32_t first, end; /* what its graphs compute: struct graph */
    bool leaves;
    ggml_backend_t backends[MODEL_MAX_HOMES]; /* the homes', the CPU's last */
    int n_backends;
    bool borrowed; /* they are another's */
    int32_t mtp;   /* the MTP layer that is computed, from 1; 0: the model is */
    enum graph_feed feed; /* what its graph leaves to MTP layers */
    ggml_backend_sched_t sched;
    size_t max_nodes;
    void *pool; /* memory of the graph's tensors */
    size_t pool_size;
    struct graph graph; /* ctx NULL: none is built */
    float *scales;      /* of adapters, that it was built with */
    int32_t max_segments;
    struct stage stage;             /* of inputs */
    struct model_readback readback; /* of logits */
    struct topk topk;
    float *row; /* scratch: logits of an output that only k are wanted of */
    struct model_logprobs logprobs; /* started when it is needed first */
    struct model_pooling pool_of_rows;
    uint64_t streamed, room; /* bytes of weights that are larger than memory, or
                                0, and of memory for them */
    gg_watch_callback watch; /* or NULL */
    void *watch_data;
};

/* Buffers for the largest batch are reserved here, so that no later batch
 * fails for want of them. On failure *c is empty. */
enum gg_status
session_compute_init(struct compute *c, const struct model *model,
                     const struct cache *cache, int32_t max_tokens,
                     int32_t max_segments, int n_threads,
                     ggml_abort_callback abort, void *abort_data,
                     struct gg_error *err);

/* Buffers for a batch of rows of media alone, after n_deeper layers, too.
 * False: no memory. */
bool
session_compute_take_rows(struct compute *c, const struct cache *cache,
                          int32_t max_tokens, size_t n_deeper);

/* Does as session_compute_init() for the model's MTP layers, whose batches have
 * `max_tokens` ids: on the back ends of `lender`, which outlives it. */
enum gg_status
session_compute_init_mtp(struct compute *c, const struct compute *lender,
                         const struct cache *cache, int32_t max_tokens,
                         int32_t max_segments, struct gg_error *err);

/* Another, of what follows the last layer, next to one of the first layers: it
 * computes with that one's back ends, which must outlive it. */
enum gg_status
session_compute_init_output(struct compute *c, const struct compute *main,
                            const struct cache *cache, int32_t max_tokens,
                            struct gg_error *err);

/* Has the back ends count in *profile, which must outlive *c. */
void
session_compute_profile(struct compute *c, struct backend_profile *profile);

/* Whether weights of F16 may be rounded from now on: struct graph's bf16. */
void
session_compute_round(struct compute *c, bool bf16);

/* Shows the callback what is computed from now on. */
void
session_compute_watch(struct compute *c, gg_watch_callback watch, void *data);

/* Bytes of the compute buffers that session_compute_init() would get, added to
 * those of each home; the cache may be a dry one. */
enum gg_status
session_compute_measure(const struct model *model, const struct cache *cache,
                        int32_t max_tokens, int32_t max_segments,
                        uint64_t sizes[MODEL_MAX_HOMES], struct gg_error *err);
/* Adds bytes of those of session_compute_init_mtp() likewise. */
enum gg_status
session_compute_measure_mtp(const struct model *model,
                            const struct cache *cache, int32_t max_tokens,
                            int32_t max_segments,
                            uint64_t sizes[MODEL_MAX_HOMES],
                            struct gg_error *err);
void
session_compute_clear(struct compute *c); /* takes an empty one */

/* The homes whose devices have failed at something. */
model_home_set
session_compute_failed(const struct compute *c);

/* Status of a graph, and of the devices since; a sentence where they failed. */
enum gg_status
session_compute_status(ggml_backend_sched_t sched, enum ggml_status status,
                       struct gg_error *err);

/* Before the batch is run: bytes of what enters the first layer, 0 where that
 * follows from the ids, and of what leaves the last, 0 where it has the output.
 * False: no memory. */
bool
session_compute_sizes(struct compute *c, const struct cache *cache,
                      const struct batch *b, size_t *entered, size_t *left);

/* Evaluates layers first to end - 1 for the batch: `entered` is what enters the
 * first of them, NULL where that follows from the ids; `left` gets what leaves
 * the last. */
enum gg_status
session_compute_layers(struct compute *c, const struct cache *cache,
                       struct batch *b, const void *entered, void *left,
                       struct gg_error *err);

/* Evaluates the batch with the output: writes logits and log-probabilities
 * where they are wanted, and adds hidden vectors where those are. */
enum gg_status
session_compute_run(struct compute *c, const struct cache *cache,
                    struct batch *b, const void *entered, struct gg_error *err);

/* Bytes of the compute buffers. */
size_t
session_compute_size(const struct compute *c);

/* ---- its parts ----------------------------------------------------------- */

/* Starts the homes' back ends; false: one cannot be started. */
bool
session_compute_start(struct compute *c);
void
session_compute_set_up(ggml_backend_t backend, int n_threads,
                       ggml_abort_callback abort, void *abort_data);
/* The home of back end i. */
int
session_compute_home(const struct compute *c, int i);

/* Copies what the batch has to the inputs of its graph. False: no memory. */
bool
session_compute_set_inputs(struct compute *c, struct batch *b,
                           const void *entered);

/* Sets a part of an input, which has memory. */
void
session_compute_set_part(struct compute *c, struct ggml_tensor *t,
                         const void *data, size_t offset, size_t size);

/* A back end's function that the common interface lacks, or NULL. */
void *
session_compute_extra(ggml_backend_t backend, const char *name);

/* Before the graph is computed: has its logits written where the caller wants
 * them, if that can be. Returns what belongs into result->data afterwards;
 * NULL: nothing was changed. */
void *
session_compute_place_logits(struct compute *c, const struct batch *b);

/* Afterwards: copies them, or finds the likeliest. False: no memory. */
bool
session_compute_get_logits(struct compute *c, const struct batch *b);

#endif
