/* shard.h - --shard I/N: one of N parts of a job whose records have numbers
 *
 * Part I has the records I, I + N, I + 2 N and so on: which they are can be
 * told before the end of the input is known, and by every part alone. */
#ifndef COMMON_SHARD_H
#define COMMON_SHARD_H

#include <gg-stream.h>

#include "common/options.h"

/* All zero: it is the whole job. */
struct shard {
    uint64_t index, count; /* I, from 1; N */
};

static inline bool
shard_has(const struct shard *s, uint64_t number)
{
    return s->count <= 1 || number % s->count == s->index % s->count;
}

/* True if some records are another part's. */
static inline bool
shard_is_part(const struct shard *s)
{
    return s->count > 1;
}

/* The row's field is a struct shard. */
enum gg_status
shard_set(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err);
#define SHARD_HELP "do part I of N parts of the job: records I, I+N, I+2N, ..."

/* False: the line is another part's. Ends the tool where lines have no numbers
 * to tell them apart by; `name` is the input's. */
bool
shard_has_line(const struct shard *s, const struct gg_line *line,
               const char *name);
/* Ends the tool where the stream's sequences have no numbers, the same. */
void
shard_check(const struct shard *s, bool numbered, const char *name);

/* Ends the tool where the clock would say the date of a job, of which each part
 * has another one. */
void
shard_check_date(const struct shard *s);

#endif
