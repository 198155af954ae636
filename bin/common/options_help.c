/* options_help.c - the table of options as --help and completions have it */
#include <config.h>

#include <string.h>

#include "common/options.h"

enum {
    WIDTH = 79, /* columns */
    LEFT = 160, /* bytes of what stands in front of the column */
};

/* ---- --help ---- */

/* As many words as a line has room for, from `column` on. */
static void
print_wrapped(const char *text, int column)
{
    while (*text) {
        size_t room = (size_t)(WIDTH - column), n = strlen(text);

        if (n > room)
            for (n = room; n && text[n] != ' ';)
                n--;
        printf("%.*s\n", (int)n, text);
        text += n + (text[n] == ' ');
        if (*text)
            printf("%*s", column, "");
    }
}

static size_t
put_name(char *left, size_t len, const struct cli_option *o)
{
    if (len)
        len += (size_t)snprintf(left + len, LEFT - len, ", ");
    else if (o->letter)
        len = (size_t)snprintf(left, LEFT, "  -%c, ", o->letter);
    else
        len = (size_t)snprintf(left, LEFT, "      ");
    return len + (size_t)snprintf(left + len, LEFT - len, "--%s%s%s", o->name,
                                  o->argument ? " " : "",
                                  o->argument ? o->argument : "");
}

void
cli_print_help(const struct cli_tool *tool, const struct cli_rows *rows)
{
    size_t len = 0;
    char left[LEFT];

    fputs(tool->usage, stdout);
    for (size_t i = 0; i < rows->n; i++) {
        const struct cli_option *o = rows->p[i].o;

        if (!o->name) {
            if (o->help)
                puts(o->help);
            continue;
        }
        len = put_name(left, len, o);
        if (!o->help) /* as the next one */
            continue;
        if ((int)len < tool->column)
            printf("%-*s", tool->column, left);
        else
            printf("%s\n%*s", left, tool->column, "");
        print_wrapped(o->help, tool->column);
        len = 0;
    }
}

/* ---- for programs ---- */

bool
cli_names_file(const struct cli_option *o)
{
    return o->argument &&
           cli_has_word("FILE|FILE[=X]|MODEL|LIST|DIR", o->argument);
}

static void
print_values(const struct cli_option *o)
{
    const char *value;

    if (!o->values && !o->list)
        fputs(cli_names_file(o) ? "file" : "-", stdout);
    if (o->values)
        fputs(o->values, stdout);
    for (size_t i = 0; o->list && (value = o->list(i)); i++)
        printf("%s%s", i || o->values ? "|" : "", value);
}

static const char *
or_none(const char *text)
{
    return text ? text : "-";
}

/* The row's help, or, without any, that of the next row that has some. */
static const char *
help_of(const struct cli_rows *rows, size_t i)
{
    while (!rows->p[i].o->help)
        i++;
    return rows->p[i].o->help;
}

void
cli_print_list(const struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct cli_option *o = rows->p[i].o;

        if (!o->name)
            continue;
        printf("%c\t%s\t%s\t", o->letter ? o->letter : '-', o->name,
               or_none(o->argument));
        print_values(o);
        printf("\t%s\t%s\t%s\n", or_none(o->aliases),
               !o->record   ? "-"
               : o->members ? o->members
                            : o->name,
               help_of(rows, i));
    }
}
