/* stats_table.c - a line of statistics for each tensor */
#include <config.h>

#include "common/cli.h"
#include "common/ticker.h"
#include "common/jobs.h"
#include "gg-inspect/tensor_source.h"
#include "gg-inspect/table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double FAR = 6; /* standard deviations from the mean */

static const struct table_column columns[] = {
    { "tensor", -26 }, { "type", -7 },    { "shape", -12 }, { "bits", 6 },
    { "min", 12 },     { "max", 12 },     { "mean", 12 },   { "rms", 12 },
    { "zeros", 9 },    { "outliers", 9 }, { "nan", 5 },     { "inf", 5 },
};

enum {
    N_COLUMNS = sizeof(columns) / sizeof(columns[0]),
};

struct result {
    struct value_stats s;
    uint64_t outliers;
};

struct job {
    struct inspected *f;
    const int64_t *tensors;
    int64_t n;
    struct result *results;
    struct table table;
    struct ticker ticker;
    bool failed;
};

static enum ggml_type
tensor_type(const struct job *j, int64_t i)
{
    return gguf_get_tensor_type(j->f->gguf, j->tensors[i]);
}

static void
work(void *data, int64_t i)
{
    struct job *j = data;
    struct result *r = &j->results[i];

    if (!values_known(tensor_type(j, i)))
        return;
    value_stats_compute(j->f, j->tensors[i], &r->s);
    r->outliers =
        value_stats_outliers(j->f, j->tensors[i], &r->s, FAR * r->s.sigma);
}

/* Bits of a value; of none there are no bits. */
static void
put_bits(struct table *t, const struct gguf_context *ctx, int64_t tensor)
{
    uint64_t n = totals_values(ctx, tensor);
    double bytes = (double)gguf_get_tensor_size(ctx, tensor);

    if (n)
        table_number(t, 8 * bytes / (double)n);
    else
        table_none(t);
}

static void
put_numbers(struct table *t, const struct value_stats *s)
{
    const double x[] = { s->min, s->max, s->mean, s->rms };

    for (int k = 0; k < 4; k++)
        if (s->finite)
            table_number(t, x[k]);
        else
            table_none(t);
}

static void
put_result(struct table *t, const struct result *r)
{
    put_numbers(t, &r->s);
    table_count(t, r->s.zeros);
    table_count(t, r->outliers);
    table_count(t, r->s.nan);
    table_count(t, r->s.inf);
}

static void
done(void *data, int64_t i)
{
    struct job *j = data;
    struct table *t = &j->table;
    const struct gguf_context *ctx = j->f->gguf;
    int64_t tensor = j->tensors[i];
    char shape[96];

    table_text(t, gguf_get_tensor_name(ctx, tensor));
    table_text(t, ggml_type_name(tensor_type(j, i)));
    table_text(t, select_shape(shape, ctx, tensor));
    put_bits(t, ctx, tensor);
    if (values_known(tensor_type(j, i))) {
        put_result(t, &j->results[i]);
    } else {
        j->failed = true;
        for (int k = 0; k < 8; k++)
            table_none(t);
    }
    ticker_show_part(&j->ticker, (uint64_t)i, (uint64_t)j->n,
                     gguf_get_tensor_name(ctx, tensor));
}

int
stats_table_show(struct inspected *f, const struct inspect_options *o)
{
    int64_t n;
    int64_t *tensors = select_tensors(f, o, &n);
    struct job j = { .f = f, .tensors = tensors, .n = n };

    j.results = cli_alloc(NULL, (size_t)n, sizeof(*j.results));
    if (n)
        memset(j.results, 0, (size_t)n * sizeof(*j.results));
    ticker_start(&j.ticker, o->quiet || isatty(STDOUT_FILENO));
    if (o->json)
        inspect_json_begin(f, "tensors");
    table_begin(&j.table, columns, N_COLUMNS, o->json);
    jobs_run(o->n_threads, n, work, done, &j);
    table_end(&j.table);
    if (o->json)
        puts("\n}");
    ticker_end(&j.ticker);
    if (j.failed)
        cli_warn("%s: values of some types cannot be read yet: no statistics",
                 f->path);
    free(j.results);
    free(tensors);
    return j.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
