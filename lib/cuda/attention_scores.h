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

/* Scores of visible keys are no less, as -infinity is that of a hidden one; NaN
 * stays. A row whose maximum is no greater has no weights: its result is NaN.
 * The product with log2(e) is finite. */
#define LEAST_SCORE (-0x1p126f)

DEVICE float
cuda_visible_score(float score)
{
    return score < LEAST_SCORE ? LEAST_SCORE : score;
}

/* A masked key does not count, whatever its score. */
DEVICE float
cuda_add_mask(float score, float mask, float slope)
{
    return mask == -INFINITY ? mask : cuda_visible_score(score + slope * mask);
}

#endif
