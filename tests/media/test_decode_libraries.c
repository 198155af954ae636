/* test_decode_libraries.c - images and sounds that libraries decode
 *
 * What a build lacks is left out: the files are made by the same libraries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fixtures/media_files.h"
#include "harness/tap.h"
#include "media/decode/load.h"
#include "media/decode/module.h"

static struct gg_error err;

static enum gg_status
decode_bytes(const void *bytes, size_t size,
             const struct gg_decode_limits *limits, struct gg_decoded **out)
{
    void *copy = mem_dup(bytes, size ? size : 1);
    enum gg_status st;

    *out = NULL;
    err.message[0] = '\0';
    st = media_decode_with(&media_module_table, "", copy, size, limits, out,
                           &err);
    mem_free(copy);
    return st;
}

/* ---- images -------------------------------------------------------------- */

/* The value over white, if the image has alpha. */
static int
value_of(const struct media_file *f, unsigned x, unsigned y, unsigned c)
{
    int v = media_file_pixel(x, y, c), alpha = media_file_pixel(x, y, 3);

    if (!strstr(f->name, "alpha") && !strstr(f->name, "interlaced"))
        return v;
    return (int)lround((v * alpha + 255.0 * (255 - alpha)) / 255);
}

/* The pixel of the upright image that (x, y) of the file becomes. */
static const uint8_t *
place_of(const struct gg_decoded *m, int orientation, unsigned x, unsigned y)
{
    unsigned w = MEDIA_FILE_WIDTH, h = MEDIA_FILE_HEIGHT, to_x = x, to_y = y;

    if (orientation == 3)
        to_x = w - 1 - x, to_y = h - 1 - y;
    else if (orientation == 6)
        to_x = h - 1 - y, to_y = x;
    else if (orientation == 8)
        to_x = y, to_y = w - 1 - x;
    return m->rgb + 3 * ((size_t)to_y * m->width + to_x);
}

static int
largest_difference(const struct media_file *f, const struct gg_decoded *m)
{
    int most = 0;

    for (unsigned y = 0; y < MEDIA_FILE_HEIGHT; y++)
        for (unsigned x = 0; x < MEDIA_FILE_WIDTH; x++)
            for (unsigned c = 0; c < 3; c++) {
                int d =
                    place_of(m, f->orientation, x, y)[c] - value_of(f, x, y, c);

                most = abs(d) > most ? abs(d) : most;
            }
    return most;
}

static void
check_image(const struct media_file *f, const struct gg_decoded *m)
{
    bool turned = f->orientation > 4;
    unsigned width = turned ? MEDIA_FILE_HEIGHT : MEDIA_FILE_WIDTH;
    unsigned height = turned ? MEDIA_FILE_WIDTH : MEDIA_FILE_HEIGHT;

    ok(m->width == width && m->height == height &&
           largest_difference(f, m) <= f->most,
       f->name);
}

/* ---- sounds -------------------------------------------------------------- */

/* MP3 has a delay of some samples, which libraries take away or not. */
static void
check_sound(const struct media_file *f, const struct gg_decoded *m)
{
    double error = 0, all = 0;

    for (unsigned i = 0; i < MEDIA_FILE_SAMPLES && i < m->n_samples; i++) {
        double want = (media_file_sample(i, 0) + media_file_sample(i, 1)) / 2;
        double d = m->samples[i] - want;

        error += d * d;
        all += want * want;
    }
    if (strcmp(f->name, "MP3") == 0)
        ok(m->n_samples >= MEDIA_FILE_SAMPLES, f->name);
    else
        ok(m->n_samples == MEDIA_FILE_SAMPLES && error <= f->error * all,
           f->name);
}

/* A sine stays one, and the length is rounded up. */
static void
check_resampling(const struct media_file *f)
{
    static const struct gg_decode_limits wanted = { .rate = 16000 };
    struct gg_decoded *m;
    double error = 0, all = 0;

    if (!media_module_table.resampler_new)
        return;
    is(decode_bytes(f->bytes, f->size, &wanted, &m), GG_OK, "resampled");
    is(m->n_samples, (MEDIA_FILE_SAMPLES * 160 + 440) / 441, "its length");
    for (unsigned i = 200; i < m->n_samples - 200; i++) {
        double at = i * 44100.0 / 16000;
        double want = 0.25 * (sin(at * 0.05) + sin(at * 0.03));
        double d = m->samples[i] - want;

        error += d * d;
        all += want * want;
    }
    ok(error < 1e-4 * all, "the same sines");
    gg_decoded_free(m);
}

/* ---- all ----------------------------------------------------------------- */

/* Whatever the damage: an error in words, or a medium that is sound. */
static int
count_bad_ends(const uint8_t *bytes, size_t size)
{
    struct gg_decode_limits limits = { .pixels = 4096, .rate = 44100 };
    struct gg_decoded *m;
    enum gg_status st = decode_bytes(bytes, size, &limits, &m);
    int bad =
        st == GG_OK ? gg_decoded_check(m, &err) != GG_OK : m || !err.message[0];

    gg_decoded_free(m);
    return bad;
}

static void
check_damage(const struct media_file *f)
{
    uint32_t state = 1;
    int bad = 0;

    for (size_t n = 0; n < f->size; n += 1 + f->size / 100)
        bad += count_bad_ends(f->bytes, n);
    for (int i = 0; i < 200; i++) {
        uint8_t *p = f->bytes, was;
        size_t at;

        state = state * 1664525 + 1013904223;
        at = (state >> 8) % f->size;
        was = p[at];
        p[at] ^= (uint8_t)(1 << (state & 7));
        bad += count_bad_ends(p, f->size);
        p[at] = was;
    }
    is(bad, 0, "cut and damaged");
}

static void
check_file(const struct media_file *f)
{
    static const struct gg_decode_limits limits = { .rate = 44100 };
    static const struct gg_decode_limits few = { .pixels = 246,
                                                 .samples = 4000,
                                                 .rate = 44100 };
    struct gg_decoded *m;

    if (decode_bytes(f->bytes, f->size, &limits, &m) != GG_OK) {
        ok(false, f->name);
        printf("# %s\n", err.message);
        return;
    }
    if (m->kind == GG_MEDIA_IMAGE)
        check_image(f, m);
    else
        check_sound(f, m);
    gg_decoded_free(m);
    is(decode_bytes(f->bytes, f->size, &few, &m), GG_ERR_NOMEM,
       "beyond the limits");
    if (strcmp(f->name, "FLAC") == 0)
        check_resampling(f);
    check_damage(f);
}

/* A PNG of 50,000 x 50,000 pixels in less than 100 bytes. */
static void
check_bomb(void)
{
    static const uint8_t bomb[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xc3\x50\0\0\xc3\x50\1\0\0\0\0"
        "\xcc\xb4\xd8\x36";
    struct gg_decoded *m;

    if (!media_module_table.decoders[MEDIA_LIBPNG])
        return;
    ok(decode_bytes(bomb, sizeof(bomb) - 1, NULL, &m) != GG_OK, err.message);
}

int
main(void)
{
    struct media_file f;

    if (!freopen("/dev/null", "w", stderr)) /* libmpg123 tells of damage */
        abort();
    for (size_t i = 0; (f = media_file_make(i)).name; i++) {
        if (f.bytes)
            check_file(&f);
        free(f.bytes);
    }
    check_bomb();
    ok(true, "what this build has");
    return tap_done();
}
