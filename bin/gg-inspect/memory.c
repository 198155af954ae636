/* memory.c - what a model would need to run */
#include <config.h>

#include "common/engine.h"
#include "gg-inspect/projector_summary.h"

#include <inttypes.h>
#include <string.h>

#include "common/json.h"

/* Adds the memory that MTP layers would take: nothing for none, or for a kind
 * that is not known. */
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
    int32_t first, end;                 /* layers */
    struct projector_summary projector; /* not there: all 0 */
};

/* Ends the tool where it is no projector that can be used. */
static struct projector_summary
measure_projector(const struct inspect_options *o)
{
    const char *path = o->mmproj ? o->mmproj : o->path;
    struct projector_summary p;
    struct gg_file *file;
    struct gg_error err;

    cli_check(gg_file_open_metadata(path, GG_FILE_ALONE, &file, &err), &err);
    projector_summary_make(gg_file_gguf(file), o, &p);
    if (!p.is_projector)
        cli_die("%s: no projector (mmproj) of images or sounds", path);
    cli_check(p.opens ? GG_OK : GG_ERR_FORMAT, &p.why);
    gg_file_close(file);
    return p;
}

enum {
    USUAL_BATCH = 512, /* of gg_session_params */
};

/* Rows that see each other are evaluated in one batch. */
static void
grow_batch(const struct projector_summary *p, struct gg_session_params *params)
{
    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        int32_t block = (int32_t)p->parts[i].plan.longest_block;

        if (block > (params->n_batch ? params->n_batch : USUAL_BATCH))
            params->n_batch = block;
    }
}

/* Figures of a model, or of the part of it that a rank would have, with the
 * context that it would have. */
static struct figures
measure_memory(struct inspect_options *o, struct gg_pipeline *rank)
{
    struct gg_session_params *p = &o->session;
    /* Weights stay mapped: nothing of them is read, nothing sent anywhere. */
    struct gg_model_params params = { .device = "cpu",
                                      .adapters = adapters_list(&o->adapters),
                                      .n_adapters = o->adapters.n,
                                      .pipeline = rank };
    struct gg_model *model;
    struct figures f;
    struct gg_error err;
    enum gg_status st;

    f.projector = (struct projector_summary){ 0 };
    if (o->mmproj) {
        f.projector = measure_projector(o);
        grow_batch(&f.projector, p);
    }
    st = gg_model_open(o->path, &params, &model, &err);
    if (rank && st == GG_ERR_ARG)
        cli_misuse("--parts: %s", err.message);
    cli_check(st, &err);
    if (p->n_ctx == 0)
        p->n_ctx = gg_model_n_ctx_train(model);
    cli_check(gg_model_memory(model, p, &f.m, &err), &err);
    f.n_adapters = gg_model_n_adapters(model, &f.adapters);
    (void)gg_model_layers(model, &f.first, &f.end);
    gg_model_free(model);
    if (!rank)
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

/* ---- of a projector ---- */

static const char *const kind_names[PROJECTOR_KINDS] = { "image", "sound" };

/* One medium at a time, the largest: its weights count once. */
static uint64_t
projector_sum(const struct projector_summary *p)
{
    uint64_t most = 0, weights = 0;

    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        const struct gg_projector_memory *m = &p->parts[i].plan.memory;

        weights = m->weights > weights ? m->weights : weights;
        most = m->compute + m->rows > most ? m->compute + m->rows : most;
    }
    return weights + most;
}

static void
put_projector(const struct projector_summary *p)
{
    uint64_t weights = 0;
    char buf[64];

    for (int i = 0; i < PROJECTOR_KINDS; i++)
        if (p->parts[i].plan.memory.weights)
            weights = p->parts[i].plan.memory.weights;
    line("mmproj", weights);
    putchar('\n');
    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        const struct projector_plan *plan = &p->parts[i].plan;

        if (!plan->n_rows)
            continue;
        line(kind_names[i], plan->memory.compute + plan->memory.rows);
        printf("  %s: %zu rows, %" PRId32 " positions\n",
               projector_text_medium(p, (enum gg_media_kind)i, buf),
               plan->n_rows, plan->n_positions);
    }
}

static void
put_json_projector(const struct projector_summary *p)
{
    for (int i = 0; i < PROJECTOR_KINDS; i++) {
        const struct projector_plan *plan = &p->parts[i].plan;

        if (plan->n_rows)
            printf("  \"%s\": {\"weights\": %" PRIu64 ", \"compute\": %" PRIu64
                   ", \"row_bytes\": %" PRIu64 ", \"rows\": %zu, "
                   "\"positions\": %" PRId32 "},\n",
                   kind_names[i], plan->memory.weights, plan->memory.compute,
                   plan->memory.rows, plan->n_rows, plan->n_positions);
    }
}

static void
show_projector(const struct inspect_options *o)
{
    struct projector_summary p = measure_projector(o);

    if (!o->json) {
        put_projector(&p);
        line("sum", projector_sum(&p));
        putchar('\n');
        return;
    }
    fputs("{\n  \"file\": ", stdout);
    cli_json_put(o->path, strlen(o->path));
    puts(",");
    put_json_projector(&p);
    printf("  \"sum\": %" PRIu64 "\n}\n", projector_sum(&p));
}

/* ---- of a model ---- */

static void
put_cache_type(const struct gg_session_params *p)
{
    if (p->has_value_type)
        printf("keys %s, values %s\n", engine_cache_name(p->cache_type),
               engine_cache_name(p->value_type));
    else
        puts(engine_cache_name(p->cache_type));
}

static void
put_memory(const struct figures *f, const struct gg_session_params *p)
{
    const struct gg_memory *m = &f->m;

    line("weights", m->weights - f->adapters);
    putchar('\n');
    if (f->n_adapters) {
        line("adapters", f->adapters);
        printf("  %zu\n", f->n_adapters);
    }
    line("cache", m->cache);
    printf("  context %d, %d slot%s, ", (int)p->n_ctx, (int)p->n_slots,
           p->n_slots == 1 ? "" : "s");
    put_cache_type(p);
    line("compute", m->compute);
    putchar('\n');
    if (m->n_snapshots) {
        line("states", m->snapshots);
        printf("  %" PRIu64 " snapshots, when the first is made\n",
               m->n_snapshots);
    }
    if (f->projector.is_projector)
        put_projector(&f->projector);
    line("sum", sum_of(m) + projector_sum(&f->projector));
    putchar('\n');
    if (m->mtp_cache) {
        line("mtp", m->mtp_weights + m->mtp_cache);
        puts("  more for its MTP layers (--draft none: without)");
    }
}

/* Writes the members that all of it has in common. */
static void
begin_json(const struct gg_session_params *p, const char *path)
{
    fputs("{\n  \"file\": ", stdout);
    cli_json_put(path, strlen(path));
    printf(",\n  \"context\": %d,\n  \"slots\": %d,\n"
           "  \"cache_type\": \"%s\",\n",
           (int)p->n_ctx, (int)p->n_slots, engine_cache_name(p->cache_type));
    if (p->has_value_type)
        printf("  \"value_type\": \"%s\",\n", engine_cache_name(p->value_type));
}

static void
json(const struct figures *f, const struct gg_session_params *p,
     const char *path)
{
    const struct gg_memory *m = &f->m;

    begin_json(p, path);
    put_json_projector(&f->projector);
    printf("  \"weights\": %" PRIu64 ",\n  \"adapters\": %" PRIu64
           ",\n  \"cache\": %" PRIu64 ",\n  \"compute\": %" PRIu64
           ",\n  \"snapshots\": %" PRIu64 ",\n  \"sum\": %" PRIu64
           ",\n  \"mtp\": %" PRIu64 "\n}\n",
           m->weights - f->adapters, f->adapters, m->cache, m->compute,
           m->snapshots, sum_of(m) + projector_sum(&f->projector),
           m->mtp_weights + m->mtp_cache);
}

/* ---- of ranks ---- */

static void
mebibytes(uint64_t bytes)
{
    printf("  %10.1f", (double)bytes / 0x1p20);
}

static void
text_of_part(const struct figures *f, int32_t rank)
{
    const struct gg_memory *m = &f->m;
    char layers[32];

    if (rank == 0)
        puts("rank  layers        weights       cache     compute      states  "
             "       sum  MiB");
    snprintf(layers, sizeof(layers), "%d-%d", (int)f->first, (int)f->end - 1);
    printf("%4d  %-9s", (int)rank, layers);
    mebibytes(m->weights);
    mebibytes(m->cache);
    mebibytes(m->compute);
    mebibytes(m->snapshots);
    mebibytes(sum_of(m));
    putchar('\n');
}

static void
json_of_part(const struct figures *f, int32_t rank)
{
    const struct gg_memory *m = &f->m;

    printf("%s    {\"rank\": %d, \"first_layer\": %d, \"n_layers\": %d, "
           "\"weights\": %" PRIu64 ", \"cache\": %" PRIu64
           ", \"compute\": %" PRIu64 ", \"snapshots\": %" PRIu64
           ", \"sum\": %" PRIu64 "}",
           rank ? ",\n" : "", (int)rank, (int)f->first,
           (int)(f->end - f->first), m->weights, m->cache, m->compute,
           m->snapshots, sum_of(m));
}

enum {
    MAX_PARTS = 256,
};

/* How many there are, which --parts says, or the length of its list; then
 * *layers is that, or else NULL. */
static int32_t
count_parts(const char *parts, const char **layers)
{
    int32_t n = 1;

    *layers = strchr(parts, ',') ? parts : NULL;
    if (!*layers)
        return (int32_t)cli_int("--parts", parts, 1, MAX_PARTS);
    for (const char *p = parts; *p; p++)
        n += *p == ',';
    if (n > MAX_PARTS)
        cli_misuse("--parts: more than %d ranks", MAX_PARTS);
    return n;
}

static void
show_parts(struct inspect_options *o)
{
    const char *layers;
    int32_t n = count_parts(o->parts, &layers);
    struct gg_error err;

    for (int32_t i = 0; i < n; i++) {
        struct gg_pipeline *rank;
        struct figures f;

        if (gg_pipeline_plan(i, n, layers, &rank, &err) != GG_OK)
            cli_misuse("--parts: %s", err.message);
        f = measure_memory(o, rank);
        gg_pipeline_leave(rank);
        if (o->json && i == 0) {
            begin_json(&o->session, o->path);
            fputs("  \"parts\": [\n", stdout);
        }
        if (o->json)
            json_of_part(&f, i);
        else
            text_of_part(&f, i);
    }
    if (o->json)
        fputs("\n  ]\n}\n", stdout);
}

static bool
is_projector(const char *path)
{
    struct gg_file *file;
    struct gg_error err;
    bool is;

    if (gg_file_open_metadata(path, GG_FILE_ALONE, &file, &err) != GG_OK)
        return false; /* what opens the model says why */
    is = projector_summary_is(gg_file_gguf(file));
    gg_file_close(file);
    return is;
}

void
memory_show(struct inspect_options *o)
{
    struct figures f;

    if (!o->mmproj && !o->parts && is_projector(o->path)) {
        show_projector(o);
        return;
    }
    if (o->parts) {
        show_parts(o);
        return;
    }
    f = measure_memory(o, NULL);
    if (o->json)
        json(&f, &o->session, o->path);
    else
        put_memory(&f, &o->session);
}
