/* module.c - the registration, which is what the module gives libggml */
#include <stdio.h>
#include <string.h>

#include "backend/best.h"
#include "cuda/backend.h"

static char why[CUDA_ERROR_SIZE]; /* why there is no device */

static const char *
reg_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "CUDA";
}

static size_t
device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return (size_t)cuda_devices_count();
}

static ggml_backend_dev_t
get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    GGML_ASSERT(index < (size_t)cuda_devices_count());
    return &cuda_devices_at((int)index)->base;
}

static void
set_abort_callback(ggml_backend_t backend, ggml_abort_callback abort,
                   void *abort_data)
{
    struct cuda *cuda = (struct cuda *)backend;

    cuda->abort = abort;
    cuda->abort_data = abort_data;
}

static bool
register_host(void *p, size_t size)
{
    return cuda_use(cuda_devices_at(0)->number) == CUDA_OK &&
           cuda_host_register(p, size) == CUDA_OK;
}

static void
set_profile(ggml_backend_t backend, struct backend_profile *profile)
{
    ((struct cuda *)backend)->profile.counters = profile;
}

typedef void (*any_fn)(void);

static const struct {
    const char *name;
    any_fn fn;
} addresses[] = {
    { "ggml_backend_set_abort_callback", (any_fn)set_abort_callback },
    { "ggml_backend_is_cuda", (any_fn)cuda_is_backend },
    { "ggml_backend_register_host_buffer", (any_fn)register_host },
    { "ggml_backend_unregister_host_buffer", (any_fn)cuda_host_unregister },
    { BACKEND_SET_PROFILE, (any_fn)set_profile },
    { BACKEND_BEST, (any_fn)cuda_find_best },
};

static void *
get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    void *address = NULL;

    (void)reg;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        if (strcmp(name, addresses[i].name) == 0)
            memcpy(&address, &addresses[i].fn, sizeof(address));
    return address;
}

static const struct ggml_backend_reg_i reg_table = {
    .get_name = reg_name,
    .get_device_count = device_count,
    .get_device = get_device,
    .get_proc_address = get_proc_address,
};

static struct ggml_backend_reg reg_cuda = { .api_version = BACKEND_API_VERSION,
                                            .iface = &reg_table };

GGML_API const char *
ggml_backend_why_none(void);
GGML_API ggml_backend_reg_t
ggml_backend_init(void);

/* The reason why there is no device: called where init returned NULL. */
const char *
ggml_backend_why_none(void)
{
    return why;
}

ggml_backend_reg_t
ggml_backend_init(void)
{
    enum cuda_status st;

    if (cuda_devices_count() > 0)
        return &reg_cuda;
    st = cuda_devices_find(&reg_cuda);
    if (st == CUDA_OK && cuda_devices_count() > 0)
        return &reg_cuda;
    snprintf(why, sizeof(why), "%s",
             st == CUDA_NOMEM ? "out of memory" : cuda_error());
    return NULL;
}
