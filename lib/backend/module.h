/* module.h - back ends in shared objects of their own */
#ifndef BACKEND_MODULE_H
#define BACKEND_MODULE_H

#include <ggml-backend.h>

/* Loads one for good, without registering it. NULL: why[0..size) gets the
 * reason, in words. */
ggml_backend_reg_t
backend_module_load(const char *path, char *why, size_t size);

#endif
