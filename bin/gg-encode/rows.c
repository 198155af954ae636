/* rows.c - rows as they are written: one array, or a stream */
#include <config.h>

#include "gg-encode/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gg-stream.h>

#include "common/cli.h"
#include "common/npy.h"

void
rows_add(struct rows *rows, const struct gg_medium *m)
{
    size_t parts = 1 + m->n_deeper;

    rows->width = parts * m->width;
    rows->x =
        cli_alloc(rows->x, (rows->n + m->n) * rows->width, sizeof(*rows->x));
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

/* ---- a stream ------------------------------------------------------------ */

struct rows_stream {
    struct gg_rows_writer *writer;
};

struct rows_stream *
rows_stream_new(const struct gg_projector *projector, int32_t first)
{
    struct rows_stream *s = cli_alloc(NULL, 1, sizeof(*s));
    struct gg_rows_head head = { .first = first,
                                 .width = gg_projector_width(projector),
                                 .n_deeper = gg_projector_n_deeper(projector),
                                 .writer = "gg-encode " PACKAGE_VERSION };
    struct gg_error err;

    gg_projector_hash(projector, head.projector);
    cli_check(gg_rows_writer_new(STDOUT_FILENO, &head, &s->writer, &err), &err);
    return s;
}

static void
put_record(struct rows_stream *s, const struct gg_rows_record *record)
{
    struct gg_error err;

    cli_check(gg_rows_write(s->writer, record, &err), &err);
}

void
rows_stream_put(struct rows_stream *s, const struct gg_media_rows *rows)
{
    put_record(
        s, &(struct gg_rows_record){ .kind = GG_ROWS_MEDIUM, .rows = rows });
}

void
rows_stream_put_error(struct rows_stream *s, const char *message)
{
    put_record(s, &(struct gg_rows_record){ .kind = GG_ROWS_ERROR,
                                            .message = message });
}

void
rows_stream_end(struct rows_stream *s)
{
    put_record(s, &(struct gg_rows_record){ .kind = GG_ROWS_END });
    gg_rows_writer_free(s->writer);
    free(s);
}
