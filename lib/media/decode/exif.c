/* exif.c - the orientation in an Exif block, which is a TIFF file */
#include <config.h>

#include <string.h>

#include "core/cursor.h"
#include "media/decode/sink.h"

enum {
    ORIENTATION = 0x112, /* the tag */
    SHORT = 3,           /* the type of its value */
};

/* The value in the directory's entries; 0: there is none. */
static int
find_orientation(struct cursor *c)
{
    unsigned n = cursor_u16(c);

    for (unsigned i = 0; i < n && !c->bad; i++) {
        unsigned tag = cursor_u16(c), type = cursor_u16(c);
        uint32_t count = cursor_u32(c);
        unsigned value = cursor_u16(c);

        (void)cursor_u16(c);
        if (tag == ORIENTATION)
            return !c->bad && type == SHORT && count == 1 ? (int)value : 0;
    }
    return 0;
}

int
media_exif_orientation(const void *block, size_t size)
{
    struct cursor c = cursor_over(block, size);
    const char *order;
    uint32_t first;
    int value;

    if (size >= 6 && memcmp(block, "Exif\0\0", 6) == 0)
        c = cursor_over((const char *)block + 6, size - 6);
    block = c.pos;
    size = cursor_left(&c);
    order = cursor_take(&c, 2);
    if (!order || (memcmp(order, "II", 2) && memcmp(order, "MM", 2)))
        return 1;
    if (order[0] == 'M')
        c.swap = !c.swap;
    if (cursor_u16(&c) != 42)
        return 1;
    first = cursor_u32(&c);
    if (c.bad || first > size)
        return 1;
    c.pos = (const uint8_t *)block + first;
    value = find_orientation(&c);
    return value >= 1 && value <= 8 ? value : 1;
}
