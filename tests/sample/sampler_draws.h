/* sampler_draws.h - logits and a past at random, and what is drawn from them */
#ifndef TESTS_SAMPLER_DRAWS_H
#define TESTS_SAMPLER_DRAWS_H

#include <gg.h>
#include <stdlib.h>

enum {
    N = 200, /* of logits */
    PAST = 40,
};

static struct gg_error err;

static inline void
fill(float *logits, int32_t *past)
{
    for (int32_t i = 0; i < N; i++)
        logits[i] = (float)(7.0 * rand() / RAND_MAX - 4 + (i % 17 == 0) * 3);
    for (int i = 0; i < PAST; i++)
        past[i] = rand() % 6 * 17;
}

static inline bool
draw(struct gg_sampler *s, const float *logits, const int32_t *past,
     uint64_t at, struct gg_draw *d)
{
    struct gg_history *h = NULL;
    bool right =
        gg_history_new(s, &h, &err) == GG_OK &&
        gg_history_add(h, past, PAST, &err) == GG_OK &&
        gg_sampler_next(s, h, NULL, logits, N, 1, at, d, &err) == GG_OK;

    gg_history_free(h);
    return right;
}

#endif
