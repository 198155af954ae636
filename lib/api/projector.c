/* projector.c - opening a projector on a device */
#include <gg-media.h>

#include "api/device.h"
#include "media/projector.h"

enum gg_status
gg_projector_open(const char *path, const struct gg_projector_params *params,
                  struct gg_projector **out, struct gg_error *err)
{
    static const struct gg_projector_params defaults;
    struct model_devices devices;
    struct gg_error own;
    const char *note;
    enum gg_status st;

    err = err ? err : &own;
    if (!path || !out)
        return error_null(err);
    params = params ? params : &defaults;
    st = api_devices_find(params->device ? params->device : "cpu", &devices,
                          &note, err);
    return st == GG_OK
               ? media_projector_open(path, params, devices.list[0], out, err)
               : st;
}
