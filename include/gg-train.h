/* gg-train.h - training: a model's weights, or an adapter, from sequences of
 * ids
 *
 *     gg_train_open("model.gguf", &params, &train, &err);
 *     while (...)
 *         gg_train_add(train, GG_TRAIN_SET, ids, NULL, n, &err);
 *     gg_train_start(train, &err);
 *     while (gg_train_state(train).step < gg_train_state(train).n_steps)
 *         gg_train_step(train, &report, &err);
 *     gg_train_write(train, file, &err);
 *
 * Sequences are packed into rows of n_ctx ids, which do not see each other; a
 * longer one is cut. A step is the mean of all targets in its rows, however few
 * of them are computed at once. The bytes of all results depend on the
 * parameters, the sequences and the processor's instruction set, and not on
 * n_threads, memory_limit or how often a run was stopped and went on.
 *
 * As in gg.h, every function that can fail returns enum gg_status and sets its
 * results on success only. One thread at a time a handle.
 */
#ifndef GG_TRAIN_H
#define GG_TRAIN_H

#include <stdio.h>

#include "gg.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gg_train_schedule {
    GG_TRAIN_COSINE = 0,
    GG_TRAIN_LINEAR = 1,
    GG_TRAIN_CONSTANT = 2,
};

enum gg_train_optimizer {
    GG_TRAIN_ADAMW = 0, /* Loshchilov and Hutter 2019 */
    GG_TRAIN_MUON = 1,  /* matrices of blocks by Muon (Jordan et al. 2024), and
                           all else by AdamW */
};

/* Zero is the default, which is said in brackets. */
struct gg_train_params {
    int32_t n_ctx;   /* ids a row [512, or what the model was trained for] */
    int32_t batch;   /* rows a step [8] */
    int32_t at_once; /* rows that are computed together [1] */
    int64_t n_steps; /* [as many as `epochs` take] */
    double epochs;   /* how often all rows are seen [1] */
    int32_t rank;    /* of an adapter [0: all weights are trained] */
    double alpha;    /* scale of an adapter, times its rank [2 * rank] */
    const char *targets; /* of an adapter: names of matrices, by commas, as
                            "attn_q,attn_v" [all of the blocks] */
    enum gg_train_optimizer optimizer;
    double rate;                  /* learning rate [1e-4; of an adapter 2e-4] */
    double matrix_rate;           /* of Muon [0.02] */
    double beta1, beta2, epsilon; /* of AdamW [0.9, 0.999, 1e-8] */
    double decay;                 /* of matrices' weights, times the rate [0] */
    double clip; /* norm of the gradient, at most [1]; below 0: any */
    enum gg_train_schedule schedule;
    int64_t warm_up;   /* steps in which the rate rises [0] */
    int64_t fall;      /* last steps, in which it falls [all others] */
    double least_rate; /* what it falls to, as a part of the rate [0] */
    bool in_order;     /* rows are not shuffled */
    bool init;         /* weights are drawn anew from the seed */
    uint64_t seed;
    int n_threads;             /* [one for each processor] */
    uint64_t memory_limit;     /* bytes for activations: they are computed again
                                  where it is less than all take [no limit] */
    bool measure;              /* gg_train_memory() alone will be asked */
    bool (*abort)(void *data); /* true: what runs ends with GG_ERR_ABORTED */
    void *abort_data;
    uintptr_t reserved[8];
};

struct gg_train;

/* Opens the model, for the CPU. Its file may change as soon as
 * gg_train_write() was called. Strings are copied. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_open(const char *path, const struct gg_train_params *params,
              struct gg_train **out, struct gg_error *err);

GG_API void
gg_train_free(struct gg_train *train); /* takes NULL */

/* The model's vocabulary, for whoever encodes texts. */
GG_API const struct gg_vocab *
gg_train_vocab(const struct gg_train *train);

/* ---- Data ---------------------------------------------------------------- */

enum gg_train_part {
    GG_TRAIN_SET = 0,
    GG_TRAIN_HELD_OUT = 1,
};

/* Adds a sequence. counts[i] says whether id i is a target that counts; NULL:
 * all are, but the first, before which there is nothing. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_add(struct gg_train *train, enum gg_train_part part,
             const int32_t *ids, const bool *counts, size_t n,
             struct gg_error *err);

/* After the last sequence. GG_ERR_UNSUPPORTED: the model has an op without a
 * gradient, which the sentence names; GG_ERR_ARG: no target counts;
 * GG_ERR_NOMEM: also where memory_limit is too little for one block. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_start(struct gg_train *train, struct gg_error *err);

/* Memory of a started training, in bytes, and its parts. */
struct gg_train_memory {
    uint64_t weights, gradients, moments; /* of parameters */
    uint64_t activations;                 /* with their gradients */
    uint64_t n_parameters;
    uint64_t n_rows, n_targets; /* of an epoch */
    int32_t n_windows;          /* of blocks, computed twice if more than one */
    int32_t n_ctx;              /* ids of a row */
    uintptr_t reserved[4];
};
GG_API struct gg_train_memory
gg_train_memory(const struct gg_train *train);

/* ---- Steps --------------------------------------------------------------- */

struct gg_train_state {
    int64_t step, n_steps; /* done, and in all */
    uint64_t n_targets;    /* seen so far */
    uint64_t epoch;
};
GG_API struct gg_train_state
gg_train_state(const struct gg_train *train);

struct gg_train_report {
    double loss; /* of the step, before it: nats a target */
    double norm; /* of its gradient, before it was clipped */
    double rate; /* learning rate */
    uint64_t n_targets;
};

/* GG_ERR_ABORTED, and any other failure, leaves all as it was before. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_step(struct gg_train *train, struct gg_train_report *report,
              struct gg_error *err);

/* Nats a target of the held-out sequences. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_evaluate(struct gg_train *train, double *loss, uint64_t *n_targets,
                  struct gg_error *err);

/* ---- Files --------------------------------------------------------------- */

/* All that the rest of the run depends on, as a GGUF file: under a temporary
 * name, then renamed, so that a crash leaves the one that was there. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_save(const struct gg_train *train, const char *path,
              struct gg_error *err);

/* Like it, into an open file, from where it stands on. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_write_checkpoint(const struct gg_train *train, FILE *file,
                          struct gg_error *err);

/* Goes on from such a file: of the same parameters, but for n_threads,
 * memory_limit, n_steps and epochs, the same model and the same sequences. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_load(struct gg_train *train, const char *path, struct gg_error *err);

/* The adapter, or the model, as a GGUF file: weights that were trained are
 * F32. */
GG_API GG_MUST_CHECK enum gg_status
gg_train_write(const struct gg_train *train, FILE *file, struct gg_error *err);

#ifdef __cplusplus
}
#endif

#endif
