/* meta.c - one device of several: of one only */
#include <ggml-backend.h>

#include "core/log.h"

const char *
ggml_backend_meta_split_axis_name(enum ggml_backend_meta_split_axis split_axis)
{
    switch (split_axis) {
    case GGML_BACKEND_SPLIT_AXIS_0:
        return "0";
    case GGML_BACKEND_SPLIT_AXIS_1:
        return "1";
    case GGML_BACKEND_SPLIT_AXIS_2:
        return "2";
    case GGML_BACKEND_SPLIT_AXIS_3:
        return "3";
    case GGML_BACKEND_SPLIT_AXIS_MIRRORED:
        return "MIRRORED";
    case GGML_BACKEND_SPLIT_AXIS_PARTIAL:
        return "PARTIAL";
    case GGML_BACKEND_SPLIT_AXIS_NONE:
        return "NONE";
    case GGML_BACKEND_SPLIT_AXIS_UNKNOWN:
        return "UNKNOWN";
    default:
        GGML_ABORT("no such axis of a split: %d", (int)split_axis);
    }
}

/* Whatever a tensor's split, one device has all of it. */
ggml_backend_dev_t
ggml_backend_meta_device(ggml_backend_dev_t *devs, size_t n_devs,
                         ggml_backend_meta_get_split_state_t get_split_state,
                         void *get_split_state_ud)
{
    (void)get_split_state;
    (void)get_split_state_ud;
    if (n_devs == 1)
        return devs[0];
    log_say(GGML_LOG_LEVEL_ERROR,
            "tensors are not split over devices: %zu cannot be one\n", n_devs);
    return NULL;
}
