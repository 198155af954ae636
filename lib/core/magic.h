/* magic.h - what a file of another format is, by its first bytes */
#ifndef CORE_MAGIC_H
#define CORE_MAGIC_H

#include <stddef.h>

/* By what data[0..size) begins with: "a zip archive (PyTorch?)", perhaps with
 * what to do; static. NULL: it is not known. */
const char *
magic_name(const void *data, size_t size);

#endif
