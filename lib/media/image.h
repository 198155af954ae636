/* image.h - 8-bit RGB images: resizing as Pillow does it, windows of them */
#ifndef MEDIA_IMAGE_H
#define MEDIA_IMAGE_H

#include <gg.h>

/* Rows from the top, width * height * 3 bytes. */
struct media_image {
    uint32_t width, height;
    uint8_t *rgb;
};

/* Black; GG_ERR_ARG for a side of 0, GG_ERR_NOMEM. media_image_clear() it. */
enum gg_status
media_image_init(struct media_image *image, uint32_t width, uint32_t height,
                 struct gg_error *err);
void
media_image_clear(struct media_image *image);

enum media_filter {
    MEDIA_BILINEAR,
    MEDIA_BICUBIC, /* a = -0.5 */
    MEDIA_LANCZOS, /* of three lobes */
};

/* *to becomes `from` in another size, byte for byte as Image.resize() of Pillow
 * before version 13 makes it: horizontally, then vertically, each pass rounded
 * to 8 bits. media_image_clear() it. */
enum gg_status
media_resize(const struct media_image *from, uint32_t width, uint32_t height,
             enum media_filter filter, struct media_image *to,
             struct gg_error *err);

/* *to becomes the window of `from` at (x, y), which may be outside in part or
 * whole: there it has the colour `fill`. So it crops and pads. */
enum gg_status
media_window(const struct media_image *from, int64_t x, int64_t y,
             uint32_t width, uint32_t height, const uint8_t fill[3],
             struct media_image *to, struct gg_error *err);

#endif
