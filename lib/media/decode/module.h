/* module.h - decoders of the module, one a library */
#ifndef MEDIA_DECODE_MODULE_H
#define MEDIA_DECODE_MODULE_H

#include "media/decode/decoder.h"

/* Decoders of this build. */
extern const struct media_module media_module_table;

media_decode_t media_module_png, media_module_jpeg, media_module_webp,
    media_module_sound;

struct media_resampler *
media_module_resampler_new(double from, double to, char *why, size_t size);
bool
media_module_resample(struct media_resampler *r, const float *in, size_t n,
                      size_t *used, float *out, size_t room, size_t *made);
void
media_module_resampler_free(struct media_resampler *r);

/* n pixels of red, green, blue and alpha, over white. They may overlap from the
 * same place on. */
void
media_module_over_white(const uint8_t *rgba, size_t n, uint8_t *rgb);

#endif
