/* fit_groups8.h - blocks of groups without mins, eight groups at once */
#ifndef QUANT_FIT_GROUPS8_H
#define QUANT_FIT_GROUPS8_H

#include "quant/fit.h"

/* Weighted squares of a block's values, and how much more of them there is
 * than of the errors. */
struct quant_lengths {
    double all, left;
};

/* As quant_fit_super() without its last step, for shapes whose codes are
 * signed and do not depend on each other. NULL weights are ones. */
struct quant_lengths
quant_fit_groups8(const struct quant_shape *shape, const float *x,
                  const float *w, struct quant_super *s);

#endif
