/* offload.h - layer offload: which layers a device computes, which the CPU */
#ifndef MODEL_OFFLOAD_H
#define MODEL_OFFLOAD_H

#include "gguf/reader.h"
#include "model/model.h"

/* Sets the homes of the layers, where only the device stands: it gets
 * params->gpu_layers of the last layers, or as many as its memory has room for
 * with keys and values of params->n_ctx positions; the CPU has the others.
 * Where that is not all m->note says so. Fails where the device was requested
 * by name and no layer fits. */
enum gg_status
model_offload_layers(const struct gguf_context *gguf,
                     const struct gg_model_params *params, struct model *m,
                     struct gg_error *err);

/* Bytes of weights of each of the n_layer layers, and, behind them, of what is
 * in front of them and after them. False: no memory. */
bool
model_offload_bytes(const struct gguf_context *gguf, const struct model *m,
                    uint64_t *bytes);

#endif
