/* fft.c - the discrete Fourier transform, by factors of its length */
#include <config.h>

#include "media/fft.h"

#include <math.h>

#include "core/mem.h"

bool
media_fft_init(struct media_fft *f, size_t n)
{
    f->n = n;
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

static size_t
smallest_factor(size_t n)
{
    for (size_t p = 2; p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

/* Value k of every m from p transforms of m values each. */
static void
combine(struct media_fft *f, struct media_complex *out, size_t p, size_t m,
        size_t k)
{
    struct media_complex *part = f->scratch;
    size_t step = f->n / (p * m);

    for (size_t r = 0; r < p; r++)
        part[r] = multiplied(out[r * m + k], f->root[r * k * step]);
    for (size_t q = 0; q < p; q++) {
        struct media_complex sum = part[0];
        size_t at = 0;

        for (size_t r = 1; r < p; r++) {
            struct media_complex term;

            at += q * m * step;
            at -= at >= f->n ? f->n : 0;
            term = multiplied(part[r], f->root[at]);
            sum.re += term.re;
            sum.im += term.im;
        }
        out[q * m + k] = sum;
    }
}

/* n values of `in`, each `stride` after the one before. The depth is that of
 * the factors of n, 64 at most. */
static void
transform(struct media_fft *f, const struct media_complex *in, size_t stride,
          size_t n, struct media_complex *out)
{
    size_t p, m;

    if (n == 1) {
        out[0] = in[0];
        return;
    }
    p = smallest_factor(n);
    m = n / p;
    for (size_t r = 0; r < p; r++)
        transform(f, in + r * stride, stride * p, m, out + r * m);
    for (size_t k = 0; k < m; k++)
        combine(f, out, p, m, k);
}

void
media_fft_run(struct media_fft *f, const struct media_complex *in,
              struct media_complex *out)
{
    transform(f, in, 1, f->n, out);
}
