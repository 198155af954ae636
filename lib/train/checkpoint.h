/* checkpoint.h - all that the rest of a run depends on, in a GGUF file */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include <stdio.h>

#include "core/error.h"
#include "train/params.h"

/* Where a run is. */
struct train_place {
    uint64_t step, epoch, row, n_targets;
    uint64_t fingerprint; /* of model, parameters and sequences */
};

enum gg_status
train_checkpoint_save(const struct train_params *params,
                      const struct train_place *place, const char *path,
                      struct gg_error *err);
enum gg_status
train_checkpoint_write(const struct train_params *params,
                       const struct train_place *place, FILE *file,
                       struct gg_error *err);

/* Loads a checkpoint of the same fingerprint. On failure nothing has
 * changed. */
enum gg_status
train_checkpoint_load(struct train_params *params, struct train_place *place,
                      const char *path, struct gg_error *err);

#endif
