/* muon.h - steps of matrices made orthogonal (Jordan et al. 2024) */
#ifndef TRAIN_MUON_H
#define TRAIN_MUON_H

#include <ggml-alloc.h>

#include "core/error.h"
#include "train/params.h"

/* The graph for matrices of a shape. */
struct train_muon {
    int64_t ne[2];
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *in, *out;
    ggml_gallocr_t galloc;
};

enum gg_status
train_muon_init(struct train_muon *m, const struct ggml_tensor *weight,
                ggml_backend_t backend, struct gg_error *err);
void
train_muon_clear(struct train_muon *m);

/* Moves a weight of that shape against its gradient, which has been clipped. */
enum gg_status
train_muon_step(struct train_muon *m, struct train_param *p,
                ggml_backend_t backend, double rate, double decay,
                struct gg_error *err);

#endif
