/* decoder.h - what a decoder is called with, by hand or of the module
 *
 * The module's decoders link nothing of this library: what they need of it are
 * the functions of struct media_target. */
#ifndef MEDIA_DECODE_DECODER_H
#define MEDIA_DECODE_DECODER_H

#include <gg-media.h>

struct media_resampler;

/* A decoder fills this. Functions that fail set the sentence and the status,
 * with which the decoder ends. */
struct media_target {
    const struct gg_decode_limits *limits;
    enum gg_status status; /* of the last that failed */
    /* Checks the sizes against the limits. */
    bool (*bounds)(struct media_target *t, uint64_t width, uint64_t height);
    /* Checks bounds(), and gives memory for the pixels, rows from the top: 3
     * bytes each. NULL: it failed. Once a target. */
    uint8_t *(*image)(struct media_target *t, uint64_t width, uint64_t height);
    /* An Exif block (TIFF) of the file; only its orientation counts. */
    void (*exif)(struct media_target *t, const void *block, size_t size);
    /* A sound begins; `frames` is what the file says, 0: it does not. */
    bool (*sound)(struct media_target *t, int64_t rate, int64_t channels,
                  uint64_t frames);
    /* The next n frames, a sample of each channel. */
    bool (*frames)(struct media_target *t, const float *frames, size_t n);
    __attribute__((format(printf, 3, 4))) enum gg_status (*fail)(
        struct media_target *t, enum gg_status status, const char *fmt, ...);
};

typedef enum gg_status
media_decode_t(const uint8_t *bytes, size_t size, struct media_target *t);

enum media_library {
    MEDIA_NO_LIBRARY, /* nothing that this project decodes */
    MEDIA_BY_HAND,
    MEDIA_LIBPNG,
    MEDIA_LIBJPEG,
    MEDIA_LIBWEBP,
    MEDIA_LIBSNDFILE,
    MEDIA_LIBSOXR,
    MEDIA_N_LIBRARIES,
};

/* The module exports a pointer to it, gg_media_module. A library that the build
 * lacks has NULL. */
struct media_module {
    const char *version; /* PACKAGE_VERSION */
    media_decode_t *decoders[MEDIA_N_LIBRARIES];
    /* One channel from one rate to another. NULL: why[0..size) says so. */
    struct media_resampler *(*resampler_new)(double from, double to, char *why,
                                             size_t size);
    /* Uses *used of n samples at `in`, and writes *made of at most `room` at
     * `out`. in NULL: the sound has ended. False: it failed. */
    bool (*resample)(struct media_resampler *r, const float *in, size_t n,
                     size_t *used, float *out, size_t room, size_t *made);
    void (*resampler_free)(struct media_resampler *r);
};

/* ---- by hand ---- */

media_decode_t media_decode_ppm; /* P5, P6 */
media_decode_t media_decode_wav; /* PCM and floats */
media_decode_t media_decode_raw; /* limits->raw_rate */

/* True if media_decode_wav() knows the coding of the samples. */
bool
media_wav_is_plain(const uint8_t *bytes, size_t size);

#endif
