/* resampler.c - other rates of sounds, by libsoxr */
#include <config.h>

#include <soxr.h>
#include <stdio.h>
#include <string.h>

#include "media/decode/module.h"

/* As librosa and transformers have it: "soxr_hq", one channel of floats. */
struct media_resampler *
media_module_resampler_new(double from, double to, char *why, size_t size)
{
    soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_error_t error = NULL;
    soxr_t r = soxr_create(from, to, 1, &error, NULL, &quality, NULL);

    if (r && !error)
        return (struct media_resampler *)r;
    snprintf(why, size, "%s", error ? error : "out of memory");
    soxr_delete(r);
    return NULL;
}

bool
media_module_resample(struct media_resampler *r, const float *in, size_t n,
                      size_t *used, float *out, size_t room, size_t *made)
{
    return soxr_process((soxr_t)r, in, in ? n : 0, used, out, room, made) ==
           NULL;
}

void
media_module_resampler_free(struct media_resampler *r)
{
    soxr_delete((soxr_t)r);
}
