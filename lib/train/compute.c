/* compute.c - runs a part of a graph */
#include "train/step.h"

enum gg_status
train_compute(ggml_backend_t backend, struct ggml_cgraph *graph, int first,
              int end, struct gg_error *err)
{
    struct ggml_cgraph slice = tensor_graph_slice(graph, first, end);

    switch (ggml_backend_graph_compute(backend, &slice)) {
    case GGML_STATUS_SUCCESS:
        return GG_OK;
    case GGML_STATUS_ABORTED:
        return error_set(err, GG_ERR_ABORTED, "aborted");
    case GGML_STATUS_ALLOC_FAILED:
        return error_nomem(err);
    default:
        return error_set(err, GG_ERR_IO, "the device failed");
    }
}
