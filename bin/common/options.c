/* options.c - takes the options of a command line by their table */
#include <config.h>

#include "common/foreign.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NAMES = 2 * CLI_MAX_ROWS,
    MAX_LETTERS = 3 * 64,
    FIRST = 256, /* what getopt_long() returns for the first row */
};

/* The options as getopt_long() takes them. */
struct names {
    struct option options[MAX_NAMES];
    size_t n;
    char letters[MAX_LETTERS];
    char alias[CLI_MAX_ROWS][CLI_OPTION_NAME]; /* what options point to */
    size_t n_aliases;
};

/* ---- names ---- */

static void
add_name(struct names *names, const struct cli_option *o, const char *name,
         size_t row)
{
    if (names->n == MAX_NAMES - 1)
        abort(); /* a table that was written so */
    names->options[names->n++] =
        (struct option){ name, o->argument ? required_argument : no_argument,
                         NULL, FIRST + (int)row };
}

static void
add_aliases(struct names *names, const struct cli_option *o, size_t row)
{
    const char *p = o->aliases;

    while (p && *p && names->n_aliases < CLI_MAX_ROWS) {
        char *name = names->alias[names->n_aliases++];
        size_t n = strcspn(p, "|");

        snprintf(name, CLI_OPTION_NAME, "%.*s", (int)n, p);
        add_name(names, o, name, row);
        p += n + (p[n] == '|');
    }
}

static void
collect_names(struct names *names, const struct cli_tool *tool,
              const struct cli_rows *rows)
{
    char *letter = names->letters;

    *letter++ = tool->in_order ? '+' : ':';
    if (tool->in_order)
        *letter++ = ':';
    for (size_t i = 0; i < rows->n; i++) {
        const struct cli_option *o = rows->p[i].o;

        if (o->name)
            add_name(names, o, o->name, i);
        add_aliases(names, o, i);
        if (o->letter)
            *letter++ = o->letter;
        if (o->letter && o->argument)
            *letter++ = ':';
    }
    *letter = '\0';
    names->options[names->n] = (struct option){ 0 };
}

/* ---- what is wrong ---- */

/* How many options' names begin as the argument, "--name=value", does. */
static int
count_names(const struct option *options, const char *arg)
{
    size_t len = strcspn(arg + 2, "=");
    int n = 0;

    for (; options->name; options++)
        n += strncmp(options->name, arg + 2, len) == 0;
    return n;
}

/* Says as getopt_long() would, with nothing in it that a terminal obeys. */
CLI_NORETURN static void
refuse_option(int c, const char *arg, const struct names *names,
              const struct cli_rows *rows)
{
    bool is_long = arg[0] == '-' && arg[1] == '-';
    const char *near = is_long ? foreign_nearest(rows, arg) : NULL;

    if (c == ':' && is_long)
        cli_misuse("option '%s' requires an argument", arg);
    if (c == ':')
        cli_misuse("option requires an argument -- '%c'", optopt);
    if (optopt == 0 && count_names(names->options, arg) > 1)
        cli_misuse("option '%s' is ambiguous", arg);
    if (optopt == 0 && near)
        cli_misuse("unrecognized option '%s'; the nearest is %s", arg, near);
    if (optopt == 0)
        cli_misuse("unrecognized option '%s'", arg);
    if (optopt <= UCHAR_MAX && !strchr(names->letters, optopt))
        cli_misuse("invalid option -- '%c'", optopt);
    cli_misuse("option '%.*s' doesn't allow an argument",
               (int)strcspn(arg, "="), arg);
}

/* The first that was given and is one of the names; NULL: none. *at gets where
 * in the names it is. */
static const struct cli_option *
find_given(const struct cli_rows *rows, const char *names, const char **at)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->p[i].given &&
            (*at = cli_find_word(names, rows->p[i].o->name)))
            return rows->p[i].o;
    return NULL;
}

static void
check_row(const struct cli_rows *rows, const struct cli_option *o)
{
    char name[CLI_OPTION_NAME], with[160];
    const char *at, *why;
    const struct cli_option *other = find_given(rows, o->not_with, &at);

    if (other) {
        why = at + strcspn(at, "|:");
        cli_misuse("%s does not go with %s%.*s", cli_option_name(o, name),
                   cli_option_name(other, with), (int)strcspn(why, "|"), why);
    }
    if (o->only_with && !find_given(rows, o->only_with, &at)) {
        cli_list_options(rows, o->only_with, with, sizeof(with));
        cli_misuse("%s goes with %s only", cli_option_name(o, name), with);
    }
}

static void
check_together(const struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->p[i].given)
            check_row(rows, rows->p[i].o);
}

/* ---- the sandbox ---- */

/* A name of a model may be that of a file elsewhere, or lack its ending. */
static void
allow_read(const char *path)
{
    sandbox_add(path, SANDBOX_READ);
    if (strcmp(path, "-") != 0)
        sandbox_add(cli_model(path, true), SANDBOX_READ);
}

/* FILE=X, too: the file without what follows. */
static void
allow_path(const char *path, enum sandbox_use use)
{
    const char *end = strrchr(path, '=');
    char *file = end ? strndup(path, (size_t)(end - path)) : NULL;

    if (use == SANDBOX_READ)
        allow_read(path);
    else
        sandbox_add(path, use);
    if (file && use == SANDBOX_READ)
        allow_read(file);
    free(file);
}

static void
allow_value(const struct cli_option *o, const char *value)
{
    if (value && o->is_text && o->is_text(value))
        return;
    if (o->use == SANDBOX_JOB)
        sandbox_keep(SANDBOX_MPI);
    else if (o->use == SANDBOX_TYPED)
        sandbox_add(NULL, SANDBOX_TYPED);
    else if (value && (o->use || cli_names_file(o)))
        allow_path(value, o->use ? o->use : SANDBOX_READ);
}

/* Rows and arguments of the tool, once it has parsed its command line. */
static struct cli_rows command_line;

static struct cli_row *
find_row(struct cli_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->p[i].o->name && strcmp(rows->p[i].o->name, name) == 0)
            return &rows->p[i];
    return NULL;
}

bool
cli_was_given(const char *name)
{
    const struct cli_row *row = find_row(&command_line, name);

    return row && row->given;
}

/* Before anything of a file is read. */
static void
enter_sandbox(const struct cli_tool *tool, struct cli_rows *rows, int n,
              char **arguments, const void *options)
{
    const struct cli_row *model = find_row(rows, "model");
    const struct cli_row *verbose = find_row(rows, "verbose");

    if (tool->own_sandbox)
        return;
    for (int i = 0; i < n; i++)
        allow_path(arguments[i], tool->use ? tool->use(i, n) : SANDBOX_READ);
    if (model && !model->given)
        cli_check_model(NULL);
    if (model && !model->given)
        sandbox_add(cli_model(NULL, true), SANDBOX_READ);
    if (tool->allow)
        tool->allow(options);
    sandbox_play(tool->role);
    sandbox_enter(verbose && verbose->given);
}

/* ---- the command line ---- */

static struct cli_row *
option_row(struct cli_rows *rows, int c)
{
    for (size_t i = 0; c < FIRST && i < rows->n; i++)
        if (rows->p[i].o->letter == c)
            return &rows->p[i];
    return &rows->p[c - FIRST];
}

static void
set_row(const struct cli_row *row, const char *value)
{
    struct gg_error err;

    if (cli_option_set(row->o, row->base, value, &err) != GG_OK)
        cli_misuse("%s", err.message);
}

static void
take_row(const struct cli_tool *tool, struct cli_rows *rows,
         struct cli_row *row)
{
    const char *value = row->o->argument ? optarg : NULL;

    if (row->o->kind == CLI_VERSION)
        cli_version();
    if (row->o->kind == CLI_HELP) {
        cli_print_help(tool, rows);
        exit(cli_finish(EXIT_SUCCESS));
    }
    row->given = true;
    if (row->o->kind == CLI_NO_SANDBOX) {
        sandbox_off();
        return;
    }
    if (value && strcmp(row->o->argument, "MODEL") == 0)
        cli_check_model(value);
    allow_value(row->o, value);
    if (row->o->opens && !cli_has_word(row->o->values, value))
        row->late = value;
    else
        set_row(row, value);
}

/* Sets the options that wait for the sandbox. */
static void
take_late_rows(struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->p[i].late)
            set_row(&rows->p[i], rows->p[i].late);
}

int
cli_parse(int argc, char **argv, const struct cli_tool *tool, void *options)
{
    struct cli_rows rows;
    static struct names names;
    int c;

    cli_rows_init(&rows, tool->options, options);
    if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
        cli_print_list(&rows);
        exit(cli_finish(EXIT_SUCCESS));
    }
    cli_check_foreign(argc, argv, &rows, tool->in_order);
    collect_names(&names, tool, &rows);
    opterr = 0;
    for (;;) {
        c = getopt_long(argc, argv, names.letters, names.options, NULL);
        if (c == '?' || c == ':')
            refuse_option(c, argv[optind - 1], &names, &rows);
        if (c == -1)
            break;
        take_row(tool, &rows, option_row(&rows, c));
    }
    check_together(&rows);
    enter_sandbox(tool, &rows, argc - optind, argv + optind, options);
    take_late_rows(&rows);
    command_line = rows;
    return optind;
}
