/* fft.h - the discrete Fourier transform, in double precision */
#ifndef MEDIA_FFT_H
#define MEDIA_FFT_H

#include <stdbool.h>
#include <stddef.h>

struct media_complex {
    double re, im;
};

/* A transform of n values; any n will do, small factors are fast. */
struct media_fft {
    size_t n;
    size_t factor[64];             /* of n, the smallest first */
    struct media_complex *root;    /* exp(-2 pi i k / n) */
    struct media_complex *scratch; /* n */
};

/* False: no memory. */
bool
media_fft_init(struct media_fft *f, size_t n);
void
media_fft_clear(struct media_fft *f);

/* out[k] = sum of in[j] exp(-2 pi i j k / n); they do not overlap. */
void
media_fft_run(struct media_fft *f, const struct media_complex *in,
              struct media_complex *out);

#endif
