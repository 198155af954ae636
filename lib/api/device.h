/* device.h - which device does the user mean? */
#ifndef API_DEVICE_H
#define API_DEVICE_H

#include <ggml-backend.h>

#include "core/error.h"

/* `name`: "cpu", "cuda", "cuda:N", "auto" or NULL (auto: a GPU where there is
 * one, else the CPU). */
enum gg_status
device_find(const char *name, ggml_backend_dev_t *out, struct gg_error *err);

#endif
