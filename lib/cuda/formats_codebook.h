/* formats_codebook.h - unpacking of the IQ types: codebooks in device memory
 *
 * The rest of formats.h. The tables are those of quant/iq_codebook.c. */
#ifndef CUDA_FORMATS_CODEBOOK_H
#define CUDA_FORMATS_CODEBOOK_H

#include "quant/iq_codebook_tables.h"

#define ENTRY(p) p,
#define CODEBOOK(name, n, entries)                                             \
    CONSTANT uint16_t quant_##name##_entries[n] = { entries(ENTRY) };
QUANT_CODEBOOKS(CODEBOOK)
#undef CODEBOOK
#undef ENTRY

/* A codebook entry of eight 2-bit codes, levels 8, 25 and 43, with signs. */
DEVICE void
unpack_entry(uint32_t entry, uint32_t signs, uint32_t *codes)
{
    uint32_t which = cuda_spread_2bit_to_nibbles(entry);

    codes[0] =
        cuda_negate_where(cuda_permute_bytes(0x002b1908, 0, which), signs);
    codes[1] = cuda_negate_where(cuda_permute_bytes(0x002b1908, 0, which >> 16),
                                 signs >> 4);
}

struct format_iq2_xxs {
    FORMAT(iq2_xxs, QUANT_SUPER, 32, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t w[2];

        cuda_load_words<aligned, 2>(b + AT(iq2_xxs, qs) + 8 * n, w);
        u->scale[0] = cuda_load_f16(b) * (0.5f + (float)(w[1] >> 28)) * 0.25f;
        UNROLL for (int i = 0; i < 4; i++) unpack_entry(
            quant_iq2_xxs_entries[w[0] >> 8 * i & 255],
            cuda_parity_signs(w[1] >> 7 * i & 127), u->codes + 2 * i);
    }
};

/* Scales of two groups, in the nibbles of a byte. */
DEVICE void
nibble_scales(float d, uint32_t s, struct sub_block *u)
{
    u->scale[0] = d * (0.5f + (float)(s & 15)) * 0.25f;
    u->scale[1] = d * (0.5f + (float)(s >> 4)) * 0.25f;
}

struct format_iq2_xs {
    FORMAT(iq2_xs, QUANT_SUPER, 16, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        nibble_scales(cuda_load_f16(b),
                      cuda_load_u8(b + AT(iq2_xs, scales) + n), u);
        UNROLL for (int i = 0; i < 4; i++)
        {
            uint32_t q = cuda_load_u16(b + AT(iq2_xs, qs) + 8 * n + 2 * i);

            unpack_entry(quant_iq2_xs_entries[q & 511],
                         cuda_parity_signs(q >> 9), u->codes + 2 * i);
        }
    }
};

struct format_iq2_s {
    FORMAT(iq2_s, QUANT_SUPER, 16, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t q = cuda_load_word<aligned>(b + AT(iq2_s, qs) + 4 * n);
        uint32_t signs = cuda_load_word<aligned>(b + AT(iq2_s, signs) + 4 * n);
        uint32_t high = cuda_load_u8(b + AT(iq2_s, qh) + n);

        nibble_scales(cuda_load_f16(b), cuda_load_u8(b + AT(iq2_s, scales) + n),
                      u);
        UNROLL for (int i = 0; i < 4; i++) unpack_entry(
            quant_iq2_s_entries[(q >> 8 * i & 255) | (high >> 2 * i & 3) << 8],
            signs >> 8 * i & 255, u->codes + 2 * i);
    }
};

struct format_iq3_xxs {
    FORMAT(iq3_xxs, QUANT_SUPER, 32, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t q[2], word;

        cuda_load_words<aligned, 2>(b + AT(iq3_xxs, qs) + 8 * n, q);
        word = cuda_load_word<aligned>(b + AT(iq3_xxs, words) + 4 * n);
        u->scale[0] = cuda_load_f16(b) * (0.5f + (float)(word >> 28)) * 0.5f;
        UNROLL for (int i = 0; i < 8; i++)
        {
            uint32_t p = quant_iq3_xxs_entries[q[i / 4] >> i % 4 * 8 & 255];
            uint32_t signs = cuda_parity_signs(word >> i / 2 * 7 & 127);

            u->codes[i] = cuda_negate_where(
                cuda_permute_bytes(0x1c140c04, 0x3e342c24,
                                   cuda_spread_3bit_to_nibbles(p)),
                signs >> i % 2 * 4);
        }
    }
};

struct format_iq3_s {
    FORMAT(iq3_s, QUANT_SUPER, 32, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t q[2],
            signs = cuda_load_word<aligned>(b + AT(iq3_s, signs) + 4 * n);
        uint32_t high = cuda_load_u8(b + AT(iq3_s, qh) + n);
        uint32_t s = cuda_load_u8(b + AT(iq3_s, scales) + n / 2) >> n % 2 * 4;

        cuda_load_words<aligned, 2>(b + AT(iq3_s, qs) + 8 * n, q);
        u->scale[0] = cuda_load_f16(b) * (float)(1 + 2 * (s & 15));
        UNROLL for (int i = 0; i < 8; i++)
        {
            uint32_t p = quant_iq3_s_entries[(q[i / 4] >> i % 4 * 8 & 255) |
                                             (high >> i & 1) << 8];

            u->codes[i] = cuda_negate_where(
                cuda_permute_bytes(0x07050301, 0x0f0d0b09,
                                   cuda_spread_3bit_to_nibbles(p)),
                signs >> 4 * i);
        }
    }
};

/* A codebook entry of values -1, 0 and 1, shifted up or down by an eighth, in
 * eighths. */
DEVICE void
unpack_shifted(uint32_t entry, bool down, uint32_t *codes)
{
    uint32_t which = cuda_spread_2bit_to_nibbles(entry);
    uint32_t table = down ? 0x0007fff7u : 0x000901f9u;

    codes[0] = cuda_permute_bytes(table, 0, which);
    codes[1] = cuda_permute_bytes(table, 0, which >> 16);
}

struct format_iq1_s {
    FORMAT(iq1_s, QUANT_SUPER, 32, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t q = cuda_load_word<aligned>(b + AT(iq1_s, qs) + 4 * n);
        uint32_t high = cuda_load_u16(b + AT(iq1_s, qh) + 2 * n);

        u->scale[0] =
            cuda_load_f16(b) * (float)(2 * (high >> 12 & 7) + 1) * 0.125f;
        UNROLL for (int i = 0; i < 4; i++) unpack_shifted(
            quant_iq1_entries[(q >> 8 * i & 255) | (high >> 3 * i & 7) << 8],
            high >> 15, u->codes + 2 * i);
    }
};

struct format_iq1_m {
    FORMAT(iq1_m, QUANT_SUPER, 16, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t q = cuda_load_word<aligned>(b + AT(iq1_m, qs) + 4 * n);
        uint32_t high = cuda_load_u16(b + AT(iq1_m, qh) + 2 * n);
        uint32_t s[2], d, scale;

        cuda_load_words<aligned, 2>(b + AT(iq1_m, scales), s);
        d = (s[0] >> 12 & 15) | (s[0] >> 28) << 4 | (s[1] >> 12 & 15) << 8 |
            (s[1] >> 28) << 12;
        scale = s[n / 4] >> n / 2 % 2 * 16 >> n % 2 * 6;
        UNROLL for (int g = 0; g < 2; g++) u->scale[g] =
            cuda_from_f16((uint16_t)d) * (float)(2 * (scale >> 3 * g & 7) + 1) *
            0.125f;
        UNROLL for (int i = 0; i < 4; i++) unpack_shifted(
            quant_iq1_entries[(q >> 8 * i & 255) | (high >> 4 * i & 7) << 8],
            high >> 4 * i >> 3 & 1, u->codes + 2 * i);
    }
};

#endif
