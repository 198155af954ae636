/* kind.h - names the kind of a stream by its first bytes, for messages */
#ifndef STREAM_KIND_H
#define STREAM_KIND_H

#include <stddef.h>

struct gg_error;

extern const char stream_kind_ids[], stream_kind_table[];

/* The sentence gets one more part: what the input is that begins so, where that
 * is known, and another kind than `wanted`, one of the above or NULL. */
void
stream_add_kind(const void *data, size_t n, const char *wanted,
                struct gg_error *err);

#endif
