/* device.c - which device does the user mean? */
#include "api/device.h"

#include <stdio.h>
#include <string.h>

#include "api/cuda.h"
#include "core/escape.h"
#include "core/thread.h"
#include "cpu/isa.h"

static enum gg_status
find_cpu(ggml_backend_dev_t *out, struct gg_error *err)
{
    *out = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return *out ? GG_OK : error_nomem(err); /* it was built in */
}

static enum gg_status
find_auto(ggml_backend_dev_t *out, struct gg_error *err)
{
    ggml_backend_dev_t dev =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);

    if (!dev)
        return find_cpu(out, err);
    *out = dev;
    return GG_OK;
}

static bool
is_cpu(ggml_backend_dev_t dev)
{
    return ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

/* "cuda" and "cuda:N" are named CUDA0, CUDAN in the registry. */
static enum gg_status
find_cuda(const char *number, ggml_backend_dev_t *out, struct gg_error *err)
{
    const char *why;
    size_t n = api_cuda_module(&why)
                   ? ggml_backend_reg_dev_count(api_cuda_module(NULL))
                   : 0;
    char name[16];

    if (n == 0)
        return error_set(err, GG_ERR_UNSUPPORTED, "no CUDA device: %s", why);
    snprintf(name, sizeof(name), "CUDA%s", number);
    *out = ggml_backend_dev_by_name(name);
    if (*out)
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED,
                     "no CUDA device has the number %s: the last is %zu",
                     number, n - 1);
}

static bool
is_number(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return n > 0 && n <= 3 && s[n] == '\0' && (s[0] != '0' || n == 1);
}

enum gg_status
api_device_find(const char *name, ggml_backend_dev_t *out, const char **note,
                struct gg_error *err)
{
    enum gg_status st;
    char shown[32];

    st = cpu_isa_check(err);
    if (st == GG_OK && !(name && !strcmp(name, "cpu")))
        st = api_cuda_check_environment(err);
    if (st != GG_OK)
        return st;
    if (!name || !strcmp(name, "auto")) {
        st = find_auto(out, err);
        if (name && st == GG_OK && is_cpu(*out))
            *note = api_cuda_note();
        return st;
    }
    if (!strcmp(name, "cpu"))
        return find_cpu(out, err);
    if (!strcmp(name, "cuda"))
        return find_cuda("0", out, err);
    if (!strncmp(name, "cuda:", 5) && is_number(name + 5))
        return find_cuda(name + 5, out, err);
    return error_set(err, GG_ERR_ARG,
                     "'%s' is not a device: cpu, cuda, cuda:N or auto",
                     escape_bytes(shown, sizeof(shown), name, strlen(name)));
}

int
gg_default_threads(void)
{
    return thread_count_default();
}
