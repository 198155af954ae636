/* attention_scores.h - ALiBi and mask of attention scores, before softmax */
#ifndef CUDA_ATTENTION_SCORES_H
#define CUDA_ATTENTION_SCORES_H

#include "cuda/device.h"

/* ALiBi (Press et al. 2022): how fast the bias of a head grows. */
DEVICE float
cuda_alibi_slope(int64_t head, int64_t n_heads, float max_bias)
{
    int64_t power = 1;

    if (max_bias <= 0)
        return 1;
    while (power * 2 <= n_heads)
        power *= 2;
    if (head < power)
        return powf(2, -max_bias / (float)power * (float)(head + 1));
    return powf(2,
                -max_bias / 2 / (float)power * (float)(2 * (head - power) + 1));
}

/* What is masked does not count, whatever its score. */
DEVICE float
cuda_add_mask(float score, float mask, float slope)
{
    return mask == -INFINITY ? mask : score + slope * mask;
}

#endif
