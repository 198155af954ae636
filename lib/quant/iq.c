/* iq.c - unpacking the IQ types: blocks of codebook entries */
#include "quant/format.h"

#include <string.h>

#include "core/half.h"
#include "quant/blocks.h"
#include "quant/iq.h"
#include "quant/iq_codebook.h"

static void
begin_values(struct quant_values *v, int group)
{
    v->n = QUANT_SUPER;
    v->group = group;
    memset(v->min, 0, sizeof(v->min));
    memset(v->min_code, 0, sizeof(v->min_code));
}

/* Seven signs, and an eighth that makes their number even. */
static int
even_signs(int seven)
{
    int parity = seven ^ seven >> 4;

    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return seven | (parity & 1) << 7;
}

void
quant_put_entry(int8_t *q, uint16_t entry,
                const struct quant_codebook *codebook, int signs)
{
    for (int i = 0; i < codebook->size; i++) {
        int8_t level =
            codebook->levels[entry >> (i * codebook->bits) & codebook->mask];

        q[i] = (int8_t)(signs >> i & 1 ? -level : level);
    }
}

static const int8_t levels_1[] = { -8, 0, 8 };
static const int8_t levels_2[] = { 8, 25, 43 };
static const int8_t levels_3_xxs[] = { 4, 12, 20, 28, 36, 44, 52, 62 };
static const int8_t levels_3_s[] = { 1, 3, 5, 7, 9, 11, 13, 15 };

const struct quant_codebook quant_codebook_iq1 = {
    quant_iq1_entries, 2048, 8, 2, 3, levels_1, true
};
const struct quant_codebook quant_codebook_iq2_xxs = {
    quant_iq2_xxs_entries, 256, 8, 2, 3, levels_2, false
};
const struct quant_codebook quant_codebook_iq2_xs = {
    quant_iq2_xs_entries, 512, 8, 2, 3, levels_2, false
};
const struct quant_codebook quant_codebook_iq2_s = {
    quant_iq2_s_entries, 1024, 8, 2, 3, levels_2, false
};
const struct quant_codebook quant_codebook_iq3_xxs = {
    quant_iq3_xxs_entries, 256, 4, 3, 7, levels_3_xxs, false
};
const struct quant_codebook quant_codebook_iq3_s = {
    quant_iq3_s_entries, 512, 4, 3, 7, levels_3_s, false
};

void
quant_unpack_iq2_xxs(const void *block, struct quant_values *v)
{
    const struct block_iq2_xxs *b = block;
    float d = half_to_float(b->d);

    begin_values(v, 32);
    for (int g = 0; g < 8; g++) {
        const uint16_t *p = b->qs + 4 * g;
        uint32_t word = p[2] | (uint32_t)p[3] << 16;

        v->scale[g] = d * (0.5f + (float)(word >> 28)) * 0.25f;
        for (int i = 0; i < 4; i++)
            quant_put_entry(
                v->q + 32 * g + 8 * i,
                quant_iq2_xxs_entries[p[i / 2] >> (i % 2 * 8) & 255],
                &quant_codebook_iq2_xxs,
                even_signs((int)(word >> (7 * i) & 127)));
    }
}

QUANT_DEQUANTIZE(iq2_xxs)

/* Group g has (2 * code + 1) / 8 times d: exactly. */
static void
put_scale(struct quant_values *v, int g, float d, int code)
{
    v->scale_code[g] = (int8_t)(2 * code + 1);
    v->d = d * 0.125f;
    v->scale[g] = (float)v->scale_code[g] * v->d;
}

/* Scales of groups of 16, in nibbles. */
static void
nibble_scales(struct quant_values *v, float d, const uint8_t *scales)
{
    for (int g = 0; g < 16; g++)
        put_scale(v, g, d, scales[g / 2] >> (g % 2 * 4) & 15);
}

void
quant_unpack_iq2_xs(const void *block, struct quant_values *v)
{
    const struct block_iq2_xs *b = block;

    begin_values(v, 16);
    nibble_scales(v, half_to_float(b->d), b->scales);
    for (int i = 0; i < 32; i++)
        quant_put_entry(v->q + 8 * i, quant_iq2_xs_entries[b->qs[i] & 511],
                        &quant_codebook_iq2_xs, even_signs(b->qs[i] >> 9));
}

QUANT_DEQUANTIZE(iq2_xs)

void
quant_unpack_iq2_s(const void *block, struct quant_values *v)
{
    const struct block_iq2_s *b = block;

    begin_values(v, 16);
    nibble_scales(v, half_to_float(b->d), b->scales);
    for (int i = 0; i < 32; i++) {
        int high = b->qh[i / 4] >> (i % 4 * 2) & 3;

        quant_put_entry(v->q + 8 * i, quant_iq2_s_entries[b->qs[i] | high << 8],
                        &quant_codebook_iq2_s, b->signs[i]);
    }
}

QUANT_DEQUANTIZE(iq2_s)

void
quant_unpack_iq3_xxs(const void *block, struct quant_values *v)
{
    const struct block_iq3_xxs *b = block;
    float d = half_to_float(b->d);

    begin_values(v, 32);
    for (int g = 0; g < 8; g++) {
        const uint8_t *p = b->words + 4 * g;
        uint32_t word = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                        (uint32_t)p[3] << 24;

        v->scale[g] = d * (0.5f + (float)(word >> 28)) * 0.5f;
        for (int i = 0; i < 8; i++) {
            int signs = even_signs((int)(word >> (i / 2 * 7) & 127));

            quant_put_entry(v->q + 32 * g + 4 * i,
                            quant_iq3_xxs_entries[b->qs[8 * g + i]],
                            &quant_codebook_iq3_xxs, signs >> (i % 2 * 4));
        }
    }
}

QUANT_DEQUANTIZE(iq3_xxs)

void
quant_unpack_iq3_s(const void *block, struct quant_values *v)
{
    const struct block_iq3_s *b = block;
    float d = half_to_float(b->d);

    begin_values(v, 32);
    for (int g = 0; g < 8; g++) {
        int scale = b->scales[g / 2] >> (g % 2 * 4) & 15;

        v->scale[g] = d * (float)(1 + 2 * scale);
    }
    for (int i = 0; i < 64; i++) {
        int high = b->qh[i / 8] >> (i % 8) & 1;

        quant_put_entry(v->q + 4 * i, quant_iq3_s_entries[b->qs[i] | high << 8],
                        &quant_codebook_iq3_s, b->signs[i / 2] >> (i % 2 * 4));
    }
}

QUANT_DEQUANTIZE(iq3_s)

/* Coordinates -1, 0 and 1, moved up or down by an eighth, in eighths. */
static void
put_shifted(int8_t *q, uint16_t entry, bool down)
{
    for (int i = 0; i < 8; i++)
        q[i] = (int8_t)(8 * ((entry >> (2 * i) & 3) - 1) + (down ? -1 : 1));
}

void
quant_unpack_iq1_s(const void *block, struct quant_values *v)
{
    const struct block_iq1_s *b = block;
    float d = half_to_float(b->d);

    begin_values(v, 32);
    for (int g = 0; g < 8; g++) {
        v->scale[g] = d * (float)(2 * (b->qh[g] >> 12 & 7) + 1) * 0.125f;
        for (int i = 0; i < 4; i++) {
            int high = b->qh[g] >> (3 * i) & 7;

            put_shifted(v->q + 32 * g + 8 * i,
                        quant_iq1_entries[b->qs[4 * g + i] | high << 8],
                        b->qh[g] >> 15);
        }
    }
}

QUANT_DEQUANTIZE(iq1_s)

static uint16_t
iq1_m_word(const struct block_iq1_m *b, int i)
{
    return (uint16_t)(b->scales[2 * i] | b->scales[2 * i + 1] << 8);
}

static uint16_t
iq1_m_scale(const struct block_iq1_m *b)
{
    unsigned d = 0;

    for (int i = 0; i < 4; i++)
        d |= (unsigned)(iq1_m_word(b, i) >> 12) << (4 * i);
    return (uint16_t)d;
}

void
quant_unpack_iq1_m(const void *block, struct quant_values *v)
{
    const struct block_iq1_m *b = block;
    float d = half_to_float(iq1_m_scale(b));

    begin_values(v, 16);
    for (int g = 0; g < 16; g++)
        put_scale(v, g, d, iq1_m_word(b, g / 4) >> (g % 4 * 3) & 7);
    for (int i = 0; i < 32; i++) {
        int high = b->qh[i / 2] >> (i % 2 * 4);

        put_shifted(v->q + 8 * i, quant_iq1_entries[b->qs[i] | (high & 7) << 8],
                    high >> 3 & 1);
    }
}

QUANT_DEQUANTIZE(iq1_m)

bool
quant_sound_iq1_m(const void *block)
{
    return (iq1_m_scale(block) & 0x7c00) != 0x7c00;
}
