/* fit_loops_table.h - the loops of fits: one table a set of instructions */
#ifndef QUANT_FIT_LOOPS_TABLE_H
#define QUANT_FIT_LOOPS_TABLE_H

#include "quant/fit.h"

struct quant_codebook_index;

/* Sums over a group from which the best d for given q, and what it leaves,
 * follow: error = sum w x^2 - xq^2 / qq. */
struct fit_sums {
    double xq, qq;
};

/* Weighted sums over a group: of x, q, their squares and their product. */
struct fit_moments {
    double one, x, xx, q, qq, xq;
};

/* The sums of eight lines. */
struct fit_lines {
    float q[8], qq[8], xq[8];
};

/* Eight groups of n values: value j of group g is x[8 * j + g]. */
struct fit_groups8 {
    int n;
    const float *x, *w;
};

enum {
    FIT_GROUPS8 = 8 * 32, /* values, at most */
    QUANT_FIT_ROUNDS = 3, /* of improving the best start */
};

/* Where a fit starts, in steps beyond the last code for the extreme. */
extern const float quant_fit_starts[8];

/* Lengths are multiples of 8. */
struct quant_fit_loops {
    float (*extreme)(int n, const float *x); /* quant_extreme() */
    void (*range)(int n, const float *x, struct quant_range *r);
    /* quant_cut() */
    void (*cut)(int n, const float *x, float m, float inverse, float add,
                float hi, int8_t *q);
    /* Scales n values so that their extreme is 127, and rounds them, halves
     * away from zero. Returns the scale, which is NaN if a value is. */
    float (*round_bytes)(int n, const float *x, int8_t *q);
    /* q = round((x + m) * inverse) */
    void (*round_all)(const struct quant_codes *codes, int n, const float *x,
                      float m, float inverse, int8_t *q);
    /* The codes of E2M1 nearest to x / scale, the first of equals. */
    void (*nearest_fp4)(int n, const float *x, float scale, int8_t *q);
    /* For q = round(x * inverse). */
    void (*sum_rounded)(const struct quant_codes *codes, int n, const float *x,
                        const float *w, float inverse, struct fit_sums *s);
    /* For q = round((x - m) * inverse): those sums that q is in. */
    void (*sum_moments)(const struct quant_codes *codes, int n, const float *x,
                        const float *w, float inverse, float m,
                        struct fit_moments *of);
    /* Eight of them: (end + starts * unit) / extreme */
    void (*spread)(const float *starts, float unit, float end, float extreme,
                   float *inverse);
    /* The sums of sum_rounded() for eight scales at once, */
    void (*sum_starts)(const struct quant_codes *codes, struct quant_group of,
                       const float *inverse, float *xq, float *qq);
    /* and for eight lines. */
    void (*sum_lines)(const struct quant_codes *codes, struct quant_group of,
                      const float *inverse, const float *m,
                      struct fit_lines *l);
    /* The errors that eight lines x = d * q - m leave. */
    void (*sum_errors)(const struct quant_codes *codes, struct quant_group of,
                       const float *d, const float *m, float *error);
    float (*sum_squares)(struct quant_group of); /* weighted, of x */
    /* The number of the codebook entry with the least error, which is added
     * to *error. */
    int (*best_entry)(const struct quant_codebook_index *h, const float *x,
                      const float *w, float d, float *error);
    /* For each of the groups: quant_fit_scale() from both ends, and what an
     * error of that scale weighs, */
    void (*fit_groups8)(const struct quant_codes *codes,
                        const struct fit_groups8 *of, const float *starts,
                        int rounds, float *scale, float *weight);
    /* what rounding with scale d leaves, */
    void (*groups8_errors)(const struct quant_codes *codes,
                           const struct fit_groups8 *of, const float *d,
                           float *error);
    /* and the codes, group by group, with weighted sums. */
    void (*round_groups8)(const struct quant_codes *codes,
                          const struct fit_groups8 *of, const float *d,
                          int8_t *q, float *xx, float *xq, float *qq);
    /* quant_round_group() */
    void (*round_group)(const struct quant_codes *codes, struct quant_group of,
                        float d, float m, int8_t *q, struct quant_sums *s);
};

/* The best ones for this machine, and those for any: the same bits. */
const struct quant_fit_loops *
quant_fit_loops(void);
const struct quant_fit_loops *
quant_fit_loops_reference(void);

#endif
