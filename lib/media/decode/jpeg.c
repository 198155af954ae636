/* jpeg.c - JPEG images, by libjpeg(-turbo) */
#include <config.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "media/decode/module.h"

enum {
    MOST_SCANS = 100, /* of a progressive image; encoders make about 10 */
};

struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf end;
    struct media_target *target;
    uint8_t *row; /* of four colours; NULL: none */
};

static struct reader *
reader_of(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

__attribute__((noreturn)) static void
on_error(j_common_ptr jpeg)
{
    struct reader *r = reader_of(jpeg);
    char text[JMSG_LENGTH_MAX];

    jpeg->err->format_message(jpeg, text);
    r->target->fail(r->target, GG_ERR_FORMAT, "JPEG: %s", text);
    longjmp(r->end, 1);
}

/* Some warnings (level -1) tell of lost data, which the library fills with
 * grey: that is not the image that was sent. Others tell of habits of programs.
 */
static void
on_message(j_common_ptr jpeg, int level)
{
    switch (level < 0 ? jpeg->err->msg_code : JMSG_NOMESSAGE) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
        on_error(jpeg);
    default:
        return;
    }
}

/* A file of some kilobytes can have thousands of scans, each of which goes over
 * the whole image. */
static void
on_progress(j_common_ptr jpeg)
{
    struct reader *r = reader_of(jpeg);

    if (r->jpeg.input_scan_number <= MOST_SCANS)
        return;
    r->target->fail(r->target, GG_ERR_FORMAT, "JPEG: more than %d scans",
                    MOST_SCANS);
    longjmp(r->end, 1);
}

static void
set_up(struct reader *r, const uint8_t *bytes, size_t size)
{
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->jpeg.client_data = r;
    jpeg_create_decompress(&r->jpeg);
    r->progress.progress_monitor = on_progress;
    r->jpeg.progress = &r->progress;
    jpeg_mem_src(&r->jpeg, bytes, (unsigned long)size);
    jpeg_save_markers(&r->jpeg, JPEG_APP0 + 1, 0xffff);
}

static void
read_exif(struct reader *r)
{
    jpeg_saved_marker_ptr m = r->jpeg.marker_list;

    for (; m; m = m->next)
        if (m->data_length >= 6 && memcmp(m->data, "Exif\0\0", 6) == 0) {
            r->target->exif(r->target, m->data, m->data_length);
            return;
        }
}

static inline uint8_t
with_black(unsigned colour, unsigned black)
{
    return (uint8_t)((colour * black + 127) / 255);
}

/* Programs that write four inks write them inverted, as Adobe's do: 255 is no
 * ink. */
static void
convert_inks(const uint8_t *cmyk, size_t n, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++, cmyk += 4, rgb += 3) {
        rgb[0] = with_black(cmyk[0], cmyk[3]);
        rgb[1] = with_black(cmyk[1], cmyk[3]);
        rgb[2] = with_black(cmyk[2], cmyk[3]);
    }
}

static void
read_rows(struct reader *r, uint8_t *rgb)
{
    uint32_t width = r->jpeg.output_width;
    bool inks = r->jpeg.out_color_space == JCS_CMYK;
    JSAMPROW row;

    if (inks)
        r->row = malloc((size_t)width * 4);
    if (inks && !r->row) {
        r->target->fail(r->target, GG_ERR_NOMEM, "out of memory");
        return;
    }
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        row = inks ? r->row : rgb;
        jpeg_read_scanlines(&r->jpeg, &row, 1);
        if (inks)
            convert_inks(r->row, width, rgb);
        rgb += 3 * (size_t)width;
    }
    jpeg_finish_decompress(&r->jpeg);
}

static void
read_jpeg(struct reader *r, const uint8_t *bytes, size_t size)
{
    J_COLOR_SPACE from;
    uint8_t *rgb;

    set_up(r, bytes, size);
    jpeg_read_header(&r->jpeg, TRUE);
    from = r->jpeg.jpeg_color_space;
    if (!r->target->bounds(r->target, r->jpeg.image_width,
                           r->jpeg.image_height))
        return;
    read_exif(r);
    r->jpeg.out_color_space =
        from == JCS_CMYK || from == JCS_YCCK ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&r->jpeg);
    rgb = r->target->image(r->target, r->jpeg.output_width,
                           r->jpeg.output_height);
    if (rgb)
        read_rows(r, rgb);
}

enum gg_status
media_module_jpeg(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct reader *r = calloc(1, sizeof(*r));
    enum gg_status st;

    if (!r)
        return t->fail(t, GG_ERR_NOMEM, "out of memory");
    r->target = t;
    if (setjmp(r->end) == 0)
        read_jpeg(r, bytes, size);
    jpeg_destroy_decompress(&r->jpeg);
    st = t->status;
    free(r->row);
    free(r);
    return st;
}
