/* build.h - which build of the library this is */
#ifndef CORE_BUILD_H
#define CORE_BUILD_H

#include <stdint.h>

/* A number that two builds hardly share: made of the version, the compiler, the
 * sizes of words, and the note that the linker has put into the file (the
 * build ID that file(1) shows), if it puts any. */
uint64_t
core_build_fingerprint(void);

#endif
