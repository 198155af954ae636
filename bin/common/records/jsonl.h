/* jsonl.h - lines of JSON: a record's members, and those of its answer */
#ifndef RECORDS_JSONL_H
#define RECORDS_JSONL_H

#include "common/records/answer.h"
#include "common/records/choices.h"
#include "common/records/value.h"
#include "common/sampling.h"

/* A record's place in the whole job, as it says itself. */
#define JSONL_NUMBER "number"

/* False: it says none. */
bool
jsonl_number(const struct record_value *object, uint64_t *number);

/* True for a member that answers have of their own. */
bool
jsonl_is_written(const char *name);

/* Adds the object up to its closing brace, byte by byte, without members that
 * are written anew; nothing where none is left. */
void
jsonl_pass_through(const struct record_object *object, struct buffer *out);

/* Each adds members to a line that begins with what is passed through. */
void
jsonl_add_answer(const struct record_answer *a, struct buffer *line);
/* Choices whose likeliest is the first. */
void
jsonl_add_choices(const struct gg_choices *c, struct buffer *line);
void
jsonl_add_error(const char *message, struct buffer *line);
/* The date that the answer's template took, for a run that resumes this one. */
void
jsonl_add_date(int64_t date, struct buffer *line);
/* Adds the file's values of sampling and whose values count, if it has any. */
void
jsonl_add_sampling(const struct sampling_options *o, struct buffer *line);
void
jsonl_end(struct buffer *line);

/* True where `line` begins with `passed`, and goes on with an answer or an
 * error. */
bool
jsonl_is_answer(const struct buffer *passed, const char *line, size_t len);

/* Whether an answer of an earlier run is an error. */
bool
jsonl_has_error(const struct record_value *answer);
/* Whether it was drawn, and not chosen. */
bool
jsonl_is_drawn(const struct record_value *answer);
/* The file's values of sampling in an earlier answer; NULL: none. */
const char *
jsonl_sampling(const struct record_value *answer);
/* Its date, as record_value_date(). */
int64_t
jsonl_date(const struct record_value *answer);

#endif
