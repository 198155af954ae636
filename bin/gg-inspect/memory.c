/* memory.c - what a model would need to run */
#include <config.h>

#include "common/engine.h"
#include "gg-inspect/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "common/json.h"

/* What MTP layers would take beside: of none, or of a kind that is not known,
 * nothing. */
static void
add_mtp(const struct inspect_options *o, const struct gg_session_params *p,
        struct gg_memory *m)
{
    struct gg_model_params params = { .device = "cpu", .mtp = true };
    struct gg_model *model;
    struct gg_memory with;
    struct gg_error err;

    if (gg_model_open(o->path, &params, &model, &err) != GG_OK)
        return;
    cli_check(gg_model_memory(model, p, &with, &err), &err);
    m->mtp_weights = with.mtp_weights;
    m->mtp_cache = with.mtp_cache;
    gg_model_free(model);
}

struct figures {
    struct gg_memory m;
    uint64_t adapters; /* a part of m.weights */
    size_t n_adapters;
};

/* Those of a model, with the context that it would have. */
static struct figures
measure_memory(struct inspect_options *o)
{
    struct gg_session_params *p = &o->session;
    /* Weights stay mapped: nothing of them is read, nothing sent anywhere. */
    struct gg_model_params params = { .device = "cpu",
                                      .adapters = adapters_list(&o->adapters),
                                      .n_adapters = o->adapters.n };
    struct gg_model *model;
    struct figures f;
    struct gg_error err;

    cli_check(gg_model_open(o->path, &params, &model, &err), &err);
    if (p->n_ctx == 0)
        p->n_ctx = gg_model_n_ctx_train(model);
    cli_check(gg_model_memory(model, p, &f.m, &err), &err);
    f.n_adapters = gg_model_n_adapters(model, &f.adapters);
    gg_model_free(model);
    add_mtp(o, p, &f.m);
    return f;
}

static void
line(const char *name, uint64_t bytes)
{
    double mib = (double)bytes / 0x1p20;

    if (mib < 1023.95)
        printf("%-8s %7.1f MiB", name, mib);
    else
        printf("%-8s %7.1f GiB", name, mib / 1024);
}

static uint64_t
sum_of(const struct gg_memory *m)
{
    return m->weights + m->cache + m->compute + m->snapshots;
}

static void
text(const struct figures *f, const struct gg_session_params *p)
{
    const struct gg_memory *m = &f->m;

    line("weights", m->weights - f->adapters);
    putchar('\n');
    if (f->n_adapters) {
        line("adapters", f->adapters);
        printf("  %zu\n", f->n_adapters);
    }
    line("cache", m->cache);
    printf("  context %d, %d slot%s, %s\n", (int)p->n_ctx, (int)p->n_slots,
           p->n_slots == 1 ? "" : "s", engine_cache_name(p->cache_type));
    line("compute", m->compute);
    putchar('\n');
    if (m->n_snapshots) {
        line("states", m->snapshots);
        printf("  %" PRIu64 " snapshots, when the first is made\n",
               m->n_snapshots);
    }
    line("sum", sum_of(m));
    putchar('\n');
    if (m->mtp_cache) {
        line("mtp", m->mtp_weights + m->mtp_cache);
        puts("  more with --draft mtp");
    }
}

static void
json(const struct figures *f, const struct gg_session_params *p,
     const char *path)
{
    const struct gg_memory *m = &f->m;

    fputs("{\n  \"file\": ", stdout);
    cli_json_put(path, strlen(path));
    printf(",\n  \"context\": %d,\n  \"slots\": %d,\n"
           "  \"cache_type\": \"%s\",\n  \"weights\": %" PRIu64
           ",\n  \"adapters\": %" PRIu64 ",\n  \"cache\": %" PRIu64
           ",\n  \"compute\": %" PRIu64 ",\n  \"snapshots\": %" PRIu64
           ",\n  \"sum\": %" PRIu64 ",\n  \"mtp\": %" PRIu64 "\n}\n",
           (int)p->n_ctx, (int)p->n_slots, engine_cache_name(p->cache_type),
           m->weights - f->adapters, f->adapters, m->cache, m->compute,
           m->snapshots, sum_of(m), m->mtp_weights + m->mtp_cache);
}

void
memory_show(struct inspect_options *o)
{
    struct figures f = measure_memory(o);

    if (o->json)
        json(&f, &o->session, o->path);
    else
        text(&f, &o->session);
}
