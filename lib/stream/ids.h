/* ids.h - many numbers of few digits at once */
#ifndef STREAM_IDS_H
#define STREAM_IDS_H

#include <stddef.h>
#include <stdint.h>

/* Reads numbers as stream_number_fast() does, a single blank after each, from
 * *s on to `ids`, which has room for all that may be there, and moves *s after
 * the last blank. Returns how many: those in front of something else, near
 * `end` at most. Where that is soon, there may be none. */
size_t
stream_ids(const char **s, const char *end, int32_t *ids);

#endif
