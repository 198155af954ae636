/* iq_codebook.c - the codebooks of the IQ types, as words */
#include "quant/iq_codebook.h"
#include "quant/iq_codebook_tables.h"

#define ENTRY(p) p,
#define CODEBOOK(name, n, entries)                                             \
    const uint16_t quant_##name##_entries[n] = { entries(ENTRY) };
QUANT_CODEBOOKS(CODEBOOK)
