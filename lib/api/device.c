/* device.c - which device does the user mean? */
#include "api/device.h"

#include <stdio.h>
#include <string.h>

#include "api/modules.h"
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
count_devices(const struct api_module *m, size_t *n, struct gg_error *err)
{
    const char *why;
    ggml_backend_reg_t reg = api_module_load(m, &why);

    *n = reg ? ggml_backend_reg_dev_count(reg) : 0;
    if (*n > 0)
        return GG_OK;
    return error_set(err, GG_ERR_UNSUPPORTED, "no %s device: %s", m->device,
                     why);
}

static enum gg_status
find_all(const struct api_module *m, struct model_devices *out,
         struct gg_error *err)
{
    size_t n;
    enum gg_status st = count_devices(m, &n, err);

    out->n = 0;
    for (size_t i = 0; st == GG_OK && i < n && out->n < MAX_DEVICES; i++)
        out->list[out->n++] =
            ggml_backend_reg_dev_get(api_module_load(m, NULL), i);
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

/* A device of a list. */
struct listed {
    const struct api_module *module;
    char number[4];
};

/* "cuda:N" is named CUDAN in the registry. */
static enum gg_status
add_device(const struct listed *l, struct model_devices *out,
           struct gg_error *err)
{
    ggml_backend_dev_t dev;
    char name[32];
    size_t n;
    enum gg_status st = count_devices(l->module, &n, err);

    if (st != GG_OK)
        return st;
    snprintf(name, sizeof(name), "%s%s", l->module->device, l->number);
    dev = ggml_backend_dev_by_name(name);
    if (!dev)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "no %s device has the number %s: the last is %zu",
                         l->module->device, l->number, n - 1);
    if (is_listed(out, dev))
        return error_set(err, GG_ERR_ARG, "%s:%s is named twice",
                         l->module->name, l->number);
    if (out->n == MAX_DEVICES)
        return error_set(err, GG_ERR_ARG, "more than %d devices", MAX_DEVICES);
    out->list[out->n++] = dev;
    return GG_OK;
}

/* "cuda:N"; *rest gets what follows the comma, or NULL. */
static bool
split_list(const char *list, struct listed *l, const char **rest)
{
    size_t n = strcspn(list, ":");

    l->module = api_module_named(list, n);
    if (!l->module || list[n] != ':')
        return false;
    list += n + 1;
    n = strspn(list, "0123456789");
    if (n == 0 || n >= sizeof(l->number) || (list[0] == '0' && n > 1) ||
        (list[n] != '\0' && list[n] != ','))
        return false;
    memcpy(l->number, list, n);
    l->number[n] = '\0';
    *rest = list[n] ? list + n + 1 : NULL;
    return true;
}

/* "cuda, cuda:N, cuda:N,cuda:M" of each module. */
static void
list_names(char *to, size_t size)
{
    const struct api_module *m;
    size_t at = 0;

    to[0] = '\0';
    for (size_t i = 0; (m = api_module_at(i)) && at < size; i++)
        at +=
            (size_t)snprintf(to + at, size - at, "%s%s, %s:N, %s:N,%s:M",
                             i ? ", " : "", m->name, m->name, m->name, m->name);
}

static enum gg_status
no_device(const char *name, struct gg_error *err)
{
    char shown[64], names[128];

    list_names(names, sizeof(names));
    return error_set(err, GG_ERR_ARG, "'%s' is not a device: cpu, %s or auto",
                     escape_bytes(shown, sizeof(shown), name, strlen(name)),
                     names);
}

static enum gg_status
find_list(const char *name, struct model_devices *out, struct gg_error *err)
{
    const char *rest = name;
    enum gg_status st = GG_OK;

    out->n = 0;
    while (rest && st == GG_OK) {
        struct listed l;

        if (!split_list(rest, &l, &rest))
            return no_device(name, err);
        st = add_device(&l, out, err);
    }
    return st;
}

enum gg_status
api_devices_find(const char *name, struct model_devices *out, const char **note,
                 struct gg_error *err)
{
    enum gg_status st = cpu_isa_check(err);
    const struct api_module *module;

    if (st == GG_OK && !(name && !strcmp(name, "cpu")))
        st = api_modules_check_environment(err);
    if (st != GG_OK)
        return st;
    if (!name || !strcmp(name, "auto")) {
        st = find_auto(out, err);
        if (name && st == GG_OK &&
            ggml_backend_dev_type(out->list[0]) == GGML_BACKEND_DEVICE_TYPE_CPU)
            *note = api_modules_note();
        return st;
    }
    if (!strcmp(name, "cpu"))
        return find_cpu(out, err);
    module = api_module_named(name, strlen(name));
    return module ? find_all(module, out, err) : find_list(name, out, err);
}

int
gg_default_threads(void)
{
    return thread_count_default();
}
