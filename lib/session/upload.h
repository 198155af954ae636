/* upload.h - upload of weights to a device's memory */
#ifndef SESSION_UPLOAD_H
#define SESSION_UPLOAD_H

#include "gguf/reader.h"
#include "graph/model.h"

/* Progress of all that is copied for a model. */
struct upload_progress {
    const struct gg_model_params *params; /* who hears of it */
    uint64_t done, all;                   /* bytes */
};

/* Copies the data of n tensors, which are named as in the file and have memory
 * on the device. Several threads read, each into two pieces of pinned memory in
 * turn, so that reading, copying to them and crossing the bus go on at once. */
enum gg_status
session_upload_tensors(const struct gguf_file *file,
                       struct ggml_tensor *const *tensors, size_t n,
                       ggml_backend_dev_t device,
                       struct upload_progress *progress, struct gg_error *err);

#endif
