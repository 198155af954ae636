/* table.c - rows of fields: aligned, tab-separated, or JSON */
#include <config.h>

#include "gg-bench/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/utf8.h"

static void
add_cell(struct table_rows *t, char *text, bool is_text)
{
    t->cells = cli_alloc(t->cells, t->n + 1, sizeof(*t->cells));
    t->cells[t->n++] = (struct table_cell){ text, is_text };
}

void
table_add_text(struct table_rows *t, const char *text)
{
    add_cell(t, cli_copy(text, strlen(text)), true);
}

void
table_add_number(struct table_rows *t, const char *fmt, ...)
{
    char buf[64];
    va_list args;

    va_start(args, fmt);
    vsnprintf(buf, sizeof(buf), fmt, args);
    va_end(args);
    add_cell(t, cli_copy(buf, strlen(buf)), false);
}

void
table_add_none(struct table_rows *t)
{
    add_cell(t, NULL, false);
}

/* ---- forms ---- */

static void
print_json(const struct table_rows *t)
{
    putchar('[');
    for (size_t i = 0; i < t->n; i++) {
        const struct table_cell *c = &t->cells[i];
        size_t column = i % t->n_columns;

        fputs(column ? ", " : i ? ",\n  {" : "\n  {", stdout);
        printf("\"%s\": ", t->columns[column].name);
        if (c->is_text)
            cli_json_put(c->text, strlen(c->text));
        else
            fputs(c->text ? c->text : "null", stdout);
        if (column + 1 == t->n_columns)
            putchar('}');
    }
    puts("\n]");
}

/* What stands in row `row`, 0 being the head, with nothing that a terminal
 * obeys; for free(). */
static char *
cell_text(const struct table_rows *t, size_t row, size_t column, bool head)
{
    const struct table_column *c = &t->columns[column];
    const char *text = row    ? t->cells[(row - 1) * t->n_columns + column].text
                       : head ? c->head
                              : c->name;
    size_t n = text ? strlen(text) : 1;
    char *shown = cli_alloc(NULL, 4 * n + 1, 1);

    return gg_escape(shown, 4 * n + 1, text ? text : "-", n);
}

static void
print_tsv(const struct table_rows *t)
{
    for (size_t row = 0; row <= t->n / t->n_columns; row++)
        for (size_t i = 0; i < t->n_columns; i++) {
            char *text = cell_text(t, row, i, false);

            printf("%s%c", text, i + 1 < t->n_columns ? '\t' : '\n');
            free(text);
        }
}

static int
column_width(const struct table_rows *t, size_t column)
{
    int most = 0;

    for (size_t row = 0; row <= t->n / t->n_columns; row++) {
        char *text = cell_text(t, row, column, true);
        int width = (int)strlen(text);

        most = width > most ? width : most;
        free(text);
    }
    return most;
}

static void
print_column(const struct table_rows *t, size_t row, size_t column, bool first)
{
    int width = column_width(t, column), room;
    char *text = cell_text(t, row, column, true);

    room = width - (int)strlen(text);
    printf("%s%*s%s", first ? "" : "  ", t->columns[column].is_right ? room : 0,
           "", text);
    if (!t->columns[column].is_right && column + 1 < t->n_columns)
        printf("%*s", room, "");
    free(text);
}

static void
print_aligned(const struct table_rows *t)
{
    for (size_t row = 0; row <= t->n / t->n_columns; row++) {
        bool first = true;

        for (size_t i = 0; i < t->n_columns; i++) {
            if (!t->columns[i].head)
                continue;
            print_column(t, row, i, first);
            first = false;
        }
        putchar('\n');
    }
}

void
table_print(struct table_rows *t, enum bench_form form)
{
    if (form == BENCH_JSON)
        print_json(t);
    else if (form == BENCH_TSV)
        print_tsv(t);
    else
        print_aligned(t);
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i].text);
    free(t->cells);
    t->cells = NULL;
    t->n = 0;
}
