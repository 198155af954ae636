/* random.h - numbers drawn by a seed and a counter: the same on all machines */
#ifndef TRAIN_RANDOM_H
#define TRAIN_RANDOM_H

#include <math.h>
#include <stdint.h>

struct train_random {
    uint64_t state;
};

/* SplitMix64 (Steele et al. 2014). */
static inline uint64_t
train_random_next(struct train_random *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Another stream of the same seed. */
static inline struct train_random
train_random_new(uint64_t seed, uint64_t stream)
{
    struct train_random r = { stream * 0xd1342543de82ef95u };

    r.state = seed ^ train_random_next(&r);
    return r;
}

/* In [0, 1). */
static inline double
train_random_unit(struct train_random *r)
{
    return (double)(train_random_next(r) >> 11) * 0x1p-53;
}

/* Below n, which is small next to 2^64. */
static inline uint64_t
train_random_below(struct train_random *r, uint64_t n)
{
    return train_random_next(r) % n;
}

/* Draws from a normal distribution (Box and Muller 1958). */
static inline double
train_random_normal(struct train_random *r)
{
    double u = 1 - train_random_unit(r), v = train_random_unit(r);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

#endif
