/* test_mel.c - log-mel spectrograms, against the formula in double precision
 *
 * The formula here is the plain sum over all samples of a window. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "harness/tap.h"
#include "media/fft.h"
#include "media/mel.h"

enum {
    SAMPLES = 3000,
};

static float *
make_sound(void)
{
    float *samples = mem_array(SAMPLES, sizeof(*samples));
    uint32_t state = 1;

    if (!samples)
        abort();
    for (int i = 0; i < SAMPLES; i++) {
        state = state * 1664525 + 1013904223;
        samples[i] =
            (float)(0.3 * sin(i * 0.05) + ((state >> 16) / 65536.0 - 0.5) / 4);
    }
    return samples;
}

static double
mel_to_hertz(const struct media_mel *mel, double m)
{
    if (!mel->slaney)
        return 700 * (pow(10, m / 2595) - 1);
    return m < 15 ? m * 200 / 3 : 1000 * exp((m - 15) * log(6.4) / 27);
}

static double
triangle(const struct media_mel *mel, uint32_t n_mel, uint32_t i, double f)
{
    double top = mel->slaney ? 15 + log(8.0) * 27 / log(6.4)
                             : 2595 * log10(1 + 8000.0 / 700);
    double low = mel_to_hertz(mel, top * i / (n_mel + 1));
    double middle = mel_to_hertz(mel, top * (i + 1) / (n_mel + 1));
    double high = mel_to_hertz(mel, top * (i + 2) / (n_mel + 1));
    double height = mel->slaney ? 2 / (high - low) : 1;

    if (f <= low || f >= high)
        return 0;
    return height * (f < middle ? (f - low) / (middle - low)
                                : (high - f) / (high - middle));
}

static double
sample_of(const struct media_mel *mel, const float *s, long n, long at)
{
    if (mel->reflects && at < 0)
        at = -at;
    if (mel->reflects && at >= n)
        at = 2 * (n - 1) - at;
    return at >= 0 && at < n ? (double)s[at] : 0;
}

/* Magnitude of a bin of a frame. */
static double
bin_of(const struct media_mel *mel, const float *s, long frame, uint32_t k)
{
    double re = 0, im = 0;

    for (uint32_t i = 0; i < mel->window; i++) {
        double x =
            sample_of(mel, s, SAMPLES,
                      frame * (long)mel->hop + (long)i - (long)mel->front);
        double w = 0.5 - 0.5 * cos(2 * M_PI * i / mel->window);
        double angle =
            2 * M_PI * (double)((uint64_t)i * k % mel->n_fft) / mel->n_fft;

        re += w * x * cos(angle);
        im += w * x * sin(angle);
    }
    return sqrt(re * re + im * im);
}

static void
compute_frame(const struct media_mel *mel, uint32_t n_mel, const float *s,
              long frame, double *out)
{
    for (uint32_t i = 0; i < n_mel; i++)
        out[i] = 0;
    for (uint32_t k = 0; k <= mel->n_fft / 2; k++) {
        double f = 16000.0 * k / mel->n_fft, bin = bin_of(mel, s, frame, k);

        for (uint32_t i = 0; i < n_mel; i++)
            out[i] +=
                triangle(mel, n_mel, i, f) * (mel->magnitude ? bin : bin * bin);
    }
    for (uint32_t i = 0; i < n_mel; i++) {
        double x =
            mel->adds_floor ? out[i] + mel->floor : fmax(out[i], mel->floor);

        out[i] = mel->whisper ? log10(x) : log(x);
    }
}

/* The error relative to the values, as sums of squares. */
static double
compare(const struct media_mel *mel, uint32_t n_mel, const float *got, size_t n,
        const float *s)
{
    double *want = mem_array(n * n_mel, sizeof(*want));
    double most = -INFINITY, error = 0, all = 0;

    if (!want)
        abort();
    for (size_t t = 0; t < n; t++)
        compute_frame(mel, n_mel, s, (long)t, want + t * n_mel);
    for (size_t i = 0; i < n * n_mel; i++)
        most = fmax(most, want[i]);
    for (size_t t = 0; t < n; t++)
        for (uint32_t i = 0; i < n_mel; i++) {
            double x = want[t * n_mel + i], difference;

            if (mel->whisper)
                x = (fmax(x, most - 8) + 4) / 4;
            difference = (double)got[i * n + t] - x;
            error += difference * difference;
            all += x * x;
        }
    mem_free(want);
    return error / all;
}

static void
check_kind(const struct media_mel *mel, uint32_t n_mel, size_t n_frames,
           const char *name)
{
    float *samples = make_sound(), *got;
    size_t n = media_mel_frames(mel, SAMPLES);
    struct gg_error err;

    is(n, n_frames, name);
    if (media_mel_compute(mel, n_mel, samples, SAMPLES, SAMPLES, &got, &err) !=
        GG_OK)
        abort();
    ok(compare(mel, n_mel, got, n, samples) < 1e-12, name);
    mem_free(got);
    mem_free(samples);
}

/* Zeros that follow are as if they were samples. */
static void
check_padding(void)
{
    static float samples[9600];
    float *sound = make_sound(), *padded, *whole;
    struct gg_error err;
    int differs = 0;

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = sound[i];
    if (media_mel_compute(&media_mel_whisper, 80, sound, SAMPLES, 9600, &padded,
                          &err) != GG_OK ||
        media_mel_compute(&media_mel_whisper, 80, samples, 9600, 9600, &whole,
                          &err) != GG_OK)
        abort();
    for (int i = 0; i < 80 * 60; i++)
        differs += padded[i] != whole[i];
    is(differs, 0, "zeros after the sound");
    mem_free(padded);
    mem_free(whole);
    mem_free(sound);
}

static void
check_refusals(void)
{
    struct gg_error err;
    float one = 1, *out;

    is(media_mel_compute(&media_mel_whisper, 80, &one, 1, 159, &out, &err),
       GG_ERR_ARG, "shorter than a frame");
    is(media_mel_compute(&media_mel_whisper, 0, &one, 1, 1600, &out, &err),
       GG_ERR_ARG, "no values");
    is(media_mel_compute(&media_mel_whisper, 1025, &one, 1, 1600, &out, &err),
       GG_ERR_ARG, "too many values");
    is(media_mel_frames(&media_mel_gemma4, 0), 0, "no samples, no frames");
    is(media_mel_frames(&media_mel_gemma4, 160), 0, "a sample too few");
    is(media_mel_frames(&media_mel_gemma4, 161), 1, "just enough");
}

/* The error of a transform, relative to its values. */
static double
error_of_fft(size_t n)
{
    struct media_complex in[100], out[100];
    struct media_fft f = { 0 };
    double error = 0, all = 0;

    if (!media_fft_init(&f, n))
        abort();
    for (size_t i = 0; i < n; i++)
        in[i] = (struct media_complex){ sin((double)(i * i)), cos(3.0 * i) };
    media_fft_run(&f, in, out);
    for (size_t k = 0; k < n; k++) {
        double re = -out[k].re, im = -out[k].im;

        for (size_t i = 0; i < n; i++) {
            double angle = -2 * M_PI * (double)(i * k % n) / (double)n;

            re += in[i].re * cos(angle) - in[i].im * sin(angle);
            im += in[i].re * sin(angle) + in[i].im * cos(angle);
        }
        error += re * re + im * im;
        all += out[k].re * out[k].re + out[k].im * out[k].im;
    }
    media_fft_clear(&f);
    return error / all;
}

static void
check_lengths(void)
{
    int wrong = 0;

    for (size_t n = 1; n <= 100; n++)
        wrong += !(error_of_fft(n) < 1e-24);
    is(wrong, 0, "transforms of all lengths to 100");
}

/* Each allocation fails in turn. */
static void
check_memory(void)
{
    float *samples = make_sound(), *out;
    struct gg_error err;
    enum gg_status st = GG_ERR_NOMEM;
    int n;

    out = NULL;

    for (n = 0; st == GG_ERR_NOMEM && n < 100; n++) {
        mem_fail_after(n);
        st = media_mel_compute(&media_mel_whisper, 80, samples, SAMPLES,
                               SAMPLES, &out, &err);
        mem_fail_after(-1);
    }
    ok(st == GG_OK && n > 9, "without memory");
    mem_free(out);
    mem_free(samples);
}

int
main(void)
{
    struct media_mel adding = media_mel_gemma4;

    adding.adds_floor = true;
    check_kind(&media_mel_whisper, 80, 18, "Whisper, 80 values");
    check_kind(&media_mel_whisper, 128, 18, "Whisper, 128 values");
    check_kind(&media_mel_gemma4, 128, 18, "Gemma 4");
    check_kind(&adding, 128, 18, "a floor that is added");
    check_padding();
    check_lengths();
    check_memory();
    check_refusals();
    return tap_done();
}
