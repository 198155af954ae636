/* engine_describe.c - for -v: a model, where it lies, its session's memory */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "common/engine.h"

/* "layers 0-3, 8-11": the layers on device i. */
static void
list_layers(const struct gg_model *m, size_t i, bool experts, char *buf,
            size_t size)
{
    int32_t n = gg_model_n_layers(m), first, end;
    size_t used = 0;

    buf[0] = '\0';
    for (first = 0; first < n && used < size; first = end + 1) {
        end = first;
        if (gg_model_home_of(m, first, experts) != i)
            continue;
        while (end + 1 < n && gg_model_home_of(m, end + 1, experts) == i)
            end++;
        used += (size_t)snprintf(buf + used, size - used,
                                 end > first ? "%s %d-%d" : "%s %d",
                                 used ? "," : "", (int)first, (int)end);
    }
}

/* Describes the memory that a session takes on device i, and its weights. */
static void
describe_home(const struct engine *e, size_t i)
{
    struct gg_session_params params = {
        .n_ctx = gg_session_n_ctx(e->session),
        .n_slots = e->n_slots,
        .n_batch = e->n_batch,
    };
    const struct gg_model *m = e->model;
    bool output = gg_model_home_of(m, gg_model_n_layers(m), false) == i;
    char layers[128], experts[128];
    struct gg_memory memory;
    struct gg_home home;

    engine_set_cache(&params, &e->cache);
    if (!gg_model_home(m, i, &home) ||
        gg_model_home_memory(m, i, &params, &memory, NULL) != GG_OK)
        return;
    list_layers(m, i, false, layers, sizeof(layers));
    list_layers(m, i, true, experts, sizeof(experts));
    cli_warn("%s: layers%s%s%s%s; weights %.1f MiB, KV cache %.1f MiB, compute "
             "buffers %.1f MiB",
             home.device, *layers ? layers : " none",
             output ? " and the output" : "",
             strcmp(layers, experts) ? ", experts of" : "",
             !strcmp(layers, experts) ? ""
             : *experts               ? experts
                                      : " none",
             (double)memory.weights / 0x1p20, (double)memory.cache / 0x1p20,
             (double)memory.compute / 0x1p20);
}

/* As people call it. */
static const char *
name_of_drafter(const struct gg_model *model)
{
    const char *name = gg_model_drafter(model);

    return name && strcmp(name, "mtp") != 0 ? name : "MTP";
}

void
engine_describe(const struct engine *e)
{
    size_t cache, compute, snapshots, mtp, mtp_cache;
    int32_t n = gg_session_snapshots(e->session, &snapshots);

    size_t n_homes = gg_model_n_homes(e->model);
    uint64_t adapters, weights, memory;
    size_t n_adapters = gg_model_n_adapters(e->model, &adapters);

    gg_session_memory(e->session, &cache, &compute);
    cli_warn("%s: %s, vocabulary %d, context %d", e->path,
             gg_model_architecture(e->model), (int)gg_model_n_vocab(e->model),
             (int)gg_session_n_ctx(e->session));
    cli_warn("computing on %s: %s", gg_model_device(e->model),
             gg_model_device_description(e->model));
    for (size_t i = 0; i < n_homes && n_homes > 1; i++)
        describe_home(e, i);
    if (n_adapters)
        cli_warn("%zu adapter%s, %.1f MiB", n_adapters,
                 n_adapters == 1 ? "" : "s", (double)adapters / 0x1p20);
    if (e->cut)
        cli_warn("memory is short for the model's own context of %d",
                 (int)gg_model_n_ctx_train(e->model));
    cli_warn("reserved: KV cache %.1f MiB (%d slot%s), compute buffers "
             "%.1f MiB",
             (double)cache / 0x1p20, (int)e->n_slots,
             e->n_slots == 1 ? "" : "s", (double)compute / 0x1p20);
    if (gg_session_streams(e->session, &weights, &memory))
        cli_warn("weights: %.1f MiB, read from disk as they are needed, as "
                 "%.1f MiB of memory are free",
                 (double)weights / 0x1p20, (double)memory / 0x1p20);
    if (gg_session_mtp(e->session, &mtp, &mtp_cache) > 0)
        cli_warn("%s layers: %d, weights %.1f MiB, KV cache and hidden "
                 "vectors %.1f MiB",
                 name_of_drafter(e->model),
                 (int)gg_session_mtp(e->session, NULL, NULL),
                 (double)mtp / 0x1p20, (double)mtp_cache / 0x1p20);
    if (n > 0)
        cli_warn("recurrent states: %d snapshots, %.1f MiB when the first is "
                 "made",
                 (int)n, (double)snapshots / 0x1p20);
}
