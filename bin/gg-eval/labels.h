/* labels.h - what scores of a text or of its tokens say, as TSV or JSON */
#ifndef EVAL_LABELS_H
#define EVAL_LABELS_H

#include <gg.h>

#include "common/buffer.h"

/* A label and its probability. */
struct rated {
    int32_t label;
    double p;
};

struct labels {
    const struct gg_model *model;
    struct gg_classifier classifier;
    bool all, tokens, json; /* as of struct classify_options */
    double *p;              /* scratch, of one text or token, */
    struct rated *sorted;   /* the same in order, and */
    struct buffer out;
};

/* A text with its scores. */
struct labelled {
    uint64_t line; /* from 1, or the number of its sequence */
    const int32_t *ids;
    size_t n_ids;
    const float *scores;
    const char *text;              /* NULL: places are those of ids; else */
    const struct gg_range *ranges; /* bytes of the text, of each id */
};

/* The caller has set all members but the scratch. */
void
labels_init(struct labels *l);
void
labels_clear(struct labels *l);

/* Writes what is to be said of a text: the label of all of it, or spans. */
void
labels_write(struct labels *l, const struct labelled *text);

/* Writes why there is nothing to be said. */
void
labels_fail(struct labels *l, uint64_t line, const char *message);

#endif
