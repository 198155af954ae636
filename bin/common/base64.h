/* base64.h - bytes of a text in base64 */
#ifndef COMMON_BASE64_H
#define COMMON_BASE64_H

#include <stdbool.h>

#include "common/buffer.h"

/* Adds the bytes of text[0..n), of either alphabet of RFC 4648, with or without
 * padding; white space is passed over. False: it is none. */
bool
base64_add(const char *text, size_t n, struct buffer *out);

#endif
