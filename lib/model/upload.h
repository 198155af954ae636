/* upload.h - upload of weights to a device's memory */
#ifndef MODEL_UPLOAD_H
#define MODEL_UPLOAD_H

#include "gguf/reader.h"
#include "model/model.h"

/* Copies the data of ctx's tensors, which are named as in the file and have
 * memory on the device. Several threads read, each into two pieces of pinned
 * memory in turn, so that reading, copying to them and crossing the bus go on
 * at once. */
enum gg_status
model_upload_tensors(const struct gguf_file *file, struct ggml_context *ctx,
                     ggml_backend_dev_t device,
                     const struct gg_model_params *params,
                     struct gg_error *err);

#endif
