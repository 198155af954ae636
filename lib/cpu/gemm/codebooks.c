/* codebooks.c - the codebooks that IQ blocks refer to, entries as bytes */
#include "cpu/gemm/codebooks.h"

#include "quant/iq_codebook_tables.h"

/* Moved up, in eighths, in excess of 9. */
#define MOVED_UP(code) (8 * QUANT_LEVEL_IQ1(code) + 1 + 9)

#define EIGHTH(level, p, i) ((uint64_t)level((p) >> 2 * (i)&3) << 8 * (i))
#define EIGHTHS(level, p)                                                      \
    EIGHTH(level, p, 0) | EIGHTH(level, p, 1) | EIGHTH(level, p, 2) |          \
        EIGHTH(level, p, 3) | EIGHTH(level, p, 4) | EIGHTH(level, p, 5) |      \
        EIGHTH(level, p, 6) | EIGHTH(level, p, 7),
#define FOURTH(level, p, i) ((uint32_t)level((p) >> 3 * (i)&7) << 8 * (i))
#define FOURTHS(level, p)                                                      \
    FOURTH(level, p, 0) | FOURTH(level, p, 1) | FOURTH(level, p, 2) |          \
        FOURTH(level, p, 3),

#define IQ2(p)     EIGHTHS(QUANT_LEVEL_IQ2, p)
#define IQ1(p)     EIGHTHS(MOVED_UP, p)
#define IQ3_XXS(p) FOURTHS(CPU_LEVEL_IQ3_XXS, p)
#define IQ3_S(p)   FOURTHS(QUANT_LEVEL_IQ3_S, p)

const uint64_t cpu_iq2_xxs_codebook[256] = { QUANT_IQ2_XXS(IQ2) };
const uint64_t cpu_iq2_xs_codebook[512] = { QUANT_IQ2_XS(IQ2) };
const uint64_t cpu_iq2_s_codebook[1024] = { QUANT_IQ2_S(IQ2) };
const uint64_t cpu_iq1_codebook[2048] = { QUANT_IQ1(IQ1) };
const uint32_t cpu_iq3_xxs_codebook[256] = { QUANT_IQ3_XXS(IQ3_XXS) };
const uint32_t cpu_iq3_s_codebook[512] = { QUANT_IQ3_S(IQ3_S) };
