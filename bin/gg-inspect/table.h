/* table.h - rows of fields: aligned on a terminal, tab-separated elsewhere,
 * or a JSON array of objects: for --stats, --check and such; the list of
 * tensors that --tensors prints is in text.c */
#ifndef INSPECT_TABLE_H
#define INSPECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_column {
    const char *name;
    int width; /* on a terminal: negative: at the left; 0: as it is */
};

struct table {
    const struct table_column *columns;
    int n_columns, at;
    bool json, aligned, headed;
    uint64_t rows;
};

/* All goes to standard output; a table without rows has no head either. The
 * columns outlive it. */
void
table_begin(struct table *t, const struct table_column *columns, int n,
            bool json);

/* The next field; the last one of a row ends it. */
void
table_text(struct table *t, const char *s); /* gets escaped */
void
table_escaped(struct table *t, const char *s); /* is so already */
void
table_count(struct table *t, uint64_t n);
/* Nine digits; six where it is aligned, as many as it takes as JSON, where NaN
 * and the infinities are strings. */
void
table_number(struct table *t, double x);
/* "-", or null */
void
table_none(struct table *t);

void
table_end(const struct table *t);

#endif
