/* bytes.h - bytes that grow */
#ifndef ENGINE_BYTES_H
#define ENGINE_BYTES_H

#include <string.h>

#include "core/mem.h"

/* All zero is the empty one; mem_free(p) when done. */
struct engine_bytes {
    char *p;
    size_t len, cap;
};

/* False: there is no memory, and nothing was added. */
static inline bool
engine_bytes_add(struct engine_bytes *b, const char *p, size_t n)
{
    if (n == 0)
        return true;
    if (!mem_grow(&b->p, &b->cap, b->len + n, 1))
        return false;
    memcpy(b->p + b->len, p, n);
    b->len += n;
    return true;
}

#endif
