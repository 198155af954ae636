/* test_decode.c - images and sounds that are decoded by hand, and what is
 * refused by name */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "harness/tap.h"
#include "media/decode/load.h"
#include "media/decode/sink.h"

static struct gg_error err;

/* A copy without a byte after it, for sanitizers; no module. */
static enum gg_status
decode_bytes(const void *bytes, size_t size,
             const struct gg_decode_limits *limits, struct gg_decoded **out)
{
    void *copy = mem_dup(bytes, size ? size : 1);
    enum gg_status st;

    *out = NULL;
    err.message[0] = '\0';
    st = media_decode_with(NULL, "no module", copy, size, limits, out, &err);
    mem_free(copy);
    return st;
}

static enum gg_status
status_of(const void *bytes, size_t size, const struct gg_decode_limits *limits)
{
    struct gg_decoded *m;
    enum gg_status st = decode_bytes(bytes, size, limits, &m);

    gg_decoded_free(m);
    return st;
}

/* ---- images -------------------------------------------------------------- */

#define TEXT(string) string, sizeof(string) - 1

static void
check_pixels(const void *bytes, size_t size, const char *rgb, size_t n,
             const char *name)
{
    struct gg_decoded *m;

    ok(decode_bytes(bytes, size, NULL, &m) == GG_OK &&
           m->kind == GG_MEDIA_IMAGE && m->width * m->height * 3 == n &&
           memcmp(m->rgb, rgb, n) == 0,
       name);
    gg_decoded_free(m);
}

static void
test_ppm(void)
{
    check_pixels(TEXT("P6\n2 1\n255\nabcdef"), TEXT("abcdef"), "P6");
    check_pixels(TEXT("P6 # a comment\n#another\n2\t1 255 abcdef"),
                 TEXT("abcdef"), "comments");
    check_pixels(TEXT("P5 2 1 255\nab"), TEXT("aaabbb"), "grey");
    check_pixels(TEXT("P5 3 1 1\n\0\1\2"),
                 TEXT("\0\0\0\xff\xff\xff\xff\xff\xff"),
                 "black and white, and a value too large");
    check_pixels(TEXT("P5 2 1 65535\n\x80\x80\xff\xff"),
                 TEXT("\x80\x80\x80\xff\xff\xff"), "16 bits");
    check_pixels(TEXT("P6 1 1 255\nabc and what follows"), TEXT("abc"),
                 "bytes after it");
}

static void
test_bad_ppm(void)
{
    static const struct gg_decode_limits few = { .pixels = 10 };

    is(status_of(TEXT("P6 2 1 255\nabcde"), NULL), GG_ERR_TRUNCATED,
       "a byte too few");
    is(status_of(TEXT("P6 0 1 255\n"), NULL), GG_ERR_FORMAT, "no width");
    is(status_of(TEXT("P6 1 0 255\n"), NULL), GG_ERR_FORMAT, "no height");
    is(status_of(TEXT("P6 1 1 0\nabc"), NULL), GG_ERR_FORMAT, "no white");
    is(status_of(TEXT("P6 1 1 65536\nabc"), NULL), GG_ERR_FORMAT, "17 bits");
    is(status_of(TEXT("P6 1 -1 255\nabc"), NULL), GG_ERR_FORMAT, "negative");
    is(status_of(TEXT("P6 9999999999 1 255\n"), NULL), GG_ERR_FORMAT, "wide");
    is(status_of(TEXT("P6 "), NULL), GG_ERR_FORMAT, "no more than a name");
    is(status_of(TEXT("P6 #"), NULL), GG_ERR_FORMAT, "an endless comment");
    is(status_of(TEXT("P6 1 1 255"), NULL), GG_ERR_FORMAT, "no data");
    is(status_of(TEXT("P6 50000 50000 255\n"), NULL), GG_ERR_NOMEM, "a bomb");
    is((const char *)err.message,
       "an image of 50000 x 50000 pixels: more than 67108864 are not decoded",
       "which is one line");
    is(status_of(TEXT("P6 4294967295 4294967295 255\n"), NULL), GG_ERR_NOMEM,
       "the largest");
    is(status_of(TEXT("P5 11 1 255\n0123456789a"), &few), GG_ERR_NOMEM,
       "one pixel too many");
    is(status_of(TEXT("P5 5 2 255\n0123456789"), &few), GG_OK, "just enough");
}

/* An image of 3 x 2, whose pixels are a to f, as Exif's orientations show it.
 */
static void
test_orientation(void)
{
    static const char *const turned[] = {
        [1] = "abcdef", [2] = "cbafed", [3] = "fedcba", [4] = "defabc",
        [5] = "adbecf", [6] = "daebfc", [7] = "fcebda", [8] = "cfbead",
    };

    for (int o = 1; o <= 8; o++) {
        struct gg_decoded *m;
        char got[7] = "", name[32];

        if (decode_bytes(TEXT("P5 3 2 255\nabcdef"), NULL, &m) != GG_OK ||
            media_turn_upright(m, o, &err) != GG_OK)
            abort();
        for (int i = 0; i < 6; i++)
            got[i] = (char)m->rgb[3 * i];
        snprintf(name, sizeof(name), "orientation %d", o);
        is((const char *)got, turned[o], name);
        is(m->width, o < 5 ? 3 : 2, "its width");
        gg_decoded_free(m);
    }
}

static void
test_exif(void)
{
    static const char little[] =
        "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0";
    static const char big[] =
        "Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\7\0\0";
    char bad[sizeof(little) - 1];
    int wrong = 0;

    is(media_exif_orientation(TEXT(little)), 6, "little-endian");
    is(media_exif_orientation(TEXT(big)), 7, "big-endian, with a name");
    is(media_exif_orientation("", 0), 1, "an empty block");
    for (size_t n = 0; n < 20; n++)
        wrong += media_exif_orientation(little, n) != 1;
    is(wrong, 0, "cut blocks say nothing");
    memcpy(bad, little, sizeof(bad));
    bad[18] = 9;
    is(media_exif_orientation(bad, sizeof(bad)), 1, "no such orientation");
    memcpy(bad, little, sizeof(bad));
    memset(bad + 4, 0xff, 4);
    is(media_exif_orientation(bad, sizeof(bad)), 1, "a place outside");
    memcpy(bad, little, sizeof(bad));
    memset(bad + 8, 0xff, 3);
    is(media_exif_orientation(bad, sizeof(bad)), 1, "more entries than bytes");
}

static void
test_hash(void)
{
    struct gg_decoded *a, *b, *c;

    if (decode_bytes(TEXT("P5 2 1 255\nab"), NULL, &a) != GG_OK ||
        decode_bytes(TEXT("P6 2 1 255\naaabbb"), NULL, &b) != GG_OK ||
        decode_bytes(TEXT("P5 1 2 255\nab"), NULL, &c) != GG_OK)
        abort();
    ok(memcmp(a->hash, b->hash, sizeof(a->hash)) == 0,
       "one content of two files has one hash");
    ok(memcmp(a->hash, c->hash, sizeof(a->hash)) != 0, "other sizes another");
    gg_decoded_free(a);
    gg_decoded_free(b);
    gg_decoded_free(c);
}

/* ---- sounds -------------------------------------------------------------- */

struct wav_head {
    unsigned coding, channels, rate, bits;
    uint32_t size;
};

static size_t
store(uint8_t *p, size_t at, uint32_t value, int n)
{
    for (int i = 0; i < n; i++)
        p[at + (size_t)i] = (uint8_t)(value >> 8 * i);
    return at + (size_t)n;
}

/* A WAV file in `p`, which has 200 bytes; returns its size. */
static size_t
make_wav(uint8_t *p, struct wav_head h, const void *data, size_t n)
{
    unsigned align = h.channels * h.bits / 8;
    size_t at = 12;

    memcpy(p, "RIFF\xff\xff\xff\xffWAVE", 12);
    memcpy(p + at, "LIST\3\0\0\0abc\0fmt ", 16); /* padded to whole words */
    at = store(p, at + 16, 16, 4);
    at = store(p, at, h.coding, 2);
    at = store(p, at, h.channels, 2);
    at = store(p, at, h.rate, 4);
    at = store(p, at, h.rate * align, 4);
    at = store(p, at, align, 2);
    at = store(p, at, h.bits, 2);
    memcpy(p + at, "data", 4);
    at = store(p, at + 4, h.size ? h.size : (uint32_t)n, 4);
    memcpy(p + at, data, n);
    return at + n;
}

static void
check_sound(struct wav_head h, const void *data, size_t n, float first,
            float second, const char *name)
{
    uint8_t file[200];
    size_t size = make_wav(file, h, data, n);
    struct gg_decoded *m;

    ok(decode_bytes(file, size, NULL, &m) == GG_OK &&
           m->kind == GG_MEDIA_SOUND && m->rate == 16000 && m->n_samples == 2 &&
           m->samples[0] == first && m->samples[1] == second,
       name);
    gg_decoded_free(m);
}

static void
test_wav(void)
{
    static const float floats[] = { 0.25f, -1.5f };
    static const double doubles[] = { 0.25, -1.5 };
#define HEAD(coding, channels, bits)                                           \
    (struct wav_head){ coding, channels, 16000, bits, 0 }

    check_sound(HEAD(1, 1, 8), "\x80\0", 2, 0, -1, "8 bits");
    check_sound(HEAD(1, 1, 16), "\0\x40\0\x80", 4, 0.5f, -1, "16 bits");
    check_sound(HEAD(1, 1, 24), "\0\0\x40\0\0\x80", 6, 0.5f, -1, "24 bits");
    check_sound(HEAD(1, 1, 32), "\0\0\0\x40\0\0\0\x80", 8, 0.5f, -1, "32 bits");
    check_sound(HEAD(1, 2, 16), "\0\x40\0\0\0\x80\0\x80", 8, 0.25f, -1,
                "two channels are mixed");
    check_sound(HEAD(3, 1, 32), floats, 8, 0.25f, -1.5f, "floats");
    check_sound(HEAD(3, 1, 64), doubles, 16, 0.25f, -1.5f, "doubles");
    check_sound((struct wav_head){ 1, 1, 16000, 16, 0xffffffff },
                "\0\x40\0\x80", 4, 0.5f, -1,
                "of a program that writes to a pipe");
}

static enum gg_status
status_of_wav(struct wav_head h, const void *data, size_t n)
{
    uint8_t file[200];
    size_t size = make_wav(file, h, data, n);

    return status_of(file, size, NULL);
}

static void
test_bad_wav(void)
{
    static const float not_a_number[] = { NAN, 0 }, endless[] = { 0, INFINITY };
    static const float loud[] = { 1e30f, 0 };
    uint8_t file[200];
    size_t size = make_wav(file, HEAD(1, 2, 16), "abcdefgh", 8);
    int wrong = 0;

    is(status_of_wav(HEAD(3, 1, 32), not_a_number, 8), GG_ERR_FORMAT, "NaN");
    is(status_of_wav(HEAD(3, 1, 32), endless, 8), GG_ERR_FORMAT, "infinity");
    is(status_of_wav(HEAD(3, 1, 32), loud, 8), GG_ERR_FORMAT, "much too loud");
    is(status_of_wav(HEAD(1, 1, 16), "", 0), GG_ERR_FORMAT, "no samples");
    is(status_of_wav(HEAD(1, 0, 16), "ab", 2), GG_ERR_FORMAT, "no channels");
    is(status_of_wav(HEAD(1, 4000, 16), "ab", 2), GG_ERR_FORMAT,
       "too many channels");
    is(status_of_wav((struct wav_head){ 1, 1, 0, 16, 0 }, "ab", 2),
       GG_ERR_UNSUPPORTED, "no rate");
    is(status_of_wav((struct wav_head){ 1, 1, 4000000000, 16, 0 }, "ab", 2),
       GG_ERR_UNSUPPORTED, "a rate too high");
    is(status_of_wav((struct wav_head){ 1, 1, 16000, 16, 9 }, "ab", 2),
       GG_ERR_TRUNCATED, "a file that is cut");
    is(status_of_wav((struct wav_head){ 1, 1, 44100, 16, 0 }, "ab", 2),
       GG_ERR_UNSUPPORTED, "another rate, and no libsoxr");
    ok(strstr(err.message, "-ar 16000") != NULL, "with a command");
    is(status_of_wav(HEAD(7, 1, 8), "ab", 2), GG_ERR_UNSUPPORTED, "mu-law");
    for (size_t n = 12; n < size; n++)
        wrong += status_of(file, n, NULL) == GG_OK;
    is(wrong, 0, "every cut");
}

static void
test_raw(void)
{
    static const struct gg_decode_limits raw = { .raw_rate = 16000 };
    static const struct gg_decode_limits other = { .raw_rate = 8000,
                                                   .rate = 8000 };
    static const struct gg_decode_limits few = { .raw_rate = 16000,
                                                 .samples = 1 };
    struct gg_decoded *m;

    ok(decode_bytes("\0\x40\0\x80", 4, &raw, &m) == GG_OK &&
           m->n_samples == 2 && m->samples[0] == 0.5f && m->samples[1] == -1,
       "raw samples");
    gg_decoded_free(m);
    ok(decode_bytes("P6 1 1 255 ", 10, &other, &m) == GG_OK && m->rate == 8000,
       "of another rate, and whatever they look like");
    gg_decoded_free(m);
    is(status_of("abc", 3, &raw), GG_ERR_TRUNCATED, "half a sample");
    is(status_of("", 0, &raw), GG_ERR_FORMAT, "none");
    is(status_of("abcd", 4, &few), GG_ERR_NOMEM, "too many");
}

/* ---- refusals ------------------------------------------------------------ */

static void
test_formats(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *name, *command;
    } known[] = {
        { TEXT("\0\0\0\x18"
               "ftypheic\0\0\0\0mif1heic"),
          "HEIC", "heif-convert" },
        { TEXT("\0\0\0\x18"
               "ftypmif1\0\0\0\0mif1avif"),
          "AVIF", "avifdec" },
        { TEXT("\0\0\0\x18"
               "ftypM4A \0\0\0\0"),
          "M4A", "ffmpeg -i FILE -ar 16000 -f wav - | gg-encode -" },
        { TEXT("\0\0\0\x18"
               "ftypisom\0\0\0\0"),
          "video", "ffmpeg" },
        { TEXT("\x1a\x45\xdf\xa3...."), "WebM", "ffmpeg" },
        { TEXT("GIF89a"), "GIF", "ffmpeg" },
        { TEXT("RIFF....AVI "), "AVI", "ffmpeg" },
        { TEXT("BM......"), "BMP", "ffmpeg" },
        { TEXT("%PDF-1.7"), "PDF", "pdftoppm" },
        { TEXT("\x89PNG\r\n\x1a\n"), "PNG", "pngtopnm FILE | gg-encode -" },
        { TEXT("\xff\xd8\xff\xe0"), "JPEG", "djpeg FILE | gg-encode -" },
        { TEXT("RIFF....WEBPVP8 "), "WebP", "dwebp" },
        { TEXT("fLaC"), "FLAC", "ffmpeg" },
        { TEXT("OggS"), "Ogg", "ffmpeg" },
        { TEXT("\xff\xfb\x90\x64"), "MP3", "ffmpeg" },
        { TEXT("\xff\xf1\x50\x80"), "AAC", "ffmpeg" },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        is(status_of(known[i].bytes, known[i].size, NULL), GG_ERR_UNSUPPORTED,
           known[i].name);
        ok(strstr(err.message, known[i].name) &&
               strstr(err.message, known[i].command),
           err.message);
    }
    is(status_of("", 0, NULL), GG_ERR_UNSUPPORTED, "no bytes");
    is(status_of(TEXT("hello"), NULL), GG_ERR_UNSUPPORTED, "a text");
    is(status_of(TEXT("GGUF"), NULL), GG_ERR_UNSUPPORTED, "a model");
    ok(strstr(err.message, "GGUF") != NULL, "by name");
}

static void
test_checks(void)
{
    struct gg_decoded sizes = { .width = 2, .height = 2 }, *m;
    const struct gg_decode_limits wrong = { .reserved = { 1 } };

    is(status_of(TEXT("P5 1 1 255\na"), &wrong), GG_ERR_ARG, "reserved");
    is(gg_decoded_new(&sizes, NULL, &m, &err), GG_OK, "room for an image");
    is(gg_decoded_check(m, &err), GG_OK, "which is one");
    m->rate = 1;
    is(gg_decoded_check(m, &err), GG_ERR_FORMAT, "with a rate it is not");
    gg_decoded_free(m);
    sizes.width = 1 << 20;
    sizes.height = 1 << 20;
    is(gg_decoded_new(&sizes, NULL, &m, &err), GG_ERR_NOMEM, "too large");
    sizes = (struct gg_decoded){ .kind = GG_MEDIA_SOUND, .n_samples = 3 };
    is(gg_decoded_new(&sizes, NULL, &m, &err), GG_OK, "room for a sound");
    is(gg_decoded_check(m, &err), GG_ERR_FORMAT, "without a rate");
    m->rate = 16000;
    m->samples[2] = NAN;
    is(gg_decoded_check(m, &err), GG_ERR_FORMAT, "with a NaN");
    gg_decoded_free(m);
    sizes.n_samples = SIZE_MAX;
    is(gg_decoded_new(&sizes, NULL, &m, &err), GG_ERR_NOMEM, "endless");
    sizes.kind = (enum gg_media_kind)7;
    is(gg_decoded_new(&sizes, NULL, &m, &err), GG_ERR_NOMEM, "no kind");
}

static int
count_failures(const void *bytes, size_t size, int orientation)
{
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_decoded *m = NULL;
    int n = 0;

    for (; st == GG_ERR_NOMEM && n < 100; n++) {
        mem_fail_after(n);
        st = media_decode_with(NULL, "", bytes, size, NULL, &m, &err);
        if (st == GG_OK)
            st = media_turn_upright(m, orientation, &err);
        mem_fail_after(-1);
        gg_decoded_free(m);
        m = NULL;
    }
    return st == GG_OK ? n - 1 : -1;
}

/* Each allocation fails in turn. */
static void
test_memory(void)
{
    uint8_t wav[200];
    size_t n = make_wav(wav, HEAD(1, 1, 16), "abcdefgh", 8);

    is(count_failures(TEXT("P5 2 1 255\nab"), 6), 3, "an image");
    is(count_failures(wav, n, 1), 2, "a sound");
}

int
main(void)
{
    test_ppm();
    test_bad_ppm();
    test_orientation();
    test_exif();
    test_hash();
    test_wav();
    test_bad_wav();
    test_raw();
    test_formats();
    test_checks();
    test_memory();
    return tap_done();
}
