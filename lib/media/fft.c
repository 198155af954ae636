/* fft.c - the discrete Fourier transform, by factors of its length */
#include <config.h>

#include "media/fft.h"

#include <math.h>

#include "core/mem.h"

static void
find_factors(struct media_fft *f, size_t n)
{
    size_t p = 2, i = 0;

    while (n > 1) {
        while (n % p)
            p = p * p > n ? n : p + 1;
        f->factor[i++] = p;
        n /= p;
    }
}

bool
media_fft_init(struct media_fft *f, size_t n)
{
    f->n = n;
    find_factors(f, n);
    f->root = mem_array(n, sizeof(*f->root));
    f->scratch = mem_array(n, sizeof(*f->scratch));
    if (!f->root || !f->scratch) {
        media_fft_clear(f);
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        double angle = 2 * M_PI * (double)k / (double)n;

        f->root[k] = (struct media_complex){ cos(angle), -sin(angle) };
    }
    return true;
}

void
media_fft_clear(struct media_fft *f)
{
    mem_free(f->root);
    mem_free(f->scratch);
    *f = (struct media_fft){ 0 };
}

static inline struct media_complex
multiplied(struct media_complex a, struct media_complex b)
{
    return (struct media_complex){ a.re * b.re - a.im * b.im,
                                   a.re * b.im + a.im * b.re };
}

/* Value k of every m from p transforms of m values each, of which there are
 * `stride` in all. */
static inline void
combine(struct media_fft *f, struct media_complex *out, size_t p, size_t m,
        size_t k, size_t stride)
{
    struct media_complex *part = f->scratch;

    part[0] = out[k];
    for (size_t r = 1; r < p; r++)
        part[r] = multiplied(out[r * m + k], f->root[r * k * stride]);
    for (size_t q = 0; q < p; q++) {
        struct media_complex sum = part[0];
        size_t at = 0, step = q * m * stride;

        for (size_t r = 1; r < p; r++) {
            struct media_complex term;

            at += step;
            at -= at >= f->n ? f->n : 0;
            term = multiplied(part[r], f->root[at]);
            sum.re += term.re;
            sum.im += term.im;
        }
        out[q * m + k] = sum;
    }
}

/* As combine(), of two transforms. */
static inline void
combine_two(struct media_fft *f, struct media_complex *out, size_t m, size_t k,
            size_t stride)
{
    struct media_complex a = out[k];
    struct media_complex b = multiplied(out[m + k], f->root[k * stride]);

    out[k] = (struct media_complex){ a.re + b.re, a.im + b.im };
    out[m + k] = (struct media_complex){ a.re - b.re, a.im - b.im };
}

/* n values of `in`, each `stride` after the one before: n * stride is f->n. */
static void
transform(struct media_fft *f, const struct media_complex *in, size_t stride,
          size_t n, const size_t *factor, struct media_complex *out)
{
    size_t p = n > 1 ? *factor : 1, m = n / p;

    for (size_t r = 0; r < p; r++)
        if (m > 1)
            transform(f, in + r * stride, stride * p, m, factor + 1,
                      out + r * m);
        else
            out[r] = in[r * stride];
    if (p == 2)
        for (size_t k = 0; k < m; k++)
            combine_two(f, out, m, k, stride);
    else if (p > 2)
        for (size_t k = 0; k < m; k++)
            combine(f, out, p, m, k, stride);
}

void
media_fft_run(struct media_fft *f, const struct media_complex *in,
              struct media_complex *out)
{
    transform(f, in, 1, f->n, f->factor, out);
}
