/* entry.h - a line that is evaluated with others, and what it becomes */
#ifndef EVAL_ENTRY_H
#define EVAL_ENTRY_H

#include "gg-eval/evaluate.h"

/* A line that was added. */
struct entry {
    struct gg_line line; /* its ids are the sequence's */
    struct sequence *sequence;
    uint64_t position;    /* ids of the sequence, dropped ones, too */
    bool first;           /* of those that were added to its sequence */
    uint64_t chunk;       /* its number in the sequence, from 1 */
    size_t begin;         /* where its ids are among the sequence's */
    char *message;        /* it failed */
    float *logits;        /* room that stays: of all, or of */
    struct gg_best *best; /* one for each row */
    size_t n_rows, cap;   /* records that it becomes; there is room for */
};

/* Room for `n_rows` rows of n logits, which are the k likeliest ones or, with
 * k = 0, all. */
void
entry_make_room(struct entry *entry, size_t n, size_t k);
void
entry_free_room(struct entry *entry);
void
entry_clear_room(struct entry *entry);

/* The line is not evaluated. */
void
entry_fail(struct entry *entry, const char *message);

/* Writes what came of it. */
void
entry_write(struct evaluate *e, struct entry *entry);

#endif
