/* module.h - shared objects that are loaded at run time: they lie in the folder
 * of the library, or where a variable of the environment says */
#ifndef CORE_MODULE_H
#define CORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* The value of an environment variable that names a module; NULL: it is not
 * set. A program with more rights than its user, be they those of another or
 * capabilities, is not told what to load. */
const char *
module_named_by(const char *variable);

/* The path of a file of that name in the folder that this code was loaded from,
 * wherever it was installed or built. False: there is no such file. */
bool
module_next_to_library(const char *name, char *path, size_t size);

/* Loads one for good; `global`: what it loads itself finds its symbols. NULL:
 * why[0..size) gets the reason, in words. */
void *
module_open(const char *path, bool global, char *why, size_t size);

/* A function or an object of it; NULL: it has none of that name. */
void *
module_symbol(void *module, const char *name);

#endif
