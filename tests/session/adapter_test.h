/* adapter_test.h - what tests of adapters share: a model, and files for it */
#ifndef MODEL_ADAPTER_TEST_H
#define MODEL_ADAPTER_TEST_H

#include <math.h>

#include "fixtures/adapters.h"
#include "harness/session_test.h"

enum {
    N = 24,
};

static int32_t ids[N];

static char model_path[SCRATCH_PATH];
static char lora_path[SCRATCH_PATH], other_path[SCRATCH_PATH];

static inline struct model_spec
spec_named(const char *name)
{
    struct model_spec spec;

    if (!models_named(name, &spec))
        exit(99);
    return spec;
}

static inline void
write_model(const struct model_spec *spec)
{
    if (!models_write(spec, model_path))
        exit(99);
}

static inline void
write_lora(const struct adapter_spec *spec, const char *path)
{
    if (!adapters_write(spec, model_path, path))
        exit(99);
}

static inline struct gg_model *
open_with(const struct gg_adapter *adapters, size_t n, const char *device)
{
    struct gg_model_params params = { .device = device,
                                      .adapters = adapters,
                                      .n_adapters = n };
    struct gg_model *m;

    must(gg_model_open(model_path, &params, &m, &err));
    return m;
}

static inline void
begin(void)
{
    fill_ids(ids, N);
    strcpy(model_path, scratch_file("model.gguf"));
    strcpy(lora_path, scratch_file("lora.gguf"));
    strcpy(other_path, scratch_file("other.gguf"));
}

#endif
