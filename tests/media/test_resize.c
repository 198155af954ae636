/* test_resize.c - images are resized as Pillow's Image.resize() does it;
 * windows
 *
 * Hashes are of what Pillow 11.3 makes of the same pixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/sha256.h"
#include "harness/tap.h"
#include "media/image.h"

TAP_ASAN_OPTIONS("allocator_may_return_null=1")

static const struct {
    uint32_t from_width, from_height, width, height;
    enum media_filter filter;
    const char *hash;
} cases[] = {
    { 64, 48, 28, 28, MEDIA_BILINEAR, "77257c1df93b8e37" },
    { 64, 48, 28, 28, MEDIA_BICUBIC, "2b5f74e0106ee37d" },
    { 64, 48, 28, 28, MEDIA_LANCZOS, "318bec212d552bc0" },
    { 50, 120, 64, 128, MEDIA_BILINEAR, "49a5ac6009a3489a" },
    { 50, 120, 64, 128, MEDIA_BICUBIC, "c7c60125a7a187a7" },
    { 50, 120, 64, 128, MEDIA_LANCZOS, "df8525f34db55ae6" },
    { 97, 31, 224, 7, MEDIA_BILINEAR, "e8caf7ed5ddd5284" },
    { 97, 31, 224, 7, MEDIA_BICUBIC, "847e15c2d9e7ce84" },
    { 97, 31, 224, 7, MEDIA_LANCZOS, "d638e7fc250bfc51" },
    { 5, 7, 40, 3, MEDIA_BILINEAR, "3b73d688f1faafeb" },
    { 5, 7, 40, 3, MEDIA_BICUBIC, "97101e1724511e3b" },
    { 5, 7, 40, 3, MEDIA_LANCZOS, "27899efef2351dee" },
    { 120, 90, 90, 120, MEDIA_BILINEAR, "efeb7a54d876622a" },
    { 120, 90, 90, 120, MEDIA_BICUBIC, "5c86e5ec9120c3e9" },
    { 120, 90, 90, 120, MEDIA_LANCZOS, "2959473181e8fc02" },
    { 33, 33, 33, 10, MEDIA_BILINEAR, "ad9a31d163b0bc49" },
    { 33, 33, 33, 10, MEDIA_BICUBIC, "38467a1817b089e4" },
    { 33, 33, 33, 10, MEDIA_LANCZOS, "32793ac7654ae4f2" },
    { 33, 33, 10, 33, MEDIA_BILINEAR, "689a0efaeee8e630" },
    { 33, 33, 10, 33, MEDIA_BICUBIC, "6c46102cec2ebe9d" },
    { 33, 33, 10, 33, MEDIA_LANCZOS, "2bde3e55109fcdb9" },
    { 1, 1, 9, 9, MEDIA_BILINEAR, "50e578d24db61bef" },
    { 1, 1, 9, 9, MEDIA_BICUBIC, "50e578d24db61bef" },
    { 1, 1, 9, 9, MEDIA_LANCZOS, "50e578d24db61bef" },
    { 40, 1, 1, 40, MEDIA_BILINEAR, "8b1286817464eb2d" },
    { 40, 1, 1, 40, MEDIA_BICUBIC, "8b1286817464eb2d" },
    { 40, 1, 1, 40, MEDIA_LANCZOS, "776e9d523702d445" },
    { 200, 3, 3, 200, MEDIA_BILINEAR, "e19d2b9bddfb83ac" },
    { 200, 3, 3, 200, MEDIA_BICUBIC, "075355d650625d17" },
    { 200, 3, 3, 200, MEDIA_LANCZOS, "f04be5604b0540d4" },
};

static struct media_image
make_image(uint32_t width, uint32_t height)
{
    struct media_image image;
    uint32_t state = 12345;
    struct gg_error err;

    if (media_image_init(&image, width, height, &err) != GG_OK)
        abort();
    for (size_t i = 0; i < (size_t)width * height * 3; i++) {
        state = state * 1664525 + 1013904223;
        image.rgb[i] = (uint8_t)(state >> 24);
    }
    return image;
}

static void
hash_image(const struct media_image *image, char hex[17])
{
    struct sha256 h;
    uint8_t digest[SHA256_BYTES];

    sha256_start(&h);
    sha256_add(&h, image->rgb, (size_t)image->width * image->height * 3);
    sha256_end(&h, digest);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

static void
test_sizes(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct media_image from =
            make_image(cases[i].from_width, cases[i].from_height);
        struct media_image to;
        struct gg_error err;
        char name[80], hex[17] = "";

        snprintf(name, sizeof(name), "%u x %u to %u x %u, filter %d",
                 from.width, from.height, cases[i].width, cases[i].height,
                 (int)cases[i].filter);
        if (media_resize(&from, cases[i].width, cases[i].height,
                         cases[i].filter, &to, &err) == GG_OK)
            hash_image(&to, hex);
        is((const char *)hex, cases[i].hash, name);
        media_image_clear(&to);
        media_image_clear(&from);
    }
}

/* The pixel of a window, which is that of the image or grey. */
static bool
is_right(const struct media_image *from, const struct media_image *window,
         int64_t x, int64_t y, uint32_t i, uint32_t k)
{
    static const uint8_t grey[3] = { 7, 8, 9 };
    int64_t at_x = x + i, at_y = y + k;
    const uint8_t *want = grey;

    if (at_x >= 0 && at_x < from->width && at_y >= 0 && at_y < from->height)
        want = from->rgb + 3 * ((size_t)at_y * from->width + (size_t)at_x);
    return memcmp(window->rgb + 3 * ((size_t)k * window->width + i), want, 3) ==
           0;
}

static void
test_windows(void)
{
    static const struct {
        int64_t x, y;
        uint32_t width, height;
    } windows[] = {
        { 0, 0, 9, 5 },    { 2, 1, 3, 3 },         { -2, -1, 20, 12 },
        { 5, 3, 9, 9 },    { -9, 0, 9, 5 },        { 9, 5, 1, 1 },
        { 0, -100, 4, 4 }, { INT64_MIN, 0, 3, 3 }, { -4, 2, 6, 1 },
    };
    static const uint8_t grey[3] = { 7, 8, 9 };
    struct media_image from = make_image(9, 5);

    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
        struct media_image to;
        struct gg_error err;
        int wrong = 0;

        if (media_window(&from, windows[i].x, windows[i].y, windows[i].width,
                         windows[i].height, grey, &to, &err) != GG_OK)
            abort();
        for (uint32_t k = 0; k < to.height; k++)
            for (uint32_t j = 0; j < to.width; j++)
                wrong +=
                    !is_right(&from, &to, windows[i].x, windows[i].y, j, k);
        is(wrong, 0, "a window");
        media_image_clear(&to);
    }
    media_image_clear(&from);
}

static void
test_refusals(void)
{
    struct media_image from = make_image(3, 3), to;
    struct gg_error err;

    is(media_resize(&from, 0, 3, MEDIA_BICUBIC, &to, &err), GG_ERR_ARG,
       "no width");
    is(media_resize(&from, 3, 0, MEDIA_BICUBIC, &to, &err), GG_ERR_ARG,
       "no height");
    is(media_resize(&from, UINT32_MAX, UINT32_MAX, MEDIA_LANCZOS, &to, &err),
       GG_ERR_NOMEM, "more than there is");
    media_image_clear(&to);
    media_image_clear(&from);
}

/* Each allocation fails in turn. */
static void
test_memory(void)
{
    struct media_image from = make_image(9, 9), to;
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_error err;
    int n;

    for (n = 0; st == GG_ERR_NOMEM && n < 100; n++) {
        mem_fail_after(n);
        st = media_resize(&from, 5, 4, MEDIA_BICUBIC, &to, &err);
        mem_fail_after(-1);
        media_image_clear(&to);
    }
    ok(st == GG_OK && n == 11, "without memory");
    media_image_clear(&from);
}

int
main(void)
{
    test_sizes();
    test_windows();
    test_refusals();
    test_memory();
    return tap_done();
}
