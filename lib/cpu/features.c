/* features.c - what instructions this machine has
 *
 * configure runs it, too, for --with-kernels=native: it includes what needs no
 * config.h. */
#include <sys/resource.h>
#include <ggml-cpu.h>

#include "cpu/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define HAS(name) __builtin_cpu_supports(name) != 0

/* Asks cpuid about F16C, which not every compiler's builtin knows; AVX, which
 * the builtin knows, says whether the system saves the registers. */
static int
has_f16c(void)
{
    unsigned a, b, c, d;

    return HAS("avx") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int
has_leaf7(unsigned eax_bit)
{
    unsigned a, b, c, d;

    return HAS("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a & eax_bit);
}

/* Tiles of bytes, whose registers the system saves. */
static int
has_tiles(void)
{
    unsigned a, b, c, d, low, high;

    if (!HAS("avx512f") || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        !(d & 1u << 24) || !(d & 1u << 25))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low >> 17 & 3) == 3;
}
#define F16C     has_f16c()
#define AVX_VNNI has_leaf7(1u << 4)
#define BF16     has_leaf7(1u << 5) && HAS("avx512f")
#define AMX_INT8 has_tiles()
#else
#define HAS(name) 0
#define F16C      0
#define AVX_VNNI  0
#define BF16      0
#define AMX_INT8  0
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#define HAS_ARM(bit)  (getauxval(AT_HWCAP) & (bit)) != 0
#define HAS_ARM2(bit) (getauxval(AT_HWCAP2) & (bit)) != 0
#else
#define HAS_ARM(bit)  0
#define HAS_ARM2(bit) 0
#endif

#define FEATURE(name, test)                                                    \
    int ggml_cpu_has_##name(void)                                              \
    {                                                                          \
        return test;                                                           \
    }
FEATURE(sse3, HAS("sse3"))
FEATURE(ssse3, HAS("ssse3"))
FEATURE(avx, HAS("avx"))
FEATURE(avx2, HAS("avx2"))
FEATURE(bmi2, HAS("bmi2"))
FEATURE(fma, HAS("fma"))
FEATURE(avx512,
        HAS("avx512f") && HAS("avx512bw") && HAS("avx512dq") && HAS("avx512vl"))
FEATURE(avx512_vbmi, HAS("avx512vbmi"))
FEATURE(avx512_vnni, HAS("avx512vnni"))
FEATURE(avx512_bf16, BF16)
FEATURE(amx_int8, AMX_INT8)
FEATURE(f16c, F16C)
FEATURE(avx_vnni, AVX_VNNI)
FEATURE(neon, HAS_ARM(HWCAP_ASIMD))
FEATURE(arm_fma, HAS_ARM(HWCAP_ASIMD))
FEATURE(dotprod, HAS_ARM(HWCAP_ASIMDDP))
FEATURE(matmul_int8, HAS_ARM2(HWCAP2_I8MM))

FEATURE(fp16_va, HAS_ARM(1u << 10)) /* ASIMDHP */
FEATURE(sve, HAS_ARM(1u << 22))
FEATURE(sme, HAS_ARM2(1ull << 23))
FEATURE(sme2, HAS_ARM2(1ull << 37))
FEATURE(riscv_v, 0)
FEATURE(vsx, 0)
FEATURE(vxe, 0)
FEATURE(wasm_simd, 0)
FEATURE(llamafile, 0)

int
ggml_cpu_get_sve_cnt(void)
{
#if defined(__aarch64__) && defined(__linux__)
    const int get_length = 51, mask = 0xffff; /* PR_SVE_GET_VL */

    return ggml_cpu_has_sve() ? prctl(get_length) & mask : 0;
#else
    return 0;
#endif
}

int
ggml_cpu_get_rvv_vlen(void)
{
    return 0;
}

/* ---- sets of kernels ----------------------------------------------------- */

/* Blocks are unpacked on the stack: up to 150 KiB. A thread that computes may
 * be the main one, whose stack a limit may keep smaller. */
static bool
has_stack(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= 512 << 10;
}

/* Requests the room that registers of AMX take where the system saves
 * them, for all threads of the process. */
static bool
may_use_tiles(void)
{
#if defined(__x86_64__) && defined(SYS_arch_prctl)
    const long ask = 0x1023, tile_data = 18; /* ARCH_REQ_XCOMP_PERM */

    return ggml_cpu_has_amx_int8() &&
           syscall(SYS_arch_prctl, ask, tile_data) == 0;
#else
    return false;
#endif
}

bool
cpu_runs_avx2(void)
{
    return ggml_cpu_has_avx2() && ggml_cpu_has_fma() && ggml_cpu_has_f16c();
}

bool
cpu_runs_avxvnni(void)
{
    return cpu_runs_avx2() && ggml_cpu_has_avx_vnni();
}

bool
cpu_runs_avx512(void)
{
    return cpu_runs_avx2() && ggml_cpu_has_avx512() &&
           ggml_cpu_has_avx512_vnni();
}

bool
cpu_runs_avx512vbmi(void)
{
    return cpu_runs_avx512() && ggml_cpu_has_avx512_vbmi() && HAS("gfni");
}

bool
cpu_runs_avx512bf16(void)
{
    return cpu_runs_avx512() && ggml_cpu_has_avx512_bf16();
}

bool
cpu_runs_amx(void)
{
    return cpu_runs_avx512vbmi() && may_use_tiles() && has_stack();
}

bool
cpu_runs_neon(void)
{
    return ggml_cpu_has_neon();
}

bool
cpu_runs_dotprod(void)
{
    return ggml_cpu_has_dotprod();
}

bool
cpu_runs_i8mm(void)
{
    return cpu_runs_dotprod() && ggml_cpu_has_matmul_int8();
}

bool
cpu_runs_armbf16(void)
{
    return cpu_runs_i8mm() && HAS_ARM2(HWCAP2_BF16);
}
