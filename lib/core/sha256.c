/* sha256.c - the hash SHA-256 of FIPS 180-4
 *
 * Processors with instructions for it hash at 1 to 2 GB/s, others at a fifth of
 * that. */
#include <config.h>

#include "core/sha256.h"

#include <string.h>

static const uint32_t start[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* The first 32 bits of the fractions of the cube roots of the first 64 primes.
 */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* ---- in plain C ---------------------------------------------------------- */

static inline uint32_t
rotated(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static inline uint32_t
big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void
expand_block(const uint8_t *p, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = big_endian(p + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] +
               (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
               (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
}

static void
hash_block(uint32_t state[8], const uint8_t *p)
{
    uint32_t w[64], s[8];

    expand_block(p, w);
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t = s[7] + round_constant[i] + w[i] +
                     (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                     ((e & s[5]) ^ (~e & s[6]));
        uint32_t u = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
                     ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

static void
hash_plainly(uint32_t state[8], const uint8_t *p, size_t n)
{
    for (; n; n--, p += SHA256_BLOCK)
        hash_block(state, p);
}

/* ---- by instructions ----------------------------------------------------- */

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1")))

static int
has_instructions(void)
{
    static int known; /* 1: no, 2: yes */
    unsigned a, b, c, d;

    if (!known)
        known = 1 + (__builtin_cpu_supports("sse4.1") &&
                     __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1));
    return known == 2;
}

/* The next four words of the schedule, after the last sixteen: four a vector,
 * the oldest at w[i & 3]. */
WITH_SHA static inline __m128i
next_words(const __m128i *w, int i)
{
    __m128i last = w[(i + 3) & 3];
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
                                _mm_alignr_epi8(last, w[(i + 2) & 3], 4));

    return _mm_sha256msg2_epu32(sum, last);
}

/* State as the instructions want it: a b e f and c d g h, from the highest. */
WITH_SHA static void
hash_one(__m128i *abef, __m128i *cdgh, const uint8_t *p)
{
    const __m128i swap =
        _mm_set_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
    __m128i x = *abef, y = *cdgh, w[4];

    for (int i = 0; i < 16; i++) {
        const __m128i *k = (const __m128i *)(round_constant + 4 * i);
        __m128i sum;

        if (i < 4)
            w[i] = _mm_shuffle_epi8(
                _mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
        else
            w[i & 3] = next_words(w, i);
        sum = _mm_add_epi32(w[i & 3], _mm_loadu_si128(k));
        y = _mm_sha256rnds2_epu32(y, x, sum);
        x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(sum, 0x0e));
    }
    *abef = _mm_add_epi32(*abef, x);
    *cdgh = _mm_add_epi32(*cdgh, y);
}

WITH_SHA static void
hash_by_instructions(uint32_t state[8], const uint8_t *p, size_t n)
{
    int s[8];
    __m128i abef, cdgh;

    memcpy(s, state, sizeof(s));
    abef = _mm_set_epi32(s[0], s[1], s[4], s[5]);
    cdgh = _mm_set_epi32(s[2], s[3], s[6], s[7]);
    for (; n; n--, p += SHA256_BLOCK)
        hash_one(&abef, &cdgh, p);
    for (int i = 0; i < 2; i++) {
        uint32_t u[4];

        _mm_storeu_si128((__m128i *)u, i ? cdgh : abef);
        state[2 * i] = u[3];
        state[2 * i + 1] = u[2];
        state[2 * i + 4] = u[1];
        state[2 * i + 5] = u[0];
    }
}
#endif

static void
hash_blocks(uint32_t state[8], const uint8_t *p, size_t n)
{
#if defined(__x86_64__)
    if (has_instructions()) {
        hash_by_instructions(state, p, n);
        return;
    }
#endif
    hash_plainly(state, p, n);
}

/* ---- any size ------------------------------------------------------------ */

void
sha256_start(struct sha256 *h)
{
    memcpy(h->state, start, sizeof(start));
    h->size = 0;
}

void
sha256_add(struct sha256 *h, const void *data, size_t size)
{
    size_t held = h->size % SHA256_BLOCK;
    const uint8_t *p = data;

    if (size == 0)
        return;
    h->size += size;
    if (held) {
        size_t n = SHA256_BLOCK - held < size ? SHA256_BLOCK - held : size;

        memcpy(h->rest + held, p, n);
        if (held + n < SHA256_BLOCK)
            return;
        hash_blocks(h->state, h->rest, 1);
        p += n;
        size -= n;
    }
    hash_blocks(h->state, p, size / SHA256_BLOCK);
    memcpy(h->rest, p + size / SHA256_BLOCK * SHA256_BLOCK,
           size % SHA256_BLOCK);
}

void
sha256_add_u64(struct sha256 *h, uint64_t value)
{
    uint8_t p[8];

    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(value >> 8 * i);
    sha256_add(h, p, sizeof(p));
}

void
sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES])
{
    static const uint8_t pad[SHA256_BLOCK] = { 0x80 };
    uint64_t bits = h->size * 8;
    size_t held = h->size % SHA256_BLOCK;
    uint8_t length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(h, pad, (held < 56 ? 56 : 56 + SHA256_BLOCK) - held);
    sha256_add(h, length, sizeof(length));
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}
