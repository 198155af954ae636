/* table.c - rows of fields: aligned, tab-separated, or JSON */
#include <config.h>

#include "gg-bench/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"

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
print_member(const struct table_column *column, const struct table_cell *c,
             bool first)
{
    printf("%s\"%s\": ", first ? "" : ", ", column->name);
    if (c->is_text)
        cli_json_put(c->text, strlen(c->text));
    else
        fputs(c->text ? c->text : "null", stdout);
}

static void
print_json(const struct table_rows *t)
{
    putchar('[');
    for (size_t row = 0; row < t->n / t->n_columns; row++) {
        bool first = true;

        fputs(row ? ",\n  {" : "\n  {", stdout);
        for (size_t i = 0; i < t->n_columns; i++) {
            if (!t->columns[i].name)
                continue;
            print_member(&t->columns[i], &t->cells[row * t->n_columns + i],
                         first);
            first = false;
        }
        putchar('}');
    }
    puts("\n]");
}

/* Text of the cell in row `row`, 0 being the head, with nothing that a terminal
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
    for (size_t row = 0; row <= t->n / t->n_columns; row++) {
        bool first = true;

        for (size_t i = 0; i < t->n_columns; i++) {
            char *text;

            if (!t->columns[i].name)
                continue;
            text = cell_text(t, row, i, false);
            printf("%s%s", first ? "" : "\t", text);
            free(text);
            first = false;
        }
        putchar('\n');
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
