/* rows.h - rows as they are written: one array, or a stream */
#ifndef GG_ENCODE_ROWS_H
#define GG_ENCODE_ROWS_H

#include <gg-media.h>

struct rows {
    float *x; /* n rows, */
    size_t n;
    size_t width; /* with those for deeper layers after them */
};

void
rows_add(struct rows *rows, const struct gg_medium *medium);
/* Writes them to standard output, and frees them. */
void
rows_write(struct rows *rows);

struct rows_stream;

/* To standard output; `first` is the id of the first row. What fails ends the
 * tool. */
struct rows_stream *
rows_stream_new(const struct gg_projector *projector, int32_t first);
void
rows_stream_put(struct rows_stream *stream, const struct gg_media_rows *rows);
void
rows_stream_put_error(struct rows_stream *stream, const char *message);
/* Frees it. */
void
rows_stream_end(struct rows_stream *stream);

#endif
