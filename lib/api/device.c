/* device.c - which device does the user mean? */
#include "api/device.h"

#include <stdio.h>
#include <string.h>

#include "api/cuda.h"
#include "core/escape.h"
#include "core/thread.h"
#include "cpu/isa.h"

static enum gg_status
find_cpu(struct model_devices *out, struct gg_error *err)
{
    ggml_backend_dev_t dev =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);

    if (!dev)
        return error_nomem(err); /* it was built in */
    *out = (struct model_devices){ { dev }, 1 };
    return GG_OK;
}

enum {
    MAX_DEVICES = sizeof((struct model_devices){ 0 }.list) /
                  sizeof((struct model_devices){ 0 }.list[0]),
};

/* As many as there are, or as a model can lie on. */
static enum gg_status
find_auto(struct model_devices *out, struct gg_error *err)
{
    out->n = 0;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);

        if (ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_GPU &&
            out->n < MAX_DEVICES)
            out->list[out->n++] = dev;
    }
    return out->n ? GG_OK : find_cpu(out, err);
}

/* How many the module has found. */
static enum gg_status
count_cuda(size_t *n, struct gg_error *err)
{
    const char *why;

    *n = api_cuda_module(&why)
             ? ggml_backend_reg_dev_count(api_cuda_module(NULL))
             : 0;
    if (*n > 0)
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED, "no CUDA device: %s", why);
}

static enum gg_status
find_all_cuda(struct model_devices *out, struct gg_error *err)
{
    size_t n;
    enum gg_status st = count_cuda(&n, err);

    out->n = 0;
    for (size_t i = 0; st == GG_OK && i < n && out->n < MAX_DEVICES; i++)
        out->list[out->n++] =
            ggml_backend_reg_dev_get(api_cuda_module(NULL), i);
    return st;
}

static bool
is_listed(const struct model_devices *d, ggml_backend_dev_t dev)
{
    for (int i = 0; i < d->n; i++)
        if (d->list[i] == dev)
            return true;
    return false;
}

/* "cuda:N" is named CUDAN in the registry. */
static enum gg_status
add_cuda(const char *number, struct model_devices *out, struct gg_error *err)
{
    ggml_backend_dev_t dev;
    char name[16];
    size_t n;
    enum gg_status st = count_cuda(&n, err);

    if (st != GG_OK)
        return st;
    snprintf(name, sizeof(name), "CUDA%s", number);
    dev = ggml_backend_dev_by_name(name);
    if (!dev)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "no CUDA device has the number %s: the last is %zu",
                         number, n - 1);
    if (is_listed(out, dev))
        return error_set(err, GG_ERR_ARG, "cuda:%s is named twice", number);
    if (out->n == MAX_DEVICES)
        return error_set(err, GG_ERR_ARG, "more than %d devices", MAX_DEVICES);
    out->list[out->n++] = dev;
    return GG_OK;
}

/* "cuda:N", of which *number gets N; *rest what follows the comma, or NULL. */
static bool
split_list(const char *list, char number[4], const char **rest)
{
    size_t n;

    if (strncmp(list, "cuda:", 5) != 0)
        return false;
    list += 5;
    n = strspn(list, "0123456789");
    if (n == 0 || n > 3 || (list[0] == '0' && n > 1) ||
        (list[n] != '\0' && list[n] != ','))
        return false;
    memcpy(number, list, n);
    number[n] = '\0';
    *rest = list[n] ? list + n + 1 : NULL;
    return true;
}

static enum gg_status
find_list(const char *name, struct model_devices *out, struct gg_error *err)
{
    char number[4], shown[64];
    const char *rest = name;
    enum gg_status st = GG_OK;

    out->n = 0;
    while (rest && st == GG_OK) {
        if (!split_list(rest, number, &rest))
            return error_set(
                err, GG_ERR_ARG,
                "'%s' is not a device: cpu, cuda, cuda:N, cuda:N,cuda:M or "
                "auto",
                escape_bytes(shown, sizeof(shown), name, strlen(name)));
        st = add_cuda(number, out, err);
    }
    return st;
}

enum gg_status
api_devices_find(const char *name, struct model_devices *out, const char **note,
                 struct gg_error *err)
{
    enum gg_status st = cpu_isa_check(err);

    if (st == GG_OK && !(name && !strcmp(name, "cpu")))
        st = api_cuda_check_environment(err);
    if (st != GG_OK)
        return st;
    if (!name || !strcmp(name, "auto")) {
        st = find_auto(out, err);
        if (name && st == GG_OK &&
            ggml_backend_dev_type(out->list[0]) == GGML_BACKEND_DEVICE_TYPE_CPU)
            *note = api_cuda_note();
        return st;
    }
    if (!strcmp(name, "cpu"))
        return find_cpu(out, err);
    if (!strcmp(name, "cuda"))
        return find_all_cuda(out, err);
    return find_list(name, out, err);
}

int
gg_default_threads(void)
{
    return thread_count_default();
}
