/* modules.c - finds the modules of back ends, and loads them
 *
 * A module lies next to the library, wherever that was installed or built. A
 * variable of the environment names another one, as a path, or "none". */
#include <config.h>

#include "api/modules.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/module.h"
#include "core/escape.h"
#include "core/module.h"

static const struct api_module table[] = {
    { "cuda",
      "CUDA",
      "libggml-cuda-" PACKAGE_VERSION ".so",
      "GG_CUDA_MODULE",
      { "GG_CUDA_GRAPHS", "GG_CUDA_PEER" } },
};

enum {
    N_MODULES = sizeof(table) / sizeof(table[0]),
};

/* The result of loading each. */
static struct loaded {
    bool tried;
    ggml_backend_reg_t reg;
    char why[320];  /* there is none */
    char note[384]; /* the same as a sentence */
} loaded[N_MODULES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct api_module *
api_module_at(size_t i)
{
    return i < N_MODULES ? &table[i] : NULL;
}

const struct api_module *
api_module_named(const char *name, size_t n)
{
    for (size_t i = 0; i < N_MODULES; i++)
        if (strlen(table[i].name) == n && !memcmp(table[i].name, name, n))
            return &table[i];
    return NULL;
}

/* ---- the environment ----------------------------------------------------- */

static bool
is_none(const char *path)
{
    return strcmp(path, "none") == 0;
}

static enum gg_status
check_switch(const char *name, struct gg_error *err)
{
    const char *value = getenv(name);

    if (!value || !*value || !strcmp(value, "0") || !strcmp(value, "1"))
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "%s: '%.32s' is neither 0 nor 1", name,
                     value);
}

static enum gg_status
check_module(const struct api_module *m, struct gg_error *err)
{
    const char *path = module_named_by(m->variable);
    enum gg_status st = GG_OK;

    if (path && !is_none(path) && access(path, R_OK))
        st = error_set(err, GG_ERR_ARG, "%s: %s: %s", m->variable, path,
                       strerror(errno));
    for (int i = 0; m->switches[i] && st == GG_OK; i++)
        st = check_switch(m->switches[i], err);
    return st;
}

enum gg_status
api_modules_check_environment(struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < N_MODULES && st == GG_OK; i++)
        st = check_module(&table[i], err);
    return st;
}

/* ---- loading ------------------------------------------------------------- */

static bool
find_module_file(const struct api_module *m, char *path, size_t size)
{
    const char *given = module_named_by(m->variable);

    if (!given)
        return module_next_to_library(m->file, path, size);
    snprintf(path, size, "%s", given);
    return !is_none(given);
}

static void
say_why(const struct api_module *m, struct loaded *l, const char *why)
{
    escape_bytes(l->why, sizeof(l->why), why, strlen(why));
    snprintf(l->note, sizeof(l->note), "no %s device: %s; the CPU computes",
             m->device, l->why);
}

static void
load(const struct api_module *m, struct loaded *l)
{
    char path[PATH_MAX], why[256];

    if (!find_module_file(m, path, sizeof(path))) {
        if (module_named_by(m->variable))
            snprintf(why, sizeof(why), "%s says none", m->variable);
        else
            snprintf(why, sizeof(why), "this build has no %s module",
                     m->device);
    } else {
        l->reg = backend_module_load(path, why, sizeof(why));
    }
    if (l->reg)
        ggml_backend_register(l->reg);
    else
        say_why(m, l, why);
}

ggml_backend_reg_t
api_module_load(const struct api_module *m, const char **why)
{
    struct loaded *l = &loaded[m - table];

    pthread_mutex_lock(&lock);
    if (!l->tried)
        load(m, l);
    l->tried = true;
    pthread_mutex_unlock(&lock);
    if (why)
        *why = l->why;
    return l->reg;
}

void
api_modules_load(void)
{
    for (size_t i = 0; i < N_MODULES; i++)
        (void)api_module_load(&table[i], NULL);
}

void
api_modules_load_from(const char *folder)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < N_MODULES; i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", folder, table[i].file);

        if (n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0)
            ggml_backend_load(path);
    }
}

const char *
api_modules_note(void)
{
    (void)api_module_load(&table[0], NULL);
    return loaded[0].note;
}
