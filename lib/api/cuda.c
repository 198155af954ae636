/* cuda.c - finds the CUDA module, and passes on what it offers
 *
 * It lies beside the library, wherever that was installed or built. The
 * environment's GG_CUDA_MODULE names another one, as a path, or "none". */
#include <config.h>

#include "api/cuda.h"

#include <errno.h>
#include <ggml-cuda.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/impl.h"
#include "backend/module.h"
#include "core/beside.h"
#include "core/escape.h"

#define NAME "libggml-cuda-" PACKAGE_VERSION ".so"

static struct {
    pthread_once_t once;
    ggml_backend_reg_t reg;
    char why[320];  /* there is none */
    char note[384]; /* the same as a sentence */
} module = { .once = PTHREAD_ONCE_INIT };

/* ---- where it is -------------------------------------------------------- */

/* A program with more rights than its user, be they those of another or
 * capabilities, is not told what to load. */
static const char *
path_of_environment(void)
{
    const char *path = secure_getenv("GG_CUDA_MODULE");

    return path && *path ? path : NULL;
}

static bool
is_none(const char *path)
{
    return strcmp(path, "none") == 0;
}

static enum gg_status
check_switch(const char *name, const char *value, struct gg_error *err)
{
    if (!value || !*value || !strcmp(value, "0") || !strcmp(value, "1"))
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "%s: '%.32s' is neither 0 nor 1", name,
                     value);
}

enum gg_status
api_cuda_check_environment(struct gg_error *err)
{
    const char *path = path_of_environment();
    enum gg_status st = GG_OK;

    if (path && !is_none(path) && access(path, R_OK))
        st = error_set(err, GG_ERR_ARG, "GG_CUDA_MODULE: %s: %s", path,
                       strerror(errno));
    if (st == GG_OK)
        st = check_switch("GG_CUDA_GRAPHS", getenv("GG_CUDA_GRAPHS"), err);
    if (st == GG_OK)
        st = check_switch("GG_CUDA_PEER", getenv("GG_CUDA_PEER"), err);
    return st;
}

static bool
find_module(char *path, size_t size)
{
    const char *given = path_of_environment();

    if (given) {
        snprintf(path, size, "%s", given);
        return !is_none(given);
    }
    return core_path_beside_library(NAME, path, size) &&
           access(path, F_OK) == 0;
}

static void
say_why(const char *why)
{
    escape_bytes(module.why, sizeof(module.why), why, strlen(why));
    snprintf(module.note, sizeof(module.note),
             "no CUDA device: %s; the CPU computes", module.why);
}

static void
load_module(void)
{
    char path[PATH_MAX], why[256];

    if (!find_module(path, sizeof(path))) {
        say_why(path_of_environment() ? "GG_CUDA_MODULE says none"
                                      : "this build has no CUDA module");
        return;
    }
    module.reg = backend_module_load(path, why, sizeof(why));
    if (module.reg)
        ggml_backend_register(module.reg);
    else
        say_why(why);
}

ggml_backend_reg_t
api_cuda_module(const char **why)
{
    pthread_once(&module.once, load_module);
    if (why)
        *why = module.why;
    return module.reg;
}

void
api_cuda_load_from(const char *folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/" NAME, folder);

    if (n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0)
        ggml_backend_load(path);
}

const char *
api_cuda_note(void)
{
    api_cuda_module(NULL);
    return module.note;
}

/* ---- the public face ---------------------------------------------------- */

static ggml_backend_dev_t
device_at(int number)
{
    ggml_backend_reg_t reg = api_cuda_module(NULL);

    if (!reg || number < 0 || (size_t)number >= ggml_backend_reg_dev_count(reg))
        return NULL;
    return ggml_backend_reg_dev_get(reg, (size_t)number);
}

static void *
extra(const char *name)
{
    ggml_backend_reg_t reg = api_cuda_module(NULL);

    return reg ? ggml_backend_reg_get_proc_address(reg, name) : NULL;
}

ggml_backend_reg_t
ggml_backend_cuda_reg(void)
{
    return api_cuda_module(NULL);
}

ggml_backend_t
ggml_backend_cuda_init(int device)
{
    ggml_backend_dev_t dev = device_at(device);

    return dev ? ggml_backend_dev_init(dev, NULL) : NULL;
}

bool
ggml_backend_is_cuda(ggml_backend_t backend)
{
    return backend && module.reg && backend->device->reg == module.reg;
}

ggml_backend_buffer_type_t
ggml_backend_cuda_buffer_type(int device)
{
    ggml_backend_dev_t dev = device_at(device);

    return dev ? ggml_backend_dev_buffer_type(dev) : NULL;
}

ggml_backend_buffer_type_t
ggml_backend_cuda_host_buffer_type(void)
{
    ggml_backend_dev_t dev = device_at(0);

    return dev ? ggml_backend_dev_host_buffer_type(dev) : NULL;
}

int
ggml_backend_cuda_get_device_count(void)
{
    ggml_backend_reg_t reg = api_cuda_module(NULL);

    return reg ? (int)ggml_backend_reg_dev_count(reg) : 0;
}

void
ggml_backend_cuda_get_device_description(int device, char *description,
                                         size_t description_size)
{
    ggml_backend_dev_t dev = device_at(device);

    snprintf(description, description_size, "%s",
             dev ? ggml_backend_dev_description(dev) : "");
}

void
ggml_backend_cuda_get_device_memory(int device, size_t *free, size_t *total)
{
    ggml_backend_dev_t dev = device_at(device);

    *free = *total = 0;
    if (dev)
        ggml_backend_dev_memory(dev, free, total);
}

bool
ggml_backend_cuda_register_host_buffer(void *buffer, size_t size)
{
    void *p = extra("ggml_backend_register_host_buffer");
    bool (*pin)(void *, size_t);

    memcpy(&pin, &p, sizeof(p));
    return pin && pin(buffer, size);
}

void
ggml_backend_cuda_unregister_host_buffer(void *buffer)
{
    void *p = extra("ggml_backend_unregister_host_buffer");
    void (*unpin)(void *);

    memcpy(&unpin, &p, sizeof(p));
    if (unpin)
        unpin(buffer);
}
