/* report.c - what was measured, as a table */
#include <config.h>

#include <ggml.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-bench/bounds.h"
#include "gg-bench/table.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

enum {
    TRIES = 6, /* of a peak */
};

/* ---- figures ---- */

static int
compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *x, size_t n)
{
    qsort(x, n, sizeof(*x), compare_numbers);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

/* Four digits, and all of a whole number. */
static void
add_figure(struct table_rows *t, double x)
{
    int digits = x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : x >= 1 ? 3 : 5;

    if (isfinite(x))
        table_add_number(t, "%.*f", digits, x);
    else
        table_add_none(t);
}

/* ---- results ---- */

static const struct table_column result_columns[] = {
    { "model", NULL, false },         { NULL, "model", false },
    { "type", "type", false },        { "device", NULL, false },
    { "threads", "threads", true },   { "cache", "cache", false },
    { "test", "test", false },        { "prompt", "prompt", true },
    { "generate", "generate", true }, { "depth", "depth", true },
    { "batch", "batch", true },       { "runs", NULL, true },
    { "rate", "tokens/s", true },     { "min", "min", true },
    { "max", "max", true },           { "GB/s", NULL, true },
    { "GOP/s", NULL, true },          { "bound", "bound", false },
    { "bound_rate", NULL, true },     { "fraction", "fraction", true },
};

/* "f16", or "q8_0/q4_0" of keys and values. */
static void
add_cache(struct table_rows *t, const struct engine_cache *c)
{
    struct gg_session_params p = gg_session_params_default();
    char text[32];

    engine_set_cache(&p, c);
    if (p.has_value_type)
        snprintf(text, sizeof(text), "%s/%s", engine_cache_name(p.cache_type),
                 engine_cache_name(p.value_type));
    else
        snprintf(text, sizeof(text), "%s", engine_cache_name(p.cache_type));
    table_add_text(t, text);
}

/* Adds the bound: its kind, its rate, and which fraction of it was reached. */
static void
add_bound(struct table_rows *t, struct bench_result *r)
{
    double fraction = median(r->fractions, r->n);

    if (!(fraction > 0)) {
        for (int i = 0; i < 3; i++)
            table_add_none(t);
        return;
    }
    table_add_text(t, r->is_memory ? "memory" : r->setup->product);
    add_figure(t, median(r->bounds, r->n));
    table_add_number(t, "%.3f", fraction);
}

static void
add_test(struct table_rows *t, const struct bench_test *test)
{
    table_add_text(t, !test->generate ? "prefill"
                      : !test->prompt ? "decode"
                                      : "both");
    table_add_number(t, "%d", (int)test->prompt);
    table_add_number(t, "%d", (int)test->generate);
    table_add_number(t, "%d", (int)test->depth);
    table_add_number(t, "%d", (int)test->batch);
}

static void
add_row(struct table_rows *t, struct bench_result *r)
{
    const struct bench_setup *s = r->setup;
    const struct bench_test *test = &r->test;
    double ids = (double)(test->prompt + test->generate) * test->batch,
           rate = median(r->rates, r->n);

    table_add_text(t, s->model->path);
    table_add_text(t, s->model->name);
    table_add_text(t, ggml_type_name(s->model->work.type));
    table_add_text(t, gg_model_device(s->model->model));
    table_add_number(t, "%d", (int)s->threads);
    add_cache(t, &s->cache);
    add_test(t, test);
    table_add_number(t, "%zu", r->n);
    add_figure(t, rate);
    add_figure(t, r->rates[0]); /* sorted now */
    add_figure(t, r->rates[r->n - 1]);
    add_figure(t, (r->bytes[0] + r->bytes[1]) * rate / ids * 1e-9);
    add_figure(t, (r->ops[0] + r->ops[1]) * rate / ids * 1e-9);
    add_bound(t, r);
}

void
bench_report(const struct bench *b)
{
    struct table_rows t = { result_columns, N(result_columns), NULL, 0 };

    for (size_t i = 0; i < b->n_results; i++)
        add_row(&t, &b->results[i]);
    table_print(&t, (enum bench_form)b->o->form);
}

/* ---- bounds ---- */

static const struct table_column bound_columns[] = {
    { "what", "what", false },      { "isa", "isa", false },
    { "threads", "threads", true }, { "value", "value", true },
    { "unit", "unit", false },
};

static void
add_bound_row(struct table_rows *t, const struct bounds_peak *peak, int n)
{
    double rate = peak ? bounds_peak_rate(peak, n, TRIES) : bounds_read_rate(n);

    table_add_text(t, peak ? peak->what : "memory");
    if (peak)
        table_add_text(t, peak->isa);
    else
        table_add_none(t);
    table_add_number(t, "%d", n);
    add_figure(t, rate);
    table_add_text(t, peak ? "GOP/s" : "GB/s");
}

void
bench_report_bounds(const struct bench_options *o)
{
    struct table_rows t = { bound_columns, N(bound_columns), NULL, 0 };

    if (!bounds_start())
        cli_die("out of memory");
    for (size_t i = 0; i < o->threads.n; i++) {
        const struct bounds_peak *peak;

        add_bound_row(&t, NULL, o->threads.p[i]);
        for (size_t k = 0; (peak = bounds_peak(k)) != NULL; k++)
            if (bounds_has(peak))
                add_bound_row(&t, peak, o->threads.p[i]);
    }
    bounds_end();
    table_print(&t, (enum bench_form)o->form);
}
