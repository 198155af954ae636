/* ppm.c - PPM (P6) and PGM (P5) images, by hand */
#include <config.h>

#include "media/decode/decoder.h"

struct ppm {
    const uint8_t *pos, *end;
    uint32_t channels, width, height, most; /* most: the value of white */
};

static bool
is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Blanks, and comments to the end of a line. */
static void
skip_blanks(struct ppm *p)
{
    bool comment = false;

    while (p->pos < p->end &&
           (comment || is_blank(*p->pos) || *p->pos == '#')) {
        if (*p->pos == '#')
            comment = true;
        else if (*p->pos == '\n')
            comment = false;
        p->pos++;
    }
}

static bool
read_size(struct ppm *p, uint32_t *value)
{
    uint64_t v = 0;
    const uint8_t *start;

    skip_blanks(p);
    start = p->pos;
    while (p->pos < p->end && *p->pos >= '0' && *p->pos <= '9') {
        v = v * 10 + *p->pos++ - '0';
        if (v > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)v;
    return p->pos > start;
}

static bool
read_head(struct ppm *p)
{
    p->channels = p->pos[1] == '6' ? 3 : 1;
    p->pos += 2;
    if (!read_size(p, &p->width) || !read_size(p, &p->height) ||
        !read_size(p, &p->most) || p->most == 0 || p->most > 65535)
        return false;
    return p->pos < p->end && is_blank(*p->pos++);
}

/* The next value, of 255 and rounded. */
static uint8_t
read_value(struct ppm *p)
{
    uint32_t v = *p->pos++;

    if (p->most > 255)
        v = v << 8 | *p->pos++;
    if (v >= p->most)
        return 255;
    return (uint8_t)((v * 255 + p->most / 2) / p->most);
}

static void
read_pixels(struct ppm *p, uint8_t *rgb)
{
    size_t n = (size_t)p->width * p->height * p->channels;

    for (size_t i = 0; i < n; i++) {
        uint8_t v = read_value(p);

        *rgb++ = v;
        if (p->channels == 1) {
            *rgb++ = v;
            *rgb++ = v;
        }
    }
}

enum gg_status
media_decode_ppm(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct ppm p = { .pos = bytes, .end = bytes + size };
    uint64_t pixel;
    uint8_t *rgb;

    if (size < 3 || !read_head(&p))
        return t->fail(t, GG_ERR_FORMAT, "the header is none of a PPM image");
    if (!t->bounds(t, p.width, p.height))
        return t->status;
    pixel = p.channels * (p.most > 255 ? 2 : 1);
    if ((uint64_t)p.width * p.height > (uint64_t)(p.end - p.pos) / pixel)
        return t->fail(t, GG_ERR_TRUNCATED,
                       "the image of %u x %u pixels ends in their midst",
                       p.width, p.height);
    rgb = t->image(t, p.width, p.height);
    if (!rgb)
        return t->status;
    read_pixels(&p, rgb);
    return GG_OK;
}
