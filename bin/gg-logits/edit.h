/* edit.h - edits of records */
#ifndef LOGITS_EDIT_H
#define LOGITS_EDIT_H

#include <gg-stream.h>

struct edit_options {
    struct bias {
        int32_t id;
        float x;
    } * biases;
    size_t n_biases;
    const char *allow, *forbid; /* files of ids, or NULL */
    size_t keep;                /* 0: all */
    bool half;
};

/* --bias's argument: ID=X. */
void
edit_add_bias(struct edit_options *o, const char *text);

struct edit;

/* Reads the files. */
struct edit *
edit_new(const struct edit_options *o);
void
edit_free(struct edit *e);

/* Changes the record; what it then points into lives until the next call. A
 * record whose logits are not numbers may become one that failed. What cannot
 * be meant ends the tool. */
void
edit_apply(struct edit *e, struct gg_logit_record *record);

/* The natural logarithm of the sum of exp() of x[0..n). False: there is no
 * such number, for NaN, an infinity, or nothing but minus infinity. */
bool
log_sum_exp(const float *x, size_t n, double *out);

#endif
