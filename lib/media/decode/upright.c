/* upright.c - images turned as their Exif orientation says */
#include <config.h>

#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "media/decode/sink.h"

/* Where pixels come from: the first of the result, and the steps to the next in
 * a row and in a column, in pixels. */
struct walk {
    int64_t first, right, down;
};

static struct walk
find_walk(int64_t w, int64_t h, int orientation)
{
    int64_t last = w * h - 1;

    switch (orientation) {
    case 2: /* mirrored */
        return (struct walk){ w - 1, -1, w };
    case 3: /* upside down */
        return (struct walk){ last, -1, -w };
    case 4: /* both */
        return (struct walk){ last - (w - 1), 1, -w };
    case 5: /* on its side and mirrored */
        return (struct walk){ 0, w, 1 };
    case 6: /* its top is at the right */
        return (struct walk){ last - (w - 1), -w, 1 };
    case 7:
        return (struct walk){ last, -w, -1 };
    default: /* 8: its top is at the left */
        return (struct walk){ w - 1, w, -1 };
    }
}

enum gg_status
media_turn_upright(struct gg_decoded *m, int orientation, struct gg_error *err)
{
    size_t n = (size_t)m->width * m->height;
    struct walk walk = find_walk(m->width, m->height, orientation);
    uint32_t width = orientation < 5 ? m->width : m->height;
    uint32_t height = orientation < 5 ? m->height : m->width;
    uint8_t *rgb, *out;

    if (orientation < 2)
        return GG_OK;
    rgb = out = mem_array(n, 3);
    if (!rgb)
        return error_nomem(err);
    for (uint32_t y = 0; y < height; y++) {
        int64_t at = walk.first + y * walk.down;

        for (uint32_t x = 0; x < width; x++, at += walk.right, out += 3)
            memcpy(out, m->rgb + 3 * at, 3);
    }
    mem_free(m->rgb);
    m->rgb = rgb;
    m->width = width;
    m->height = height;
    return GG_OK;
}
