/* kernels.c - which kernels this machine runs */
#include <config.h>

#include "cpu/kernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <ggml-cpu.h>

#include "cpu/isa.h"

/* A family of instructions: each set adds to those before it that are built and
 * that this machine runs. */
static const struct isa {
    const char *name, *description;
    bool (*present)(void); /* NULL: on any machine */
    void (*fill)(struct cpu_kernels *k);
} isas[] = {
    { "c", "CPU, C kernels", NULL, cpu_fill_reference },
#ifdef HAVE_AVX2
    { "avx2", "CPU, AVX2 kernels", cpu_runs_avx2, cpu_fill_avx2 },
#endif
#ifdef HAVE_AVXVNNI
    { "avxvnni", "CPU, AVX2 kernels with dot products of bytes",
      cpu_runs_avxvnni, cpu_fill_avxvnni },
#endif
#ifdef HAVE_AVX512
    { "avx512", "CPU, AVX-512 kernels", cpu_runs_avx512, cpu_fill_avx512 },
#endif
#ifdef HAVE_AVX512VBMI
    { "avx512vbmi", "CPU, AVX-512 kernels that permute bytes",
      cpu_runs_avx512vbmi, cpu_fill_avx512vbmi },
#endif
#ifdef HAVE_AVX512BF16
    { "avx512bf16", "CPU, AVX-512 kernels with BF16 dot products",
      cpu_runs_avx512bf16, cpu_fill_avx512bf16 },
#endif
#ifdef HAVE_AMX
    { "amx", "CPU, AVX-512 kernels with tiles of bytes", cpu_runs_amx,
      cpu_fill_amx },
#endif
#ifdef HAVE_NEON
    { "neon", "CPU, NEON kernels", cpu_runs_neon, cpu_fill_neon },
#endif
#ifdef HAVE_DOTPROD
    { "dotprod", "CPU, NEON kernels with dot products", cpu_runs_dotprod,
      cpu_fill_dotprod },
#endif
#ifdef HAVE_I8MM
    { "i8mm", "CPU, NEON kernels with matrix products of bytes", cpu_runs_i8mm,
      cpu_fill_i8mm },
#endif
#ifdef HAVE_ARMBF16
    { "bf16", "CPU, NEON kernels with matrix products of bytes and BF16",
      cpu_runs_armbf16, cpu_fill_armbf16 },
#endif
};
#define N_ISAS ((int)(sizeof(isas) / sizeof(isas[0])))

static struct cpu_kernels tables[N_ISAS];
static bool filled[N_ISAS];
static const struct cpu_kernels *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool
is_here(int isa)
{
    return !isas[isa].present || isas[isa].present();
}

static void
fill_table(int isa)
{
    for (int i = 0; i <= isa; i++)
        if (is_here(i))
            isas[i].fill(&tables[isa]);
    tables[isa].name = isas[isa].name;
    tables[isa].description = isas[isa].description;
    filled[isa] = true;
}

/* The set that the environment asks for: "ref" is another name of plain C.
 * -1: it is none of the sets. */
static int
wanted(const char *word)
{
    if (!word || !*word)
        return N_ISAS - 1;
    for (int i = 0; i < N_ISAS; i++)
        if (strcasecmp(word, isas[i].name) == 0)
            return i;
    return strcasecmp(word, "ref") == 0 ? 0 : -1;
}

enum gg_status
cpu_isa_check(struct gg_error *err)
{
    const char *word = getenv("GG_CPU_ISA");
    char names[128] = "";
    size_t n = 0;

    if (wanted(word) >= 0)
        return GG_OK;
    for (int i = 0; i < N_ISAS && n < sizeof(names); i++)
        n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
                              i ? ", " : "", isas[i].name);
    return error_set(err, GG_ERR_ARG, "GG_CPU_ISA: '%.64s' is none of %s", word,
                     names);
}

static void
choose_tables(void)
{
    int isa = wanted(getenv("GG_CPU_ISA"));

    if (isa < 0)
        isa = N_ISAS - 1;
    cpu_find_cache_sizes();
    for (int i = 0; i < N_ISAS; i++)
        if (is_here(i))
            fill_table(i);
    while (!filled[isa])
        isa--;
    chosen = &tables[isa];
}

const struct cpu_kernels *
cpu_kernels(void)
{
    pthread_once(&once, choose_tables);
    return chosen;
}

const struct cpu_kernels *
cpu_kernels_reference(void)
{
    pthread_once(&once, choose_tables);
    return &tables[0];
}

const struct cpu_kernels *
cpu_kernels_named(const char *name)
{
    pthread_once(&once, choose_tables);
    for (int i = 0; i < N_ISAS; i++)
        if (filled[i] && strcmp(name, isas[i].name) == 0)
            return &tables[i];
    return NULL;
}

const char *
cpu_kernels_name(int i)
{
    return i < N_ISAS ? isas[i].name : NULL;
}

void
ggml_cpu_init(void)
{
    cpu_kernels();
}
