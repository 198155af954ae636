/* modules.h - back ends that are modules, loaded when they are needed first
 *
 * The table in modules.c has a row for each: how users name its devices, its
 * file, and what the environment may say of it. */
#ifndef API_MODULES_H
#define API_MODULES_H

#include <ggml-backend.h>

#include "core/error.h"

struct api_module {
    const char *name;        /* of its devices, for users: "cuda", "cuda:N"; */
    const char *device;      /* in the registry, where N follows: "CUDA" */
    const char *file;        /* next to the library */
    const char *variable;    /* of the environment: another file, or "none" */
    const char *switches[3]; /* variables that are 0 or 1; NULL: no more */
};

/* Row i of the table; NULL: there are no more. */
const struct api_module *
api_module_at(size_t i);

/* The row of that name; NULL: there is none. */
const struct api_module *
api_module_named(const char *name, size_t n);

/* Loads the module, the first time, and registers what it found. NULL: there
 * is no device; *why, if it is not NULL, gets the reason in words, without an
 * end; static. */
ggml_backend_reg_t
api_module_load(const struct api_module *m, const char **why);

/* All of them. */
void
api_modules_load(void);

/* Registers what those modules find that lie in that folder. */
void
api_modules_load_from(const char *folder);

/* GG_ERR_ARG: the environment says of one what cannot be meant. */
enum gg_status
api_modules_check_environment(struct gg_error *err);

/* A sentence that says why the CPU computes; static. */
const char *
api_modules_note(void);

#endif
