/* sink_sound.c - sounds from decoders: mixed to one channel and resampled */
#include <config.h>

#include <math.h>

#include "core/error.h"
#include "core/mem.h"
#include "media/decode/sink.h"

enum {
    LEAST_RATE = 1000,
    MOST_RATE = 1000000,
    MOST_CHANNELS = 1024,
    PIECE = 2048, /* samples that are mixed at a time */
};

static bool
too_long(struct media_sink *s, uint64_t n)
{
    if (n <= s->n_most)
        return false;
    s->target.fail(&s->target, GG_ERR_NOMEM,
                   "a sound of %s%.0f seconds: more than %.0f are not decoded",
                   n == s->n_frames ? "more than " : "",
                   n == s->n_frames ? (double)s->n_most / s->rate
                                    : (double)n / s->rate,
                   (double)s->n_most / s->rate);
    return true;
}

static bool
begin_resampling(struct media_sink *s)
{
    char why[128] = "out of memory";

    if (!s->module || !s->module->resampler_new) {
        s->target.fail(&s->target, GG_ERR_UNSUPPORTED,
                       "a sound of %u samples a second, not %u, and no libsoxr "
                       "here; convert it: `ffmpeg -i FILE -ar %u -f wav - | "
                       "gg-encode -`",
                       s->rate, s->limits.rate, s->limits.rate);
        return false;
    }
    s->resampler =
        s->module->resampler_new(s->rate, s->limits.rate, why, sizeof(why));
    if (!s->resampler)
        s->target.fail(&s->target, GG_ERR_NOMEM, "resampling: %s", why);
    return s->resampler != NULL;
}

bool
media_sink_sound(struct media_target *t, int64_t rate, int64_t channels,
                 uint64_t frames)
{
    struct media_sink *s = (struct media_sink *)t;

    if (rate < LEAST_RATE || rate > MOST_RATE) {
        t->fail(t, GG_ERR_UNSUPPORTED,
                "a sound of %lld samples a second: it is from %d to %d",
                (long long)rate, LEAST_RATE, MOST_RATE);
        return false;
    }
    if (channels < 1 || channels > MOST_CHANNELS) {
        t->fail(t, GG_ERR_FORMAT, "a sound of %lld channels",
                (long long)channels);
        return false;
    }
    s->rate = (uint32_t)rate;
    s->channels = (uint32_t)channels;
    s->n_most =
        (uint64_t)((double)s->limits.samples * (double)rate / s->limits.rate);
    s->medium->kind = GG_MEDIA_SOUND;
    s->medium->rate = s->limits.rate;
    if (too_long(s, frames))
        return false;
    return s->rate == s->limits.rate || begin_resampling(s);
}

/* Makes room for n samples more. */
static float *
more_samples(struct media_sink *s, size_t n)
{
    struct gg_decoded *m = s->medium;

    if (mem_grow(&m->samples, &s->room, m->n_samples + n, sizeof(float)))
        return m->samples + m->n_samples;
    s->target.fail(&s->target, GG_ERR_NOMEM,
                   "no memory for a sound of %zu "
                   "samples",
                   m->n_samples + n);
    return NULL;
}

static bool
keep_samples(struct media_sink *s, const float *in, size_t n)
{
    float *out = more_samples(s, n);

    for (size_t i = 0; out && i < n; i++)
        out[i] = in[i];
    s->medium->n_samples += out ? n : 0;
    return out != NULL;
}

/* `in` NULL: the sound has ended, and what the filter holds comes. */
static bool
resample(struct media_sink *s, const float *in, size_t n)
{
    size_t used, made;

    do {
        float *out = more_samples(s, PIECE);

        if (!out)
            return false;
        if (!s->module->resample(s->resampler, in, n, &used, out, PIECE,
                                 &made) ||
            used > n || made > PIECE) {
            s->target.fail(&s->target, GG_ERR_FORMAT, "resampling failed");
            return false;
        }
        s->medium->n_samples += made;
        in = in ? in + used : NULL;
        n -= used;
    } while (n || made == PIECE);
    return true;
}

static bool
take_samples(struct media_sink *s, const float *in, size_t n)
{
    return s->resampler ? resample(s, in, n) : keep_samples(s, in, n);
}

/* The mean of the channels, as NumPy's in floats. */
static void
mix(const float *frames, size_t n, uint32_t channels, float *out)
{
    for (size_t i = 0; i < n; i++, frames += channels) {
        float sum = frames[0];

        for (uint32_t c = 1; c < channels; c++)
            sum += frames[c];
        out[i] = sum / (float)channels;
    }
}

/* A NaN would be spread by the filter of a resampler, or end it. */
static bool
all_finite(struct media_sink *s, const float *samples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(samples[i])) {
            s->target.fail(&s->target, GG_ERR_FORMAT,
                           "sample %llu is no number",
                           (unsigned long long)(s->n_frames + i));
            return false;
        }
    return true;
}

bool
media_sink_frames(struct media_target *t, const float *frames, size_t n)
{
    struct media_sink *s = (struct media_sink *)t;
    float mono[PIECE];

    while (n) {
        size_t some = n < PIECE ? n : PIECE;

        mix(frames, some, s->channels, mono);
        if (!all_finite(s, mono, some) || !take_samples(s, mono, some))
            return false;
        s->n_frames += some;
        if (too_long(s, s->n_frames))
            return false;
        frames += some * s->channels;
        n -= some;
    }
    return true;
}

enum gg_status
media_sink_end_sound(struct media_sink *s)
{
    uint64_t want = s->n_frames;
    size_t had;

    if (s->resampler) {
        if (!resample(s, NULL, 0))
            return s->target.status;
        want = (want * s->limits.rate + s->rate - 1) / s->rate;
    }
    had = s->medium->n_samples;
    if (had < want && !more_samples(s, want - had))
        return s->target.status;
    for (size_t i = had; i < want; i++)
        s->medium->samples[i] = 0;
    s->medium->n_samples = want;
    return GG_OK;
}
