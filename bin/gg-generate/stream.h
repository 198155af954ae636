/* stream.h - answers that leave while they are made: records start, progress,
 * delta, end and error */
#ifndef GENERATE_STREAM_H
#define GENERATE_STREAM_H

#include "common/records/value.h"
#include "gg-generate/records.h"

/* With --unordered: keeps the record's id, and has it written in pieces where
 * it asks for that. */
void
stream_open(const struct generate *g, struct record *r,
            const struct record_object *object);
void
stream_free(struct stream *s); /* takes NULL */

/* Adds {"id": .., up to the next member; without an id the number stands for
 * it. */
void
stream_begin_line(const struct buffer *id, uint64_t number, struct buffer *out);

/* Adds the member error, and ends the line. */
void
stream_add_error(int status, const char *code, const char *message,
                 struct buffer *out);

/* Writes the line, and empties it. */
void
stream_put(struct buffer *line);

#endif
