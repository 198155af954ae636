/* adapter.h - an adapter (LoRA) as parameters */
#ifndef TRAIN_ADAPTER_H
#define TRAIN_ADAPTER_H

#include <gg-train.h>

#include "graph/adapter.h"
#include "train/params.h"

/* The one adapter of a model that is trained. */
struct train_adapter {
    struct model *model; /* NULL: there is none */
    struct model_adapter adapter;
    struct model_adapter_file file;
    float scale; /* 1: how much it counts */
    double alpha;
};

/* Gives the model an adapter for the matrices of its blocks whose names have
 * one of `targets` in them, by commas (NULL: all of them), of which the first
 * matrix of each pair is drawn and the second is 0. GG_ERR_ARG: a target is
 * found in no name. The parameters are cleared after it. */
enum gg_status
train_adapter_make(struct train_adapter *a, struct train_params *params,
                   struct model *model, const struct gg_train_params *o,
                   struct gg_error *err);

/* Takes it away from the model; takes an empty one. */
void
train_adapter_clear(struct train_adapter *a);

#endif
