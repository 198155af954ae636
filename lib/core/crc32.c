/* crc32.c - the CRC-32 of zlib, PNG and gzip, at the speed of memory
 *
 * zlib's own walks tables, at 1 to 3 GB/s; a record of 50,257 logits has
 * 200 KB and is summed twice. Where the processor multiplies
 * polynomials over GF(2), 64 or 128 bytes are folded at a time, as in V. Gopal
 * et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009. */
#include <config.h>

#include "core/crc32.h"

#include <zlib.h>

enum {
    LONG = 512, /* bytes: where wider folds are worth their end */
};

static uint32_t
by_table(uint32_t crc, const uint8_t *p, size_t size)
{
    return (uint32_t)crc32_z(crc, p, size);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define PCLMUL __attribute__((target("pclmul,sse2")))

/* x moved `k` bits up the message (k holds x^(bits+32) and x^(bits-32) modulo
 * the polynomial, bits reflected), plus what stands there. */
PCLMUL static inline __m128i
fold(__m128i x, __m128i k, __m128i there)
{
    __m128i low = _mm_clmulepi64_si128(x, k, 0x00);
    __m128i high = _mm_clmulepi64_si128(x, k, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

PCLMUL static inline __m128i
load_vector(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* The rest of what is folded: 16 bytes at a time, up to `at` and further. The
 * 16 bytes that are left then are congruent to all that was read. */
PCLMUL static inline uint32_t
fold_remainder(const __m128i *x, int n, const uint8_t *p, size_t size,
               size_t *at)
{
    const __m128i by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i last = x[0];
    uint8_t rest[16];

    for (int i = 1; i < n; i++)
        last = fold(last, by_128, x[i]);
    for (; size - *at >= 16; *at += 16)
        last = fold(last, by_128, load_vector(p + *at));
    _mm_storeu_si128((__m128i *)rest, last);
    return by_table(~UINT32_C(0), rest, sizeof(rest));
}

/* At least 64 bytes; returns the CRC of the first *done of them. */
PCLMUL static uint32_t
by_folding(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    __m128i x[4];
    size_t at = 64;

    for (int i = 0; i < 4; i++)
        x[i] = load_vector(p + 16 * i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)~crc));
    for (; size - at >= 64; at += 64)
        for (int i = 0; i < 4; i++)
            x[i] = fold(x[i], by_512, load_vector(p + at + 16 * i));
    *done = at;
    return fold_remainder(x, 4, p, size, done);
}

#define VPCLMUL __attribute__((target("vpclmulqdq,pclmul,avx2")))

VPCLMUL static inline __m256i
fold_two(__m256i x, __m256i k, const uint8_t *p)
{
    __m256i low = _mm256_clmulepi64_epi128(x, k, 0x00);
    __m256i high = _mm256_clmulepi64_epi128(x, k, 0x11);
    __m256i there = _mm256_loadu_si256((const __m256i *)p);

    return _mm256_xor_si256(_mm256_xor_si256(low, high), there);
}

/* by_folding(), but 128 bytes at a time, and at least 128. */
VPCLMUL static uint32_t
by_wide_folding(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    const __m256i by_1024 =
        _mm256_set_epi64x(0x14a7fe880, 0x1e88ef372, 0x14a7fe880, 0x1e88ef372);
    __m128i x[8];
    __m256i y[4];
    size_t at = 128;

    for (int i = 0; i < 4; i++)
        y[i] = _mm256_loadu_si256((const __m256i *)(p + 32 * i));
    y[0] = _mm256_xor_si256(y[0],
                            _mm256_set_epi32(0, 0, 0, 0, 0, 0, 0, (int)~crc));
    for (; size - at >= 128; at += 128)
        for (int i = 0; i < 4; i++)
            y[i] = fold_two(y[i], by_1024, p + at + 32 * i);
    for (int i = 0; i < 4; i++) {
        x[2 * i] = _mm256_castsi256_si128(y[i]);
        x[2 * i + 1] = _mm256_extracti128_si256(y[i], 1);
    }
    *done = at;
    return fold_remainder(x, 8, p, size, done);
}

/* The CRC of the first *done bytes, as many as go fast. */
static uint32_t
fast(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    if (size >= LONG && __builtin_cpu_supports("vpclmulqdq") &&
        __builtin_cpu_supports("avx2"))
        return by_wide_folding(crc, p, size, done);
    if (size >= 64 && __builtin_cpu_supports("pclmul"))
        return by_folding(crc, p, size, done);
    *done = 0;
    return crc;
}
#else
static uint32_t
fast(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    (void)p, (void)size;
    *done = 0;
    return crc;
}
#endif

uint32_t
crc32_bytes(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t done;

    if (size == 0) /* zlib takes a null pointer for a wish to start anew */
        return crc;
    crc = fast(crc, p, size, &done);
    return by_table(crc, p + done, size - done);
}
