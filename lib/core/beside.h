/* beside.h - files that lie beside the library */
#ifndef CORE_BESIDE_H
#define CORE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file of that name in the folder that this code was loaded from,
 * wherever it was installed or built. False: it cannot be said. */
bool
core_path_beside_library(const char *name, char *path, size_t size);

#endif
