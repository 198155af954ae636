/* cursor.h - a bounded byte cursor over little-endian input, or that of another
 * order
 *
 * Once a read does not fit, the cursor is bad: that read and all later ones
 * yield zero and move nothing, so that a parser may check at its joints. */
#ifndef CORE_CURSOR_H
#define CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/half.h"
#include "core/order.h"

struct cursor {
    const uint8_t *pos, *end;
    bool bad;
    bool swap; /* the bytes of numbers, to make them the machine's */
};

static inline struct cursor
cursor_over(const void *data, size_t size)
{
    const uint8_t *p = data;

    return (struct cursor){ p, size ? p + size : p, false, CORE_BIG_ENDIAN };
}

static inline size_t
cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->pos);
}

/* The next n bytes, or NULL. */
static inline const void *
cursor_take(struct cursor *c, uint64_t n)
{
    const void *p = c->pos;

    if (c->bad || n > cursor_left(c)) {
        c->bad = true;
        return NULL;
    }
    c->pos += n;
    return p;
}

/* True if `count` elements of at least `size` bytes can still follow: what to
 * ask before allocating for a count that the input claims. */
static inline bool
cursor_holds(const struct cursor *c, uint64_t count, size_t size)
{
    return !c->bad && count <= cursor_left(c) / size;
}

static inline uint8_t
cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);

    return p ? *p : 0;
}

#define CURSOR_READER(bits)                                                    \
    static inline uint##bits##_t cursor_u##bits(struct cursor *c)              \
    {                                                                          \
        const void *p = cursor_take(c, bits / 8);                              \
        uint##bits##_t v = 0;                                                  \
        if (p)                                                                 \
            memcpy(&v, p, sizeof(v));                                          \
        return c->swap ? __builtin_bswap##bits(v) : v;                         \
    }
CURSOR_READER(16)
CURSOR_READER(32)
CURSOR_READER(64)
#undef CURSOR_READER

static inline float
cursor_f32(struct cursor *c)
{
    return core_bits_float(cursor_u32(c));
}

static inline double
cursor_f64(struct cursor *c)
{
    uint64_t u = cursor_u64(c);
    double d;

    memcpy(&d, &u, sizeof(d));
    return d;
}

#endif
