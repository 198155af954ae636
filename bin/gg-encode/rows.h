/* rows.h - --npy: all rows in one array */
#ifndef GG_ENCODE_ROWS_H
#define GG_ENCODE_ROWS_H

#include <gg.h>

struct rows {
    float *x;      /* n rows, */
    size_t n;
    size_t width; /* with those for deeper layers after them */
};

void
rows_add(struct rows *rows, const struct gg_medium *medium);
/* Writes them to standard output, and frees them. */
void
rows_write(struct rows *rows);

#endif
