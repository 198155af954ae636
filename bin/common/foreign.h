/* foreign.h - command lines of other programs: found, and written as ours */
#ifndef COMMON_FOREIGN_H
#define COMMON_FOREIGN_H

#include "common/buffer.h"
#include "common/foreign/theirs.h"
#include "common/options.h"

/* A part of our command line. */
struct foreign_piece {
    char *text;     /* as a shell reads it */
    char *option;   /* "--top-k"; NULL: an argument */
    char *word;     /* theirs that it comes from; NULL: it is ours */
    bool is_passed; /* it goes after "--" */
};

struct foreign_line {
    const char *tool;            /* whose command line it is */
    const struct cli_rows *rows; /* this tool's; NULL: `tool` is another one */
    const struct cli_rows *passed; /* of what goes after "--", likewise */
    struct foreign_piece *p;
    size_t n;
    struct buffer prompt;     /* -p of the arguments */
    bool passes;              /* pieces that are added go after "--" */
    char *text, *file, *last; /* what gg-tokenize reads in front of it; the
                                 last argument. In a shell's form; or NULL */
    struct buffer words;      /* theirs: "-fa, -hf" */
    struct foreign_left {
        struct buffer words;
        char *why;
    } * left; /* left out */
    size_t n_left;
};

/* For cli_parse(): ends the tool with status 2 where the command line has words
 * of another program, or a value that means something else there; ours is on
 * standard error then. `first_only`: no option is looked for after the first
 * argument. */
void
cli_check_foreign(int argc, char **argv, const struct cli_rows *rows,
                  bool first_only);

/* ---- options of ours: foreign_own.c ---- */

/* The long name of ours that is nearest to `name`, "--X"; NULL: none is near.
 */
const char *
foreign_nearest(const struct cli_rows *rows, const char *name);

/* The row of an option of ours, as it is written: "-m", "--top-k". */
const struct cli_option *
foreign_own(const struct cli_rows *rows, const char *text, size_t len);

const struct cli_option *
foreign_letter(const struct cli_rows *rows, char c);
/* The only one whose name begins so, as getopt_long() has it. */
const struct cli_option *
foreign_prefix(const struct cli_rows *rows, const char *text, size_t len);

/* ---- programs of theirs: foreign_program.c ---- */

/* True where a part of "a|b" is the word, or, as a glob, fits it. */
bool
foreign_has_part(const char *parts, const char *word, size_t len, bool globs);
/* The program that the first words name: "ollama run", or "run" alone where
 * there is no file of that name; or NULL. *n gets how many words it takes. */
const struct foreign_program *
foreign_find_program(int argc, char **argv, int *n);
/* True for the name of a model file. */
bool
foreign_is_model(const char *name);
/* "ollama:NAME", which gg-fetch takes, or a hub's with its own scheme. Owned by
 * the caller. */
char *
foreign_source(const char *name);
/* The name of a type that a number of llama-quantize stands for; or `name`. */
const char *
foreign_type(const char *name);

/* ---- the line: foreign_line.c ---- */

/* Adds a word or value in a form that a shell reads as it. */
void
foreign_quote(struct buffer *out, const char *text);
/* Adds a piece, which is taken over. */
void
foreign_add(struct foreign_line *line, char *text, const char *option,
            const char *word);
/* False where the value does not fit the option, as far as that can be read
 * without doing anything; `err` says why. */
bool
foreign_is_value(const struct cli_option *o, const char *value,
                 struct gg_error *err);
/* True where the row's option goes after "--": what another tool of ours gets
 * from this one, which has no such option. */
bool
foreign_is_passed(const char *tool, const struct foreign_word *row);
/* Says why a word of theirs is left out. */
void
foreign_leave(struct foreign_line *line, const char *word, const char *why);
/* Adds what the row says. `file`: what another word
 * adds, -hff's value; or NULL. */
void
foreign_translate(struct foreign_line *line, const struct foreign_word *row,
                  const char *word, const char *const values[2],
                  const char *file);
/* Prints it; ends the tool. */
CLI_NORETURN void
foreign_print(struct foreign_line *line, const char *whose);

/* ---- values: foreign_value.c ---- */

/* Adds the value as the letter after % says; false: it is none such, and *why
 * says it. */
bool
foreign_value(struct buffer *out, char how, const char *const values[2],
              const char *file, const char **why);

#endif
