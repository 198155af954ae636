/* bins.c - --histogram: how the values of tensors are spread, a line each */
#include <config.h>

#include "common/cli.h"
#include "common/json.h"
#include "common/ticker.h"
#include "gg-inspect/bins.h"
#include "common/jobs.h"
#include "gg-inspect/tensor_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct job {
    struct inspected *f;
    const int64_t *tensors;
    int64_t n;
    struct bins *results;
    struct ticker ticker;
    int width;                 /* of names; */
    const char *const *glyphs; /* of pictures; NULL: numbers */
    bool json, print, failed;
};

void
bins_of(struct inspected *f, int64_t tensor, struct bins *b)
{
    *b = (struct bins){ .known = values_known(
                            gguf_get_tensor_type(f->gguf, tensor)) };
    if (!b->known)
        return;
    value_stats_compute(f, tensor, &b->s);
    if (b->s.finite)
        value_stats_bins(f, tensor, b->s.min, b->s.max, b->n, BINS);
}

static void
work(void *data, int64_t i)
{
    struct job *j = data;

    bins_of(j->f, j->tensors[i], &j->results[i]);
}

/* ---- for people ---------------------------------------------------------- */

enum {
    LEVELS = 9,
};

static const char *const blocks[LEVELS] = { " ", "▁", "▂", "▃", "▄",
                                            "▅", "▆", "▇", "█" };
static const char *const ascii[LEVELS] = { " ", ".", ":", "-", "=",
                                           "+", "*", "#", "@" };

/* The terminal shows UTF-8, by what the environment says. */
static bool
has_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

/* A bin that is not empty is seen, however little it has. */
static void
put_picture(const struct bins *b, const char *const *glyphs)
{
    uint64_t most = 1;

    for (int k = 0; k < BINS; k++)
        most = b->n[k] > most ? b->n[k] : most;
    for (int k = 0; k < BINS; k++) {
        double part = (double)b->n[k] / (double)most;
        int level = (int)(part * (LEVELS - 1) + 0.5);

        fputs(glyphs[b->n[k] && level == 0 ? 1 : level], stdout);
    }
}

static void
put_bins(const struct job *j, const char *name, const struct bins *b)
{
    value_put_escaped(stdout, name, strlen(name), 0);
    printf("%*s", j->width - (int)value_width(name, strlen(name)), "");
    if (b->known && b->s.finite) {
        printf("  %10.4g |", b->s.min);
        put_picture(b, j->glyphs);
        printf("| %-.4g", b->s.max);
    }
    putchar('\n');
}

/* ---- for scripts --------------------------------------------------------- */

static void
put_tabs(const char *name, const struct bins *b)
{
    value_put_escaped(stdout, name, strlen(name), 0);
    if (b->known && b->s.finite) {
        printf("\t%.9g\t%.9g", b->s.min, b->s.max);
        for (int k = 0; k < BINS; k++)
            printf("\t%" PRIu64, b->n[k]);
    }
    putchar('\n');
}

static void
put_json(const char *name, const struct bins *b, bool first)
{
    char min[32], max[32];

    fputs(first ? "\n    { \"tensor\": " : ",\n    { \"tensor\": ", stdout);
    cli_json_put(name, strlen(name));
    if (b->known && b->s.finite) {
        printf(", \"min\": %s, \"max\": %s, \"histogram\": [",
               value_float(min, b->s.min, false),
               value_float(max, b->s.max, false));
        for (int k = 0; k < BINS; k++)
            printf("%s%" PRIu64, k ? ", " : "", b->n[k]);
        putchar(']');
    }
    fputs(" }", stdout);
}

static void
done(void *data, int64_t i)
{
    struct job *j = data;
    const char *name = gguf_get_tensor_name(j->f->gguf, j->tensors[i]);
    const struct bins *b = &j->results[i];

    j->failed |= !b->known;
    if (j->print && j->json)
        put_json(name, b, i == 0);
    else if (j->print && j->glyphs)
        put_bins(j, name, b);
    else if (j->print)
        put_tabs(name, b);
    ticker_show_part(&j->ticker, (uint64_t)i, (uint64_t)j->n, name);
}

/* ---- both, and pictures ---- */

static void
widen(struct job *j)
{
    for (int64_t i = 0; i < j->n; i++) {
        const char *name = gguf_get_tensor_name(j->f->gguf, j->tensors[i]);
        int width = (int)value_width(name, strlen(name));

        j->width = width > j->width ? width : j->width;
    }
}

static void
count_bins(struct job *j, const struct inspect_options *o)
{
    bool terminal = isatty(STDOUT_FILENO);

    if (terminal)
        j->glyphs = has_utf8() ? blocks : ascii;
    widen(j);
    ticker_start(&j->ticker, o->quiet || terminal);
    jobs_run(o->n_threads, j->n, work, done, j);
    ticker_end(&j->ticker);
    if (j->failed)
        cli_warn("%s: values of some types cannot be read yet", j->f->path);
}

int
bins_show(struct inspected *f, const struct inspect_options *o)
{
    struct job j = { .f = f, .json = o->json, .print = !o->png };
    int64_t *tensors = select_tensors(f, o, &j.n);

    j.tensors = tensors;
    j.results = cli_alloc(NULL, (size_t)j.n, sizeof(*j.results));
    if (j.json)
        inspect_json_begin(f, "tensors"), putchar('[');
    count_bins(&j, o);
    if (j.json)
        puts(j.n ? "\n  ]\n}" : "]\n}");
    if (o->png)
        picture_bins(j.results, j.n);
    free(j.results);
    free(tensors);
    return j.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
