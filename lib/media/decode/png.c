/* png.c - PNG images, by libpng
 *
 * Grey, palettes, 16 bits (of which the upper 8 count) and transparency become
 * red, green, blue and alpha of 8 bits each, over white. */
#include <config.h>

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "media/decode/module.h"

struct reader {
    const uint8_t *pos, *end;
    struct media_target *target;
    png_structp png;
    png_infop info;
    uint8_t *rgba; /* a row, or all of them of an interlaced image */
    png_bytep *rows;
};

static void
read_bytes(png_structp png, png_bytep out, size_t n)
{
    struct reader *r = png_get_io_ptr(png);

    if (n > (size_t)(r->end - r->pos))
        png_error(png, "the file ends too early");
    memcpy(out, r->pos, n);
    r->pos += n;
}

__attribute__((noreturn)) static void
on_error(png_structp png, png_const_charp message)
{
    struct reader *r = png_get_error_ptr(png);

    r->target->fail(r->target, GG_ERR_FORMAT, "PNG: %s", message);
    png_longjmp(png, 1);
}

static void
on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void
convert_to_rgba(png_structp png, png_infop info)
{
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static void
read_exif(struct reader *r)
{
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 size;
    png_bytep block;

    if (png_get_eXIf_1(r->png, r->info, &size, &block))
        r->target->exif(r->target, block, size);
#else
    (void)r;
#endif
}

static void
read_row_by_row(struct reader *r, uint32_t width, uint32_t height, uint8_t *rgb)
{
    r->rgba = malloc((size_t)width * 4);
    if (!r->rgba)
        png_error(r->png, "out of memory");
    for (uint32_t y = 0; y < height; y++, rgb += 3 * (size_t)width) {
        png_read_row(r->png, r->rgba, NULL);
        media_module_over_white(r->rgba, width, rgb);
    }
}

static void
read_interlaced(struct reader *r, uint32_t width, uint32_t height, uint8_t *rgb)
{
    r->rgba = calloc((size_t)width * height, 4);
    r->rows = calloc(height, sizeof(*r->rows));
    if (!r->rgba || !r->rows)
        png_error(r->png, "out of memory");
    for (uint32_t y = 0; y < height; y++)
        r->rows[y] = r->rgba + (size_t)y * width * 4;
    png_read_image(r->png, r->rows);
    media_module_over_white(r->rgba, (size_t)width * height, rgb);
}

static void
read_png(struct reader *r)
{
    png_uint_32 width, height;
    int interlace;
    uint8_t *rgb;

    png_set_read_fn(r->png, r, read_bytes);
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(r->png, r->info);
    png_get_IHDR(r->png, r->info, &width, &height, NULL, NULL, &interlace, NULL,
                 NULL);
    if (!r->target->bounds(r->target, width, height))
        return;
    convert_to_rgba(r->png, r->info);
    if (png_get_rowbytes(r->png, r->info) != (size_t)width * 4)
        png_error(r->png, "rows of an unexpected size");
    rgb = r->target->image(r->target, width, height);
    if (!rgb)
        return;
    if (interlace == PNG_INTERLACE_NONE)
        read_row_by_row(r, width, height, rgb);
    else
        read_interlaced(r, width, height, rgb);
    png_read_end(r->png, r->info);
    read_exif(r);
}

/* The only frame that libpng jumps to. */
static void
read_guarded(struct reader *r)
{
    if (setjmp(png_jmpbuf(r->png)) == 0)
        read_png(r);
}

enum gg_status
media_module_png(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct reader r = { .pos = bytes, .end = bytes + size, .target = t };

    r.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (r.info)
        read_guarded(&r);
    else
        t->fail(t, GG_ERR_NOMEM, "out of memory");
    png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.rgba);
    free(r.rows);
    return t->status;
}
