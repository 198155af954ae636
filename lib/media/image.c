/* image.c - memory of images, and windows of them */
#include <config.h>

#include "media/image.h"

#include <string.h>

#include "core/check.h"
#include "core/error.h"
#include "core/mem.h"

enum gg_status
media_image_init(struct media_image *image, uint32_t width, uint32_t height,
                 struct gg_error *err)
{
    size_t n;

    *image = (struct media_image){ width, height, NULL };
    if (width == 0 || height == 0)
        return error_set(err, GG_ERR_ARG, "an image of %u x %u pixels", width,
                         height);
    if (check_mul((uint64_t)width * height, 3, &n))
        image->rgb = mem_zalloc(n);
    if (image->rgb)
        return GG_OK;
    return error_set(err, GG_ERR_NOMEM,
                     "no memory for an image of %u x %u pixels", width, height);
}

void
media_image_clear(struct media_image *image)
{
    mem_free(image->rgb);
    *image = (struct media_image){ 0 };
}

/* The part of [at, at + n) that is in [0, size): its start and length. */
static uint32_t
overlap(int64_t at, uint32_t n, uint32_t size, uint32_t *start)
{
    int64_t first = at < 0 ? 0 : at, end = at + (int64_t)n;

    if (end > size)
        end = size;
    if (end <= first)
        return 0;
    *start = (uint32_t)first;
    return (uint32_t)(end - first);
}

static void
fill_image(struct media_image *image, const uint8_t fill[3])
{
    size_t n = (size_t)image->width * image->height;

    for (size_t i = 0; i < n; i++)
        memcpy(image->rgb + 3 * i, fill, 3);
}

enum gg_status
media_window(const struct media_image *from, int64_t x, int64_t y,
             uint32_t width, uint32_t height, const uint8_t fill[3],
             struct media_image *to, struct gg_error *err)
{
    enum gg_status st = media_image_init(to, width, height, err);
    uint32_t left = 0, top = 0, w, h;

    if (st != GG_OK)
        return st;
    w = overlap(x, width, from->width, &left);
    h = overlap(y, height, from->height, &top);
    if (w < width || h < height)
        fill_image(to, fill);
    for (uint32_t i = 0; w && i < h; i++) {
        size_t source = (size_t)(top + i) * from->width + left;
        size_t target = (size_t)(top + i - y) * width + (size_t)(left - x);

        memcpy(to->rgb + 3 * target, from->rgb + 3 * source, 3 * (size_t)w);
    }
    return GG_OK;
}
