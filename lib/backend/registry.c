/* registry.c - the list of registrations and devices of this process */
#include "backend/registry.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "backend/impl.h"
#include "core/log.h"
#include "core/mem.h"

enum {
    FIRST = 8, /* of each have a place without memory: what was built in has */
};

static struct {
    pthread_mutex_t lock;
    ggml_backend_reg_t first_regs[FIRST], *regs;
    ggml_backend_dev_t first_devices[FIRST], *devices;
    size_t n_regs, cap_regs, n_devices, cap_devices;
} registry = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .regs = registry.first_regs,
    .devices = registry.first_devices,
    .cap_regs = FIRST,
    .cap_devices = FIRST,
};

static pthread_once_t filled = PTHREAD_ONCE_INIT;
static pthread_once_t modules_loaded = PTHREAD_ONCE_INIT;

/* Registers the back ends that were built in. */
static void
fill_registry(void)
{
    pthread_once(&filled, api_register_backends);
}

/* All. */
static void
fill_all(void)
{
    fill_registry();
    pthread_once(&modules_loaded, api_load_modules);
}

/* One more of n pointers; false: no memory. */
static bool
grow_array(void *array, const void *first, size_t n, size_t *cap)
{
    void *old, *grown;

    if (n < *cap)
        return true;
    grown = mem_array(2 * *cap, sizeof(grown));
    if (!grown)
        return false;
    memcpy(&old, array, sizeof(old));
    memcpy(grown, old, n * sizeof(grown));
    memcpy(array, &grown, sizeof(grown));
    if (old != first)
        mem_free(old);
    *cap *= 2;
    return true;
}

static void
register_device(ggml_backend_dev_t device)
{
    for (size_t i = 0; i < registry.n_devices; i++)
        if (registry.devices[i] == device)
            return;
    if (grow_array(&registry.devices, registry.first_devices,
                   registry.n_devices, &registry.cap_devices))
        registry.devices[registry.n_devices++] = device;
    else
        log_say(GGML_LOG_LEVEL_ERROR, "no memory to register a device\n");
}

static void
add_reg(ggml_backend_reg_t reg)
{
    for (size_t i = 0; i < registry.n_regs; i++)
        if (registry.regs[i] == reg)
            return;
    if (!grow_array(&registry.regs, registry.first_regs, registry.n_regs,
                    &registry.cap_regs)) {
        log_say(GGML_LOG_LEVEL_ERROR, "no memory to register a back end\n");
        return;
    }
    registry.regs[registry.n_regs++] = reg;
    for (size_t i = 0; i < ggml_backend_reg_dev_count(reg); i++)
        register_device(ggml_backend_reg_dev_get(reg, i));
}

/* Does not fill the registry first: it is called to fill it. */
void
ggml_backend_register(ggml_backend_reg_t reg)
{
    if (!reg)
        return;
    pthread_mutex_lock(&registry.lock);
    add_reg(reg);
    pthread_mutex_unlock(&registry.lock);
}

void
ggml_backend_device_register(ggml_backend_dev_t device)
{
    pthread_mutex_lock(&registry.lock);
    register_device(device);
    pthread_mutex_unlock(&registry.lock);
}

/* Devices that stay move up. */
static size_t
drop_of(ggml_backend_reg_t reg)
{
    size_t n = 0;

    for (size_t i = 0; i < registry.n_devices; i++)
        if (ggml_backend_dev_backend_reg(registry.devices[i]) != reg)
            registry.devices[n++] = registry.devices[i];
    return n;
}

void
ggml_backend_unload(ggml_backend_reg_t reg)
{
    size_t n = 0;

    pthread_mutex_lock(&registry.lock);
    registry.n_devices = drop_of(reg);
    for (size_t i = 0; i < registry.n_regs; i++)
        if (registry.regs[i] != reg)
            registry.regs[n++] = registry.regs[i];
    registry.n_regs = n;
    pthread_mutex_unlock(&registry.lock);
}

void
ggml_backend_load_all(void)
{
    fill_all();
}

size_t
ggml_backend_reg_count(void)
{
    size_t n;

    fill_all();
    pthread_mutex_lock(&registry.lock);
    n = registry.n_regs;
    pthread_mutex_unlock(&registry.lock);
    return n;
}

ggml_backend_reg_t
ggml_backend_reg_get(size_t index)
{
    ggml_backend_reg_t reg;

    GGML_ASSERT(index < ggml_backend_reg_count());
    pthread_mutex_lock(&registry.lock);
    reg = registry.regs[index];
    pthread_mutex_unlock(&registry.lock);
    return reg;
}

ggml_backend_reg_t
ggml_backend_reg_by_name(const char *name)
{
    for (size_t i = 0; i < ggml_backend_reg_count(); i++)
        if (strcasecmp(ggml_backend_reg_name(ggml_backend_reg_get(i)), name) ==
            0)
            return ggml_backend_reg_get(i);
    return NULL;
}

size_t
ggml_backend_dev_count(void)
{
    size_t n;

    fill_all();
    pthread_mutex_lock(&registry.lock);
    n = registry.n_devices;
    pthread_mutex_unlock(&registry.lock);
    return n;
}

ggml_backend_dev_t
ggml_backend_dev_get(size_t index)
{
    ggml_backend_dev_t device;

    GGML_ASSERT(index < ggml_backend_dev_count());
    pthread_mutex_lock(&registry.lock);
    device = registry.devices[index];
    pthread_mutex_unlock(&registry.lock);
    return device;
}

static bool
device_is_named(ggml_backend_dev_t device, const void *name)
{
    return strcasecmp(ggml_backend_dev_name(device), name) == 0;
}

static bool
is_of_type(ggml_backend_dev_t device, const void *type)
{
    return ggml_backend_dev_type(device) ==
           *(const enum ggml_backend_dev_type *)type;
}

/* The first of those that are there. */
static ggml_backend_dev_t
first_there(bool (*is)(ggml_backend_dev_t, const void *), const void *what)
{
    ggml_backend_dev_t found = NULL;

    pthread_mutex_lock(&registry.lock);
    for (size_t i = 0; i < registry.n_devices && !found; i++)
        if (is(registry.devices[i], what))
            found = registry.devices[i];
    pthread_mutex_unlock(&registry.lock);
    return found;
}

/* Who wants the CPU does not wait for modules. */
static ggml_backend_dev_t
first_device(bool (*is)(ggml_backend_dev_t, const void *), const void *what)
{
    ggml_backend_dev_t device;

    fill_registry();
    device = first_there(is, what);
    if (device)
        return device;
    fill_all();
    return first_there(is, what);
}

ggml_backend_dev_t
ggml_backend_dev_by_name(const char *name)
{
    return first_device(device_is_named, name);
}

ggml_backend_dev_t
ggml_backend_dev_by_type(enum ggml_backend_dev_type type)
{
    return first_device(is_of_type, &type);
}

ggml_backend_t
ggml_backend_init_by_name(const char *name, const char *params)
{
    ggml_backend_dev_t device = ggml_backend_dev_by_name(name);

    return device ? ggml_backend_dev_init(device, params) : NULL;
}

ggml_backend_t
ggml_backend_init_by_type(enum ggml_backend_dev_type type, const char *params)
{
    ggml_backend_dev_t device = ggml_backend_dev_by_type(type);

    return device ? ggml_backend_dev_init(device, params) : NULL;
}

ggml_backend_t
ggml_backend_init_best(void)
{
    ggml_backend_dev_t device =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);

    if (!device)
        device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU);
    if (!device)
        device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return device ? ggml_backend_dev_init(device, NULL) : NULL;
}
