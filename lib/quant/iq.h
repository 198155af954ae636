/* iq.h - codebooks, as blocks of IQ types refer to them */
#ifndef QUANT_IQ_H
#define QUANT_IQ_H

#include <stdbool.h>
#include <stdint.h>

#include "quant/fit.h"

struct quant_codebook {
    const uint16_t *entries; /* as in iq_codebook.h */
    int n, size;             /* entries, coordinates of each */
    int bits, mask;          /* of a code in an entry */
    const int8_t *levels;    /* what the codes stand for, ascending */
    bool is_signed;          /* the levels are, so that there are no signs */
};

/* The codebooks; values of IQ1 are in eighths, not moved yet. */
extern const struct quant_codebook quant_codebook_iq1, quant_codebook_iq2_xxs,
    quant_codebook_iq2_xs, quant_codebook_iq2_s, quant_codebook_iq3_xxs,
    quant_codebook_iq3_s;

/* The coordinates of an entry, negative where a bit of `signs` is set. */
void
quant_put_entry(int8_t *q, uint16_t entry,
                const struct quant_codebook *codebook, int signs);

enum {
    QUANT_MOST_ENTRIES = 2048,
    QUANT_HALF_ROW = 16, /* numbers of halves with the same upper part */
    QUANT_MOST_HALF_ENTRIES = 9 * QUANT_HALF_ROW,
};

/* A codebook's entries, by the numbers of their halves. Entries with the same
 * upper half follow each other: first[half] to first[half + 1]. */
struct quant_codebook_index {
    const struct quant_codebook *codebook;
    int size;
    float levels[8];
    float
        none[QUANT_MOST_HALF_ENTRIES]; /* infinite where there are no entries */
    uint16_t first[QUANT_MOST_HALF_ENTRIES + 1];
    uint8_t low[QUANT_MOST_ENTRIES];
};

const struct quant_codebook_index *
quant_codebook_index_of(const struct quant_codebook *codebook);

/* For quant_shape.round: the best entry for each vector; the second with
 * entries that may be moved by one, up or down. */
float
quant_round_to_codebook(const struct quant_shape *shape, struct quant_group of,
                        float d, int8_t *q);
float
quant_round_shifted(const struct quant_shape *shape, struct quant_group of,
                    float d, int8_t *q);

#endif
