/* devices.c - the options that say which devices compute what of a model */
#include <config.h>

#include "common/devices.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* "20", or "20,12" of each device. */
static enum gg_status
set_gpu_layers(void *options, const struct cli_option *row, const char *value,
               struct gg_error *err)
{
    struct device_options *o = options;
    const char *p = value;
    int64_t sum = 0;

    for (o->n = 0;; p++) {
        char *end;
        long n;

        errno = 0;
        n = strtol(p, &end, 10);
        if (*p < '0' || *p > '9' || errno || n > INT32_MAX ||
            (*end != ',' && *end != '\0'))
            return cli_error(err, GG_ERR_ARG,
                             "--%s: '%s' is no number of layers, nor several "
                             "with commas between",
                             row->name, value);
        if (o->n == DEVICES_MAX)
            return cli_error(err, GG_ERR_ARG, "--%s: more than %d devices",
                             row->name, DEVICES_MAX);
        o->layers[o->n++] = (int32_t)n;
        sum += n;
        p = end;
        if (*p == '\0')
            break;
    }
    o->gpu_layers = sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
    o->n = o->n > 1 ? o->n : 0;
    return GG_OK;
}

#define AT(field) .at = offsetof(struct device_options, field)

/* clang-format off */
const struct cli_option device_rows[] = {
    { "device", 0, CLI_TEXT, "DEVICE",
      "cpu, cuda, cuda:N,cuda:M or auto (default)", AT(device),
      .values = "cpu|cuda|auto" },
    { "gpu-layers", 0, CLI_CALL, "COUNTS",
      "layers to offload, or layers per GPU, such as 20,12 (else as many as "
      "fit)",
      .set = set_gpu_layers, .aliases = "n-gpu-layers|ngl" },
    { "cpu-moe", 0, CLI_FLAG, NULL,
      "keep the experts of all layers on the CPU", AT(cpu_moe),
      .not_with = "n-cpu-moe" },
    { "n-cpu-moe", 0, CLI_INT, "N",
      "keep the experts of the first N layers on the CPU (else those that do "
      "not fit)",
      AT(n_cpu_moe), 0, INT32_MAX },
    { 0 },
};
/* clang-format on */

const char *
devices_name(const struct device_options *o)
{
    return o->gpu_layers == 0 ? "cpu" : o->device;
}

void
devices_set_params(const struct device_options *o,
                   struct gg_model_params *params)
{
    struct gg_model_params *p = params;

    p->device = devices_name(o);
    if (o->n > 0 && o->gpu_layers > 0) {
        p->device_layers = o->layers;
        p->n_device_layers = o->n;
    } else if (o->gpu_layers > 0) {
        p->gpu_layers = o->gpu_layers;
    }
    if (o->cpu_moe)
        p->cpu_experts = GG_EXPERTS_ALL_LAYERS;
    else if (o->n_cpu_moe >= 0)
        p->cpu_experts = o->n_cpu_moe ? o->n_cpu_moe : GG_EXPERTS_NO_LAYERS;
}
