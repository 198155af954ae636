/* mel.c - log-mel spectrograms, computed in double precision */
#include <config.h>

#include "media/mel.h"

#include <math.h>

#include "core/check.h"
#include "core/error.h"
#include "core/mem.h"
#include "media/fft.h"

const struct media_mel media_mel_granite = {
    .rate = 16000,
    .n_fft = 512,
    .window = 400,
    .hop = 160,
    .front = 200,
    .reflects = true,
    .keeps_last = true,
    .whisper = true,
    .floor = 1e-10,
};
const struct media_mel media_mel_whisper = {
    .rate = 16000,
    .n_fft = 400,
    .window = 400,
    .hop = 160,
    .front = 200,
    .reflects = true,
    .slaney = true,
    .whisper = true,
    .floor = 1e-10,
};

const struct media_mel media_mel_gemma4 = {
    .rate = 16000,
    .n_fft = 512,
    .window = 320,
    .hop = 160,
    .front = 160,
    .n_after = 1,
    .magnitude = true,
    .floor = 1e-3,
};

/* A computation has tables, and room for one frame. */
struct work {
    const struct media_mel *mel;
    uint32_t n_mel, n_bins;
    double *window;
    double *filter;        /* [n_mel][n_bins] */
    uint32_t *first, *end; /* bins of a filter that are not 0 */
    double *bin;           /* magnitudes or powers of a frame */
    struct media_complex *in, *out;
    struct media_fft fft;
};

/* ---- filters ------------------------------------------------------------- */

/* Slaney's scale is linear up to 1,000 Hz, 15 mel, and logarithmic above. */
static double
to_mel(const struct media_mel *mel, double hertz)
{
    if (!mel->slaney)
        return 2595 * log10(1 + hertz / 700);
    if (hertz < 1000)
        return 3 * hertz / 200;
    return 15 + log(hertz / 1000) * 27 / log(6.4);
}

static double
to_hertz(const struct media_mel *mel, double m)
{
    if (!mel->slaney)
        return 700 * (pow(10, m / 2595) - 1);
    if (m < 15)
        return 200 * m / 3;
    return 1000 * exp(log(6.4) / 27 * (m - 15));
}

/* The i-th of n_mel + 2 frequencies: filter i rises from it to the next and
 * falls to the one after that. */
static double
corner(const struct work *w, uint32_t i)
{
    double top = to_mel(w->mel, w->mel->rate / 2);

    return to_hertz(w->mel, top * i / (w->n_mel + 1));
}

static void
make_filter(struct work *w, uint32_t i)
{
    double low = corner(w, i), middle = corner(w, i + 1);
    double high = corner(w, i + 2);
    double area = w->mel->slaney ? 2 / (high - low) : 1;
    double *filter = w->filter + (size_t)i * w->n_bins;

    for (uint32_t k = 0; k < w->n_bins; k++) {
        double f = (double)(w->mel->rate / 2) * k / (w->n_bins - 1);
        double up = (f - low) / (middle - low);
        double down = (high - f) / (high - middle);
        double weight = up < down ? up : down;

        if (weight <= 0)
            continue;
        if (w->end[i] == 0)
            w->first[i] = k;
        w->end[i] = k + 1;
        filter[k] = weight * area;
    }
}

/* ---- memory -------------------------------------------------------------- */

static void
clear_work(struct work *w)
{
    mem_free(w->window);
    mem_free(w->filter);
    mem_free(w->first);
    mem_free(w->end);
    mem_free(w->bin);
    mem_free(w->in);
    mem_free(w->out);
    media_fft_clear(&w->fft);
}

static bool
init_work(struct work *w, const struct media_mel *mel, uint32_t n_mel)
{
    uint32_t n_bins = mel->n_fft / 2 + 1;

    *w = (struct work){ .mel = mel, .n_mel = n_mel, .n_bins = n_bins };
    w->window = mem_array(mel->window, sizeof(*w->window));
    w->filter = mem_array((size_t)n_mel * n_bins, sizeof(*w->filter));
    w->first = mem_array(n_mel, sizeof(*w->first));
    w->end = mem_array(n_mel, sizeof(*w->end));
    w->bin = mem_array(n_bins, sizeof(*w->bin));
    w->in = mem_array(mel->n_fft, sizeof(*w->in));
    w->out = mem_array(mel->n_fft, sizeof(*w->out));
    if (!w->window || !w->filter || !w->first || !w->end || !w->bin || !w->in ||
        !w->out || !media_fft_init(&w->fft, mel->n_fft))
        return false;
    for (uint32_t i = 0; i < mel->window; i++)
        w->window[i] = 0.5 - 0.5 * cos(2 * M_PI * i / mel->window);
    for (uint32_t i = 0; i < n_mel; i++)
        make_filter(w, i);
    return true;
}

/* ---- frames -------------------------------------------------------------- */

struct sound {
    const float *samples;
    int64_t n, padded;
};

/* The sample at a place that may be before the first or after the last. */
static double
sample_at(const struct media_mel *mel, const struct sound *s, int64_t at)
{
    if (mel->reflects) {
        at = at < 0 ? -at : at;
        at = at >= s->padded ? 2 * (s->padded - 1) - at : at;
    }
    return at >= 0 && at < s->n ? (double)s->samples[at] : 0;
}

static void
find_bins(struct work *w, const struct sound *s, size_t frame)
{
    const struct media_mel *mel = w->mel;
    int64_t start = (int64_t)(frame * mel->hop) - mel->front;

    for (uint32_t i = 0; i < mel->window; i++)
        w->in[i].re = w->window[i] * sample_at(mel, s, start + i);
    media_fft_run(&w->fft, w->in, w->out);
    for (uint32_t k = 0; k < w->n_bins; k++) {
        double power =
            w->out[k].re * w->out[k].re + w->out[k].im * w->out[k].im;

        w->bin[k] = mel->magnitude ? sqrt(power) : power;
    }
}

static double
log_of_filter(const struct work *w, uint32_t i)
{
    const struct media_mel *mel = w->mel;
    const double *filter = w->filter + (size_t)i * w->n_bins;
    double sum = 0;

    for (uint32_t k = w->first[i]; k < w->end[i]; k++)
        sum += filter[k] * w->bin[k];
    if (mel->adds_floor)
        sum += mel->floor;
    else if (sum < mel->floor)
        sum = mel->floor;
    return mel->whisper ? log10(sum) : log(sum);
}

static void
bound_range(float *values, size_t n)
{
    float most = values[0];

    for (size_t i = 1; i < n; i++)
        most = values[i] > most ? values[i] : most;
    for (size_t i = 0; i < n; i++) {
        float x = values[i] > most - 8 ? values[i] : most - 8;

        values[i] = (x + 4) / 4;
    }
}

size_t
media_mel_frames(const struct media_mel *mel, size_t n)
{
    size_t last = (size_t)mel->window + mel->n_after;

    if (mel->reflects)
        return n / mel->hop + mel->keeps_last;
    if (n > SIZE_MAX - mel->front || n + mel->front < last)
        return 0;
    return (n + mel->front - last) / mel->hop + 1;
}

enum gg_status
media_mel_compute(const struct media_mel *mel, uint32_t n_mel,
                  const float *samples, size_t n, size_t padded, float **out,
                  struct gg_error *err)
{
    struct sound sound = { samples, (int64_t)n, (int64_t)padded };
    size_t n_frames = media_mel_frames(mel, padded), total;
    struct work w;
    float *values;

    if (n_mel == 0 || n_mel > MEDIA_MEL_MOST || n_frames == 0)
        return error_set(err, GG_ERR_ARG,
                         "a spectrogram of %zu frames of %u values each",
                         n_frames, n_mel);
    values = check_mul(n_mel, n_frames, &total)
                 ? mem_array(total, sizeof(*values))
                 : NULL;
    if (!init_work(&w, mel, n_mel) || !values) {
        clear_work(&w);
        mem_free(values);
        return error_nomem(err);
    }
    for (size_t t = 0; t < n_frames; t++) {
        find_bins(&w, &sound, t);
        for (uint32_t i = 0; i < n_mel; i++)
            values[i * n_frames + t] = (float)log_of_filter(&w, i);
    }
    clear_work(&w);
    if (mel->whisper)
        bound_range(values, total);
    *out = values;
    return GG_OK;
}
