/* main.c - gg-quantize: a model in fewer bits */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/gguf.h"
#include "common/options.h"
#include "common/ticker.h"
#include "common/quantize/importance.h"
#include "common/quantize/plan.h"
#include "common/quantize/work.h"

const char cli_name[] = "gg-quantize";

static const char usage[] =
    "Usage: gg-quantize [OPTION]... IN OUT TYPE\n"
    "Write the model file IN as the GGUF file OUT, with its matrices quantised "
    "to\n"
    "TYPE: a type of blocks, or a mixture such as Q4_K_M, which chooses one "
    "for\n"
    "each tensor. A table on standard output shows the type of each tensor.\n"
    "\n";

enum {
    MAX_THREADS = 1024,
};

struct arguments {
    struct type_choices choices;
    bool dry_run, in_place, quiet, verbose;
    int n_threads;
    const char *in, *out, *imatrix;
    const struct mixture *mixture;
};

/* ---- options ------------------------------------------------------------- */

static enum gg_status
add_choice(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    struct arguments *a = options;

    (void)row, (void)err;
    type_choices_add(&a->choices, value);
    return GG_OK;
}

/* --list ends the tool. */
static enum gg_status
list_types(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    (void)options, (void)row, (void)value, (void)err;
    for (int i = 0; mixture_at(i); i++)
        puts(mixture_at(i)->name);
    exit(cli_finish(EXIT_SUCCESS));
}

#define AT(field) .at = offsetof(struct arguments, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "pure", 0, CLI_FLAG, NULL, "quantize all matrices to the same type",
      AT(choices.pure) },
    { "tensor", 0, CLI_CALL, "PATTERN=TYPE",
      "use TYPE for matrices whose name matches the shell pattern",
      .set = add_choice },
    { "imatrix", 0, CLI_TEXT, "FILE",
      "weight errors by an importance matrix from gg-eval --imatrix",
      AT(imatrix) },
    { "dry-run", 0, CLI_FLAG, NULL,
      "write only the table, without errors, and no OUT", AT(dry_run) },
    { "in-place", 0, CLI_FLAG, NULL,
      "let OUT be IN, which is replaced", AT(in_place) },
    { "threads", 't', CLI_INT, "N",
      "threads (default: one for each processor)", AT(n_threads),
      1, MAX_THREADS },
    { "quiet", 'q', CLI_FLAG, NULL, "write no table", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL,
      "report what the kernel lacks for the sandbox", AT(verbose) },
    { "list", 0, CLI_CALL, NULL, "list the TYPEs", .set = list_types },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* IN OUT TYPE */
static enum sandbox_use
argument_use(int i, int n)
{
    (void)n;
    return i == 1 ? SANDBOX_WRITE : SANDBOX_READ;
}

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct cli_tool tool = { usage, rows, 23,
                                          .use = argument_use };
    int first = cli_parse(argc, argv, &tool, a);

    if (argc - first != 3)
        cli_misuse("IN, OUT and TYPE are needed");
    cli_check_model_file(argv[first]);
    a->in = argv[first];
    a->out = argv[first + 1];
    a->mixture = mixture_find(argv[first + 2]);
    if (!a->mixture)
        cli_misuse("'%s' is no TYPE; --list shows all", argv[first + 2]);
}

/* ---- the table ----------------------------------------------------------- */

struct totals {
    uint64_t values, from, to; /* bytes */
    struct work_sums sums;     /* of tensors whose type changed */
};

static void
put_error(FILE *f, const struct work_sums *s)
{
    if (s->values > 0)
        fprintf(f, "\t%.3e", s->error / s->values);
    else
        fputs(s->error > 0 ? "\tinf" : "\t0", f);
}

static void
put_head(FILE *f, bool dry_run)
{
    if (f)
        fprintf(f, "tensor\tfrom\tto\tbytes%s\n", dry_run ? "" : "\tNMSE");
}

/* `s` is NULL where nothing was computed. */
static void
put_tensor(FILE *f, const struct gguf_context *from,
           const struct gguf_context *to, int64_t i, const struct work_sums *s)
{
    char shown[4 * GGML_MAX_NAME];
    const char *name = gguf_get_tensor_name(from, i);

    if (!f)
        return;
    fprintf(f, "%s\t%s\t%s\t%zu",
            gg_escape(shown, sizeof(shown), name, strlen(name)),
            ggml_type_name(gguf_get_tensor_type(from, i)),
            ggml_type_name(gguf_get_tensor_type(to, i)),
            gguf_get_tensor_size(to, i));
    if (s)
        put_error(f, s);
    fputc('\n', f);
}

static void
print_totals(FILE *f, const struct totals *t, bool dry_run)
{
    double values = t->values ? (double)t->values : 1;

    if (!f)
        return;
    fprintf(f, "all\t%.2f bits\t%.2f bits\t%" PRIu64,
            8 * (double)t->from / values, 8 * (double)t->to / values, t->to);
    if (!dry_run)
        put_error(f, &t->sums);
    fputc('\n', f);
}

/* ---- tensors ------------------------------------------------------------- */

static int64_t
count_rows(const struct gguf_context *gguf, int64_t i)
{
    const int64_t *ne = gguf_get_tensor_ne(gguf, i);

    return ne[1] * ne[2] * ne[3];
}

static void
count_tensor(const struct gguf_context *from, const struct gguf_context *to,
             int64_t i, struct totals *t)
{
    t->values +=
        (uint64_t)(gguf_get_tensor_ne(from, i)[0] * count_rows(from, i));
    t->from += gguf_get_tensor_size(from, i);
    t->to += gguf_get_tensor_size(to, i);
}

/* Tensor i in its new type, and what fills its place. */
static void
write_tensor(const struct gg_file *file, const struct importance *importance,
             const struct gguf_context *to, int64_t i, int n_threads,
             struct work_sums *sums)
{
    const struct gguf_context *from = gg_file_gguf(file);
    enum ggml_type type = gguf_get_tensor_type(to, i);
    float *weights = NULL;
    struct gg_error err;

    if (type != gguf_get_tensor_type(from, i))
        cli_check(importance_weights(importance, from, i, &weights, &err),
                  &err);
    work_write(file, i, to, weights, NULL, n_threads, sums);
    free(weights);
    gguf_write_padding(to, i);
}

static void
write_all(const struct gg_file *file, const struct importance *importance,
          const struct gguf_context *to, const struct arguments *a, FILE *table)
{
    const struct gguf_context *from = gg_file_gguf(file);
    int64_t n = gguf_get_n_tensors(from);
    struct ticker ticker;
    struct totals totals = { 0 };
    uint64_t all = 0; /* bytes */

    for (int64_t i = 0; i < n; i++)
        all += gguf_get_tensor_size(to, i);
    ticker_start(&ticker, a->quiet);
    if (!a->dry_run)
        gguf_write_metadata(to);
    put_head(table, a->dry_run);
    for (int64_t i = 0; i < n; i++) {
        struct work_sums sums = { 0 };

        ticker_show_part(&ticker, totals.to, all, gguf_get_tensor_name(to, i));
        if (!a->dry_run)
            write_tensor(file, importance, to, i, a->n_threads, &sums);
        if (ferror(stdout))
            break;
        if (sums.odd)
            cli_warn("%s: %" PRIu64 " values are not finite",
                     gguf_get_tensor_name(from, i), sums.odd);
        put_tensor(table, from, to, i, a->dry_run ? NULL : &sums);
        count_tensor(from, to, i, &totals);
        totals.sums.error += sums.error;
        totals.sums.values += sums.values;
    }
    print_totals(table, &totals, a->dry_run);
    ticker_end(&ticker);
}

/* ---- the tool ------------------------------------------------------------ */

/* OUT becomes the standard output; what that was gets the table, unless the
 * model itself goes there. */
static FILE *
open_table(const struct arguments *a)
{
    int fd;
    FILE *f;

    if (a->quiet)
        return NULL;
    if (a->dry_run)
        return stdout;
    fd = dup(strcmp(a->out, "-") == 0 ? STDERR_FILENO : STDOUT_FILENO);
    f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        cli_die("standard output: %s", strerror(errno));
    return f;
}

/* Every line of it has arrived. */
static void
close_table(FILE *table, const struct arguments *a)
{
    bool bad = ferror(table);

    errno = 0;
    if (fclose(table) || bad)
        cli_die("standard %s: %s",
                strcmp(a->out, "-") == 0 ? "error" : "output",
                errno ? strerror(errno) : "write error");
}

static void
quantize(struct arguments *a)
{
    struct importance importance = { 0 };
    struct plan_counts counts = { 0 };
    int32_t count;
    const struct gguf_context *from;
    struct gg_file *file;
    struct gg_error err;
    enum ggml_type *types;
    struct gguf_context *to;
    FILE *table;

    if (!a->dry_run)
        files_change_if_same(a->in, a->out, a->in_place);
    cli_check(gg_file_open(a->in, &file, &err), &err);
    if (gg_file_note(file) && !a->quiet)
        cli_warn("%s: %s", a->in, gg_file_note(file));
    from = gg_file_gguf(file);
    table = open_table(a);
    if (!a->dry_run) {
        cli_output(a->out);
        cli_refuse_terminal();
    }
    if (a->imatrix)
        cli_check(importance_open(&importance, a->imatrix, &err), &err);
    types = plan_types(from, a->mixture, &a->choices, &importance, &counts);
    if (!a->quiet)
        plan_tell(&counts);
    to = plan_gguf(from, types, a->mixture);
    if (a->imatrix) {
        cli_check(importance_count(&importance, from, &count, &err), &err);
        importance_describe(&importance, to, count);
        gguf_check_memory(to);
    }
    write_all(file, &importance, to, a, table);
    if (table && table != stdout)
        close_table(table, a);
    free(types);
    gguf_free(to);
    importance_close(&importance);
    gg_file_close(file);
}

int
main(int argc, char **argv)
{
    struct arguments a = { .n_threads = gg_default_threads() };

    cli_start();
    parse_arguments(argc, argv, &a);
    quantize(&a);
    type_choices_clear(&a.choices);
    return cli_finish(EXIT_SUCCESS);
}
