/* iq_codebook.h - the codebooks of the IQ types
 *
 * A word is an entry: from the lowest bits on, eight codes of two bits, or, in
 * the tables of IQ3, four codes of three bits. What a code stands for:
 *
 *     iq2_xxs, iq2_xs, iq2_s   8, 25, 43
 *     iq1                      -1, 0, 1
 *     iq3_xxs                  4, 12, 20, 28, 36, 44, 52, 62
 *     iq3_s                    1, 3, 5, 7, 9, 11, 13, 15 */
#ifndef QUANT_IQ_CODEBOOK_H
#define QUANT_IQ_CODEBOOK_H

#include <stdint.h>

#define QUANT_LEVEL_IQ2(code)     (8 + 17 * (code) + ((code) >> 1))
#define QUANT_LEVEL_IQ1(code)     ((code)-1)
#define QUANT_LEVEL_IQ3_XXS(code) (4 + 8 * (code) + ((code) == 7) * 2)
#define QUANT_LEVEL_IQ3_S(code)   (1 + 2 * (code))

extern const uint16_t quant_iq2_xxs_entries[256];
extern const uint16_t quant_iq2_xs_entries[512];
extern const uint16_t quant_iq2_s_entries[1024];
extern const uint16_t quant_iq1_entries[2048];
extern const uint16_t quant_iq3_xxs_entries[256];
extern const uint16_t quant_iq3_s_entries[512];

#endif
