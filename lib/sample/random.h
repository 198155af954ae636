/* random.h - numbers that depend on where they are drawn, and nothing
 * else */
#ifndef SAMPLE_RANDOM_H
#define SAMPLE_RANDOM_H

#include <stdint.h>

/* Philox 4x32-10: encrypts the counter with the key. J. K. Salmon et al.,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
void
sample_random_philox(const uint32_t key[2], const uint32_t counter[4],
                     uint32_t out[4]);

/* Two from [0, 1), all multiples of 2^-53 alike: of Philox under the key `seed`
 * with the counter (position, sequence), low words first, the 53 high bits of
 * out[1] << 32 | out[0], and those of out[3] << 32 | out[2]. */
void
sample_random_pair(uint64_t seed, uint64_t sequence, uint64_t position,
                   double out[2]);

/* The first of the two. */
double
sample_random_uniform(uint64_t seed, uint64_t sequence, uint64_t position);

#endif
