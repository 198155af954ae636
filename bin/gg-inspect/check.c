/* check.c - --check: what is wrong with tensors and names */
#include <config.h>

#include "common/cli.h"
#include "common/ticker.h"
#include "common/jobs.h"
#include "gg-inspect/scales.h"
#include "gg-inspect/tensor_source.h"
#include "gg-inspect/model_summary.h"
#include "gg-inspect/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct table_column columns[] = {
    { "level", -5 },
    { "where", -26 },
    { "finding", -1 },
};

struct found {
    bool cut; /* the file ends before the data does: the rest is unknown */
    bool known;
    uint64_t nan, first_nan, inf, first_inf; /* how many; in which row */
    uint64_t rows, zero_rows, first_zero;
    bool constant;
    double value; /* the first one */
    struct scales scales;
};

struct job {
    struct inspected *f;
    const int64_t *tensors;
    int64_t n;
    struct found *results;
    struct table table;
    struct ticker ticker;
    uint64_t n_layers; /* that the metadata tells of; 0: nothing */
    bool failed, cut;
};

CLI_PRINTF(4, 5)
static void
finding(struct job *j, bool error, const char *where, const char *fmt, ...)
{
    char text[700];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    table_text(&j->table, error ? "error" : "note");
    table_text(&j->table, where);
    table_text(&j->table, text);
    j->failed |= error;
}

/* ---- one tensor, in any thread ------------------------------------------- */

/* A row, or the part of it that is there. */
struct row {
    uint64_t length, number, left;
    bool zero;
};

static void
see_value(struct found *r, struct row *row, double x)
{
    if (isnan(x) && r->nan++ == 0)
        r->first_nan = row->number;
    if (isinf(x) && r->inf++ == 0)
        r->first_inf = row->number;
    row->zero &= x == 0;
    r->constant &= x == r->value;
    if (--row->left > 0)
        return;
    if (row->zero && r->zero_rows++ == 0)
        r->first_zero = row->number;
    row->left = row->length;
    row->number++;
    row->zero = true;
}

static void
see_values(struct inspected *f, int64_t tensor, struct found *r)
{
    struct row row = { .length =
                           (uint64_t)gguf_get_tensor_ne(f->gguf, tensor)[0],
                       .zero = true };
    struct values v;
    bool first = true;

    row.left = row.length;
    r->constant = true;
    values_open(&v, f, tensor);
    for (size_t n; (n = values_next(&v)); first = false) {
        if (first)
            r->value = v.x[0];
        for (size_t i = 0; i < n; i++)
            see_value(r, &row, v.x[i]);
    }
    values_close(&v);
    r->rows = row.number;
}

/* The bytes of the file that has the tensor; 0: unknown. */
static uint64_t
shard_size(const struct inspected *f, int64_t shard)
{
    const char *name = gguf_get_shard_name(f->gguf, shard);
    struct stat st;

    return stat(name ? name : f->path, &st) ? 0 : (uint64_t)st.st_size;
}

/* Where the tensor's data ends in its file. */
static uint64_t
end_of(const struct inspected *f, int64_t tensor)
{
    return gguf_get_tensor_place(f->gguf, tensor) +
           gguf_get_tensor_size(f->gguf, tensor);
}

static void
work(void *data, int64_t i)
{
    struct job *j = data;
    struct found *r = &j->results[i];
    int64_t tensor = j->tensors[i];

    r->cut = j->f->is_read && gguf_get_tensor_size(j->f->gguf, tensor) &&
             end_of(j->f, tensor) >
                 shard_size(j->f, gguf_get_tensor_shard(j->f->gguf, tensor));
    r->known = values_known(gguf_get_tensor_type(j->f->gguf, tensor));
    if (r->cut)
        return;
    if (r->known)
        see_values(j->f, tensor, r);
    scales_count(j->f, tensor, &r->scales);
}

/* ---- what is said of it -------------------------------------------------- */

static void
say_values(struct job *j, const char *name, const struct found *r)
{
    if (r->nan)
        finding(j, true, name,
                "values that are NaN: %" PRIu64 ", the first in row %" PRIu64,
                r->nan, r->first_nan);
    if (r->inf)
        finding(j, true, name,
                "infinite values: %" PRIu64 ", the first in row %" PRIu64,
                r->inf, r->first_inf);
    if (r->rows < 2 || !r->known)
        return; /* norms and biases may well be all alike */
    if (r->constant)
        finding(j, false, name, "all values are %.9g", r->value);
    else if (r->zero_rows)
        finding(j, false, name,
                "rows of zeros: %" PRIu64 " of %" PRIu64
                ", the first is row %" PRIu64,
                r->zero_rows, r->rows, r->first_zero);
}

static void
say_scales(struct job *j, const char *name, const struct scales *s)
{
    if (s->bad)
        finding(j, true, name,
                "scales that are NaN or infinite: %" PRIu64 " of %" PRIu64
                ", the first in block %" PRIu64,
                s->bad, s->n, s->first_bad);
    if (s->subnormal)
        finding(j, false, name,
                "scales below 2^-14, where F16 has fewer digits: %" PRIu64
                " of %" PRIu64,
                s->subnormal, s->n);
}

static void
say_name(struct job *j, const char *name)
{
    char shown[4 * GGML_MAX_NAME + 4], end;
    unsigned long long layer;

    gg_escape(shown, sizeof(shown), name, strlen(name));
    if (strcmp(shown, name) != 0)
        finding(j, false, name, "the name has bytes that are not printable");
    if (j->n_layers && sscanf(name, "blk.%9llu%c", &layer, &end) == 2 &&
        layer >= j->n_layers)
        finding(j, false, name, "the metadata has only %" PRIu64 " layers",
                j->n_layers);
}

static void
done(void *data, int64_t i)
{
    struct job *j = data;
    const struct found *r = &j->results[i];
    const char *name = gguf_get_tensor_name(j->f->gguf, j->tensors[i]);

    say_name(j, name);
    if (r->cut)
        finding(j, true, name, "its data ends past the end of the file");
    else if (!r->known)
        finding(
            j, false, name, "values of type %s cannot be read yet",
            ggml_type_name(gguf_get_tensor_type(j->f->gguf, j->tensors[i])));
    say_values(j, name, r);
    say_scales(j, name, &r->scales);
    j->cut |= r->cut;
    ticker_show_part(&j->ticker, (uint64_t)i, (uint64_t)j->n, name);
}

/* ---- the whole file ------------------------------------------------------ */

/* Checks the bytes after the last tensor of each file. */
static void
say_rest(struct job *j)
{
    const struct gguf_context *ctx = j->f->gguf;
    uint64_t padding = gguf_get_alignment(ctx);

    for (int64_t k = 0; k < gguf_get_n_shards(ctx) && j->f->is_read; k++) {
        const char *name = gguf_get_shard_name(ctx, k);
        uint64_t end = 0, size = shard_size(j->f, k);

        for (int64_t i = 0; i < gguf_get_n_tensors(ctx); i++)
            if (gguf_get_tensor_shard(ctx, i) == k && end_of(j->f, i) > end)
                end = end_of(j->f, i);
        if (end && size > end && size - end >= padding)
            finding(j, false, name ? name : j->f->path,
                    "bytes after the last tensor: %" PRIu64, size - end);
    }
}

/* Whether gg-eval would take it, where it knows such models. Of a folder all
 * would have to be read. */
static void
say_model(struct job *j, const struct model_summary *s)
{
    struct gg_model_params params = { .device = "cpu" };
    size_t len = strlen(j->f->path);
    struct gg_model *model;
    struct gg_error err;
    const char *why = err.message;

    if (s->adapter.kind != ADAPTER_NONE || s->projector.is_projector ||
        !s->architecture.s || !s->known || j->cut ||
        strcmp(gg_file_format(j->f->file), "Hugging Face") == 0)
        return;
    if (gg_model_open(j->f->path, &params, &model, &err) == GG_OK) {
        gg_model_free(model);
        return;
    }
    if (strncmp(why, j->f->path, len) == 0 && why[len] == ':')
        why += len + 1;
    finding(j, true, j->f->path, "no model that can be run: %s",
            why + strspn(why, " "));
}

/* As gg-encode would say it. */
static void
say_projector(struct job *j, const struct projector_summary *p)
{
    size_t len = strlen(j->f->path);
    const char *why = p->why.message;

    if (!p->is_projector || p->opens || j->cut)
        return;
    if (strncmp(why, j->f->path, len) == 0 && why[len] == ':')
        why += len + 1;
    finding(j, true, j->f->path, "no projector that can be used: %s",
            why + strspn(why, " "));
}

/* Finds pairs that are none, and vectors that belong to no layer. */
static void
say_adapter(struct job *j, const struct adapter_summary *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->changes[i].odd)
            finding(j, true,
                    gguf_get_tensor_name(j->f->gguf, a->changes[i].tensor),
                    "%s",
                    a->kind == ADAPTER_CONTROL
                        ? "its name is that of no layer from 1 on"
                        : "the other of the pair is missing, or of another "
                          "rank");
}

int
check_show(struct inspected *f, const struct inspect_options *o)
{
    struct job j = { .f = f };
    int64_t *tensors = select_tensors(f, o, &j.n);
    struct model_summary s;

    model_summary_make(f->gguf, o, &s);
    j.n_layers = s.layers.max;
    j.tensors = tensors;
    j.results = cli_alloc(NULL, (size_t)j.n, sizeof(*j.results));
    if (j.n)
        memset(j.results, 0, (size_t)j.n * sizeof(*j.results));
    ticker_start(&j.ticker, o->quiet || isatty(STDOUT_FILENO));
    if (o->json)
        inspect_json_begin(f, "findings");
    table_begin(&j.table, columns, 3, o->json);
    jobs_run(o->n_threads, j.n, work, done, &j);
    ticker_end(&j.ticker);
    if (!o->tensor) {
        say_rest(&j);
        say_model(&j, &s);
        say_projector(&j, &s.projector);
        say_adapter(&j, &s.adapter);
    }
    table_end(&j.table);
    fputs(o->json ? "\n}\n" : "", stdout);
    free(j.results);
    free(tensors);
    model_summary_clear(&s);
    return j.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
