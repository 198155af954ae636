/* kind.h - names the kind of a stream by its first bytes, for messages */
#ifndef STREAM_KIND_H
#define STREAM_KIND_H

#include <stddef.h>

struct gg_error;

/* The sentence gets one more part: what the input is that begins so, where that
 * is known. */
void
stream_add_kind(const void *data, size_t n, struct gg_error *err);

#endif
