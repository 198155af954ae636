/* module_table.c - the decoders of this build, and what they share */
#include <config.h>

#include "media/decode/module.h"

const struct media_module media_module_table = {
    .version = PACKAGE_VERSION,
    .decoders = {
#ifdef HAVE_LIBPNG
        [MEDIA_LIBPNG] = media_module_png,
#endif
#ifdef HAVE_LIBJPEG
        [MEDIA_LIBJPEG] = media_module_jpeg,
#endif
#ifdef HAVE_LIBWEBP
        [MEDIA_LIBWEBP] = media_module_webp,
#endif
#ifdef HAVE_LIBSNDFILE
        [MEDIA_LIBSNDFILE] = media_module_sound,
#endif
    },
#ifdef HAVE_LIBSOXR
    .resampler_new = media_module_resampler_new,
    .resample = media_module_resample,
    .resampler_free = media_module_resampler_free,
#endif
};

static inline uint8_t
over_white(unsigned value, unsigned alpha)
{
    return (uint8_t)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

void
media_module_over_white(const uint8_t *rgba, size_t n, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++, rgba += 4, rgb += 3) {
        unsigned alpha = rgba[3];

        rgb[0] = over_white(rgba[0], alpha);
        rgb[1] = over_white(rgba[1], alpha);
        rgb[2] = over_white(rgba[2], alpha);
    }
}
