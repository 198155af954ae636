/* stranger.h - what a file is that is none of those looked for */
#ifndef CORE_STRANGER_H
#define CORE_STRANGER_H

#include <stddef.h>

/* By what data[0..size) begins with: "a zip archive (PyTorch?)", perhaps with
 * what to do; static. NULL: it is not known. */
const char *
stranger_name(const void *data, size_t size);

#endif
