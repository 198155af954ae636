/* webp.c - WebP images, by libwebp */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>

#include "media/decode/module.h"

static uint32_t
load_le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

/* Chunks follow the 12 bytes of the head, each with its name and size. */
static void
read_exif(const uint8_t *bytes, size_t size, struct media_target *t)
{
    size_t at = 12;

    while (size >= 8 && at <= size - 8) {
        uint32_t n = load_le32(bytes + at + 4);

        if (n > size - at - 8)
            return;
        if (memcmp(bytes + at, "EXIF", 4) == 0) {
            t->exif(t, bytes + at + 8, n);
            return;
        }
        at += 8 + (size_t)n + n % 2;
    }
}

static enum gg_status
failed(struct media_target *t, VP8StatusCode code)
{
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return t->fail(t, GG_ERR_NOMEM, "WebP: out of memory");
    if (code == VP8_STATUS_NOT_ENOUGH_DATA)
        return t->fail(t, GG_ERR_TRUNCATED, "WebP: the image is cut off");
    return t->fail(t, GG_ERR_FORMAT, "WebP: the data are damaged");
}

/* Without alpha straight into the result, else over white. */
static enum gg_status
read_pixels(const uint8_t *bytes, size_t size, WebPDecoderConfig *c,
            struct media_target *t, uint8_t *rgb)
{
    size_t width = (size_t)c->input.width, height = (size_t)c->input.height;
    size_t each = c->input.has_alpha ? 4 : 3;
    uint8_t *pixels = each == 4 ? malloc(width * height * 4) : rgb;
    VP8StatusCode code;

    if (!pixels)
        return t->fail(t, GG_ERR_NOMEM, "out of memory");
    c->output.colorspace = each == 4 ? MODE_RGBA : MODE_RGB;
    c->output.is_external_memory = 1;
    c->output.u.RGBA.rgba = pixels;
    c->output.u.RGBA.stride = (int)(width * each);
    c->output.u.RGBA.size = width * height * each;
    code = WebPDecode(bytes, size, c);
    WebPFreeDecBuffer(&c->output);
    if (code == VP8_STATUS_OK && each == 4)
        media_module_over_white(pixels, width * height, rgb);
    if (each == 4)
        free(pixels);
    return code == VP8_STATUS_OK ? GG_OK : failed(t, code);
}

enum gg_status
media_module_webp(const uint8_t *bytes, size_t size, struct media_target *t)
{
    WebPDecoderConfig c;
    VP8StatusCode code;
    uint8_t *rgb;

    if (!WebPInitDecoderConfig(&c))
        return t->fail(t, GG_ERR_UNSUPPORTED, "another version of libwebp");
    code = WebPGetFeatures(bytes, size, &c.input);
    if (code != VP8_STATUS_OK)
        return failed(t, code);
    if (c.input.has_animation)
        return t->fail(t, GG_ERR_UNSUPPORTED,
                       "a WebP animation, which is not decoded; convert it: "
                       "`webpmux -get frame 1 FILE -o image.webp`");
    rgb = t->image(t, (uint64_t)c.input.width, (uint64_t)c.input.height);
    if (!rgb)
        return t->status;
    read_exif(bytes, size, t);
    return read_pixels(bytes, size, &c, t, rgb);
}
