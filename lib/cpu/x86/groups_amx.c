/* groups_amx.c - products of many columns with weights in groups, with tiles of
 * bytes (AMX); fewer are multiplied by the set before this one */
#include "cpu/x86/groups_avx512.h"
#include "cpu/x86/tiles.h"

#include "cpu/vector_groups.h"
#include "cpu/vector_points.h"
#include "cpu/x86/open_vbmi.h"

#define OPEN_POINTS(name, offset, r, codes) open_pairs(grid_##name, r, codes)
#define ORDER(name)                         NULL
#define LONE(name)                          NULL
#define MULTIPLY_LONE(name, in_group, ...)
#include "cpu/vector_types.h"

static void (*before[GGML_TYPE_COUNT])(const struct cpu_product *p);

/* Whether tiles are faster: not where groups are of 16, half of what they could
 * do; nor where codes, less their offset, are no signed bytes. */
static bool
gains(enum ggml_type type)
{
    return type != GGML_TYPE_Q6_K && type != GGML_TYPE_NVFP4 &&
           type != GGML_TYPE_Q3_K;
}

#define MULTIPLY_TILED(name, type, kind)                                       \
    static void tiled_##name(const struct cpu_product *p)                      \
    {                                                                          \
        if (!gains(type) || p->n_cols < TILED || p->n_rows < VEC)              \
            before[type](p);                                                   \
        else                                                                   \
            multiply_##name(p);                                                \
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
