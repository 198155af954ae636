/* rows.c - --npy: all rows in one array */
#include <config.h>

#include "gg-encode/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/npy.h"

void
rows_add(struct rows *rows, const struct gg_medium *m)
{
    size_t parts = 1 + m->n_deeper;

    rows->width = parts * m->width;
    rows->x = cli_alloc(rows->x, (rows->n + m->n) * rows->width,
                        sizeof(*rows->x));
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < parts; k++)
            memcpy(rows->x + (rows->n + i) * rows->width + k * m->width,
                   k == 0 ? m->rows + i * m->width
                          : m->deeper + ((k - 1) * m->n + i) * m->width,
                   m->width * sizeof(*rows->x));
    rows->n += m->n;
}

void
rows_write(struct rows *rows)
{
    int64_t ne[2] = { (int64_t)rows->width, (int64_t)rows->n };

    npy_head(stdout, npy_type(GGML_TYPE_F32), ne, 2);
    fwrite(rows->x, rows->width * sizeof(*rows->x), rows->n, stdout);
    free(rows->x);
}
