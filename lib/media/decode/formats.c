/* formats.c - formats of images and sounds, by their first bytes: those that
 * are decoded, and others with the command that converts them */
#include <config.h>

#include "media/decode/formats.h"

#include <string.h>

#define IMAGE_BY_FFMPEG                                                        \
    "ffmpeg -i FILE -frames:v 1 -f image2pipe -c:v ppm - | gg-encode -"
#define SOUND_BY_FFMPEG "ffmpeg -i FILE -ar 16000 -f wav - | gg-encode -"
#define FRAMES_BY_FFMPEG                                                       \
    "ffmpeg -i FILE -vf fps=1 frame%03d.png` for images, `" SOUND_BY_FFMPEG

/* ---- what a few bytes do not tell ---- */

static bool
is_pnm(const uint8_t *p, size_t size)
{
    return size > 2 && strchr(" \t\r\n#", p[2]) && p[2];
}

/* The header of a frame: MPEG 1, 2 or 2.5, of a layer and rates that are. */
static bool
is_mpeg_audio(const uint8_t *p, size_t size)
{
    return size >= 4 && (p[1] & 0xe0) == 0xe0 && (p[1] & 0x18) != 0x08 &&
           (p[1] & 0x06) != 0 && (p[2] & 0xf0) != 0xf0 && (p[2] & 0xf0) != 0 &&
           (p[2] & 0x0c) != 0x0c;
}

static bool
is_aac(const uint8_t *p, size_t size)
{
    return size >= 4 && (p[1] & 0xf6) == 0xf0;
}

static bool
is_transport_stream(const uint8_t *p, size_t size)
{
    return size > 188 && p[188] == 0x47;
}

/* One of the brands of an ISO media file: the major one, then those that are
 * compatible. */
static bool
has_brand(const uint8_t *p, size_t size, const char *brand)
{
    size_t end = (size_t)p[2] << 8 | p[3];

    if (size < 12)
        return false;
    if (end > size)
        end = size;
    if (memcmp(p + 8, brand, strlen(brand)) == 0)
        return true;
    for (size_t i = 16; i + 4 <= end; i += 4)
        if (memcmp(p + i, brand, strlen(brand)) == 0)
            return true;
    return false;
}

static bool
is_avif(const uint8_t *p, size_t size)
{
    return has_brand(p, size, "avi");
}

static bool
is_heic(const uint8_t *p, size_t size)
{
    return has_brand(p, size, "hei") || has_brand(p, size, "hevc") ||
           has_brand(p, size, "mif1") || has_brand(p, size, "msf1");
}

static bool
is_m4a(const uint8_t *p, size_t size)
{
    return size >= 12 &&
           (memcmp(p + 8, "M4A", 3) == 0 || memcmp(p + 8, "M4B", 3) == 0);
}

static bool
is_webp(const uint8_t *p, size_t size)
{
    return size >= 12 && memcmp(p + 8, "WEBP", 4) == 0;
}

static bool
is_wave(const uint8_t *p, size_t size)
{
    return size >= 12 && memcmp(p + 8, "WAVE", 4) == 0;
}

static bool
is_aiff(const uint8_t *p, size_t size)
{
    return size >= 12 && memcmp(p + 8, "AIF", 3) == 0;
}

static bool
is_icon(const uint8_t *p, size_t size)
{
    return size >= 6 && p[4] && !p[5];
}

/* ---- the table: the first row that fits counts ---- */

static const struct {
    const char *magic;
    uint8_t length, at;
    bool (*also)(const uint8_t *p, size_t size);
    struct media_format format;
} formats[] = {
#define M(string) string, sizeof(string) - 1
    { M("P6"),
      0,
      is_pnm,
      { "a PPM image", MEDIA_BY_HAND, media_decode_ppm, NULL } },
    { M("P5"),
      0,
      is_pnm,
      { "a PGM image", MEDIA_BY_HAND, media_decode_ppm, NULL } },
    { M("RIFF"),
      0,
      media_wav_is_plain,
      { "a WAV file", MEDIA_BY_HAND, media_decode_wav, NULL } },
    { M("\x89PNG\r\n\x1a\n"),
      0,
      NULL,
      { "a PNG image", MEDIA_LIBPNG, NULL, "pngtopnm FILE | gg-encode -" } },
    { M("\xff\xd8\xff"),
      0,
      NULL,
      { "a JPEG image", MEDIA_LIBJPEG, NULL, "djpeg FILE | gg-encode -" } },
    { M("RIFF"),
      0,
      is_webp,
      { "a WebP image", MEDIA_LIBWEBP, NULL,
        "dwebp FILE -ppm -o - | gg-encode -" } },
    { M("fLaC"),
      0,
      NULL,
      { "a FLAC sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("OggS"),
      0,
      NULL,
      { "an Ogg sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("ID3"),
      0,
      NULL,
      { "an MP3 sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("\xff"),
      0,
      is_mpeg_audio,
      { "an MP3 sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("RIFF"),
      0,
      is_wave,
      { "a WAV file of a special coding", MEDIA_LIBSNDFILE, NULL,
        SOUND_BY_FFMPEG } },
    { M("RF64"),
      0,
      is_wave,
      { "an RF64 sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("riff\x2e\x91\xcf\x11"),
      0,
      NULL,
      { "a W64 sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("FORM"),
      0,
      is_aiff,
      { "an AIFF sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M(".snd"),
      0,
      NULL,
      { "an AU sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("caff"),
      0,
      NULL,
      { "a CAF sound", MEDIA_LIBSNDFILE, NULL, SOUND_BY_FFMPEG } },
    { M("ftyp"),
      4,
      is_avif,
      { "an AVIF image", 0, NULL, "avifdec FILE image.png" } },
    { M("ftyp"),
      4,
      is_heic,
      { "a HEIC image", 0, NULL, "heif-convert FILE image.png" } },
    { M("ftyp"), 4, is_m4a, { "an M4A sound", 0, NULL, SOUND_BY_FFMPEG } },
    { M("ftyp"), 4, NULL, { "a video (MP4)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("\x1a\x45\xdf\xa3"),
      0,
      NULL,
      { "a video or sound (Matroska, WebM)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("RIFF"), 0, NULL, { "a video (AVI)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("FLV"), 0, NULL, { "a video (FLV)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("\x00\x00\x01\xba"),
      0,
      NULL,
      { "a video (MPEG)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("\x00\x00\x01\xb3"),
      0,
      NULL,
      { "a video (MPEG)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("G"),
      0,
      is_transport_stream,
      { "a video (MPEG)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("\x30\x26\xb2\x75"),
      0,
      NULL,
      { "a video or sound (WMV, WMA)", 0, NULL, FRAMES_BY_FFMPEG } },
    { M("\xff"), 0, is_aac, { "an AAC sound", 0, NULL, SOUND_BY_FFMPEG } },
    { M("#!AMR"), 0, NULL, { "an AMR sound", 0, NULL, SOUND_BY_FFMPEG } },
    { M("GIF8"), 0, NULL, { "a GIF image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("II*\0"), 0, NULL, { "a TIFF image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("MM\0*"), 0, NULL, { "a TIFF image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("\xff\x0a"),
      0,
      NULL,
      { "a JPEG XL image", 0, NULL, "djxl FILE image.png" } },
    { M("\0\0\0\x0cJXL "),
      0,
      NULL,
      { "a JPEG XL image", 0, NULL, "djxl FILE image.png" } },
    { M("\0\0\0\x0cjP  "),
      0,
      NULL,
      { "a JPEG 2000 image", 0, NULL, "opj_decompress -i FILE -o image.png" } },
    { M("8BPS"), 0, NULL, { "a PSD image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("qoif"), 0, NULL, { "a QOI image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("\x00\x00\x01\x00"),
      0,
      is_icon,
      { "an icon", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("BM"), 0, NULL, { "a BMP image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("P1"), 0, is_pnm, { "a PBM image as text", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("P2"), 0, is_pnm, { "a PGM image as text", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("P3"), 0, is_pnm, { "a PPM image as text", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("P4"), 0, is_pnm, { "a PBM image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("P7"), 0, is_pnm, { "a PAM image", 0, NULL, IMAGE_BY_FFMPEG } },
    { M("<svg"),
      0,
      NULL,
      { "an SVG drawing", 0, NULL, "rsvg-convert FILE | gg-encode -" } },
    { M("%PDF-"),
      0,
      NULL,
      { "a PDF document", 0, NULL, "pdftoppm -r 150 -png FILE page" } },
#undef M
};

const struct media_format *
media_format_find(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (size >= (size_t)formats[i].at + formats[i].length &&
            memcmp(bytes + formats[i].at, formats[i].magic,
                   formats[i].length) == 0 &&
            (!formats[i].also || formats[i].also(bytes, size)))
            return &formats[i].format;
    return NULL;
}

const char *
media_library_name(enum media_library library)
{
    static const char *const names[] = {
        [MEDIA_LIBPNG] = "no libpng",   [MEDIA_LIBJPEG] = "no libjpeg",
        [MEDIA_LIBWEBP] = "no libwebp", [MEDIA_LIBSNDFILE] = "no libsndfile",
        [MEDIA_LIBSOXR] = "no libsoxr",
    };

    return names[library];
}
