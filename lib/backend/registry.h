/* registry.h - the list of devices, and who fills it */
#ifndef BACKEND_REGISTRY_H
#define BACKEND_REGISTRY_H

#include <ggml-backend.h>

/* Adds what the library was built with, by ggml_backend_register(). The
 * registry calls it once, before it answers its first question. Lives in
 * lib/api, which alone knows all back ends. */
void
api_register_backends(void);

/* Adds what lies in modules. The registry calls it once, when the answer to a
 * question is not among what it has: loading them takes time. */
void
api_load_modules(void);

#endif
