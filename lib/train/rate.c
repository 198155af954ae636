/* rate.c - warm-up, and a line, half a cosine, or nothing after it */
#include "train/rate.h"

#include <math.h>

double
train_rate(const struct gg_train_params *p, int64_t step, int64_t n_steps)
{
    int64_t fall = p->fall > 0 ? p->fall : n_steps - p->warm_up;
    int64_t begin = n_steps - fall;
    double least = p->least_rate, warm = 1, part;

    if (step < p->warm_up)
        warm = (double)(step + 1) / (double)p->warm_up;
    if (p->schedule == GG_TRAIN_CONSTANT || step < begin || fall <= 0)
        return warm;
    part = (double)(step - begin) / (double)fall;
    part = p->schedule == GG_TRAIN_COSINE
               ? 0.5 * (1 + cos(3.141592653589793 * part))
               : 1 - part;
    return fmin(warm, least + (1 - least) * part);
}
