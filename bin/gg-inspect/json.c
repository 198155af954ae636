/* json.c - all of a file's metadata and tensors as one JSON value
 *
 * Numbers that JSON has not, NaN and the infinities, are strings. Bytes that
 * are not UTF-8 become U+FFFD; whoever needs them has -k. */
#include <config.h>

#include "gg-inspect/model_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

static void
put_name(const char *name)
{
    cli_json_put(name, strlen(name));
}

static void
put_element(const struct gguf_context *ctx, int64_t key, size_t i)
{
    enum gguf_type type = value_element_type(ctx, key);
    char buf[32];
    const char *s;
    size_t len;

    if (type == GGUF_TYPE_STRING) {
        s = value_string(ctx, key, i, &len);
        cli_json_put(s, len);
        return;
    }
    s = value_number(buf, type, value_at(ctx, key, i));
    if (strcmp(s, "nan") == 0)
        s = "\"NaN\"";
    else if (strcmp(s, "inf") == 0)
        s = "\"Infinity\"";
    else if (strcmp(s, "-inf") == 0)
        s = "\"-Infinity\"";
    fputs(s, stdout);
}

static void
put_value(const struct gguf_context *ctx, int64_t key)
{
    if (gguf_get_kv_type(ctx, key) != GGUF_TYPE_ARRAY) {
        put_element(ctx, key, 0);
        return;
    }
    putchar('[');
    for (size_t i = 0; i < value_count(ctx, key); i++) {
        if (i)
            putchar(',');
        put_element(ctx, key, i);
    }
    putchar(']');
}

static void
put_metadata(const struct gguf_context *ctx)
{
    int64_t n = gguf_get_n_kv(ctx);
    char type[48];

    fputs(",\n  \"metadata\": {", stdout);
    for (int64_t i = 0; i < n; i++) {
        fputs(i ? ",\n    " : "\n    ", stdout);
        put_name(gguf_get_key(ctx, i));
        fputs(": ", stdout);
        put_value(ctx, i);
    }
    fputs(n ? "\n  },\n  \"metadata_types\": {" : "},\n  \"metadata_types\": {",
          stdout);
    for (int64_t i = 0; i < n; i++) {
        fputs(i ? ",\n    " : "\n    ", stdout);
        put_name(gguf_get_key(ctx, i));
        printf(": \"%s\"", value_type(type, ctx, i));
    }
    fputs(n ? "\n  }" : "}", stdout);
}

static void
put_shape(const struct gguf_context *ctx, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);

    for (int i = 0; i < totals_dims(ctx, tensor); i++)
        printf("%s%" PRId64, i ? ", " : "", ne[i]);
}

/* Names the file of a model in several, and the tensor's place in it. */
static void
put_shard(const struct gguf_context *ctx, int64_t tensor)
{
    if (gguf_get_n_shards(ctx) > 1)
        printf(", \"file\": %" PRId64 ", \"place\": %zu",
               gguf_get_tensor_shard(ctx, tensor) + 1,
               gguf_get_tensor_place(ctx, tensor));
}

static void
put_tensor(const struct gguf_context *ctx, int64_t tensor)
{
    put_name(gguf_get_tensor_name(ctx, tensor));
    printf(", \"type\": \"%s\", \"shape\": [",
           ggml_type_name(gguf_get_tensor_type(ctx, tensor)));
    put_shape(ctx, tensor);
    printf("], \"offset\": %zu, \"bytes\": %zu",
           gguf_get_tensor_offset(ctx, tensor),
           gguf_get_tensor_size(ctx, tensor));
    put_shard(ctx, tensor);
}

static void
put_tensors(const struct gguf_context *ctx, enum inspect_order order)
{
    int64_t n = gguf_get_n_tensors(ctx);
    int64_t *sorted = select_sorted(ctx, order);

    fputs(",\n  \"tensors\": [", stdout);
    for (int64_t i = 0; i < n; i++) {
        fputs(i ? ",\n    { \"name\": " : "\n    { \"name\": ", stdout);
        put_tensor(ctx, sorted[i]);
        fputs(" }", stdout);
    }
    fputs(n ? "\n  ]" : "]", stdout);
    free(sorted);
}

static void
put_totals(const struct gguf_context *ctx)
{
    struct totals by_type[GGML_TYPE_COUNT], all;
    const char *comma = "";

    totals_count(ctx, by_type, &all);
    fputs(",\n  \"types\": {", stdout);
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const struct totals *t = &by_type[i];

        if (!t->tensors)
            continue;
        printf("%s\n    \"%s\": { \"tensors\": %" PRId64
               ", \"values\": %" PRIu64 ", \"bytes\": %" PRIu64 " }",
               comma, ggml_type_name((enum ggml_type)i), t->tensors, t->values,
               t->bytes);
        comma = ",";
    }
    fputs(*comma ? "\n  }" : "}", stdout);
}

void
inspect_json_begin(const struct inspected *f, const char *member)
{
    fputs("{\n  \"file\": ", stdout);
    put_name(f->path);
    printf(",\n  \"%s\": ", member);
}

void
inspect_json_show(const struct inspected *f, const struct inspect_options *o)
{
    const struct gguf_context *ctx = f->gguf;
    bool everything = o->metadata == o->tensors;
    struct model_summary s;

    fputs("{\n  \"file\": ", stdout);
    put_name(o->path);
    printf(",\n  \"format\": \"%s\"", gg_file_format(f->file));
    if (f->is_read)
        printf(",\n  \"version\": %" PRIu32 ",\n  \"byte_order\": \"%s\",\n"
               "  \"alignment\": %zu,\n  \"data_offset\": %zu",
               gguf_get_version(ctx),
               gguf_get_byte_order(ctx) == GGUF_BIG_ENDIAN ? "big" : "little",
               gguf_get_alignment(ctx), gguf_get_data_offset(ctx));
    if (everything) {
        model_summary_make(ctx, o, &s);
        model_summary_json(&s);
        model_summary_clear(&s);
    }
    if (everything || o->metadata)
        put_metadata(ctx);
    if (everything || o->tensors) {
        put_tensors(ctx, o->sort);
        put_totals(ctx);
    }
    fputs("\n}\n", stdout);
}
