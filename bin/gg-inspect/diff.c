/* diff.c - --diff: what two models do not have in common */
#include <config.h>

#include "common/buffer.h"
#include "common/cli.h"
#include "common/ticker.h"
#include "gg-inspect/compare.h"
#include "common/jobs.h"
#include "gg-inspect/tensor_source.h"
#include "gg-inspect/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct table_column columns[] = {
    { "what", -6 },  { "change", -7 }, { "name", -28 },
    { "from", -18 }, { "to", -18 },    { "largest", 11 },
    { "rms", 11 },   { "nmse", 11 },   { "cosine", 11 },
};

enum {
    N_COLUMNS = sizeof(columns) / sizeof(columns[0]),
    MAX_SHOWN = 60, /* characters of a value, unless -v */
};

struct diff {
    struct inspected *a, *b;
    const struct inspect_options *o;
    const int64_t *tensors; /* of a; then of b */
    int64_t n;
    struct comparison *results, all;
    struct table table;
    struct ticker ticker;
    bool different;
};

/* False: it is enough to know that there is something. */
static bool
begin_row(struct diff *d, const char *what, const char *change,
          const char *name)
{
    d->different = true;
    if (d->o->quiet)
        return false;
    table_text(&d->table, what);
    table_text(&d->table, change);
    table_text(&d->table, name);
    return true;
}

static void
put_none(struct table *t, int n)
{
    while (n--)
        table_none(t);
}

/* ---- metadata ------------------------------------------------------------ */

static bool
same_string(const struct gguf_context *a, int64_t ka,
            const struct gguf_context *b, int64_t kb, size_t i)
{
    size_t na, nb;
    const char *x = value_string(a, ka, i, &na);
    const char *y = value_string(b, kb, i, &nb);

    return na == nb && memcmp(x, y, na) == 0;
}

static bool
same_kind(const struct gguf_context *a, int64_t ka,
          const struct gguf_context *b, int64_t kb)
{
    return gguf_get_kv_type(a, ka) == gguf_get_kv_type(b, kb) &&
           value_element_type(a, ka) == value_element_type(b, kb) &&
           value_count(a, ka) == value_count(b, kb);
}

/* The first element that differs, of values of one kind; their number where
 * none does. */
static size_t
first_difference(const struct gguf_context *a, int64_t ka,
                 const struct gguf_context *b, int64_t kb)
{
    enum gguf_type type = value_element_type(a, ka);
    size_t n = value_count(a, ka), i = 0;

    if (type == GGUF_TYPE_STRING)
        while (i < n && same_string(a, ka, b, kb, i))
            i++;
    else
        while (i < n && memcmp(value_at(a, ka, i), value_at(b, kb, i),
                               value_size(type)) == 0)
            i++;
    return i;
}

static bool
same_value(const struct gguf_context *a, int64_t ka,
           const struct gguf_context *b, int64_t kb)
{
    return same_kind(a, ka, b, kb) &&
           first_difference(a, ka, b, kb) == value_count(a, ka);
}

/* Writes the value of a key; of an array that differs from another in its
 * elements only, the first of these; the type, where that differs. */
static void
write_key(FILE *f, const struct diff *d, const struct gguf_context *ctx,
          int64_t ka, int64_t kb)
{
    const struct gguf_context *a = d->a->gguf, *b = d->b->gguf;
    int64_t k = ctx == a ? ka : kb;
    bool both = ka >= 0 && kb >= 0, alike = both && same_kind(a, ka, b, kb);
    char type[48];
    size_t i;

    if (alike && gguf_get_kv_type(a, ka) == GGUF_TYPE_ARRAY) {
        i = first_difference(a, ka, b, kb);
        fprintf(f, "[%zu] ", i);
        text_put_element(f, ctx, k, i, d->o->verbose ? 0 : MAX_SHOWN);
        return;
    }
    if (both && !alike)
        fprintf(f, "%s ", value_type(type, ctx, k));
    text_put_value(f, ctx, k, d->o->verbose);
}

static void
put_key(struct diff *d, const struct gguf_context *ctx, int64_t ka, int64_t kb)
{
    struct buffer text = { 0 };
    FILE *f;

    if ((ctx == d->a->gguf ? ka : kb) < 0) {
        table_none(&d->table);
        return;
    }
    f = buffer_stream(&text);
    write_key(f, d, ctx, ka, kb);
    fclose(f);
    buffer_char(&text, '\0');
    table_escaped(&d->table, text.p);
    buffer_clear(&text);
}

static void
key_row(struct diff *d, const char *change, int64_t ka, int64_t kb)
{
    const struct gguf_context *a = d->a->gguf, *b = d->b->gguf;
    const char *key = ka < 0 ? gguf_get_key(b, kb) : gguf_get_key(a, ka);

    if (!begin_row(d, "key", change, key))
        return;
    put_key(d, a, ka, kb);
    put_key(d, b, ka, kb);
    put_none(&d->table, 4);
}

/* How a model was split makes no other model of it. */
static bool
is_of_split(const struct gguf_context *ctx, int64_t key)
{
    return strncmp(gguf_get_key(ctx, key), "split.", 6) == 0;
}

static void
diff_keys(struct diff *d)
{
    const struct gguf_context *a = d->a->gguf, *b = d->b->gguf;

    for (int64_t i = 0; i < gguf_get_n_kv(a); i++) {
        int64_t k = gguf_find_key(b, gguf_get_key(a, i));

        if (is_of_split(a, i))
            continue;
        if (k < 0)
            key_row(d, "removed", i, -1);
        else if (!same_value(a, i, b, k))
            key_row(d, "changed", i, k);
    }
    for (int64_t i = 0; i < gguf_get_n_kv(b); i++)
        if (!is_of_split(b, i) && gguf_find_key(a, gguf_get_key(b, i)) < 0)
            key_row(d, "added", -1, i);
}

/* ---- tensors ------------------------------------------------------------- */

/* "q8_0 256x1408" */
static void
put_kind(struct diff *d, const struct gguf_context *ctx, int64_t tensor)
{
    char text[160], shape[96];

    if (tensor < 0) {
        table_none(&d->table);
        return;
    }
    snprintf(text, sizeof(text), "%s %s",
             ggml_type_name(gguf_get_tensor_type(ctx, tensor)),
             select_shape(shape, ctx, tensor));
    table_text(&d->table, text);
}

static void
put_comparison(struct table *t, const struct comparison *c)
{
    table_number(t, c->largest);
    table_number(t, comparison_rms(c));
    table_number(t, comparison_nmse(c));
    table_number(t, comparison_cosine(c));
}

static void
tensor_row(struct diff *d, const char *change, int64_t ta, int64_t tb,
           const struct comparison *c)
{
    const struct gguf_context *a = d->a->gguf, *b = d->b->gguf;
    const char *name =
        ta < 0 ? gguf_get_tensor_name(b, tb) : gguf_get_tensor_name(a, ta);

    if (!begin_row(d, "tensor", change, name))
        return;
    put_kind(d, a, ta);
    put_kind(d, b, tb);
    if (c && c->known)
        put_comparison(&d->table, c);
    else
        put_none(&d->table, 4);
}

static int64_t
other(const struct diff *d, int64_t ta)
{
    return gguf_find_tensor(d->b->gguf, gguf_get_tensor_name(d->a->gguf, ta));
}

static bool
same_shape(const struct diff *d, int64_t ta, int64_t tb)
{
    return memcmp(gguf_get_tensor_ne(d->a->gguf, ta),
                  gguf_get_tensor_ne(d->b->gguf, tb),
                  GGML_MAX_DIMS * sizeof(int64_t)) == 0;
}

static void
work(void *data, int64_t i)
{
    struct diff *d = data;
    int64_t ta = d->tensors[i], tb = other(d, ta);

    if (tb >= 0 && same_shape(d, ta, tb))
        compare(d->a, ta, d->b, tb, d->o->quiet, &d->results[i]);
}

static void
done(void *data, int64_t i)
{
    struct diff *d = data;
    const struct comparison *c = &d->results[i];
    int64_t ta = d->tensors[i], tb = other(d, ta);

    if (tb < 0)
        tensor_row(d, "removed", ta, tb, NULL);
    else if (!same_shape(d, ta, tb))
        tensor_row(d, "shape", ta, tb, NULL);
    else if (gguf_get_tensor_type(d->a->gguf, ta) !=
             gguf_get_tensor_type(d->b->gguf, tb))
        tensor_row(d, "type", ta, tb, c);
    else if (c->different)
        tensor_row(d, "values", ta, tb, c);
    comparison_add(&d->all, c);
    ticker_show_part(&d->ticker, (uint64_t)i, (uint64_t)d->n,
                     gguf_get_tensor_name(d->a->gguf, ta));
}

/* True if --tensor asks for it, too. */
static bool
wanted(const struct diff *d, int64_t tb)
{
    return select_fits(d->b, d->o, tb) &&
           gguf_find_tensor(d->a->gguf, gguf_get_tensor_name(d->b->gguf, tb)) <
               0;
}

static void
diff_tensors(struct diff *d)
{
    int64_t *tensors = select_all(d->a, d->o, &d->n);

    d->tensors = tensors;
    d->results = cli_alloc(NULL, (size_t)d->n, sizeof(*d->results));
    if (d->n)
        memset(d->results, 0, (size_t)d->n * sizeof(*d->results));
    ticker_start(&d->ticker, d->o->quiet || isatty(STDOUT_FILENO));
    jobs_run(d->o->n_threads, d->n, work, done, d);
    ticker_end(&d->ticker);
    for (int64_t i = 0; i < gguf_get_n_tensors(d->b->gguf); i++)
        if (wanted(d, i))
            tensor_row(d, "added", -1, i, NULL);
    if (d->all.n && d->all.different && !d->o->quiet) {
        begin_row(d, "all", "values", "-");
        put_none(&d->table, 2);
        put_comparison(&d->table, &d->all);
    }
    free(d->results);
    free(tensors);
}

int
diff_show(struct inspected *a, struct inspected *b,
          const struct inspect_options *o)
{
    bool all = o->metadata == o->tensors;
    struct diff d = { .a = a, .b = b, .o = o };

    if (!o->quiet) {
        if (o->json)
            inspect_json_begin(a, "differences");
        table_begin(&d.table, columns, N_COLUMNS, o->json);
    }
    if ((all && !o->tensor) || o->metadata)
        diff_keys(&d);
    if (all || o->tensors)
        diff_tensors(&d);
    if (!o->quiet) {
        table_end(&d.table);
        fputs(o->json ? "\n}\n" : "", stdout);
    }
    return d.different ? EXIT_FAILURE : EXIT_SUCCESS;
}
