/* offload.h - layer offload: which layers devices compute, which the CPU */
#ifndef SESSION_OFFLOAD_H
#define SESSION_OFFLOAD_H

#include "gguf/reader.h"
#include "graph/model.h"

/* Sets the homes of the layers, where only their devices stand: these get as
 * many of the last layers as params say, or as their memory has room for with
 * keys and values of params->n_ctx positions; the CPU has the others, and
 * experts that there is no room for. Where that is not all m->note says so.
 * Fails where devices were requested by name and no layer fits. */
enum gg_status
session_offload_layers(const struct gg_model_params *params, struct model *m,
                       struct gg_error *err);

/* Bytes of a device's memory that layers may take, of which *total are all: the
 * rest is for buffers and scratch memory of the computation. */
uint64_t
session_offload_room(ggml_backend_dev_t device, size_t *available,
                     size_t *total);

/* Bytes of weights of each of the n_layer layers, and, after these, of what is
 * in front of them and after them. False: no memory. */
bool
session_offload_bytes(const struct model *m, uint64_t *bytes);

/* "CUDA0, CUDA1": the devices of homes but the CPU's. */
enum {
    MODEL_HOME_NAMES = 80
};
const char *
session_home_names(const struct model *m, char buf[MODEL_HOME_NAMES]);

#endif
