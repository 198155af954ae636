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

/* Finds the id of a line that cannot be read, if that is its first member, and
 * has no escapes. A NUL or a newline is after the text. */
void
stream_find_id(const char *text, size_t len, struct buffer *id);

/* The record is such a line: an error is written as that of an answer in
 * pieces. */
void
stream_lose(struct record *r, const char *text, size_t len);

/* Adds {"id": .., up to the next member; without an id the number stands for
 * it. */
void
stream_begin_line(const struct buffer *id, uint64_t number, struct buffer *out);

/* Adds the member error, and ends the line. */
void
stream_add_error(int status, const char *code, const char *message,
                 struct buffer *out);

/* The message without the path of the model in front of it, which is nothing
 * for whoever sent the record. */
const char *
stream_own_words(const struct generate *g, const char *message);

/* Fills in the status and code of a record's error, and how much is too much.
 * `began`: an answer had. */
struct batch_error;
void
stream_tell_error(const struct generate *g, const struct record *r, bool began,
                  struct batch_error *e);

/* Writes the line, and empties it. */
void
stream_put(struct buffer *line);

#endif
