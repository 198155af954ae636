/* mirostat.h - Mirostat: the surprise of drawn tokens is held at a target */
#ifndef SAMPLE_MIROSTAT_H
#define SAMPLE_MIROSTAT_H

#include "sample/stages.h"

/* Its numbers. */
enum {
    MIROSTAT_VERSION,
    MIROSTAT_TAU, /* the target, in bits */
    MIROSTAT_ETA, /* the learning rate */
};

size_t
sample_mirostat_take(struct sample_draw *d, const double *v);
void
sample_mirostat_begin(struct gg_history *h, const double *v);
void
sample_mirostat_learn(struct gg_history *h, const double *v,
                      const struct sample_draw *d, size_t i);

#endif
