/* compute_status.c - the error of a computation */
#include "session/compute.h"

#include "sched/sched.h"

enum gg_status
session_compute_status(ggml_backend_sched_t sched, enum ggml_status status,
                       struct gg_error *err)
{
    const char *error = sched_error(sched);

    if (status == GGML_STATUS_SUCCESS && error)
        status = GGML_STATUS_FAILED;
    switch (status) {
    case GGML_STATUS_SUCCESS:
        return GG_OK;
    case GGML_STATUS_ABORTED:
        return error_set(err, GG_ERR_ABORTED, "stopped");
    case GGML_STATUS_ALLOC_FAILED:
        return error_nomem(err);
    default:
        return error_set(err, GG_ERR_IO, "%s",
                         error ? error : "the device failed to compute");
    }
}
