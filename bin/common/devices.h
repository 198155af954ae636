/* devices.h - the options that say which devices compute what of a model */
#ifndef COMMON_DEVICES_H
#define COMMON_DEVICES_H

#include <gg.h>

#include "common/options.h"

enum {
    DEVICES_MAX = 16,
};

struct device_options {
    const char *device;
    int32_t gpu_layers;          /* of all of them together; -1: not said */
    int32_t layers[DEVICES_MAX]; /* n, of each, if more than one was said */
    size_t n;
    bool cpu_moe;
    int32_t n_cpu_moe; /* -1: not said */
};

/* All defaults. */
#define DEVICE_OPTIONS_DEFAULT                                                 \
    {                                                                          \
        .gpu_layers = -1, .n_cpu_moe = -1                                      \
    }

extern const struct cli_option device_rows[];

/* Sets the devices to open a model with; o must live as long as *params. */
void
devices_set_params(const struct device_options *o,
                   struct gg_model_params *params);

/* "cpu" also where a GPU would compute no layer: it is not looked for. */
const char *
devices_name(const struct device_options *o);

#endif
