/* back.h - draws of a sequence that may be taken back: --ban */
#ifndef SAMPLE_BACK_H
#define SAMPLE_BACK_H

#include <gg-engine.h>
#include <gg-stream.h>

/* A record that was drawn from, and what was drawn. */
struct back_row {
    uint64_t position;
    float *logits;
    int32_t *ids; /* of sparse ones; or NULL */
    size_t n;
    double log_sum_exp;
    struct gg_draw drawn;
};

/* The rows are those of the ids that may be taken back, and of the next. */
struct back {
    struct gg_ban *ban;
    struct back_row *rows;
    size_t n, n_rows; /* in use; there is room for */
    int32_t last;     /* the id that was drawn last; -1: none */
};

struct back *
back_new(const struct gg_vocab *vocab, const struct gg_stop *strings);
void
back_free(struct back *b); /* takes NULL */

/* A record comes: where it does not go on with what was drawn last, nothing is
 * taken back. Its logits are kept. */
void
back_add(struct back *b, const struct gg_logit_record *record, bool goes_on);

/* The row that is to be drawn from. */
struct back_row *
back_row(const struct back *b);

/* Drops the first n rows, which are of no use any more. */
void
back_drop(struct back *b, size_t n);

#endif
