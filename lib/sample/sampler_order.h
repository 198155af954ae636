/* sampler_order.h - the order of the stages of a sampler chain */
#ifndef SAMPLE_SAMPLER_ORDER_H
#define SAMPLE_SAMPLER_ORDER_H

#include "sample/stages.h"

/* A stage with its numbers. */
struct sample_active {
    const struct sample_stage *stage;
    const double *v;
};

/* A pass over the logits or the list; one that opens a list has no stage, or
 * that which takes the list itself. */
struct sample_step {
    struct sample_active active;
    bool opens;
    struct sample_front front;
};

struct sample_order {
    struct sample_active on[SAMPLE_STAGES];
    size_t n;
    bool remembers; /* one of them */
    bool named;     /* by the caller */
    struct sample_step steps[2 * SAMPLE_STAGES + 1];
    size_t n_steps;
};

/* Numbers of each stage, in the order of the table. */
struct sample_numbers {
    double v[SAMPLE_STAGES][SAMPLE_NUMBERS];
};

/* Fills in an order of zeros. The names are separated by ';' or ','; NULL: the
 * default order. GG_ERR_ARG: an unknown one, or one that is there twice. The
 * numbers live as long as the order. */
enum gg_status
sample_order_make(struct sample_order *o, const char *names,
                  const struct sample_numbers *numbers, struct gg_error *err);

/* How many of the likeliest logits are enough for all; 0: none but all. */
size_t
sample_order_enough(const struct sample_order *o);

/* GG_ERR_UNSUPPORTED: the likeliest n logits, of more, are not enough for a
 * stage that wants all; in an order that was named, for any stage. */
enum gg_status
sample_order_check_some(const struct sample_order *o, size_t n,
                        struct gg_error *err);

#endif
