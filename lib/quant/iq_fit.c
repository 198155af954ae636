/* iq_fit.c - quantising to the IQ types: blocks of codebook entries */
#include "quant/format.h"

#include <stdlib.h>
#include <string.h>

#include "quant/blocks.h"
#include "quant/fit.h"
#include "quant/iq.h"

/* The number in the codebook of the entry q. */
static int
index_of(const struct quant_codebook *codebook, const int8_t *q)
{
    int entry = 0, first = 0, end = codebook->n;

    for (int i = 0; i < codebook->size; i++) {
        int code = 0;

        while (codebook->levels[code] !=
               (codebook->is_signed ? q[i] : abs(q[i])))
            code++;
        entry |= code << (i * codebook->bits);
    }
    while (end - first > 1) {
        int middle = (first + end) / 2;

        if (codebook->entries[middle] <= entry)
            first = middle;
        else
            end = middle;
    }
    return first;
}

static int
signs_of(const int8_t *q)
{
    int signs = 0;

    for (int i = 0; i < 8; i++)
        signs |= (q[i] < 0) << i;
    return signs;
}

static void
pack_iq2_xxs(const struct quant_super *s, struct block_iq2_xxs *b)
{
    b->d = s->d;
    for (int g = 0; g < 8; g++) {
        uint32_t word = (uint32_t)(s->scale[g] / 2) << 28;
        uint16_t *to = b->qs + 4 * g;

        for (int i = 0; i < 4; i++) {
            const int8_t *q = s->q + 32 * g + 8 * i;
            int index = index_of(&quant_codebook_iq2_xxs, q);

            to[i / 2] |= (uint16_t)(index << (i % 2 * 8));
            word |= (uint32_t)(signs_of(q) & 127) << (7 * i);
        }
        to[2] = (uint16_t)word;
        to[3] = (uint16_t)(word >> 16);
    }
}

static void
put_nibble_scales(const struct quant_super *s, int n, uint8_t *scales)
{
    for (int g = 0; g < n; g++)
        scales[g / 2] |= (uint8_t)(s->scale[g] / 2 << (g % 2 * 4));
}

static void
pack_iq2_xs(const struct quant_super *s, struct block_iq2_xs *b)
{
    b->d = s->d;
    put_nibble_scales(s, 16, b->scales);
    for (int i = 0; i < 32; i++) {
        const int8_t *q = s->q + 8 * i;
        int index = index_of(&quant_codebook_iq2_xs, q);

        b->qs[i] = (uint16_t)(index | (signs_of(q) & 127) << 9);
    }
}

static void
pack_iq2_s(const struct quant_super *s, struct block_iq2_s *b)
{
    b->d = s->d;
    put_nibble_scales(s, 16, b->scales);
    for (int i = 0; i < 32; i++) {
        int index = index_of(&quant_codebook_iq2_s, s->q + 8 * i);

        b->qs[i] = (uint8_t)index;
        b->qh[i / 4] |= (uint8_t)(index >> 8 << (i % 4 * 2));
        b->signs[i] = (uint8_t)signs_of(s->q + 8 * i);
    }
}

static void
pack_iq3_s(const struct quant_super *s, struct block_iq3_s *b)
{
    b->d = s->d;
    put_nibble_scales(s, 8, b->scales);
    for (int i = 0; i < 64; i++) {
        int index = index_of(&quant_codebook_iq3_s, s->q + 4 * i);

        b->qs[i] = (uint8_t)index;
        b->qh[i / 8] |= (uint8_t)(index >> 8 << (i % 8));
    }
    for (int i = 0; i < 32; i++)
        b->signs[i] = (uint8_t)signs_of(s->q + 8 * i);
}

static void
pack_iq3_xxs(const struct quant_super *s, struct block_iq3_xxs *b)
{
    b->d = s->d;
    for (int i = 0; i < 64; i++)
        b->qs[i] = (uint8_t)index_of(&quant_codebook_iq3_xxs, s->q + 4 * i);
    for (int g = 0; g < 8; g++) {
        uint32_t word = (uint32_t)(s->scale[g] / 2) << 28;

        for (int i = 0; i < 4; i++)
            word |= (uint32_t)(signs_of(s->q + 32 * g + 8 * i) & 127)
                    << (7 * i);
        for (int i = 0; i < 4; i++)
            b->words[4 * g + i] = (uint8_t)(word >> (8 * i));
    }
}

/* Coordinates of IQ1 are 8, 0 or -8, and one more or one less. */
static bool
is_down(int8_t q)
{
    return (q & 7) == 7;
}

static int
shifted_index_of(const int8_t *q)
{
    int8_t entry[8];

    for (int i = 0; i < 8; i++)
        entry[i] = (int8_t)(q[i] + (is_down(q[i]) ? 1 : -1));
    return index_of(&quant_codebook_iq1, entry);
}

static void
pack_iq1_s(const struct quant_super *s, struct block_iq1_s *b)
{
    b->d = s->d;
    for (int g = 0; g < 8; g++) {
        b->qh[g] =
            (uint16_t)(s->scale[g] / 2 << 12 | is_down(s->q[32 * g]) << 15);
        for (int i = 0; i < 4; i++) {
            int index = shifted_index_of(s->q + 32 * g + 8 * i);

            b->qs[4 * g + i] = (uint8_t)index;
            b->qh[g] |= (uint16_t)(index >> 8 << (3 * i));
        }
    }
}

static void
pack_iq1_m(const struct quant_super *s, struct block_iq1_m *b)
{
    uint16_t words[4];

    for (int i = 0; i < 4; i++) {
        words[i] = (uint16_t)((s->d >> (4 * i) & 15) << 12);
        for (int k = 0; k < 4; k++)
            words[i] |= (uint16_t)(s->scale[4 * i + k] / 2 << (3 * k));
        b->scales[2 * i] = (uint8_t)words[i];
        b->scales[2 * i + 1] = (uint8_t)(words[i] >> 8);
    }
    for (int i = 0; i < 32; i++) {
        const int8_t *q = s->q + 8 * i;
        int index = shifted_index_of(q);

        b->qs[i] = (uint8_t)index;
        b->qh[i / 2] |=
            (uint8_t)((index >> 8 | is_down(*q) << 3) << (i % 2 * 4));
    }
}

/* Scales are odd: 2 * scale + 1. */
static const int8_t odd[16] = { 1,  3,  5,  7,  9,  11, 13, 15,
                                17, 19, 21, 23, 25, 27, 29, 31 };
#define ODD                                                                    \
    {                                                                          \
        .lo = 1, .hi = 31, .levels = odd, .n = 16                              \
    }

/* The levels of a value, if each is looked at by itself. */
static const int8_t signed_1[] = { -8, 0, 8 };
static const int8_t signed_2[] = { -43, -25, -8, 8, 25, 43 };
static const int8_t signed_3_s[] = { -15, -13, -11, -9, -7, -5, -3, -1,
                                     1,   3,   5,   7,  9,  11, 13, 15 };
static const int8_t signed_3_xxs[] = { -62, -52, -44, -36, -28, -20, -12, -4,
                                       4,   12,  20,  28,  36,  44,  52,  62 };

static const struct quant_shape shape_iq1_s = {
    .group = 32,
    .codes = { .lo = -8, .hi = 8, .levels = signed_1, .n = 3 },
    .scales = { .lo = 1, .hi = 15, .levels = odd, .n = 8 },
    .round = quant_round_shifted,
    .codebook = &quant_codebook_iq1,
    .shifted = 32
};
static const struct quant_shape shape_iq1_m = {
    .group = 16,
    .codes = { .lo = -8, .hi = 8, .levels = signed_1, .n = 3 },
    .scales = { .lo = 1, .hi = 15, .levels = odd, .n = 8 },
    .round = quant_round_shifted,
    .codebook = &quant_codebook_iq1,
    .shifted = 8
};
static const struct quant_shape shape_iq2_xxs = {
    .group = 32,
    .codes = { .lo = -43, .hi = 43, .levels = signed_2, .n = 6 },
    .scales = ODD,
    .round = quant_round_to_codebook,
    .codebook = &quant_codebook_iq2_xxs,
    .even = true
};
static const struct quant_shape shape_iq2_xs = {
    .group = 16,
    .codes = { .lo = -43, .hi = 43, .levels = signed_2, .n = 6 },
    .scales = ODD,
    .round = quant_round_to_codebook,
    .codebook = &quant_codebook_iq2_xs,
    .even = true
};
static const struct quant_shape shape_iq2_s = {
    .group = 16,
    .codes = { .lo = -43, .hi = 43, .levels = signed_2, .n = 6 },
    .scales = ODD,
    .round = quant_round_to_codebook,
    .codebook = &quant_codebook_iq2_s
};
static const struct quant_shape shape_iq3_s = {
    .group = 32,
    .codes = { .lo = -15, .hi = 15, .levels = signed_3_s, .n = 16 },
    .scales = ODD,
    .round = quant_round_to_codebook,
    .codebook = &quant_codebook_iq3_s
};
static const struct quant_shape shape_iq3_xxs = {
    .group = 32,
    .codes = { .lo = -62, .hi = 62, .levels = signed_3_xxs, .n = 16 },
    .scales = ODD,
    .round = quant_round_to_codebook,
    .codebook = &quant_codebook_iq3_xxs,
    .even = true
};

/* Blocks of the rows; a file's d stands for `unit` times the d of a fit. */
#define WEIGH(name, unit)                                                      \
    void quant_weigh_##name(const float *x, void *y, int64_t n,                \
                            const float *w)                                    \
    {                                                                          \
        struct block_##name *b = y;                                            \
        struct quant_super s;                                                  \
        float in[QUANT_SUPER];                                                 \
        for (int64_t i = 0; i < n; i += QUANT_SUPER, b++) {                    \
            for (int j = 0; j < QUANT_SUPER; j++)                              \
                in[j] = x[i + j] * (unit);                                     \
            quant_fit_super(&shape_##name, in, w ? w + i : NULL, &s);          \
            memset(b, 0, sizeof(*b));                                          \
            pack_##name(&s, b);                                                \
        }                                                                      \
    }
#define QUANTIZE(name, unit)                                                   \
    WEIGH(name, unit)                                                          \
    void quant_##name(const float *x, void *y, int64_t n)                      \
    {                                                                          \
        quant_weigh_##name(x, y, n, NULL);                                     \
    }
WEIGH(iq1_s, 8)
WEIGH(iq1_m, 8)
WEIGH(iq2_xxs, 8)
WEIGH(iq2_xs, 8)
QUANTIZE(iq2_s, 8)
QUANTIZE(iq3_s, 1)
QUANTIZE(iq3_xxs, 4)
