/* device.h - which device does the user mean? */
#ifndef API_DEVICE_H
#define API_DEVICE_H

#include <ggml-backend.h>

#include "core/error.h"

/* `name`: "cpu", "cuda", "cuda:N", "auto" or NULL (auto: a GPU where there is
 * one, else the CPU). Where "auto" was said and there is none, *note gets a
 * sentence that says why; static. */
enum gg_status
api_device_find(const char *name, ggml_backend_dev_t *out, const char **note,
                struct gg_error *err);

#endif
