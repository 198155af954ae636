/* cursor.h - a bounded byte cursor over little-endian input
 *
 * Once a read does not fit, the cursor is bad: that read and all later ones
 * yield zero and move nothing, so that a parser may check at its joints. */
#ifndef CORE_CURSOR_H
#define CORE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *pos, *end;
    bool bad;
};

static inline struct cursor
cursor_over(const void *data, size_t size)
{
    const uint8_t *p = data;

    return (struct cursor){ p, size ? p + size : p, false };
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

#define CURSOR_READER(name, type)                                              \
    static inline type cursor_##name(struct cursor *c)                         \
    {                                                                          \
        const void *p = cursor_take(c, sizeof(type));                          \
        type v = 0;                                                            \
        if (p)                                                                 \
            memcpy(&v, p, sizeof(v));                                          \
        return v;                                                              \
    }
CURSOR_READER(u8, uint8_t)
CURSOR_READER(u16, uint16_t)
CURSOR_READER(u32, uint32_t)
CURSOR_READER(u64, uint64_t)
CURSOR_READER(f32, float)
CURSOR_READER(f64, double)
#undef CURSOR_READER

#endif
