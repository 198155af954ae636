/* crc32.c - the CRC-32 of zlib, PNG and gzip, at the speed of memory
 *
 * zlib's own walks tables, at 1 to 3 GB/s; a record of 50,257 logits has
 * 200 KB and is summed twice on its way. Where the processor multiplies
 * polynomials over GF(2), 64 bytes are folded at a time, as in V. Gopal et
 * al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009. */
#include <config.h>

#include "core/crc32.h"

#include <stdbool.h>
#include <zlib.h>

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
load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* At least 64 bytes; returns the CRC of the first *done of them. */
PCLMUL static uint32_t
by_folding(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i x0 = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)~crc));
    __m128i x1 = load(p + 16), x2 = load(p + 32), x3 = load(p + 48);
    uint8_t rest[16];
    size_t at = 64;

    for (; size - at >= 64; at += 64) {
        x0 = fold(x0, by_512, load(p + at));
        x1 = fold(x1, by_512, load(p + at + 16));
        x2 = fold(x2, by_512, load(p + at + 32));
        x3 = fold(x3, by_512, load(p + at + 48));
    }
    x0 = fold(fold(fold(x0, by_128, x1), by_128, x2), by_128, x3);
    for (; size - at >= 16; at += 16)
        x0 = fold(x0, by_128, load(p + at));
    /* The 16 bytes that are left are congruent to all that was read. */
    _mm_storeu_si128((__m128i *)rest, x0);
    *done = at;
    return by_table(~UINT32_C(0), rest, sizeof(rest));
}

static bool
can_fold(void)
{
    return __builtin_cpu_supports("pclmul");
}
#else
static uint32_t
by_folding(uint32_t crc, const uint8_t *p, size_t size, size_t *done)
{
    (void)p, (void)size;
    *done = 0;
    return crc;
}

static bool
can_fold(void)
{
    return false;
}
#endif

uint32_t
crc32_bytes(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t done = 0;

    if (size == 0) /* zlib takes a null pointer for a wish to start anew */
        return crc;
    if (size >= 64 && can_fold())
        crc = by_folding(crc, p, size, &done);
    return by_table(crc, p + done, size - done);
}
