/* train.h - a training run: options, sequences, steps */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include <gg-train.h>

#include "graph/arch.h"
#include "train/adapter.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"
#include "train/step.h"

enum {
    TRAIN_SETS = 2, /* enum gg_train_part */
};

struct train_run {
    struct gg_train_params o; /* with defaults filled in */
    char *targets;            /* o's */
    struct model *model;      /* the caller's, whose weights change */
    ggml_backend_t backend;
    struct train_params params;
    struct train_adapter adapter;
    struct train_pass pass;
    struct train_optimizer optimizer;
    bool started;
    bool changing; /* weights: not to be aborted */
    struct train_set sets[TRAIN_SETS];
    struct train_packed packed, held_out;
    uint64_t packed_epoch;
    struct train_batch batch;
    struct train_place place;
    int64_t n_steps;
};

/* The model is for the CPU, and for nobody else; it outlives the run. */
enum gg_status
train_run_new(struct model *model, const struct gg_train_params *params,
              struct train_run **out, struct gg_error *err);
void
train_run_free(struct train_run *t); /* takes NULL */

enum gg_status
train_run_add(struct train_run *t, enum gg_train_part part, const int32_t *ids,
              const bool *counts, size_t n, struct gg_error *err);

enum gg_status
train_run_start(struct train_run *t, struct gg_error *err);

struct gg_train_memory
train_run_memory(const struct train_run *t);

enum gg_status
train_run_step(struct train_run *t, struct gg_train_report *report,
               struct gg_error *err);
enum gg_status
train_run_evaluate(struct train_run *t, double *loss, uint64_t *n_targets,
                   struct gg_error *err);

enum gg_status
train_run_save(const struct train_run *t, const char *path,
               struct gg_error *err);
enum gg_status
train_run_write_checkpoint(const struct train_run *t, FILE *file,
                           struct gg_error *err);
enum gg_status
train_run_load(struct train_run *t, const char *path, struct gg_error *err);

/* The file of the model or adapter: output.c. */
enum gg_status
train_run_write(const struct train_run *t, FILE *file, struct gg_error *err);

/* Checks params and fills in defaults: options.c. */
enum gg_status
train_options(const struct gg_train_params *params, const struct model *model,
              struct gg_train_params *out, struct gg_error *err);

#endif
