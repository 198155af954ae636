/* text.c - a file's header, metadata, tensors and totals, for people */
#include <config.h>

#include "gg-inspect/model_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MAX_TEXT = 60, /* characters of a string */
    MAX_LIST = 5,  /* elements of an array */
    MAX_ITEM = 20, /* characters of a string in an array */
    MAX_NAME = 60, /* columns for names */
};

static void
put_spaces(size_t n)
{
    while (n--)
        putchar(' ');
}

/* A name, and blanks up to the column. */
static void
put_name(const char *name, size_t width)
{
    size_t used = value_width(name, strlen(name));

    value_put_escaped(stdout, name, strlen(name), 0);
    put_spaces(used < width ? width - used : 0);
}

static void
widen_column(size_t *width, size_t n)
{
    if (n > *width && n <= MAX_NAME)
        *width = n;
}

/* "97.5 MB (97489312 bytes)" */
static void
put_bytes(uint64_t n)
{
    char buf[32];

    fputs(value_bytes(buf, n), stdout);
    if (n >= 1000)
        printf(" (%" PRIu64 ")", n);
}

static void
put_header(const struct inspected *f, const struct inspect_options *o)
{
    const struct gguf_context *ctx = f->gguf;
    struct totals by_type[GGML_TYPE_COUNT], all;
    bool big = gguf_get_byte_order(ctx) == GGUF_BIG_ENDIAN;
    struct stat st;

    totals_count(ctx, by_type, &all);
    fputs("file      ", stdout);
    value_put_escaped(stdout, o->path, strlen(o->path), 0);
    if (!f->is_read)
        printf("\nformat    %s, shown as GGUF\n", gg_file_format(f->file));
    else
        printf("\nformat    GGUF version %" PRIu32 ", alignment %zu%s\n",
               gguf_get_version(ctx), gguf_get_alignment(ctx),
               big ? ", big-endian" : "");
    if (stat(o->path, &st) == 0) {
        fputs("size      ", stdout);
        put_bytes((uint64_t)st.st_size);
        if (f->is_read)
            printf(", %zu before the data", gguf_get_data_offset(ctx));
        putchar('\n');
    }
    printf("keys      %" PRId64 "\ntensors   %" PRId64, gguf_get_n_kv(ctx),
           all.tensors);
    if (all.values)
        printf(", %" PRIu64 " values of %.2f bits", all.values,
               8.0 * (double)all.bytes / (double)all.values);
    putchar('\n');
}

static void
put_number(FILE *f, const struct gguf_context *ctx, int64_t key, size_t i)
{
    enum gguf_type type = value_element_type(ctx, key);
    char buf[32];

    fputs(value_number(buf, type, value_at(ctx, key, i)), f);
}

/* A string of a list is quoted, so that one can see where it ends. */
void
text_put_element(FILE *f, const struct gguf_context *ctx, int64_t key, size_t i,
                 size_t max)
{
    const char *s;
    size_t len;

    if (value_element_type(ctx, key) != GGUF_TYPE_STRING) {
        put_number(f, ctx, key, i);
        return;
    }
    s = value_string(ctx, key, i, &len);
    if (gguf_get_kv_type(ctx, key) == GGUF_TYPE_ARRAY)
        value_put_quoted(f, s, len, max);
    else
        value_put_escaped(f, s, len, max);
}

static void
put_list(FILE *f, const struct gguf_context *ctx, int64_t key, bool all)
{
    size_t n = value_count(ctx, key);
    size_t shown = all || n < MAX_LIST ? n : MAX_LIST;

    putc('[', f);
    for (size_t i = 0; i < shown; i++) {
        if (i)
            fputs(", ", f);
        text_put_element(f, ctx, key, i, all ? 0 : MAX_ITEM);
    }
    fputs(shown < n ? ", ...]" : "]", f);
}

void
text_put_value(FILE *f, const struct gguf_context *ctx, int64_t key, bool all)
{
    if (gguf_get_kv_type(ctx, key) == GGUF_TYPE_ARRAY)
        put_list(f, ctx, key, all);
    else
        text_put_element(f, ctx, key, 0, all ? 0 : MAX_TEXT);
}

static void
put_metadata(const struct gguf_context *ctx, bool all)
{
    size_t width = 0, type_width = 0;
    char type[48];

    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++) {
        const char *key = gguf_get_key(ctx, i);

        widen_column(&width, value_width(key, strlen(key)));
        widen_column(&type_width, strlen(value_type(type, ctx, i)));
    }
    for (int64_t i = 0; i < gguf_get_n_kv(ctx); i++) {
        put_name(gguf_get_key(ctx, i), width);
        printf("  %-*s  ", (int)type_width, value_type(type, ctx, i));
        text_put_value(stdout, ctx, i, all);
        putchar('\n');
    }
}

/* "768 x 50257" */
static const char *
shape(char buf[96], const struct gguf_context *ctx, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);
    int n = 0;

    for (int i = 0; i < totals_dims(ctx, tensor); i++)
        n += snprintf(buf + n, 96 - (size_t)n, "%s%" PRId64, i ? " x " : "",
                      ne[i]);
    return buf;
}

static void
put_tensors(const struct gguf_context *ctx, enum inspect_order order)
{
    int64_t *sorted = select_sorted(ctx, order);
    size_t width = 0, shape_width = 0;
    char buf[96], bytes[32];

    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        const char *name = gguf_get_tensor_name(ctx, i);

        widen_column(&width, value_width(name, strlen(name)));
        widen_column(&shape_width, strlen(shape(buf, ctx, i)));
    }
    for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++) {
        int64_t id = sorted[i];

        put_name(gguf_get_tensor_name(ctx, id), width);
        printf("  %-7s  %-*s  %9s\n",
               ggml_type_name(gguf_get_tensor_type(ctx, id)), (int)shape_width,
               shape(buf, ctx, id),
               value_bytes(bytes, gguf_get_tensor_size(ctx, id)));
    }
    free(sorted);
}

static void
put_total(const char *type, const struct totals *t)
{
    char bytes[32];

    printf("%-7s  %6" PRId64 " tensors  %14" PRIu64 " values  %9s\n", type,
           t->tensors, t->values, value_bytes(bytes, t->bytes));
}

static void
put_totals(const struct gguf_context *ctx)
{
    struct totals by_type[GGML_TYPE_COUNT], all;

    totals_count(ctx, by_type, &all);
    for (int i = 0; i < GGML_TYPE_COUNT; i++)
        if (by_type[i].tensors)
            put_total(ggml_type_name((enum ggml_type)i), &by_type[i]);
    put_total("all", &all);
}

void
text_show(const struct inspected *f, const struct inspect_options *o)
{
    const struct gguf_context *ctx = f->gguf;
    bool everything = o->metadata == o->tensors;
    struct model_summary s;

    if (everything) {
        model_summary_make(ctx, o, &s);
        model_summary_text(&s);
        model_summary_clear(&s);
        putchar('\n');
        put_header(f, o);
        putchar('\n');
    }
    if (everything || o->metadata)
        put_metadata(ctx, o->verbose);
    if (o->metadata && o->tensors && gguf_get_n_tensors(ctx))
        putchar('\n');
    if (o->tensors)
        put_tensors(ctx, o->sort);
    if (everything && gguf_get_n_tensors(ctx)) {
        putchar('\n');
        put_totals(ctx);
    }
}
