/* evaluate.h - lines of ids, evaluated together, to records
 *
 * Lines are added until one does not go with those before it; then they are
 * evaluated and written in their order. What is remembered of sequences
 * changes as lines are added, so that every record is the same as if each
 * line had been evaluated before the next was looked at. */
#ifndef EVAL_EVALUATE_H
#define EVAL_EVALUATE_H

#include "common/engine.h"
#include "common/shard.h"
#include "gg-eval/output.h"
#include "gg-eval/sequences.h"

struct evaluate_options {
    int32_t n_lines; /* evaluated together at most; scored: sequences */
    int64_t remember;
    bool every;  /* a record for each id of a line */
    bool score;  /* log-probabilities of the ids, no logits */
    bool greedy; /* with that: whether they are the likeliest */
    struct shard shard;
};

struct evaluate {
    const struct evaluate_options *o;
    const struct engine *engine;
    struct sequences sequences;
    struct output *output;
    struct entry *entries; /* what was added */
    int32_t n, cap;
    struct gg_query *queries;    /* scratch, of n_lines; and */
    struct gg_sequence **pinned; /* n_pinned that lines were added to */
    size_t n_pinned;
    size_t n_together;  /* ids to evaluate */
    bool failed;        /* some line */
    bool numbered;      /* sequences have numbers */
    const char *loaded; /* from this file some are there already; or NULL */
    const char *name;   /* of the input */

    size_t n_records; /* for -v */
};

/* The rest is the caller's. */
void
evaluate_init(struct evaluate *e, const struct evaluate_options *o,
              const struct engine *engine, struct output *output);
void
evaluate_clear(struct evaluate *e);

/* All lines of `fd`. False: a signal came before the first. */
bool
evaluate_lines(struct evaluate *e, int fd, const char *name);

/* For -v: how much it was in `us` microseconds. */
void
evaluate_describe(const struct evaluate *e, int64_t us);

#endif
