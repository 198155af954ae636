/* options.h - the table of a tool's options, and what comes from it: what
 * getopt_long() takes, --help, completions, members of records in JSON
 *
 * A row is an option; or, without a name, a letter that --help does not tell
 * of, a line of --help, or all rows of another table. A row of zeros ends a
 * table. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "common/cli.h"
#include "common/sandbox.h"

struct cli_option;

/* Takes the value; NULL where the option has none. GG_ERR_ARG: a sentence. */
typedef enum gg_status (*cli_setter)(void *options, const struct cli_option *o,
                                     const char *value, struct gg_error *err);

/* The type of the field at `at`, and the form of its value. */
enum cli_kind {
    CLI_CALL,  /* set() knows */
    CLI_CONST, /* int32_t, an enum: min */
    CLI_FLAG,  /* bool: true */
    CLI_TEXT,  /* const char *: any; with `strict`, one of `values` */
    CLI_INT,   /* int32_t, int64_t, size_t, float, double: min..max */
    CLI_INT64,
    CLI_SIZE,
    CLI_FLOAT,
    CLI_DOUBLE,
    CLI_WORD, /* an enum, or int32_t: min + which of `values` it is */
    CLI_HELP,
    CLI_VERSION,
    CLI_NO_SANDBOX,
};

struct cli_option {
    const char *name; /* the long one, without its hyphens */
    char letter;      /* or 0 */
    enum cli_kind kind;
    const char *argument; /* "N"; NULL: has none. A FILE, MODEL, LIST or DIR is
                             completed as the name of a file. */
    const char *help;     /* NULL: as the next row */
    size_t at;
    double min, max;
    const char *values; /* "f16|f32|q8_0" */
    bool strict;
    const char *(*list)(size_t i); /* more values, until NULL */
    cli_setter set;
    const char *aliases;   /* other long names: "n-predict|max-tokens" */
    const char *shown;     /* what messages call it, if not by its long name */
    bool record;           /* records in JSON may have it, */
    const char *members;   /* by these names, too */
    const char *not_with;  /* names of others: "echo|choice: why" */
    const char *only_with; /* one of these must be there, too */
    enum sandbox_use use;  /* of the file that the value names */
    bool (*is_text)(const char *value); /* true: it names no file; or NULL */
    bool opens; /* set() reads it: called within the sandbox */
    const struct cli_option *part; /* all rows of this table, whose fields are
                                      in the struct at `at` */
};

struct cli_tool {
    const char *usage; /* all of --help in front of the options */
    const struct cli_option *options;
    int column;    /* where --help tells about them */
    bool in_order; /* no option is looked for after the first argument */
    /* The use of argument i of n; NULL: all are read. */
    enum sandbox_use (*use)(int i, int n);
    bool own_sandbox; /* the tool enters it by itself: sandbox.h */
    enum sandbox_role role;
    /* Adds to it what the options want besides; or NULL. */
    void (*allow)(const void *options);
};

/* For the end of most tables. */
#define CLI_HELP_AND_VERSION                                                   \
    { "help", 'h', CLI_HELP, .help = "print this help and end" },              \
        { "version", 'V', CLI_VERSION, .help = "print the version and end" },  \
    {                                                                          \
        "no-sandbox", 0, CLI_NO_SANDBOX,                                       \
            .help = "allow opening any file and starting any program"          \
    }

/* Takes all options of the command line; what is wrong ends the tool. Returns
 * the index of the first argument that is none. */
int
cli_parse(int argc, char **argv, const struct cli_tool *tool, void *options);

/* True where the command line has the option of that name, which may be one
 * that the tool has not. */
bool
cli_was_given(const char *name);

/* True if its value names a file by what --help calls it. */
bool
cli_names_file(const struct cli_option *o);

/* Sets one. */
enum gg_status
cli_option_set(const struct cli_option *o, void *options, const char *value,
               struct gg_error *err);

/* An option's name in messages: "--top-k". */
enum {
    CLI_OPTION_NAME = 40
};
const char *
cli_option_name(const struct cli_option *o, char buf[CLI_OPTION_NAME]);

/* The row of a member of a record: by its long name or another one of it, where
 * '-' is like '_'; NULL: there is none. */
const struct cli_option *
cli_option_of_member(const struct cli_option *table, const char *member);

/* Where in "a|b|c" the word is, where '-' is like '_', and "a: why|b" has a
 * reason after it; NULL: nowhere, also in NULL. */
const char *
cli_find_word(const char *words, const char *word);

static inline bool
cli_has_word(const char *words, const char *word)
{
    return cli_find_word(words, word) != NULL;
}
/* "true", also NULL, or "false". */
enum gg_status
cli_read_flag(const struct cli_option *o, const char *value, bool *on,
              struct gg_error *err);

/* Which of its values it is. */
enum gg_status
cli_read_word(const struct cli_option *o, const char *value, int *out,
              struct gg_error *err);

/* ---- rows: options_rows.c ---- */

/* An option of the tool's, and the struct that it is set in. */
struct cli_row {
    const struct cli_option *o;
    char *base;
    bool given;
    const char *late; /* the value of one that opens a file, the last one */
};

enum {
    CLI_MAX_ROWS = 160, /* of a tool; with more it aborts */
};

struct cli_rows {
    struct cli_row p[CLI_MAX_ROWS]; /* those without a name are lines of text */
    size_t n;
};

/* "--lines, -0 or --jsonl", of the options that are among the names. */
void
cli_list_options(const struct cli_rows *rows, const char *names, char *out,
                 size_t size);

/* All rows, those of parts in their places. */
void
cli_rows_init(struct cli_rows *rows, const struct cli_option *table,
              void *options);

/* ---- what is printed: options_help.c ---- */

void
cli_print_help(const struct cli_tool *tool, const struct cli_rows *rows);

/* For programs, a line each, fields separated by tabs: letter, name, argument,
 * "file" or the values, aliases, members of records, help; "-" is none. */
void
cli_print_list(const struct cli_rows *rows);

#endif
