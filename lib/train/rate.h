/* rate.h - how the learning rate changes with the step */
#ifndef TRAIN_RATE_H
#define TRAIN_RATE_H

#include <gg-train.h>

/* The factor, 0..1, of the rate at step 0 .. n_steps - 1: rises in a line over
 * the first warm_up steps, then falls over the last `fall` (all others, where
 * it is 0) to `least` by the schedule. */
double
train_rate(const struct gg_train_params *p, int64_t step, int64_t n_steps);

#endif
