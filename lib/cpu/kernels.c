/* kernels.c - which kernels this machine runs */
#include <config.h>

#include "cpu/kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-cpu.h>

enum isa {
    ISA_C,
    ISA_AVX2,
    ISA_AVX512,
    ISA_COUNT
};

static const char *const names[ISA_COUNT] = { "c", "avx2", "avx512" };
static const char *const descriptions[ISA_COUNT] = { "CPU, C kernels",
                                                     "CPU, AVX2 kernels",
                                                     "CPU, AVX-512 kernels" };
static struct cpu_kernels tables[ISA_COUNT];
static bool present[ISA_COUNT];
static const struct cpu_kernels *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#ifdef HAVE_AVX2
static bool
has_avx2(void)
{
    return ggml_cpu_has_avx2() && ggml_cpu_has_fma() && ggml_cpu_has_f16c();
}
#endif

#if defined(HAVE_AVX2) && defined(HAVE_AVX512)
static bool
has_avx512(void)
{
    return has_avx2() && ggml_cpu_has_avx512() && ggml_cpu_has_avx512_vnni();
}
#endif

static void
fill(enum isa isa)
{
    cpu_fill_reference(&tables[isa]);
#ifdef HAVE_AVX2
    if (isa >= ISA_AVX2)
        cpu_fill_avx2(&tables[isa]);
#endif
#if defined(HAVE_AVX2) && defined(HAVE_AVX512)
    if (isa >= ISA_AVX512)
        cpu_fill_avx512(&tables[isa]);
#endif
    tables[isa].name = names[isa];
    tables[isa].description = descriptions[isa];
    present[isa] = true;
}

static enum isa
wanted(void)
{
    const char *word = getenv("GG_CPU_ISA");

    if (!word || !*word)
        return ISA_COUNT - 1;
    for (int i = ISA_COUNT - 1; i > 0; i--)
        if (strcmp(word, names[i]) == 0)
            return (enum isa)i;
    return ISA_C;
}

static void
choose(void)
{
    int isa = (int)wanted();

    fill(ISA_C);
#ifdef HAVE_AVX2
    if (has_avx2())
        fill(ISA_AVX2);
#endif
#if defined(HAVE_AVX2) && defined(HAVE_AVX512)
    if (has_avx512())
        fill(ISA_AVX512);
#endif
    while (!present[isa])
        isa--;
    chosen = &tables[isa];
}

const struct cpu_kernels *
cpu_kernels(void)
{
    pthread_once(&once, choose);
    return chosen;
}

const struct cpu_kernels *
cpu_kernels_reference(void)
{
    pthread_once(&once, choose);
    return &tables[ISA_C];
}

const struct cpu_kernels *
cpu_kernels_named(const char *name)
{
    pthread_once(&once, choose);
    for (int i = 0; i < ISA_COUNT; i++)
        if (present[i] && strcmp(name, names[i]) == 0)
            return &tables[i];
    return NULL;
}

void
ggml_cpu_init(void)
{
    cpu_kernels();
}
