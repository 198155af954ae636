/* codebooks.h - the codebooks that IQ blocks refer to, entries as bytes
 *
 * From the lowest byte on the magnitudes of an entry's eight values, in IQ3 of
 * four, in IQ3_XXS, where all are even, half of these: its scales are twice as
 * large. In IQ1, whose values are -1, 0 and 1, moved up or down by an eighth,
 * what is moved up, in eighths and in excess of 9: 2, 10 and 18. See
 * quant/iq_codebook.h. */
#ifndef CPU_GEMM_CODEBOOKS_H
#define CPU_GEMM_CODEBOOKS_H

#include <stdint.h>

#include "quant/iq_codebook.h"

#define CPU_LEVEL_IQ3_XXS(code) (QUANT_LEVEL_IQ3_XXS(code) / 2)

extern const uint64_t cpu_iq2_xxs_codebook[256];
extern const uint64_t cpu_iq2_xs_codebook[512];
extern const uint64_t cpu_iq2_s_codebook[1024];
extern const uint64_t cpu_iq1_codebook[2048];
extern const uint32_t cpu_iq3_xxs_codebook[256];
extern const uint32_t cpu_iq3_s_codebook[512];

#endif
