/* peaks.c - loops that do nothing but dot products, or nothing but read */
#include <config.h>

#include "gg-bench/bounds.h"

#include <stdint.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

/* Results go where a compiler must leave them. */
static volatile float sink_float;
static volatile int sink_int;

/* Independent sums, enough to hide the latency of any processor's units. */
#define SUMS     12
#define TIMES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

#if defined(__x86_64__)

/* ---- AVX2 --------------------------------------------------------------- */

static bool
has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

__attribute__((target("avx2,fma"))) static void
f32_avx2(long rounds)
{
    __m256 x = _mm256_set1_ps(0.9f), y = _mm256_set1_ps(1e-3f);
#define BEGIN(i) __m256 s##i = _mm256_set1_ps(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = _mm256_fmadd_ps(s##i, x, y);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_float = _mm256_cvtss_f32(s##i);
    TIMES(END)
#undef END
}

/* Without VNNI a dot product takes three instructions. */
__attribute__((target("avx2,fma"))) static void
int8_avx2(long rounds)
{
    __m256i x = _mm256_set1_epi8(3), one = _mm256_set1_epi16(1);
#define BEGIN(i) __m256i s##i = _mm256_set1_epi8(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i)                                                                \
    s##i = _mm256_add_epi32(                                                   \
        s##i, _mm256_madd_epi16(_mm256_maddubs_epi16(x, s##i), one));
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_int = _mm256_extract_epi32(s##i, 0);
    TIMES(END)
#undef END
}

#ifdef HAVE_AVXVNNI
static bool
has_avxvnni(void)
{
    unsigned a, b, c, d;

    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a & 1u << 4);
}

__attribute__((target("avx2,avxvnni"))) static void
int8_avxvnni(long rounds)
{
    __m256i x = _mm256_set1_epi32(0x03030303), y = x;
#define BEGIN(i) __m256i s##i = _mm256_set1_epi32(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = _mm256_dpbusd_avx_epi32(s##i, x, y);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_int = _mm_cvtsi128_si32(_mm256_castsi256_si128(s##i));
    TIMES(END)
#undef END
}
#endif

/* ---- AVX-512 ------------------------------------------------------------ */

static bool
has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vnni");
}

static bool
has_bf16(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512bf16");
}

__attribute__((target("avx512f"))) static void
f32_avx512(long rounds)
{
    __m512 x = _mm512_set1_ps(0.9f), y = _mm512_set1_ps(1e-3f);
#define BEGIN(i) __m512 s##i = _mm512_set1_ps(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = _mm512_fmadd_ps(s##i, x, y);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_float = _mm512_cvtss_f32(s##i);
    TIMES(END)
#undef END
}

__attribute__((target("avx512f,avx512vnni"))) static void
int8_avx512(long rounds)
{
    __m512i x = _mm512_set1_epi32(0x03030303), y = x;
#define BEGIN(i) __m512i s##i = _mm512_set1_epi32(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = _mm512_dpbusd_epi32(s##i, x, y);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_int = _mm_cvtsi128_si32(_mm512_castsi512_si128(s##i));
    TIMES(END)
#undef END
}

__attribute__((target("avx512f,avx512bf16"))) static void
bf16_avx512(long rounds)
{
    __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3f),
                                     _mm512_set1_ps(1e-3f)),
             y = x;
#define BEGIN(i) __m512 s##i = _mm512_set1_ps(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = _mm512_dpbf16_ps(s##i, x, y);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_float = _mm512_cvtss_f32(s##i);
    TIMES(END)
#undef END
}

/* ---- AMX ---------------------------------------------------------------- */

#if defined(HAVE_AMX) && defined(SYS_arch_prctl)
#define TILES

static bool
has_tiles(void)
{
    unsigned a, b, c, d;
    long ask = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM */

    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & 1u << 25) && syscall(SYS_arch_prctl, ask, tile_data) == 0;
}

/* Six sums of 16 x 16, of products of 16 x 64 bytes. */
__attribute__((target("avx512f,amx-tile,amx-int8"))) static void
int8_amx(long rounds)
{
    struct {
        uint8_t palette, start_row, zero[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = { .palette = 1 };
    int32_t sums[16][16];

    for (int i = 0; i < 8; i++) {
        shapes.row_bytes[i] = 64;
        shapes.rows[i] = 16;
    }
    /* the compiler does not know that all of it is read */
    __asm__ volatile("" : : "r"(&shapes) : "memory");
    _tile_loadconfig(&shapes);
#define SUMS_OF(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define BEGIN(i)   _tile_zero(i);
    SUMS_OF(BEGIN)
    _tile_zero(6);
    _tile_zero(7);
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) _tile_dpbsud(i, 6, 7);
        SUMS_OF(STEP)
#undef STEP
    }
#define END(i) _tile_stored(i, sums, sizeof(sums[0]));
    SUMS_OF(END)
#undef END
#undef SUMS_OF
    _tile_release();
    sink_int = sums[0][0];
}
#endif

#elif defined(__aarch64__)

/* ---- NEON --------------------------------------------------------------- */

static bool
has_neon(void)
{
    return true;
}

static bool
has_dotprod(void)
{
    return getauxval(AT_HWCAP) & 1 << 20; /* HWCAP_ASIMDDP */
}

static void
f32_neon(long rounds)
{
    float32x4_t x = vdupq_n_f32(0.9f), y = vdupq_n_f32(1e-3f);
#define BEGIN(i) float32x4_t s##i = vdupq_n_f32(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = vfmaq_f32(y, s##i, x);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_float = vgetq_lane_f32(s##i, 0);
    TIMES(END)
#undef END
}

__attribute__((target("arch=armv8.2-a+dotprod"))) static void
int8_dotprod(long rounds)
{
    int8x16_t x = vdupq_n_s8(3);
#define BEGIN(i) int32x4_t s##i = vdupq_n_s32(i);
    TIMES(BEGIN)
#undef BEGIN
    for (long r = 0; r < rounds; r++) {
#define STEP(i) s##i = vdotq_s32(s##i, x, x);
        TIMES(STEP)
#undef STEP
    }
#define END(i) sink_int = vgetq_lane_s32(s##i, 0);
    TIMES(END)
#undef END
}

#endif

/* Lanes of a register times two, SUMS times. */
static const struct bounds_peak peaks[] = {
#if defined(__x86_64__)
    { "f32", "avx2", has_avx2, f32_avx2, SUMS * 8 * 2 },
    { "int8", "avx2", has_avx2, int8_avx2, SUMS * 32 * 2 },
#ifdef HAVE_AVXVNNI
    { "int8", "avxvnni", has_avxvnni, int8_avxvnni, SUMS * 32 * 2 },
#endif
    { "f32", "avx512", has_avx512, f32_avx512, SUMS * 16 * 2 },
    { "int8", "avx512", has_avx512, int8_avx512, SUMS * 64 * 2 },
    { "bf16", "avx512", has_bf16, bf16_avx512, SUMS * 32 * 2 },
#ifdef TILES
    { "int8", "amx", has_tiles, int8_amx, 6 * 16 * 16 * 64 * 2 },
#endif
#elif defined(__aarch64__)
    { "f32", "neon", has_neon, f32_neon, SUMS * 4 * 2 },
    { "int8", "dotprod", has_dotprod, int8_dotprod, SUMS * 16 * 2 },
#endif
    { 0 },
};

const struct bounds_peak *
bounds_peak(size_t i)
{
    return peaks[i].what ? &peaks[i] : NULL;
}

/* ---- reading ------------------------------------------------------------ */

typedef uint64_t line __attribute__((vector_size(64)));

unsigned long
bounds_read(const char *p, size_t n, bool prefetch)
{
    enum {
        AHEAD = 2048
    };
    const line *l = (const void *)p;
    line a = { 0 }, b = a, c = a, d = a;

    for (size_t i = 0; i < n / sizeof(*l); i += 4) {
        if (prefetch)
            for (int j = 0; j < 4; j++)
                __builtin_prefetch((const char *)(l + i + j) + AHEAD);
        a |= l[i];
        b |= l[i + 1];
        c |= l[i + 2];
        d |= l[i + 3];
    }
    a |= b | c | d;
    return a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7];
}
