/* device.h - which device does the user mean? */
#ifndef API_DEVICE_H
#define API_DEVICE_H

#include "core/error.h"
#include "graph/model.h"

/* `name`: "cpu", "cuda" (all GPUs), "cuda:N", several of these with commas
 * between, "auto" or NULL (auto: all GPUs where there are any, else the CPU).
 * Where "auto" was said and there is none, *note gets a sentence that says why;
 * static. */
enum gg_status
api_devices_find(const char *name, struct model_devices *out, const char **note,
                 struct gg_error *err);

#endif
