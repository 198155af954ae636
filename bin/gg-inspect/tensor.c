/* tensor.c - one tensor: shape, statistics, histogram */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/tensor_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum {
    BAR = 40, /* columns of the longest bar */
};

static void
put_shape(const struct gguf_context *ctx, int64_t tensor, const char *between)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);

    for (int i = 0; i < totals_dims(ctx, tensor); i++)
        printf("%s%" PRId64, i ? between : "", ne[i]);
}

static double
bin_edge(const struct value_stats *s, int i)
{
    return s->min + (s->max - s->min) * i / HISTOGRAM_BINS;
}

static void
text_bins(const struct value_stats *s, const uint64_t *bins)
{
    uint64_t most = 1;

    for (int i = 0; i < HISTOGRAM_BINS; i++)
        if (bins[i] > most)
            most = bins[i];
    puts("\n      from          to       count");
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        int length = (int)((double)bins[i] / (double)most * BAR + 0.5);

        printf("%11.4g %11.4g %11" PRIu64 "%s", bin_edge(s, i),
               bin_edge(s, i + 1), bins[i], length ? "  " : "");
        while (length--)
            putchar('#');
        putchar('\n');
    }
}

static void
text_statistics(const struct value_stats *s, const uint64_t *bins)
{
    if (s->finite)
        printf("min     %.9g\nmax     %.9g\nmean    %.9g\nrms     %.9g\n",
               s->min, s->max, s->mean, s->rms);
    printf("zeros   %" PRIu64 "\nnan     %" PRIu64 "\ninf     %" PRIu64 "\n",
           s->zeros, s->nan, s->inf);
    if (s->finite && s->max > s->min)
        text_bins(s, bins);
}

static void
text_file(const struct gguf_context *ctx, int64_t tensor)
{
    const char *name =
        gguf_get_shard_name(ctx, gguf_get_tensor_shard(ctx, tensor));

    fputs("file    ", stdout);
    value_put_escaped(stdout, name, strlen(name), 0);
    putchar('\n');
}

static void
text_tensor(const struct inspected *f, int64_t tensor)
{
    const struct gguf_context *ctx = f->gguf;
    const char *name = gguf_get_tensor_name(ctx, tensor);

    fputs("name    ", stdout);
    value_put_escaped(stdout, name, strlen(name), 0);
    printf("\ntype    %s\nshape   ",
           ggml_type_name(gguf_get_tensor_type(ctx, tensor)));
    put_shape(ctx, tensor, " x ");
    printf("\nvalues  %" PRIu64 "\nbytes   %zu\n", totals_values(ctx, tensor),
           gguf_get_tensor_size(ctx, tensor));
    if (f->is_read)
        printf("offset  %zu\n", gguf_get_tensor_place(ctx, tensor));
    if (gguf_get_n_shards(ctx) > 1)
        text_file(ctx, tensor);
}

static void
put_json_statistics(const struct value_stats *s, const uint64_t *bins)
{
    if (s->finite)
        printf(",\n  \"min\": %.17g,\n  \"max\": %.17g,\n  \"mean\": %.17g,\n"
               "  \"rms\": %.17g",
               s->min, s->max, s->mean, s->rms);
    printf(",\n  \"zeros\": %" PRIu64 ",\n  \"nan\": %" PRIu64
           ",\n  \"inf\": %" PRIu64 ",\n  \"histogram\": [",
           s->zeros, s->nan, s->inf);
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        printf("%s%" PRIu64, i ? ", " : "", bins[i]);
    putchar(']');
}

static void
put_json_tensor(const struct inspected *f, int64_t tensor)
{
    const struct gguf_context *ctx = f->gguf;
    const char *name = gguf_get_tensor_name(ctx, tensor);

    fputs("{\n  \"name\": ", stdout);
    cli_json_put(name, strlen(name));
    printf(",\n  \"type\": \"%s\",\n  \"shape\": [",
           ggml_type_name(gguf_get_tensor_type(ctx, tensor)));
    put_shape(ctx, tensor, ", ");
    printf("],\n  \"values\": %" PRIu64 ",\n  \"bytes\": %zu",
           totals_values(ctx, tensor), gguf_get_tensor_size(ctx, tensor));
    if (f->is_read)
        printf(",\n  \"offset\": %zu", gguf_get_tensor_offset(ctx, tensor));
}

static int64_t
find_tensor(const struct gguf_context *ctx, const struct inspect_options *o)
{
    int64_t tensor = gguf_find_tensor(ctx, o->tensor);
    char shown[256];

    if (tensor < 0)
        cli_die("%s: %s: the file has no such tensor", o->path,
                gg_escape(shown, sizeof(shown), o->tensor, strlen(o->tensor)));
    return tensor;
}

int
tensor_show(struct inspected *f, const struct inspect_options *o)
{
    int64_t tensor = find_tensor(f->gguf, o);
    enum ggml_type type = gguf_get_tensor_type(f->gguf, tensor);
    bool known = values_known(type);
    uint64_t bins[HISTOGRAM_BINS] = { 0 };
    struct value_stats s;

    if (known)
        value_stats_compute(f, tensor, &s);
    if (known && s.finite)
        value_stats_bins(f, tensor, s.min, s.max, bins, HISTOGRAM_BINS);
    (o->json ? put_json_tensor : text_tensor)(f, tensor);
    if (known)
        (o->json ? put_json_statistics : text_statistics)(&s, bins);
    if (o->json)
        puts("\n}");
    if (known)
        return EXIT_SUCCESS;
    cli_warn("%s: values of type %s cannot be read yet: no statistics", o->path,
             ggml_type_name(type));
    return EXIT_FAILURE;
}
