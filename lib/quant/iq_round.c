/* iq_round.c - values to the nearest codebook entries
 *
 * Exact: the error of an entry is the sum of its halves' errors, of which there
 * are few. Entries with one upper half are looked at only if that half and the
 * best of all lower ones leave less than the best entry so far. */
#include "quant/fit.h"

#include <pthread.h>
#include <string.h>

#include "quant/fit_loops_table.h"
#include "quant/iq.h"

#define N_CODEBOOKS 6

static struct quant_codebook_index all_indices[N_CODEBOOKS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* Codebooks of eight coordinates have three levels, those of four have eight:
 * half an entry is two pairs of the ones, or a pair of the others. */
static int
number_of(const struct quant_codebook *codebook, int codes)
{
    if (codebook->size == 4)
        return codes;
    return (codes & 3) + 3 * (codes >> 2 & 3) +
           QUANT_HALF_ROW * ((codes >> 4 & 3) + 3 * (codes >> 6));
}

static void
fill(const struct quant_codebook *codebook, struct quant_codebook_index *h)
{
    int bits = codebook->size / 2 * codebook->bits, mask = (1 << bits) - 1,
        half = 0;

    h->codebook = codebook;
    h->size = codebook->size;
    for (int k = 0; k < (codebook->size == 8 ? 3 : 8); k++)
        h->levels[k] = (float)codebook->levels[k];
    for (int i = 0; i < codebook->n; i++) {
        int high = number_of(codebook, codebook->entries[i] >> bits);

        while (half < high)
            h->first[++half] = (uint16_t)i;
        h->low[i] = (uint8_t)number_of(codebook, codebook->entries[i] & mask);
    }
    while (half < QUANT_MOST_HALF_ENTRIES)
        h->first[++half] = (uint16_t)codebook->n;
    for (int i = 0; i < QUANT_MOST_HALF_ENTRIES; i++)
        h->none[i] = h->first[i] < h->first[i + 1] ? 0 : HUGE_VALF;
}

static void
fill_all(void)
{
    static const struct quant_codebook *const codebooks[N_CODEBOOKS] = {
        &quant_codebook_iq1,   &quant_codebook_iq2_xxs, &quant_codebook_iq2_xs,
        &quant_codebook_iq2_s, &quant_codebook_iq3_xxs, &quant_codebook_iq3_s,
    };

    for (int i = 0; i < N_CODEBOOKS; i++)
        fill(codebooks[i], &all_indices[i]);
}

const struct quant_codebook_index *
quant_codebook_index_of(const struct quant_codebook *codebook)
{
    int i = 0;

    pthread_once(&filled, fill_all);
    while (all_indices[i].codebook != codebook)
        i++;
    return &all_indices[i];
}

/* Eight values without their signs. */
struct vector {
    float x[8], w[8];
    uint8_t signs;
};

/* A number of negative values that is odd where it must not be is corrected at
 * the value where that costs least. */
static void
take_signs(const struct quant_shape *shape, struct quant_group of, int first,
           struct vector *v)
{
    float least = HUGE_VALF;
    int negative = 0, at = 0;

    v->signs = 0;
    for (int i = 0; i < 8; i++) {
        float x = of.x[first + i], cost = of.w[first + i] * x * x;

        v->w[i] = of.w[first + i];
        v->x[i] = fabsf(x);
        v->signs |= (uint8_t)((x < 0) << i);
        negative += x < 0;
        at = cost < least ? i : at;
        least = cost < least ? cost : least;
    }
    if (shape->even && negative % 2) {
        v->x[at] = -v->x[at];
        v->signs ^= (uint8_t)(1 << at);
    }
}

float
quant_round_to_codebook(const struct quant_shape *shape, struct quant_group of,
                        float d, int8_t *q)
{
    const struct quant_codebook_index *h =
        quant_codebook_index_of(shape->codebook);
    float error = 0;

    for (int j = 0; j < of.n; j += 8) {
        struct vector v;

        take_signs(shape, of, j, &v);
        for (int k = 0; k < 8; k += h->size) {
            int i =
                quant_fit_loops()->best_entry(h, v.x + k, v.w + k, d, &error);

            quant_put_entry(q + j + k, h->codebook->entries[i], h->codebook,
                            v.signs >> k);
        }
    }
    return error;
}

/* `n` values, all of which are moved by the same `shift`. */
static float
round_moved(const struct quant_codebook_index *h, int n, const float *x,
            const float *w, float d, int shift, int8_t *q)
{
    float error = 0;

    for (int j = 0; j < n; j += 8) {
        float moved[8];
        int entry;

        for (int i = 0; i < 8; i++)
            moved[i] = x[j + i] - d * (float)shift;
        entry = quant_fit_loops()->best_entry(h, moved, w + j, d, &error);
        quant_put_entry(q + j, h->codebook->entries[entry], h->codebook, 0);
        for (int i = 0; i < 8; i++)
            q[j + i] = (int8_t)(q[j + i] + shift);
    }
    return error;
}

float
quant_round_shifted(const struct quant_shape *shape, struct quant_group of,
                    float d, int8_t *q)
{
    const struct quant_codebook_index *h =
        quant_codebook_index_of(shape->codebook);
    float error = 0;

    for (int j = 0; j < of.n; j += shape->shifted) {
        int8_t other[32];
        int n = shape->shifted;
        float up = round_moved(h, n, of.x + j, of.w + j, d, 1, q + j);
        float down = round_moved(h, n, of.x + j, of.w + j, d, -1, other);

        if (down < up)
            memcpy(q + j, other, (size_t)n);
        error += down < up ? down : up;
    }
    return error;
}
