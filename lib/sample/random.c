/* random.c - Philox 4x32-10, a generator without a state */
#include "sample/random.h"

enum {
    ROUNDS = 10,
};

/* The multipliers, and what is added to the key after each round (the golden
 * ratio and the square root of 3, less one), are those of the paper. */
void
sample_random_philox(const uint32_t key[2], const uint32_t counter[4],
                     uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c0 = counter[0], c1 = counter[1];
    uint32_t c2 = counter[2], c3 = counter[3];

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = UINT64_C(0xd2511f53) * c0;
        uint64_t b = UINT64_C(0xcd9e8d57) * c2;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static double
uniform(uint32_t low, uint32_t high)
{
    return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}

void
sample_random_pair(uint64_t seed, uint64_t sequence, uint64_t position,
                   double out[2])
{
    uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t counter[4] = { (uint32_t)position, (uint32_t)(position >> 32),
                            (uint32_t)sequence, (uint32_t)(sequence >> 32) };
    uint32_t words[4];

    sample_random_philox(key, counter, words);
    out[0] = uniform(words[0], words[1]);
    out[1] = uniform(words[2], words[3]);
}

double
sample_random_uniform(uint64_t seed, uint64_t sequence, uint64_t position)
{
    double pair[2];

    sample_random_pair(seed, sequence, position, pair);
    return pair[0];
}
