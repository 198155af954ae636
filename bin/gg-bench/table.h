/* table.h - rows of fields: aligned, tab-separated, or an array of objects in
 * JSON */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "gg-bench/bench.h"

struct table_column {
    const char *name; /* of TSV and JSON; NULL: they do without */
    const char *head; /* of the table; NULL: it does without */
    bool is_right;    /* numbers */
};

struct table_cell {
    char *text;
    bool is_text;
};

struct table_rows {
    const struct table_column *columns;
    size_t n_columns;
    struct table_cell *cells; /* n, in rows of n_columns */
    size_t n;
};

/* The next cell of a row. */
void
table_add_text(struct table_rows *t, const char *text);
CLI_PRINTF(2, 3)
void
table_add_number(struct table_rows *t, const char *fmt, ...);
/* "-"; null */
void
table_add_none(struct table_rows *t);

/* Writes all of it to standard output, and frees it. */
void
table_print(struct table_rows *t, enum bench_form form);

#endif
