/* picture.c - --png: what the encoder sees of an image
 *
 * PNG with blocks that are stored: a picture is written as it is, by nothing
 * but this file (RFC 2083, 1950, 1951). */
#include <config.h>

#include "gg-encode/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

enum {
    CHANNELS = 3,
    MAX_STORED = 65535, /* bytes of a block */
    ADLER = 65521,
};

/* ---- the file ------------------------------------------------------------ */

struct writer {
    uint32_t crc;        /* of the chunk, CRC-32 as Ethernet has it */
    uint32_t a, b;       /* Adler-32 of the rows */
    uint64_t left;       /* bytes of rows that are not written */
    uint32_t block_left; /* and of the block */
};

static void
put_bytes(struct writer *w, const void *data, size_t n)
{
    const uint8_t *p = data;

    for (size_t i = 0; i < n; i++) {
        w->crc ^= p[i];
        for (int k = 0; k < 8; k++)
            w->crc = w->crc >> 1 ^ (w->crc & 1 ? 0xedb88320u : 0);
    }
    fwrite(data, 1, n, stdout);
}

static void
put_u32(struct writer *w, uint32_t x)
{
    uint8_t p[4] = { (uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8),
                     (uint8_t)x };

    put_bytes(w, p, 4);
}

static void
begin_chunk(struct writer *w, const char *type, uint32_t size)
{
    put_u32(w, size);
    w->crc = UINT32_MAX;
    put_bytes(w, type, 4);
}

static void
end_chunk(struct writer *w)
{
    put_u32(w, ~w->crc);
}

static void
begin_block(struct writer *w)
{
    uint32_t n = w->left < MAX_STORED ? (uint32_t)w->left : MAX_STORED;
    uint8_t head[5] = { w->left == n, (uint8_t)n, (uint8_t)(n >> 8),
                        (uint8_t)~n, (uint8_t)(~n >> 8) };

    put_bytes(w, head, sizeof(head));
    w->block_left = n;
}

/* Bytes of rows. */
static void
put_pixels(struct writer *w, const uint8_t *p, size_t n)
{
    while (n > 0) {
        size_t some;

        if (w->block_left == 0)
            begin_block(w);
        some = n < w->block_left ? n : w->block_left;
        put_bytes(w, p, some);
        for (size_t i = 0; i < some; i++) {
            w->a = (w->a + p[i]) % ADLER;
            w->b = (w->b + w->a) % ADLER;
        }
        p += some;
        n -= some;
        w->left -= some;
        w->block_left -= (uint32_t)some;
    }
}

static void
begin_file(struct writer *w, uint32_t width, uint32_t height)
{
    static const char magic[] = "\x89PNG\r\n\x1a\n";
    static const uint8_t form[5] = { 8, 2, 0, 0, 0 }, zlib[2] = { 0x78, 1 };
    uint64_t blocks, all;

    put_bytes(w, magic, 8);
    begin_chunk(w, "IHDR", 13);
    put_u32(w, width);
    put_u32(w, height);
    put_bytes(w, form, sizeof(form));
    end_chunk(w);
    w->left = ((uint64_t)width * CHANNELS + 1) * height;
    blocks = (w->left + MAX_STORED - 1) / MAX_STORED;
    all = sizeof(zlib) + w->left + 5 * blocks + 4;
    if (all > INT32_MAX)
        cli_die("the picture is too large");
    begin_chunk(w, "IDAT", (uint32_t)all);
    put_bytes(w, zlib, sizeof(zlib));
    w->a = 1;
}

static void
end_file(struct writer *w)
{
    put_u32(w, w->b << 16 | w->a);
    end_chunk(w);
    begin_chunk(w, "IEND", 0);
    end_chunk(w);
}

/* ---- the picture --------------------------------------------------------- */

static bool
is_wanted(const struct gg_media_plan *plan, size_t i, size_t run)
{
    size_t n = 0;

    for (size_t k = 0; k <= i; k++)
        n += plan->pieces[k].kind == GG_PIECE_ROWS;
    return plan->pieces[i].kind == GG_PIECE_ROWS && (run == 0 || n == run);
}

static void
put_run(struct writer *w, struct gg_media_plan *plan, size_t i, uint32_t width)
{
    const struct gg_piece *p = &plan->pieces[i];
    uint8_t *row = cli_alloc(NULL, (size_t)width * CHANNELS + 1, 1);
    const uint8_t *rgb;
    const float *mel;
    struct gg_error err;

    cli_check(gg_media_plan_input(plan, i, &rgb, &mel, &err), &err);
    for (uint32_t y = 0; y < p->height; y++) {
        memset(row, 0, (size_t)width * CHANNELS + 1);
        memcpy(row + 1, rgb + (size_t)y * p->width * CHANNELS,
               (size_t)p->width * CHANNELS);
        put_pixels(w, row, (size_t)width * CHANNELS + 1);
    }
    free(row);
}

void
picture_write(const char *name, struct gg_media_plan *plan, size_t run)
{
    struct writer w = { 0 };
    uint32_t width = 0, height = 0;

    if (plan->kind != GG_MEDIA_IMAGE)
        cli_die("%s: a sound is no picture", name);
    for (size_t i = 0; i < plan->n_pieces; i++)
        if (is_wanted(plan, i, run)) {
            width =
                plan->pieces[i].width > width ? plan->pieces[i].width : width;
            height += plan->pieces[i].height;
        }
    if (height == 0)
        cli_die("%s: there is no run %zu of rows", name, run);
    begin_file(&w, width, height);
    for (size_t i = 0; i < plan->n_pieces; i++)
        if (is_wanted(plan, i, run))
            put_run(&w, plan, i, width);
    end_file(&w);
}
