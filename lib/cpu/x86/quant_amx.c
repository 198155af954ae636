/* quant_amx.c - GEMM with weights of block formats, with tile registers (AMX);
 * fewer columns are multiplied by the set before this one */
#include "cpu/x86/quant_avx512.h"
#include "cpu/x86/amx_tiles.h"

#include "cpu/gemm/quant_products.h"
#include "cpu/gemm/unpack_codebook.h"
#include "cpu/x86/codebook_gemm_vbmi.h"

#define UNPACK_CODEBOOK(name, offset, r, codes)                                \
    cpu_unpack_two_rows(plane_codebook_##name, r, codes)
#define ORDER(name)   NULL
#define GEMV_OF(name) NULL
#define DEFINE_GEMV(name, in_group, ...)
#include "cpu/gemm/codebook_types.h"
#include "cpu/gemm/quant_types_minima.h"
#include "cpu/gemm/quant_types_scaled.h"
#include "cpu/gemm/quant_types_lowbit.h"

static void (*before[GGML_TYPE_COUNT])(const struct cpu_product *p);

/* Whether tiles are faster: not where groups are of 16, half of what they could
 * do; nor where codes, less their offset, are no signed bytes. */
static bool
gains(enum ggml_type type)
{
    return type != GGML_TYPE_Q6_K && type != GGML_TYPE_NVFP4 &&
           type != GGML_TYPE_Q3_K;
}

/* Columns that are no whole tile are left to the set before this one. */
static void
multiply_tiled(enum ggml_type type, void (*tiled)(const struct cpu_product *p),
               const struct cpu_product *p)
{
    const bool none = !gains(type) || p->n_rows < VEC;
    const int64_t n = none ? 0 : p->n_cols / TILED * TILED;
    struct cpu_product part = *p;

    part.n_cols = n;
    if (n > 0)
        tiled(&part);
    part.n_cols = p->n_cols - n;
    part.cols += (size_t)n * p->col_stride;
    part.out += (size_t)n * p->out_stride;
    if (part.n_cols > 0)
        before[type](&part);
}

#define MULTIPLY_TILED(name, type, kind)                                       \
    static void tiled_##name(const struct cpu_product *p)                      \
    {                                                                          \
        multiply_tiled(type, multiply_##name, p);                              \
    }
CPU_GROUP_TYPES(MULTIPLY_TILED)

/* Columns are those of AVX-512. */
void
cpu_fill_amx(struct cpu_kernels *k)
{
#define FILL(name, type, kind)                                                 \
    before[type] = k->mul_mat[type].multiply;                                  \
    k->mul_mat[type].multiply = tiled_##name;
    CPU_GROUP_TYPES(FILL)
#undef FILL
}
