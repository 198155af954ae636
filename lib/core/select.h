/* select.h - the most likely tokens first, and no more of them than needed
 *
 * One token is before another if its logit is higher, or equal and its id
 * lower. */
#ifndef CORE_SELECT_H
#define CORE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum select_state {
    SELECT_SOUND,
    SELECT_BAD,  /* a logit is NaN or infinity */
    SELECT_NONE, /* all are -infinity, or there are none */
};

enum select_state
select_check(const float *logits, size_t n);

/* The logarithm of the sum of exp() of sound logits, `max` being the highest.
 */
double
select_log_sum(const float *logits, size_t n, float max);

struct choice {
    float logit;
    int32_t id;
};

static inline bool
select_before(struct choice a, struct choice b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/* From this many of them on, all are put in order. */
#define SELECT_MANY 1024

/* Writes the first k of logits[0..n), n < 2^31, in order, to out, which has
 * room for k, or for 2 n if k is SELECT_MANY or more; -infinity is not chosen.
 * `ids` may be NULL: 0, 1, 2 ... Returns how many there are. */
size_t
select_top(const int32_t *ids, const float *logits, size_t n, size_t k,
           struct choice *out);

/* Writes all logits that reach `bar` likewise; out has room for 2 n. */
size_t
select_above(const int32_t *ids, const float *logits, size_t n, float bar,
             struct choice *out);

#endif
