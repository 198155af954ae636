/* stages.h - the stages of the sampler chain: a row each
 *
 * A chain changes logits and cuts tokens off. Stages that edit work on logits
 * as they came, by place; all others on a list, likeliest first, which is put
 * in order no further than they look (candidates.h). The list opens with a
 * front: temperature, top-k, top-p and min-p in one pass, as far as the order
 * has them there. */
#ifndef SAMPLE_STAGES_H
#define SAMPLE_STAGES_H

#include <gg.h>

#include "sample/candidates.h"
#include "sample/history.h"

enum {
    SAMPLE_STAGES = 14, /* room for more */
    SAMPLE_NUMBERS = 4, /* of a stage, at most */
};

/* Logits on their way through the chain, in a draw. */
struct sample_draw {
    struct gg_sampler *s;
    struct gg_history *h; /* NULL: no stage wants one */
    double chance;        /* XTC's */
    double share;         /* of the sum of weights: further ones do not count */

    const int32_t *ids; /* of the logits; NULL: 0, 1, 2 ... */
    const float *logits;
    size_t n;
    bool edited;          /* the logits are the sampler's own */
    struct place *places; /* by id, of edited ones with ids */
    bool fits;            /* what does not fit the grammar is gone */

    struct sample_candidates list;
    size_t left;   /* of it, in the sampler's candidates and weights */
    double whole;  /* the sum of their weights, or of all that share is of; NAN
                      where cuts came after it */
    double before; /* adaptive-p: the sum of the weights that it has changed */
};

/* The stages at the beginning of a list that are one pass over it. */
struct sample_front {
    size_t k;                         /* 0: all */
    double temperature, top_p, min_p; /* 1, 1, 0: none */
};

/* A number that a stage reads. */
struct sample_number {
    struct gg_sampler_parameter is;
    size_t at; /* of its member of struct gg_sampler_params; 0: it has none */
    double said_0; /* how the member says 0, which is the fallback; 0: not */
    bool past;     /* how many of the last ids the stage looks at; -1: all */
};

enum sample_kind {
    SAMPLE_CHANGES,   /* logits, not their number */
    SAMPLE_CUTS_TAIL, /* never the likeliest token */
    SAMPLE_CUTS,      /* any tokens */
    SAMPLE_ALONE,     /* in place of all that cut; never named in an order */
    SAMPLE_LAST,      /* weights, after all others, wherever it is named */
};

/* As many logits as the next stage wants. */
#define SAMPLE_ANY SIZE_MAX

/* `v` are the values of its numbers, in the order of the row. */
struct sample_stage {
    const char *name, *aliases; /* "typ-p|typ", or NULL */
    enum sample_kind kind;
    bool remembers; /* draws want a history */
    struct sample_number numbers[SAMPLE_NUMBERS];
    bool (*is_on)(const double *v);

    /* How many of the likeliest logits are enough for it; NULL: all. */
    size_t (*enough)(const double *v);
    /* A draw from some logits is an error, "X needs all logits"; NULL: it is
     * none; where raises() is there, only if it says so. */
    const char *needs_all;
    bool (*raises)(const double *v);
    /* False where it has no effect in this draw; NULL: it always acts. */
    bool (*acts)(const struct sample_draw *d, const double *v);

    /* One of these three. Logits, by place: */
    enum gg_status (*edit)(struct sample_draw *d, const double *v,
                           struct gg_error *err);
    bool looks_around; /* at other logits than those that it edits */
    /* what is left of the list, which is returned; */
    size_t (*cut)(struct sample_draw *d, const double *v);
    /* the list itself. */
    size_t (*take)(struct sample_draw *d, const double *v);
    /* Becomes a part of the front; false: it cannot, and is to cut. */
    bool (*join)(struct sample_front *f, const double *v);

    /* A history begins; candidate i of what the chain has left was drawn. */
    void (*begin)(struct gg_history *h, const double *v);
    void (*learn)(struct gg_history *h, const double *v,
                  const struct sample_draw *d, size_t i);
};

/* All, in the default order; the last one has no name. */
extern const struct sample_stage sample_stages[];

/* The row of a name, of `len` characters, or of an alias, whatever its case,
 * with '-', '_' or nothing in the gaps; NULL: there is none. */
const struct sample_stage *
sample_stages_find(const char *name, size_t len);

/* The sum of the first n weights. */
double
sample_stages_sum(const struct gg_sampler *s, size_t n);

#endif
