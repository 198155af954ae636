/* share.h - which layers a device takes, and which stay with the CPU */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "gguf/reader.h"
#include "model/model.h"

/* Sets m->host and m->first_layer, and m->device to the host where the device
 * gets nothing: params->gpu_layers of the last layers, or as many as its
 * memory has room for with keys and values of params->n_ctx positions. Where
 * that is not all m->note says so. Fails where the device was asked for by
 * name and no layer fits. */
enum gg_status
share_layers(const struct gguf_context *gguf,
             const struct gg_model_params *params, struct model *m,
             struct gg_error *err);

#endif
